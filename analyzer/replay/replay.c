#include "analyzer/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/assume.h"
#include "analyzer/replay/measure.h"
#include "analyzer/replay/modules.h"
#include "analyzer/source/source.h"

const struct replay_budget replay_default_budget = {
        .steps = 50000000,
        .host_bytes = 1ull << 30,
        .live_bytes = 1ull << 31,
        .nodes = 4000000,
        .seconds = 20,
        .work = 5e8,
};

enum {
	WORK_FOR_OUTPUT = 40, /* times that, when numbers are wanted */
	SETTLED_STEPS = 12,
	SETTLED_SAME = 8,     /* of the last steps */
	FIRST_SHARE = 4,      /* of the steps, to reach the loop at all */
	FIRST_STEPS = 200000, /* but these */
	HEALED_SHARE = 4,     /* of the budget, for a program that does not run by itself */
	RARE_PERIODS = REPLAY_LEAST + 1,
	BYTES_WITHOUT_DATA = 512, /* times live_bytes: they are only counted */
};

_Static_assert((int)REPLAY_MOST_WATCHED == (int)PY_MOST_WATCHED, "one mask");
_Static_assert((int)REPLAY_KINDS == (int)AG_KIND_COUNT, "by_kind is by enum ag_kind");

const char *replay_memory_name(uint32_t kind)
{
	return ag_kind_name((enum ag_kind)kind);
}

static char *keep_text(struct replay *r, const char *bytes, size_t length)
{
	return arena_text(r->request->arena, bytes, length);
}

static void note_stand_in(struct vm *vm, const char *what)
{
	struct replay *r = vm->user;
	struct replay_result *result = r->result;

	if (r->closing)
		return;
	result->exact = false;
	for (uint32_t i = 0; i < result->stand_in_count; i++)
		if (strcmp(result->stand_ins[i], what) == 0)
			return;
	if (result->stand_in_count < REPLAY_MAX_STAND_INS)
		result->stand_ins[result->stand_in_count++] = keep_text(r, what, strlen(what));
}

static const struct ir_module *find_module(struct vm *vm, const char *name, bool *is_package)
{
	const struct replay_request *request = ((struct replay *)vm->user)->request;

	return request->find_module ? request->find_module(request->data, name, is_package) : NULL;
}

void take_sample(struct replay *r)
{
	struct ag_memory memory;
	struct replay_sample *s;

	if (r->result->count == r->capacity) {
		uint32_t capacity = r->capacity ? r->capacity * 2 : 64;
		struct replay_sample *all =
		        arena_array(r->request->arena, struct replay_sample, capacity);

		if (r->result->count)
			memcpy(all, r->result->samples, r->result->count * sizeof(*all));
		r->result->samples = all;
		r->capacity = capacity;
	}
	torch_sweep(r->vm);
	ag_memory(ctx_of(r->vm), &memory);
	s = &r->result->samples[r->result->count++];
	s->live_bytes = memory.live_bytes;
	s->storages = memory.storages;
	s->tensors = memory.tensors;
	s->nodes = memory.nodes;
	if (memory.nodes <= CENSUS_NODES)
		census_take(r, s);
	for (int k = 0; k < AG_KIND_COUNT && k < REPLAY_KINDS; k++) {
		s->by_kind[k] = memory.by_kind[k];
		s->peak_by_kind[k] = memory.peak_by_kind[k];
	}
	s->peak_bytes = memory.peak_bytes;
	s->unsized = memory.unsized != 0;
	s->entry = r->vm->entries;
	ag_reset_peak(ctx_of(r->vm));
	measure_mark(r);
	places_note(r);
	shares_sample(r);
}

static struct replay_stretch longest_stretch(const struct replay_result *result)
{
	struct replay_stretch longest = {0}, now = {0};

	for (uint32_t i = 0; i < result->count; i++) {
		if (i && result->samples[i].entry != result->samples[i - 1].entry)
			now = (struct replay_stretch){.first = i};
		now.count++;
		longest = now.count >= longest.count ? now : longest;
	}
	return longest;
}

