/* Lists, tuples, sets, dicts: elements by constant key where it is known, one
 * summary for the rest. */

#include "analyzer/facts/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

object_id int_object(struct analysis *a, uint32_t number)
{
	char digits[16];
	int length = snprintf(digits, sizeof(digits), "%u", (unsigned)number);

	return const_object(a, SUB_const_int, intern_text(a->names, digits, (size_t)length));
}

bool index_of(const struct analysis *a, value_id value, uint32_t *index)
{
	object_id id = value_single(a, value);
	const struct def *def = def_of(a, id);
	const char *text;
	char *end;
	unsigned long number;

	if (id.n == 0 || def->kind != OBJECT_CONST || def->sub != SUB_const_int)
		return false;
	text = intern_chars(a->names, def->name, NULL);
	number = strtoul(text, &end, 0);
	*index = (uint32_t)number;
	return *text != '-' && *end == 0 && number < FACTS_MAX_FIELDS;
}

static bool negative_index(const struct analysis *a, value_id value, uint32_t *back)
{
	object_id id = value_single(a, value);
	const struct def *def = def_of(a, id);
	const char *text;

	if (id.n == 0 || def->kind != OBJECT_CONST || def->sub != SUB_const_int)
		return false;
	text = intern_chars(a->names, def->name, NULL);
	*back = (uint32_t)strtoul(text + 1, NULL, 10);
	return *text == '-' && *back > 0;
}

static bool is_slice(const struct analysis *a, value_id index)
{
	return value_get(a, index)->flags & V_CLEAN;
}

static value_id sequence_item(struct analysis *a, const struct object *object, value_id index)
{
	uint32_t number;
	value_id item = {0};

	if (index_of(a, index, &number))
		item = field_get(object, number);
	else if (negative_index(a, index, &number) && object->elements.n == 0 &&
	         number <= object->field_count)
		item = object->fields[object->field_count - number].value;
	return item.n ? value_join(a, value_without(a, item, V_UNBOUND), object->elements)
	              : contents_of(a, object);
}

/* `x[:]` takes all of it. */
static bool takes_all(const struct activation *act, uint32_t inst)
{
	const struct ir_inst *item = inst_at(act, inst), *slice, *bound;

	if (item->op != OP_load_item)
		return false;
	slice = inst_at(act, ir_args(act->func, item)[1].value.n);
	for (uint32_t i = 0; i < slice->nargs; i++) {
		bound = inst_at(act, ir_args(act->func, slice)[i].value.n);
		if (bound->op != OP_const || bound->sub != SUB_const_none)
			return false;
	}
	return true;
}

static value_id sequence_slice(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t inst, object_id id)
{
	object_id copy = site_object(a, act, inst, 1, OBJECT_LIST);
	value_id contents = contents_of(a, object_read(state, id));

	if (!takes_all(act, inst))
		def_of(a, copy)->cut_from =
		        value_join(a, def_of(a, copy)->cut_from, value_of(a, id));
	elements_join(a, object_renew(a, state, copy), contents);
	return value_of(a, copy);
}

static value_id missing_item(struct analysis *a, struct activation *act, struct state *state,
                             uint32_t inst, object_id dict, value_id index)
{
	value_id factory = object_read(state, dict)->with;
	value_id made;

	if (factory.n == 0)
		return (value_id){0};
	made = call_value(a, act, state, (struct call){inst, 2, NULL, 0}, factory);
	item_set(a, act, state, inst, value_of(a, dict), index, made);
	return made;
}

static value_id dict_item(struct analysis *a, struct activation *act, struct state *state,
                          uint32_t inst, object_id id, value_id index)
{
	const struct value *keys = value_get(a, index);
	const struct object *object = object_read(state, id);
	value_id item = object->elements;
	bool all_known = keys->flags == 0 && keys->count > 0;

	for (uint32_t i = 0; i < keys->count; i++) {
		if (def_of(a, keys->refs[i])->kind != OBJECT_CONST)
			all_known = false;
		else
			item = value_join(a, item,
			                  field_get(object, item_key(a, id, keys->refs[i])));
	}
	if (!all_known)
		item = contents_of(a, object);
	if (item.n == 0 || value_get(a, item)->flags & V_UNBOUND)
		item = value_join(a, item, missing_item(a, act, state, inst, id, index));
	return value_without(a, item, V_UNBOUND);
}

