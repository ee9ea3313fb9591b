/* Imports of the project's own modules. */

#include "analyzer/facts/exec.h"

#include <string.h>

static const char *top_name(const char *dotted, char *room, size_t size)
{
	size_t length = strcspn(dotted, ".");

	if (length >= size)
		return dotted;
	memcpy(room, dotted, length);
	room[length] = 0;
	return room;
}

value_id do_import(struct analysis *a, struct activation *act, const struct ir_inst *inst)
{
	const char *dotted = intern_chars(a->names, (sym_id){inst->name}, NULL);
	char top[128];
	const struct project_file *file;

	if (*dotted == '.') {
		file = project_import(a->project, act->file, dotted);
		return file ? value_of(a, imported_object(a, file, (sym_id){0}))
		            : value_flags(a, V_CLEAN);
	}
	dotted = inst->sub ? dotted : top_name(dotted, top, sizeof(top));
	file = project_import(a->project, act->file, dotted);
	if (file)
		return value_of(a, imported_object(a, file, (sym_id){0}));
	return value_of(a, external_object(a, intern_text(a->names, dotted, strlen(dotted))));
}

value_id do_import_from(struct analysis *a, struct activation *act, struct state *state,
                        uint32_t at)
{
	const struct ir_inst *inst = inst_at(act, at);
	value_id module = operand(act, inst, 0);
	object_id only = value_single(a, module);

	if (only.n && def_of(a, only)->kind == OBJECT_IMPORTED && def_of(a, only)->name.n == 0)
		return value_of(a, imported_object(a, def_of(a, only)->file, (sym_id){inst->name}));
	return attribute_get(a, act, state, at, module, (sym_id){inst->name});
}

void do_import_star(struct analysis *a, struct activation *act, struct state *state,
                    value_id module)
{
	object_id from, globals = namespace_object(a, act->file);
	const struct object *names;

	module = force_import(a, act, state, module);
	from = value_single(a, module);
	if (from.n == 0 || def_of(a, from)->kind != OBJECT_NAMESPACE)
		return;
	names = object_read(state, from);
	for (uint32_t i = 0; i < names->field_count; i++)
		field_set(a, object_write(a, state, globals), names->fields[i].key,
		          names->fields[i].value);
}
