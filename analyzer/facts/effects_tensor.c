/* Operations on tensors: what passes a graph on, cuts it, or joins it in place. */

#include "analyzer/facts/effects.h"

#include <string.h>

/* What a tensor keeps whatever is done with its graph. */
enum { T_LASTING = T_DEVICE | T_OUTPUT | T_ARRAY, MODULE_DEPTH = 6 };

static void flag_modules(struct effect *e, object_id id, uint32_t set, uint32_t clear, int depth);

static unsigned saved_bits(const struct api_entry *entry)
{
	return api_has(entry, API_SAVES_INPUT) || api_has(entry, API_SAVES_RESULT) ||
	                       api_has(entry, API_SAVES_HIDDEN)
	               ? T_SAVES
	               : 0;
}

/* Parameters live anyway, numbers weigh nothing: a node that saves only those saves nothing. */
static bool saves_little(struct effect *e, value_id operands)
{
	const value_id tensors = tensors_in(e->a, e->state, operands, 2);
	const struct value *v = value_get(e->a, tensors);
	unsigned all = T_SCALAR | T_LEAF;

	for (uint32_t i = 0; i < v->count; i++)
		all &= object_read(e->state, v->refs[i])->tensor;
	return v->count > 0 &&
	       (all & T_SCALAR ||
	        (all & T_LEAF && !api_has(e->entry, API_SAVES_RESULT | API_SAVES_HIDDEN)));
}

static bool is_keyword(const struct effect *e, uint32_t i, const char *name)
{
	return e->call.at[i].keyword.n &&
	       strcmp(intern_chars(e->a->names, e->call.at[i].keyword, NULL), name) == 0;
}

/* `reduction="none"`: a loss for each element. */
static bool reduces(const struct effect *e, value_id how)
{
	object_id id = value_single(e->a, how);

	return id.n && def_of(e->a, id)->kind == OBJECT_CONST &&
	       strcmp(intern_chars(e->a->names, def_of(e->a, id)->name, NULL), "none") != 0;
}

/* Reductions and losses give one number, if nothing else is asked of them. */
static bool gives_scalar(const struct effect *e)
{
	if (!api_has(e->entry, API_SCALAR))
		return false;
	for (uint32_t i = 0; i < e->call.count; i++) {
		const struct value *v = value_get(e->a, e->call.at[i].value);

		if (is_keyword(e, i, "dim") || is_keyword(e, i, "axis") ||
		    is_keyword(e, i, "keepdim") ||
		    (is_keyword(e, i, "reduction") && !reduces(e, e->call.at[i].value)))
			return false;
		if (i == 0 || e->call.at[i].keyword.n)
			continue;
		for (uint32_t k = 0; k < v->count; k++)
			if (!is_tensor_like(e->a, v->refs[k]))
				return false;
		if (v->flags & V_NUMBER)
			return false;
	}
	return true;
}

static unsigned rank_bit(uint32_t dimensions)
{
	return (dimensions > 1 ? T_ROWS : 0U) | (dimensions > 2 ? T_DEEP : 0U);
}

static bool is_one(const struct analysis *a, value_id size)
{
	uint32_t number;

	return index_of(a, size, &number) && number == 1;
}

/* torch.zeros(3, 4), torch.full((3, 4), 1.0). Of a batch of one the first row is all of it. */
static unsigned rank_bits(struct effect *e)
{
	const struct value *v;
	uint32_t numbers = 0;

	if (!api_has(e->entry, API_SIZES))
		return 0;
	for (uint32_t i = 0; i < e->call.count; i++) {
		const sym_id keyword = e->call.at[i].keyword;

		v = value_get(e->a, e->call.at[i].value);
		for (uint32_t k = 0; k < v->count; k++) {
			const enum object_kind kind = def_of(e->a, v->refs[k])->kind;
			const struct object *o = object_read(e->state, v->refs[k]);

			if (kind == OBJECT_TUPLE || kind == OBJECT_LIST)
				return is_one(e->a, field_get(o, 0)) ? 0 : rank_bit(o->field_count);
			numbers += kind == OBJECT_CONST && keyword.n == 0;
		}
		numbers += v->count == 0 && v->flags & V_NUMBER && keyword.n == 0;
	}
	return rank_bit(numbers);
}

static unsigned entry_bits(const struct effect *e)
{
	return saved_bits(e->entry) | (api_has(e->entry, API_SUMS_UP) ? T_ACCUMULATES : 0) |
	       (gives_scalar(e) ? T_SCALAR : 0);
}

