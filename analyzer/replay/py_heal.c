/* A program that nothing could run as it stands: an instruction that raises what
 * nobody catches gives a stand-in instead, and the program goes on behind it. What
 * it was given goes into the stand-in's graph. */

#include <string.h>

#include "analyzer/replay/py_step.h"

enum { FEW_TURNS = 4, MOST_TURNS = 64, MOST_NESTED = 4 };

void heal_forget(struct vm *vm)
{
	for (uint32_t i = 0; i < vm->operand_count; i++)
		slot_set(vm, &vm->operands[i], val_null());
	vm->operand_count = 0;
	vm->operands_of = NULL;
}

static bool has_result(enum ir_op op)
{
	switch (op) {
	case OP_load:
	case OP_load_attr:
	case OP_load_item:
	case OP_call:
	case OP_unary:
	case OP_binary:
	case OP_inplace:
	case OP_compare:
	case OP_build:
	case OP_format:
	case OP_unpack:
	case OP_collect:
	case OP_iter:
	case OP_class:
	case OP_import:
	case OP_import_from:
	case OP_enter:
	case OP_leave:
	case OP_await:
	case OP_match:
		return true;
	default:
		return false;
	}
}

void heal_note(struct vm *vm, const struct frame *f, const struct code_inst *in)
{
	heal_forget(vm);
	vm->operands_of = f;
	vm->operands_at = f->pc;
	for (uint32_t i = 0; i < in->nargs && i < PY_MOST_OPERANDS; i++)
		vm->operands[vm->operand_count++] = ref(f->regs[in->args[i].reg]);
}

/* Somebody who stops a run by hand. */
static bool is_interrupt(struct vm *vm, const struct ir_func *func, const struct ir_inst *inst)
{
	const struct ir_inst *type;

	if (inst->op != OP_compare || inst->sub != SUB_compare_catches)
		return false;
	type = &func->insts.at[ir_args(func, inst)[1].value.n];
	return type->op == OP_load && type->sub == SUB_scope_global &&
	       strcmp(intern_chars(vm->names, (sym_id){type->name}, NULL), "KeyboardInterrupt") ==
	               0;
}

/* Whether code of the program may want to see the exception: a handler that names
 * one, or all. What only leaves a `with` or ends a `try` hands it on. */
static bool is_caught(struct vm *vm, const struct frame *f)
{
	const struct ir_func *func = f->code->func;
	uint32_t handler = func->blocks.at[f->block].handler.n;

	for (uint32_t i = 0; handler && i < func->blocks.count; i++) {
		const struct ir_block *b = &func->blocks.at[handler];
		bool hands_on = false;

		for (uint32_t k = b->first; k < b->first + b->count; k++) {
			const struct ir_inst *inst = &func->insts.at[k];

			hands_on |= inst->op == OP_raise || inst->op == OP_leave ||
			            is_interrupt(vm, func, inst);
			if (inst->op == OP_compare && inst->sub == SUB_compare_catches &&
			    !is_interrupt(vm, func, inst))
				return true;
		}
		if (!hands_on)
			return true;
		handler = b->handler.n;
	}
	return false;
}

static bool caught_above(struct vm *vm)
{
	for (const struct frame *f = vm->frame; f; f = f->caller)
		if (!f->code->library && is_caught(vm, f))
			return true;
	return false;
}

/* Somebody may be asked for items by what is going on. */
static bool gives_items(struct vm *vm)
{
	for (const struct frame *f = vm->frame; f; f = f->caller)
		if (f->generator || f->code->name == vm->n[PN_next])
			return true;
	return false;
}

static bool ends_on_purpose(struct vm *vm)
{
	static const int types[] = {TY_GeneratorExit, TY_KeyboardInterrupt, TY_RecursionError};

	if (exc_is(vm, TY_StopIteration) && gives_items(vm))
		return true;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (exc_is(vm, types[i]))
			return true;
	return false;
}

/* A call that nobody knows how to make: it gives what an unknown one would. */
static struct val stand_in_call(struct vm *vm, const struct code_inst *in, struct val *a,
                                uint32_t n)
{
	struct val callee = unknown_new(vm, "%s", in->str ? in->str->at : "call"), v;

	v = unknown_call(vm, callee, a, n, NULL);
	unref(vm, callee);
	return v;
}

/* What the instruction was given, owned: making its result may run others. */
struct given {
	struct val at[PY_MOST_OPERANDS];
	uint32_t count;
	bool beyond; /* an index is beyond the end */
};

