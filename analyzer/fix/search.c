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

/* To where the same text stands: what is added behind it is not its own. */
static struct span moved_span(const edit_list *edits, struct span span)
{
	if (span.end > span.start)
		span.end = fix_move(edits, span.end - 1) + 1;
	span.start = fix_move(edits, span.start);
	return span;
}

static void move_places(struct replay_request *request, const edit_list *edits,
                        const struct source *from, const struct source *to)
{
	struct replay_place *born =
	        arena_array(request->arena, struct replay_place, request->born_count + 1);
	struct replay_place *watch =
	        arena_array(request->arena, struct replay_place, request->watch_count + 1);

	for (uint32_t i = 0; i < request->born_count; i++) {
		born[i] = request->born[i];
		if (born[i].source == from)
			born[i] = (struct replay_place){to, moved_span(edits, born[i].span)};
	}
	for (uint32_t i = 0; i < request->watch_count; i++) {
		watch[i] = request->watch[i];
		if (watch[i].source == from)
			watch[i] = (struct replay_place){to, moved_span(edits, watch[i].span)};
	}
	request->born = born;
	request->watch = watch;
}

/* One module of the program is another text now. */
struct replacement {
	const struct replay_request *request;
	const struct source *source; /* of the old text */
	const struct ir_module *module;
};

static const struct ir_module *find_replaced(void *data, const char *name, bool *is_package)
{
	const struct replacement *replacement = data;
	const struct replay_request *request = replacement->request;
	const struct ir_module *found = request->find_module(request->data, name, is_package);

	return found && found->source == replacement->source ? replacement->module : found;
}

static const struct source *source_of_loop(const struct replay_request *request)
{
	return request->loops ? request->loops->source : request->module->source;
}

static void replace_module(struct replay_request *request, const struct replay_request *before,
                           const struct source *source, const struct ir_module *module)
{
	struct replacement *replacement = arena_new(request->arena, struct replacement);

	if (request->module->source == source)
		request->module = module;
	if (request->loops && request->loops->source == source)
		request->loops = module;
	if (!request->find_module)
		return;
	*replacement = (struct replacement){before, source, module};
	request->find_module = find_replaced;
	request->data = replacement;
}

bool fix_request(const struct replay_request *request, const struct source *source,
                 const edit_list *edits, const struct replay_result *before,
                 struct front_syntax *syntax, struct replay_request *edited)
{
	struct source *fixed = fix_edited(request->arena, source, edits);
	struct front_result lowered = {0};

	if (fixed)
		lowered = python_front_end.lower(request->arena, request->names, fixed, syntax);
	if (!lowered.module || (lowered.has_error && !fix_is_sound(fixed, source)))
		return false;
	*edited = *request;
	replace_module(edited, request, source, lowered.module);
	edited->line = source_of_loop(request) == source
	                       ? moved_line(source, fixed, edits, before->loop_line)
	                       : before->loop_line;
	edited->iterations = before->count;
	edited->attempt = before->attempt;
	move_places(edited, edits, source, fixed);
	return true;
}

struct replay_result fix_replay(const struct replay_request *request, const struct source *source,
                                const edit_list *edits, const struct replay_result *before,
                                struct front_syntax *syntax)
{
	struct replay_request edited;

	if (!fix_request(request, source, edits, before, syntax, &edited))
		return (struct replay_result){0};
	return replay_run(&edited);
}

static struct replay_result replay_with(struct fix_search *search, const edit_list *edits)
{
	search->replays++;
	return fix_replay(&search->request, search->source, edits, search->before, search->syntax);
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

/* The best edit of one kind for a finding, on top of what was chosen so far. */
struct attempt {
	struct fix_search *search;
	const edit_list *chosen;
	const struct replay_result *base; /* with what was chosen */
	const struct finding_fix *fix;    /* NULL: none is borne out */
	struct replay_result result;
	edit_list edits;
	uint32_t more; /* replays since the first that was better */
};

enum { MOST_MORE = 4 }; /* other findings may keep the curve from getting flat */

static bool may_replay(const struct fix_search *search)
{
	return !search->most_replays || search->replays < search->most_replays;
}

static bool is_settled(const struct attempt *a)
{
	return a->fix && (a->more >= MOST_MORE ||
	                  (!grows(&a->result.nodes) && (a->fix->safe || !grows(&a->result.bytes))));
}

static void try_fix(struct attempt *a, const struct finding_fix *fix)
{
	edit_list edits = *a->chosen;
	struct replay_result result;

	if (!may_replay(a->search) || !fix_merge(a->search->request.arena, &edits, fix))
		return;
	result = replay_with(a->search, &edits);
	a->more += a->fix != NULL;
	if (!is_better(&result, a->fix ? &a->result : a->base) ||
	    result.trained != a->base->trained)
		return;
	a->fix = fix;
	a->result = result;
	a->edits = edits;
}

static struct attempt try_all(struct fix_search *search, const struct replay_result *base,
                              const fix_list *fixes, bool safe)
{
	struct attempt attempt = {.search = search, .chosen = &search->edits, .base = base};

	for (uint32_t i = 0; i < fixes->count && !is_settled(&attempt); i++) {
		if (fixes->at[i].safe == safe)
			try_fix(&attempt, &fixes->at[i]);
	}
	return attempt;
}

static void keep_fix(struct finding *finding, const struct attempt *a)
{
	struct arena *arena = a->search->request.arena;
	struct finding_fix kept;

	if (!a->fix)
		return;
	kept = *a->fix;
	kept.replayed = fix_curve(arena, &a->result);
	vec_push(arena, &finding->fixes, kept);
}

static void fix_finding(struct fix_search *search, struct finding *finding)
{
	const struct replay_result base = search->after;
	fix_list fixes = {0};
	struct attempt safe, unsafe;
	const struct attempt *chosen;

	fix_candidates(search->request.arena, finding, search->syntax, &fixes);
	safe = try_all(search, &base, &fixes, true);
	unsafe = try_all(search, &base, &fixes, false);
	keep_fix(finding, &safe);
	keep_fix(finding, &unsafe);
	chosen = safe.fix ? &safe : &unsafe;
	if (!chosen->fix)
		return;
	search->fixed++;
	search->after = chosen->result;
	search->edits = chosen->edits;
}

/* What is found in one more file is tried on top of what was chosen in those before. */
static void begin_file(struct fix_search *search, const struct source *source)
{
	struct arena *arena = search->request.arena;
	struct replay_request *done = arena_new(arena, struct replay_request);
	struct replay_result *reached = arena_new(arena, struct replay_result);

	if (search->edits.count) {
		*done = search->request;
		*reached = search->after;
		fix_request(done, search->source, &search->edits, search->before, search->syntax,
		            &search->request);
		search->before = reached;
	}
	search->source = source;
	search->edits = (edit_list){0};
}

void fix_search(struct fix_search *search)
{
	struct front_syntax *given = search->syntax, own = {0};

	search->after = *search->before;
	for (uint32_t i = 0; i < search->count; i++) {
		struct finding *finding = search->findings[i];

		if (finding->fixes.count)
			continue;
		if (finding->source != search->source) {
			begin_file(search, finding->source);
			front_syntax_release(&own);
			own = (struct front_syntax){.source = finding->source};
			search->syntax = given && given->source == finding->source ? given : &own;
		}
		fix_finding(search, finding);
	}
	search->syntax = given;
	front_syntax_release(&own);
}
