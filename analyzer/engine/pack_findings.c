#include "analyzer/engine/pack_findings.h"

static void pack_place(struct text *out, const struct source *source, struct span span)
{
	pack_text(out, source ? source->path : NULL);
	pack_number(out, span.start);
	pack_number(out, span.end);
}

static void pack_drivers(struct text *out, const struct finding *finding)
{
	pack_number(out, finding->drivers.count);
	for (uint32_t i = 0; i < finding->drivers.count; i++) {
		pack_text(out, finding->drivers.at[i].program->path);
		pack_place(out, finding->drivers.at[i].source, finding->drivers.at[i].span);
	}
}

static void pack_fix(struct text *out, const struct finding_fix *fix)
{
	pack_number(out, fix->safe);
	pack_text(out, fix->changes);
	pack_text(out, fix->title);
	pack_text(out, fix->replayed);
	pack_number(out, fix->edits.count);
	for (uint32_t i = 0; i < fix->edits.count; i++) {
		pack_number(out, fix->edits.at[i].span.start);
		pack_number(out, fix->edits.at[i].span.end);
		pack_text(out, fix->edits.at[i].text);
	}
}

static void pack_texts(struct text *out, const char *const *at, uint32_t count)
{
	pack_number(out, count);
	for (uint32_t i = 0; i < count; i++)
		pack_text(out, at[i]);
}

static void pack_replay(struct text *out, const struct finding_replay *replay)
{
	pack_number(out, replay->verdict);
	pack_number(out, replay->exact);
	pack_number(out, replay->refuted);
	pack_real(out, replay->bytes_per_step);
	pack_real(out, replay->nodes_per_step);
	pack_text(out, replay->shown);
	pack_text(out, replay->reason);
	pack_text(out, replay->loop);
	pack_number(out, replay->steps);
	for (uint32_t i = 0; i < replay->steps; i++)
		pack_number(out, (uint64_t)replay->live_bytes[i]);
	pack_texts(out, replay->stand_ins.at, replay->stand_ins.count);
	pack_texts(out, replay->retained_by.at, replay->retained_by.count);
}

void pack_finding(struct text *out, const struct finding *finding)
{
	pack_text(out, finding->rule->code);
	pack_number(out, finding->severity);
	pack_number(out, finding->confidence);
	pack_place(out, finding->source, finding->span);
	pack_place(out, finding->value_source, finding->value_span);
	pack_place(out, finding->happens_source, finding->happens_span);
	pack_drivers(out, finding);
	pack_text(out, finding->message);
	pack_text(out, finding->note);
	pack_text(out, finding->function);
	pack_number(out, finding->noqa_row);
	pack_number(out, finding->steps.count);
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		pack_number(out, finding->steps.at[i].role);
		pack_place(out, finding->steps.at[i].source, finding->steps.at[i].span);
		pack_text(out, finding->steps.at[i].message);
	}
	pack_number(out, finding->fixes.count);
	for (uint32_t i = 0; i < finding->fixes.count; i++)
		pack_fix(out, &finding->fixes.at[i]);
	pack_replay(out, &finding->replay);
}

void pack_skipped(struct text *out, const struct skipped *skipped)
{
	pack_text(out, skipped->path);
	pack_place(out, skipped->source, skipped->span);
	pack_text(out, skipped->reason);
	pack_number(out, skipped->is_failure);
}

/* A span must lie in the text, or what prints it would read beyond. */
static const struct source *unpack_place(struct finding_unpacking *unpacking, struct span *span)
{
	struct unpacking *in = &unpacking->in;
	const char *path = unpack_text(in);
	const struct source *source = path ? unpacking->source_of(unpacking->context, path) : NULL;

	span->start = (uint32_t)unpack_number(in);
	span->end = (uint32_t)unpack_number(in);
	if (path && (!source || span->end > source->length || span->start > span->end))
		in->broken = true;
	return source;
}

static struct finding_fix unpack_fix(struct unpacking *in)
{
	struct finding_fix fix = {.safe = unpack_number(in) != 0};
	uint32_t count;

