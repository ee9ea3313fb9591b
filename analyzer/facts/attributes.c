/* Attributes: instances, classes and their bases, modules, names outside the
 * project, unknown objects that get a part for each name asked of them. */

#include "analyzer/facts/analysis.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CLASS_DEPTH = 16 };

static value_id lookup_in_bases(struct analysis *a, struct state *state, value_id bases,
                                sym_id name, int depth);

static value_id lookup_in_class(struct analysis *a, struct state *state, object_id class,
                                sym_id name, int depth)
{
	const struct object *object = object_read(state, class);
	value_id found = {0};

	if (def_of(a, class)->kind != OBJECT_CLASS || depth == 0)
		return found;
	found = value_without(a, field_get(object, name.n), V_UNBOUND);
	return found.n ? found : lookup_in_bases(a, state, object->of, name, depth - 1);
}

static value_id lookup_in_bases(struct analysis *a, struct state *state, value_id bases,
                                sym_id name, int depth)
{
	const struct value *v = value_get(a, bases);
	value_id found = {0};

	for (uint32_t i = 0; i < v->count && found.n == 0; i++)
		found = lookup_in_class(a, state, v->refs[i], name, depth);
	return found;
}

value_id class_lookup(struct analysis *a, struct state *state, value_id class, sym_id name)
{
	return lookup_in_bases(a, state, class, name, MAX_CLASS_DEPTH);
}

static const char *external_base(struct analysis *a, const struct state *state, value_id classes,
                                 int depth)
{
	const struct value *v = value_get(a, classes);
	const char *found = NULL;

	for (uint32_t i = 0; i < v->count && !found && depth > 0; i++) {
		if (def_of(a, v->refs[i])->kind == OBJECT_EXTERNAL)
			found = intern_chars(a->names, def_of(a, v->refs[i])->name, NULL);
		else
			found = external_base(a, state, object_read(state, v->refs[i])->of,
			                      depth - 1);
	}
	return found;
}

const char *external_class(struct analysis *a, const struct state *state, object_id id)
{
	switch (def_of(a, id)->kind) {
	case OBJECT_TENSOR:
		return "torch.Tensor";
	case OBJECT_LIST:
		return "list";
	case OBJECT_TUPLE:
		return "tuple";
	case OBJECT_SET:
		return "set";
	case OBJECT_DICT:
		return "dict";
	case OBJECT_DEQUE:
		return "collections.deque";
	case OBJECT_INSTANCE:
	case OBJECT_CLASS:
		return external_base(a, state, object_read(state, id)->of, MAX_CLASS_DEPTH);
	default:
		return NULL;
	}
}

bool is_module_instance(struct analysis *a, const struct state *state, object_id id)
{
	const char *class_name;

	if (object_read(state, id)->flags & O_MODULE)
		return true;
	class_name = def_of(a, id)->kind == OBJECT_INSTANCE ? external_class(a, state, id) : NULL;
	return class_name && class_is_a(a, class_name, "torch.nn.Module");
}

static value_id bind(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                     uint32_t part, object_id receiver, value_id function)
{
	object_id bound = site_object(a, act, inst, part, OBJECT_BOUND);
	struct object *object = object_renew(a, state, bound);

	object->of = value_of(a, receiver);
	object->with = function;
	return value_of(a, bound);
}

static value_id bind_external(struct analysis *a, struct activation *act, struct state *state,
                              uint32_t inst, object_id receiver, const struct api_entry *entry)
{
	const char *name = api_name(entry);
	object_id external = external_object(a, intern_text(a->names, name, strlen(name)));
	/* A receiver that stands at several places of one value gets a method each. */
	return bind(a, act, state, inst, 0x100 + receiver.n, receiver, value_of(a, external));
}