static struct given take_given(struct vm *vm, const struct frame *f)
{
	struct given given = {.beyond = exc_is(vm, TY_IndexError)};

	if (vm->operands_of == f && vm->operands_at == f->pc)
		for (uint32_t i = 0; i < vm->operand_count; i++)
			given.at[given.count++] = ref(vm->operands[i]);
	return given;
}

static bool is_library_function(struct val callee)
{
	return is_kind(callee, K_NATIVE) ||
	       (is_kind(callee, K_CLASS) && AS(cls, callee)->layout != K_INSTANCE) ||
	       (is_kind(callee, K_FUNCTION) && AS(function, callee)->code->library);
}

static struct val stand_in(struct vm *vm, const struct code_inst *in, struct given *given)
{
	const uint32_t n = given->count;
	const struct val callee = given->at[0];

	/* Else it raised in what it had called, and they are gone. */
	if (!n && in->op == OP_call)
		return stand_in_call(vm, in, NULL, 0);
	if (!n)
		return unknown_new(vm, "%s", in->str ? in->str->at : "result");
	if (in->op != OP_call)
		return vm->opaque ? vm->opaque(vm, given->at, n, "operation")
		                  : unknown_new(vm, "result");
	if (is_library_function(callee) && vm->opaque)
		return vm->opaque(vm, given->at + 1, n - 1, "call");
	if (is_kind(callee, K_INSTANCE) && vm->opaque)
		return vm->opaque(vm, given->at, n, type_name(vm, callee));
	return stand_in_call(vm, in, given->at + 1, n - 1);
}

/* Its last item is as good as any. */
static struct val last_item(struct vm *vm, const struct code_inst *in, const struct given *given)
{
	struct val v;

	if (!given->beyond || in->op != OP_load_item || given->count != 2 ||
	    given->at[1].tag != PY_INT)
		return val_null();
	v = rp_item(vm, given->at[0], val_int(-1));
	exc_clear(vm);
	return v;
}

static struct val result_of(struct vm *vm, const struct code_inst *in, struct given *given)
{
	const struct val v = last_item(vm, in, given);

	return is_null(v) ? stand_in(vm, in, given) : v;
}

static enum step go_on(struct run *run, struct frame *f, const struct code_inst *in,
                       struct given *given)
{
	struct vm *vm = run->vm;
	struct val v;

	if (in->op == OP_raise) {
		run->result = unknown_new(vm, "%s()", code_name(f->code));
		return STEP_RETURN;
	}
	if (in->op == OP_branch)
		return step_go(run, f, 0);
	if (in->op == OP_next)
		return heal_items(run, f, in);
	if (!has_result(in->op))
		return STEP_NEXT;
	v = result_of(vm, in, given);
	if (in->born && !is_null(v))
		vm->on_born(vm, v, in->watch);
	return reg_put(f, in, v);
}

/* A call that raised within the library was given what the library's function was. */
static void hand_up(struct vm *vm, const struct frame *f)
{
	const struct code *code = f->code;

	heal_forget(vm);
	if (!f->caller || !f->fn || code->name == vm->n[PN_init])
		return;
	vm->operands_of = f->caller;
	vm->operands_at = f->caller->pc;
	for (uint32_t i = 0; i < code->nparams && vm->operand_count < PY_MOST_OPERANDS; i++) {
		const struct val v = f->slots[code->params[i].slot];

		if (!i && !is_kind(v, K_INSTANCE))
			vm->operands[vm->operand_count++] = ref_obj(f->fn);
		if (!is_null(v))
			vm->operands[vm->operand_count++] = ref(v);
	}
}

enum step heal_step(struct run *run, struct frame *f)
{
	const struct code_inst *in = &f->code->insts[f->pc - 1];
	struct vm *vm = run->vm;
	enum ir_op op =
	        (enum ir_op)(in->op == OP_COUNT ? f->code->func->insts.at[f->pc - 1].op : in->op);
	bool in_place = vm->operands_of == f && vm->operands_at == f->pc;
	struct code_inst plain = *in;
	struct given given;
	enum step step;

