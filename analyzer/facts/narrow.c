/* Tests of what a value is, and what a branch on one says of the variable asked. */

#include "analyzer/facts/exec.h"

#include <string.h>

enum verdict { VERDICT_NO, VERDICT_YES, VERDICT_MAYBE };

static bool is_scalar_class(const char *name)
{
	static const char *const scalars[] = {
	        "builtins.int",     "builtins.float",    "builtins.str",   "builtins.bool",
	        "builtins.complex", "builtins.bytes",    "numbers.Number", "numbers.Real",
	        "numbers.Integral", "numpy.ndarray",     "numpy.number",   "numpy.floating",
	        "numpy.integer",    "builtins.NoneType",
	};

	for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++)
		if (strcmp(scalars[i], name) == 0)
			return true;
	return false;
}

static bool is_tensor_class(const char *name)
{
	return strcmp(name, "torch.Tensor") == 0;
}

/* "" for what is no class outside the project. */
static const char *class_name_of(const struct analysis *a, object_id class)
{
	return def_of(a, class)->kind == OBJECT_EXTERNAL
	               ? intern_chars(a->names, def_of(a, class)->name, NULL)
	               : "";
}

static enum verdict object_is(struct analysis *a, const struct state *state, object_id id,
                              const char *class)
{
	const enum object_kind wanted = builtin_container(class);
	const enum object_kind kind = container_kind(a, state, id);
	const bool builtin = wanted != OBJECT_INSTANCE || is_scalar_class(class);

	switch (kind) {
	case OBJECT_TENSOR:
		if (is_tensor_class(class))
			return VERDICT_YES;
		return builtin ? VERDICT_NO : VERDICT_MAYBE;
	case OBJECT_UNKNOWN:
		return def_of(a, id)->no_tensor && is_tensor_class(class) ? VERDICT_NO
		                                                          : VERDICT_MAYBE;
	case OBJECT_CONST:
		return is_tensor_class(class) || wanted != OBJECT_INSTANCE ? VERDICT_NO
		                                                           : VERDICT_MAYBE;
	case OBJECT_LIST:
	case OBJECT_TUPLE:
	case OBJECT_SET:
	case OBJECT_DEQUE:
	case OBJECT_DICT:
		if (kind == wanted)
			return VERDICT_YES;
		return builtin || is_tensor_class(class) ? VERDICT_NO : VERDICT_MAYBE;
	case OBJECT_INSTANCE:
		if (external_class(a, state, id))
			return VERDICT_MAYBE;
		return builtin || is_tensor_class(class) ? VERDICT_NO : VERDICT_MAYBE;
	case OBJECT_FUNCTION:
	case OBJECT_PARTIAL:
	case OBJECT_BOUND:
	case OBJECT_CLASS:
	case OBJECT_NAMESPACE:
		return builtin || is_tensor_class(class) ? VERDICT_NO : VERDICT_MAYBE;
	default:
		return VERDICT_MAYBE;
	}
}

static enum verdict flag_is(uint32_t flag, const char *class)
{
	const bool elsewhere =
	        is_tensor_class(class) || builtin_container(class) != OBJECT_INSTANCE;

	switch (flag) {
	case V_NONE:
		return elsewhere || (is_scalar_class(class) && !strstr(class, "NoneType"))
		               ? VERDICT_NO
		               : VERDICT_MAYBE;
	case V_NUMBER:
	case V_STRING:
		return elsewhere ? VERDICT_NO : VERDICT_MAYBE;
	default:
		return VERDICT_MAYBE;
	}
}

/* The classes of isinstance's second argument: one, or a tuple of them. */
static value_id classes_of(struct analysis *a, const struct state *state, value_id classes)
{
	object_id only = value_single(a, classes);

	return only.n && def_of(a, only)->kind == OBJECT_TUPLE
	               ? contents_of(a, object_read(state, only))
	               : classes;
}

/* One of the classes: yes if any is sure, no if all are. */
static enum verdict is_any(struct analysis *a, const struct state *state, object_id id,
                           uint32_t flag, value_id classes)
{
	const struct value *c = value_get(a, classes);
	enum verdict all = c->flags ? VERDICT_MAYBE : VERDICT_NO;

	for (uint32_t i = 0; i < c->count; i++) {
		const char *class = class_name_of(a, c->refs[i]);
		enum verdict one = id.n ? object_is(a, state, id, class) : flag_is(flag, class);

		if (one == VERDICT_YES)
			return one;
		if (one == VERDICT_MAYBE)
			all = one;
	}
	return c->count ? all : VERDICT_MAYBE;
}