static value_id bind_found(struct analysis *a, struct activation *act, struct state *state,
                           uint32_t inst, object_id receiver, value_id found)
{
	const struct value *v = value_get(a, found);
	value_id bound = {0};

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *function = object_read(state, v->refs[i]);
		enum object_kind kind = def_of(a, v->refs[i])->kind;
		const struct argument self = {value_of(a, receiver), {0}};

		if (kind != OBJECT_FUNCTION && kind != OBJECT_WRAPPER)
			bound = value_join(a, bound, value_of(a, v->refs[i]));
		else if (function->flags & O_PROPERTY)
			bound = value_join(a, bound,
			                   call_object(a, act, state,
			                               (struct call){inst, 16, &self, 1},
			                               v->refs[i]));
		else if (function->flags & O_STATIC)
			bound = value_join(a, bound, value_of(a, v->refs[i]));
		else if (function->flags & O_CLASS_METHOD &&
		         def_of(a, receiver)->kind == OBJECT_INSTANCE)
			bound = value_join(
			        a, bound,
			        bind(a, act, state, inst, 0x100 + receiver.n + i,
			             value_get(a, object_read(state, receiver)->of)->refs[0],
			             value_of(a, v->refs[i])));
		else
			bound = value_join(a, bound,
			                   bind(a, act, state, inst, 0x100 + receiver.n + i,
			                        receiver, value_of(a, v->refs[i])));
	}
	if (value_get(a, found)->flags & ~(uint32_t)V_UNBOUND)
		bound = value_join(
		        a, bound,
		        value_flags(a, value_get(a, found)->flags & ~(uint32_t)V_UNBOUND));
	return bound;
}

static value_id part_of_unknown(struct analysis *a, struct activation *act, struct state *state,
                                uint32_t inst, object_id owner, sym_id name)
{
	value_id known = field_get(object_read(state, owner), name.n);
	object_id part;

	if (known.n)
		return known;
	known = unknown_value(a, act, state, inst, 0x40 + owner.n, value_of(a, owner));
	part = value_single(a, known);
	def_of(a, part)->tensor_seen |= object_read(state, part)->tensor;
	def_of(a, part)->name = name;
	def_of(a, part)->whole = newest_of(owner);
	object_write(a, state, part)->with = value_of(a, owner);
	field_set(a, object_write(a, state, owner), name.n, known);
	return known;
}

static value_id unknown_attribute(struct analysis *a, struct activation *act, struct state *state,
                                  uint32_t inst, object_id id, sym_id name)
{
	size_t length;
	const char *text = intern_chars(a->names, name, &length);
	const struct api_entry *entry = method_entry(a, "torch.Tensor", text);

	if (entry && api_has(entry, API_PROPERTY) &&
	    (entry->effect == API_NUMBER || entry->effect == API_NONE))
		return value_flags(a, V_CLEAN);
	if (entry && entry->effect == API_CUTS_VIEW && api_has(entry, API_PROPERTY)) {
		value_id part = part_of_unknown(a, act, state, inst, id, name);
		struct object *object;

		if (!value_single(a, part).n)
			return part;
		object = object_write(a, state, value_single(a, part));
		object->tensor = T_BARE;
		object->parents = (value_id){0};
		return part;
	}
	return part_of_unknown(a, act, state, inst, id, name);
}

/* The table has the methods of builtin containers as list.append, dict.update. */
static const struct api_entry *method_of(struct analysis *a, const char *class_name,
                                         const char *name)
{
	const struct api_entry *entry = method_entry(a, class_name, name);

	if (!entry && strncmp(class_name, "builtins.", 9) == 0)
		entry = method_entry(a, class_name + 9, name);
	return entry;
}

/* Built-in kinds have the methods of the table and no others. */
static bool has_fixed_attributes(enum object_kind kind)
{
	switch (kind) {
	case OBJECT_TENSOR:
	case OBJECT_LIST:
	case OBJECT_TUPLE:
	case OBJECT_SET:
	case OBJECT_DEQUE:
	case OBJECT_DICT:
	case OBJECT_ITERATOR:
		return true;
	default:
		return false;
	}
}

/* What setattr put there; the parts of nn.Sequential are something else. */
static bool has_dynamic_attributes(const struct analysis *a, const struct state *state,
                                   object_id id)
{
	object_id class = value_single(a, object_read(state, id)->of);

	return def_of(a, id)->kind == OBJECT_INSTANCE && class.n &&
	       def_of(a, class)->kind != OBJECT_EXTERNAL;
}

