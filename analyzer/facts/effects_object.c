/* Modules, optimizers, functions that call functions, hooks. */

#include "analyzer/facts/calls.h"
#include "analyzer/facts/effects.h"

#include <string.h>

static object_id new_instance(struct effect *e, object_id class)
{
	object_id id =
	        site_object(e->a, e->act, e->call.inst, 0xe0 + e->call.part, OBJECT_INSTANCE);

	object_renew(e->a, e->state, id)->of = value_of(e->a, class);
	return id;
}

static object_id class_of_entry(struct effect *e)
{
	const char *name = api_result_class(e->entry);

	if (!name)
		name = api_name(e->entry);
	return external_object(e->a, intern_text(e->a->names, name, strlen(name)));
}

static bool any_has_weights(const struct effect *e, value_id value, int depth)
{
	const struct value *v = value_get(e->a, value);

	for (uint32_t i = 0; i < v->count; i++) {
		const struct object *object = object_read(e->state, v->refs[i]);

		if (object->flags & O_HAS_WEIGHTS)
			return true;
		if (depth > 0 && any_has_weights(e, contents_of(e->a, object), depth - 1))
			return true;
	}
	return false;
}

static bool class_has_weights(struct analysis *a, const char *class_name)
{
	const struct api_entry *entry = method_entry(a, class_name, "__call__");

	return !entry || api_has(entry, API_WEIGHTS);
}

static void add_parts(struct effect *e, object_id id)
{
	for (uint32_t i = 0; i < e->call.count; i++) {
		value_id argument = e->call.at[i].value;
		const struct value *v = value_get(e->a, argument);
		value_id parts = argument;

		for (uint32_t k = 0; k < v->count; k++)
			if (def_of(e->a, v->refs[k])->kind == OBJECT_GENERATOR)
				parts = value_join(e->a, parts,
				                   iterate(e->a, e->act, e->state, e->call.inst,
				                           value_of(e->a, v->refs[k])));
			else if (container_kind(e->a, e->state, v->refs[k]) != OBJECT_UNKNOWN &&
			         !(object_read(e->state, v->refs[k])->flags & O_MODULE))
				parts = value_join(
				        e->a, parts,
				        contents_of(e->a, object_read(e->state, v->refs[k])));
		elements_join(e->a, object_write(e->a, e->state, id), parts);
	}
}

static value_id make_module(struct effect *e, object_id class)
{
	object_id id = new_instance(e, class);
	const char *name = intern_chars(e->a->names, def_of(e->a, class)->name, NULL);
	struct object *object;

	add_parts(e, id);
	object = object_write(e->a, e->state, id);
	object->flags |= O_MODULE;
	if (class_has_weights(e->a, name) || any_has_weights(e, object->elements, 2))
		object->flags |= O_HAS_WEIGHTS;
	return value_of(e->a, id);
}

value_id effect_module(struct effect *e)
{
	if (api_has(e->entry, API_TRANSPARENT))
		return effect_target(e);
	return make_module(e, class_of_entry(e));
}

value_id construct_external(struct effect *e, object_id class)
{
	const char *name = intern_chars(e->a->names, def_of(e->a, class)->name, NULL);
	object_id id;

	if (class_is_a(e->a, name, "torch.nn.Module"))
		return make_module(e, class);
	id = new_instance(e, class);
	add_parts(e, id);
	return value_of(e->a, id);
}

value_id effect_object(struct effect *e)
{
	object_id id;

	if (api_has(e->entry, API_TRANSPARENT))
		return effect_target(e);
	if (e->entry->effect == API_LOADER || e->entry->result == KIND_LOADER) {
		value_id loader =
		        unknown_value(e->a, e->act, e->state, e->call.inst, 0xe1, (value_id){0});

		object_write(e->a, e->state, value_single(e->a, loader))->tensor = T_BARE | T_LIVE;
		return loader;
	}
	id = new_instance(e, class_of_entry(e));
	if (e->entry->effect == API_DISTRIBUTION || e->entry->effect == API_OPTIMIZER)
		add_parts(e, id);
	return value_of(e->a, id);
}

