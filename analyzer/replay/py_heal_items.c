/* In a healing machine, what the measured loop goes over lasts long enough to see
 * what becomes of it. */

#include <string.h>

#include "analyzer/replay/py_step.h"

enum { ENOUGH_TURNS = 16, MOST_DEPTH = 8 };

enum step heal_items(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val items = unknown_new(run->vm, "items");

	vm_stand_in(run->vm, "items of a loop");
	f->regs[0] = unknown_next(run->vm, AS(unknown, items));
	slot_set(run->vm, slot_place(f, in->name), rp_iter(run->vm, items));
	unref(run->vm, items);
	return step_go(run, f, 0);
}

static const struct ir_inst *operand(const struct ir_func *func, const struct ir_inst *inst,
                                     uint32_t i)
{
	return &func->insts.at[ir_args(func, inst)[i].value.n];
}

static bool goes_over_its_arguments(struct vm *vm, const struct ir_inst *callee)
{
	static const char *const names[] = {"range", "enumerate", "zip",    "reversed", "sorted",
	                                    "list",  "tuple",     "trange", "tqdm"};
	const char *name = intern_chars(vm->names, (sym_id){callee->name}, NULL);

	if (callee->op != OP_load_attr &&
	    (callee->op != OP_load || callee->sub != SUB_scope_global))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Whether the text says how many there are: range(3), [a, b]. */
static bool is_written_out(struct vm *vm, const struct ir_func *func, const struct ir_inst *inst,
                           int depth)
{
	if (inst->op == OP_const || inst->op == OP_build)
		return true;
	if (inst->op != OP_call || depth == MOST_DEPTH ||
	    !goes_over_its_arguments(vm, operand(func, inst, 0)))
		return false;
	for (uint32_t i = 1; i < inst->nargs; i++)
		if (!is_written_out(vm, func, operand(func, inst, i), depth + 1))
			return false;
	return true;
}

static bool is_as_long_as_written(struct vm *vm, const struct ir_func *func, uint32_t slot)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *store = &func->insts.at[i], *iter;

		if (store->op != OP_store || store->sub != SUB_scope_slot || store->name != slot)
			continue;
		iter = operand(func, store, 0);
		if (iter->op == OP_iter && is_written_out(vm, func, operand(func, iter, 0), 0))
			return true;
	}
	return false;
}

void heal_note_item(struct vm *vm, struct val item)
{
	if (!is_null(item))
		slot_set(vm, &vm->last_item, ref(item));
}

static bool is_range(struct val iterator)
{
	return is_kind(iterator, K_ITER) && AS(iter, iterator)->what == IT_RANGE;
}

static void go_on_with(struct vm *vm, struct val *iterator, uint32_t count)
{
	struct iter *it;

	if (is_range(*iterator)) {
		AS(iter, *iterator)->stop += count;
		return;
	}
	it = iter_new(vm, IT_REPEAT, TY_iterator, vm->last_item);
	it->stop = count;
	slot_set(vm, iterator, val_obj(it));
}

struct val heal_next(struct vm *vm, const struct frame *f, const struct code_inst *in,
                     struct val *iterator)
{
	const uint32_t turns = f->turns ? f->turns[vm->watched_header.n] : ENOUGH_TURNS;

	if (turns >= ENOUGH_TURNS || (is_null(vm->last_item) && !is_range(*iterator)) ||
	    is_as_long_as_written(vm, f->code->func, in->name))
		return val_null();
	vm_stand_in(vm, "more turns of the loop");
	go_on_with(vm, iterator, ENOUGH_TURNS - turns);
	return rp_next(vm, *iterator);
}