static value_id missing_attribute(struct analysis *a, struct activation *act, struct state *state,
                                  uint32_t inst, object_id id, sym_id name)
{
	size_t length;
	const char *text = intern_chars(a->names, name, &length);
	const char *class_name = external_class(a, state, id);
	const struct api_entry *entry = class_name ? method_of(a, class_name, text) : NULL;
	object_id method;
	value_id dynamic;

	if (entry && api_has(entry, API_PROPERTY))
		return apply_property(a, act, state, inst, value_of(a, id), entry);
	if (entry)
		return bind_external(a, act, state, inst, id, entry);
	if (class_name && (method = model_method(a, class_name, name)).n)
		return bind(a, act, state, inst, 0x100 + id.n, id, value_of(a, method));
	if (has_fixed_attributes(def_of(a, id)->kind))
		return value_flags(a, V_CLEAN); /* no such method: something else is meant */
	dynamic = has_dynamic_attributes(a, state, id) ? object_read(state, id)->elements
	                                               : (value_id){0};
	if (dynamic.n)
		return dynamic;
	return part_of_unknown(a, act, state, inst, id, name);
}

static value_id training_of(struct analysis *a, const struct object *module)
{
	switch (module->flags & (O_TRAINING | O_EVAL)) {
	case O_TRAINING:
		return value_of(a, const_object(a, SUB_const_true, (sym_id){0}));
	case O_EVAL:
		return value_of(a, const_object(a, SUB_const_false, (sym_id){0}));
	default:
		return value_flags(a, V_NUMBER);
	}
}

static value_id instance_attribute(struct analysis *a, struct activation *act, struct state *state,
                                   uint32_t inst, object_id id, sym_id name)
{
	value_id own = field_get(object_read(state, id), name.n);
	value_id found = {0};

	field_note_read(a, act, inst, id, name);
	if (own.n == 0 || value_get(a, own)->flags & V_UNBOUND) {
		found = class_lookup(a, state, object_read(state, id)->of, name);
		found = bind_found(a, act, state, inst, id, found);
	}
	own = value_without(a, value_join(a, own, found), V_UNBOUND);
	if (own.n)
		return own;
	if (strcmp(intern_chars(a->names, name, NULL), "training") == 0 &&
	    object_read(state, id)->flags & O_MODULE)
		return training_of(a, object_read(state, id));
	if (strcmp(intern_chars(a->names, name, NULL), "__class__") == 0)
		return object_read(state, id)->of;
	return missing_attribute(a, act, state, inst, id, name);
}

static value_id external_attribute(struct analysis *a, object_id id, sym_id name)
{
	char dotted[300];
	int length = snprintf(dotted, sizeof(dotted), "%s.%s",
	                      intern_chars(a->names, def_of(a, id)->name, NULL),
	                      intern_chars(a->names, name, NULL));

	if (length < 0 || (size_t)length >= sizeof(dotted))
		return value_flags(a, V_CLEAN);
	return value_of(a, external_object(a, intern_text(a->names, dotted, (size_t)length)));
}

static value_id class_attribute(struct analysis *a, struct activation *act, struct state *state,
                                uint32_t inst, object_id id, sym_id name)
{
	value_id found = class_lookup(a, state, value_of(a, id), name);
	const struct value *v = value_get(a, found);
	const char *class_name;
	char dotted[300];
	int length;

	if (v->count == 1 && object_read(state, v->refs[0])->flags & O_CLASS_METHOD)
		return bind(a, act, state, inst, 0x100 + id.n, id, found);
	if (found.n)
		return found;
	class_name = external_class(a, state, id);
	if (!class_name)
		return value_flags(a, V_CLEAN);
	length = snprintf(dotted, sizeof(dotted), "%s.%s", class_name,
	                  intern_chars(a->names, name, NULL));
	if (length < 0 || (size_t)length >= sizeof(dotted))
		return value_flags(a, V_CLEAN);
	/* torch.autograd.Function's `apply` runs the class's own forward */
	if (strcmp(intern_chars(a->names, name, NULL), "apply") == 0)
		return bind(a, act, state, inst, 0x100 + id.n, id,
		            value_of(a, external_object(
		                                a, intern_text(a->names, dotted, (size_t)length))));
	return value_of(a, external_object(a, intern_text(a->names, dotted, (size_t)length)));
}

