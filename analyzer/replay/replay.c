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
	SETTLED_SAME = 8,         /* of the last steps */
	FIRST_SHARE = 16,         /* of the steps, to reach the loop at all */
	FIRST_STEPS = 200000,     /* but these */
	HEALED_SHARE = 8,         /* of the budget, for a program that does not run by itself */
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

static void take_sample(struct replay *r)
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
	ag_reset_peak(ctx_of(r->vm));
	measure_mark(r);
	places_note(r);
}

static void judge(struct replay *r)
{
	struct replay_result *result = r->result;
	uint64_t *series = checked_alloc(result->count + 1, sizeof(*series));

	for (uint32_t i = 0; i < result->count; i++)
		series[i] = result->samples[i].live_bytes;
	result->bytes = replay_verdict(series, result->count);
	for (uint32_t i = 0; i < result->count; i++)
		series[i] = result->samples[i].nodes;
	result->nodes = replay_verdict(series, result->count);
	free(series);
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
	return count >= r->request->most_iterations || (count % wanted == 0 && has_rule(r));
}

static void on_iteration(struct vm *vm, struct frame *frame, block_id header)
{
	struct replay *r = vm->user;

	if (frame->code->id.n != r->loop->func.n || header.n != r->header.n)
		return;
	take_sample(r);
	if (r->result->count == 1)
		vm->limits.steps = r->most_steps;
	if (r->result->count == CHAIN_SAMPLE)
		measure_chain(r);
	if (is_done(r)) {
		if (!r->result->chain_count)
			measure_chain(r);
		vm_halt(vm, VM_HALT_DONE, "");
	}
}

/* --- running */

static void set_main(struct vm *vm, struct module *m, const struct ir_module *ir)
{
	const char *path = ir->source ? ir->source->path : "main.py";

	vm->main = m;
	dict_put_str(vm, vm->modules, m->name, val_obj(m));
	module_set(vm, m, "__file__", val_str(vm, path));
	module_set(vm, m, "__doc__", val_none());
}

static bool calls_name(struct vm *vm, const struct ir_module *ir, struct str *name)
{
	const struct ir_func *body = ir_func_get(ir, (func_id){1});

	for (uint32_t i = 1; i < body->insts.count; i++) {
		const struct ir_inst *call = &body->insts.at[i], *callee;

		if (call->op != OP_call)
			continue;
		callee = &body->insts.at[ir_args(body, call)[0].value.n];
		if ((callee->op == OP_load && callee->sub == SUB_scope_global) ||
		    callee->op == OP_load_attr)
			if (str_of_sym(vm, (sym_id){callee->name}) == name)
				return true;
	}
	return false;
}

/* main() is defined but never called: it is what the program is about. */
static struct val run_entry(struct replay *r, struct module *m)
{
	struct vm *vm = r->vm;
	struct str *name = str_intern(vm, "main", 4);
	struct val fn = dict_get_str(vm, m->ns, name);

	if (!is_kind(fn, K_FUNCTION) || calls_name(vm, r->request->module, name))
		return val_none();
	return rp_call0(vm, fn);
}

/* A default that stands for what callers would give. */
static bool is_example(struct val v)
{
	return v.tag == PY_INT || is_kind(v, K_STR) || is_kind(v, K_LIST) || is_kind(v, K_TUPLE);
}

static struct val call_with_stand_ins(struct vm *vm, struct function *fn, struct val self)
{
	struct list *args = list_new(vm, 4);
	struct dict *kw = dict_new(vm);
	struct val result;

	for (uint32_t i = 0; i < fn->code->nparams; i++) {
		struct code_param *p = &fn->code->params[i];
		struct val v;

		if (p->kind == PARAM_VAR_POSITIONAL || p->kind == PARAM_VAR_KEYWORD)
			continue;
		if (i == 0 && !is_null(self)) {
			list_push(vm, args, ref(self));
			continue;
		}
		if (fn->defaults && !is_null(fn->defaults[i]) &&
		    !(vm->healing && is_example(fn->defaults[i])))
			continue;
		v = unknown_new(vm, "%s", p->name->at);
		vm_stand_in(vm, "argument %s", p->name->at);
		if (p->kind == PARAM_KEYWORD_ONLY)
			dict_put_str(vm, kw, p->name, v), unref(vm, v);
		else
			list_push(vm, args, v);
	}
	result = rp_call(vm, val_obj(fn), args->at, args->count, kw);
	unref_obj(vm, args);
	unref_obj(vm, kw);
	return result;
}

