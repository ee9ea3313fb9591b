/* Functions of the user's own that the configuration says something about. What
 * it says holds in place of their bodies, if there are any. */

#include <stdio.h>
#include <string.h>

#include "analyzer/facts/exec.h"

enum { MAX_DOTTED = 512, MODEL_PART = 0x51 };

/* "package.module" of a file, as imports name it. */
static size_t module_name(const struct project_file *file, char *out, size_t size)
{
	const size_t root = file->root && strcmp(file->root, ".") != 0 ? strlen(file->root) : 0;
	const char *path = file->path;
	size_t length;

	if (root && strncmp(path, file->root, root) == 0 && path[root] == '/')
		path += root + 1;
	length = (size_t)snprintf(out, size, "%s", path);
	if (length >= size)
		return 0;
	if (length > 3 && strcmp(out + length - 3, ".py") == 0)
		length -= 3;
	if (length > 9 && memcmp(out + length - 9, "/__init__", 9) == 0)
		length -= 9;
	for (size_t i = 0; i < length; i++)
		if (out[i] == '/')
			out[i] = '.';
	return length;
}

unsigned model_of_function(const struct analysis *a, object_id function)
{
	const struct def *def = def_of(a, function);
	char dotted[MAX_DOTTED];
	size_t length, name_length;
	const char *name;

	if (!project_has_models(a->project))
		return 0;
	length = module_name(def->file, dotted, sizeof(dotted));
	name = intern_chars(a->names, def->func->qualified, &name_length);
	if (!length || length + 1 + name_length >= sizeof(dotted))
		return 0;
	dotted[length++] = '.';
	memcpy(dotted + length, name, name_length);
	return project_model(a->project, dotted, length + name_length);
}

unsigned model_of_external(const struct analysis *a, object_id external)
{
	size_t length;
	const char *name = intern_chars(a->names, def_of(a, external)->name, &length);

	return project_has_models(a->project) ? project_model(a->project, name, length) : 0;
}

object_id model_method(struct analysis *a, const char *class_name, sym_id name)
{
	char dotted[MAX_DOTTED];
	int length;

	if (!project_has_models(a->project))
		return (object_id){0};
	length = snprintf(dotted, sizeof(dotted), "%s.%s", class_name,
	                  intern_chars(a->names, name, NULL));
	if (length < 0 || (size_t)length >= sizeof(dotted) ||
	    !project_model(a->project, dotted, (size_t)length))
		return (object_id){0};
	return external_object(a, intern_text(a->names, dotted, (size_t)length));
}

bool model_of_class(const struct analysis *a, object_id external)
{
	size_t length;
	const char *name = intern_chars(a->names, def_of(a, external)->name, &length);

	return project_has_models(a->project) && project_models_class(a->project, name, length);
}

/* What a function keeps lies in what it is a method of, else in something of
 * its own that nobody clears. */
static void pin(struct analysis *a, object_id id)
{
	for (uint32_t i = 0; i < a->pinned.count; i++)
		if (a->pinned.at[i].n == id.n)
			return;
	vec_push(a->arena, &a->pinned, id);
}

static value_id keeper_of(struct analysis *a, struct call call, object_id callee)
{
	const struct def *def = def_of(a, callee);
	object_id keeper;
	const struct value *first = call.count ? value_get(a, call.at[0].value) : NULL;

	if (first && first->count && def_of(a, first->refs[0])->kind == OBJECT_INSTANCE)
		return call.at[0].value;
	keeper = site_add(a, (struct def){
	                             .kind = OBJECT_INSTANCE,
	                             .name = def->func ? def->func->qualified : def->name,
	                             .file = def->file,
	                             .part = MODEL_PART,
	                     });
	pin(a, keeper);
	return value_of(a, keeper);
}

static void keep(struct analysis *a, struct activation *act, struct state *state, struct call call,
                 object_id callee)
{
	const value_id holders = keeper_of(a, call, callee);
	const uint32_t first = call.count && call.at[0].value.n == holders.n;

	for (uint32_t i = first; i < call.count; i++)
		container_add(a, act, state, call.inst, holders, call.at[i].value);
}

/* A tensor in the graphs of its arguments, and in one that is not seen. */
static value_id make_graph(struct analysis *a, struct activation *act, struct state *state,
                           struct call call)
{
	const value_id from = tensors_in(a, state, arguments_all(a, call), 2);
	const object_id id = tensor_make(a, act, state, call.inst, MODEL_PART, from, T_SAVES);
	struct object *object = object_write(a, state, id);

	if (state->modes & MODE_ON) {
		object->tensor |= T_GRAPH;
		object->tensor &= ~(unsigned)(T_BARE | T_ASSUMED);
	}
	def_of(a, id)->tensor_seen |= object->tensor;
	return value_of(a, id);
}

value_id apply_model(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id callee, unsigned effects)
{
	if (effects & MODEL_TAKES_GRAPH)
		keep(a, act, state, call, callee);
	if (effects & MODEL_RETURNS_GRAPH)
		return make_graph(a, act, state, call);
	if (effects & (MODEL_DETACHES | MODEL_NO_GRAD))
		return value_flags(a, V_CLEAN);
	return call_unknown(a, act, state, call, (value_id){0});
}