static value_id super_attribute(struct analysis *a, struct activation *act, struct state *state,
                                uint32_t inst, object_id id, sym_id name)
{
	const struct object *super = object_read(state, id);
	object_id receiver = value_single(a, super->of);
	const struct value *classes = value_get(a, super->with);
	value_id found = {0};

	for (uint32_t i = 0; i < classes->count; i++)
		found = value_join(a, found,
		                   lookup_in_bases(a, state,
		                                   object_read(state, classes->refs[i])->of, name,
		                                   MAX_CLASS_DEPTH));
	if (receiver.n == 0)
		return unknown_value(a, act, state, inst, 0, super->of);
	return found.n ? bind_found(a, act, state, inst, receiver, found)
	               : missing_attribute(a, act, state, inst, receiver, name);
}

static value_id namespace_attribute(struct analysis *a, struct activation *act, struct state *state,
                                    uint32_t inst, object_id id, sym_id name)
{
	value_id found = field_get(object_read(state, id), name.n);
	const struct project_file *file = def_of(a, id)->file, *sub;
	char dotted[300];

	if (found.n &&
	    !(value_get(a, found)->flags == V_UNBOUND && value_get(a, found)->count == 0))
		return force_import(a, act, state, value_without(a, found, V_UNBOUND));
	snprintf(dotted, sizeof(dotted), ".%s", intern_chars(a->names, name, NULL));
	sub = project_import(a->project, file, dotted);
	if (sub && sub != file)
		return force_import(a, act, state,
		                    value_of(a, imported_object(a, sub, (sym_id){0})));
	return unknown_value(a, act, state, inst, 0, (value_id){0});
}

/* torch.return_types: `.values` and `.indices` of topk, max, sort. */
static value_id named_result(const struct analysis *a, const struct object *tuple, sym_id name)
{
	const char *text = intern_chars(a->names, name, NULL);

	if (strcmp(text, "values") == 0)
		return field_get(tuple, 0);
	return strcmp(text, "indices") == 0 ? field_get(tuple, 1) : (value_id){0};
}

static bool name_is(const struct analysis *a, sym_id name, const char *text)
{
	return strcmp(intern_chars(a->names, name, NULL), text) == 0;
}

/* `x.requires_grad` where it is plain; 0: it is not. */
static value_id requires_grad(struct analysis *a, const struct object *tensor, sym_id name)
{
	const unsigned bits = tensor->tensor & (T_BARE | T_GRAPH | T_ASSUMED | T_LEAF);

	if (!name_is(a, name, "requires_grad") || bits & T_ASSUMED ||
	    (bits & T_BARE && bits != T_BARE) || bits == 0)
		return (value_id){0};
	return value_of(
	        a, const_object(a, bits == T_BARE ? SUB_const_false : SUB_const_true, (sym_id){0}));
}

static value_id object_attribute(struct analysis *a, struct activation *act, struct state *state,
                                 uint32_t inst, object_id id, sym_id name)
{
	value_id own;

	switch (def_of(a, id)->kind) {
	case OBJECT_INSTANCE:
		return instance_attribute(a, act, state, inst, id, name);
	case OBJECT_CLASS:
		return class_attribute(a, act, state, inst, id, name);
	case OBJECT_EXTERNAL:
		return external_attribute(a, id, name);
	case OBJECT_NAMESPACE:
		return namespace_attribute(a, act, state, inst, id, name);
	case OBJECT_SUPER:
		return super_attribute(a, act, state, inst, id, name);
	case OBJECT_UNKNOWN:
		return unknown_attribute(a, act, state, inst, id, name);
	case OBJECT_CONST:
		return value_flags(a, V_CLEAN);
	case OBJECT_TENSOR:
		own = field_get(object_read(state, id), name.n);
		if (own.n == 0)
			own = requires_grad(a, object_read(state, id), name);
		return own.n ? own : missing_attribute(a, act, state, inst, id, name);
	case OBJECT_BOUND:
		own = field_get(object_read(state, id), name.n);
		return own.n ? own
		             : attribute_get(a, act, state, inst, object_read(state, id)->with,
		                             name);
	case OBJECT_WRAPPER:
		own = field_get(object_read(state, id), name.n);
		return own.n ? own
		             : attribute_get(a, act, state, inst, object_read(state, id)->of, name);
	case OBJECT_TUPLE:
		own = field_get(object_read(state, id), PARTIAL_KEYWORDS + name.n);
		if (own.n == 0)
			own = named_result(a, object_read(state, id), name);
		return own.n ? own : missing_attribute(a, act, state, inst, id, name);
	case OBJECT_LIST:
	case OBJECT_SET:
	case OBJECT_DEQUE:
	case OBJECT_DICT:
	case OBJECT_ITERATOR:
		return missing_attribute(a, act, state, inst, id, name);
	default:
		own = field_get(object_read(state, id), name.n);
		return own.n ? own : missing_attribute(a, act, state, inst, id, name);
	}
}

