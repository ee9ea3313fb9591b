#include <string.h>

#include "analyzer/replay/py_step.h"

static struct val build_slice(struct vm *vm, struct frame *f, const struct code_inst *in)
{
	struct slice *s = rp_new(vm, K_SLICE, vm->t[TY_slice], sizeof(*s));

	s->start = in->nargs > 0 ? reg_out(f, in, 0) : val_none();
	s->stop = in->nargs > 1 ? reg_out(f, in, 1) : val_none();
	s->step = in->nargs > 2 ? reg_out(f, in, 2) : val_none();
	return val_obj(s);
}

static struct val build_string(struct vm *vm, struct frame *f, const struct code_inst *in)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result;
	bool ok = true;

	for (uint32_t i = 0; i < in->nargs; i++) {
		struct val part = reg_out(f, in, i);

		ok = ok && str_into(vm, part, &text);
		unref(vm, part);
	}
	result = ok ? val_text(vm, &text) : val_null();
	arena_release(&scratch);
	return result;
}

static struct val build_dict(struct vm *vm, struct frame *f, const struct code_inst *in)
{
	struct dict *d = dict_new(vm);
	bool ok = true;

	for (uint32_t i = 0; i < in->nargs; i++) {
		struct val key = reg_out(f, in, i), value;

		if (in->args[i].star == ARG_DOUBLE_STAR) {
			ok = ok && dict_update(vm, d, key);
			unref(vm, key);
			continue;
		}
		value = i + 1 < in->nargs ? reg_out(f, in, ++i) : val_none();
		ok = ok && dict_put(vm, d, key, value);
		unref(vm, key);
		unref(vm, value);
	}
	if (ok)
		return val_obj(d);
	unref_obj(vm, d);
	return val_null();
}

static struct val build_set(struct vm *vm, struct list *items)
{
	struct dict *set = set_new(vm, false);

	for (uint32_t i = 0; i < items->count; i++) {
		if (!dict_put(vm, set, items->at[i], val_none())) {
			unref_obj(vm, set);
			return val_null();
		}
	}
	return val_obj(set);
}

static struct val build_items(struct vm *vm, struct frame *f, const struct code_inst *in)
{
	struct list *list = list_new(vm, in->nargs);
	bool ok = true;
	struct val result;

	for (uint32_t i = 0; i < in->nargs; i++) {
		struct val v = reg_out(f, in, i);

		if (in->args[i].star == ARG_STAR) {
			ok = ok && list_extend(vm, list, v);
			unref(vm, v);
		} else {
			list_push(vm, list, v);
		}
	}
	if (!ok) {
		unref_obj(vm, list);
		return val_null();
	}
	if (in->sub == SUB_build_list)
		return val_obj(list);
	result = in->sub == SUB_build_tuple ? tuple_of(vm, list->at, list->count)
	                                    : build_set(vm, list);
	unref_obj(vm, list);
	return result;
}

enum step step_build(struct run *run, struct frame *f, const struct code_inst *in)
{
	switch ((int)in->sub) {
	case SUB_build_slice:
		return reg_put(f, in, build_slice(run->vm, f, in));
	case SUB_build_string:
		return reg_put(f, in, build_string(run->vm, f, in));
	case SUB_build_dict:
		return reg_put(f, in, build_dict(run->vm, f, in));
	default:
		return reg_put(f, in, build_items(run->vm, f, in));
	}
}

enum step step_format(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val v = reg_out(f, in, 0), result;
	struct val spec = in->nargs > 1 ? reg_out(f, in, 1) : val_null();

	if (in->sub == SUB_format_str)
		slot_set(vm, &v, rp_str(vm, v));
	else if (in->sub == SUB_format_repr)
		slot_set(vm, &v, rp_repr(vm, v));
	else if (in->sub == SUB_format_ascii)
		slot_set(vm, &v, library_call(vm, "builtins", "ascii", &v, 1));
	if (is_null(v))
		result = v;
	else if (is_kind(spec, K_STR))
		result = rp_format(vm, v, AS(str, spec)->at, AS(str, spec)->length);
	else
		result = rp_format(vm, v, "", 0);
	unref(vm, v);
	unref(vm, spec);
	return reg_put(f, in, result);
}