static bool asks_integers(struct effect *e)
{
	static const char *const integers[] = {
	        "torch.long",
	        "torch.int64",
	        "torch.int",
	        "torch.int32",
	        "torch.bool",
	        "torch.uint8",
	        "torch.int16",
	        "torch.int8",
	        "torch.short",
	        "builtins.int",
	        "builtins.bool",
	        "torch.LongTensor",
	        "torch.IntTensor",
	        "torch.ShortTensor",
	        "torch.CharTensor",
	        "torch.ByteTensor",
	        "torch.BoolTensor",
	        "torch.cuda.LongTensor",
	        "torch.cuda.IntTensor",
	        "torch.cuda.ShortTensor",
	        "torch.cuda.CharTensor",
	        "torch.cuda.ByteTensor",
	        "torch.cuda.BoolTensor",
	};

	for (uint32_t i = 0; i < e->call.count; i++) {
		object_id id = value_single(e->a, e->call.at[i].value);
		const char *name;

		if (id.n == 0 || (def_of(e->a, id)->kind != OBJECT_EXTERNAL &&
		                  def_of(e->a, id)->kind != OBJECT_CONST))
			continue;
		name = intern_chars(e->a->names, def_of(e->a, id)->name, NULL);
		for (size_t k = 0; k < sizeof(integers) / sizeof(*integers); k++)
			if (strcmp(name, integers[k]) == 0)
				return true;
	}
	return false;
}

/* A generator runs: what it gives is what counts, not what it closes over. */
static value_id all_operands(struct effect *e)
{
	value_id all = {0};

	for (uint32_t i = 0; i < e->call.count; i++) {
		const value_id value = e->call.at[i].value;
		const object_id only = value_single(e->a, value);
		const bool runs = only.n && def_of(e->a, only)->kind == OBJECT_GENERATOR;

		all = value_join(e->a, all,
		                 runs ? iterate(e->a, e->act, e->state, e->call.inst, value)
		                      : value);
	}
	return all;
}

static void weights_of(struct effect *e, value_id *operands)
{
	if (api_has(e->entry, API_WEIGHTS)) {
		object_id leaf = site_object(e->a, e->act, e->call.inst, 0x90, OBJECT_TENSOR);

		object_renew(e->a, e->state, leaf)->tensor = T_LEAF | T_WEIGHTS;
		*operands = value_join(e->a, *operands, value_of(e->a, leaf));
	}
}

/* A copy or a conversion, as big as what it is made of. */
static value_id same_shape(struct effect *e, value_id result)
{
	const object_id id = value_single(e->a, result);

	if (api_has(e->entry, API_SAME_SHAPE) && id.n && is_tensor_like(e->a, id) &&
	    !value_has(e->a, effect_target(e), id))
		shape_follows(e->a, e->state, id, effect_target(e));
	return result;
}

value_id effect_passes(struct effect *e)
{
	value_id operands = all_operands(e);
	value_id out = argument_named(e->a, e->call, "out");
	bool known;

	if (api_has(e->entry, API_OUT) && out.n) {
		join_in_place(e->a, e->act, e->state, e->call.inst, out, operands);
		return out;
	}
	if (effect_flag(e, "inplace", &known)) {
		value_id target = effect_target(e);

		join_in_place(e->a, e->act, e->state, e->call.inst, target, operands);
		return target;
	}
	if (api_has(e->entry, API_DTYPE) && asks_integers(e))
		operands = (value_id){0};
	weights_of(e, &operands);
	if (api_has(e->entry, API_TUPLE_IF_DIM) &&
	    (effect_argument(e, 1, "dim").n &&
	     !tensors_in(e->a, e->state, effect_argument(e, 1, "dim"), 0).n)) {
		struct api_entry tuple = *e->entry;
		const struct api_entry *before = e->entry;
		value_id result;

		tuple.result = KIND_TENSORS;
		if (tuple.count == 0)
			tuple.count = 2;
		tuple.flags |= API_CLEAN(1);
		e->entry = &tuple;
		result = effect_result(e, operands, saved_bits(before));
		e->entry = before;
		return result;
	}
	return same_shape(
	        e, effect_result(e, operands,
	                         entry_bits(e) &
	                                 ~(unsigned)(saves_little(e, operands) ? T_SAVES : 0)));
}

