#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

static void count_more(struct vm *vm, size_t bytes)
{
	vm->bytes += bytes;
	if (vm->bytes > vm->limits.bytes)
		vm_halt(vm, VM_HALT_BYTES, "budget of bytes used up");
}

/* Counted against the budget of bytes; sizes may be 0. */
void *rp_mem(struct vm *vm, void *old, size_t old_size, size_t new_size)
{
	if (new_size > old_size)
		count_more(vm, new_size - old_size);
	else
		vm->bytes -= old_size - new_size;
	return slab_resize(&vm->memory, old, old_size, new_size);
}

static bool is_container(enum rp_kind kind)
{
	return kind != K_LONG && kind != K_STR && kind != K_BYTES && kind != K_RANGE &&
	       kind != K_DTYPE && kind != K_DEVICE && kind != K_ARRAY && kind != K_WEAKREF &&
	       kind != K_UNKNOWN && kind != K_STORAGE && kind != K_NATIVE && kind != K_SLICE;
}

static size_t object_size(const struct vm *vm, const struct obj *o)
{
	static const size_t sizes[K_COUNT] = {
	        [K_INSTANCE] = sizeof(struct obj),
	        [K_LIST] = sizeof(struct list),
	        [K_TUPLE] = sizeof(struct list),
	        [K_DICT] = sizeof(struct dict),
	        [K_SET] = sizeof(struct dict),
	        [K_DEQUE] = sizeof(struct deque),
	        [K_SLICE] = sizeof(struct slice),
	        [K_RANGE] = sizeof(struct range),
	        [K_FUNCTION] = sizeof(struct function),
	        [K_NATIVE] = sizeof(struct native),
	        [K_METHOD] = sizeof(struct method),
	        [K_CELL] = sizeof(struct cell),
	        [K_CLASS] = sizeof(struct cls),
	        [K_MODULE] = sizeof(struct module),
	        [K_GENERATOR] = sizeof(struct generator),
	        [K_ITER] = sizeof(struct iter),
	        [K_DESCRIPTOR] = sizeof(struct descriptor),
	        [K_SUPER] = sizeof(struct super),
	        [K_FRAME] = sizeof(struct frame),
	        [K_WEAKREF] = sizeof(struct weakref),
	        [K_VIEW] = sizeof(struct view),
	        [K_UNKNOWN] = sizeof(struct unknown),
	};

	switch ((enum rp_kind)o->kind) {
	case K_STR:
	case K_BYTES:
		return sizeof(struct str) + ((const struct str *)(const void *)o)->length + 1;
	case K_LONG:
		return sizeof(struct big) +
		       ((const struct big *)(const void *)o)->room * sizeof(uint32_t);
	default:
		return sizes[o->kind] ? sizes[o->kind] : vm->kinds[o->kind].size;
	}
}

void *rp_new(struct vm *vm, enum rp_kind kind, struct cls *cls, size_t size)
{
	struct obj *o = slab_take(&vm->memory, size);

	count_more(vm, size);
	memset(o, 0, size);
	o->refs = 1;
	o->kind = (uint8_t)kind;
	o->flags = is_container(kind) ? OBJ_GC : 0;
	o->cls = cls;
	if (cls && (cls->flags & CLS_HEAP))
		cls->h.refs++;
	o->prev = vm->first.prev;
	o->next = &vm->first;
	o->prev->next = o;
	vm->first.prev = o;
	return o;
}

/* --- what each kind holds */

#define VISIT(v, role)                                                                             \
	do {                                                                                       \
		if ((v).tag == PY_OBJECT && !fn(walk, (v), (role), val_null()))                    \
			return false;                                                              \
	} while (0)
#define VISIT_OBJ(o, role)                                                                         \
	do {                                                                                       \
		if ((o) && !fn(walk, val_obj(o), (role), val_null()))                              \
			return false;                                                              \
	} while (0)

static bool visit_dict(struct dict *d, visit_fn *fn, void *walk)
{
	for (uint32_t i = 0; i < d->used; i++) {
		if (is_null(d->at[i].key))
			continue;
		if (d->at[i].key.tag == PY_OBJECT && !fn(walk, d->at[i].key, "key", val_null()))
			return false;
		if (d->at[i].value.tag == PY_OBJECT &&
		    !fn(walk, d->at[i].value, "item", d->at[i].key))
			return false;
	}
	return true;
}

bool code_visit_function(struct function *f, visit_fn *fn, void *walk);
bool code_visit_frame(struct frame *f, visit_fn *fn, void *walk);
void code_release_function(struct vm *vm, struct function *f);
void code_release_frame(struct vm *vm, struct frame *f);

static bool visit_function(struct function *f, visit_fn *fn, void *walk)
{
	VISIT_OBJ(f->module, "globals");
	return code_visit_function(f, fn, walk);
}