static bool any_class(const struct analysis *a, value_id classes, bool (*test)(const char *name))
{
	const struct value *c = value_get(a, classes);

	for (uint32_t i = 0; i < c->count; i++)
		if (test(class_name_of(a, c->refs[i])))
			return true;
	return false;
}

static bool all_scalars(const struct analysis *a, value_id classes)
{
	const struct value *c = value_get(a, classes);

	for (uint32_t i = 0; i < c->count; i++)
		if (!is_scalar_class(class_name_of(a, c->refs[i])))
			return false;
	return c->count > 0 && c->flags == 0;
}

static const uint32_t plain_flags[] = {V_NONE, V_NUMBER, V_STRING, V_CLEAN};

enum { PLAIN_FLAGS = sizeof(plain_flags) / sizeof(*plain_flags) };

static value_id test_truth(struct analysis *a, const struct state *state, value_id subject,
                           value_id classes, bool others_may)
{
	const struct value *v = value_get(a, subject);
	bool all = subject.n != 0, none = subject.n != 0 && !others_may;

	for (uint32_t i = 0; i < v->count + PLAIN_FLAGS; i++) {
		const uint32_t flag = i < v->count ? 0 : plain_flags[i - v->count];
		const object_id id = i < v->count ? v->refs[i] : (object_id){0};
		enum verdict verdict;

		if (flag && !(v->flags & flag))
			continue;
		verdict = is_any(a, state, id, flag, classes);
		all &= verdict == VERDICT_YES;
		none &= verdict == VERDICT_NO;
	}
	if (!all && !none)
		return value_flags(a, V_NUMBER);
	return value_of(a, const_object(a, all ? SUB_const_true : SUB_const_false, (sym_id){0}));
}

static value_id tensor_class(struct analysis *a)
{
	return value_of(a, external_object(a, intern_text(a->names, "torch.Tensor", 12)));
}

/* hasattr(x, "item"): every tensor has what the table says tensors have. */
static value_id attribute_owner(struct analysis *a, value_id name)
{
	object_id id = value_single(a, name);
	size_t length;
	const char *text;

	if (id.n == 0 || def_of(a, id)->kind != OBJECT_CONST)
		return (value_id){0};
	text = intern_chars(a->names, def_of(a, id)->name, &length);
	return method_entry(a, "torch.Tensor", text) ? tensor_class(a) : (value_id){0};
}

/* type(x): what makes another one of its kind. */
static value_id type_of(struct analysis *a, const struct state *state, value_id subject)
{
	const struct value *v = value_get(a, subject);
	value_id types = v->flags ? value_flags(a, V_CLEAN) : (value_id){0};

	for (uint32_t i = 0; i < v->count; i++) {
		const char *name = builtin_class_of(def_of(a, v->refs[i])->kind);

		if (def_of(a, v->refs[i])->kind == OBJECT_INSTANCE)
			types = value_join(a, types, object_read(state, v->refs[i])->of);
		else if (name)
			types = value_join(
			        a, types,
			        value_of(a, external_object(
			                            a, intern_text(a->names, name, strlen(name)))));
		else
			types = value_join(a, types, value_flags(a, V_CLEAN));
	}
	return types;
}

/* What it is asked of: temporaries are gone when the branch is taken. */
static void note_owners(struct activation *act, const struct ir_inst *call)
{
	const struct ir_inst *subject = NULL;

	if (call->op == OP_call && call->nargs > 1)
		subject = inst_at(act, ir_args(act->func, call)[1].value.n);
	if (subject && (subject->op == OP_load_attr || subject->op == OP_load_item)) {
		act->test.owners = operand(act, subject, 0);
		act->test.key = operand(act, subject, 1);
	}
}

bool test_call(struct analysis *a, struct activation *act, const struct state *state,
               struct call call, const char *name, value_id *result)
{
	const bool attribute = strcmp(name, "builtins.hasattr") == 0;
	value_id second = argument_at(a, state, call, 1, NULL), classes;

