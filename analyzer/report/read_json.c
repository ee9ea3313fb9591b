#include "analyzer/report/read_json.h"

#include <string.h>

#include "analyzer/report/json_load.h"

static const char *copy(struct json_reading *reading, const char *chars)
{
	return chars ? arena_text(reading->arena, chars, strlen(chars)) : NULL;
}

static const char *text_of(struct json_reading *reading, const json_t *object, const char *key)
{
	return copy(reading, json_string_value(json_object_get(object, key)));
}

static uint32_t number_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static const struct source *source_for(struct json_reading *reading, const char *path)
{
	struct source_problem problem;
	struct source *source;

	for (uint32_t i = 0; i < reading->sources.count; i++) {
		if (!strcmp(reading->sources.at[i]->path, path))
			return reading->sources.at[i];
	}
	source = source_open(reading->arena, path, &problem);
	if (!source)
		source = source_from_bytes(reading->arena, path, "", 0, &problem);
	if (source)
		vec_push(reading->arena, &reading->sources, source);
	return source;
}

static struct position position_of(const json_t *object, uint32_t cell)
{
	return (struct position){number_of(object, "row"), number_of(object, "column"), cell};
}

static struct span span_of(const struct source *source, const json_t *object, uint32_t cell)
{
	const json_t *start = json_object_get(object, "location");
	const json_t *end = json_object_get(object, "end_location");
	struct span span = {0};

	if (json_is_object(start))
		span.start = source_offset(source, position_of(start, cell));
	span.end = json_is_object(end) ? source_offset(source, position_of(end, cell)) : span.start;
	if (span.end < span.start)
		span.end = span.start;
	return span;
}

/* Words to numbers, by the functions that write them. */
#define FIND_WORD(first, last, name_of, written, fallback)                                         \
	for (int word = (first); word <= (last); word++) {                                         \
		if ((written) && !strcmp(name_of(word), (written)))                                \
			return word;                                                               \
	}                                                                                          \
	return (fallback)

static enum severity severity_of(const char *word_text)
{
	FIND_WORD(SEVERITY_INFO, SEVERITY_ERROR, severity_name, word_text, SEVERITY_OFF);
}

static enum confidence confidence_of(const char *word_text)
{
	FIND_WORD(CONFIDENCE_LIKELY, CONFIDENCE_CONFIRMED, confidence_name, word_text,
	          CONFIDENCE_LIKELY);
}

static enum step_role role_of(const char *word_text)
{
	FIND_WORD(STEP_BORN, STEP_NEEDED, step_role_name, word_text, STEP_TRAVELS);
}

static enum evidence verdict_of(const char *word_text)
{
	FIND_WORD(EVIDENCE_NONE, EVIDENCE_SUPERLINEAR, evidence_name, word_text, EVIDENCE_NONE);
}

static void read_steps(struct json_reading *reading, const json_t *list, struct finding *finding)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		const char *path = text_of(reading, object, "filename");
		struct finding_step step = {
		        .role = role_of(text_of(reading, object, "role")),
		        .source = path ? source_for(reading, path) : NULL,
		        .message = text_of(reading, object, "message"),
		};

		if (step.source)
			step.span = span_of(step.source, object, number_of(object, "cell"));
		if (step.message)
			vec_push(reading->arena, &finding->steps, step);
	}
}

static void read_fix(struct json_reading *reading, const json_t *object, uint32_t cell,
                     struct finding *finding)
{
	const char *applicability = text_of(reading, object, "applicability");
	const json_t *edits = json_object_get(object, "edits");
	struct finding_fix fix = {
	        .safe = applicability && !strcmp(applicability, "safe"),
	        .title = text_of(reading, object, "title"),
	        .changes = text_of(reading, object, "changes"),
	        .replayed = text_of(reading, object, "replayed"),
	};

	for (size_t i = 0; i < json_array_size(edits); i++) {
		const json_t *edit = json_array_get(edits, i);
		const char *content = text_of(reading, edit, "content");
		struct finding_edit read = {span_of(finding->source, edit, cell),
		                            content ? content : ""};

		vec_push(reading->arena, &fix.edits, read);
	}
	if (fix.title)
		vec_push(reading->arena, &finding->fixes, fix);
}

static void read_replay(struct json_reading *reading, const json_t *object, struct finding *finding)
{
	struct finding_replay *replay = &finding->replay;
	const json_t *bytes = json_object_get(object, "live_bytes");
	uint32_t count = (uint32_t)json_array_size(bytes);
	int64_t *live = arena_array(reading->arena, int64_t, count);
	const json_t *names = json_object_get(object, "stand_ins");

	for (uint32_t i = 0; i < count; i++)
		live[i] = json_integer_value(json_array_get(bytes, i));
	replay->verdict = verdict_of(text_of(reading, object, "verdict"));
	replay->exact = json_is_true(json_object_get(object, "exact"));
	replay->steps = count;
	replay->live_bytes = live;
	replay->bytes_per_step = json_number_value(json_object_get(object, "bytes_per_step"));
	replay->nodes_per_step = json_number_value(json_object_get(object, "nodes_per_step"));
	replay->shown = text_of(reading, object, "shown");
	replay->reason = text_of(reading, object, "reason");
	replay->loop = text_of(reading, object, "loop");
	for (size_t i = 0; i < json_array_size(names); i++)
		vec_push(reading->arena, &replay->stand_ins,
		         copy(reading, json_string_value(json_array_get(names, i))));
	names = json_object_get(object, "retained_by");
	for (size_t i = 0; i < json_array_size(names); i++)
		vec_push(reading->arena, &replay->retained_by,
		         copy(reading, json_string_value(json_array_get(names, i))));
}