uint32_t effect_bits(struct effect *e, value_id value)
{
	const value_id tensors = tensors_in(e->a, e->state, value, 2);
	const struct value *v = value_get(e->a, tensors);
	uint32_t bits = 0;

	for (uint32_t i = 0; i < v->count; i++)
		bits |= object_read(e->state, v->refs[i])->tensor;
	return bits & T_WEIGHTS ? bits | T_OUTPUT : bits;
}

static value_id with_base(struct effect *e, value_id view, value_id source)
{
	object_id id = value_single(e->a, view), from = value_single(e->a, source);

	if (id.n && from.n && id.n != from.n && def_of(e->a, id)->kind == OBJECT_TENSOR &&
	    is_tensor_like(e->a, from)) {
		const value_id base = object_read(e->state, from)->base;

		object_write(e->a, e->state, id)->base = base.n ? base : source;
	}
	return view;
}

value_id effect_views(struct effect *e, bool keeps_graph)
{
	value_id source = effect_target(e);
	unsigned bits = effect_bits(e, source) & (T_VIEW | T_LASTING | T_SCALAR | T_ACCUMULATES);

	if (!keeps_graph)
		bits |= effect_bits(e, source) & T_ROWS;
	if (api_has(e->entry, API_UNCHECKED) && !keeps_graph)
		check_data_read(e, source);
	return with_base(e, effect_result(e, keeps_graph ? source : (value_id){0}, bits), source);
}

enum movement { MOVES_NOWHERE, MOVES_TO_HOST, MOVES_TO_DEVICE };

static bool names_host(struct effect *e, object_id id)
{
	const struct def *def = def_of(e->a, id);

	return id.n != 0 && def->kind == OBJECT_CONST && def->sub == SUB_const_str &&
	       strncmp(intern_chars(e->a->names, def->name, NULL), "cpu", 3) == 0;
}

/* `.cpu()`, `.cuda()`, `.to(x)`: a dtype is an external name, a device anything else. */
static enum movement moves_to(struct effect *e)
{
	const char *name = strrchr(api_name(e->entry), '.');
	value_id where = effect_argument(e, 1, "device");

	if (api_has(e->entry, API_TO_CPU))
		return MOVES_TO_HOST;
	if (name && (strcmp(name, ".cuda") == 0 || strcmp(name, ".xpu") == 0))
		return MOVES_TO_DEVICE;
	if (!name || strcmp(name, ".to") != 0 || where.n == 0)
		return MOVES_NOWHERE;
	if (names_host(e, value_single(e->a, where)))
		return MOVES_TO_HOST;
	if (value_single(e->a, where).n &&
	    def_of(e->a, value_single(e->a, where))->kind == OBJECT_EXTERNAL)
		return MOVES_NOWHERE;
	return MOVES_TO_DEVICE;
}

static value_id moved_to_host(struct effect *e, value_id source, unsigned bits)
{
	value_id moved = effect_result(e, source, bits & ~(unsigned)T_VIEW);
	object_id id = value_single(e->a, moved);

	if (id.n && is_tensor_like(e->a, id))
		object_write(e->a, e->state, id)->tensor &= ~(unsigned)(T_DEVICE | T_OUTPUT);
	return moved;
}

static void set_training(struct effect *e, object_id module, bool training, bool known)
{
	uint32_t set = training || !known ? O_TRAINING : 0;

	if (!training || !known)
		set |= O_EVAL;
	flag_modules(e, module, set, known ? (O_TRAINING | O_EVAL) & ~set : 0, MODULE_DEPTH);
}

/* module.train(mode), module.eval() */
static void switch_training(struct effect *e, const struct value *modules)
{
	const char *name = api_name(e->entry);
	bool evaluates = strcmp(name, "torch.nn.Module.eval") == 0;
	object_id mode = value_single(e->a, effect_argument(e, 1, "mode"));
	bool known = evaluates || !effect_argument(e, 1, "mode").n ||
	             (mode.n && def_of(e->a, mode)->kind == OBJECT_CONST);

	if (!evaluates && strcmp(name, "torch.nn.Module.train") != 0)
		return;
	evaluates |= mode.n && def_of(e->a, mode)->sub == SUB_const_false;
	for (uint32_t i = 0; i < modules->count; i++)
		if (object_read(e->state, modules->refs[i])->flags & O_MODULE)
			set_training(e, modules->refs[i], !evaluates, known);
}