	if (strcmp(name, "builtins.type") == 0 && call.count == 1) {
		*result = type_of(a, state, call.at[0].value);
		return true;
	}
	if (attribute)
		classes = attribute_owner(a, second);
	else if (strcmp(name, "builtins.isinstance") == 0)
		classes = classes_of(a, state, second);
	else if (strcmp(name, "torch.is_tensor") == 0)
		classes = tensor_class(a);
	else
		return false;
	act->test = (struct test){call.inst, attribute, classes, {0}, {0}};
	note_owners(act, inst_at(act, call.inst));
	*result = value_flags(a, V_NUMBER);
	if (classes.n)
		*result = test_truth(a, state, argument_at(a, state, call, 0, NULL), classes,
		                     attribute);
	return true;
}

/* The same thing, of which more is known. */
static object_id known_copy(struct analysis *a, struct activation *act, struct state *state,
                            uint32_t inst, object_id id)
{
	object_id copy = site_object(a, act, inst, 0x2000 + id.n, def_of(a, id)->kind);
	const struct object *original = object_read(state, id);
	struct object *object = object_renew(a, state, copy);

	*object = *original;
	object->stamp = 0; /* shares its fields until it is written */
	def_of(a, copy)->name = def_of(a, id)->name;
	return copy;
}

static object_id without_tensor(struct analysis *a, struct activation *act, struct state *state,
                                uint32_t inst, object_id id)
{
	object_id copy = known_copy(a, act, state, inst, id);

	def_of(a, copy)->no_tensor = true;
	return copy;
}

static value_id narrowed(struct analysis *a, struct activation *act, struct state *state,
                         value_id subject, bool truth)
{
	const struct test *test = &act->test;
	const struct value *v = value_get(a, subject);
	const bool tensors = any_class(a, test->classes, is_tensor_class);
	const bool scalars = all_scalars(a, test->classes);
	value_id kept = value_flags(a, v->flags & V_UNBOUND);

	for (uint32_t i = 0; i < PLAIN_FLAGS; i++) {
		enum verdict verdict;

		if (!(v->flags & plain_flags[i]))
			continue;
		verdict = test->attribute
		                  ? VERDICT_MAYBE
		                  : is_any(a, state, (object_id){0}, plain_flags[i], test->classes);
		if (verdict == VERDICT_MAYBE || (verdict == VERDICT_YES) == truth)
			kept = value_join(a, kept, value_flags(a, plain_flags[i]));
	}
	for (uint32_t i = 0; i < v->count; i++) {
		object_id id = v->refs[i];
		enum verdict verdict = is_any(a, state, id, 0, test->classes);

		if (test->attribute && verdict == VERDICT_NO)
			verdict = VERDICT_MAYBE; /* others may have it too */
		if (verdict != VERDICT_MAYBE && (verdict == VERDICT_YES) != truth)
			continue;
		if (def_of(a, id)->kind == OBJECT_UNKNOWN && tensors && !truth &&
		    !def_of(a, id)->no_tensor)
			id = without_tensor(a, act, state, test->inst, id);
		else if (def_of(a, id)->kind == OBJECT_UNKNOWN && scalars && truth)
			id = (object_id){0};
		kept = value_join(a, kept,
		                  id.n ? value_of(a, id) : value_flags(a, V_NUMBER | V_STRING));
	}
	return value_get(a, kept)->flags & ~(uint32_t)V_UNBOUND || value_get(a, kept)->count
	               ? kept
	               : subject;
}

/* The variable that an instruction reads and leaves bound. */
static bool read_by(const struct activation *act, uint32_t at, struct variable *variable)
{
	const struct ir_inst *inst = inst_at(act, at);

	if (inst->op != OP_load)
		return false;
	if (inst->sub == SUB_scope_slot)
		*variable = (struct variable){.slot = inst->name};
	else if (inst->sub == SUB_scope_global && act->func->kind == FUNC_MODULE)
		*variable = (struct variable){.name = {inst->name}};
	else
		return false;
	return true;
}

static value_id variable_read(struct analysis *a, struct activation *act, struct state *state,
                              struct variable variable)
{
	return variable.slot ? slot_read(a, act, state, variable.slot)
	                     : field_get(object_read(state, namespace_object(a, act->file)),
	                                 variable.name.n);
}