static void judge(struct replay *r)
{
	struct replay_result *result = r->result;
	uint64_t *bytes = checked_alloc(2 * (size_t)result->count + 2, sizeof(*bytes));
	uint64_t *nodes = bytes + result->count + 1;
	struct replay_stretch *stretch = &result->stretch;

	for (uint32_t i = 0; i < result->count; i++) {
		bytes[i] = result->samples[i].live_bytes;
		nodes[i] = result->samples[i].nodes;
	}
	result->bytes = replay_verdict(bytes, result->count);
	result->nodes = replay_verdict(nodes, result->count);
	*stretch = longest_stretch(result);
	stretch->bytes = replay_verdict(bytes + stretch->first, stretch->count);
	stretch->nodes = replay_verdict(nodes + stretch->first, stretch->count);
	shares_judge(r);
	free(bytes);
}

/* A growth that comes every so many steps shows its rule only in several of them. */
static bool has_rule(struct replay *r)
{
	judge(r);
	return r->result->bytes.exact && r->result->nodes.exact;
}

/* The last steps all added the same, and something. A curve that is flat may still
 * begin to grow. */
static bool is_settled(const struct replay *r)
{
	const struct replay_sample *last = &r->result->samples[r->result->count - 1];

	if (r->result->count < SETTLED_STEPS ||
	    (last->nodes <= last[-1].nodes && last->live_bytes <= last[-1].live_bytes))
		return false;
	for (int i = 0; i > -SETTLED_SAME; i--)
		if (last[i].nodes - last[i - 1].nodes != last->nodes - last[-1].nodes ||
		    last[i].live_bytes - last[i - 1].live_bytes !=
		            last->live_bytes - last[-1].live_bytes)
			return false;
	return true;
}

/* What piles up while the loop runs, and goes when it is left, is all there now. */
static bool is_at_its_longest(const struct replay *r)
{
	const struct replay_stretch longest = longest_stretch(r->result);

	return longest.first + longest.count == r->result->count;
}

bool measure_lies_in(const struct replay *r, uint32_t place, struct span span)
{
	const struct replay_place watched = r->request->watch[place];

	return watched.source == r->module->source && watched.span.start >= span.start &&
	       watched.span.end <= span.end;
}

/* Whether a watched place lies in what is measured. */
static bool is_measured(const struct replay *r, uint32_t place)
{
	const struct replay_place watched = r->request->watch[place];
	uint32_t line;

	if (r->function.n)
		return measure_lies_in(r, place, ir_func_get(r->module, r->function)->span);
	if (r->request->driven >> place & 1)
		return true;
	if (watched.source != r->module->source)
		return false;
	line = source_line_at(watched.source, watched.span.start) + 1;
	return line >= r->result->loop_line && line <= r->result->loop_end;
}

static uint32_t watch_count(const struct replay_request *request)
{
	return request->watch_count < REPLAY_MOST_WATCHED ? request->watch_count
	                                                  : REPLAY_MOST_WATCHED;
}

/* A place of the loop that too few steps have come by, and more will: every hundredth. */
static bool is_rare(const struct replay *r)
{
	if (r->result->count >= RARE_PERIODS * r->rare_every)
		return false;
	for (uint32_t i = 0; i < watch_count(r->request); i++)
		if (r->watched[i] < REPLAY_LEAST && is_measured(r, i))
			return true;
	return false;
}

/* What was not come by, and may be led to. */
static uint64_t missed(const struct replay *r)
{
	uint64_t places = 0;

	for (uint32_t i = 0; r->request->heal && i < watch_count(r->request); i++)
		if (r->request->leads >> i & 1 && !r->watched[i] && is_measured(r, i))
			places |= UINT64_C(1) << i;
	return places;
}

static bool is_done(struct replay *r)
{
	const uint32_t count = r->result->count;
	/* What no script ends, ends here: a function called by itself may loop for ever. */
	const uint32_t wanted = r->request->iterations ? r->request->iterations
	                        : r->vm->forgiving     ? REPLAY_STEPS
	                                               : 0;

	if (wanted && r->request->settle && is_settled(r))
		return true;
	if (!wanted || count < wanted)
		return false;
	if (r->request->watch_count && count < 2 * wanted && !is_at_its_longest(r))
		return false;
	if (is_rare(r))
		return false;
	return count >= r->request->most_iterations || (count % wanted == 0 && has_rule(r));
}

