/* Containers and iterators of the standard library. */

#include "analyzer/facts/effects.h"

#include <string.h>

static object_id new_container(struct effect *e, uint32_t part, enum object_kind kind)
{
	object_id id = site_object(e->a, e->act, e->call.inst, part + e->call.part, kind);

	object_renew(e->a, e->state, id);
	return id;
}

static value_id filled(struct effect *e, uint32_t part, enum object_kind kind, value_id elements)
{
	object_id id = new_container(e, part, kind);

	elements_join(e->a, object_write(e->a, e->state, id), elements);
	return value_of(e->a, id);
}

static value_id iterate_argument(struct effect *e, uint32_t index)
{
	return iterate(e->a, e->act, e->state, e->call.inst, effect_argument(e, index, NULL));
}

static enum object_kind container_of(const struct api_entry *entry)
{
	switch ((enum api_kind)entry->result) {
	case KIND_DICT:
	case KIND_STATE:
		return OBJECT_DICT;
	case KIND_SET:
		return OBJECT_SET;
	case KIND_TUPLE:
		return OBJECT_TUPLE;
	case KIND_DEQUE:
		return OBJECT_DEQUE;
	default:
		return OBJECT_LIST;
	}
}

static bool is_sequence(enum object_kind kind)
{
	return kind == OBJECT_LIST || kind == OBJECT_TUPLE;
}

/* What a generator gives is kept while it runs on; the place to tell of is this one. */
static void fill_by_generator(struct effect *e, object_id id, value_id source)
{
	struct analysis *a = e->a;
	const uint32_t first = a->pending.count;
	const struct event_place here = place_of(e->act->file, e->act->func, e->call.inst);

	vec_push(a->arena, &a->pinned, id);
	a->filled = id;
	(void)iterate(a, e->act, e->state, e->call.inst, source);
	a->filled = (object_id){0};
	a->pinned.count--;
	for (uint32_t i = first; i < a->pending.count; i++)
		if (a->pending.at[i].holder.n == id.n)
			a->pending.at[i].place = here;
}

/* list(x), tuple(x): elements keep their places where they are known. */
static value_id copy_sequence(struct effect *e, object_id id, value_id source)
{
	object_id from = value_single(e->a, source);
	struct object *object = object_write(e->a, e->state, id);
	const struct object *original = object_read(e->state, from);

	if (from.n && is_sequence(container_kind(e->a, e->state, from))) {
		object->elements = original->elements;
		for (uint32_t i = 0; i < original->field_count; i++)
			field_set(e->a, object, original->fields[i].key, original->fields[i].value);
	} else if (from.n && def_of(e->a, from)->kind == OBJECT_GENERATOR) {
		fill_by_generator(e, id, source);
	} else {
		value_id elements = iterate(e->a, e->act, e->state, e->call.inst, source);

		elements_join(e->a, object_write(e->a, e->state, id), elements);
	}
	return value_of(e->a, id);
}

static void merge_dict(struct effect *e, object_id into, value_id source)
{
	const struct value *v = value_get(e->a, source);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *from = object_read(e->state, v->refs[i]);

		if (container_kind(e->a, e->state, v->refs[i]) != OBJECT_DICT) {
			value_id pairs = iterate(e->a, e->act, e->state, e->call.inst,
			                         value_of(e->a, v->refs[i]));

			elements_join(e->a, object_write(e->a, e->state, into),
			              tensors_in(e->a, e->state, pairs, 2));
			continue;
		}
		for (uint32_t f = 0; f < from->field_count; f++) {
			object_id key = key_constant(e->a, v->refs[i], from->fields[f].key);

			if (key.n)
				field_join(e->a, object_write(e->a, e->state, into),
				           item_key(e->a, into, key), from->fields[f].value);
		}
		elements_join(e->a, object_write(e->a, e->state, into), from->elements);
	}
}

static void fill_dict(struct effect *e, object_id id)
{
	for (uint32_t i = 0; i < e->call.count; i++) {
		sym_id keyword = e->call.at[i].keyword;

		if (keyword.n && !sym_is(keyword, SYM_star) && !sym_is(keyword, SYM_double_star))
			field_set(e->a, object_write(e->a, e->state, id),
			          const_object(e->a, SUB_const_str, keyword).n,
			          e->call.at[i].value);
		else
			merge_dict(e, id, e->call.at[i].value);
	}
}

