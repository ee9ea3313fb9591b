#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/library.h"
#include "analyzer/replay/py_step.h"

enum { FEW_ARGS = 16 };

/* Arguments of one call, taken out of their registers. */
struct call {
	struct val few[FEW_ARGS];
	struct val *at;
	uint32_t count;
	struct dict *kw;
	struct list *many; /* when a star made the count unknown */
};

static void call_release(struct vm *vm, struct call *c)
{
	if (c->many) {
		unref_obj(vm, c->many);
	} else {
		for (uint32_t i = 0; i < c->count; i++)
			unref(vm, c->at[i]);
		if (c->at != c->few)
			free(c->at);
	}
	unref_obj(vm, c->kw);
}

static bool given_twice(struct vm *vm, const struct str *name)
{
	if (name)
		rp_raise(vm, TY_TypeError, "got multiple values for keyword argument '%s'",
		         name->at);
	else
		rp_raise(vm, TY_TypeError, "got multiple values for keyword argument");
	return false;
}

static bool call_keyword(struct vm *vm, struct call *c, const struct code_arg *arg, struct val v)
{
	uint32_t before;

	if (!c->kw)
		c->kw = dict_new(vm);
	before = c->kw->count;
	if (arg->star == ARG_PLAIN) {
		dict_put_str(vm, c->kw, arg->keyword, v);
		return c->kw->count > before || given_twice(vm, arg->keyword);
	}
	if (!dict_update(vm, c->kw, v))
		return false;
	return !before || !is_kind(v, K_DICT) || c->kw->count == before + AS(dict, v)->count ||
	       given_twice(vm, NULL);
}

/* Arguments from operand `first` on. */
static bool call_collect(struct run *run, struct frame *f, const struct code_inst *in,
                         uint32_t first, struct call *c)
{
	struct vm *vm = run->vm;
	uint32_t room = in->nargs > first ? in->nargs - first : 0;
	bool ok = true, starred = false;

	c->at = room > FEW_ARGS ? checked_alloc(room, sizeof(struct val)) : c->few;
	c->count = 0;
	c->kw = NULL;
	c->many = NULL;
	for (uint32_t i = first; i < in->nargs; i++)
		starred |= in->args[i].star == ARG_STAR;
	if (starred) {
		if (c->at != c->few)
			free(c->at);
		c->at = c->few;
		c->many = list_new(vm, room + 4);
	}
	for (uint32_t i = first; i < in->nargs; i++) {
		const struct code_arg *arg = &in->args[i];
		struct val v = reg_out(f, in, i);

		if (ok && (arg->keyword || arg->star == ARG_DOUBLE_STAR)) {
			ok = call_keyword(vm, c, arg, v);
			unref(vm, v);
		} else if (ok && arg->star == ARG_STAR) {
			ok = list_extend(vm, c->many, v);
			unref(vm, v);
		} else if (c->many) {
			list_push(vm, c->many, v);
		} else {
			c->at[c->count++] = v;
		}
	}
	if (c->many) {
		c->at = c->many->at;
		c->count = c->many->count;
	}
	return ok;
}

static enum step push_frame(struct run *run, struct frame *caller, struct frame *f, uint32_t dst)
{
	struct vm *vm = run->vm;

	f->caller = caller;
	f->dst = dst;
	f->running = true;
	vm->frame = f;
	vm->depth++;
	if (vm->depth > PY_RECURSION_LIMIT) {
		rp_raise(vm, TY_RecursionError, "maximum recursion depth exceeded");
		return STEP_RAISE;
	}
	return vm_work(vm, 1) ? STEP_FRAME : STEP_RAISE;
}

/* The Python function behind a callee, its bound self first; NULL: none that
 * can run as a frame of its own. */
static struct function *plain_function(struct vm *vm, struct val callee, struct val *self,
                                       struct val *made)
{
	struct function *fn = NULL;
	struct val init, new;

	*self = *made = val_null();
	if (is_kind(callee, K_FUNCTION)) {
		fn = AS(function, callee);
	} else if (is_kind(callee, K_METHOD) && is_kind(AS(method, callee)->fn, K_FUNCTION)) {
		fn = AS(function, AS(method, callee)->fn);
		*self = AS(method, callee)->self;
	} else if (is_kind(callee, K_CLASS) && !AS(cls, callee)->meta) {
		new = cls_find(vm, AS(cls, callee), vm->n[PN_new]);
		init = cls_find(vm, AS(cls, callee), vm->n[PN_init]);
		if (!is_kind(init, K_FUNCTION) || !is_kind(new, K_NATIVE) ||
		    AS(native, new)->owner != vm->t[TY_object])
			return NULL;
		fn = AS(function, init);
		if (fn->code->func->is_generator)
			return NULL;
		*made = val_obj(rp_new(vm, K_INSTANCE, AS(cls, callee), sizeof(struct obj)));
		*self = *made;
		return fn;
	}
	return fn && !fn->code->func->is_generator && !fn->code->func->is_async ? fn : NULL;
}

