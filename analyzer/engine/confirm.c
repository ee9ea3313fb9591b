/* Replays the loops of findings: what is shown to grow is confirmed, with its
 * curve; what could not be replayed says why. */

#include <string.h>

#include "analyzer/engine/run.h"
#include "analyzer/fix/fix.h"
#include "analyzer/project/resolve.h"
#include "analyzer/replay/replay.h"
#include "analyzer/report/curve.h"

enum {
	AUTO_STEPS = 16,
	ALWAYS_STEPS = REPLAY_STEPS,
	LATE_STEPS = 512,     /* to a place that every hundredth step comes by */
	REFUTING_STEPS = 12,  /* fewer tell nothing of what grows late */
	AUTO_FIX_REPLAYS = 6, /* for a loop */
	LEAST_PILED = 32,     /* bytes */
	ALWAYS_FIX_REPLAYS = 24,
};

/* What one file may cost without --confirm always; counted, so that every
 * machine stops at the same place. */
static const struct replay_budget auto_budget = {
        .steps = 400000,
        .host_bytes = UINT64_C(64) << 20,
        .live_bytes = UINT64_C(2) << 30,
        .nodes = 200000,
        .seconds = 5,
};

/* A loop, and the program that is replayed to get there. */
struct driven_loop {
	const struct project_file *program;
	const struct project_file *file; /* of the loop */
	uint32_t line;                   /* as of a replay's request */
};

/* The replay of one loop, for all findings of a file. */
struct measured_loop {
	struct driven_loop loop;
	struct replay_result result;
};

struct file_confirm {
	const struct project_file *file;
	struct arena arena; /* results, until they are copied */
	VEC(struct finding *) findings;
	VEC(struct replay_place) places;
	VEC(uint32_t) shown_by;  /* the measured loop, from 1 */
	uint64_t tensors, leads; /* of them, as bits */
	VEC(struct replay_place) born;
	bool retains; /* one of the findings is about a graph that is retained */
	VEC(struct measured_loop) loops;
	struct replay_loop *known; /* all of the file */
	uint32_t known_count;
	file_list used; /* modules that were asked for */
};

struct confirm {
	struct run *run;
	VEC(struct file_confirm *) files;
};

struct asking {
	const struct run *run;
	struct file_confirm *confirm;
	const struct project_file *program;
};

static const struct ir_module *find_module(void *data, const char *name, bool *is_package)
{
	const struct asking *asking = data;
	const struct project *project = asking->run->project;
	const struct project_file *file = project_import(project, asking->program, name);

	if (file)
		vec_push(&asking->confirm->arena, &asking->confirm->used, file);
	return project_import_module(project, asking->program, name, is_package);
}

static uint32_t line_at(const struct source *source, struct span span)
{
	return source_line_at(source, span.start) + 1; /* in the text of all cells */
}

static const struct project_file *file_of(const struct run *run, const struct source *source)
{
	for (uint32_t i = 0; i < project_file_count(run->project); i++)
		if (project_file_at(run->project, i)->source == source)
			return project_file_at(run->project, i);
	return NULL;
}

static bool is_driven_by(const struct finding *finding, const struct driven_loop *loop)
{
	for (uint32_t i = 0; i < finding->drivers.count; i++) {
		const struct finding_driver *driver = &finding->drivers.at[i];

		if (driver->program == loop->program->source &&
		    driver->source == loop->file->source &&
		    line_at(driver->source, driver->span) == loop->line)
			return true;
	}
	return false;
}

static uint64_t driven_places(const struct file_confirm *confirm, const struct driven_loop *loop)
{
	uint64_t places = 0;

	for (uint32_t i = 0; i < confirm->findings.count && i < REPLAY_MOST_WATCHED; i++)
		places |= (uint64_t)is_driven_by(confirm->findings.at[i], loop) << i;
	return places;
}

