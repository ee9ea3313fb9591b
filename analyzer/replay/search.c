/* Where a program trains that has no training loop of its own: it is run to its
 * first backward, and the innermost loop around that is the one to measure. */

#include "analyzer/ir/cfg.h"
#include "analyzer/replay/measure.h"

static loop_id loop_around(const struct frame *f)
{
	const struct ir_func *func = f->code->func;

	if (f->code->library || func->kind == FUNC_COMPREHENSION)
		return (loop_id){0};
	return func->blocks.at[f->block].loop;
}

static void search_backward(struct vm *vm, struct ag_tensor *from, unsigned flags)
{
	struct replay *r = vm->user;

	(void)from, (void)flags;
	for (const struct frame *f = vm->frame; f; f = f->caller) {
		const loop_id loop = loop_around(f);
		const struct ir_module *module = f->code->module;

		if (!loop.n || !module->source)
			continue;
		r->found->module = module;
		r->found->line =
		        source_line_at(module->source, f->code->func->loops.at[loop.n].span.start) +
		        1;
		break;
	}
	vm_halt(vm, VM_HALT_DONE, "");
}

void search_open(struct replay *r)
{
	torch_of(r->vm)->on_backward = search_backward;
}