static bool visit_class(struct cls *c, visit_fn *fn, void *walk)
{
	VISIT_OBJ(c->bases, "bases");
	VISIT_OBJ(c->ns, "namespace");
	for (uint32_t i = 1; i < c->mro_count; i++)
		VISIT_OBJ(c->mro[i], "base");
	return true;
}

static bool visit_iter(struct iter *it, visit_fn *fn, void *walk)
{
	VISIT(it->a, "iterates");
	VISIT(it->cached, "item");
	for (uint32_t i = 0; i < it->count; i++)
		VISIT(it->inner[i], "iterates");
	return true;
}

static bool visit_many(struct val *at, uint32_t count, visit_fn *fn, void *walk)
{
	for (uint32_t i = 0; i < count; i++)
		if (at[i].tag == PY_OBJECT && !fn(walk, at[i], "item", val_int(i)))
			return false;
	return true;
}

static bool visit_deque(struct deque *d, visit_fn *fn, void *walk)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (deque_at(d, i)->tag == PY_OBJECT &&
		    !fn(walk, *deque_at(d, i), "item", val_int(i)))
			return false;
	return true;
}

static bool visit_payload(struct vm *vm, struct obj *o, visit_fn *fn, void *walk)
{
	struct val v = val_obj(o);

	switch ((enum rp_kind)o->kind) {
	case K_LIST:
	case K_TUPLE:
		return visit_many(AS(list, v)->at, AS(list, v)->count, fn, walk);
	case K_DICT:
	case K_SET:
		return visit_dict(AS(dict, v), fn, walk);
	case K_DEQUE:
		return visit_deque(AS(deque, v), fn, walk);
	case K_FUNCTION:
		return visit_function(AS(function, v), fn, walk);
	case K_METHOD:
		VISIT(AS(method, v)->fn, "function");
		VISIT(AS(method, v)->self, "self");
		return true;
	case K_NATIVE:
		VISIT(AS(native, v)->bound, "bound");
		return true;
	case K_CELL:
		VISIT(AS(cell, v)->value, "cell");
		return true;
	case K_CLASS:
		return visit_class(AS(cls, v), fn, walk);
	case K_MODULE:
		VISIT_OBJ(AS(module, v)->ns, "namespace");
		return true;
	case K_GENERATOR:
		VISIT_OBJ(AS(generator, v)->frame, "frame");
		VISIT(AS(generator, v)->delegate, "yield from");
		return true;
	case K_ITER:
		return visit_iter(AS(iter, v), fn, walk);
	case K_DESCRIPTOR:
		VISIT(AS(descriptor, v)->get, "get");
		VISIT(AS(descriptor, v)->set, "set");
		VISIT(AS(descriptor, v)->del, "del");
		return true;
	case K_SUPER:
		VISIT(AS(super, v)->self, "self");
		return true;
	case K_SLICE:
		VISIT(AS(slice, v)->start, "start");
		VISIT(AS(slice, v)->stop, "stop");
		VISIT(AS(slice, v)->step, "step");
		return true;
	case K_VIEW:
		VISIT_OBJ(AS(view, v)->dict, "dict");
		return true;
	case K_UNKNOWN:
		VISIT(AS(unknown, v)->same, "is");
		VISIT(AS(unknown, v)->base, "of");
		VISIT(AS(unknown, v)->graph, "graph");
		return true;
	case K_FRAME:
		return code_visit_frame(AS(frame, v), fn, walk);
	default:
		return !vm->kinds[o->kind].visit || vm->kinds[o->kind].visit(o, fn, walk);
	}
}

bool rp_visit(struct vm *vm, struct obj *o, visit_fn *fn, void *walk)
{
	if (o->cls && (o->cls->flags & CLS_HEAP) && !fn(walk, val_obj(o->cls), "class", val_null()))
		return false;
	if (o->attrs && !fn(walk, val_obj(o->attrs), "attributes", val_null()))
		return false;
	return visit_payload(vm, o, fn, walk);
}

/* --- release */

static void release_many(struct vm *vm, struct val *at, uint32_t count, uint32_t capacity)
{
	for (uint32_t i = 0; i < count; i++)
		unref(vm, at[i]);
	rp_mem(vm, at, capacity * sizeof(*at), 0);
}

static void release_class(struct vm *vm, struct cls *c)
{
	for (uint32_t i = 1; i < c->mro_count; i++)
		unref_obj(vm, c->mro[i]);
	rp_mem(vm, c->mro, c->mro_count * sizeof(struct cls *), 0);
	unref_obj(vm, c->bases);
	unref_obj(vm, c->ns);
	unref_obj(vm, c->name);
	unref_obj(vm, c->qualified);
	unref_obj(vm, c->module);
}