static void on_iteration(struct vm *vm, struct frame *frame, block_id header)
{
	struct replay *r = vm->user;

	if (frame->code->id.n != r->loop->func.n || header.n != r->header.n)
		return;
	if (r->closing) {
		if (!needs_go_on(r))
			vm_halt(vm, VM_HALT_DONE, "");
		return;
	}
	take_sample(r);
	vm->turns++;
	if (r->result->count == 1)
		vm->limits.steps = r->most_steps;
	if (r->result->count == CHAIN_SAMPLE)
		measure_chain(r);
	if (is_done(r)) {
		if (!r->result->chain_count)
			measure_chain(r);
		if (!needs_begin(r))
			vm_halt(vm, VM_HALT_DONE, "");
	}
}

/* --- what came of it */

static void keep_error(struct replay *r)
{
	struct vm *vm = r->vm;
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val code;

	if (is_null(vm->exc) || vm->halt)
		return;
	if (exc_is(vm, TY_SystemExit)) {
		code = dict_get_str(vm, attrs_of(vm, vm->exc.as.o), str_intern(vm, "code", 4));
		if (is_missing(code) || (code.tag == PY_INT && !code.as.i)) {
			exc_clear(vm);
			return;
		}
	}
	exc_print(vm, vm->exc, &text);
	r->result->traceback = keep_text(r, text_chars(&text), text.length);
	r->result->error = strrchr(r->result->traceback, '\n');
	r->result->error = r->result->error ? r->result->error + 1 : r->result->traceback;
	arena_release(&scratch);
}

/* The steps of training, where the loop that was chosen is over epochs. */
static const struct replay_loop *innermost(const struct replay_loop *loop,
                                           const struct replay_loop *loops, uint32_t count)
{
	for (uint32_t i = 0; loop && i < count; i++)
		if (loops[i].func.n == loop->func.n && loops[i].depth == loop->depth + 1 &&
		    loops[i].line > loop->line && loops[i].end_line <= loop->end_line &&
		    entry_trains(&loops[i]))
			loop = &loops[i];
	return loop;
}

static void choose_loop(struct replay *r, struct arena *scratch)
{
	const struct replay_request *request = r->request;
	struct replay_loop *loops;
	uint32_t count = replay_loops(scratch, request->names, r->module, &loops);

	r->loop = replay_choose(r->module, loops, count, request->line);
	if (!r->loop && request->line) {
		/* The script's own loop, if it has one that comes by here. */
		r->function = entry_function_at(r->module, request->line);
		if (r->function.n)
			r->loop = replay_choose_caller(request->names, r->module, loops, count,
			                               r->function);
		if (!r->loop)
			r->loop =
			        innermost(replay_choose(r->module, loops, count, 0), loops, count);
	}
	if (!r->loop)
		return;
	r->header = ir_func_get(r->module, r->loop->func)->loops.at[r->loop->loop.n].header;
	r->rare_every = request->rare ? replay_rare_steps(r->module, r->loop) : 0;
	r->result->loop_module = r->module;
	r->result->loop_line = r->loop->line;
	r->result->loop_end = r->loop->end_line;
	r->result->loop_kind = r->loop->kind;
	r->result->loop_function =
	        r->loop->function ? keep_text(r, r->loop->function, strlen(r->loop->function))
	                          : NULL;
}

/* Until the loop is reached, if there is another way to it. */
static uint64_t patience(const struct replay_budget *budget)
{
	uint64_t steps = budget->steps / FIRST_SHARE;

	steps = steps < FIRST_STEPS ? FIRST_STEPS : steps;
	return steps < budget->steps ? steps : budget->steps;
}

static const struct replay_budget *budget_of(const struct replay *r)
{
	return r->request->budget ? r->request->budget : &replay_default_budget;
}

