#include "tests/steps_runner.h"

#include <string.h>

enum { MOST_VALUES = 128, MOST_KEYWORDS = 8, MOST_INDICES = 8 };

/* Where the nested argument values of one call live. */
struct pool {
	struct ag_value values[MOST_VALUES];
	uint32_t used;
};

static void register_release(struct steps_register *reg)
{
	for (uint32_t i = 0; i < reg->count; i++)
		ag_release(reg->tensors[i]);
	if (reg->module)
		ag_module_release(reg->module);
	*reg = (struct steps_register){0};
}

void steps_add_input(struct steps_machine *machine, struct ag_tensor *tensor)
{
	struct steps_register *reg = &machine->registers[machine->count++];

	*reg = (struct steps_register){.tensors = {tensor}, .count = 1};
}

void steps_release(struct steps_machine *machine)
{
	for (uint32_t i = 0; i < machine->count; i++)
		register_release(&machine->registers[i]);
	machine->count = 0;
}

/* arguments */

static bool register_index(const json_t *json, uint32_t *index)
{
	const json_t *number = json_object_get(json, "r");

	if (!number)
		return false;
	*index = (uint32_t)json_integer_value(number);
	return true;
}

static struct ag_value value_of(struct steps_machine *machine, struct pool *pool,
                                const json_t *json);

static struct ag_value list_of(struct pool *pool, uint32_t count, struct ag_value **items)
{
	*items = &pool->values[pool->used];
	if (pool->used + count > MOST_VALUES)
		return ag_none();
	pool->used += count;
	return ag_list(*items, count);
}

static struct ag_value register_value(struct steps_machine *machine, struct pool *pool,
                                      uint32_t index)
{
	const struct steps_register *reg = &machine->registers[index];
	struct ag_value *items;
	struct ag_value list;

	if (reg->count == 1)
		return ag_arg(reg->tensors[0]);
	list = list_of(pool, reg->count, &items);
	for (uint32_t i = 0; i < list.count; i++)
		items[i] = ag_arg(reg->tensors[i]);
	return list;
}

static struct ag_value object_value(struct steps_machine *machine, struct pool *pool,
                                    const json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "dtype"));
	enum ag_dtype dtype;
	uint32_t index;

	if (register_index(json, &index))
		return register_value(machine, pool, index);
	return name && ag_dtype_find(name, &dtype) ? ag_type(dtype) : ag_none();
}

static struct ag_value array_value(struct steps_machine *machine, struct pool *pool,
                                   const json_t *json)
{
	struct ag_value *items;
	struct ag_value list = list_of(pool, (uint32_t)json_array_size(json), &items);

	for (uint32_t i = 0; i < list.count; i++)
		items[i] = value_of(machine, pool, json_array_get(json, i));
	return list;
}

static struct ag_value value_of(struct steps_machine *machine, struct pool *pool,
                                const json_t *json)
{
	switch (json_typeof(json)) {
	case JSON_TRUE:
	case JSON_FALSE:
		return ag_bool(json_is_true(json));
	case JSON_INTEGER:
		return ag_int(json_integer_value(json));
	case JSON_REAL:
		return ag_float(json_real_value(json));
	case JSON_STRING:
		return ag_text(json_string_value(json), json_string_length(json));
	case JSON_ARRAY:
		return array_value(machine, pool, json);
	case JSON_OBJECT:
		return object_value(machine, pool, json);
	case JSON_NULL:
		break;
	}
	return ag_none();
}

struct call {
	struct pool pool;
	struct ag_value args[MOST_VALUES];
	struct ag_keyword keywords[MOST_KEYWORDS];
	struct ag_args all;
};

static void call_arguments(struct steps_machine *machine, const json_t *step, struct call *call)
{
	const json_t *args = json_object_get(step, "args");
	json_t *keywords = json_object_get(step, "kw");
	const char *name;
	json_t *value;

	memset(call, 0, sizeof(*call));
	call->all.at = call->args;
	call->all.keywords = call->keywords;
	for (size_t i = 0; i < json_array_size(args); i++)
		call->args[call->all.count++] =
		        value_of(machine, &call->pool, json_array_get(args, i));
	json_object_foreach(keywords, name, value)
	{
		struct ag_keyword *keyword = &call->keywords[call->all.nkeywords++];
		*keyword = (struct ag_keyword){name, value_of(machine, &call->pool, value)};
	}
}

/* steps */

static void keep_results(struct steps_register *reg, struct ag_results *results)
{
	while (reg->count < results->count && reg->count < STEPS_MOST_TENSORS) {
		reg->tensors[reg->count] = ag_results_take(results, reg->count);
		reg->count++;
	}
	ag_results_release(results);
}

static bool run_call(struct steps_machine *machine, const json_t *step, struct steps_register *reg)
{
	const char *name = json_string_value(json_object_get(step, "call"));
	struct ag_results results = {0};
	struct call call;

	call_arguments(machine, step, &call);
	if (!ag_call(machine->ctx, name, &call.all, &results))
		return false;
	keep_results(reg, &results);
	return true;
}

static bool run_module(struct steps_machine *machine, const json_t *step,
                       struct steps_register *reg)
{
	const char *name = json_string_value(json_object_get(step, "module"));
	struct call call;

	call_arguments(machine, step, &call);
	reg->module = ag_module_new(machine->ctx, name, &call.all);
	return reg->module && ag_module_requires_grad(machine->ctx, reg->module, false);
}