	fix.changes = unpack_text(in);
	fix.title = unpack_text(in);
	fix.replayed = unpack_text(in);
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++) {
		struct finding_edit edit;

		edit.span.start = (uint32_t)unpack_number(in);
		edit.span.end = (uint32_t)unpack_number(in);
		edit.text = unpack_text(in);
		vec_push(in->arena, &fix.edits, edit);
	}
	return fix;
}

static void unpack_replay(struct unpacking *in, struct finding_replay *replay)
{
	int64_t *bytes;
	uint32_t count;

	replay->verdict = (enum evidence)unpack_number(in);
	replay->exact = unpack_number(in) != 0;
	replay->refuted = unpack_number(in) != 0;
	replay->bytes_per_step = unpack_real(in);
	replay->nodes_per_step = unpack_real(in);
	replay->shown = unpack_text(in);
	replay->reason = unpack_text(in);
	replay->loop = unpack_text(in);
	replay->steps = unpack_count(in);
	bytes = arena_array(in->arena, int64_t, replay->steps);
	for (uint32_t i = 0; i < replay->steps; i++)
		bytes[i] = (int64_t)unpack_number(in);
	replay->live_bytes = bytes;
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++)
		vec_push(in->arena, &replay->stand_ins, unpack_text(in));
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++)
		vec_push(in->arena, &replay->retained_by, unpack_text(in));
}

static void unpack_steps(struct finding_unpacking *unpacking, struct finding *finding)
{
	struct unpacking *in = &unpacking->in;
	uint32_t count = unpack_count(in);

	for (uint32_t i = 0; i < count && !in->broken; i++) {
		struct finding_step step = {.role = (enum step_role)unpack_number(in)};

		step.source = unpack_place(unpacking, &step.span);
		step.message = unpack_text(in);
		vec_push(in->arena, &finding->steps, step);
	}
}

static void unpack_drivers(struct finding_unpacking *unpacking, struct finding *finding)
{
	struct unpacking *in = &unpacking->in;
	uint32_t count = unpack_count(in);

	for (uint32_t i = 0; i < count && !in->broken; i++) {
		const char *path = unpack_text(in);
		struct finding_driver driver = {0};

		driver.program = path ? unpacking->source_of(unpacking->context, path) : NULL;
		driver.source = unpack_place(unpacking, &driver.span);
		in->broken |= !driver.program || !driver.source;
		vec_push(in->arena, &finding->drivers, driver);
	}
}

bool unpack_finding(struct finding_unpacking *unpacking, struct finding *finding)
{
	struct unpacking *in = &unpacking->in;
	const char *code = unpack_text(in);
	uint32_t count;

	*finding = (struct finding){.rule = code ? rule_find(unpacking->rules, code) : NULL};
	finding->severity = (enum severity)unpack_number(in);
	finding->confidence = (enum confidence)unpack_number(in);
	finding->source = unpack_place(unpacking, &finding->span);
	finding->value_source = unpack_place(unpacking, &finding->value_span);
	finding->happens_source = unpack_place(unpacking, &finding->happens_span);
	unpack_drivers(unpacking, finding);
	finding->message = unpack_text(in);
	finding->note = unpack_text(in);
	finding->function = unpack_text(in);
	finding->noqa_row = (uint32_t)unpack_number(in);
	unpack_steps(unpacking, finding);
	count = unpack_count(in);
	for (uint32_t i = 0; i < count && !in->broken; i++)
		vec_push(in->arena, &finding->fixes, unpack_fix(in));
	unpack_replay(in, &finding->replay);
	return !in->broken && finding->rule && finding->source && finding->message;
}

bool unpack_skipped(struct finding_unpacking *unpacking, struct skipped *skipped)
{
	struct unpacking *in = &unpacking->in;

	*skipped = (struct skipped){.path = unpack_text(in)};
	skipped->source = unpack_place(unpacking, &skipped->span);
	skipped->reason = unpack_text(in);
	skipped->is_failure = unpack_number(in) != 0;
	return !in->broken && skipped->path && skipped->reason;
}