static void vm_start(struct replay *r, enum replay_attempt attempt)
{
	const struct replay_request *request = r->request;
	const struct replay_budget *budget = budget_of(r);
	struct vm_limits limits = {budget->steps, budget->host_bytes, budget->seconds};
	struct ag_options options = {.byte_cap = budget->live_bytes, .node_cap = budget->nodes};

	options.meta = attempt != REPLAY_WITH_NUMBERS;
	options.byte_cap *= options.meta ? BYTES_WITHOUT_DATA : 1;
	options.work_cap = budget->work > 0 ? budget->work : replay_default_budget.work;
	options.work_cap *= request->values ? WORK_FOR_OUTPUT : 1;
	if (attempt == REPLAY_HEALED) {
		limits.steps /= HEALED_SHARE;
		limits.seconds /= HEALED_SHARE;
	} else if (request->heal) {
		limits.steps = patience(budget);
	}
	r->most_steps = attempt == REPLAY_HEALED ? limits.steps : budget->steps;
	r->vm = vm_open(request->names, &limits);
	r->vm->user = r;
	r->vm->lazy = attempt == REPLAY_WITHOUT_NUMBERS;
	r->vm->healing = r->vm->forgiving = attempt == REPLAY_HEALED;
	r->vm->whole = request->values || r->rare_every > 0;
	r->vm->on_stand_in = note_stand_in;
	r->vm->find_module = find_module;
	modules_offer(r->vm);
	torch_open(r->vm, &options);
	torch_of(r->vm)->assumptions = r->assumptions;
	torch_of(r->vm)->exact = attempt != REPLAY_HEALED;
	r->vm->watched = r->module;
	r->vm->watch = request->watch;
	r->vm->led = attempt == REPLAY_HEALED ? r->led : 0;
	r->vm->watch_count = watch_count(request);
	if (r->loop) {
		r->vm->on_iteration = on_iteration;
		r->vm->watched_func = r->loop->func;
		r->vm->watched_header = r->header;
	}
	places_open(r);
	if (r->found)
		search_open(r);
}

/* Why it ended says whether another attempt has to be made. */
static enum vm_halt attempt_run(struct replay *r, enum replay_attempt attempt)
{
	struct replay_result *result = r->result;
	enum vm_halt halt;
	struct val v;

	vm_start(r, attempt);
	v = entry_run(r);
	if (r->closing)
		needs_end(r);
	halt = r->vm->halt;
	/* What went wrong may have gone wrong for want of a number. */
	if (r->vm->lazy && r->vm->asked && !is_null(r->vm->exc))
		halt = VM_HALT_VALUES;
	if (!result->chain_count && halt != VM_HALT_VALUES && !r->found)
		measure_chain(r);
	keep_error(r);
	unref(r->vm, v);
	result->exact = result->exact && (r->closing ? r->was_exact : torch_of(r->vm)->exact);
	result->steps = r->vm->steps;
	if (halt && halt != VM_HALT_DONE)
		result->limit = keep_text(r, r->vm->halt_reason ? r->vm->halt_reason : "",
		                          r->vm->halt_reason ? strlen(r->vm->halt_reason) : 0);
	result->output = keep_text(r, text_chars(&r->vm->out), r->vm->out.length);
	result->output_length = r->vm->out.length;
	torch_close(r->vm);
	r->vm = NULL;
	measure_release(r);
	places_release(r);
	return halt;
}

/* Of what the watched places keep, if there are any; else of all. */
static bool shows_growth(const struct replay_request *request, const struct replay_result *result)
{
	for (uint32_t i = 0; result->seen && i < watch_count(request); i++) {
		const struct replay_share *share = &result->seen[i].share;

		if (replay_grows(share->nodes.kind) || replay_grows(share->bytes.kind) ||
		    replay_grows(share->stretch_nodes.kind) ||
		    replay_grows(share->stretch_bytes.kind))
			return true;
	}
	if (result->seen && watch_count(request))
		return false;
	return replay_grows(result->bytes.kind) || replay_grows(result->nodes.kind) ||
	       replay_grows(result->stretch.bytes.kind) || replay_grows(result->stretch.nodes.kind);
}

/* Whether something piles up in it cannot be said of a loop that is left too soon. */
static bool says_little(const struct replay_request *request, const struct replay_result *result)
{
	return result->count < request->heal ||
	       (request->prolong && !shows_growth(request, result) &&
	        result->stretch.count < request->heal);
}

/* With numbers if they are needed, without them if that is too much; what raises is
 * stood in for if too little was measured. */
static bool try_again(const struct replay_request *request, const struct replay_result *result,
                      enum vm_halt halt, enum replay_attempt *attempt)
{
	if (*attempt == REPLAY_WITHOUT_NUMBERS && halt == VM_HALT_VALUES)
		*attempt = REPLAY_WITH_NUMBERS;
	else if (*attempt == REPLAY_WITH_NUMBERS && !request->values &&
	         (halt == VM_HALT_WORK || halt == VM_HALT_BYTES))
		*attempt = REPLAY_STOOD_IN;
	else if (*attempt != REPLAY_HEALED && request->heal && says_little(request, result))
		*attempt = REPLAY_HEALED;
	else
		return false;
	return true;
}