static value_id call_special(struct analysis *a, struct activation *act, struct state *state,
                             uint32_t inst, object_id id, const char *name,
                             const struct argument *at, uint32_t count, bool *found)
{
	value_id method = class_lookup(a, state, object_read(state, id)->of,
	                               intern_text(a->names, name, strlen(name)));
	struct argument all[4] = {{value_of(a, id), {0}}};

	*found = method.n != 0;
	if (!*found)
		return method;
	for (uint32_t i = 0; i < count && i < 3; i++)
		all[i + 1] = at[i];
	return call_value(a, act, state, (struct call){inst, 8, all, count + 1}, method);
}

/* One place of a dimension: numbers, but no tensors, which copy what they select. */
static bool takes_one(struct analysis *a, const struct state *state, value_id index, int depth)
{
	const struct value *v = value_get(a, index);
	bool one = (v->flags & (V_NUMBER | V_CLEAN)) == V_NUMBER;

	for (uint32_t i = 0; i < v->count; i++) {
		const struct def *def = def_of(a, v->refs[i]);

		if (def->kind == OBJECT_TUPLE && depth > 0) {
			const struct object *tuple = object_read(state, v->refs[i]);

			for (uint32_t k = 0; k < tuple->field_count; k++)
				one |= takes_one(a, state, tuple->fields[k].value, depth - 1);
		} else if (def->kind != OBJECT_CONST || def->sub != SUB_const_int) {
			return false;
		} else {
			one = true;
		}
	}
	return one;
}

/* What one row of it is known to have. */
static unsigned row_bits(const struct state *state, object_id id)
{
	const unsigned bits = object_read(state, id)->tensor;

	return (bits & T_DEEP ? T_ROWS : 0U) | (bits & T_GUESSED);
}

/* Of a tensor with one dimension it takes a number, whose storage may be as small. */
static value_id view_of(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, object_id id, value_id index)
{
	const unsigned bits = object_read(state, id)->tensor;
	const bool small = bits & T_ROWS && takes_one(a, state, index, 1);
	object_id view = tensor_make(a, act, state, inst, 0, value_of(a, id),
	                             (small ? T_VIEW : 0) | (bits & (T_SCALAR | T_GUESSED)));
	const value_id base = object_read(state, id)->base;

	object_write(a, state, view)->base = base.n ? base : value_of(a, id);
	return value_of(a, view);
}

static value_id object_item(struct analysis *a, struct activation *act, struct state *state,
                            uint32_t inst, object_id id, value_id index)
{
	const struct argument argument = {index, {0}};
	bool found = false;
	value_id item;

	def_of(a, id)->read = true;
	switch (container_kind(a, state, id)) {
	case OBJECT_TENSOR:
		return view_of(a, act, state, inst, id, index);
	case OBJECT_LIST:
	case OBJECT_TUPLE:
	case OBJECT_DEQUE:
	case OBJECT_ITERATOR:
		if (is_slice(a, index))
			return sequence_slice(a, act, state, inst, id);
		return sequence_item(a, object_read(state, id), index);
	case OBJECT_DICT:
		item = def_of(a, id)->kind == OBJECT_INSTANCE
		               ? call_special(a, act, state, inst, id, "__getitem__", &argument, 1,
		                              &found)
		               : (value_id){0};
		return found ? item : dict_item(a, act, state, inst, id, index);
	case OBJECT_INSTANCE:
		item = call_special(a, act, state, inst, id, "__getitem__", &argument, 1, &found);
		if (found)
			return item;
		item = contents_of(a, object_read(state, id));
		return item.n && external_class(a, state, id)
		               ? object_read(state, id)->elements
		               : unknown_value(a, act, state, inst, 0, value_of(a, id));
	case OBJECT_UNKNOWN:
		return unknown_part(a, act, state, inst, id,
		                    value_single(a, index).n
		                            ? item_key(a, id, value_single(a, index))
		                            : UINT32_MAX,
		                    0);
	default:
		return value_flags(a, V_CLEAN);
	}
}