static struct replay_request request_for(struct run *run, struct file_confirm *confirm,
                                         const struct driven_loop *loop)
{
	const bool always = run->settings->confirm == CONFIRM_ALWAYS;
	struct asking *asking = arena_new(&confirm->arena, struct asking);

	*asking = (struct asking){run, confirm, loop->program};
	return (struct replay_request){
	        .arena = &confirm->arena,
	        .names = run->names,
	        .module = loop->program->lowered.module,
	        .loops = loop->file != loop->program ? loop->file->lowered.module : NULL,
	        .line = loop->line,
	        /* A program that does not run by itself says no more than the file alone. */
	        .heal = loop->program == confirm->file ? REPLAY_LEAST : 0,
	        .prolong = true,
	        .settle = true,
	        .iterations = always ? ALWAYS_STEPS : AUTO_STEPS,
	        .rare = always,
	        .budget = always ? NULL : &auto_budget,
	        .watch = confirm->places.at,
	        .watch_count = confirm->places.count,
	        .driven = driven_places(confirm, loop),
	        .tensors = confirm->tensors,
	        .leads = confirm->leads,
	        .follow_retained = confirm->retains,
	        .born = confirm->born.at,
	        .born_count = confirm->born.count,
	        .find_module = find_module,
	        .data = asking,
	};
}

/* The loop around a line, or (line 0) the file's main loop; else the line. */
static struct driven_loop own_loop(struct run *run, struct file_confirm *confirm, uint32_t line)
{
	const struct ir_module *module = confirm->file->lowered.module;
	const struct replay_loop *loop;

	if (!confirm->known)
		confirm->known_count =
		        replay_loops(&confirm->arena, run->names, module, &confirm->known);
	loop = replay_choose(module, confirm->known, confirm->known_count, line);
	return (struct driven_loop){confirm->file, confirm->file, loop ? loop->line : line};
}

static struct driven_loop main_loop(struct run *run, struct file_confirm *confirm,
                                    const struct project_file *program)
{
	const struct ir_module *module = program->lowered.module;
	struct replay_loop *loops;
	const uint32_t count = replay_loops(&confirm->arena, run->names, module, &loops);
	const struct replay_loop *loop = replay_choose(module, loops, count, 0);

	return (struct driven_loop){program, program, loop ? loop->line : 0};
}

static bool is_same_loop(const struct driven_loop *a, const struct driven_loop *b)
{
	return a->program == b->program && a->file == b->file && a->line == b->line;
}

/* Its place in the file's loops. */
static uint32_t measure(struct run *run, struct file_confirm *confirm, struct driven_loop loop)
{
	struct replay_request request;

	for (uint32_t i = 0; i < confirm->loops.count; i++)
		if (is_same_loop(&confirm->loops.at[i].loop, &loop))
			return i;
	request = request_for(run, confirm, &loop);
	vec_push(&confirm->arena, &confirm->used, loop.program);
	vec_push(&confirm->arena, &confirm->used, loop.file);
	vec_push(&confirm->arena, &confirm->loops,
	         (struct measured_loop){loop, replay_run(&request)});
	return confirm->loops.count - 1;
}

static const struct replay_result *result_of(struct run *run, struct file_confirm *confirm,
                                             struct driven_loop loop)
{
	const uint32_t place = measure(run, confirm, loop);

	return &confirm->loops.at[place].result;
}

static enum evidence evidence_of(const struct replay_result *result)
{
	const enum replay_kind bytes = result->bytes.kind, nodes = result->nodes.kind;

	if (bytes == REPLAY_SUPERLINEAR || nodes == REPLAY_SUPERLINEAR)
		return EVIDENCE_SUPERLINEAR;
	if (replay_grows(bytes) || replay_grows(nodes))
		return EVIDENCE_LINEAR;
	return bytes == REPLAY_BOUNDED || nodes == REPLAY_BOUNDED ? EVIDENCE_BOUNDED
	                                                          : EVIDENCE_FLAT;
}

static const char *copy(struct arena *arena, const char *text)
{
	return text ? arena_text(arena, text, strlen(text)) : NULL;
}

/* Why there is no evidence; NULL: there is. */
static const char *reason_of(const struct replay_result *result)
{
	if (result->loop_line == 0)
		return "there is no loop to replay in this file";
	if (result->count >= REPLAY_LEAST)
		return NULL;
	if (result->error)
		return result->error;
	return result->limit ? result->limit : "the loop ended before it could be measured";
}