value_id attribute_get(struct analysis *a, struct activation *act, struct state *state,
                       uint32_t inst, value_id object, sym_id name)
{
	const struct value *v = value_get(a, object);
	value_id found = v->flags & ~(uint32_t)(V_UNBOUND | V_NONE) ? value_flags(a, V_CLEAN)
	                                                            : (value_id){0};

	for (uint32_t i = 0; i < v->count; i++)
		found = value_join(a, found,
		                   object_attribute(a, act, state, inst, v->refs[i], name));
	return found;
}

/* A tensor's `requires_grad`, on parameters: their module is frozen with them. */
static void set_requires_grad(struct analysis *a, struct state *state, object_id id, value_id value)
{
	object_id constant = value_single(a, value);
	struct object *object = object_write(a, state, id);

	if (constant.n == 0 || def_of(a, constant)->sub != SUB_const_false) {
		object->tensor |= T_LEAF;
		return;
	}
	object->tensor = ((object->tensor & ~(unsigned)(T_LEAF | T_GRAPH | T_ASSUMED)) | T_BARE);
	if (object->flags & O_PARAMETERS) {
		const struct value *modules = value_get(a, object->of);

		for (uint32_t i = 0; i < modules->count; i++)
			object_write(a, state, modules->refs[i])->flags |= O_FROZEN;
	}
}

/* Given by autograd.grad, with its graph. */
static bool is_slope(const struct analysis *a, const struct state *state, object_id id)
{
	const struct api_entry *api = def_of(a, id)->api;

	return api && api->effect == API_GRAD && object_read(state, id)->tensor & T_GRAPH;
}

/* `p.grad = slope`: the parameter is in the slope's graph. */
static void check_gradient(struct analysis *a, struct activation *act, const struct state *state,
                           uint32_t inst, object_id id, value_id value)
{
	const struct value *v = value_get(a, value);

	if (!(object_read(state, id)->tensor & T_LEAF))
		return;
	for (uint32_t i = 0; i < v->count; i++)
		if (is_slope(a, state, v->refs[i]))
			event_note(a, act, inst, EVENT_CREATE_GRAPH, id, v->refs[i])->holder_kind =
			        HOLDER_TENSOR;
}

static void set_tensor_attribute(struct analysis *a, struct activation *act, struct state *state,
                                 uint32_t inst, value_id holders, object_id id, sym_id name,
                                 value_id value)
{
	if (name_is(a, name, "grad"))
		check_gradient(a, act, state, inst, id, value);
	if (name_is(a, name, "grad") && value_get(a, value)->flags == V_NONE)
		a->gradients_cleared = true;
	if (name_is(a, name, "requires_grad")) {
		set_requires_grad(a, state, id, value);
	} else if (!name_is(a, name, "data") && !name_is(a, name, "grad")) {
		struct object *object = object_write(a, state, id);

		if (is_strong(a, holders, id))
			field_set(a, object, name.n, value);
		else
			field_join(a, object, name.n, value);
	}
}

static bool call_setter(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t inst, object_id id, sym_id name, value_id value)
{
	value_id found = class_lookup(a, state, object_read(state, id)->of, name);
	object_id property = value_single(a, found);
	const struct argument arguments[2] = {{value_of(a, id), {0}}, {value, {0}}};

	if (property.n == 0 || !(object_read(state, property)->flags & O_PROPERTY))
		return false;
	found = object_read(state, property)->with; /* its setter */
	if (found.n)
		call_value(a, act, state, (struct call){inst, 17, arguments, 2}, found);
	return found.n != 0;
}