value_id item_get(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                  value_id object, value_id index)
{
	const struct value *v = value_get(a, object);
	value_id item = v->flags & ~(uint32_t)(V_UNBOUND | V_NONE) ? value_flags(a, V_CLEAN)
	                                                           : (value_id){0};

	for (uint32_t i = 0; i < v->count; i++) {
		const value_id taken = object_item(a, act, state, inst, v->refs[i], index);

		loop_note_item(a, act, state, inst, v->refs[i], index, taken);
		item = value_join(a, item, taken);
	}
	return item;
}

static void dict_item_set(struct analysis *a, struct activation *act, struct state *state,
                          uint32_t inst, object_id id, value_id index, value_id value, bool strong)
{
	const struct value *keys = value_get(a, index);
	struct object *object;

	if (keys->flags == 0 && keys->count > 0 && def_of(a, keys->refs[0])->kind == OBJECT_CONST) {
		object = object_write(a, state, id);
		for (uint32_t i = 0; i < keys->count; i++) {
			const uint32_t key = item_key(a, id, keys->refs[i]);
			value_id before = field_get(object, key);

			check_chain(a, act, state, inst, before, value, id, (struct variable){0});
			if (strong && keys->count == 1)
				field_set(a, object, key, value);
			else
				field_join(a, object, key, value);
		}
		return;
	}
	if (!check_chain(a, act, state, inst, contents_of(a, object_read(state, id)), value, id,
	                 (struct variable){0})) {
		a->replaces |= keys->flags & V_KEY && keys->count == 0;
		check_store(a, act, state, inst, id, value);
	}
	object = object_write(a, state, id);
	elements_join(a, object, value);
}

/* A place that is written again holds one thing at a time. */
static void check_place(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, object_id id, value_id value)
{
	a->overwrites = true;
	check_store(a, act, state, inst, id, value);
	a->overwrites = false;
}

static void sequence_item_set(struct analysis *a, struct activation *act, struct state *state,
                              uint32_t inst, object_id id, value_id index, value_id value,
                              bool strong)
{
	struct object *object = object_write(a, state, id);
	uint32_t number;

	if (index_of(a, index, &number) && object->elements.n == 0) {
		check_chain(a, act, state, inst, field_get(object, number), value, id,
		            (struct variable){0});
		if (strong)
			field_set(a, object, number, value);
		else
			field_join(a, object, number, value);
	} else if (object->elements.n == 0 && object->field_count > 0) {
		check_chain(a, act, state, inst, contents_of(a, object), value, id,
		            (struct variable){0});
		for (uint32_t i = 0; i < object->field_count; i++)
			object->fields[i].value = value_join(a, object->fields[i].value, value);
	} else {
		if (!check_chain(a, act, state, inst, contents_of(a, object), value, id,
		                 (struct variable){0}))
			check_place(a, act, state, inst, id, value);
		elements_join(a, object_write(a, state, id), value);
	}
}

static void object_item_set(struct analysis *a, struct activation *act, struct state *state,
                            uint32_t inst, value_id holders, object_id id, value_id index,
                            value_id value)
{
	switch (container_kind(a, state, id)) {
	case OBJECT_TENSOR:
		apply_binary(a, act, state, inst, SUB_NONE, value_of(a, id), value, true);
		break;
	case OBJECT_LIST:
	case OBJECT_DEQUE:
	case OBJECT_TUPLE:
		sequence_item_set(a, act, state, inst, id, index, value, is_strong(a, holders, id));
		break;
	case OBJECT_DICT:
	case OBJECT_UNKNOWN:
		dict_item_set(a, act, state, inst, id, index, value, is_strong(a, holders, id));
		break;
	default:
		if (object_exists(state, id))
			elements_join(a, object_write(a, state, id), value);
		break;
	}
}