/* What is no growth, but happens in every step that comes by; NULL: nothing. */
static const char *what_shows(const struct replay_result *result, uint32_t place,
                              const struct finding *finding)
{
	const struct replay_seen *seen;
	uint32_t ran;

	if (place >= REPLAY_MOST_WATCHED || !result->seen)
		return NULL;
	seen = &result->seen[place];
	ran = result->watched[place];
	if (ran < REPLAY_LEAST)
		return NULL;
	switch (finding->rule->shown) {
	case SHOWN_UNUSED_GRAPH:
		return seen->recorded == ran
		               ? "every step records a graph that no backward runs through"
		               : NULL;
	case SHOWN_RETAINED_GRAPH:
		return seen->retained >= ran && !seen->reused
		               ? "no step runs backward through what it has retained"
		               : NULL;
	case SHOWN_STORED_TENSOR:
		return seen->stored == ran ? "every step keeps a tensor on the context" : NULL;
	default:
		return NULL;
	}
}

/* Bytes in a step, in one run of the loop if the loop around it clears them. */
static double piled_bytes(const struct replay_share *share)
{
	if (replay_grows(share->bytes.kind))
		return share->bytes.slope;
	return replay_grows(share->stretch_bytes.kind) ? share->stretch_bytes.slope : 0;
}

/* Whether what piles up without a graph is more than numbers, each time that it is stored. */
static bool piles_up(const struct replay_result *result, uint32_t place)
{
	const uint32_t ran = result->watched[place];

	return ran && piled_bytes(&result->seen[place].share) * result->count / ran >= LEAST_PILED;
}

/* Whether what grows is, in part, what the finding's own place was given. */
static bool grows_there(const struct replay_result *result, uint32_t place,
                        const struct finding *finding)
{
	const enum rule_shown shown = finding->rule->shown;
	const struct replay_share *share;
	bool nodes, bytes;

	if (place >= REPLAY_MOST_WATCHED || !result->seen)
		return false;
	share = &result->seen[place].share;
	nodes = replay_grows(share->nodes.kind) || replay_grows(share->stretch_nodes.kind);
	bytes = replay_grows(share->bytes.kind) || replay_grows(share->stretch_bytes.kind);
	if (shown == SHOWN_KEPT_GRAPH)
		return nodes || (bytes && !result->exact);
	if (shown == SHOWN_TENSORS)
		return piles_up(result, place);
	return shown == SHOWN_STORAGE ? bytes : nodes || bytes;
}

/* By a backward that comes after it. */
static bool is_needed(const struct replay_result *result, uint32_t place)
{
	return result->needed ||
	       (place < REPLAY_MOST_WATCHED && result->seen && result->seen[place].needed);
}

/* Cleared by the loop around, over and over. */
static bool grows_while_it_runs(const struct replay_result *result)
{
	return replay_grows(result->stretch.bytes.kind) || replay_grows(result->stretch.nodes.kind);
}

/* What grows confirms a finding only if it is what its own place keeps. */
static void confirm_growth(const struct replay_result *result, uint32_t place,
                           struct finding *finding)
{
	const enum rule_shown shown = finding->rule->shown;
	struct finding_replay *replay = &finding->replay;

	if (shown == SHOWN_KEPT_GRAPH && is_needed(result, place)) {
		replay->shown = "what it keeps is needed behind the loop";
		return;
	}
	if (shown == SHOWN_UNUSED_GRAPH)
		return;
	if (!grows_there(result, place, finding)) {
		if (replay->verdict >= EVIDENCE_LINEAR && !replay->shown)
			replay->shown = "what grows is not what this line keeps";
		return;
	}
	if (!result->exact && finding->confidence < CONFIDENCE_CERTAIN && shown != SHOWN_TENSORS)
		return;
	if (replay->verdict >= EVIDENCE_LINEAR) {
		finding->confidence = CONFIDENCE_CONFIRMED;
	} else if (grows_while_it_runs(result)) {
		replay->shown = "it piles up until the loop is left, and then begins anew";
		finding->confidence = CONFIDENCE_CONFIRMED;
	}
}

static void add_evidence(struct arena *arena, const struct replay_result *result, uint32_t place,
                         struct finding *finding)
{
	struct finding_replay *replay = &finding->replay;
	int64_t *bytes;

