/* Records of imported modules: made once in a run, whoever asks first. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/facts/exec.h"
#include "analyzer/facts/summary.h"

enum { MAX_NESTED_MODULES = 150 }; /* each needs the next while its body runs */

struct module_summaries {
	pthread_mutex_t lock;
	uint32_t count;
	struct arena arena;
	const struct module_summary **at; /* by the file's number */
	struct arena *arenas;
	file_list *asked; /* by the body of each */
};

/* A record that rests on a module which is still being made further out. */
struct provisional {
	const struct project_file *file;
	const struct module_summary *summary;
	struct arena arena;
};

/* A body that runs, and those that wait for it. */
struct module_making {
	struct module_making *outer, *outermost;
	const struct project_file *file;
	uint32_t depth;
	uint32_t lowest; /* of those that it asked for while they were being made */
	/* of the outermost one: */
	VEC(struct provisional) provisional;
	struct arena arena;
};

struct module_summaries *module_summaries_open(uint32_t files)
{
	struct module_summaries *summaries = checked_alloc(1, sizeof(*summaries));

	*summaries = (struct module_summaries){.count = files};
	summaries->at = arena_array(&summaries->arena, const struct module_summary *, files);
	summaries->asked = arena_array(&summaries->arena, file_list, files);
	summaries->arenas = arena_array(&summaries->arena, struct arena, files);
	BUG_IF(pthread_mutex_init(&summaries->lock, NULL) != 0);
	return summaries;
}

void module_summaries_close(struct module_summaries *summaries)
{
	for (uint32_t i = 0; i < summaries->count; i++)
		arena_release(&summaries->arenas[i]);
	pthread_mutex_destroy(&summaries->lock);
	arena_release(&summaries->arena);
	free(summaries);
}

static void ask_for(struct arena *arena, file_list *asked, const struct project_file *file)
{
	for (uint32_t i = 0; i < asked->count; i++)
		if (asked->at[i] == file)
			return;
	vec_push(arena, asked, file);
}

/* A body may run more than once, in other company: all that it asked for counts. */
static void note_asked(struct module_summaries *summaries, const struct project_file *file,
                       const file_list *asked)
{
	pthread_mutex_lock(&summaries->lock);
	for (uint32_t i = 0; i < asked->count; i++)
		ask_for(&summaries->arena, &summaries->asked[file->number], asked->at[i]);
	pthread_mutex_unlock(&summaries->lock);
}

void module_summaries_uses(const struct module_summaries *summaries, struct arena *arena,
                           const struct project *project, struct project_events *events)
{
	for (uint32_t i = 0; i < summaries->count; i++) {
		struct module_uses uses = {.file = project_file_at(project, i)};

		for (uint32_t k = 0; k < summaries->asked[i].count; k++)
			vec_push(arena, &uses.used, summaries->asked[i].at[k]);
		if (uses.used.count)
			vec_push(arena, &events->modules, uses);
	}
}

static const struct module_summary *find_published(struct module_summaries *summaries,
                                                   uint32_t number)
{
	const struct module_summary *found;

	pthread_mutex_lock(&summaries->lock);
	found = summaries->at[number];
	pthread_mutex_unlock(&summaries->lock);
	return found;
}

/* Two threads may have made the same one: they are equal, and the first stays. */
static const struct module_summary *publish(struct module_summaries *summaries, uint32_t number,
                                            const struct module_summary *summary,
                                            struct arena *arena)
{
	pthread_mutex_lock(&summaries->lock);
	if (!summaries->at[number]) {
		summaries->at[number] = summary;
		summaries->arenas[number] = *arena;
		*arena = (struct arena){0};
	}
	summary = summaries->at[number];
	pthread_mutex_unlock(&summaries->lock);
	arena_release(arena);
	return summary;
}

static const struct module_summary *find_provisional(const struct module_making *making,
                                                     const struct project_file *file)
{
	const struct module_making *first = making ? making->outermost : NULL;

	for (uint32_t i = 0; first && i < first->provisional.count; i++)
		if (first->provisional.at[i].file == file)
			return first->provisional.at[i].summary;
	return NULL;
}

static void rests_on(struct module_making *making, uint32_t depth)
{
	for (; making && making->depth > depth; making = making->outer)
		if (making->lowest > depth)
			making->lowest = depth;
}