void item_set_plain(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                    value_id object, value_id index, value_id value)
{
	const struct value *v = value_get(a, object);

	for (uint32_t i = 0; i < v->count; i++)
		object_item_set(a, act, state, inst, object, v->refs[i], index, value);
}

/* `d[k] += x` puts back what it has read. */
static bool stores_back(const struct activation *act, uint32_t inst)
{
	const struct ir_inst *store = inst_at(act, inst);

	return store->op == OP_store_item &&
	       inst_at(act, ir_args(act->func, store)[2].value.n)->op == OP_inplace;
}

void item_set(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
              value_id object, value_id index, value_id value)
{
	const struct value *v = value_get(a, object);
	const struct argument arguments[2] = {{index, {0}}, {value, {0}}};
	const bool replaces = stores_back(act, inst);
	bool found;

	for (uint32_t i = 0; i < v->count; i++) {
		found = false;
		a->replaces = replaces;
		if (def_of(a, v->refs[i])->kind == OBJECT_INSTANCE)
			call_special(a, act, state, inst, v->refs[i], "__setitem__", arguments, 2,
			             &found);
		if (!found)
			object_item_set(a, act, state, inst, object, v->refs[i], index, value);
	}
	a->replaces = false;
}

void item_delete(struct analysis *a, const struct activation *act, struct state *state,
                 uint32_t inst, value_id object, value_id index)
{
	object_id id = value_single(a, object);
	object_id key = value_single(a, index);

	const struct value *v = value_get(a, object);

	if (is_slice(a, index)) {
		container_clear(a, act, state, inst, object);
		return;
	}
	for (uint32_t i = 0; i < v->count; i++)
		def_of(a, v->refs[i])->drained = true;
	if (id.n == 0 || !is_strong(a, object, id) || def_of(a, id)->kind != OBJECT_DICT)
		return;
	if (key.n && def_of(a, key)->kind == OBJECT_CONST)
		field_set(a, object_write(a, state, id), key.n, value_flags(a, V_UNBOUND));
}

void container_add(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                   value_id holders, value_id value)
{
	const struct value *v = value_get(a, holders);

	for (uint32_t i = 0; i < v->count; i++) {
		enum object_kind kind = container_kind(a, state, v->refs[i]);

		if (kind == OBJECT_CONST || kind == OBJECT_EXTERNAL || kind == OBJECT_TENSOR)
			continue;
		check_store(a, act, state, inst, v->refs[i], value);
		elements_join(a, object_write(a, state, v->refs[i]), value);
	}
}

static value_id dict_keys(struct analysis *a, object_id id, const struct object *object)
{
	value_id keys = {0};

	for (uint32_t i = 0; i < object->field_count; i++) {
		object_id key = key_constant(a, id, object->fields[i].key);

		if (key.n)
			keys = value_join(a, keys, value_of(a, key));
	}
	if (object->elements.n)
		keys = value_join(a, keys, value_flags(a, V_STRING | V_NUMBER | V_KEY));
	return keys;
}

static value_id instance_iterate(struct analysis *a, struct activation *act, struct state *state,
                                 uint32_t inst, object_id id)
{
	bool found;
	value_id items = call_special(a, act, state, inst, id, "__iter__", NULL, 0, &found);
	const char *class_name;

	if (found && !value_has(a, items, id))
		return iterate(a, act, state, inst, items);
	items = call_special(a, act, state, inst, id, "__next__", NULL, 0, &found);
	if (found)
		return items;
	items = call_special(a, act, state, inst, id, "__getitem__",
	                     &(struct argument){value_flags(a, V_NUMBER), {0}}, 1, &found);
	if (found)
		return items;
	class_name = external_class(a, state, id);
	if (class_name && object_read(state, id)->elements.n)
		return object_read(state, id)->elements;
	return unknown_value(a, act, state, inst, 0, value_of(a, id));
}