/* The class whose namespace holds the function, for an instance to call it on. */
static struct cls *class_of_function(struct vm *vm, const struct function *fn)
{
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		struct cls *c = (struct cls *)(void *)o;

		if (o->kind != K_CLASS || !c->ns)
			continue;
		for (uint32_t i = 0; i < c->ns->used; i++)
			if (c->ns->at[i].value.tag == PY_OBJECT &&
			    c->ns->at[i].value.as.o == &fn->h)
				return c;
	}
	return NULL;
}

static struct val instance_for(struct vm *vm, struct cls *cls)
{
	struct val init = cls_find(vm, cls, vm->n[PN_init]), self;
	struct val made = val_obj(rp_new(vm, K_INSTANCE, cls, sizeof(struct obj)));

	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		if (o->kind == K_INSTANCE && o->cls == cls && o != made.as.o && o->refs) {
			unref(vm, made);
			return ref_obj(o);
		}
	}
	cls->flags |= CLS_OPAQUE;
	if (!is_kind(init, K_FUNCTION))
		return made;
	self = call_with_stand_ins(vm, AS(function, init), made);
	if (is_null(self) && !vm->halt)
		exc_clear(vm);
	unref(vm, self);
	return made;
}

static struct function *function_of(struct vm *vm, const struct ir_module *ir, func_id id)
{
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		struct function *fn = (struct function *)(void *)o;

		if (o->kind == K_FUNCTION && fn->code->module == ir && fn->code->id.n == id.n)
			return fn;
	}
	return NULL;
}

/* The function of a line that no loop is around; it is called again and again,
 * on one instance, and each call counts as an iteration. */
static func_id function_at(const struct ir_module *ir, uint32_t line)
{
	func_id best = {0};

	for (uint32_t i = 2; i < ir->funcs.count; i++) {
		const struct ir_func *func = ir->funcs.at[i];
		uint32_t first = source_line_at(ir->source, func->span.start) + 1;

		if (func->kind == FUNC_FUNCTION && first <= line &&
		    source_line_at(ir->source, func->span.end) + 1 >= line)
			best = (func_id){i};
	}
	return best;
}

static struct val call_repeatedly(struct replay *r)
{
	struct vm *vm = r->vm;
	uint32_t calls = r->request->iterations ? r->request->iterations : REPLAY_STEPS;
	struct function *fn = function_of(vm, r->request->module, r->function);
	struct cls *cls = fn ? class_of_function(vm, fn) : NULL;
	struct val self, result = val_none();

	if (!fn)
		return result;
	fn->h.refs++;
	self = cls ? instance_for(vm, cls) : val_null();
	r->result->loop_kind = "function";
	r->result->loop_line = r->request->line;
	for (uint32_t i = 0; i < calls && !is_null(result) && !vm->halt; i++) {
		slot_set(vm, &result, call_with_stand_ins(vm, fn, self));
		if (is_null(result))
			break;
		if (str_is(fn->name, "training_step"))
			torch_framework_backward(vm, result);
		slot_set(vm, &result, val_none());
		take_sample(r);
	}
	if (!r->result->chain_count)
		measure_chain(r);
	unref(vm, self);
	unref_obj(vm, fn);
	return result;
}

/* Nothing in the script reached the loop: its function is called by itself, or
 * the nearest one around it that there is. */
static struct val run_function(struct replay *r)
{
	struct vm *vm = r->vm;
	func_id id = r->loop->func;
	struct function *fn = NULL;
	struct cls *cls;
	struct val self = val_null(), result;