value_id effect_container(struct effect *e)
{
	enum object_kind kind = container_of(e->entry);
	object_id id = new_container(e, 0xa0, kind);
	const char *name = api_name(e->entry);
	value_id first = effect_argument(e, 0, NULL);
	value_id longest = kind == OBJECT_DEQUE ? effect_argument(e, 1, "maxlen") : (value_id){0};

	if (longest.n && value_get(e->a, longest)->flags != V_NONE)
		object_write(e->a, e->state, id)->flags |= O_BOUNDED;
	if (strcmp(name, "collections.defaultdict") == 0)
		object_write(e->a, e->state, id)->with = first;
	else if (kind == OBJECT_DICT)
		fill_dict(e, id);
	else if (first.n && is_sequence(kind))
		return copy_sequence(e, id, first);
	else if (first.n) {
		value_id elements = iterate_argument(e, 0);

		elements_join(e->a, object_write(e->a, e->state, id), elements);
	}
	return value_of(e->a, id);
}

static value_id pair_of(struct effect *e, uint32_t part, value_id first, value_id second)
{
	object_id id = new_container(e, part, OBJECT_TUPLE);
	struct object *object = object_write(e->a, e->state, id);

	field_set(e->a, object, 0, first);
	field_set(e->a, object, 1, second);
	return value_of(e->a, id);
}

static value_id zipped(struct effect *e)
{
	value_id items[16];
	uint32_t count = 0;
	object_id id;

	for (uint32_t i = 0; i < e->call.count && count < 16; i++) {
		value_id argument = e->call.at[i].value;

		if (e->call.at[i].keyword.n && !sym_is(e->call.at[i].keyword, SYM_star))
			continue;
		items[count] = iterate(e->a, e->act, e->state, e->call.inst, argument);
		if (sym_is(e->call.at[i].keyword, SYM_star)) /* zip(*rows): columns */
			return filled(e, 0xb1, OBJECT_LIST,
			              iterate(e->a, e->act, e->state, e->call.inst, items[count]));
		count++;
	}
	id = new_container(e, 0xb2, OBJECT_TUPLE);
	for (uint32_t i = 0; i < count; i++)
		field_set(e->a, object_write(e->a, e->state, id), i, items[i]);
	return value_of(e->a, id);
}

/* zip(*rows) of records or tuples: a column for each field. */
static value_id unzipped(struct effect *e)
{
	value_id rows = {0};
	const struct value *v;
	object_id id;

	for (uint32_t i = 0; i < e->call.count; i++)
		if (sym_is(e->call.at[i].keyword, SYM_star))
			rows = iterate(e->a, e->act, e->state, e->call.inst, e->call.at[i].value);
	v = value_get(e->a, rows);
	id = new_container(e, 0xb4, OBJECT_TUPLE);
	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *row = object_read(e->state, v->refs[i]);

		for (uint32_t f = 0; f < row->field_count && f < 12; f++) {
			object_id column = new_container(e, 0xc0 + f, OBJECT_TUPLE);
			struct object *object = object_write(e->a, e->state, id);
			uint32_t key = container_kind(e->a, e->state, v->refs[i]) == OBJECT_TUPLE
			                       ? row->fields[f].key
			                       : f;

			elements_join(e->a, object_write(e->a, e->state, column),
			              row->fields[f].value);
			field_join(e->a, object, key, value_of(e->a, column));
		}
	}
	return object_read(e->state, id)->field_count ? value_of(e->a, id) : zipped(e);
}

static bool has_star(const struct effect *e)
{
	for (uint32_t i = 0; i < e->call.count; i++)
		if (sym_is(e->call.at[i].keyword, SYM_star))
			return true;
	return false;
}

static value_id each_argument(struct effect *e)
{
	value_id all = {0};

	for (uint32_t i = 0; i < e->call.count; i++)
		all = value_join(
		        e->a, all,
		        iterate(e->a, e->act, e->state, e->call.inst, e->call.at[i].value));
	return all;
}