static value_id object_iterate(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t inst, object_id id)
{
	uint8_t modes = state->modes;

	def_of(a, id)->read = true;
	switch (container_kind(a, state, id)) {
	case OBJECT_LIST:
	case OBJECT_TUPLE:
	case OBJECT_SET:
	case OBJECT_DEQUE:
	case OBJECT_ITERATOR:
		return contents_of(a, object_read(state, id));
	case OBJECT_DICT:
		return dict_keys(a, id, object_read(state, id));
	case OBJECT_TENSOR:
		return value_of(a, tensor_make(a, act, state, inst, 0, value_of(a, id),
		                               T_VIEW | row_bits(state, id)));
	case OBJECT_GENERATOR:
		return call_generator(a, act, state, inst, id, &modes);
	case OBJECT_INSTANCE:
		return instance_iterate(a, act, state, inst, id);
	case OBJECT_UNKNOWN:
		return unknown_iteration(a, act, state, inst, id);
	default:
		return value_flags(a, V_CLEAN);
	}
}

value_id iterate(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                 value_id iterable)
{
	const struct value *v = value_get(a, iterable);
	value_id item = {0};

	if (v->flags & V_NUMBER) /* range(n) */
		item = value_flags(a, V_NUMBER);
	if (v->flags & ~(uint32_t)(V_UNBOUND | V_NONE | V_NUMBER))
		item = value_join(a, item, value_flags(a, V_CLEAN));
	for (uint32_t i = 0; i < v->count; i++)
		item = value_join(a, item, object_iterate(a, act, state, inst, v->refs[i]));
	return item;
}

/* `[*old, new]`: the same growth as an append. */
static void check_concat(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t inst, value_id old, value_id added)
{
	const struct value *v = value_get(a, old);

	for (uint32_t i = 0; i < v->count; i++)
		check_store(a, act, state, inst, v->refs[i], added);
}

static void build_dict(struct analysis *a, struct activation *act, struct state *state,
                       struct object *object, const struct ir_inst *ir)
{
	const struct ir_arg *args = ir_args(act->func, ir);

	for (uint32_t i = 0; i < ir->nargs; i++) {
		value_id key = act->temps[args[i].value.n];
		value_id value;

		if (sym_is(args[i].keyword, SYM_double_star)) {
			elements_join(a, object, tensors_in(a, state, key, 1));
			continue;
		}
		if (++i >= ir->nargs)
			break;
		value = act->temps[args[i].value.n];
		if (value_single(a, key).n && def_of(a, value_single(a, key))->kind == OBJECT_CONST)
			field_set(a, object, value_single(a, key).n, value);
		else
			elements_join(a, object, value);
	}
}

static void build_sequence(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t inst, struct object *object, const struct ir_inst *ir)
{
	const struct ir_arg *args = ir_args(act->func, ir);
	value_id added = {0}, starred = {0};
	bool by_index = ir->sub == SUB_build_list || ir->sub == SUB_build_tuple;

	for (uint32_t i = 0; i < ir->nargs; i++)
		by_index &= args[i].keyword.n == 0;
	for (uint32_t i = 0; i < ir->nargs; i++) {
		value_id value = act->temps[args[i].value.n];

		if (by_index) {
			field_set(a, object, i, value);
		} else if (args[i].keyword.n) {
			starred = value_join(a, starred, value);
			elements_join(a, object, iterate(a, act, state, inst, value));
		} else {
			added = value_join(a, added, value);
			elements_join(a, object, value);
		}
	}
	if (added.n && starred.n)
		check_concat(a, act, state, inst, starred, added);
}

/* `x[i : i + 1]`: another part in each round. */
static uint32_t slice_varies(const struct analysis *a, const struct activation *act,
                             const struct ir_inst *ir)
{
	uint32_t flags = 0;

	for (uint32_t i = 0; i < ir->nargs; i++)
		flags |= value_get(a, act->temps[ir_args(act->func, ir)[i].value.n])->flags;
	return flags & V_NUMBER;
}