static void set_field(struct analysis *a, struct activation *act, struct state *state,
                      uint32_t inst, value_id holders, object_id id, sym_id name, value_id value)
{
	const bool strong = is_strong(a, holders, id) || are_alternatives(a, holders);
	value_id before = field_get(object_read(state, id), name.n);
	struct object *object;

	if (before.n && strong)
		field_note_write(a, act, inst, id, name);
	check_chain(a, act, state, inst, before, value, id, (struct variable){.field = name});
	check_links(a, act, state, inst, before, value);
	check_each(a, act, state, inst, id, value);
	check_last(a, act, state, inst, id, value);
	if (strong)
		containers_replaced(a, state, before, value);
	containers_let_go(a, act, state, inst, before, value);
	object = object_write(a, state, id);
	if (strong)
		field_set(a, object, name.n, value);
	else
		field_join(a, object, name.n, value);
}

static void note_context_store(struct analysis *a, struct activation *act, struct state *state,
                               uint32_t inst, object_id id, value_id value)
{
	const struct value *v;

	if (!(object_read(state, id)->flags & O_AUTOGRAD_CONTEXT))
		return;
	v = value_get(a, tensors_in(a, state, value, 2));
	for (uint32_t i = 0; i < v->count; i++)
		if (is_known_tensor(a, state, v->refs[i]))
			event_note(a, act, inst, EVENT_CONTEXT_STORE, id, v->refs[i]);
}

void attribute_set(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                   value_id object, sym_id name, value_id value)
{
	const struct value *v = value_get(a, object);

	for (uint32_t i = 0; i < v->count; i++) {
		object_id id = v->refs[i];

		switch (def_of(a, id)->kind) {
		case OBJECT_CONST:
		case OBJECT_EXTERNAL:
		case OBJECT_IMPORTED:
			break;
		case OBJECT_TENSOR:
			set_tensor_attribute(a, act, state, inst, object, id, name, value);
			break;
		case OBJECT_UNKNOWN:
			if (name_is(a, name, "data") || name_is(a, name, "grad"))
				break; /* a tensor's: replaced, not kept beside */
			if (name_is(a, name, "requires_grad"))
				set_requires_grad(a, state, id, value);
			note_context_store(a, act, state, inst, id, value);
			set_field(a, act, state, inst, object, id, name, value);
			break;
		case OBJECT_LIST:
		case OBJECT_TUPLE:
		case OBJECT_SET:
		case OBJECT_DEQUE:
		case OBJECT_DICT:
		case OBJECT_ITERATOR:
			break; /* their fields are elements */
		default:
			if (!call_setter(a, act, state, inst, id, name, value))
				set_field(a, act, state, inst, object, id, name, value);
			break;
		}
	}
}

static value_id force_one(struct analysis *a, struct activation *act, struct state *state,
                          object_id id)
{
	const struct project_file *file = def_of(a, id)->file;
	sym_id name = def_of(a, id)->name;
	value_id found;

	if (def_of(a, id)->running)
		return value_flags(a, V_CLEAN); /* modules that name each other in a circle */
	def_of(a, id)->running = true;
	module_load(a, file);
	found = value_of(a, namespace_object(a, file));
	if (name.n)
		found = attribute_get(a, act, state, 0, found, name);
	def_of(a, id)->running = false;
	return found;
}

value_id force_import(struct analysis *a, struct activation *act, struct state *state, value_id v)
{
	const struct value *value = value_get(a, v);
	value_id forced = value_flags(a, value->flags);
	bool any = false;

	for (uint32_t i = 0; i < value->count; i++)
		any |= def_of(a, value->refs[i])->kind == OBJECT_IMPORTED;
	if (!any)
		return v;
	for (uint32_t i = 0; i < value->count; i++)
		forced = value_join(a, forced,
		                    def_of(a, value->refs[i])->kind == OBJECT_IMPORTED
		                            ? force_one(a, act, state, value->refs[i])
		                            : value_of(a, value->refs[i]));
	return forced;
}