/* range(2), range(1, 3) */
static bool counts_few(struct effect *e)
{
	uint32_t first = 0, end;

	if (e->call.count == 0 || e->call.count > 2 ||
	    strcmp(api_name(e->entry), "builtins.range") != 0)
		return false;
	return index_of(e->a, e->call.at[e->call.count - 1].value, &end) &&
	       (e->call.count == 1 || index_of(e->a, e->call.at[0].value, &first)) &&
	       end <= first + FACTS_FEW_ROUNDS;
}

static value_id few_numbers(struct effect *e, value_id number)
{
	const value_id numbers = filled(e, 0xb5, OBJECT_ITERATOR, number);

	object_write(e->a, e->state, value_single(e->a, numbers))->flags |= O_BOUNDED;
	return numbers;
}

value_id effect_iterates(struct effect *e)
{
	value_id number = value_flags(e->a, V_NUMBER);
	value_id source = effect_target(e);

	switch ((enum api_kind)e->entry->result) {
	case KIND_NUMBERS:
		return counts_few(e) ? few_numbers(e, number) : number;
	case KIND_NUMBERED:
		return filled(e, 0xb0, OBJECT_ITERATOR,
		              pair_of(e, 0xb3, number,
		                      iterate(e->a, e->act, e->state, e->call.inst, source)));
	case KIND_ZIPPED:
		if (has_star(e))
			return unzipped(e);
		return filled(e, 0xb0, OBJECT_ITERATOR, zipped(e));
	case KIND_LIST:
		return filled(e, 0xb0, OBJECT_LIST,
		              iterate(e->a, e->act, e->state, e->call.inst, source));
	default:
		if (value_single(e->a, source).n &&
		    def_of(e->a, value_single(e->a, source))->kind == OBJECT_GENERATOR)
			return source; /* runs where it is consumed */
		return filled(e, 0xb0, OBJECT_ITERATOR,
		              api_has(e->entry, API_EACH)
		                      ? each_argument(e)
		                      : iterate(e->a, e->act, e->state, e->call.inst, source));
	}
}

static value_id last_argument(struct effect *e)
{
	return e->call.count ? e->call.at[e->call.count - 1].value : (value_id){0};
}

static value_id store_attribute(struct effect *e)
{
	value_id object = effect_target(e);
	const value_id names = effect_argument(e, 1, "name");
	object_id name = value_single(e->a, names);
	value_id value = effect_argument(e, 2, api_has(e->entry, API_BUFFER) ? "tensor" : "value");
	const struct value *v = value_get(e->a, object);
	/* a name that comes from elsewhere is one that it has; one that is put together may be new
	 */
	const bool given = (value_get(e->a, names)->flags & (V_STRING | V_KEY)) != V_STRING;

	if (name.n && def_of(e->a, name)->kind == OBJECT_CONST) {
		attribute_set(e->a, e->act, e->state, e->call.inst, object,
		              def_of(e->a, name)->name, value);
		return value_flags(e->a, V_NONE);
	}
	for (uint32_t i = 0; i < v->count; i++) {
		if (!object_exists(e->state, v->refs[i]))
			continue;
		check_chain(e->a, e->act, e->state, e->call.inst,
		            contents_of(e->a, object_read(e->state, v->refs[i])), value, v->refs[i],
		            (struct variable){0});
		e->a->replaces = given;
		check_store(e->a, e->act, e->state, e->call.inst, v->refs[i], value);
		e->a->replaces = false;
		elements_join(e->a, object_write(e->a, e->state, v->refs[i]), value);
	}
	return value_flags(e->a, V_NONE);
}

static value_id set_default(struct effect *e)
{
	value_id dict = effect_target(e), key = effect_argument(e, 1, NULL);
	value_id value = effect_argument(e, 2, "default");
	value_id before = {0};
	bool missing = false;
	const struct value *v = value_get(e->a, dict), *k = value_get(e->a, key);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *object = object_read(e->state, v->refs[i]);

		before = value_join(e->a, before, object->elements);
		for (uint32_t n = 0; n < k->count; n++) {
			value_id known = field_get(object, item_key(e->a, v->refs[i], k->refs[n]));

			missing |= known.n == 0 || value_get(e->a, known)->flags & V_UNBOUND;
			before = value_join(e->a, before, known);
		}
	}
	if (missing || k->flags || k->count != 1)
		item_set_plain(e->a, e->act, e->state, e->call.inst, dict, key,
		               value_join(e->a, before, value));
	return value_without(e->a, value_join(e->a, before, value), V_UNBOUND);
}