	while (id.n > 1 && !(fn = function_of(vm, r->request->module, id)))
		id = ir_func_get(r->request->module, id)->parent;
	if (!fn)
		return val_none();
	fn->h.refs++;
	cls = class_of_function(vm, fn);
	if (cls)
		self = instance_for(vm, cls);
	result = vm->halt ? val_null() : call_with_stand_ins(vm, fn, self);
	if (is_kind(result, K_GENERATOR)) {
		struct val item;

		while (!is_null(item = rp_next(vm, result)))
			unref(vm, item);
		if (!is_null(vm->exc) || vm->halt)
			slot_set(vm, &result, val_null());
	}
	unref(vm, self);
	unref_obj(vm, fn);
	return result;
}

static bool trains(const struct replay_loop *loop)
{
	return loop && strncmp(loop->kind, "backward", 8) == 0;
}

/* Of the loop as the script runs it. */
static bool has_enough(const struct replay *r)
{
	return r->result->count >= (r->vm->healing ? r->request->heal : 1);
}

static struct val run_all(struct replay *r)
{
	struct vm *vm = r->vm;
	struct module *m = module_new(vm, "__main__");
	bool by_itself = r->function.n || (r->loop && r->loop->func.n > 1);
	uint64_t steps = vm->limits.steps;
	struct val v;

	if (by_itself)
		vm->limits.steps = steps / 2;
	set_main(vm, m, r->request->module);
	v = module_run(vm, m, r->request->module);
	if (!is_null(v)) {
		unref(vm, v);
		v = run_entry(r, m);
	}
	if (!r->result->count)
		vm->limits.steps = steps;
	if (has_enough(r) || !by_itself || (vm->halt && vm->halt != VM_HALT_STEPS))
		return v;
	/* The script may have used up its half without coming by. */
	vm->halt = VM_RUNNING;
	if (is_null(v))
		exc_clear(vm);
	unref(vm, v);
	vm->forgiving = true;
	r->result->count = r->marks = 0;
	v = trains(r->loop) || !r->function.n ? run_function(r) : val_none();
	if (r->result->count || !r->function.n || vm->halt)
		return v;
	if (is_null(v))
		exc_clear(vm);
	unref(vm, v);
	return call_repeatedly(r);
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
		    trains(&loops[i]))
			loop = &loops[i];
	return loop;
}

static void choose_loop(struct replay *r, struct arena *scratch)
{
	const struct replay_request *request = r->request;
	struct replay_loop *loops;
	uint32_t count = replay_loops(scratch, request->names, request->module, &loops);

	r->loop = replay_choose(request->module, loops, count, request->line);
	if (!r->loop && request->line) {
		/* The script's own loop, if it has one that comes by here. */
		r->function = function_at(request->module, request->line);
		r->loop = replay_choose(request->module, loops, count, 0);
		r->loop = innermost(r->loop, loops, count);
	}
	if (!r->loop)
		return;
	r->header = ir_func_get(request->module, r->loop->func)->loops.at[r->loop->loop.n].header;
	r->result->loop_line = r->loop->line;
	r->result->loop_end = r->loop->end_line;
	r->result->loop_kind = r->loop->kind;
	r->result->loop_function =
	        r->loop->function ? keep_text(r, r->loop->function, strlen(r->loop->function))
	                          : NULL;
}

enum attempt {
	WITHOUT_NUMBERS, /* until they are needed */
	WITH_NUMBERS,
	STOOD_IN, /* without, whatever needs them */
	HEALED,   /* and instructions that raise are stood in for */
};

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

