/* Names outside the project: what the API table says, applied. */

#include "analyzer/facts/effects.h"
#include "analyzer/facts/calls.h"

#include <string.h>

value_id effect_argument(struct effect *e, uint32_t index, const char *keyword)
{
	return argument_at(e->a, e->state, e->call, index, keyword);
}

/* The argument that the effect speaks of; keyword calls may have it anywhere. */
value_id effect_target(struct effect *e)
{
	value_id target = effect_argument(e, api_arg(e->entry), NULL);

	return target.n || e->call.count == 0 ? target : e->call.at[0].value;
}

bool effect_flag(struct effect *e, const char *keyword, bool *known)
{
	value_id value = argument_named(e->a, e->call, keyword);
	object_id constant = value_single(e->a, value);

	*known = constant.n != 0 && def_of(e->a, constant)->kind == OBJECT_CONST;
	return *known && def_of(e->a, constant)->sub == SUB_const_true;
}

/* What is made of it from here on has no graph. */
static void mark_counted(struct effect *e)
{
	const value_id tensors = tensors_in(e->a, e->state, arguments_all(e->a, e->call), 1);
	const struct value *v = value_get(e->a, tensors);

	for (uint32_t i = 0; i < v->count; i++)
		def_of(e->a, v->refs[i])->counted = true;
}

/* The pair of states of an LSTM. */
static value_id nested_pair(struct effect *e, value_id operands, unsigned bits)
{
	object_id id = site_object(e->a, e->act, e->call.inst, 0x6d + e->call.part, OBJECT_TUPLE);
	struct object built = {0};

	for (uint32_t i = 0; i < 2; i++)
		field_set(e->a, &built, i,
		          value_of(e->a, tensor_make(e->a, e->act, e->state, e->call.inst,
		                                     0x6e + i + e->call.part, operands, bits)));
	built.stamp = e->state->stamp;
	*object_renew(e->a, e->state, id) = built;
	return value_of(e->a, id);
}

value_id effect_tuple(struct effect *e, value_id operands, unsigned bits)
{
	object_id id = site_object(e->a, e->act, e->call.inst, 0x60 + e->call.part, OBJECT_TUPLE);
	uint32_t count = e->entry->count > 0 ? (uint32_t)e->entry->count : 2;
	struct object built = {0};

	for (uint32_t i = 0; i < count; i++) {
		const bool clean = api_is_clean(e->entry, i);
		value_id from = clean ? (value_id){0} : operands;
		value_id element =
		        i == 1 && api_has(e->entry, API_NESTED)
		                ? nested_pair(e, from, bits)
		                : value_of(e->a, tensor_make(e->a, e->act, e->state, e->call.inst,
		                                             0x61 + i + e->call.part, from, bits));

		field_set(e->a, &built, i, element);
		if (clean)
			mark_counted(e);
	}
	built.stamp = e->state->stamp;
	*object_renew(e->a, e->state, id) = built;
	return value_of(e->a, id);
}

static value_id tensor_list(struct effect *e, value_id operands, unsigned bits,
                            enum object_kind kind)
{
	object_id id = site_object(e->a, e->act, e->call.inst, 0x70 + e->call.part, kind);
	object_id tensor = tensor_make(e->a, e->act, e->state, e->call.inst, 0x71, operands, bits);

	def_of(e->a, tensor)->api = e->entry;
	elements_join(e->a, object_renew(e->a, e->state, id), value_of(e->a, tensor));
	return value_of(e->a, id);
}

static value_id single_tensor(struct effect *e, value_id operands, unsigned bits)
{
	object_id id = tensor_make(e->a, e->act, e->state, e->call.inst, 0x80 + e->call.part,
	                           operands, bits);

	def_of(e->a, id)->api = e->entry;
	return value_of(e->a, id);
}

static bool has_known_tensor(struct effect *e, value_id value)
{
	const struct value *v = value_get(e->a, value);

	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(e->a, v->refs[i])->kind == OBJECT_TENSOR)
			return true;
	return false;
}