static void release_iter(struct vm *vm, struct iter *it)
{
	unref(vm, it->a);
	unref(vm, it->cached);
	release_many(vm, it->inner, it->count, it->count);
}

static void release_generator(struct vm *vm, struct generator *g)
{
	struct frame *frame = g->frame;

	unref(vm, g->delegate);
	unref(vm, g->result);
	if (frame)
		frame->generator = NULL;
	unref_obj(vm, frame);
}

static void release_simple(struct vm *vm, struct val v)
{
	switch ((enum rp_kind)v.as.o->kind) {
	case K_METHOD:
		unref(vm, AS(method, v)->fn);
		unref(vm, AS(method, v)->self);
		break;
	case K_NATIVE:
		unref_obj(vm, AS(native, v)->name);
		unref(vm, AS(native, v)->bound);
		break;
	case K_CELL:
		unref(vm, AS(cell, v)->value);
		break;
	case K_MODULE:
		unref_obj(vm, AS(module, v)->name);
		unref_obj(vm, AS(module, v)->ns);
		break;
	case K_DESCRIPTOR:
		unref(vm, AS(descriptor, v)->get);
		unref(vm, AS(descriptor, v)->set);
		unref(vm, AS(descriptor, v)->del);
		unref(vm, AS(descriptor, v)->doc);
		break;
	case K_SUPER:
		unref(vm, AS(super, v)->self);
		break;
	case K_SLICE:
		unref(vm, AS(slice, v)->start);
		unref(vm, AS(slice, v)->stop);
		unref(vm, AS(slice, v)->step);
		break;
	case K_VIEW:
		unref_obj(vm, AS(view, v)->dict);
		break;
	case K_UNKNOWN:
		unref_obj(vm, AS(unknown, v)->what);
		unref(vm, AS(unknown, v)->same);
		unref(vm, AS(unknown, v)->base);
		unref(vm, AS(unknown, v)->graph);
		break;
	default:
		break;
	}
}

static void release_payload(struct vm *vm, struct obj *o)
{
	struct val v = val_obj(o);

	switch ((enum rp_kind)o->kind) {
	case K_LIST:
	case K_TUPLE:
		release_many(vm, AS(list, v)->at, AS(list, v)->count, AS(list, v)->capacity);
		break;
	case K_DICT:
	case K_SET:
		dict_clear(vm, AS(dict, v));
		break;
	case K_DEQUE: {
		struct deque *d = AS(deque, v);

		while (d->count)
			unref(vm, deque_pop(vm, d, true));
		rp_mem(vm, d->at, d->capacity * sizeof(*d->at), 0);
		break;
	}
	case K_FUNCTION:
		code_release_function(vm, AS(function, v));
		break;
	case K_CLASS:
		release_class(vm, AS(cls, v));
		break;
	case K_GENERATOR:
		release_generator(vm, AS(generator, v));
		break;
	case K_ITER:
		release_iter(vm, AS(iter, v));
		break;
	case K_FRAME:
		code_release_frame(vm, AS(frame, v));
		break;
	case K_WEAKREF:
		weak_forget(vm, AS(weakref, v));
		unref(vm, AS(weakref, v)->callback);
		break;
	default:
		release_simple(vm, v);
		if (vm->kinds[o->kind].release && !vm->at_close)
			vm->kinds[o->kind].release(vm, o);
	}
}

/* __del__ may bring the object back to life; true when it did. */
static bool finalize(struct vm *vm, struct obj *o)
{
	struct val del, saved, result;

	if (!o->cls || !(o->cls->flags & CLS_HAS_DEL) || (o->flags & OBJ_FINALIZED) || vm->at_close)
		return false;
	o->flags |= OBJ_FINALIZED;
	o->refs++;
	saved = vm->exc;
	vm->exc = val_null();
	del = special_find(vm, val_obj(o), PN_del);
	result = is_null(del) ? val_none() : rp_call0(vm, del);
	unref(vm, del);
	unref(vm, result);
	exc_clear(vm);
	vm->exc = saved;
	return --o->refs > 0;
}

static void release_now(struct vm *vm, struct obj *o)
{
	struct cls *cls = o->cls;
	size_t size;

	if (finalize(vm, o))
		return;
	if (o->kind == K_GENERATOR && !vm->at_close) {
		o->refs = 1;
		generator_close(vm, (struct generator *)(void *)o);
		if (--o->refs > 0)
			return;
	}
	if (vm->kinds[o->kind].keep && vm->kinds[o->kind].keep(vm, o))
		return;
	o->flags |= OBJ_DEAD;
	if (o->flags & OBJ_WEAK)
		weak_notify(vm, o);
	o->prev->next = o->next;
	o->next->prev = o->prev;
	size = object_size(vm, o);
	release_payload(vm, o);
	unref_obj(vm, o->attrs);
	vm->bytes -= size;
	slab_give(&vm->memory, o, size);
	if (cls && (cls->flags & CLS_HEAP))
		unref_obj(vm, cls);
}