static void update_dict(struct effect *e)
{
	value_id dict = effect_target(e);
	const struct value *v = value_get(e->a, dict);

	for (uint32_t i = 0; i < v->count; i++)
		for (uint32_t k = 0; k < e->call.count; k++) {
			value_id source = e->call.at[k].value;
			const struct value *s = value_get(e->a, source);

			if (k == api_arg(e->entry) && e->call.at[k].keyword.n == 0)
				continue;
			if (e->call.at[k].keyword.n &&
			    !sym_is(e->call.at[k].keyword, SYM_double_star)) {
				value_id key = value_of(e->a, const_object(e->a, SUB_const_str,
				                                           e->call.at[k].keyword));

				item_set_plain(e->a, e->act, e->state, e->call.inst, dict, key,
				               source);
				continue;
			}
			for (uint32_t r = 0; r < s->count; r++)
				check_store(e->a, e->act, e->state, e->call.inst, v->refs[i],
				            object_read(e->state, s->refs[r])->elements);
			merge_dict(e, v->refs[i], source);
		}
}

value_id effect_stores(struct effect *e)
{
	value_id holders = effect_target(e), value = last_argument(e);

	if (api_has(e->entry, API_ATTRIBUTE))
		return store_attribute(e);
	if (api_has(e->entry, API_KEYED) && api_has(e->entry, API_EACH)) {
		update_dict(e);
		return value_flags(e->a, V_NONE);
	}
	if (api_has(e->entry, API_KEYED) && e->entry->result == KIND_ELEMENT)
		return set_default(e);
	if (api_has(e->entry, API_KEYED)) {
		item_set_plain(e->a, e->act, e->state, e->call.inst, holders,
		               effect_argument(e, 1, NULL), value);
		return value_flags(e->a, V_NONE);
	}
	if (api_has(e->entry, API_EACH))
		value = iterate(e->a, e->act, e->state, e->call.inst, value);
	if (e->entry->result == KIND_ELEMENT) { /* heappushpop: as many as before */
		value_id all = iterate(e->a, e->act, e->state, e->call.inst, holders);
		object_id holder = value_single(e->a, holders);

		if (holder.n && object_exists(e->state, holder))
			elements_join(e->a, object_write(e->a, e->state, holder), value);
		return value_join(e->a, all, value);
	}
	container_add(e->a, e->act, e->state, e->call.inst, holders, value);
	return value_flags(e->a, V_NONE);
}

value_id effect_removes(struct effect *e)
{
	value_id holders = effect_target(e);
	value_id item = {0};
	const struct value *v = value_get(e->a, holders);

	if (api_has(e->entry, API_ALL)) {
		container_clear(e->a, e->act, e->state, e->call.inst, holders);
		return value_flags(e->a, V_NONE);
	}
	for (uint32_t i = 0; i < v->count; i++)
		def_of(e->a, v->refs[i])->drained = def_of(e->a, v->refs[i])->read = true;
	if (e->entry->result == KIND_NOTHING)
		return value_flags(e->a, V_NONE);
	for (uint32_t i = 0; i < v->count; i++)
		item = value_join(e->a, item, contents_of(e->a, object_read(e->state, v->refs[i])));
	return item.n ? item : value_flags(e->a, V_CLEAN);
}

static value_id keys_of(struct effect *e, value_id dict)
{
	const object_id id = value_single(e->a, dict);

	if (id.n && def_of(e->a, id)->kind == OBJECT_UNKNOWN)
		return value_flags(e->a, V_STRING | V_NUMBER | V_KEY);
	return iterate(e->a, e->act, e->state, e->call.inst, dict);
}

static value_id values_of(struct effect *e, value_id holders)
{
	const struct value *v = value_get(e->a, holders);
	value_id all = {0};

	for (uint32_t i = 0; i < v->count; i++) {
		enum object_kind kind = def_of(e->a, v->refs[i])->kind;

		def_of(e->a, v->refs[i])->read = true;
		if (kind == OBJECT_UNKNOWN || kind == OBJECT_TENSOR || kind == OBJECT_GENERATOR)
			all = value_join(e->a, all,
			                 iterate(e->a, e->act, e->state, e->call.inst,
			                         value_of(e->a, v->refs[i])));
		else
			all = value_join(e->a, all,
			                 contents_of(e->a, object_read(e->state, v->refs[i])));
	}
	return all;
}