value_id build_container(struct analysis *a, struct activation *act, struct state *state,
                         uint32_t inst, const struct ir_inst *ir)
{
	enum object_kind kind = ir->sub == SUB_build_list    ? OBJECT_LIST
	                        : ir->sub == SUB_build_tuple ? OBJECT_TUPLE
	                        : ir->sub == SUB_build_set   ? OBJECT_SET
	                                                     : OBJECT_DICT;
	struct object built = {0};
	object_id id;
	struct object *object;

	if (ir->sub == SUB_build_slice)
		return value_flags(a, V_CLEAN | slice_varies(a, act, ir));
	if (ir->sub == SUB_build_string)
		return value_flags(a, V_STRING);
	if (kind == OBJECT_DICT)
		build_dict(a, act, state, &built, ir);
	else
		build_sequence(a, act, state, inst, &built, ir);
	id = site_object(a, act, inst, 0, kind);
	object = object_renew(a, state, id);
	built.stamp = object->stamp;
	*object = built;
	return value_of(a, id);
}

static value_id unpack_element(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t inst, object_id id, uint32_t index)
{
	const struct object *object = object_read(state, id);
	value_id item;

	switch (container_kind(a, state, id)) {
	case OBJECT_TUPLE:
	case OBJECT_LIST:
		item = field_get(object, index);
		return item.n ? value_join(a, item, object->elements) : contents_of(a, object);
	case OBJECT_TENSOR:
		return value_of(a, tensor_make(a, act, state, inst, 2 + index, value_of(a, id),
		                               T_VIEW | row_bits(state, id)));
	case OBJECT_UNKNOWN:
		return unknown_part(a, act, state, inst, id, item_key(a, id, int_object(a, index)),
		                    2 + index);
	default:
		return object_iterate(a, act, state, inst, id);
	}
}

/* `first, *rest, last = …`: of a tuple whose elements are known each goes to its place. */
static void unpack_rest(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, value_id value, uint32_t before, uint32_t after,
                        struct object *built)
{
	object_id rest = site_object(a, act, inst, 1, OBJECT_LIST), only = value_single(a, value);
	const struct object *whole = object_read(state, only);
	const enum object_kind kind = only.n ? container_kind(a, state, only) : OBJECT_NONE;
	const uint32_t count = whole->field_count;
	struct object *list = object_renew(a, state, rest);

	if ((kind == OBJECT_TUPLE || kind == OBJECT_LIST) && whole->elements.n == 0 &&
	    count >= before + after && (!count || whole->fields[count - 1].key == count - 1)) {
		for (uint32_t k = before; k < count - after; k++)
			field_set(a, list, k - before, whole->fields[k].value);
		for (uint32_t k = 0; k < after; k++)
			field_set(a, built, before + 1 + k, whole->fields[count - after + k].value);
	} else {
		value_id items = iterate(a, act, state, inst, value);

		elements_join(a, object_write(a, state, rest), items);
		for (uint32_t k = 0; k < after; k++)
			field_set(a, built, before + 1 + k, items);
	}
	field_set(a, built, before, value_of(a, rest));
}

value_id unpack_value(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, value_id value, uint32_t shape)
{
	const uint32_t before = shape & 0x7fff, after = shape >> 15 & 0x7fff;
	const bool star = shape >> 30 & 1;
	const struct value *v = value_get(a, value);
	object_id tuple = site_object(a, act, inst, 0, OBJECT_TUPLE);
	struct object built = {0};

	for (uint32_t k = 0; k < before; k++) {
		value_id item = v->flags & (V_CLEAN | V_NUMBER | V_STRING) ? value_flags(a, V_CLEAN)
		                                                           : (value_id){0};

		for (uint32_t i = 0; i < v->count; i++)
			item = value_join(a, item,
			                  unpack_element(a, act, state, inst, v->refs[i], k));
		field_set(a, &built, k, item);
	}
	if (star || after)
		unpack_rest(a, act, state, inst, value, before, after, &built);
	built.stamp = state->stamp;
	*object_renew(a, state, tuple) = built;
	return value_of(a, tuple);
}
