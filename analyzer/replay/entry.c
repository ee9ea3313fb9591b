/* Where a replay starts: the script, its main(), the function around the loop, or the
 * function of a line without a loop, again and again. */

#include <string.h>

#include "analyzer/replay/measure.h"
#include "analyzer/replay/modules.h"
#include "analyzer/source/source.h"

enum { MOST_CALLS = 16 };

bool entry_trains(const struct replay_loop *loop)
{
	return loop && strncmp(loop->kind, "backward", 8) == 0;
}

static void set_main(struct vm *vm, struct module *m, const struct ir_module *ir)
{
	const char *path = ir->source ? ir->source->path : "main.py";

	vm->main = m;
	dict_put_str(vm, vm->modules, m->name, val_obj(m));
	module_set(vm, m, "__file__", val_str(vm, path));
	dict_put_str(vm, m->ns, vm->n[PN_doc],
	             ir_func_get(ir, (func_id){1})->doc.n
	                     ? val_obj(str_of_sym(vm, ir_func_get(ir, (func_id){1})->doc))
	                     : val_none());
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

/* Of what is measured. */
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
func_id entry_function_at(const struct ir_module *ir, uint32_t line)
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
	struct function *fn = function_of(vm, r->module, r->function);
	struct val result = val_none();
	struct called called;

	if (!fn)
		return result;
	/* Loops that its calls come by are not measured. */
	vm->on_iteration = NULL;
	vm->watched_func = (func_id){0};
	called = called_open(vm, fn);
	r->result->loop_kind = "function";
	r->result->loop_line = r->request->line;
	for (uint32_t i = 0; i < calls && !is_null(result) && !vm->halt; i++) {
		slot_set(vm, &result, called_call(vm, &called));
		if (is_null(result))
			break;
		if (str_is(fn->name, "training_step"))
			torch_framework_backward(vm, result);
		slot_set(vm, &result, val_none());
		take_sample(r);
	}
	if (!r->result->chain_count)
		measure_chain(r);
	called_close(vm, &called);
	return result;
}

/* A generator runs to its end. */
static struct val drained(struct vm *vm, struct val result)
{
	struct val item;

	if (!is_kind(result, K_GENERATOR))
		return result;
	while (!is_null(item = rp_next(vm, result)))
		unref(vm, item);
	if (!is_null(vm->exc) || vm->halt)
		slot_set(vm, &result, val_null());
	return result;
}

/* A loop of few turns: what it leaves on the instance shows in more calls. */
static bool calls_again(struct replay *r, struct val result, uint32_t calls)
{
	if (!r->vm->healing || is_null(result) || r->vm->halt || calls >= MOST_CALLS ||
	    r->result->count < calls)
		return false;
	unref(r->vm, result);
	return true;
}

/* Nothing in the script reached the loop: its function is called by itself, or
 * the nearest one around it that there is. */
static struct val run_function(struct replay *r)
{
	struct vm *vm = r->vm;
	func_id id = r->loop->func;
	struct function *fn = NULL;
	struct called called;
	struct val result;
	bool unknown_caller;
	uint32_t calls = 0;

	while (id.n > 1 && !(fn = function_of(vm, r->module, id)))
		id = ir_func_get(r->module, id)->parent;
	if (!fn)
		return val_none();
	unknown_caller = !replay_is_called(r->request->names, r->request->module, id);
	called = called_open(vm, fn);
	do {
		result = vm->halt ? val_null() : drained(vm, called_call(vm, &called));
		if (unknown_caller)
			needs_returned(r, result);
	} while (calls_again(r, result, ++calls));
	called_close(vm, &called);
	return result;
}

/* A line that no loop is around has a function: whether any of its places was come by. */
static bool came_by(const struct replay *r)
{
	struct span span;
	bool watched = false;

	if (!r->function.n)
		return true;
	span = ir_func_get(r->module, r->function)->span;
	for (uint32_t i = 0; i < r->vm->watch_count; i++) {
		if (!measure_lies_in(r, i, span))
			continue;
		watched = true;
		if (r->watched[i])
			return true;
	}
	return !watched;
}

/* Of the loop as the script runs it. */
static bool has_enough(const struct replay *r)
{
	return r->result->count >= (r->vm->healing ? r->request->heal : 1) && came_by(r);
}

static void begin_again(struct replay *r)
{
	if (r->closing)
		needs_end(r);
	r->closing = 0;
	r->vm->leaving = false;
	r->vm->turns = 0;
	r->vm->halt = VM_RUNNING;
	r->result->count = r->marks = 0;
	places_reset(r);
}

/* It cannot go on, or what it measured is what was asked for. */
static bool is_over(const struct replay *r)
{
	const enum vm_halt halt = r->vm->halt;

	return (halt && halt != VM_HALT_STEPS && halt != VM_HALT_DONE) ||
	       (halt == VM_HALT_DONE && came_by(r));
}

/* Of the line, not whether anything grows. */
static bool asks_what_happens(const struct replay *r)
{
	const struct replay_request *request = r->request;

	for (uint32_t i = 0; i < r->vm->watch_count; i++)
		if (request->leads >> i & 1 && request->watch[i].source == r->module->source &&
		    source_line_at(r->module->source, request->watch[i].span.start) + 1 ==
		            request->line)
			return true;
	return false;
}

/* No loop is around the line, nor a function: each run of the script is a step, as in a
 * notebook whose cells are run again. */
static struct val run_repeatedly(struct replay *r, struct module *m)
{
	const uint32_t runs = r->request->iterations ? r->request->iterations : REPLAY_STEPS;
	struct val result = val_none();

	r->result->loop_kind = "script";
	r->result->loop_line = r->result->loop_end = r->request->line;
	vm_stand_in(r->vm, "more runs of the script");
	for (uint32_t i = 0; i < runs && !is_null(result) && !r->vm->halt; i++) {
		slot_set(r->vm, &result, module_run(r->vm, m, r->request->module));
		if (!is_null(result))
			take_sample(r);
	}
	return result;
}

struct val entry_run(struct replay *r)
{
	struct vm *vm = r->vm;
	struct module *m = module_new(vm, "__main__");
	bool by_itself = r->function.n || (r->loop && r->loop->func.n > 1);
	uint64_t steps = vm->limits.steps;
	struct val v;

	if (by_itself)
		vm->limits.steps = steps / 2;
	set_main(vm, m, r->request->module);
	if (!r->loop && !r->function.n && asks_what_happens(r))
		return run_repeatedly(r, m);
	v = module_run(vm, m, r->request->module);
	if (!is_null(v)) {
		unref(vm, v);
		v = run_entry(r, m);
	}
	if (!r->result->count)
		vm->limits.steps = steps;
	/* The script may have used up its half without coming by. */
	if (has_enough(r) || !by_itself || is_over(r) || r->request->loops)
		return v;
	if (is_null(v))
		exc_clear(vm);
	unref(vm, v);
	vm->forgiving = true;
	begin_again(r);
	v = entry_trains(r->loop) || !r->function.n ? run_function(r) : val_none();
	if (!r->function.n || is_over(r) || (r->result->count && came_by(r)))
		return v;
	begin_again(r);
	if (is_null(v))
		exc_clear(vm);
	unref(vm, v);
	return call_repeatedly(r);
}