	replay->reason = copy(arena, reason_of(result));
	if (replay->reason)
		return;
	bytes = arena_array(arena, int64_t, result->count);
	for (uint32_t i = 0; i < result->count; i++)
		bytes[i] = (int64_t)result->samples[i].live_bytes;
	replay->verdict = evidence_of(result);
	replay->exact = result->exact;
	replay->steps = result->count;
	replay->live_bytes = bytes;
	replay->bytes_per_step = replay_grows(result->bytes.kind) ? result->bytes.slope : 0;
	replay->nodes_per_step = replay_grows(result->nodes.kind) ? result->nodes.slope : 0;
	for (uint32_t i = 0; i < result->stand_in_count; i++)
		vec_push(arena, &replay->stand_ins, copy(arena, result->stand_ins[i]));
	for (uint32_t i = 0; i < result->chain_count; i++)
		vec_push(arena, &replay->retained_by, copy(arena, result->chain[i].text));
	replay->shown = what_shows(result, place, finding);
	if (replay->shown && result->led >> place & 1) {
		replay->exact = false;
		vec_push(arena, &replay->stand_ins, "the conditions before this place");
	}
	if (replay->shown)
		finding->confidence = CONFIDENCE_CONFIRMED;
	confirm_growth(result, place, finding);
}

/* Nothing was guessed, the loop ran undisturbed, its every step came by the
 * finding's place, and nothing grew. */
static bool speaks_against(const struct replay_result *result, uint32_t place)
{
	return result->exact && !result->error && !result->limit &&
	       result->count >= REFUTING_STEPS && result->watched &&
	       result->watched[place] == result->count && result->bytes.kind == REPLAY_FLAT &&
	       result->nodes.kind == REPLAY_FLAT;
}

/* What they say is that a series grows. */
static bool can_be_refuted(const struct finding *finding)
{
	const enum rule_shown shown = finding->rule->shown;

	return shown == SHOWN_KEPT_GRAPH || shown == SHOWN_TENSORS || shown == SHOWN_STORAGE;
}

/* By its own loop and by the program's main one: what is cleared in one of them
 * may grow in the other. */
static bool is_refuted(struct run *run, struct file_confirm *confirm, uint32_t place,
                       struct driven_loop loop)
{
	return speaks_against(result_of(run, confirm, loop), place) &&
	       speaks_against(result_of(run, confirm, main_loop(run, confirm, loop.program)),
	                      place);
}

static struct file_confirm *confirm_for(struct confirm *confirm, const struct source *source)
{
	const uint32_t last = confirm->files.count;
	struct file_confirm *made;

	/* findings are sorted by file */
	if (last && confirm->files.at[last - 1]->file->source == source)
		return confirm->files.at[last - 1];
	made = arena_new(&confirm->run->arena, struct file_confirm);
	made->file = file_of(confirm->run, source);
	if (!made->file || !made->file->lowered.module)
		return NULL;
	vec_push(&confirm->run->arena, &confirm->files, made);
	return made;
}

/* Edits for what was seen to grow in one loop, each tried by replay. */
static void fix_loop(struct run *run, struct file_confirm *confirm, uint32_t place)
{
	const struct measured_loop *loop = &confirm->loops.at[place];
	const bool always = run->settings->confirm == CONFIRM_ALWAYS;
	struct finding **grown =
	        arena_array(&confirm->arena, struct finding *, confirm->findings.count + 1);
	struct fix_search search = {
	        .request = request_for(run, confirm, &loop->loop),
	        .before = &loop->result,
	        .findings = grown,
	        .most_replays = always ? ALWAYS_FIX_REPLAYS : AUTO_FIX_REPLAYS,
	};

	for (uint32_t i = 0; i < confirm->findings.count; i++) {
		struct finding *finding = confirm->findings.at[i];

		if (finding->replay.verdict >= EVIDENCE_LINEAR &&
		    confirm->shown_by.at[i] == place + 1)
			grown[search.count++] = finding;
	}
	if (search.count)
		fix_search(&search);
}

/* --- one finding */

struct replaying {
	struct run *run;
	struct file_confirm *file;
	uint32_t place; /* of the finding */
	bool is_driven; /* by a loop that was replayed */
};

static bool is_confirmed(const struct finding *finding)
{
	return finding->confidence == CONFIDENCE_CONFIRMED;
}