static value_id parameter_of(struct effect *e, value_id modules)
{
	object_id id = site_object(e->a, e->act, e->call.inst, 0xe2, OBJECT_TENSOR);
	const struct value *v = value_get(e->a, modules);
	struct object *object = object_renew(e->a, e->state, id);
	bool frozen = v->count > 0;

	for (uint32_t i = 0; i < v->count; i++)
		frozen &= (object_read(e->state, v->refs[i])->flags & O_FROZEN) != 0;
	def_of(e->a, id)->api = e->entry;
	object->of = modules;
	object->flags |= O_PARAMETERS;
	object->tensor = (T_WEIGHTS | (frozen ? T_BARE : T_LEAF));
	return value_of(e->a, id);
}

static value_id keyed(struct effect *e, value_id element)
{
	object_id id;
	struct object *object;

	if (!api_has(e->entry, API_KEYED))
		return element;
	id = site_object(e->a, e->act, e->call.inst, 0xe3, OBJECT_TUPLE);
	object = object_renew(e->a, e->state, id);
	field_set(e->a, object, 0, value_flags(e->a, V_STRING | V_KEY));
	field_set(e->a, object, 1, element);
	return value_of(e->a, id);
}

static value_id submodules(struct effect *e, value_id modules)
{
	const struct value *v = value_get(e->a, modules);
	value_id found = modules;

	for (uint32_t i = 0; i < v->count; i++) {
		value_id parts = contents_of(e->a, object_read(e->state, v->refs[i]));
		const struct value *p = value_get(e->a, parts);

		for (uint32_t k = 0; k < p->count; k++)
			if (object_read(e->state, p->refs[k])->flags & O_MODULE)
				found = value_join(e->a, found, value_of(e->a, p->refs[k]));
	}
	return found;
}

value_id effect_parameters(struct effect *e)
{
	value_id modules = effect_argument(e, 0, NULL);
	object_id id;
	value_id element;
	enum object_kind kind = OBJECT_ITERATOR;

	switch ((enum api_kind)e->entry->result) {
	case KIND_PARAMETER_ITER:
		element = parameter_of(e, modules);
		break;
	case KIND_MODULES:
		element = submodules(e, modules);
		break;
	case KIND_STATE:
		kind = OBJECT_DICT;
		element = value_of(e->a, tensor_make(e->a, e->act, e->state, e->call.inst, 0xe5,
		                                     (value_id){0}, 0));
		break;
	case KIND_BUFFER_ITER:
		element = value_of(e->a, tensor_make(e->a, e->act, e->state, e->call.inst, 0xe5,
		                                     (value_id){0}, 0));
		break;
	case KIND_PARAMETER:
		return parameter_of(e, modules);
	default:
		return effect_result(e, (value_id){0}, 0);
	}
	if (kind == OBJECT_ITERATOR)
		element = keyed(e, element);
	id = site_object(e->a, e->act, e->call.inst, 0xe4, kind);
	elements_join(e->a, object_renew(e->a, e->state, id), element);
	return value_of(e->a, id);
}

static struct call arguments_after(struct effect *e, uint32_t index, uint32_t part)
{
	struct call rest = e->call;

	rest.part = part;
	rest.at = e->call.at + index + 1;
	rest.count = e->call.count > index + 1 ? e->call.count - index - 1 : 0;
	return rest;
}

/* map(fn, (a, b, c)): a result for each. */
static value_id map_fields(struct effect *e, value_id function, object_id source)
{
	const struct object *from = object_read(e->state, source);
	object_id id = site_object(e->a, e->act, e->call.inst, 0xea, OBJECT_TUPLE);
	struct object built = {0};

	for (uint32_t i = 0; i < from->field_count; i++) {
		const struct argument argument = {from->fields[i].value, {0}};

		if (from->fields[i].key >= PARTIAL_KEYWORDS)
			continue;
		field_set(e->a, &built, from->fields[i].key,
		          call_value(e->a, e->act, e->state,
		                     (struct call){e->call.inst, 0x100 * (i + 1), &argument, 1},
		                     function));
	}
	built.stamp = e->state->stamp;
	*object_renew(e->a, e->state, id) = built;
	return value_of(e->a, id);
}