static unsigned rows_of(struct effect *e, value_id value)
{
	const struct value *v = value_get(e->a, value);
	unsigned rows = T_ROWS;

	for (uint32_t i = 0; i < v->count; i++)
		rows &= object_read(e->state, v->refs[i])->tensor;
	return v->count ? rows : 0;
}

/* An array shares the storage of its tensor: whole it is what people want to
 * keep, a part of it pins the rest. */
static value_id shared_array(struct effect *e)
{
	value_id source = effect_target(e);
	object_id id;

	if (!has_known_tensor(e, source))
		return value_flags(e->a, V_CLEAN);
	id = tensor_make(e->a, e->act, e->state, e->call.inst, 0x86, (value_id){0},
	                 T_ARRAY | T_OUTPUT | rows_of(e, source));
	def_of(e->a, id)->api = e->entry;
	return value_of(e->a, id);
}

static value_id like_operands(struct effect *e, value_id operands, value_id tensors, unsigned bits)
{
	value_id result = single_tensor(e, operands, bits | operand_bits(e->a, e->state, tensors));

	shape_follows(e->a, e->state, value_single(e->a, result), tensors);
	return result;
}

value_id effect_result(struct effect *e, value_id operands, unsigned bits)
{
	value_id tensors;

	switch ((enum api_kind)e->entry->result) {
	case KIND_NOTHING:
		return value_flags(e->a, V_NONE);
	case KIND_NUMBER:
	case KIND_SHAPE:
	case KIND_NUMBERS:
	case KIND_BOOL:
		return value_flags(e->a, V_NUMBER);
	case KIND_STR:
		return value_flags(e->a, V_STRING);
	case KIND_TENSOR:
	case KIND_RESULT:
		return single_tensor(e, operands, bits);
	case KIND_ARRAY:
		return shared_array(e);
	case KIND_TENSORS:
		return effect_tuple(e, operands, bits);
	case KIND_TENSOR_LIST:
		return tensor_list(e, operands, bits, OBJECT_LIST);
	case KIND_SAME:
		return effect_target(e);
	case KIND_UNKNOWN:
		tensors = tensors_in(e->a, e->state, operands, 3);
		if (!tensors.n)
			return value_flags(e->a, V_NUMBER);
		if (e->entry->effect == API_PASSES) /* abs, sum, round: as big as each operand */
			return like_operands(e, operands, tensors, bits);
		return single_tensor(e, operands, bits);
	case KIND_ELEMENT:
		return iterate(e->a, e->act, e->state, e->call.inst, operands);
	case KIND_LIST:
	case KIND_TUPLE:
	case KIND_DICT:
	case KIND_SET:
	case KIND_DEQUE:
		return effect_container(e);
	case KIND_OBJECT:
	case KIND_HANDLE:
		return effect_object(e);
	default:
		return value_flags(e->a, V_CLEAN);
	}
}

value_id apply_property(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, value_id receiver, const struct api_entry *entry)
{
	const struct argument self = {receiver, {0}};

	return apply_api(a, act, state, (struct call){inst, 1, &self, 1}, entry);
}

static void note_in_loop(struct effect *e, enum event_kind kind)
{
	event_note(e->a, e->act, e->call.inst, kind, (object_id){0}, (object_id){0});
}

/* A number that is read off an accelerator comes when all before it is done. */
static void note_wait(struct effect *e)
{
	if (effect_bits(e, effect_target(e)) & T_DEVICE &&
	    runs_each_round(e->a, e->act, e->call.inst))
		note_in_loop(e, EVENT_SYNC);
}

static value_id effect_number(struct effect *e)
{
	note_wait(e);
	if (api_has(e->entry, API_READS_ONE))
		mark_number(e->a, effect_target(e));
	return effect_result(e, (value_id){0}, 0);
}