static uint32_t before_of(uint32_t packed)
{
	return packed & 0x7fff;
}

static uint32_t after_of(uint32_t packed)
{
	return packed >> 15 & 0x7fff;
}

static bool has_star(uint32_t packed)
{
	return packed >> 30 & 1;
}

/* As many stand-ins as are asked for. */
static struct val unpack_unknown(struct vm *vm, struct unknown *u, uint32_t count)
{
	struct list *tuple = tuple_new(vm, count);

	for (uint32_t i = 0; i < count; i++)
		tuple->at[i] = unknown_item(vm, u, val_int(i));
	return val_obj(tuple);
}

static struct val unpack_star(struct vm *vm, struct list *all, uint32_t before, uint32_t after)
{
	struct list *tuple = tuple_new(vm, before + after + 1), *rest;
	uint32_t middle = all->count - before - after;

	rest = list_new(vm, middle);
	for (uint32_t i = 0; i < before; i++)
		tuple->at[i] = ref(all->at[i]);
	for (uint32_t i = 0; i < middle; i++)
		list_push(vm, rest, ref(all->at[before + i]));
	tuple->at[before] = val_obj(rest);
	for (uint32_t i = 0; i < after; i++)
		tuple->at[before + 1 + i] = ref(all->at[before + middle + i]);
	return val_obj(tuple);
}

/* A count that does not fit is noticed after one element too many, as CPython
 * does: the iterator may be endless. */
static struct list *unpack_take(struct vm *vm, struct val v, uint32_t most)
{
	struct val it = rp_iter(vm, v), item;
	struct list *list;

	if (is_null(it)) {
		if (exc_is(vm, TY_TypeError)) {
			exc_clear(vm);
			rp_raise(vm, TY_TypeError, "cannot unpack non-iterable %s object",
			         type_name(vm, v));
		}
		return NULL;
	}
	list = list_new(vm, 4);
	while (list->count < most && !is_null(item = rp_next(vm, it)))
		list_push(vm, list, item);
	unref(vm, it);
	if (is_null(vm->exc) && !vm->halt)
		return list;
	unref_obj(vm, list);
	return NULL;
}

static bool has_unknown(const struct list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (is_kind(list->at[i], K_UNKNOWN))
			return true;
	return false;
}

/* As many as are asked for of what there is, some of which is not known. */
static struct val unpack_some(struct vm *vm, struct list *list, uint32_t count)
{
	struct list *tuple = tuple_new(vm, count);

	for (uint32_t i = 0; i < count; i++)
		tuple->at[i] =
		        i < list->count ? ref(list->at[i]) : unknown_new(vm, "element %u", i);
	return val_obj(tuple);
}

static struct val unpack(struct vm *vm, struct val v, uint32_t packed)
{
	uint32_t before = before_of(packed), after = after_of(packed);
	bool star = has_star(packed);
	struct list *list;
	struct val result;

	if (is_kind(v, K_UNKNOWN))
		return unpack_unknown(vm, AS(unknown, v), before + after + star);
	if (!star && is_kind(v, K_TUPLE) && AS(list, v)->count == before)
		return ref(v);
	list = unpack_take(vm, v, star ? UINT32_MAX : before + 1);
	if (!list)
		return val_null();
	if ((star ? list->count < before + after : list->count != before) && has_unknown(list))
		result = unpack_some(vm, list, before + after + star);
	else if (list->count < before + after)
		result =
		        rp_raise(vm, TY_ValueError,
		                 star ? "not enough values to unpack (expected at least %u, got %u)"
		                      : "not enough values to unpack (expected %u, got %u)",
		                 before + after, list->count);
	else if (star)
		result = unpack_star(vm, list, before, after);
	else if (list->count > before)
		result = rp_raise(vm, TY_ValueError, "too many values to unpack (expected %u)",
		                  before);
	else
		result = tuple_of(vm, list->at, list->count);
	unref_obj(vm, list);
	return result;
}

enum step step_unpack(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val v = reg_out(f, in, 0), result = unpack(run->vm, v, in->name);

	unref(run->vm, v);
	return reg_put(f, in, result);
}

