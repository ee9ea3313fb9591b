/* `.data`: what it is read for. Sizes, types and constructors drop no graph. */

#include "analyzer/facts/effects.h"

#include <string.h>

/* The instruction that consumes the temporary, in its own block; 0: none does. */
static uint32_t consumer_of(const struct activation *act, uint32_t inst)
{
	const uint32_t end = act->block_first + act->block_count;

	for (uint32_t i = inst + 1; i < end; i++) {
		const struct ir_arg *args = ir_args(act->func, inst_at(act, i));

		for (uint32_t k = 0; k < inst_at(act, i)->nargs; k++)
			if (args[k].value.n == inst)
				return i;
	}
	return 0;
}

/* A number, a shape, a type; or something made anew, of the same kind. */
static bool gives_form(const struct api_entry *entry)
{
	switch ((enum api_kind)entry->result) {
	case KIND_NUMBER:
	case KIND_BOOL:
	case KIND_STR:
	case KIND_SHAPE:
	case KIND_CONSTANT:
		return entry->effect == API_NONE;
	case KIND_TENSOR:
		return entry->effect == API_MAKES;
	default:
		return false;
	}
}

static bool ends_with(const char *name, const char *end)
{
	const size_t length = strlen(name), wanted = strlen(end);

	return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

/* `x.data.size()`, `x.data.new(3)`, `x.data.type()` */
static bool asks_attribute(struct effect *e, uint32_t user)
{
	const sym_id name = {inst_at(e->act, user)->name};
	const char *text = intern_chars(e->a->names, name, NULL);
	const struct api_entry *entry = method_entry(e->a, "torch.Tensor", text);
	const uint32_t call = consumer_of(e->act, user);

	if (!entry)
		return false;
	if (strcmp(text, "type") == 0)
		return call && inst_at(e->act, call)->op == OP_call &&
		       inst_at(e->act, call)->nargs == 1;
	return gives_form(entry);
}

/* The name that a callee has in the table, whoever it is bound to; NULL: none. */
static const char *called_name(struct effect *e, value_id callee)
{
	object_id id = value_single(e->a, callee);

	if (id.n && def_of(e->a, id)->kind == OBJECT_BOUND)
		id = value_single(e->a, object_read(e->state, id)->with);
	return id.n && def_of(e->a, id)->kind == OBJECT_EXTERNAL
	               ? intern_chars(e->a->names, def_of(e->a, id)->name, NULL)
	               : NULL;
}

/* `isinstance(x.data, …)`, `len(x.data)`, `zeros_like(x.data)`, `y.type_as(x.data)` */
static bool asks_call(struct effect *e, uint32_t user)
{
	static const char *const tests[] = {
	        "builtins.isinstance", "builtins.type",   "builtins.hasattr",
	        "builtins.len",        "torch.is_tensor",
	};
	const struct ir_arg *args = ir_args(e->act->func, inst_at(e->act, user));
	const char *name = called_name(e, e->act->temps[args[0].value.n]);
	const struct api_entry *entry = name ? api_find(name, strlen(name)) : NULL;

	if (!name || args[0].value.n == e->call.inst)
		return false;
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (strcmp(name, tests[i]) == 0)
			return true;
	return ends_with(name, "_like") || ends_with(name, "_as") ||
	       (entry && entry->effect == API_NONE && gives_form(entry));
}

static bool asks_form(struct effect *e, uint32_t user)
{
	switch (user ? (enum ir_op)inst_at(e->act, user)->op : OP_COUNT) {
	case OP_load_attr:
		return asks_attribute(e, user);
	case OP_call:
		return asks_call(e, user);
	default:
		return false;
	}
}

/* `p.data.copy_(…)`, `p.data -= …`, `p.data[:] = …` */
static bool is_written(struct effect *e, uint32_t user)
{
	const struct ir_inst *inst = inst_at(e->act, user);
	const struct api_entry *entry;
	const char *name;

	switch (user ? (enum ir_op)inst->op : OP_COUNT) {
	case OP_store_item:
	case OP_inplace:
		return ir_args(e->act->func, inst)[0].value.n == e->call.inst;
	case OP_load_attr:
		name = intern_chars(e->a->names, (sym_id){inst->name}, NULL);
		entry = method_entry(e->a, "torch.Tensor", name);
		return entry && entry->effect == API_IN_PLACE;
	default:
		return false;
	}
}

/* `linear.weight`: a layer's own parameter, asked for by its name. It has no graph to drop. */
static bool is_named_weight(const struct effect *e, value_id source)
{
	const object_id id = value_single(e->a, source);
	const struct api_entry *api = id.n ? def_of(e->a, id)->api : NULL;

	return api && api->effect == API_PARAMETERS && api_has(api, API_PROPERTY);
}

/* Where gradients are off nothing joins a graph, and a leaf may be written as it is. */
static bool drops_something(struct effect *e, value_id source, uint32_t user)
{
	const bool off = !(e->state->modes & MODE_ON) && !is_written(e, user);

	return !is_named_weight(e, source) &&
	       (effect_bits(e, source) & (off ? T_GRAPH : T_GRAPH | T_ASSUMED | T_LEAF)) != 0;
}

/* Where the name stands; false: it is read by another one: getattr, a descriptor. */
static bool data_place(struct effect *e, struct event_place *place)
{
	const char *name = strrchr(api_name(e->entry), '.') + 1;
	const uint32_t length = (uint32_t)strlen(name);
	const char *end;

	*place = place_of(e->act->file, e->act->func, e->call.inst);
	end = place->source->text + place->span.end;
	if (place->span.end - place->span.start <= length ||
	    memcmp(end - length, name, length) != 0)
		return false;
	place->span.start = place->span.end - length;
	return true;
}

void check_data_read(struct effect *e, value_id source)
{
	const uint32_t user = consumer_of(e->act, e->call.inst);
	struct event_place place;

	if (!drops_something(e, source, user) || asks_form(e, user) || !data_place(e, &place))
		return;
	event_note(e->a, e->act, e->call.inst, EVENT_DATA_READ, (object_id){0},
	           value_single(e->a, source))
	        ->place = place;
}