static value_id moved_module(struct effect *e, value_id modules)
{
	const struct value *v = value_get(e->a, modules);

	switch_training(e, v);

	if (moves_to(e) != MOVES_TO_DEVICE)
		return modules;
	for (uint32_t i = 0; i < v->count; i++)
		if (object_read(e->state, v->refs[i])->flags & O_MODULE)
			flag_modules(e, v->refs[i], O_DEVICE, 0, MODULE_DEPTH);
	return modules;
}

/* prepare(model, optimizer, loader): each of them, in a tuple if there are several. */
static value_id aliases_each(struct effect *e)
{
	const uint32_t first = api_arg(e->entry);
	object_id id = site_object(e->a, e->act, e->call.inst, 0x93, OBJECT_TUPLE);
	struct object built = {0};
	uint32_t position = 0, count = 0;

	for (uint32_t i = 0; i < e->call.count; i++) {
		if (sym_is(e->call.at[i].keyword, SYM_star))
			elements_join(
			        e->a, &built,
			        iterate(e->a, e->act, e->state, e->call.inst, e->call.at[i].value));
		else if (e->call.at[i].keyword.n == 0 && position++ >= first)
			field_set(e->a, &built, count++, e->call.at[i].value);
	}
	if (count == 1 && built.elements.n == 0)
		return built.fields[0].value;
	built.stamp = e->state->stamp;
	*object_renew(e->a, e->state, id) = built;
	return value_of(e->a, id);
}

/* What tensors have has been asked of it: it is not None. */
static value_id surely_tensor(struct effect *e, value_id value)
{
	def_of(e->a, value_single(e->a, value))->some = true;
	return value;
}

value_id effect_aliases(struct effect *e)
{
	value_id source = effect_target(e);
	unsigned bits =
	        effect_bits(e, source) & (T_VIEW | T_LASTING | T_SCALAR | T_ACCUMULATES | T_ROWS);
	const struct value *v = value_get(e->a, source);
	object_id only = value_single(e->a, source);

	if (api_has(e->entry, API_EACH) && api_has(e->entry, API_TRANSPARENT))
		return aliases_each(e);
	if (!api_has(e->entry, API_MAYBE) || v->count == 0 ||
	    (only.n && !is_tensor_like(e->a, only)))
		return moved_module(e, source);
	if (only.n && object_read(e->state, only)->flags & O_MODULE)
		return moved_module(e, source);
	if (api_has(e->entry, API_DTYPE) && asks_integers(e))
		source = (value_id){0};
	switch (moves_to(e)) {
	case MOVES_TO_HOST:
		return moved_to_host(e, source, bits);
	case MOVES_TO_DEVICE:
		bits |= T_DEVICE;
		break;
	case MOVES_NOWHERE:
		break;
	}
	if (source.n && only.n && def_of(e->a, only)->kind == OBJECT_UNKNOWN)
		return surely_tensor(
		        e, unknown_value(e->a, e->act, e->state, e->call.inst, 0x91, source));
	return same_shape(e, effect_result(e, source, bits));
}

value_id effect_cuts(struct effect *e)
{
	unsigned bits =
	        (effect_bits(e, effect_target(e)) & T_LASTING) | (gives_scalar(e) ? T_SCALAR : 0);

	return same_shape(e, effect_result(e, (value_id){0}, bits));
}

value_id effect_makes(struct effect *e)
{
	bool known, volatile_known, leaf = effect_flag(e, "requires_grad", &known);
	value_id made = effect_result(e, (value_id){0}, rank_bits(e));
	object_id id = value_single(e->a, made);

	if (id.n == 0 || def_of(e->a, id)->kind != OBJECT_TENSOR)
		return made;
	if (effect_flag(e, "volatile", &volatile_known))
		object_write(e->a, e->state, id)->tensor |= T_VOLATILE;
	if (e->entry->effect == API_PARAMETER && !(known && !leaf))
		object_write(e->a, e->state, id)->tensor |= T_LEAF | T_WEIGHTS;
	else if (leaf || (argument_named(e->a, e->call, "requires_grad").n && !known))
		object_write(e->a, e->state, id)->tensor |= T_LEAF;
	return made;
}

value_id effect_copies(struct effect *e)
{
	value_id source = effect_target(e);
	object_id only = value_single(e->a, source);

	if (only.n && def_of(e->a, only)->kind == OBJECT_TENSOR) {
		unsigned leaf = object_read(e->state, only)->tensor & (T_LEAF | T_WEIGHTS);
		object_id id = tensor_make(e->a, e->act, e->state, e->call.inst, 0x92,
		                           (value_id){0}, leaf);

		return value_of(e->a, id);
	}
	return source;
}

