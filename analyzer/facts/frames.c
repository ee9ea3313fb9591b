/* Frames: where locals, cells and captured variables stand. */

#include "analyzer/facts/exec.h"

#include <string.h>

static bool same_function(const struct analysis *a, uint32_t id, const void *key)
{
	return a->functions.at[id].func == key;
}

static const loop_id *loops_by_instruction(struct arena *arena, const struct ir_func *func)
{
	loop_id *loops = arena_array(arena, loop_id, func->insts.count + 1);

	for (uint32_t b = 1; b < func->blocks.count; b++)
		for (uint32_t i = 0; i < func->blocks.at[b].count; i++)
			loops[func->blocks.at[b].first + i] = func->blocks.at[b].loop;
	return loops;
}

struct function_facts *function_facts(struct analysis *a, const struct project_file *file,
                                      const struct ir_func *func)
{
	uint32_t *slot;

	if (a->functions.count == 0)
		vec_push(a->arena, &a->functions, (struct function_facts){0});
	slot = id_table_slot(a, &a->function_index, hash_join((uint64_t)(uintptr_t)func, 1),
	                     same_function, func);
	if (*slot == 0) {
		*slot = a->functions.count;
		vec_push(a->arena, &a->functions,
		         (struct function_facts){
		                 .file = file,
		                 .func = func,
		                 .live = flow_live_new(a->arena, file->lowered.module, func),
		                 .loop_of = loops_by_instruction(a->arena, func),
		         });
	}
	return &a->functions.at[*slot];
}

struct activation activation_begin(struct analysis *a, struct activation *caller,
                                   const struct project_file *file, const struct ir_func *func,
                                   context_id context)
{
	struct function_facts *facts = function_facts(a, file, func);
	struct activation act = {
	        .caller = caller,
	        .context = context,
	        .file = file,
	        .func = func,
	        .frame = frame_object(a, context, func),
	        .temps = arena_array(a->heap, value_id, func->insts.count + 1),
	        .live = facts->live,
	};

	facts->executed = true;
	a->contexts.at[context.n].loop_of = facts->loop_of;
	facts->known |= !a->from_outside;
	act.names = func->kind == FUNC_MODULE ? namespace_object(a, file) : (object_id){0};
	return act;
}

/* Slots: locals and cells stand in the frame, captured ones in an outer one. */

static object_id slot_owner(struct analysis *a, const struct activation *act,
                            const struct state *state, uint32_t *slot)
{
	const struct ir_func *func = act->func;
	object_id frame = act->frame;

	while (func->slots.at[*slot].kind == SLOT_FREE && func->parent.n != 0) {
		object_id outer = value_single(a, object_read(state, frame)->of);

		*slot = func->slots.at[*slot].outer.n;
		func = ir_func_get(act->file->lowered.module, func->parent);
		if (outer.n == 0)
			return outer;
		frame = outer;
	}
	return frame;
}

value_id slot_read(struct analysis *a, const struct activation *act, const struct state *state,
                   uint32_t slot)
{
	object_id owner = slot_owner(a, act, state, &slot);

	return owner.n ? field_get(object_read(state, owner), slot) : (value_id){0};
}

void slot_write(struct analysis *a, struct activation *act, struct state *state, uint32_t slot,
                value_id value)
{
	const bool own = act->func->slots.at[slot].kind != SLOT_FREE;
	object_id owner = slot_owner(a, act, state, &slot);

	if (owner.n == 0)
		return;
	if (own || !is_older(owner))
		field_set(a, object_write(a, state, owner), slot, value);
	else
		field_join(a, object_write(a, state, owner), slot, value);
}

value_id enclosing_class(struct analysis *a, struct activation *act, struct state *state)
{
	const struct ir_func *func = act->func;

	for (uint32_t s = 1; s < func->slots.count; s++)
		if (strcmp(intern_chars(a->names, func->slots.at[s].name, NULL), "__class__") == 0)
			return slot_read(a, act, state, s);
	return (value_id){0};
}