static const char *read_finding(struct json_reading *reading, const json_t *object)
{
	const char *code = text_of(reading, object, "code");
	const char *path = text_of(reading, object, "filename");
	const json_t *fix = json_object_get(object, "fix");
	const json_t *others = json_object_get(fix, "alternatives");
	uint32_t cell = number_of(object, "cell");
	struct finding finding = {
	        .rule = code ? rule_find(reading->rules, code) : NULL,
	        .severity = severity_of(text_of(reading, object, "severity")),
	        .confidence = confidence_of(text_of(reading, object, "confidence")),
	        .source = path ? source_for(reading, path) : NULL,
	        .message = text_of(reading, object, "message"),
	        .note = text_of(reading, object, "note"),
	        .function = text_of(reading, object, "function"),
	        .noqa_row = number_of(object, "noqa_row"),
	};

	if (!finding.rule)
		return "a finding has a code that this version does not know";
	if (!finding.source || !finding.message || !finding.severity)
		return "a finding lacks a field";
	finding.span = span_of(finding.source, object, cell);
	read_steps(reading, json_object_get(object, "steps"), &finding);
	if (json_is_object(fix))
		read_fix(reading, fix, cell, &finding);
	for (size_t i = 0; i < json_array_size(others); i++)
		read_fix(reading, json_array_get(others, i), cell, &finding);
	if (json_is_object(json_object_get(object, "replay")))
		read_replay(reading, json_object_get(object, "replay"), &finding);
	vec_push(reading->arena, &reading->outcome.findings, finding);
	return NULL;
}

static void read_skipped(struct json_reading *reading, const json_t *object)
{
	struct skipped skipped = {
	        .path = text_of(reading, object, "filename"),
	        .reason = text_of(reading, object, "reason"),
	        .is_failure = json_is_true(json_object_get(object, "failure")),
	};

	if (!skipped.path || !skipped.reason)
		return;
	if (json_is_object(json_object_get(object, "location"))) {
		skipped.source = source_for(reading, skipped.path);
		if (skipped.source)
			skipped.span = span_of(skipped.source, object, number_of(object, "cell"));
	}
	vec_push(reading->arena, &reading->outcome.skipped, skipped);
}

static void add_counts(struct json_reading *reading, const json_t *summary)
{
	struct outcome *outcome = &reading->outcome;
	const json_t *stale = json_object_get(summary, "stale_baseline");

	outcome->files += number_of(summary, "files");
	outcome->suppressed += number_of(summary, "suppressed");
	outcome->baselined += number_of(summary, "baselined");
	outcome->refuted += number_of(summary, "refuted");
	for (size_t i = 0; i < json_array_size(stale); i++)
		vec_push(reading->arena, &outcome->stale,
		         copy(reading, json_string_value(json_array_get(stale, i))));
}

static const char *read_shard(struct json_reading *reading, const json_t *object,
                              struct json_shard *shard)
{
	shard->part = number_of(object, "part");
	shard->parts = number_of(object, "parts");
	shard->record = text_of(reading, object, "record");
	if (!shard->part || shard->part > shard->parts || shard->parts > UINT16_MAX ||
	    !shard->record)
		return "this is no json report of graphlint";
	return NULL;
}

static const char *read_root(struct json_reading *reading, const json_t *root,
                             struct json_shard *shard)
{
	const json_t *findings = json_object_get(root, "findings");
	const json_t *skipped = json_object_get(root, "skipped");
	const char *complaint = NULL;

	if (!json_is_array(findings) || !json_is_array(skipped))
		return "this is no json report of graphlint";
	if (json_object_get(root, "shard"))
		return read_shard(reading, json_object_get(root, "shard"), shard);
	for (size_t i = 0; !complaint && i < json_array_size(findings); i++)
		complaint = read_finding(reading, json_array_get(findings, i));
	for (size_t i = 0; i < json_array_size(skipped); i++)
		read_skipped(reading, json_array_get(skipped, i));
	add_counts(reading, json_object_get(root, "summary"));
	return complaint;
}

const char *json_report_read(struct json_reading *reading, const char *path,
                             struct json_shard *shard)
{
	const char *complaint = NULL;
	json_t *root = json_load(reading->arena, path, &complaint);

	if (root)
		complaint = read_root(reading, root, shard);
	json_decref(root);
	return complaint;
}