static bool is_made_each_time(const struct analysis *a, const struct activation *act, uint32_t inst,
                              object_id id)
{
	context_id where;
	loop_id loop;

	return innermost_loop(a, act->context, inst, &where, &loop) &&
	       made_inside(a, def_of(a, id), where, loop);
}

/* A parameter is as old as its module, wherever it is asked for. */
static unsigned target_loops(struct analysis *a, const struct activation *act,
                             const struct state *state, uint32_t inst, object_id target)
{
	return object_read(state, target)->flags & O_PARAMETERS
	               ? LOOP_CALLS
	               : loops_over(a, act, state, inst, target, (struct variable){0});
}

static void check_accumulator(struct analysis *a, struct activation *act, struct state *state,
                              uint32_t inst, object_id target, value_id operands)
{
	const value_id before = object_read(state, target)->parents;
	const value_id tensors = tensors_in(a, state, operands, 3);
	const struct value *v = value_get(a, tensors);

	if (!(state->modes & MODE_ON) ||
	    (is_made_each_time(a, act, inst, target) && !target_is_carried(a, act, inst)))
		return;
	for (uint32_t i = 0; i < v->count; i++) {
		struct pending *p;

		if (v->refs[i].n == target.n || !may_carry(object_read(state, v->refs[i])) ||
		    !value_has(a, before, older_of(v->refs[i])))
			continue;
		p = event_note(a, act, inst, EVENT_CHAIN, target, v->refs[i]);
		p->holder_kind = HOLDER_TENSOR;
		p->flags |= EVENT_ACCUMULATES;
		p->loops |= target_loops(a, act, state, inst, target);
		p->runs_model |= runs_model(a, act, state, inst, v->refs[i]);
		if (object_read(state, v->refs[i])->tensor & T_WEIGHTS)
			p->flags |= EVENT_WEIGHTS;
	}
}

/* Parameters that enter an average by `mul_().add_()`: leaves, no tensor of an iteration. */
static void check_average(struct analysis *a, struct activation *act, struct state *state,
                          uint32_t inst, object_id target, value_id operands)
{
	const value_id tensors = tensors_in(a, state, operands, 3);
	const struct value *v = value_get(a, tensors);
	const struct object *t = object_read(state, target);

	if (!(state->modes & MODE_ON) || t->tensor & T_LEAF ||
	    (!(t->flags & O_PARAMETERS) && is_made_each_time(a, act, inst, target)))
		return;
	for (uint32_t i = 0; i < v->count; i++)
		if (object_read(state, v->refs[i])->tensor & T_WEIGHTS &&
		    v->refs[i].n != target.n &&
		    object_read(state, v->refs[i])->tensor & (T_LEAF | T_GRAPH)) {
			struct pending *p = event_note(a, act, inst, EVENT_CHAIN, target, target);

			p->flags |= EVENT_WEIGHTS;
			p->holder_kind = HOLDER_TENSOR;
			p->loops |= target_loops(a, act, state, inst, target);
		}
}

void join_in_place(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                   value_id targets, value_id operands)
{
	const struct value *v = value_get(a, targets);

	for (uint32_t i = 0; i < v->count; i++) {
		object_id id = v->refs[i];

		if (!is_tensor_like(a, id))
			continue;
		check_accumulator(a, act, state, inst, id, operands);
		check_average(a, act, state, inst, id, operands);
		tensor_join_graph(a, state, id, operands, is_strong(a, targets, id));
	}
}

value_id effect_in_place(struct effect *e)
{
	value_id target = effect_target(e);
	value_id operands = {0};

	for (uint32_t i = 0; i < e->call.count; i++)
		if (e->call.at[i].value.n != target.n)
			operands = value_join(e->a, operands, e->call.at[i].value);
	join_in_place(e->a, e->act, e->state, e->call.inst, target, operands);
	return e->entry->result == KIND_NOTHING ? value_flags(e->a, V_NONE) : target;
}

value_id effect_cuts_in_place(struct effect *e)
{
	value_id target = effect_target(e);
	const struct value *v = value_get(e->a, target);

	for (uint32_t i = 0; i < v->count; i++) {
		struct object *object = object_write(e->a, e->state, v->refs[i]);

		object->tensor |= T_BARE;
		object->tensor &= ~(unsigned)(T_GRAPH | T_ASSUMED | T_LEAF);
		object->parents = (value_id){0};
	}
	return target;
}