static struct frame *frame_with_self(struct vm *vm, struct function *fn, struct val self,
                                     struct call *c)
{
	struct val few[FEW_ARGS + 1], *all = few;
	struct frame *f;

	if (is_null(self))
		return frame_for_call(vm, fn, c->at, c->count, c->kw);
	if (c->count > FEW_ARGS)
		all = checked_alloc(c->count + 1, sizeof(*all));
	all[0] = self;
	memcpy(all + 1, c->at, c->count * sizeof(*all));
	f = frame_for_call(vm, fn, all, c->count + 1, c->kw);
	if (all != few)
		free(all);
	return f;
}

/* super() without arguments: the cell `__class__` and the first parameter. */
static struct val bare_super(struct vm *vm, struct frame *f)
{
	const struct ir_func *func = f->code->func;
	struct super *s;
	struct val owner = val_null(), self;

	for (uint32_t i = 1; i < func->slots.count; i++)
		if (func->slots.at[i].kind == SLOT_FREE &&
		    code_slot_name(vm, f->code, i) == vm->n[PN_class])
			owner = *slot_place(f, i);
	self = f->code->nparams ? *slot_place(f, f->code->params[0].slot) : val_null();
	if (!is_kind(owner, K_CLASS) || is_null(self))
		return rp_raise(vm, TY_RuntimeError, "super(): no arguments");
	s = rp_new(vm, K_SUPER, vm->t[TY_super], sizeof(*s));
	s->start = AS(cls, owner);
	s->self = ref(self);
	return val_obj(s);
}

static struct val call_endless(struct vm *vm, const struct function *fn, struct call *c)
{
	return vm->opaque ? vm->opaque(vm, c->at, c->count, fn->name->at)
	                  : unknown_new(vm, "%s()", fn->name->at);
}

static struct val call_now(struct run *run, struct frame *f, struct val callee, struct call *c)
{
	if (callee.tag == PY_OBJECT && callee.as.o == &run->vm->t[TY_super]->h && !c->count)
		return bare_super(run->vm, f);
	return rp_call(run->vm, callee, c->at, c->count, c->kw);
}

enum step step_call(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val callee = reg_out(f, in, 0), self, made;
	struct call c;
	struct function *fn;
	struct frame *callee_frame;

	if (!call_collect(run, f, in, 1, &c)) {
		call_release(vm, &c);
		unref(vm, callee);
		return STEP_RAISE;
	}
	fn = plain_function(vm, callee, &self, &made);
	if (fn && vm->healing && heal_is_endless(vm, fn->code, c.at, c.count)) {
		unref(vm, made);
		made = call_endless(vm, fn, &c);
	} else if (fn) {
		callee_frame = frame_with_self(vm, fn, self, &c);
		call_release(vm, &c);
		unref(vm, callee);
		if (!callee_frame) {
			unref(vm, made);
			return STEP_RAISE;
		}
		callee_frame->made = made;
		return push_frame(run, f, callee_frame, in->dst);
	} else {
		made = call_now(run, f, callee, &c);
	}
	call_release(vm, &c);
	unref(vm, callee);
	return reg_put(f, in, made);
}

/* --- definitions */

static void capture(struct vm *vm, struct frame *f, struct function *fn)
{
	const struct ir_func *func = fn->code->func;

	for (uint32_t i = 1; i < func->slots.count; i++) {
		struct val *from;

		if (func->slots.at[i].kind != SLOT_FREE)
			continue;
		if (!fn->captured) {
			size_t size = fn->code->nslots * sizeof(struct val);

			fn->captured = rp_mem(vm, NULL, 0, size);
			memset(fn->captured, 0, size);
		}
		from = &f->slots[func->slots.at[i].outer.n];
		if (is_kind(*from, K_CELL))
			fn->captured[i] = ref(*from);
	}
}

static struct function *function_new(struct vm *vm, struct frame *f, func_id id)
{
	struct function *fn = rp_new(vm, K_FUNCTION, vm->t[TY_function], sizeof(*fn));

	fn->code = code_of(vm, f->code->module, id);
	fn->code->library = f->code->library;
	fn->module = f->module;
	fn->module->h.refs++;
	fn->name = AS(str, ref_obj(fn->code->name));
	fn->qualified = AS(str, ref_obj(fn->code->qualified));
	capture(vm, f, fn);
	return fn;
}

enum step step_function(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct function *fn = function_new(vm, f, (func_id){in->name});

	if (in->nargs) {
		size_t size = fn->code->nparams * sizeof(struct val);

		fn->defaults = rp_mem(vm, NULL, 0, size);
		memset(fn->defaults, 0, size);
	}
	for (uint32_t i = 0; i < in->nargs; i++) {
		struct val v = reg_out(f, in, i);
		uint32_t p = 0;

		while (p < fn->code->nparams && fn->code->params[p].name != in->args[i].keyword)
			p++;
		if (p < fn->code->nparams)
			slot_set(vm, &fn->defaults[p], v);
		else
			unref(vm, v);
	}
	return reg_put(f, in, val_obj(fn));
}