/* Long chains are released in a loop, not in recursion. */
void rp_release(struct vm *vm, struct obj *o)
{
	if (vm->at_close)
		return; /* the memory goes with that of all */
	if (vm->releasing >= PY_RELEASE_DEPTH) {
		/* `prev` of an object on the pending list is unused by the ring walk
		 * that follows, so it is unlinked first. */
		o->prev->next = o->next;
		o->next->prev = o->prev;
		o->next = vm->pending;
		vm->pending = o;
		return;
	}
	vm->releasing++;
	release_now(vm, o);
	vm->releasing--;
	while (vm->pending && vm->releasing == 0) {
		o = vm->pending;
		vm->pending = o->next;
		o->prev = vm->first.prev;
		o->next = &vm->first;
		o->prev->next = o;
		vm->first.prev = o;
		vm->releasing++;
		release_now(vm, o);
		vm->releasing--;
	}
}

void rp_clear(struct vm *vm, struct obj *o)
{
	struct val v = val_obj(o);
	struct dict *attrs = o->attrs;

	switch ((enum rp_kind)o->kind) {
	case K_LIST: {
		struct list *l = AS(list, v);
		list_remove(vm, l, 0, l->count);
		break;
	}
	case K_DICT:
	case K_SET:
		dict_clear(vm, AS(dict, v));
		break;
	case K_CELL:
		slot_set(vm, &AS(cell, v)->value, val_null());
		break;
	case K_DEQUE:
		while (AS(deque, v)->count)
			unref(vm, deque_pop(vm, AS(deque, v), true));
		break;
	case K_FRAME:
		frame_drop_slots(vm, AS(frame, v));
		break;
	default:
		break;
	}
	o->attrs = NULL;
	unref_obj(vm, attrs);
}

/* --- the cycle collector: what only cycles keep is cleared */

struct collect {
	struct vm *vm;
	struct obj **stack;
	uint32_t count, capacity;
};

static bool subtract_one(void *walk, struct val child, const char *role, struct val key)
{
	(void)walk, (void)role, (void)key;
	child.as.o->busy--; /* counts modulo 2^16 are enough to see a difference */
	return true;
}

static void collect_push(struct collect *c, struct obj *o)
{
	if (o->flags & OBJ_REACHED)
		return;
	o->flags |= OBJ_REACHED;
	if (c->count == c->capacity) {
		c->capacity = c->capacity ? c->capacity * 2 : 256;
		c->stack = checked_realloc(c->stack, c->capacity, sizeof(struct obj *));
	}
	c->stack[c->count++] = o;
}

static bool reach_one(void *walk, struct val child, const char *role, struct val key)
{
	(void)role, (void)key;
	collect_push(walk, child.as.o);
	return true;
}

static void collect_mark(struct collect *c)
{
	struct vm *vm = c->vm;
	struct obj *o;

	for (o = vm->first.next; o != &vm->first; o = o->next) {
		o->busy = (uint16_t)o->refs;
		o->flags &= (uint8_t)~OBJ_REACHED;
	}
	for (o = vm->first.next; o != &vm->first; o = o->next)
		rp_visit(vm, o, subtract_one, NULL);
	for (o = vm->first.next; o != &vm->first; o = o->next)
		if (o->busy || (o->flags & OBJ_PRESERVED))
			collect_push(c, o);
	while (c->count) {
		o = c->stack[--c->count];
		rp_visit(vm, o, reach_one, c);
	}
}

int64_t rp_collect(struct vm *vm)
{
	struct collect c = {.vm = vm};
	struct obj **dead = NULL, *o;
	uint32_t count = 0, capacity = 0;
	int64_t found = 0;

	collect_mark(&c);
	free(c.stack);
	for (o = vm->first.next; o != &vm->first; o = o->next) {
		bool reached = o->flags & OBJ_REACHED;

		o->busy = 0;
		o->flags &= (uint8_t)~OBJ_REACHED;
		if (reached || o->refs == 0)
			continue;
		if (count == capacity) {
			capacity = capacity ? capacity * 2 : 64;
			dead = checked_realloc(dead, capacity, sizeof(*dead));
		}
		o->refs++;
		dead[count++] = o;
		found += (o->flags & OBJ_GC) && o->kind != K_MODULE;
	}
	for (uint32_t i = 0; i < count; i++)
		finalize(vm, dead[i]);
	for (uint32_t i = 0; i < count; i++)
		rp_clear(vm, dead[i]);
	for (uint32_t i = 0; i < count; i++)
		unref_obj(vm, dead[i]);
	free(dead);
	return found;
}