static value_id effect_mode(struct effect *e)
{
	value_id argument = effect_argument(e, 0, "mode");
	object_id function = value_single(e->a, argument);
	object_id id;

	if (api_mode_of(e->entry) != API_MODE_ARGUMENT && function.n &&
	    (def_of(e->a, function)->kind == OBJECT_FUNCTION ||
	     def_of(e->a, function)->kind == OBJECT_WRAPPER)) {
		id = site_object(e->a, e->act, e->call.inst, 0x38, OBJECT_WRAPPER);
		object_renew(e->a, e->state, id)->of = argument;
		def_of(e->a, id)->mode = api_mode_of(e->entry);
		return value_of(e->a, id);
	}
	id = site_object(e->a, e->act, e->call.inst, 0x39, OBJECT_SCOPE);
	object_renew(e->a, e->state, id)->with = argument;
	object_write(e->a, e->state, id)->flags = e->state->modes;
	def_of(e->a, id)->mode = api_mode_of(e->entry);
	if (api_mode_of(e->entry) == API_MODE_ARGUMENT)
		mode_statement(e->a, e->act, e->state, e->call.inst, argument);
	else
		check_mode_used(e->a, e->act, e->call.inst);
	return value_of(e->a, id);
}

static value_id effect_flush(struct effect *e)
{
	note_in_loop(e, EVENT_FLUSH);
	return value_flags(e->a, V_NUMBER);
}

static value_id effect_none(struct effect *e)
{
	return is_decoration(e->a, e->act, e->call) ? e->call.at[0].value
	                                            : effect_result(e, (value_id){0}, 0);
}

static value_id apply_effect(struct effect *e)
{
	e->a->gradients_zeroed |= e->entry->effect == API_ZERO_GRAD;
	if (e->entry->effect == API_NUMBER || e->entry->effect == API_CUTS ||
	    e->entry->effect == API_CUTS_VIEW)
		mark_counted(e);
	switch ((enum api_effect)e->entry->effect) {
	case API_PASSES:
		return effect_passes(e);
	case API_VIEWS:
		return effect_views(e, true);
	case API_CUTS_VIEW:
		return effect_views(e, false);
	case API_ALIASES:
		return effect_aliases(e);
	case API_CUTS:
		return effect_cuts(e);
	case API_MAKES:
	case API_PARAMETER:
		return effect_makes(e);
	case API_COPIES:
		return effect_copies(e);
	case API_IN_PLACE:
		return effect_in_place(e);
	case API_CUTS_IN_PLACE:
		return effect_cuts_in_place(e);
	case API_REQUIRES_GRAD:
		return effect_requires_grad(e);
	case API_BACKWARD:
		return effect_backward(e);
	case API_GRAD:
		return effect_grad(e);
	case API_MODE:
		return effect_mode(e);
	case API_MODULE:
		return effect_module(e);
	case API_OPTIMIZER:
	case API_LOADER:
	case API_DISTRIBUTION:
	case API_OBJECT:
	case API_CONTEXT:
		return effect_object(e);
	case API_PARAMETERS:
		return effect_parameters(e);
	case API_CALLS:
	case API_STEP:
		return effect_calls(e);
	case API_WRAPS:
		return effect_wraps(e);
	case API_CACHES:
		return effect_caches(e);
	case API_HOOK:
		return effect_hook(e);
	case API_FLUSH:
		return effect_flush(e);
	case API_CONTAINER:
		return effect_container(e);
	case API_ITERATES:
		return effect_iterates(e);
	case API_STORES:
		return effect_stores(e);
	case API_REMOVES:
		return effect_removes(e);
	case API_REPLACES:
		return effect_replaces(e);
	case API_GETS:
	case API_FIELD:
		return effect_gets(e);
	case API_NUMBER:
		return effect_number(e);
	case API_NONE:
		return effect_none(e);
	case API_ZERO_GRAD:
	case API_SAVES_FOR_BACKWARD:
	case API_SYNC:
	case API_EFFECT_COUNT:
		break;
	}
	return effect_result(e, (value_id){0}, 0);
}