enum step step_collect(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val *box = slot_place(f, in->name), key = reg_out(f, in, 0), value;
	bool ok = true;

	if (is_kind(*box, K_LIST)) {
		list_push(run->vm, AS(list, *box), key);
		return STEP_NEXT;
	}
	value = in->nargs > 1 ? reg_out(f, in, 1) : val_none();
	if (is_kind(*box, K_DICT) || is_kind(*box, K_SET))
		ok = dict_put(run->vm, AS(dict, *box), key, value);
	unref(run->vm, key);
	unref(run->vm, value);
	return ok ? STEP_NEXT : STEP_RAISE;
}

/* --- match statements */

static int match_sequence(struct val v, uint32_t packed)
{
	uint32_t least = before_of(packed) + after_of(packed);

	if (!is_kind(v, K_LIST) && !is_kind(v, K_TUPLE))
		return 0;
	return has_star(packed) ? AS(list, v)->count >= least : AS(list, v)->count == least;
}

static int match_mapping(struct vm *vm, struct val v, struct val *keys, uint32_t n)
{
	if (!is_kind(v, K_DICT))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (is_null(dict_get(vm, AS(dict, v), keys[i])))
			return is_null(vm->exc) ? 0 : -1;
	return 1;
}

static struct val match_rest(struct vm *vm, struct val v, struct val *keys, uint32_t n)
{
	struct dict *rest = is_kind(v, K_DICT) ? dict_copy(vm, AS(dict, v)) : dict_new(vm);

	for (uint32_t i = 0; i < n; i++)
		dict_remove(vm, rest, keys[i], NULL);
	return val_obj(rest);
}

/* value of the class's __match_args__[i]; the subject itself for int, str, ... */
static struct val match_position(struct vm *vm, struct val v, struct val cls, uint32_t i)
{
	struct val names = rp_attr_find(vm, cls, vm->n[PN_match_args]), name, result;

	if (is_null(names))
		return is_null(vm->exc) ? ref(v) : val_null();
	name = rp_item(vm, names, val_int(i));
	unref(vm, names);
	if (!is_kind(name, K_STR))
		return is_null(vm->exc) ? ref(v) : val_null();
	result = rp_attr(vm, v, str_intern(vm, chars_of(name), AS(str, name)->length));
	unref(vm, name);
	return result;
}

static int match_class(struct vm *vm, struct val v, struct val cls, uint32_t count)
{
	int yes = rp_isinstance(vm, v, cls);
	struct val names;
	int64_t have;

	if (yes <= 0 || count <= 1)
		return yes;
	names = rp_attr_find(vm, cls, vm->n[PN_match_args]);
	have = is_null(names) ? 0 : rp_length(vm, names);
	unref(vm, names);
	return is_null(vm->exc) ? have >= count : -1;
}

static struct val match_value(struct vm *vm, const struct code_inst *in, struct list *all)
{
	int yes = 0;
	struct val found;

	switch ((int)in->sub) {
	case SUB_match_sequence:
		yes = match_sequence(all->at[0], in->name);
		break;
	case SUB_match_mapping:
		yes = match_mapping(vm, all->at[0], all->at + 1, all->count - 1);
		break;
	case SUB_match_class:
		yes = all->count > 1 ? match_class(vm, all->at[0], all->at[1], in->name) : 0;
		break;
	case SUB_match_attribute:
		found = rp_attr_find(vm, all->at[0], in->str);
		yes = !is_null(found);
		unref(vm, found);
		break;
	case SUB_match_position:
		return match_position(vm, all->at[0], all->at[1], in->name);
	default:
		return match_rest(vm, all->at[0], all->at + 1, all->count - 1);
	}
	return yes < 0 || !is_null(vm->exc) ? val_null() : val_bool(yes);
}

enum step step_match(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct list *all = list_new(run->vm, in->nargs);
	struct val result;

	for (uint32_t i = 0; i < in->nargs; i++)
		list_push(run->vm, all, reg_out(f, in, i));
	result = match_value(run->vm, in, all);
	unref_obj(run->vm, all);
	return reg_put(f, in, result);
}
