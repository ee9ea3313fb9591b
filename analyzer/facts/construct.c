/* Instances: of classes, records, named tuples. */

#include "analyzer/facts/calls.h"

#include <string.h>

/* Construction. */

static bool is_record_class(struct analysis *a, const struct state *state, object_id class)
{
	const char *base = external_class(a, state, class);

	return object_read(state, class)->flags & O_RECORD ||
	       (base && strcmp(base, "typing.NamedTuple") == 0);
}

static void bind_record(struct analysis *a, struct state *state, struct call call, object_id class,
                        object_id instance)
{
	const struct ir_func *body = def_of(a, class)->func;
	uint32_t position = 0;

	for (uint32_t i = 1; i < body->insts.count; i++) {
		const struct ir_inst *inst = &body->insts.at[i];
		sym_id name = {inst->name};
		value_id value;

		if (inst->op != OP_annotate)
			continue;
		value = argument_at(a, state, call, position++, intern_chars(a->names, name, NULL));
		if (value.n == 0)
			value = class_lookup(a, state, value_of(a, class), name);
		field_set(a, object_write(a, state, instance), name.n, value);
	}
}

value_id bind_class(struct analysis *a, struct activation *act, struct state *state,
                    struct call call, object_id class)
{
	object_id id = site_object(a, act, call.inst, 0x28 + call.part, OBJECT_INSTANCE);
	struct object *object = object_renew(a, state, id);
	struct argument room[MAX_ARGUMENTS + 1];
	value_id init;

	object->of = value_of(a, class);
	if (is_module_instance(a, state, id))
		object_write(a, state, id)->flags |= O_MODULE | O_TRAINING;
	if (is_record_class(a, state, class))
		bind_record(a, state, call, class, id);
	init = class_lookup(a, state, value_of(a, class), sym(SYM_init));
	if (init.n)
		call_value(a, act, state, with_receiver(call, id, a, room), init);
	else if (external_class(a, state, id) && !is_record_class(a, state, class))
		elements_join(a, object_write(a, state, id),
		              tensors_in(a, state, arguments_all(a, call), 2));
	state->reachable = true;
	return value_of(a, id);
}

sym_id field_name(struct analysis *a, const struct state *state, value_id names, uint32_t index)
{
	object_id id = value_single(a, names);
	const char *text, *end;

	if (id.n && def_of(a, id)->kind != OBJECT_CONST) {
		object_id item = value_single(a, field_get(object_read(state, id), index));

		return item.n ? def_of(a, item)->name : (sym_id){0};
	}
	if (id.n == 0)
		return (sym_id){0};
	text = intern_chars(a->names, def_of(a, id)->name, NULL);
	for (;; index--) {
		text += strspn(text, " ,\n\t");
		end = text + strcspn(text, " ,\n\t");
		if (end == text)
			return (sym_id){0};
		if (index == 0)
			return intern_text(a->names, text, (size_t)(end - text));
		text = end;
	}
}

value_id make_record_tuple(struct analysis *a, struct activation *act, struct state *state,
                           struct call call, object_id class)
{
	object_id id = site_object(a, act, call.inst, 0x3b + call.part, OBJECT_TUPLE);
	value_id names = object_read(state, class)->of;
	struct object built = {.of = names};

	for (uint32_t i = 0; i < MAX_ARGUMENTS; i++) {
		sym_id name = field_name(a, state, names, i);
		value_id value;

		if (name.n == 0)
			break;
		value = argument_at(a, state, call, i, intern_chars(a->names, name, NULL));
		field_set(a, &built, i, value);
		field_set(a, &built, PARTIAL_KEYWORDS + name.n, value);
	}
	built.stamp = state->stamp;
	*object_renew(a, state, id) = built;
	return value_of(a, id);
}