static struct replay_place place_of_finding(const struct finding *finding)
{
	return finding->happens_source
	               ? (struct replay_place){finding->happens_source, finding->happens_span}
	               : (struct replay_place){finding->source, finding->span};
}

static struct driven_loop loop_of(const struct replaying *r)
{
	const struct finding *finding = r->file->findings.at[r->place];
	const struct replay_place place = place_of_finding(finding);

	return own_loop(r->run, r->file,
	                place.source == finding->source ? line_at(place.source, place.span)
	                                                : line_at(finding->source, finding->span));
}

static void replay_own(const struct replaying *r)
{
	const uint32_t loop = measure(r->run, r->file, loop_of(r));

	add_evidence(&r->file->arena, &r->file->loops.at[loop].result, r->place,
	             r->file->findings.at[r->place]);
	r->file->shown_by.at[r->place] = loop + 1;
}

/* The driver's loop; false: it is not there to be replayed. */
static bool find_driver(const struct run *run, const struct finding_driver *driver,
                        struct driven_loop *loop)
{
	loop->program = file_of(run, driver->program);
	loop->file = file_of(run, driver->source);
	loop->line = line_at(driver->source, driver->span);
	return loop->program && loop->program->lowered.module && loop->file &&
	       loop->file->lowered.module;
}

static const char *name_of_loop(struct arena *arena, const struct driven_loop *loop)
{
	struct text name = {.arena = arena};

	curve_place(loop->file->source, loop->line, &name);
	return text_chars(&name);
}

/* What other files' loops show: of the first that confirms it, else of the first that
 * comes by. */
static void replay_drivers(struct replaying *r)
{
	struct finding *finding = r->file->findings.at[r->place];
	const struct finding before = *finding;

	for (uint32_t i = 0; r->place < REPLAY_MOST_WATCHED && i < before.drivers.count; i++) {
		struct finding shown = before;
		struct driven_loop loop;
		const struct replay_result *result;
		uint32_t measured;

		if (!find_driver(r->run, &before.drivers.at[i], &loop))
			continue;
		measured = measure(r->run, r->file, loop);
		result = &r->file->loops.at[measured].result;
		if (reason_of(result) || !result->watched[r->place])
			continue;
		add_evidence(&r->file->arena, result, r->place, &shown);
		if (r->is_driven && !is_confirmed(&shown))
			continue;
		if (loop.program != r->file->file)
			shown.replay.loop = name_of_loop(&r->file->arena, &loop);
		*finding = shown;
		r->file->shown_by.at[r->place] = measured + 1;
		r->is_driven = true;
		if (is_confirmed(&shown))
			break;
	}
}

/* Every loop that comes by, of those that are known. */
static bool drivers_refute(const struct replaying *r)
{
	const struct finding *finding = r->file->findings.at[r->place];

	for (uint32_t i = 0; i < finding->drivers.count; i++) {
		struct driven_loop loop;

		if (!find_driver(r->run, &finding->drivers.at[i], &loop) ||
		    !is_refuted(r->run, r->file, r->place, loop))
			return false;
	}
	return finding->drivers.count && finding->drivers.count < FINDING_MOST_DRIVERS;
}

static bool refutes(const struct replaying *r)
{
	const struct finding *finding = r->file->findings.at[r->place];

	if (is_confirmed(finding) || !can_be_refuted(finding) || r->place >= REPLAY_MOST_WATCHED)
		return false;
	return r->is_driven ? drivers_refute(r) : is_refuted(r->run, r->file, r->place, loop_of(r));
}

/* Its own file alone, with stand-ins for what callers give, only if none of them shows
 * that it grows. */
static void replay_finding(struct replaying *r)
{
	struct finding *finding = r->file->findings.at[r->place];
	const struct finding before = *finding;
	struct finding shown;
	uint32_t shown_by;

	replay_drivers(r);
	if (is_confirmed(finding))
		return;
	shown = *finding;
	shown_by = r->file->shown_by.at[r->place];
	*finding = before;
	replay_own(r);
	if (is_confirmed(finding) || !r->is_driven)
		return;
	*finding = shown;
	r->file->shown_by.at[r->place] = shown_by;
}