/* Does the body run, further out? Then all from there on rest on it. */
static bool is_being_made(struct module_making *making, const struct project_file *file)
{
	for (const struct module_making *m = making; m; m = m->outer)
		if (m->file == file) {
			rests_on(making, m->depth);
			return true;
		}
	if (!making || making->depth < MAX_NESTED_MODULES)
		return false;
	rests_on(making, 0);
	return true;
}

static void run_body(struct analysis *a, const struct project_file *file)
{
	const struct ir_func *body = ir_func_get(file->lowered.module, (func_id){1});
	const context_id context = context_enter(a, (context_id){0}, file, body, 0, 0);
	const object_id names = namespace_object(a, file);
	struct state *state = state_new(a);
	struct activation act;

	def_of(a, names)->running = true;
	object_renew(a, state, names);
	act = activation_begin(a, NULL, file, body, context);
	object_renew(a, state, act.frame);
	run_function(a, &act, state);
	state_promote(a, state);
}

static const struct module_summary *summary_of(struct analysis *a, const struct project_file *file);

/* Of a circle of modules, the one that it is entered at, whoever asked. */
static const struct project_file *first_of_circle(const struct project_file *file,
                                                  const struct module_making *outermost,
                                                  uint32_t from)
{
	for (uint32_t i = from; i < outermost->provisional.count; i++)
		if (strcmp(outermost->provisional.at[i].file->path, file->path) < 0)
			file = outermost->provisional.at[i].file;
	return file;
}

static void publish_circle(struct module_summaries *summaries, struct module_making *outermost,
                           uint32_t from)
{
	while (outermost->provisional.count > from) {
		struct provisional *p = &outermost->provisional.at[--outermost->provisional.count];

		publish(summaries, p->file->number, p->summary, &p->arena);
	}
}

static void drop_circle(struct module_making *outermost, uint32_t from)
{
	while (outermost->provisional.count > from)
		arena_release(&outermost->provisional.at[--outermost->provisional.count].arena);
}

/* What its body left, and what rests on that, is for all to see; but a circle is
 * entered anew where all enter it. */
static const struct module_summary *settle(struct analysis *asking, struct provisional *made,
                                           struct module_making *outermost, uint32_t circle)
{
	const struct project_file *entry = first_of_circle(made->file, outermost, circle);
	const struct module_summary *found;

	if (entry == made->file) {
		publish_circle(asking->summaries, outermost, circle);
	} else {
		drop_circle(outermost, circle);
		summary_of(asking, entry);
		found = find_published(asking->summaries, made->file->number);
		if (found) {
			arena_release(&made->arena);
			return found;
		}
	}
	return publish(asking->summaries, made->file->number, made->summary, &made->arena);
}

static const struct module_summary *make(struct analysis *asking, const struct project_file *file)
{
	struct arena work = {0};
	struct analysis *a = arena_new(&work, struct analysis);
	struct module_making making = {.outer = asking->making, .file = file, .lowest = UINT32_MAX};
	struct module_making *outermost = making.outer ? making.outer->outermost : &making;
	const uint32_t circle = outermost->provisional.count;
	struct provisional made = {.file = file};

	making.outermost = outermost;
	making.depth = making.outer ? making.outer->depth + 1 : 1;
	analysis_init(a, asking->project, asking->summaries, &work);
	a->making = &making;
	run_body(a, file);
	note_asked(asking->summaries, file, &a->asked);
	made.summary = summary_take(a, file, &made.arena);
	arena_release(&work);
	if (making.outer && making.lowest < making.depth)
		vec_push(&outermost->arena, &outermost->provisional, made);
	else
		made.summary = settle(asking, &made, outermost, circle);
	arena_release(&making.arena);
	return made.summary;
}

static const struct module_summary *summary_of(struct analysis *a, const struct project_file *file)
{
	const struct module_summary *found = find_published(a->summaries, file->number);

	if (!found)
		found = find_provisional(a->making, file);
	if (found || is_being_made(a->making, file))
		return found;
	return make(a, file);
}

void module_load(struct analysis *a, const struct project_file *file)
{
	struct def *def = def_of(a, namespace_object(a, file));
	const struct module_summary *summary;

	ask_for(a->arena, &a->asked, file);
	if (def->running || !file->lowered.module || a->loaded >= FACTS_MAX_IMPORTS)
		return;
	def->running = true;
	summary = summary_of(a, file);
	if (!summary)
		return;
	for (uint32_t i = 0; i < summary_need_count(summary); i++)
		module_load(a, summary_need(summary, i));
	a->loaded++;
	summary_load(a, summary);
}