/* Sets and clears flags of a module and of its parts. */
static void flag_modules(struct effect *e, object_id id, uint32_t set, uint32_t clear, int depth)
{
	struct object *object;

	if (depth == 0 || !object_exists(e->state, id))
		return;
	object = object_write(e->a, e->state, id);
	object->flags = (object->flags & ~clear) | set;
	for (uint32_t i = 0; i <= object->field_count; i++) {
		const value_id part =
		        i < object->field_count ? object->fields[i].value : object->elements;
		const struct value *v = value_get(e->a, part);

		for (uint32_t k = 0; k < v->count; k++)
			if (object_read(e->state, v->refs[k])->flags & O_MODULE)
				flag_modules(e, v->refs[k], set, clear, depth - 1);
	}
}

value_id effect_requires_grad(struct effect *e)
{
	value_id target = effect_argument(e, 0, NULL);
	object_id flag = value_single(e->a, effect_argument(e, 1, "requires_grad"));
	const bool off = flag.n && def_of(e->a, flag)->sub == SUB_const_false;
	const struct value *v = value_get(e->a, target);

	for (uint32_t i = 0; i < v->count; i++) {
		object_id id = v->refs[i];

		if (object_read(e->state, id)->flags & O_MODULE)
			flag_modules(e, id, off ? O_FROZEN : 0, off ? 0 : O_FROZEN, MODULE_DEPTH);
		else if (is_tensor_like(e->a, id))
			attribute_set(
			        e->a, e->act, e->state, e->call.inst, value_of(e->a, id),
			        intern_text(e->a->names, "requires_grad", 13),
			        value_of(e->a,
			                 const_object(e->a, off ? SUB_const_false : SUB_const_true,
			                              (sym_id){0})));
	}
	return target;
}

static void note_backward(struct effect *e, bool retains)
{
	const struct site site = {e->act->context, e->call.inst, retains};

	e->a->backward_now = UINT32_C(1) << site_note(e->a, &e->a->backwards, site) % 32;
}

static bool is_captured(struct effect *e, object_id id)
{
	for (uint32_t s = 1; s < e->act->func->slots.count; s++)
		if (e->act->func->slots.at[s].kind == SLOT_FREE &&
		    value_has(e->a, slot_read(e->a, e->act, e->state, s), id))
			return true;
	return false;
}

/* Others may run backward through the graph of what comes from elsewhere: an argument of
 * an unknown caller, something of theirs, or what a closure has, which may run again. */
static bool is_seen_whole(struct effect *e, object_id loss)
{
	const struct def *def = def_of(e->a, loss);

	if (loss.n == 0 || is_captured(e, loss))
		return false;
	return def->kind != OBJECT_UNKNOWN ||
	       (def->inst != 0 && def->func->insts.at[def->inst].op == OP_call);
}

value_id effect_backward(struct effect *e)
{
	value_id losses = effect_target(e);
	bool known, create = effect_flag(e, "create_graph", &known);
	bool retain = effect_flag(e, "retain_graph", &known) || create;

	note_backward(e, retain);
	if (!effect_argument(e, 1, "gradient").n)
		mark_loss(e->a, losses);
	if (create)
		event_note(e->a, e->act, e->call.inst, EVENT_CREATE_GRAPH, (object_id){0},
		           (object_id){0});
	else if (retain && is_seen_whole(e, value_single(e->a, losses)))
		event_note(e->a, e->act, e->call.inst, EVENT_RETAIN, (object_id){0},
		           value_single(e->a, losses));
	graph_backward(e->a, e->state, losses, (value_id){0}, retain);
	return value_flags(e->a, V_NONE);
}

value_id effect_grad(struct effect *e)
{
	const value_id outputs = effect_argument(e, 0, "outputs");
	const value_id inputs = effect_argument(e, 1, "inputs");
	bool known, create = effect_flag(e, "create_graph", &known);
	/* where it is not known the graph may stay */
	const bool keeps = create || (argument_named(e->a, e->call, "create_graph").n && !known) ||
	                   effect_flag(e, "retain_graph", &known);

	note_backward(e, create);
	graph_backward(e->a, e->state, outputs, inputs, keeps);
	if (create)
		gradient_hooks_run(e, outputs, inputs);
	return effect_result(e, create ? value_join(e->a, outputs, inputs) : (value_id){0},
	                     T_SAVES);
}