static bool has_fields_only(struct effect *e, object_id id)
{
	enum object_kind kind = container_kind(e->a, e->state, id);
	const struct object *object = object_read(e->state, id);

	return (kind == OBJECT_TUPLE || kind == OBJECT_LIST) && object->elements.n == 0 &&
	       object->field_count > 0 && object->field_count <= 8;
}

/* map(fn, xs), reduce(fn, xs): the function sees elements. */
static value_id call_on_elements(struct effect *e, value_id function)
{
	struct argument elements[6];
	uint32_t count = 0;
	value_id result;
	object_id id = value_single(e->a, effect_argument(e, api_arg(e->entry) + 1, NULL));

	if (e->entry->result != KIND_RESULT && e->call.count == api_arg(e->entry) + 2 &&
	    has_fields_only(e, id))
		return map_fields(e, function, id);
	for (uint32_t i = api_arg(e->entry) + 1; i < e->call.count && count < 6; i++)
		elements[count++] = (struct argument){
		        iterate(e->a, e->act, e->state, e->call.inst, e->call.at[i].value), {0}};
	if (e->entry->result == KIND_RESULT && count == 1)
		elements[count++] = elements[0]; /* reduce: an element and the result so far */
	result = call_value(e->a, e->act, e->state,
	                    (struct call){e->call.inst, 11, elements, count}, function);
	if (e->entry->result == KIND_RESULT)
		return value_join(e->a, result, elements[0].value);
	id = site_object(e->a, e->act, e->call.inst, 0xe6, OBJECT_ITERATOR);
	elements_join(e->a, object_renew(e->a, e->state, id), result);
	return value_of(e->a, id);
}

value_id effect_calls(struct effect *e)
{
	value_id function = effect_argument(e, api_arg(e->entry), NULL);
	const char *name = api_name(e->entry);
	value_id result;

	if (strstr(name, "enter_context") || strstr(name, "enter_async_context"))
		return scope_enter(e->a, e->act, e->state, e->call.inst, function, 0);
	if (e->entry->effect == API_STEP) {
		function = effect_argument(e, 1, "closure");
		if (!value_get(e->a, function)->count)
			return value_flags(e->a, V_NONE);
		return call_value(e->a, e->act, e->state, (struct call){e->call.inst, 11, NULL, 0},
		                  function);
	}
	if (api_has(e->entry, API_EACH))
		return call_on_elements(e, function);
	result = call_value(e->a, e->act, e->state, arguments_after(e, api_arg(e->entry), 12),
	                    function);
	return e->entry->result == KIND_RESULT ? result : effect_result(e, result, T_SAVES);
}

static void mark_functions(struct effect *e, value_id functions, uint32_t flag)
{
	const struct value *v = value_get(e->a, functions);

	for (uint32_t i = 0; i < v->count; i++)
		if (object_exists(e->state, v->refs[i]))
			object_write(e->a, e->state, v->refs[i])->flags |= flag;
}

static value_id make_partial(struct effect *e, value_id function)
{
	object_id id = site_object(e->a, e->act, e->call.inst, 0xe7, OBJECT_PARTIAL);
	struct object *object = object_renew(e->a, e->state, id);
	uint32_t position = 0;

	object->of = function;
	for (uint32_t i = 1; i < e->call.count; i++)
		if (e->call.at[i].keyword.n == 0)
			field_set(e->a, object, position++, e->call.at[i].value);
		else
			field_set(e->a, object, PARTIAL_KEYWORDS + e->call.at[i].keyword.n,
			          e->call.at[i].value);
	return value_of(e->a, id);
}

