/* Fixes that a replay bears out: each candidate is applied on top of those that
 * were chosen before, and the loop is replayed. */

#include <math.h>
#include <string.h>

#include "analyzer/finding/rule.h"
#include "analyzer/fix/fix.h"
#include "analyzer/front/front.h"

static bool grows(const struct replay_verdict *verdict)
{
	return verdict->kind == REPLAY_LINEAR || verdict->kind == REPLAY_SUPERLINEAR;
}

static const struct replay_sample *last_of(const struct replay_result *result)
{
	static const struct replay_sample none;

	return result->count ? &result->samples[result->count - 1] : &none;
}

/* Fewer nodes are alive at the end, or as many and fewer bytes. */
static bool is_better(const struct replay_result *after, const struct replay_result *before)
{
	const struct replay_sample *a = last_of(after), *b = last_of(before);

	if ((after->error && !before->error) || (after->limit && !before->limit) ||
	    after->count < before->count || !after->count)
		return false;
	return a->nodes < b->nodes || (a->nodes == b->nodes && a->live_bytes < b->live_bytes);
}

static bool trains_alike(const struct replay_result *after, const struct replay_result *before)
{
	return after->weights == before->weights;
}

/* The measured loop's line in the edited text. */
static uint32_t moved_line(const struct source *source, const struct source *fixed,
                           const edit_list *edits, uint32_t line)
{
	uint32_t at;

	if (!line || line > source->line_count)
		return line;
	at = source->lines[line - 1];
	while (at < source->length && strchr(" \t", source->text[at]))
		at++;
	return source_line_at(fixed, fix_move(edits, at)) + 1;
}

struct replay_result fix_replay(const struct replay_request *request, const edit_list *edits,
                                const struct replay_result *before)
{
	struct replay_request edited = *request;
	const struct source *source = request->module->source;
	struct source *fixed = fix_apply(request->arena, source, edits);

	if (fixed)
		edited.module =
		        python_front_end.lower(request->arena, request->names, fixed).module;
	if (!fixed || !edited.module)
		return (struct replay_result){0};
	edited.line = moved_line(source, fixed, edits, before->loop_line);
	edited.iterations = before->count;
	return replay_run(&edited);
}

static struct replay_result replay_with(struct fix_search *search, const edit_list *edits)
{
	search->request.values = search->values;
	search->replays++;
	return fix_replay(&search->request, edits, search->before);
}

static const char *grown(struct arena *arena, double bytes)
{
	struct text text = {.arena = arena};
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	unsigned unit = 0;

	while (bytes >= 1024 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	text_print(&text, bytes == floor(bytes) ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
	return text_chars(&text);
}

const char *fix_curve(struct arena *arena, const struct replay_result *result)
{
	struct text text = {.arena = arena};
	const bool nodes = grows(&result->nodes), bytes = grows(&result->bytes);

	if (!nodes && !bytes) {
		text_add_chars(&text, result->bytes.kind == REPLAY_BOUNDED ? "bounded" : "flat");
		return text_chars(&text);
	}
	if (nodes)
		text_print(&text, "%+.*f nodes",
		           result->nodes.slope == floor(result->nodes.slope) ? 0 : 1,
		           result->nodes.slope);
	else
		text_add_chars(&text, "nodes flat");
	if (bytes)
		text_print(&text, ", %s per step", grown(arena, result->bytes.slope));
	else
		text_add_chars(&text, " per step");
	return text_chars(&text);
}

/* One finding on top of what was chosen so far. */
struct attempt {
	struct fix_search *search;
	struct finding *finding;
	const edit_list *chosen;
	const struct replay_result *base; /* with what was chosen */
	struct replay_result best;        /* of the fix that is chosen for this one */
	edit_list edits;
	bool has_safe, has_unsafe;
};

static bool may_replay(const struct fix_search *search)
{
	return !search->most_replays || search->replays < search->most_replays;
}

static void keep_fix(struct attempt *a, const struct finding_fix *fix, bool safe,
                     const struct replay_result *result, const edit_list *edits)
{
	struct arena *arena = a->search->request.arena;
	struct finding_fix kept = *fix;

	kept.safe = safe;
	if (!safe && !kept.changes)
		kept.changes = "what is trained";
	kept.replayed = fix_curve(arena, result);
	vec_push(arena, &a->finding->fixes, kept);
	if (safe || !(a->has_safe || a->has_unsafe)) {
		a->best = *result;
		a->edits = *edits;
	}
	if (safe)
		a->has_safe = true;
	else
		a->has_unsafe = true;
}

static void try_fix(struct attempt *a, const struct finding_fix *fix)
{
	struct arena *arena = a->search->request.arena;
	edit_list edits = *a->chosen;
	struct replay_result result;

	if ((fix->safe ? a->has_safe : a->has_unsafe) || !may_replay(a->search) ||
	    !fix_merge(arena, &edits, fix))
		return;
	result = replay_with(a->search, &edits);
	if (!is_better(&result, a->base))
		return;
	if (fix->safe && !trains_alike(&result, a->base))
		return;
	keep_fix(a, fix, fix->safe, &result, &edits);
}

static void try_all(struct attempt *a)
{
	fix_list fixes = {0};

	fix_candidates(a->search->request.arena, a->finding, &fixes);
	for (uint32_t i = 0; i < fixes.count; i++)
		try_fix(a, &fixes.at[i]);
}

/* With numbers, so that two runs can be seen to train alike; without, where that
 * is too much arithmetic. */
static void replay_base(struct fix_search *search)
{
	const edit_list none = {0};
	struct replay_result with_values;

	search->values = true;
	search->after = *search->before;
	with_values = replay_with(search, &none);
	if (with_values.count == search->before->count)
		search->after = with_values;
	else
		search->values = false;
}

void fix_search(struct fix_search *search)
{
	const struct source *source = search->request.module->source;
	bool begun = false;

	for (uint32_t i = 0; i < search->count; i++) {
		struct attempt attempt = {
		        .search = search,
		        .finding = search->findings[i],
		        .chosen = &search->edits,
		        .base = &search->after,
		};

		if (attempt.finding->source != source || attempt.finding->fixes.count)
			continue;
		if (!begun)
			replay_base(search);
		begun = true;
		try_all(&attempt);
		if (!attempt.has_safe && !attempt.has_unsafe)
			continue;
		search->fixed++;
		search->after = attempt.best;
		search->edits = attempt.edits;
	}
}
