/* Binding of arguments to parameters. */

#include "analyzer/facts/calls.h"

#include <string.h>

value_id arguments_all(struct analysis *a, struct call call)
{
	value_id all = {0};

	for (uint32_t i = 0; i < call.count; i++)
		all = value_join(a, all, call.at[i].value);
	return all;
}

value_id argument_named(const struct analysis *a, struct call call, const char *keyword)
{
	for (uint32_t i = 0; i < call.count; i++)
		if (call.at[i].keyword.n &&
		    strcmp(intern_chars(a->names, call.at[i].keyword, NULL), keyword) == 0)
			return call.at[i].value;
	return (value_id){0};
}

value_id argument_at(struct analysis *a, const struct state *state, struct call call,
                     uint32_t index, const char *keyword)
{
	uint32_t position = 0;

	for (uint32_t i = 0; i < call.count; i++) {
		if (sym_is(call.at[i].keyword, SYM_star))
			return contents_of(a,
			                   object_read(state, value_single(a, call.at[i].value)));
		if (call.at[i].keyword.n == 0 && position++ == index)
			return call.at[i].value;
	}
	return keyword ? argument_named(a, call, keyword) : (value_id){0};
}

/* Binding of arguments to parameters. */

static value_id rest_tuple(struct analysis *a, struct activation *act, struct state *state,
                           struct call call, uint32_t from)
{
	object_id id = site_object(a, act, call.inst, 0x20, OBJECT_TUPLE);
	struct object built = {0};
	uint32_t position = 0;

	for (uint32_t i = 0; i < call.count; i++) {
		if (sym_is(call.at[i].keyword, SYM_star)) {
			elements_join(a, &built,
			              iterate(a, act, state, call.inst, call.at[i].value));
		} else if (call.at[i].keyword.n == 0) {
			if (position >= from)
				field_set(a, &built, position - from, call.at[i].value);
			position++;
		}
	}
	built.stamp = state->stamp;
	*object_renew(a, state, id) = built;
	return value_of(a, id);
}

static bool is_parameter(const struct ir_func *func, sym_id name)
{
	for (uint32_t p = 0; p < func->params.count; p++)
		if (func->slots.at[func->params.at[p].slot.n].name.n == name.n &&
		    func->params.at[p].kind != PARAM_VAR_KEYWORD)
			return true;
	return false;
}

static value_id rest_dict(struct analysis *a, struct activation *act, struct state *state,
                          struct call call, const struct ir_func *func)
{
	object_id id = site_object(a, act, call.inst, 0x21, OBJECT_DICT);
	struct object built = {0};

	for (uint32_t i = 0; i < call.count; i++) {
		sym_id keyword = call.at[i].keyword;

		if (sym_is(keyword, SYM_double_star))
			elements_join(a, &built,
			              iterate(a, act, state, call.inst, call.at[i].value));
		else if (keyword.n && !sym_is(keyword, SYM_star) && !is_parameter(func, keyword))
			field_set(a, &built, const_object(a, SUB_const_str, keyword).n,
			          call.at[i].value);
	}
	built.stamp = state->stamp;
	*object_renew(a, state, id) = built;
	return value_of(a, id);
}

static value_id spread_value(struct analysis *a, struct activation *act, struct state *state,
                             struct call call, enum well_known_name star)
{
	value_id spread = {0};

	for (uint32_t i = 0; i < call.count; i++)
		if (sym_is(call.at[i].keyword, star))
			spread = value_join(
			        a, spread,
			        star == SYM_star
			                ? iterate(a, act, state, call.inst, call.at[i].value)
			                : contents_of(
			                          a,
			                          object_read(state,
			                                      value_single(a, call.at[i].value))));
	return spread;
}

static value_id parameter_value(struct analysis *a, struct activation *act, struct state *state,
                                struct call call, const struct ir_func *func, uint32_t p,
                                const struct object *function)
{
	const struct ir_param *param = &func->params.at[p];
	const sym_id name = func->slots.at[param->slot.n].name;
	value_id value = {0};
	uint32_t position = 0;

	if (param->kind == PARAM_VAR_POSITIONAL)
		return rest_tuple(a, act, state, call, p);
	if (param->kind == PARAM_VAR_KEYWORD)
		return rest_dict(a, act, state, call, func);
	for (uint32_t i = 0; i < call.count && value.n == 0; i++) {
		if (call.at[i].keyword.n == 0 && param->kind != PARAM_KEYWORD_ONLY &&
		    position++ == p)
			value = call.at[i].value;
		else if (call.at[i].keyword.n == name.n)
			value = call.at[i].value;
	}
	if (value.n == 0 && param->kind != PARAM_KEYWORD_ONLY)
		value = spread_value(a, act, state, call, SYM_star);
	if (value.n == 0)
		value = spread_value(a, act, state, call, SYM_double_star);
	if (param->has_default)
		value = value.n ? value : field_get(function, name.n);
	return value;
}

void bind_parameters(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id function, object_id frame)
{
	const struct ir_func *func = def_of(a, function)->func;
	value_id values[MAX_ARGUMENTS];
	struct object *object;
	uint32_t count = func->params.count;

	if (count > MAX_ARGUMENTS)
		count = MAX_ARGUMENTS;
	for (uint32_t p = 0; p < count; p++)
		values[p] =
		        parameter_value(a, act, state, call, func, p, object_read(state, function));
	object = object_renew(a, state, frame);
	object->of = object_read(state, function)->of;
	for (uint32_t p = 0; p < count; p++)
		field_set(a, object, func->params.at[p].slot.n, values[p]);
}

struct call with_receiver(struct call call, object_id receiver, struct analysis *a,
                          struct argument *room)
{
	uint32_t count = call.count < MAX_ARGUMENTS ? call.count : MAX_ARGUMENTS;

	room[0] = (struct argument){value_of(a, receiver), {0}};
	if (count)
		memcpy(room + 1, call.at, count * sizeof(*room));
	call.at = room;
	call.count = count + 1;
	return call;
}
