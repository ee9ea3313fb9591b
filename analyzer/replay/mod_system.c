#include <string.h>

#include "analyzer/replay/modules.h"

#define NATIVE(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

/* --- time: a clock that only the program's own work moves */

static double tick(struct vm *vm)
{
	vm->fake_time += 1e-4;
	return vm->fake_time;
}

NATIVE(time_time)
{
	(void)a, (void)n;
	return val_float(tick(vm));
}

NATIVE(time_counter)
{
	(void)a, (void)n;
	return val_float(tick(vm) - 1.7e9);
}

NATIVE(time_ns)
{
	(void)a, (void)n;
	return val_int((int64_t)(tick(vm) * 1e9));
}

NATIVE(time_sleep)
{
	double seconds;

	(void)n;
	if (rp_double(vm, a[0], &seconds) && seconds > 0)
		vm->fake_time += seconds;
	return is_null(vm->exc) ? val_none() : val_null();
}

static const struct native_def time_functions[] = {
        {"time", time_time, ""},
        {"perf_counter", time_counter, ""},
        {"monotonic", time_counter, ""},
        {"process_time", time_counter, ""},
        {"perf_counter_ns", time_ns, ""},
        {"time_ns", time_ns, ""},
        {"monotonic_ns", time_ns, ""},
        {"sleep", time_sleep, "seconds"},
        {0},
};

const struct native_module time_module = {"time", time_functions, NULL, NULL};

/* --- gc */

NATIVE(gc_collect)
{
	(void)a, (void)n;
	return val_int(rp_collect(vm));
}

NATIVE(gc_get_objects)
{
	struct list *list = list_new(vm, 64);

	(void)a, (void)n;
	/* Wrappers that only the runtime keeps are objects all the same. */
	if (vm->kinds[K_TENSOR].keep)
		vm->kinds[K_TENSOR].keep(vm, NULL);
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		if (o->flags & OBJ_PRESERVED)
			list_push(vm, list, vm->kinds[o->kind].revive(vm, o));
		else if ((o->flags & OBJ_GC) && o != &list->h && o->refs > 0 && o->kind != K_CELL &&
		         o->kind != K_FRAME)
			list_push(vm, list, ref_obj(o));
	}
	return val_obj(list);
}

struct referrer {
	struct obj *target;
	bool found;
};

static bool is_referrer(void *walk, struct val child, const char *role, struct val key)
{
	struct referrer *r = walk;

	(void)role, (void)key;
	r->found |= child.as.o == r->target;
	return !r->found;
}

NATIVE(gc_get_referrers)
{
	struct list *list = list_new(vm, 4), *args = AS(list, a[0]);

	(void)n;
	for (struct obj *o = vm->first.next; o != &vm->first; o = o->next) {
		for (uint32_t i = 0; i < args->count; i++) {
			struct referrer r = {args->at[i].tag == PY_OBJECT ? args->at[i].as.o : NULL,
			                     false};

			if ((o->flags & OBJ_GC) && o != &list->h && o != &args->h && o->refs)
				rp_visit(vm, o, is_referrer, &r);
			if (r.found)
				list_push(vm, list, ref_obj(o));
		}
	}
	return val_obj(list);
}

NATIVE(gc_nothing)
{
	(void)vm, (void)a, (void)n;
	return val_none();
}

NATIVE(gc_enable)
{
	(void)a, (void)n;
	vm->collector_off = false;
	return val_none();
}

NATIVE(gc_disable)
{
	(void)a, (void)n;
	vm->collector_off = true;
	return val_none();
}

NATIVE(gc_isenabled)
{
	(void)a, (void)n;
	return val_bool(!vm->collector_off);
}

NATIVE(gc_counts)
{
	struct val zeros[3] = {val_int(0), val_int(0), val_int(0)};

	(void)a, (void)n;
	return tuple_of(vm, zeros, 3);
}

NATIVE(gc_is_tracked)
{
	(void)vm, (void)n;
	return val_bool(a[0].tag == PY_OBJECT && (a[0].as.o->flags & OBJ_GC));
}

static const struct native_def gc_functions[] = {
        {"collect", gc_collect, "? generation"},
        {"get_objects", gc_get_objects, "? generation"},
        {"get_referrers", gc_get_referrers, "*objs"},
        {"enable", gc_enable, ""},
        {"disable", gc_disable, ""},
        {"freeze", gc_nothing, ""},
        {"unfreeze", gc_nothing, ""},
        {"set_threshold", gc_nothing, "*args"},
        {"set_debug", gc_nothing, "flags"},
        {"isenabled", gc_isenabled, ""},
        {"get_count", gc_counts, ""},
        {"get_threshold", gc_counts, ""},
        {"is_tracked", gc_is_tracked, "obj"},
        {0},
};

static void gc_init(struct vm *vm, struct module *m)
{
	module_set(vm, m, "garbage", val_obj(list_new(vm, 0)));
}

const struct native_module gc_module = {"gc", gc_functions, gc_init, NULL};

/* --- sys */

NATIVE(sys_exit)
{
	struct val code = is_null(a[0]) ? val_none() : a[0], exc;

	(void)n;
	exc = instantiate(vm, vm->t[TY_SystemExit], &code, 1, NULL);
	return is_null(exc) ? exc : rp_raise_val(vm, exc);
}

/* What Python's site adds to the built-in functions. */
extern const struct native_def exit_functions[];
const struct native_def exit_functions[] = {
        {"exit", sys_exit, "? code"},
        {"quit", sys_exit, "? code"},
        {0},
};

NATIVE(sys_getrefcount)
{
	(void)vm, (void)n;
	return val_int(a[0].tag == PY_OBJECT ? a[0].as.o->refs : 1000);
}