static bool has_tensors(struct effect *e, value_id value)
{
	return tensors_in(e->a, e->state, value, 0).n != 0;
}

/* max(a, b), min(list): one of them, the tensor itself. */
static value_id one_of(struct effect *e)
{
	value_id all = {0};

	if (e->call.count == 1)
		return values_of(e, e->call.at[0].value);
	for (uint32_t i = 0; i < e->call.count; i++)
		if (e->call.at[i].keyword.n == 0)
			all = value_join(e->a, all, e->call.at[i].value);
	return all;
}

static value_id get_attribute(struct effect *e)
{
	value_id object = effect_target(e);
	object_id name = value_single(e->a, effect_argument(e, 1, NULL));
	value_id all = {0};
	const struct value *v = value_get(e->a, object);

	if (name.n && def_of(e->a, name)->kind == OBJECT_CONST)
		return attribute_get(e->a, e->act, e->state, e->call.inst, object,
		                     def_of(e->a, name)->name);
	for (uint32_t i = 0; i < v->count; i++)
		all = value_join(e->a, all, contents_of(e->a, object_read(e->state, v->refs[i])));
	return all.n ? all : unknown_value(e->a, e->act, e->state, e->call.inst, 0xd0, object);
}

/* [{"params": [...], "lr": 0.1, ...}, ...] */
static value_id parameter_groups(struct effect *e, value_id optimizers)
{
	const struct value *v = value_get(e->a, optimizers);
	const sym_id params = intern_text(e->a->names, "params", 6);
	object_id group = new_container(e, 0xd5, OBJECT_DICT);
	value_id parameters = {0};
	struct object *object;

	for (uint32_t i = 0; i < v->count; i++)
		parameters = value_join(
		        e->a, parameters,
		        tensors_in(e->a, e->state, object_read(e->state, v->refs[i])->elements, 2));
	parameters = filled(e, 0xd6, OBJECT_LIST, parameters);
	object = object_write(e->a, e->state, group);
	field_set(e->a, object, const_object(e->a, SUB_const_str, params).n, parameters);
	elements_join(e->a, object, value_flags(e->a, V_NUMBER));
	return filled(e, 0xd7, OBJECT_LIST, value_of(e->a, group));
}

value_id effect_gets(struct effect *e)
{
	value_id source = effect_target(e), key = effect_argument(e, 1, NULL);
	const char *name = api_name(e->entry);

	if (api_has(e->entry, API_ATTRIBUTE))
		return get_attribute(e);
	switch ((enum api_kind)e->entry->result) {
	case KIND_ELEMENTS:
		return filled(e, 0xd1, OBJECT_ITERATOR, values_of(e, source));
	case KIND_ITEMS:
		return filled(e, 0xd2, OBJECT_ITERATOR,
		              pair_of(e, 0xd3, keys_of(e, source), values_of(e, source)));
	case KIND_KEYS:
		return filled(e, 0xd4, OBJECT_ITERATOR, keys_of(e, source));
	case KIND_LIST:
	case KIND_DICT:
	case KIND_SET:
	case KIND_TUPLE:
		return effect_container(e);
	case KIND_GROUPS:
		return parameter_groups(e, source);
	case KIND_ELEMENT:
		if (strcmp(name, "builtins.max") == 0 || strcmp(name, "builtins.min") == 0)
			return one_of(e);
		if (strcmp(name, "dict.get") == 0)
			return value_join(
			        e->a, item_get(e->a, e->act, e->state, e->call.inst, source, key),
			        value_join(e->a, effect_argument(e, 2, "default"),
			                   value_flags(e->a, V_NONE)));
		return strcmp(name, "builtins.next") == 0
		               ? iterate(e->a, e->act, e->state, e->call.inst, source)
		               : values_of(e, source);
	default:
		return has_tensors(e, source) ? effect_result(e, source, 0)
		                              : value_flags(e->a, V_CLEAN);
	}
}