/* namedtuple("Tick", "seen move logp"): a class whose fields are in the text. */
static value_id make_namedtuple(struct effect *e)
{
	object_id id = site_object(e->a, e->act, e->call.inst, 0xe8, OBJECT_NAMEDTUPLE);

	object_renew(e->a, e->state, id)->of = effect_argument(e, 1, "field_names");
	return value_of(e->a, id);
}

/* A named tuple has each field under its position, too. */
static void replace_field(struct effect *e, struct object *copy, object_id of,
                          struct argument field)
{
	if (def_of(e->a, of)->kind != OBJECT_TUPLE) {
		field_set(e->a, copy, field.keyword.n, field.value);
		return;
	}
	for (uint32_t i = 0; i < MAX_ARGUMENTS; i++) {
		const sym_id name = field_name(e->a, e->state, copy->of, i);

		if (name.n == field.keyword.n) {
			field_set(e->a, copy, i, field.value);
			field_set(e->a, copy, PARTIAL_KEYWORDS + name.n, field.value);
		}
	}
}

static value_id replaced(struct effect *e, object_id of, uint32_t part)
{
	const enum object_kind kind = def_of(e->a, of)->kind;
	const object_id id = site_object(e->a, e->act, e->call.inst, part, kind);
	const struct object *from = object_read(e->state, of);
	struct object copy = {.flags = from->flags, .of = from->of, .elements = from->elements};

	for (uint32_t i = 0; i < from->field_count; i++)
		field_set(e->a, &copy, from->fields[i].key, from->fields[i].value);
	for (uint32_t i = 0; i < e->call.count; i++)
		if (e->call.at[i].keyword.n != 0)
			replace_field(e, &copy, of, e->call.at[i]);
	copy.stamp = e->state->stamp;
	*object_renew(e->a, e->state, id) = copy;
	return value_of(e->a, id);
}

value_id effect_replaces(struct effect *e)
{
	const value_id target = effect_target(e);
	const struct value *v = value_get(e->a, target);
	value_id all = value_flags(e->a, v->flags);

	for (uint32_t i = 0; i < v->count; i++) {
		const enum object_kind kind = def_of(e->a, v->refs[i])->kind;
		const bool has_fields = kind == OBJECT_TUPLE || kind == OBJECT_INSTANCE;

		all = value_join(e->a, all,
		                 has_fields ? replaced(e, v->refs[i], 0x200 + i)
		                            : value_of(e->a, v->refs[i]));
	}
	return all;
}

value_id effect_wraps(struct effect *e)
{
	const char *name = api_name(e->entry);
	value_id function = effect_target(e);
	static const struct {
		const char *name;
		uint32_t flag;
	} marks[] = {
	        {"builtins.property", O_PROPERTY},
	        {"builtins.staticmethod", O_STATIC},
	        {"builtins.classmethod", O_CLASS_METHOD},
	        {"contextlib.contextmanager", O_CONTEXT_MANAGER},
	        {"contextlib.asynccontextmanager", O_CONTEXT_MANAGER},
	        {"dataclasses.dataclass", O_RECORD},
	};

	if (strcmp(name, "collections.namedtuple") == 0)
		return make_namedtuple(e);
	if (strcmp(name, "functools.partial") == 0 && e->call.count > 0)
		return make_partial(e, function);
	if (strcmp(name, "functools.wraps") == 0 || !value_get(e->a, function)->count ||
	    def_of(e->a, value_get(e->a, function)->refs[0])->kind == OBJECT_CONST)
		return value_of(e->a,
		                external_object(e->a, intern_text(e->a->names, "$identity", 9)));
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strcmp(name, marks[i].name) == 0)
			mark_functions(e, function, marks[i].flag);
	return function;
}

static void note_cache(struct effect *e, value_id functions)
{
	const struct value *v = value_get(e->a, functions);

	for (uint32_t i = 0; i < v->count; i++)
		def_of(e->a, v->refs[i])->cached_at =
		        place_of(e->act->file, e->act->func, e->call.inst);
}