static void vm_start(struct replay *r, enum attempt attempt)
{
	const struct replay_request *request = r->request;
	const struct replay_budget *budget = budget_of(r);
	struct vm_limits limits = {budget->steps, budget->host_bytes, budget->seconds};
	struct ag_options options = {.byte_cap = budget->live_bytes, .node_cap = budget->nodes};

	options.meta = attempt != WITH_NUMBERS;
	options.byte_cap *= options.meta ? BYTES_WITHOUT_DATA : 1;
	options.work_cap = budget->work > 0 ? budget->work : replay_default_budget.work;
	options.work_cap *= request->values ? WORK_FOR_OUTPUT : 1;
	if (attempt == HEALED) {
		limits.steps /= HEALED_SHARE;
		limits.seconds /= HEALED_SHARE;
	} else if (request->heal) {
		limits.steps = patience(budget);
	}
	r->most_steps = attempt == HEALED ? limits.steps : budget->steps;
	r->vm = vm_open(request->names, &limits);
	r->vm->user = r;
	r->vm->lazy = attempt == WITHOUT_NUMBERS;
	r->vm->healing = r->vm->forgiving = attempt == HEALED;
	r->vm->on_stand_in = note_stand_in;
	r->vm->find_module = find_module;
	modules_offer(r->vm);
	torch_open(r->vm, &options);
	torch_of(r->vm)->assumptions = r->assumptions;
	torch_of(r->vm)->exact = attempt != HEALED;
	if (r->loop) {
		r->vm->watched = request->module;
		r->vm->on_iteration = on_iteration;
		r->vm->watched_func = r->loop->func;
		r->vm->watched_header = r->header;
		r->vm->watch = request->watch;
		r->vm->watch_count = request->watch_count < REPLAY_MOST_WATCHED
		                             ? request->watch_count
		                             : REPLAY_MOST_WATCHED;
	}
	places_open(r);
}

/* Why it ended says whether another attempt has to be made. */
static enum vm_halt attempt_run(struct replay *r, enum attempt attempt)
{
	struct replay_result *result = r->result;
	enum vm_halt halt;
	struct val v;

	vm_start(r, attempt);
	v = run_all(r);
	halt = r->vm->halt;
	/* What went wrong may have gone wrong for want of a number. */
	if (r->vm->lazy && r->vm->asked && !is_null(r->vm->exc))
		halt = VM_HALT_VALUES;
	if (!result->chain_count && halt != VM_HALT_VALUES)
		measure_chain(r);
	keep_error(r);
	unref(r->vm, v);
	result->exact = result->exact && torch_of(r->vm)->exact;
	result->steps = r->vm->steps;
	if (halt && halt != VM_HALT_DONE)
		result->limit = keep_text(r, r->vm->halt_reason ? r->vm->halt_reason : "",
		                          r->vm->halt_reason ? strlen(r->vm->halt_reason) : 0);
	result->output = keep_text(r, text_chars(&r->vm->out), r->vm->out.length);
	result->output_length = r->vm->out.length;
	torch_close(r->vm);
	measure_release(r);
	places_release(r);
	return halt;
}

/* With numbers if they are needed, without them if that is too much; what raises is
 * stood in for if too little was measured. */
static bool try_again(const struct replay_request *request, const struct replay_result *result,
                      enum vm_halt halt, enum attempt *attempt)
{
	if (*attempt == WITHOUT_NUMBERS && halt == VM_HALT_VALUES)
		*attempt = WITH_NUMBERS;
	else if (*attempt == WITH_NUMBERS && !request->values &&
	         (halt == VM_HALT_WORK || halt == VM_HALT_BYTES))
		*attempt = STOOD_IN;
	else if (*attempt != HEALED && request->heal && result->count < request->heal)
		*attempt = HEALED;
	else
		return false;
	return true;
}

struct replay_result replay_run(const struct replay_request *request)
{
	struct replay_result result;
	struct replay r;
	struct assumptions assumptions = {0};
	struct arena scratch = {0};
	enum attempt attempt = request->values ? WITH_NUMBERS : WITHOUT_NUMBERS;
	enum vm_halt halt;

	do {
		result = (struct replay_result){.exact = true};
		assumptions.nodes.count = 0;
		r = (struct replay){
		        .request = request, .result = &result, .assumptions = &assumptions};
		choose_loop(&r, &scratch);
		halt = attempt_run(&r, attempt);
	} while (try_again(request, &result, halt, &attempt) || assumed_again(&assumptions));
	judge(&r);
	assumed_release(&assumptions);
	arena_release(&scratch);
	return result;
}