value_id apply_api(struct analysis *a, struct activation *act, struct state *state,
                   struct call call, const struct api_entry *entry)
{
	struct effect effect = {a, act, state, call, entry};

	return apply_effect(&effect);
}

static value_id mode_value(struct analysis *a, const struct state *state)
{
	if (state->modes == (MODE_ON | MODE_OFF))
		return value_flags(a, V_NUMBER);
	return value_of(a,
	                const_object(a, state->modes == MODE_ON ? SUB_const_true : SUB_const_false,
	                             (sym_id){0}));
}

static value_id make_super(struct analysis *a, struct activation *act, struct state *state,
                           struct call call)
{
	object_id id = site_object(a, act, call.inst, 0x3a, OBJECT_SUPER);
	value_id class = argument_at(a, state, call, 0, NULL);
	value_id receiver = argument_at(a, state, call, 1, NULL);
	struct object *object;

	if (call.count == 0) {
		class = enclosing_class(a, act, state);
		receiver = act->func->params.count
		                   ? slot_read(a, act, state, act->func->params.at[0].slot.n)
		                   : (value_id){0};
	}
	object = object_renew(a, state, id);
	object->of = receiver;
	object->with = class;
	return value_of(a, id);
}

static bool name_starts(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static bool holds_graphs(struct analysis *a, const struct state *state, value_id value)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++) {
		const value_id held = is_tensor_like(a, v->refs[i])
		                              ? (value_id){0}
		                              : tensors_in(a, state, value_of(a, v->refs[i]), 2);
		const struct value *t = value_get(a, held);

		for (uint32_t k = 0; k < t->count; k++)
			if (object_read(state, t->refs[k])->tensor & T_GRAPH)
				return true;
	}
	return false;
}

/* numpy makes an array of objects of a list of tensors with graphs, if it takes it at all. */
static value_id array_of_objects(struct analysis *a, struct activation *act, struct state *state,
                                 struct call call, const char *name)
{
	const value_id arguments = arguments_all(a, call);
	value_id result;

	if (strcmp(name, "numpy.array") == 0 || strcmp(name, "numpy.asarray") == 0) {
		result = value_of(a, site_object(a, act, call.inst, 0x3e, OBJECT_LIST));
		elements_join(a, object_renew(a, state, value_single(a, result)),
		              tensors_in(a, state, arguments, 2));
		return result;
	}
	result = unknown_value(a, act, state, call.inst, 0x3d, arguments);
	doubt_graph(a, state, value_single(a, result));
	return result;
}

value_id call_external(struct analysis *a, struct activation *act, struct state *state,
                       struct call call, object_id external)
{
	const struct def *def = def_of(a, external);
	const char *name = intern_chars(a->names, def->name, NULL);
	const unsigned model = model_of_external(a, external);
	value_id result;

	if (model)
		return apply_model(a, act, state, call, external, model);
	if (test_call(a, act, state, call, name, &result))
		return result;
	if (strcmp(name, "$identity") == 0)
		return argument_at(a, state, call, 0, NULL);
	if (strcmp(name, "torch.is_grad_enabled") == 0)
		return mode_value(a, state);
	if (strcmp(name, "torch.is_inference_mode_enabled") == 0 && state->modes == MODE_ON)
		return value_of(a, const_object(a, SUB_const_false, (sym_id){0}));
	if (strcmp(name, "builtins.super") == 0)
		return make_super(a, act, state, call);
	if (name_starts(name, "numpy.") && holds_graphs(a, state, arguments_all(a, call)))
		return array_of_objects(a, act, state, call, name);
	if (def->api)
		return apply_api(a, act, state, call, def->api);
	if (is_class_outside(a, external) || model_of_class(a, external)) {
		struct effect effect = {a, act, state, call, NULL};

		effect.call.part = 0;
		return construct_external(&effect, external);
	}
	if (name_starts(name, "numpy.") || name_starts(name, "math."))
		return value_flags(a, V_CLEAN);
	return call_unknown(a, act, state, call, (value_id){0});
}