	if (vm->halt || is_null(vm->exc) || ends_on_purpose(vm) || caught_above(vm))
		return STEP_RAISE;
	/* The library is right, but for what an op of it was given. */
	if (f->code->library &&
	    (op != OP_call || !in_place || !is_kind(vm->operands[0], K_NATIVE) ||
	     !exc_is(vm, TY_RuntimeError))) {
		hand_up(vm, f);
		return STEP_RAISE;
	}
	if (op == OP_return || op == OP_yield || op == OP_class || op == OP_function ||
	    (op == OP_raise && (f->entry || f->generator)))
		return STEP_RAISE;
	plain.op = op;
	vm_stand_in(vm, "%s: it raised %s", in->str ? in->str->at : op_info[op].name,
	            type_name(vm, vm->exc));
	given = take_given(vm, f);
	heal_forget(vm);
	exc_clear(vm);
	step = go_on(run, f, &plain, &given);
	for (uint32_t i = 0; i < given.count; i++)
		unref(vm, given.at[i]);
	return step;
}

bool heal_is_endless(const struct vm *vm, const struct code *code, const struct val *a, uint32_t n)
{
	uint32_t nested = 0;
	bool guessed = false;

	for (uint32_t i = 0; i < n; i++)
		guessed |= is_kind(a[i], K_UNKNOWN);
	for (const struct frame *f = vm->frame; guessed && f; f = f->caller)
		nested += f->code == code;
	return nested >= MOST_NESTED && !code->library;
}

/* --- loops */

void heal_turn(struct frame *f, uint32_t to, bool again)
{
	if (!again)
		f->turns[to] = 0;
	else if (f->turns[to] < UINT8_MAX)
		f->turns[to]++;
}

static uint8_t most_turns(const struct vm *vm, const struct frame *f, loop_id loop)
{
	const struct ir_func *func = f->code->func;

	if (!runs_watched(vm, f))
		return FEW_TURNS;
	if (func->loops.at[loop.n].header.n == vm->watched_header.n)
		return UINT8_MAX;
	return cfg_in_loop(func, vm->watched_header, loop) ? MOST_TURNS : FEW_TURNS;
}

/* The measured loop is done with. */
static int leave_measured(struct vm *vm, const struct frame *f)
{
	const struct ir_func *func = f->code->func;
	loop_id loop;

	if (!runs_watched(vm, f))
		return -1;
	loop = func->blocks.at[vm->watched_header.n].loop;
	if (!cfg_in_loop(func, (block_id){f->block}, loop))
		return -1;
	return cfg_exit_of(func, &func->blocks.at[f->block], loop);
}

int heal_way_out(struct vm *vm, const struct frame *f)
{
	const struct ir_func *func = f->code->func;
	const struct ir_block *b = &func->blocks.at[f->block];
	int out = vm->leaving ? leave_measured(vm, f) : -1;
	uint8_t most;

	if (out >= 0 || !f->turns || !b->loop.n)
		return out;
	most = most_turns(vm, f, b->loop);
	if (most == UINT8_MAX || f->turns[func->loops.at[b->loop.n].header.n] < most)
		return -1;
	return cfg_exit_of(func, b, b->loop);
}

/* The only successor that leads to a block; -1: both do, or none. */
static int way_to(const struct ir_func *func, const struct ir_block *b, block_id target)
{
	bool leads[2];

	for (int i = 0; i < 2; i++)
		leads[i] = cfg_dominates(func, b->succ[i], target);
	return leads[0] == leads[1] ? -1 : leads[1];
}

/* A loop that is left after fewer turns says nothing. */
static int way_on(const struct vm *vm, const struct frame *f)
{
	const struct ir_func *func = f->code->func;
	const loop_id loop = func->blocks.at[vm->watched_header.n].loop;
	int out;

	if (vm->leaving || vm->turns >= FEW_TURNS || !cfg_in_loop(func, (block_id){f->block}, loop))
		return -1;
	out = cfg_exit_of(func, &func->blocks.at[f->block], loop);
	return out < 0 ? -1 : !out;
}

int heal_way_in(const struct vm *vm, const struct frame *f)
{
	const struct ir_func *func = f->code->func;
	const struct ir_block *b = &func->blocks.at[f->block];
	int way = runs_watched(vm, f) ? way_to(func, b, vm->watched_header) : -1;

	if (vm->closing)
		return -1;
	for (uint32_t i = 0; way < 0 && vm->led >> i; i++)
		if (vm->led >> i & 1 && vm->watch_at[i].module == f->code->module &&
		    vm->watch_at[i].func.n == f->code->id.n)
			way = way_to(func, b, vm->watch_at[i].block);
	return way < 0 && runs_watched(vm, f) ? way_on(vm, f) : way;
}