static bool run_forward(struct steps_machine *machine, const json_t *step,
                        struct steps_register *reg)
{
	struct ag_results results = {0};
	struct call call;
	uint32_t index;

	if (!register_index(json_object_get(step, "forward"), &index))
		return false;
	call_arguments(machine, step, &call);
	if (!ag_module_call(machine->ctx, machine->registers[index].module, &call.all, &results))
		return false;
	keep_results(reg, &results);
	return true;
}

static struct ag_index index_of(struct steps_machine *machine, const json_t *json)
{
	struct ag_index index = {.kind = AG_NEW_AXIS};
	uint32_t reg;

	if (json_is_integer(json)) {
		index.kind = AG_AT;
		index.start = json_integer_value(json);
	} else if (json_is_string(json)) {
		index.kind = AG_ELLIPSIS;
	} else if (json_is_array(json)) {
		index.kind = AG_SLICE;
		index.has_start = json_is_integer(json_array_get(json, 0));
		index.has_stop = json_is_integer(json_array_get(json, 1));
		index.start = json_integer_value(json_array_get(json, 0));
		index.stop = json_integer_value(json_array_get(json, 1));
		index.step = json_integer_value(json_array_get(json, 2));
	} else if (register_index(json, &reg)) {
		index.kind = AG_INDEX_TENSOR;
		index.tensor = machine->registers[reg].tensors[0];
	}
	return index;
}

static bool run_index(struct steps_machine *machine, const json_t *step, struct steps_register *reg)
{
	const json_t *at = json_object_get(step, "at");
	const json_t *put = json_object_get(step, "put");
	struct ag_index indices[MOST_INDICES];
	uint32_t count = (uint32_t)json_array_size(at);
	struct pool pool = {.used = 0};
	struct ag_value value;
	uint32_t of;

	for (uint32_t i = 0; i < count; i++)
		indices[i] = index_of(machine, json_array_get(at, i));
	if (!register_index(put ? put : json_object_get(step, "index"), &of))
		return false;
	if (put) {
		value = value_of(machine, &pool, json_object_get(step, "value"));
		return ag_index_put(machine->ctx, machine->registers[of].tensors[0], indices, count,
		                    &value);
	}
	reg->tensors[0] = ag_index(machine->ctx, machine->registers[of].tensors[0], indices, count);
	reg->count = reg->tensors[0] != NULL;
	return reg->count == 1;
}

static bool run_take(struct steps_machine *machine, const json_t *step, struct steps_register *reg)
{
	uint32_t which = (uint32_t)json_integer_value(json_object_get(step, "which"));
	uint32_t of;

	if (!register_index(json_object_get(step, "take"), &of) ||
	    which >= machine->registers[of].count)
		return false;
	reg->tensors[reg->count++] = ag_retain(machine->registers[of].tensors[which]);
	return true;
}

static bool run_step(struct steps_machine *machine, const json_t *step)
{
	static const struct {
		const char *key;
		bool (*run)(struct steps_machine *, const json_t *, struct steps_register *);
	} kinds[] = {
	        {"call", run_call},   {"module", run_module}, {"forward", run_forward},
	        {"index", run_index}, {"put", run_index},     {"take", run_take},
	};
	struct steps_register reg = {0};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (json_object_get(step, kinds[i].key)) {
			bool done = kinds[i].run(machine, step, &reg);
			machine->registers[machine->count++] = reg;
			return done;
		}
	}
	return false;
}

/* Whether a register is read in `json`, at any depth. */
static bool reads(json_t *json, uint32_t reg)
{
	const char *key;
	json_t *value;
	size_t i;
	uint32_t index;

	if (register_index(json, &index))
		return index == reg;
	json_object_foreach(json, key, value)
	{
		if (reads(value, reg))
			return true;
	}
	json_array_foreach(json, i, value)
	{
		if (reads(value, reg))
			return true;
	}
	return false;
}

static bool read_later(const json_t *steps, size_t from, const json_t *results, uint32_t reg)
{
	for (size_t i = from; i < json_array_size(steps); i++) {
		if (reads(json_array_get(steps, i), reg))
			return true;
	}
	for (size_t i = 0; i < json_array_size(results); i++) {
		if (reads(json_array_get(results, i), reg))
			return true;
	}
	return false;
}

bool steps_run(struct steps_machine *machine, const json_t *steps, const json_t *results)
{
	uint32_t inputs = machine->count;

	for (size_t i = 0; i < json_array_size(steps); i++) {
		if (!run_step(machine, json_array_get(steps, i)))
			return false;
		for (uint32_t reg = inputs; reg < machine->count; reg++) {
			if (!read_later(steps, i + 1, results, reg))
				register_release(&machine->registers[reg]);
		}
	}
	return true;
}

uint32_t steps_results(const struct steps_machine *machine, const json_t *results,
                       struct ag_tensor **out, uint32_t most)
{
	uint32_t count = 0;

	for (size_t i = 0; i < json_array_size(results); i++) {
		const struct steps_register *reg;
		uint32_t index;
		if (!register_index(json_array_get(results, i), &index))
			continue;
		reg = &machine->registers[index];
		for (uint32_t k = 0; k < reg->count && count < most; k++)
			out[count++] = ag_retain(reg->tensors[k]);
	}
	return count;
}