/* A run that nothing had to be healed in says more of what it came by. */
static struct replay_result chosen(const struct replay_request *request,
                                   const struct replay_result *before,
                                   const struct replay_result *healed)
{
	struct replay_result result = *before;
	uint32_t *watched;
	struct replay_seen *seen;

	if (before->count < request->heal ||
	    (says_little(request, before) && shows_growth(request, healed)))
		return *healed;
	if (!healed->led)
		return result;
	watched = arena_array(request->arena, uint32_t, REPLAY_MOST_WATCHED);
	seen = arena_array(request->arena, struct replay_seen, REPLAY_MOST_WATCHED);
	for (uint32_t i = 0; i < watch_count(request); i++) {
		const struct replay_result *from = healed->led >> i & 1 ? healed : before;

		watched[i] = from->watched[i];
		seen[i] = from->seen[i];
	}
	result.watched = watched;
	result.seen = seen;
	result.led = healed->led;
	return result;
}

/* The next attempt; false: there is none. */
static bool go_on(struct replay *r, enum vm_halt halt, enum replay_attempt *attempt)
{
	const enum replay_attempt last = *attempt;
	const uint64_t places = missed(r);

	if (!try_again(r->request, r->result, halt, attempt)) {
		if (assumed_again(r->assumptions))
			return true;
		if (!places || last == REPLAY_HEALED)
			return false;
		*attempt = REPLAY_HEALED;
	}
	r->led = *attempt == REPLAY_HEALED ? places : 0;
	r->assumptions->proved_only = false;
	return true;
}

/* Sets the loop of the request to the one that the program trains in. */
static void search_loop(struct replay_request *request)
{
	struct replay_result nothing = {.exact = true};
	struct assumptions assumptions = {0};
	struct found_loop found = {0};
	struct replay r = {.request = request,
	                   .module = request->module,
	                   .result = &nothing,
	                   .assumptions = &assumptions,
	                   .found = &found};

	if (attempt_run(&r, REPLAY_WITHOUT_NUMBERS) == VM_HALT_VALUES && !found.module)
		attempt_run(&r, REPLAY_WITH_NUMBERS);
	if (request->heal && !found.module)
		attempt_run(&r, REPLAY_HEALED);
	assumed_release(&assumptions);
	if (!found.module)
		return;
	request->loops = found.module == request->module ? NULL : found.module;
	request->line = found.line;
}

/* The main loop of the program, or the one elsewhere that it trains in. */
static void choose_measured(struct replay *r, struct replay_request *request, struct arena *scratch)
{
	r->module = request->loops ? request->loops : request->module;
	choose_loop(r, scratch);
	if (!request->search || request->line || request->loops || entry_trains(r->loop))
		return;
	request->search = false;
	search_loop(request);
	if (request->line)
		choose_measured(r, request, scratch);
}

struct replay_result replay_run(const struct replay_request *asked)
{
	struct replay_request located = *asked;
	const struct replay_request *request = &located;
	struct replay_result result = {0}, before = {0};
	struct assumptions assumptions = {0};
	struct replay r = {0};
	struct arena scratch = {0};
	enum replay_attempt attempt = request->values ? REPLAY_WITH_NUMBERS : request->attempt,
	                    last = attempt;
	enum vm_halt halt;

	do {
		before = last == REPLAY_HEALED ? before : result;
		last = attempt;
		result = (struct replay_result){.exact = true, .attempt = attempt, .led = r.led};
		assumptions.nodes.count = 0;
		r = (struct replay){.request = request,
		                    .result = &result,
		                    .assumptions = &assumptions,
		                    .led = r.led};
		choose_measured(&r, &located, &scratch);
		halt = attempt_run(&r, attempt);
		judge(&r);
	} while (go_on(&r, halt, &attempt));
	if (attempt == REPLAY_HEALED)
		result = chosen(request, &before, &result);
	assumed_release(&assumptions);
	arena_release(&scratch);
	return result;
}