NATIVE(sys_getsizeof)
{
	(void)n;
	return val_int(is_kind(a[0], K_LIST)   ? 56 + 8 * (int64_t)AS(list, a[0])->capacity
	               : is_kind(a[0], K_STR)  ? 49 + (int64_t)AS(str, a[0])->length
	               : a[0].tag == PY_OBJECT ? 48 + 0 * rp_truth(vm, val_none())
	                                       : 28);
}

NATIVE(sys_exc_info)
{
	struct list *t = tuple_new(vm, 3);
	struct frame *f = vm->frame;

	(void)a, (void)n;
	while (f && is_missing(f->handled))
		f = f->caller;
	t->at[0] = f ? ref_obj(f->handled.as.o->cls) : val_none();
	t->at[1] = f ? ref(f->handled) : val_none();
	t->at[2] = val_none();
	return val_obj(t);
}

NATIVE(sys_limit)
{
	(void)vm, (void)a, (void)n;
	return val_int(PY_RECURSION_LIMIT);
}

NATIVE(stream_write)
{
	(void)n;
	if (!is_kind(a[1], K_STR))
		return val_int(0);
	if (vm->out.length < vm->out_cap && !is_null(a[0]) && is_kind(a[0], K_INSTANCE) &&
	    a[0].as.o->attrs &&
	    !is_null(dict_get_str(vm, a[0].as.o->attrs, str_intern(vm, "$stdout", 7))))
		text_add(&vm->out, chars_of(a[1]), AS(str, a[1])->length);
	return val_int(AS(str, a[1])->chars);
}

NATIVE(stream_isatty)
{
	(void)vm, (void)a, (void)n;
	return val_bool(false);
}

static const struct native_def stream_methods[] = {
        {"write", stream_write, "self text"},
        {"flush", gc_nothing, "self"},
        {"isatty", stream_isatty, "self"},
        {"fileno", sys_limit, "self"},
        {0},
};

static const struct native_def sys_functions[] = {
        {"exit", sys_exit, "? code"},
        {"getrefcount", sys_getrefcount, "obj"},
        {"getsizeof", sys_getsizeof, "obj ? default"},
        {"exc_info", sys_exc_info, ""},
        {"getrecursionlimit", sys_limit, ""},
        {"setrecursionlimit", gc_nothing, "n"},
        {"intern", gc_nothing, "s"},
        {0},
};

static void sys_init(struct vm *vm, struct module *m)
{
	struct dict *ns = dict_new(vm);
	struct cls *object = vm->t[TY_object];
	struct cls *stream = cls_new(vm, str_intern(vm, "TextIOWrapper", 13), &object, 1, ns);
	static const char *const names[] = {"stdout", "stderr", "stdin"};
	struct list *argv = list_new(vm, 1), *version = tuple_new(vm, 3);

	unref_obj(vm, ns);
	stream->flags |= CLS_HEAP;
	type_add(vm, stream, stream_methods);
	for (int i = 0; i < 3; i++) {
		struct obj *o = rp_new(vm, K_INSTANCE, stream, sizeof(*o));

		if (i == 0)
			dict_put_str(vm, attrs_of(vm, o), str_intern(vm, "$stdout", 7), val_none());
		module_set(vm, m, names[i], val_obj(o));
	}
	unref_obj(vm, stream);
	list_push(vm, argv, val_str(vm, "main.py"));
	module_set(vm, m, "argv", val_obj(argv));
	module_set(vm, m, "maxsize", val_int(INT64_MAX));
	module_set(vm, m, "platform", val_str(vm, "linux"));
	module_set(vm, m, "version", val_str(vm, "3.11.7"));
	module_set(vm, m, "executable", val_str(vm, "python3"));
	version->at[0] = val_int(3);
	version->at[1] = val_int(11);
	version->at[2] = val_int(7);
	module_set(vm, m, "version_info", val_obj(version));
	module_set(vm, m, "path", val_obj(list_new(vm, 0)));
	module_set(vm, m, "modules", ref_obj(vm->modules));
}

const struct native_module sys_module = {"sys", sys_functions, sys_init, NULL};

/* --- weakref */

NATIVE(weakref_new)
{
	(void)n;
	if (a[1].tag != PY_OBJECT || a[1].as.o->kind == K_LONG || a[1].as.o->kind == K_STR ||
	    ((a[1].as.o->kind == K_LIST || a[1].as.o->kind == K_DICT ||
	      a[1].as.o->kind == K_TUPLE) &&
	     !(a[1].as.o->cls->flags & CLS_HEAP)))
		return rp_raise(vm, TY_TypeError, "cannot create weak reference to '%s' object",
		                type_name(vm, a[1]));
	return rp_weakref(vm, a[1].as.o, a[2]);
}

NATIVE(weakref_call)
{
	struct obj *target = AS(weakref, a[0])->target;

	(void)n;
	if (target && (target->flags & OBJ_PRESERVED) && vm->kinds[target->kind].keep)
		vm->kinds[target->kind].keep(vm, NULL); /* lets go what is gone */
	target = AS(weakref, a[0])->target;
	if (!target || (target->flags & OBJ_DEAD))
		return val_none();
	return ref_obj(target);
}

static const struct native_def weakref_methods[] = {
        {"__new__", weakref_new, "cls obj ? callback"},
        {"__call__", weakref_call, "self"},
        {0},
};

static void weakref_init(struct vm *vm, struct module *m)
{
	type_add(vm, vm->t[TY_weakref], weakref_methods);
	module_set(vm, m, "ref", ref_obj(vm->t[TY_weakref]));
	module_set(vm, m, "ReferenceType", ref_obj(vm->t[TY_weakref]));
}

const struct native_module weakref_module = {"weakref", NULL, weakref_init, NULL};