static void variable_write(struct analysis *a, struct activation *act, struct state *state,
                           struct variable variable, value_id value)
{
	if (variable.slot)
		slot_write(a, act, state, variable.slot, value);
	else
		field_set(a, object_write(a, state, namespace_object(a, act->file)),
		          variable.name.n, value);
}

/* An attribute, or what a dict has under one key. */
static bool is_part(const struct activation *act, uint32_t at)
{
	const enum ir_op op = inst_at(act, at)->op;

	return op == OP_load_attr || op == OP_load_item;
}

static uint32_t key_in(struct analysis *a, const struct activation *act, const struct state *state,
                       uint32_t at, object_id owner)
{
	const object_id key = value_single(a, act->test.key);

	if (inst_at(act, at)->op == OP_load_attr)
		return def_of(a, owner)->kind == OBJECT_INSTANCE ? inst_at(act, at)->name : 0;
	return key.n && def_of(a, key)->kind == OBJECT_CONST &&
	                       container_kind(a, state, owner) == OBJECT_DICT
	               ? item_key(a, owner, key)
	               : 0;
}

static value_id without_graphs(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t inst, value_id subject)
{
	const struct value *v = value_get(a, subject);
	value_id bare = value_flags(a, v->flags);

	for (uint32_t i = 0; i < v->count; i++) {
		object_id id = v->refs[i];

		if (is_tensor_like(a, id) && may_carry(object_read(state, id))) {
			struct object *object;

			id = known_copy(a, act, state, inst, id);
			object = object_write(a, state, id);
			object->tensor &= ~(unsigned)(T_GRAPH | T_ASSUMED | T_LEAF);
			object->tensor |= T_BARE;
			object->parents = (value_id){0};
		}
		bare = value_join(a, bare, value_of(a, id));
	}
	return bare;
}

static bool is_name(const struct analysis *a, uint32_t sym, const char *text)
{
	return strcmp(intern_chars(a->names, (sym_id){sym}, NULL), text) == 0;
}

static uint32_t first_operand(const struct activation *act, uint32_t at)
{
	return ir_args(act->func, inst_at(act, at))[0].value.n;
}

struct condition narrow_condition(const struct activation *act, uint32_t branch)
{
	struct condition condition = {first_operand(act, branch), false};

	while (inst_at(act, condition.inst)->op == OP_unary &&
	       inst_at(act, condition.inst)->sub == SUB_unary_not) {
		condition.inst = first_operand(act, condition.inst);
		condition.negated = !condition.negated;
	}
	return condition;
}

bool narrow_applies(const struct analysis *a, const struct activation *act,
                    struct condition condition)
{
	const struct ir_inst *inst = inst_at(act, condition.inst);
	struct variable variable;
	uint32_t subject;

	if (inst->op == OP_call && inst->nargs > 1) {
		subject = ir_args(act->func, inst)[1].value.n;
		return act->test.inst == condition.inst && act->test.classes.n &&
		       (read_by(act, subject, &variable) || is_part(act, subject));
	}
	return inst->op == OP_load_attr && is_name(a, inst->name, "requires_grad") &&
	       read_by(act, first_operand(act, condition.inst), &variable);
}

static void narrow_part(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t at, bool truth)
{
	const struct value *v = value_get(a, act->test.owners);

	for (uint32_t i = 0; i < v->count; i++) {
		const object_id owner = v->refs[i];
		const uint32_t key = is_older(owner) ? 0 : key_in(a, act, state, at, owner);
		const value_id before =
		        key ? field_get(object_read(state, owner), key) : (value_id){0};

		if (before.n)
			field_set(a, object_write(a, state, owner), key,
			          narrowed(a, act, state, before, truth));
	}
}

void narrow(struct analysis *a, struct activation *act, struct state *state,
            struct condition condition, bool truth)
{
	const struct ir_inst *inst = inst_at(act, condition.inst);
	const uint32_t at = ir_args(act->func, inst)[inst->op == OP_call].value.n;
	struct variable variable = {0};
	value_id subject;

	truth ^= condition.negated;
	if (is_part(act, at)) {
		narrow_part(a, act, state, at, truth);
		return;
	}
	read_by(act, at, &variable);
	subject = variable_read(a, act, state, variable);
	if (inst->op == OP_call)
		subject = narrowed(a, act, state, subject, truth);
	else if (!truth)
		subject = without_graphs(a, act, state, condition.inst, subject);
	variable_write(a, act, state, variable, subject);
}
