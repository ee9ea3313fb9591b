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

/* The script's own object of that name, or something that nothing is known of. */
static struct val argument_for(struct vm *vm, const struct function *fn, struct str *name)
{
	struct val global = dict_get_str(vm, fn->module->ns, name);

	vm_stand_in(vm, "argument %s", name->at);
	return is_kind(global, K_INSTANCE) ? ref(global) : unknown_new(vm, "%s", name->at);
}

static struct val call_with_stand_ins(struct vm *vm, const struct function *fn, struct val callee,
                                      struct val self)
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
		v = argument_for(vm, fn, p->name);
		if (p->kind == PARAM_KEYWORD_ONLY)
			dict_put_str(vm, kw, p->name, v), unref(vm, v);
		else
			list_push(vm, args, v);
	}
	result = rp_call(vm, callee, args->at, args->count, kw);
	unref_obj(vm, args);
	unref_obj(vm, kw);
	return result;
}

/* --- what a function is called by */

enum { MOST_DECORATORS = 4 };

/* A function as the program calls it. */
struct called {
	struct function *fn;
	struct val callee; /* itself, or what decorates it */
	struct val self;   /* PY_NULL: it has none */
};

/* Whether it is the function, or made around it: a decorator's result. */
static bool is_around(struct vm *vm, struct val v, const struct function *fn, int depth)
{
	const struct function *outer = is_kind(v, K_FUNCTION) ? AS(function, v) : NULL;
	struct val inner;

	if (v.tag != PY_OBJECT || v.as.o == &fn->h || depth == MOST_DECORATORS)
		return v.tag == PY_OBJECT && v.as.o == &fn->h;
	if (is_kind(v, K_DESCRIPTOR))
		return is_around(vm, AS(descriptor, v)->get, fn, depth + 1);
	inner = v.as.o->attrs ? dict_get_str(vm, v.as.o->attrs, vm->n[PN_wrapped]) : val_null();
	if (!is_null(inner))
		return is_around(vm, inner, fn, depth + 1);
	for (uint32_t i = 0; outer && outer->captured && i < outer->code->nslots; i++)
		if (is_kind(outer->captured[i], K_CELL) &&
		    is_around(vm, AS(cell, outer->captured[i])->value, fn, depth + 1))
			return true;
	return false;
}

static bool finds_in(struct vm *vm, struct dict *ns, const struct function *fn, struct val *found)
{
	*found = ns ? dict_get_str(vm, ns, fn->name) : val_null();
	return is_around(vm, *found, fn, 0);
}

/* The class whose namespace holds the function, for an instance to call it on. */
static struct cls *class_of_function(struct vm *vm, const struct function *fn, struct val *found)
{
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next)
		if (o->kind == K_CLASS && finds_in(vm, ((struct cls *)(void *)o)->ns, fn, found))
			return (struct cls *)(void *)o;
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
	self = call_with_stand_ins(vm, AS(function, init), init, made);
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

static struct called called_open(struct vm *vm, struct function *fn)
{
	struct called c = {.fn = fn, .callee = val_obj(fn)};
	struct val found;
	struct cls *cls = class_of_function(vm, fn, &found);
	const struct descriptor *d =
	        cls && is_kind(found, K_DESCRIPTOR) ? AS(descriptor, found) : NULL;

	if (d)
		c.callee = d->get;
	else if (cls || finds_in(vm, fn->module->ns, fn, &found))
		c.callee = found;
	ref(c.callee);
	fn->h.refs++;
	if (d && d->what == DESC_CLASSMETHOD)
		c.self = ref_obj(cls);
	else if (cls && !(d && d->what == DESC_STATICMETHOD))
		c.self = instance_for(vm, cls);
	return c;
}

static struct val call_it(struct vm *vm, const struct called *c)
{
	return call_with_stand_ins(vm, c->fn, c->callee, c->self);
}

static void called_close(struct vm *vm, struct called *c)
{
	unref(vm, c->self);
	unref(vm, c->callee);
	unref_obj(vm, c->fn);
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
	struct function *fn = function_of(vm, r->request->module, r->function);
	struct val result = val_none();
	struct called called;

	if (!fn)
		return result;
	called = called_open(vm, fn);
	r->result->loop_kind = "function";
	r->result->loop_line = r->request->line;
	for (uint32_t i = 0; i < calls && !is_null(result) && !vm->halt; i++) {
		slot_set(vm, &result, call_it(vm, &called));
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
	uint32_t calls = 0;

	while (id.n > 1 && !(fn = function_of(vm, r->request->module, id)))
		id = ir_func_get(r->request->module, id)->parent;
	if (!fn)
		return val_none();
	called = called_open(vm, fn);
	do {
		result = vm->halt ? val_null() : drained(vm, call_it(vm, &called));
		needs_returned(r, result);
	} while (calls_again(r, result, ++calls));
	called_close(vm, &called);
	return result;
}

/* Of the loop as the script runs it. */
static bool has_enough(const struct replay *r)
{
	return r->result->count >= (r->vm->healing ? r->request->heal : 1);
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
	v = entry_trains(r->loop) || !r->function.n ? run_function(r) : val_none();
	if (r->result->count || !r->function.n || vm->halt)
		return v;
	if (is_null(v))
		exc_clear(vm);
	unref(vm, v);
	return call_repeatedly(r);
}