static struct val meta_given(struct vm *vm, const struct call *c)
{
	struct val given =
	        c->kw ? dict_get_str(vm, c->kw, str_intern(vm, "metaclass", 9)) : val_null();

	for (uint32_t i = 0; is_null(given) && i < c->count; i++)
		if (is_kind(c->at[i], K_CLASS) && AS(cls, c->at[i])->meta)
			given = val_obj(AS(cls, c->at[i])->meta);
	return is_kind(given, K_CLASS) && (AS(cls, given)->flags & CLS_HEAP) ? given : val_null();
}

/* What the body stores into: what the metaclass prepares, or a dict. NULL if that raised. */
static struct dict *class_namespace(struct vm *vm, const struct str *name, const struct call *c)
{
	struct val meta = meta_given(vm, c), prepare = val_null(), a[2], made;
	struct dict *kw;

	if (!is_null(meta) &&
	    !is_null(cls_find(vm, AS(cls, meta), str_intern(vm, "__prepare__", 11))))
		prepare = rp_attr_chars(vm, meta, "__prepare__");
	if (is_null(prepare))
		return is_null(vm->exc) ? dict_new(vm) : NULL;
	kw = c->kw ? dict_copy(vm, c->kw) : NULL;
	if (kw)
		dict_remove(vm, kw, val_obj(str_intern(vm, "metaclass", 9)), NULL);
	a[0] = val_obj((void *)(uintptr_t)name);
	a[1] = tuple_of(vm, c->at, c->count);
	made = rp_call(vm, prepare, a, 2, kw);
	unref_obj(vm, kw);
	unref(vm, a[1]);
	unref(vm, prepare);
	if (is_kind(made, K_DICT))
		return AS(dict, made);
	unref(vm, made);
	return is_null(vm->exc) ? dict_new(vm) : NULL;
}

/* The body runs as a frame with the namespace; bases and keywords wait in
 * `made`, as a tuple. */
enum step step_class(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct function *fn;
	struct call c;
	struct frame *body;
	struct list *waiting;

	if (!call_collect(run, f, in, 0, &c)) {
		call_release(vm, &c);
		return STEP_RAISE;
	}
	fn = function_new(vm, f, (func_id){in->name});
	body = frame_for_call(vm, fn, NULL, 0, NULL);
	unref_obj(vm, fn);
	if (!body) {
		call_release(vm, &c);
		return STEP_RAISE;
	}
	body->ns = class_namespace(vm, body->code->name, &c);
	if (!body->ns) {
		call_release(vm, &c);
		unref_obj(vm, body);
		return STEP_RAISE;
	}
	dict_put_str(vm, body->ns, vm->n[PN_module], val_obj(f->module->name));
	dict_put_str(vm, body->ns, vm->n[PN_qualname], val_obj(body->code->qualified));
	if (body->code->func->doc.n)
		dict_put_str(vm, body->ns, vm->n[PN_doc],
		             val_obj(name_of_sym(vm, body->code->module, body->code->func->doc)));
	waiting = tuple_new(vm, 2);
	waiting->at[0] = tuple_of(vm, c.at, c.count);
	waiting->at[1] = c.kw ? ref_obj(c.kw) : val_none();
	call_release(vm, &c);
	body->made = val_obj(waiting);
	return push_frame(run, f, body, in->dst);
}

static void class_to_cell(struct vm *vm, struct frame *body, struct val cls)
{
	const struct ir_func *func = body->code->func;

	for (uint32_t i = 1; i < func->slots.count; i++)
		if (func->slots.at[i].kind == SLOT_CELL &&
		    code_slot_name(vm, body->code, i) == vm->n[PN_class])
			slot_set(vm, slot_place(body, i), ref(cls));
}

struct val class_body_done(struct vm *vm, struct frame *body)
{
	struct list *waiting = AS(list, body->made);
	struct dict *kw = is_kind(waiting->at[1], K_DICT) ? AS(dict, waiting->at[1]) : NULL;
	struct val result;
	struct cls *cls;

	dict_remove(vm, body->ns, val_obj(vm->n[PN_qualname]), NULL);
	result = class_build(vm, body->code->name, waiting->at[0], body->ns, kw);
	if (!is_kind(result, K_CLASS))
		return result;
	cls = AS(cls, result);
	if (cls->qualified == cls->name) {
		cls->qualified = AS(str, ref_obj(body->code->qualified));
		unref_obj(vm, cls->name);
	}
	if (body->code->library)
		cls->flags |= CLS_LIBRARY;
	class_to_cell(vm, body, result);
	return result;
}