value_id effect_caches(struct effect *e)
{
	value_id function = effect_target(e);
	const struct value *v = value_get(e->a, function);
	const char *name = api_name(e->entry);

	if (v->count && (def_of(e->a, v->refs[0])->kind == OBJECT_FUNCTION ||
	                 def_of(e->a, v->refs[0])->kind == OBJECT_WRAPPER)) {
		mark_functions(e, function, O_CACHED);
		note_cache(e, function);
		if (strstr(name, "cached_property"))
			mark_functions(e, function, O_PROPERTY);
		return function;
	}
	return value_of(e->a, external_object(e->a, intern_text(e->a->names, name, strlen(name))));
}

static bool captures(struct effect *e, object_id function, value_id tensors)
{
	const struct ir_func *func = def_of(e->a, function)->func;
	object_id frame = value_single(e->a, object_read(e->state, function)->of);

	for (uint32_t s = 1; frame.n && s < func->slots.count; s++) {
		const struct value *t = value_get(e->a, tensors);
		value_id held;

		if (func->slots.at[s].kind != SLOT_FREE)
			continue;
		held = field_get(object_read(e->state, frame), func->slots.at[s].outer.n);
		for (uint32_t i = 0; i < t->count; i++)
			if (value_has(e->a, held, t->refs[i]))
				return true;
	}
	return false;
}

static void check_hook_cycle(struct effect *e, value_id receiver, value_id functions)
{
	const struct value *v = value_get(e->a, functions);
	value_id tensors = tensors_in(e->a, e->state, receiver, 0);
	const struct value *r = value_get(e->a, tensors);

	for (uint32_t i = 0; i < r->count; i++) /* t.grad_fn.register_hook: the tensor behind it */
		if (def_of(e->a, r->refs[i])->kind == OBJECT_UNKNOWN)
			tensors =
			        value_join(e->a, tensors, object_read(e->state, r->refs[i])->with);
	for (uint32_t i = 0; i < r->count; i++)
		tensors = value_join(e->a, tensors, object_read(e->state, r->refs[i])->parents);
	for (uint32_t i = 0; i < v->count; i++)
		if (def_of(e->a, v->refs[i])->kind == OBJECT_FUNCTION &&
		    captures(e, v->refs[i], tensors))
			event_note(e->a, e->act, e->call.inst, EVENT_HOOK_CYCLE, (object_id){0},
			           value_get(e->a, tensors)->refs[0]);
}

static void run_gradient_hook(struct effect *e, value_id functions)
{
	const struct argument gradient = {
	        value_of(e->a,
	                 tensor_make(e->a, e->act, e->state, e->call.inst, 0xe9, (value_id){0}, 0)),
	        {0}};

	e->a->hook_depth++;
	call_value(e->a, e->act, e->state, (struct call){e->call.inst, 13, &gradient, 1},
	           functions);
	e->a->hook_depth--;
	e->state->reachable = true;
}

value_id effect_hook(struct effect *e)
{
	value_id receiver = effect_argument(e, 0, NULL);
	value_id functions = effect_argument(e, api_arg(e->entry), "hook");
	const struct value *v = value_get(e->a, receiver);
	const char *name = api_name(e->entry);
	const sym_id hooks = intern_text(e->a->names, "$forward_hooks", 14);

	if (strstr(name, "ExitStack"))
		return functions;
	if (strstr(name, "forward_hook"))
		for (uint32_t i = 0; i < v->count; i++)
			field_join(e->a, object_write(e->a, e->state, v->refs[i]), hooks.n,
			           functions);
	if (strcmp(name, "torch.Tensor.register_hook") == 0 || strstr(name, "graph.Node")) {
		check_hook_cycle(e, receiver, functions);
		run_gradient_hook(e, functions);
		gradient_hook_add(e, tensors_in(e->a, e->state, receiver, 0), functions);
	}
	return value_flags(e->a, V_CLEAN);
}