static void replay_file(void *data, size_t index, unsigned worker)
{
	struct confirm *confirm = data;
	struct file_confirm *file = confirm->files.at[index];

	(void)worker;
	for (uint32_t i = 0; i < file->findings.count; i++) {
		struct replaying r = {.run = confirm->run, .file = file, .place = i};

		replay_finding(&r);
		file->findings.at[i]->replay.refuted = refutes(&r);
	}
	for (uint32_t i = 0; i < file->loops.count; i++)
		fix_loop(confirm->run, file, i);
}

/* Where its graph is made, as the analysis knows it. */
static void note_births(struct arena *arena, struct file_confirm *file,
                        const struct finding *finding)
{
	if (finding->confidence < CONFIDENCE_CERTAIN)
		return;
	for (uint32_t i = 0; i < finding->steps.count; i++)
		if (finding->steps.at[i].role == STEP_BORN)
			vec_push(arena, &file->born,
			         (struct replay_place){finding->steps.at[i].source,
			                               finding->steps.at[i].span});
	if (finding->value_source)
		vec_push(arena, &file->born,
		         (struct replay_place){finding->value_source, finding->value_span});
	if (finding->rule->shown == SHOWN_UNUSED_GRAPH)
		vec_push(arena, &file->born, (struct replay_place){finding->source, finding->span});
}

/* What they are about is known to be a tensor. */
static bool stores_tensor(const struct finding *finding)
{
	return finding->rule->shown == SHOWN_TENSORS || finding->rule->shown == SHOWN_STORED_TENSOR;
}

/* Whether it says what happens at a place, however often the program comes by. */
static bool happens_there(const struct finding *finding)
{
	const enum rule_shown shown = finding->rule->shown;

	return shown == SHOWN_UNUSED_GRAPH || shown == SHOWN_RETAINED_GRAPH ||
	       shown == SHOWN_STORED_TENSOR;
}

static void ask_for(struct run *run, const struct source *source)
{
	const struct project_file *file = file_of(run, source);

	if (!file || !file->lowered.module)
		vec_push(&run->arena, &run->drivers, resolve_normal(&run->arena, source->path));
}

static void ask_for_drivers(struct run *run, const struct finding *finding)
{
	for (uint32_t i = 0; i < finding->drivers.count; i++) {
		ask_for(run, finding->drivers.at[i].program);
		ask_for(run, finding->drivers.at[i].source);
	}
}

static void replay_all(struct run *run)
{
	struct confirm confirm = {.run = run};

	for (uint32_t i = 0; i < run->outcome.findings.count; i++) {
		struct finding *finding = &run->outcome.findings.at[i];
		struct file_confirm *file;

		if (finding->rule->shown == SHOWN_NOTHING || !finding->source)
			continue;
		file = confirm_for(&confirm, finding->source);
		if (!file)
			continue;
		if (file->places.count < REPLAY_MOST_WATCHED) {
			file->tensors |= (uint64_t)stores_tensor(finding) << file->places.count;
			file->leads |= (uint64_t)happens_there(finding) << file->places.count;
		}
		vec_push(&run->arena, &file->findings, finding);
		vec_push(&run->arena, &file->places, place_of_finding(finding));
		vec_push(&run->arena, &file->shown_by, 0);
		ask_for_drivers(run, finding);
		note_births(&run->arena, file, finding);
		file->retains |= finding->rule->shown == SHOWN_RETAINED_GRAPH;
	}
	thread_pool_run(run->pool, confirm.files.count, replay_file, &confirm);
	run->confirmed = confirm.files.count;
	run->confirm_arenas = arena_array(&run->arena, struct arena *, confirm.files.count + 1);
	for (uint32_t i = 0; i < confirm.files.count; i++) {
		struct file_confirm *file = confirm.files.at[i];

		run->confirm_arenas[i] = &file->arena;
		vec_push(&run->arena, &run->replayed,
		         (struct replayed_file){file->file, file->used});
	}
}

/* What a result says names no other file that it would have to be there for. */
static void forget_drivers(struct run *run)
{
	for (uint32_t i = 0; i < run->outcome.findings.count; i++)
		run->outcome.findings.at[i].drivers.count = 0;
}

void run_confirm(struct run *run)
{
	if (run->settings->confirm != CONFIRM_NEVER)
		replay_all(run);
	forget_drivers(run);
}
