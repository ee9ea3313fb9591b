#include <string.h>

#include "analyzer/replay/py_step.h"

enum {
	MOST_STAYS = 16, /* turns that a condition on stand-ins keeps a loop going */
	MOST_LAPS = 256, /* of a loop beside the measured one, once something was stood in for */
};

/* Goes to a successor; a back edge of the watched module is an iteration. */
enum step step_go(struct run *run, struct frame *f, int which)
{
	const struct ir_func *func = f->code->func;
	uint32_t from = f->block, to = func->blocks.at[from].succ[which].n;

	if ((f->code->back_edge[from] & (1 << which)) && run->vm->on_iteration &&
	    run->vm->watched == f->code->module) {
		run->vm->on_iteration(run->vm, f, (block_id){to});
		if (run->vm->halt)
			return STEP_RAISE;
	} else if (to == run->vm->watched_header.n && runs_watched(run->vm, f)) {
		run->vm->entries++;
		run->vm->leaving = false;
	}
	if (f->turns)
		heal_turn(f, to, f->code->back_edge[from] & (1 << which));
	f->block = to;
	f->pc = func->blocks.at[to].first;
	if (f->handled.tag == PY_OBJECT &&
	    !cfg_dominates(func, (block_id){f->handler_block}, (block_id){to}))
		slot_set(run->vm, &f->handled, val_null());
	return vm_work(run->vm, 1) ? STEP_FRAME : STEP_RAISE;
}

/* A short way to a raise: an assert, a check of arguments. */
static bool leads_to_raise(const struct ir_func *func, block_id to)
{
	for (int i = 0; i < 3 && to.n; i++) {
		const struct ir_block *block = &func->blocks.at[to.n];
		enum ir_op last = (enum ir_op)func->insts.at[block->first + block->count - 1].op;

		if (last == OP_raise)
			return true;
		if (last != OP_jump)
			return false;
		to = block->succ[0];
	}
	return false;
}

/* A bare `continue`. */
static bool skips_turn(const struct ir_func *func, const struct ir_block *from, block_id to)
{
	const struct ir_block *block = &func->blocks.at[to.n];
	const block_id header = func->loops.at[from->loop.n].header;

	return block->count == 1 && block->succ[0].n == header.n &&
	       func->insts.at[block->first].op == OP_jump;
}

/* A condition that nothing is known of: not out of the loop or of its turn, else taken. */
static int choose(const struct ir_func *func, uint32_t block)
{
	const struct ir_block *b = &func->blocks.at[block];

	if (leads_to_raise(func, b->succ[0]))
		return 1;
	if (leads_to_raise(func, b->succ[1]) || !b->loop.n)
		return 0;
	if (skips_turn(func, b, b->succ[0]) && b->succ[1].n != func->loops.at[b->loop.n].header.n)
		return 1;
	return cfg_exit_of(func, b, b->loop) == 0;
}

static uint32_t depth_of(const struct ir_func *func, loop_id loop)
{
	return loop.n ? func->loops.at[loop.n].depth : 0;
}

/* Begun anew by another loop, and by a turn too many. */
static uint32_t count_turn(const struct ir_func *func, loop_id loop, struct turn_count *counts,
                           uint32_t most)
{
	struct turn_count *turns = &counts[depth_of(func, loop) % TURN_COUNTS];

	if (turns->loop != loop.n || turns->count > most)
		turns->count = 0;
	turns->loop = loop.n;
	return ++turns->count;
}

/* A loop that only stand-ins keep the program in is left at last, unless it is the measured one. */
static int leave_at_last(const struct vm *vm, struct frame *f, int chosen)
{
	const struct ir_func *func = f->code->func;
	const struct ir_block *b = &func->blocks.at[f->block];

	if (cfg_exit_of(func, b, b->loop) != !chosen || leads_to_raise(func, b->succ[!chosen]) ||
	    (runs_watched(vm, f) && func->loops.at[b->loop.n].header.n == vm->watched_header.n))
		return chosen;
	return count_turn(func, b->loop, f->stays, MOST_STAYS) <= MOST_STAYS ? chosen : !chosen;
}

/* An iterator of the program that only stand-ins keep from its end gives as many items. */
static int end_at_last(const struct vm *vm, const struct frame *f, int chosen)
{
	if (f->code->name != vm->n[PN_next] || vm->measured_next ||
	    !leads_to_raise(f->code->func, f->code->func->blocks.at[f->block].succ[!chosen]) ||
	    ++f->code->stays <= MOST_STAYS)
		return chosen;
	f->code->stays = 0;
	return !chosen;
}

/* What is done where nothing is known of the condition. */
static int guess(const struct vm *vm, struct frame *f)
{
	return end_at_last(vm, f, leave_at_last(vm, f, choose(f->code->func, f->block)));
}

/* A check that fails for want of what other code would have set up; an exception that
 * nobody wants goes on. */
static int forgive(const struct frame *f, int chosen)
{
	const struct ir_block *b = &f->code->func->blocks.at[f->block];

	return is_null(f->handled) && leads_to_raise(f->code->func, b->succ[chosen]) &&
	                       !leads_to_raise(f->code->func, b->succ[!chosen])
	               ? !chosen
	               : chosen;
}

static int way_out(struct vm *vm, struct frame *f)
{
	return vm->healing || vm->leaving ? heal_way_out(vm, f) : -1;
}

static enum step step_branch(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val v = reg_out(f, in, 0);
	int truth = v.tag == PY_BOOL ? (int)v.as.i : 0, out = way_out(run->vm, f);

	if (out < 0 && run->vm->healing)
		out = heal_way_in(run->vm, f);

	if (out >= 0) {
		unref(run->vm, v);
		return step_go(run, f, out);
	}

	if (is_kind(v, K_UNKNOWN)) {
		vm_stand_in(run->vm, "condition on %s", AS(unknown, v)->what->at);
		unref(run->vm, v);
		return step_go(run, f, guess(run->vm, f));
	}
	if (v.tag != PY_BOOL)
		truth = rp_condition(run->vm, v);
	unref(run->vm, v);
	if (truth < 0)
		return STEP_RAISE;
	if (truth == PY_NOT_KNOWN)
		return step_go(run, f, guess(run->vm, f));
	return step_go(run, f, run->vm->forgiving ? forgive(f, !truth) : !truth);
}

/* A loop is about to begin. */
static void begin_laps(struct frame *f)
{
	const struct ir_func *func = f->code->func;

	f->laps[(depth_of(func, func->blocks.at[f->block].loop) + 1) % TURN_COUNTS].count = 0;
}

/* What many turns did not show, more do not. */
static bool goes_too_long(const struct vm *vm, struct frame *f)
{
	const struct ir_func *func = f->code->func;
	const loop_id loop = func->blocks.at[f->block].loop;

	if (!vm->unknown_count || vm->whole || f->code->library || f->measured || !loop.n ||
	    vm->measured_next ||
	    (runs_watched(vm, f) && cfg_in_loop(func, vm->watched_header, loop)))
		return false;
	return count_turn(func, loop, f->laps, MOST_LAPS) > MOST_LAPS;
}

static enum step step_next(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val *slot = slot_place(f, in->name), item;
	bool measured, main;

	if (way_out(run->vm, f) >= 0 || goes_too_long(run->vm, f))
		return step_go(run, f, 1);
	if (is_null(*slot)) {
		rp_raise(run->vm, TY_RuntimeError, "no iterator");
		return STEP_RAISE;
	}
	measured = run->vm->measured_next;
	main = runs_watched(run->vm, f) && f->block == run->vm->watched_header.n;
	run->vm->measured_next = f->measured || main;
	item = rp_next(run->vm, *slot);
	run->vm->measured_next = measured;
	if (!is_null(run->vm->exc) || run->vm->halt) {
		unref(run->vm, item);
		return STEP_RAISE;
	}
	if (main && run->vm->healing) {
		heal_note_item(run->vm, item);
		item = is_null(item) ? heal_next(run->vm, f, in, slot) : item;
	}
	/* Data that is not there leaves the measured loop, or one around it, without a turn. */
	if (is_null(item) && run->vm->healing && !run->vm->turns &&
	    (main || heal_way_in(run->vm, f) == 0))
		return heal_items(run, f, in);
	if (is_null(item))
		return step_go(run, f, 1);
	f->regs[0] = item;
	return step_go(run, f, 0);
}

/* A method that a class derived from this one would have. */
static bool is_abstract(struct vm *vm, const struct frame *f, struct val exc)
{
	return vm->forgiving && !is_null(exc) &&
	       type_of(vm, exc) == vm->t[TY_NotImplementedError] &&
	       !f->code->func->blocks.at[f->block].handler.n && !f->code->func->is_generator;
}

static struct val abstract_call(struct vm *vm, struct frame *f, struct val exc, struct val cause)
{
	struct val callee = unknown_new(vm, "%s", code_name(f->code)), result;

	unref(vm, exc);
	unref(vm, cause);
	result = unknown_call(vm, callee, NULL, 0, NULL);
	unref(vm, callee);
	return result;
}

static enum step step_raise(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct vm *vm = run->vm;
	struct val given, cause, exc;

	if (!in->nargs) {
		struct frame *at = f;

		while (at && is_missing(at->handled))
			at = at->caller;
		if (!at) {
			rp_raise(vm, TY_RuntimeError, "No active exception to reraise");
			return STEP_RAISE;
		}
		slot_set(vm, &vm->exc, ref(at->handled));
		return STEP_RAISE;
	}
	given = reg_out(f, in, 0);
	exc = exc_normalize(vm, given);
	unref(vm, given);
	cause = in->nargs > 1 ? reg_out(f, in, 1) : val_null();
	if (is_abstract(vm, f, exc)) {
		run->result = abstract_call(vm, f, exc, cause);
		return is_null(run->result) ? STEP_RAISE : STEP_RETURN;
	}
	if (!is_null(exc)) {
		if (!is_null(cause))
			dict_put_str(vm, attrs_of(vm, exc.as.o), vm->n[PN_cause], cause);
		rp_raise_val(vm, exc);
	}
	unref(vm, cause);
	return STEP_RAISE;
}

static enum step step_compare(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val a = reg_out(f, in, 0), b = reg_out(f, in, 1), result;
	int yes;

	if (in->sub == SUB_compare_catches) {
		yes = exc_matches(run->vm, a, b);
		result = yes < 0 ? val_null() : val_bool(yes);
	} else {
		result = rp_compare(run->vm, (enum ir_sub)in->sub, a, b);
	}
	unref(run->vm, a);
	unref(run->vm, b);
	return reg_put(f, in, result);
}

static enum step step_binary(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val a = reg_out(f, in, 0), b = reg_out(f, in, 1), result;

	result = in->op == OP_inplace ? rp_inplace(run->vm, (enum ir_sub)in->sub, a, b)
	                              : rp_binary(run->vm, (enum ir_sub)in->sub, a, b);
	unref(run->vm, a);
	unref(run->vm, b);
	return reg_put(f, in, result);
}

static enum step step_item(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val o = reg_out(f, in, 0), index = reg_out(f, in, 1), v;
	bool ok = true;

	switch ((enum ir_op)in->op) {
	case OP_load_item:
		v = rp_item(run->vm, o, index);
		unref(run->vm, o);
		unref(run->vm, index);
		return reg_put(f, in, v);
	case OP_store_item:
		v = reg_out(f, in, 2);
		ok = rp_set_item(run->vm, o, index, v);
		unref(run->vm, v);
		break;
	default:
		ok = rp_del_item(run->vm, o, index);
	}
	unref(run->vm, o);
	unref(run->vm, index);
	return ok ? STEP_NEXT : STEP_RAISE;
}

static enum step step_attr(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val o = reg_out(f, in, 0), v;
	bool ok;

	if (in->op == OP_load_attr) {
		v = rp_attr(run->vm, o, in->str);
		unref(run->vm, o);
		return reg_put(f, in, v);
	}
	if (in->op == OP_store_attr) {
		v = reg_out(f, in, 1);
		ok = rp_set_attr(run->vm, o, in->str, v);
		unref(run->vm, v);
	} else {
		ok = rp_del_attr(run->vm, o, in->str);
	}
	unref(run->vm, o);
	return ok ? STEP_NEXT : STEP_RAISE;
}

static enum step step_simple(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct val v, result;

	switch ((enum ir_op)in->op) {
	case OP_unknown:
		for (uint32_t i = 0; i < in->nargs; i++)
			unref(run->vm, reg_out(f, in, i));
		return reg_put(f, in, unknown_new(run->vm, "%s", in->str ? in->str->at : "code"));
	case OP_unary:
		v = reg_out(f, in, 0);
		result = rp_unary(run->vm, (enum ir_sub)in->sub, v);
		break;
	case OP_iter:
		v = reg_out(f, in, 0);
		result = rp_iter(run->vm, v);
		begin_laps(f);
		break;
	case OP_annotate:
		v = reg_out(f, in, 0);
		if (f->ns) {
			struct val all = dict_get_str(run->vm, f->ns, run->vm->n[PN_annotations]);

			if (is_null(all)) {
				all = val_obj(dict_new(run->vm));
				dict_put_str(run->vm, f->ns, run->vm->n[PN_annotations], all);
				unref(run->vm, all);
			}
			dict_put_str(run->vm, AS(dict, all), in->str, v);
		}
		unref(run->vm, v);
		return STEP_NEXT;
	default:
		unref(run->vm, reg_out(f, in, 0)); /* drop */
		return STEP_NEXT;
	}
	unref(run->vm, v);
	return reg_put(f, in, result);
}

static enum step step_caught(struct run *run, struct frame *f, const struct code_inst *in)
{
	(void)run;
	return reg_put(f, in, ref(f->handled));
}

static enum step step_one(struct run *run, struct frame *f, const struct code_inst *in);

/* The last operand is what a container is given, too. */
static struct val stored_there(const struct frame *f, const struct code_inst *in)
{
	const uint32_t least = in->op == OP_store ? 1 : 2;

	if (in->nargs < least)
		return val_null();
	switch ((enum ir_op)in->op) {
	case OP_store:
	case OP_store_attr:
	case OP_store_item:
	case OP_call:
	case OP_inplace:
	case OP_binary:
		return f->regs[in->args[in->nargs - 1].reg];
	default:
		return val_null();
	}
}

/* Of a call each operand, else what is stored. */
static void give_operands(struct vm *vm, const struct frame *f, const struct code_inst *in)
{
	const bool call = in->op == OP_call;
	const struct val callee = call ? f->regs[in->args[0].reg] : val_null();

	for (uint32_t i = call || !in->nargs ? 0 : in->nargs - 1u; i < in->nargs; i++)
		vm->on_given(vm, in->watch - 1u, callee, f->regs[in->args[i].reg]);
}

static enum step step_watched(struct run *run, struct frame *f, const struct code_inst *in)
{
	struct code_inst plain = *in;
	enum step step;

	plain.op = f->code->func->insts.at[in - f->code->insts].op;
	if (in->watch) {
		run->vm->on_watched(run->vm, in->watch - 1u, stored_there(f, &plain));
		give_operands(run->vm, f, &plain);
	}
	step = step_one(run, f, &plain);
	if (in->watch && step == STEP_NEXT)
		run->vm->on_passed(run->vm, in->watch - 1u);
	if (in->born && step == STEP_NEXT)
		run->vm->on_born(run->vm, f->regs[in->dst], in->watch);
	return step;
}

static enum step step_one(struct run *run, struct frame *f, const struct code_inst *in)
{
	switch ((enum ir_op)in->op) {
	case OP_const:
		return reg_put(f, in, ref(in->value));
	case OP_load:
		return step_load(run, f, in);
	case OP_store:
		return step_store(run, f, in);
	case OP_delete:
		return step_delete(run, f, in);
	case OP_load_attr:
	case OP_store_attr:
	case OP_delete_attr:
		return step_attr(run, f, in);
	case OP_load_item:
	case OP_store_item:
	case OP_delete_item:
		return step_item(run, f, in);
	case OP_call:
		return step_call(run, f, in);
	case OP_binary:
	case OP_inplace:
		return step_binary(run, f, in);
	case OP_compare:
		return step_compare(run, f, in);
	case OP_build:
		return step_build(run, f, in);
	case OP_format:
		return step_format(run, f, in);
	case OP_unpack:
		return step_unpack(run, f, in);
	case OP_collect:
		return step_collect(run, f, in);
	case OP_function:
		return step_function(run, f, in);
	case OP_class:
		return step_class(run, f, in);
	case OP_import:
	case OP_import_from:
	case OP_import_star:
		return step_import(run, f, in);
	case OP_yield:
		return step_yield(run, f, in);
	case OP_await:
		return step_await(run, f, in);
	case OP_enter:
		return step_enter(run, f, in);
	case OP_leave:
		return step_leave(run, f, in);
	case OP_caught:
		return step_caught(run, f, in);
	case OP_match:
		return step_match(run, f, in);
	case OP_jump:
		return step_go(run, f, 0);
	case OP_branch:
		return step_branch(run, f, in);
	case OP_next:
		return step_next(run, f, in);
	case OP_return:
		run->result = reg_out(f, in, 0);
		return STEP_RETURN;
	case OP_raise:
		return step_raise(run, f, in);
	case OP_unknown:
	case OP_unary:
	case OP_iter:
	case OP_annotate:
	case OP_drop:
		return step_simple(run, f, in);
	case OP_COUNT:
		return step_watched(run, f, in);
	}
	BUG("opcode %u", in->op);
}

static struct frame *leave_frame(struct run *run, struct frame *f);

/* A function of the library that the program gave a stand-in where it wants something else. */
static bool refuses_stand_in(struct vm *vm, const struct frame *f)
{
	if (!f->code->library || f->entry || f->caller->code->library ||
	    !exc_is(vm, TY_TypeError) || !is_null(f->made))
		return false;
	for (uint32_t i = 0; i < f->code->nparams; i++)
		if (is_kind(f->slots[f->code->params[i].slot], K_UNKNOWN))
			return true;
	return false;
}

/* What the program has no names for goes with the frame, though a traceback keeps that. */
static void drop_hidden(struct vm *vm, struct frame *f)
{
	const struct ir_func *func = f->code->func;

	slot_set(vm, &f->handled, val_null());
	for (uint32_t i = 1; i < func->slots.count; i++)
		if (func->slots.at[i].kind == SLOT_HIDDEN)
			slot_set(vm, slot_place(f, i), val_null());
}

/* Looks for a handler from the innermost frame on; NULL: it leaves the loop. */
static struct frame *unwind(struct run *run, struct frame *f)
{
	struct vm *vm = run->vm;

	for (;;) {
		uint32_t handler = f->code->func->blocks.at[f->block].handler.n;
		struct frame *caller = f->caller;
		bool entry = f->entry;

		if (vm->healing) {
			switch (heal_step(run, f)) {
			case STEP_RAISE:
				break;
			case STEP_RETURN:
				return leave_frame(run, f);
			default:
				return vm->frame;
			}
		}
		if (!handler && !vm->halt && refuses_stand_in(vm, f)) {
			run->result = stood_in(vm, f->code->name);
			return leave_frame(run, f);
		}
		f->line = code_line(f->code, f->pc - 1);
		for (uint32_t i = 0; i < f->code->nregs; i++)
			slot_set(vm, &f->regs[i], val_null());
		/* Also of the frame that handles it. */
		if (!f->code->library)
			exc_add_frame(vm, f);
		if (handler && !vm->halt && !is_null(vm->exc)) {
			slot_set(vm, &f->handled, exc_take(vm));
			f->handler_block = handler;
			f->block = handler;
			f->pc = f->code->func->blocks.at[handler].first;
			return f;
		}
		/* The exception keeps the frame: the frame must not keep the exception. */
		drop_hidden(vm, f);
		f->finished = true;
		f->running = false;
		vm->frame = caller;
		vm->depth--;
		unref_obj(vm, f);
		if (entry)
			return NULL;
		f = caller;
	}
}

/* The frame is done: its result goes to the caller's register. NULL: out. */
static struct frame *leave_frame(struct run *run, struct frame *f)
{
	struct vm *vm = run->vm;
	struct frame *caller = f->caller;
	bool entry = f->entry;
	uint32_t dst = f->dst;

	if (f->code->func->kind == FUNC_CLASS_BODY)
		slot_set(vm, &run->result, class_body_done(vm, f));
	else if (!is_null(f->made)) {
		slot_set(vm, &run->result, f->made);
		f->made = val_null();
	}
	slot_set(vm, &f->handled, val_null());
	f->finished = true;
	f->running = false;
	vm->frame = caller;
	vm->depth--;
	unref_obj(vm, f);
	if (entry)
		return NULL;
	if (is_null(run->result))
		return unwind(run, caller);
	caller->regs[dst] = run->result;
	if (caller->code->insts[caller->pc - 1].watch)
		vm->on_passed(vm, caller->code->insts[caller->pc - 1].watch - 1u);
	if (caller->code->insts[caller->pc - 1].born)
		vm->on_born(vm, run->result, caller->code->insts[caller->pc - 1].watch);
	run->result = val_null();
	return caller;
}

/* False: it is none of those, or its slot is empty. */
static inline bool step_quick(struct vm *vm, struct frame *f, const struct code_inst *in)
{
	struct val v;

	switch ((enum code_quick)in->quick) {
	case QUICK_CONST:
		f->regs[in->dst] = ref(in->value);
		return true;
	case QUICK_STORE:
		slot_set(vm, &f->slots[in->name], reg_out(f, in, 0));
		return true;
	case QUICK_LOAD:
	case QUICK_TAKE:
		v = f->slots[in->name];
		if (is_null(v))
			return false;
		if (in->quick == QUICK_TAKE)
			f->slots[in->name] = val_null();
		f->regs[in->dst] = in->quick == QUICK_TAKE ? v : ref(v);
		return true;
	case QUICK_NONE:
		break;
	}
	return false;
}

struct val frame_loop(struct vm *vm, struct frame *f, bool raising)
{
	struct run run = {.vm = vm};

	f->entry = true;
	f->running = true;
	f->caller = vm->frame;
	vm->frame = f;
	vm->depth++;
	if (vm->depth > PY_RECURSION_LIMIT) {
		rp_raise(vm, TY_RecursionError, "maximum recursion depth exceeded");
		raising = true;
	}
	if (raising && !(f = unwind(&run, f)))
		return val_null();
	for (;;) {
		const struct code_inst *in = &f->code->insts[f->pc++];

		if (vm->healing)
			heal_note(vm, f, in);
		if (step_quick(vm, f, in))
			continue;
		switch (step_one(&run, f, in)) {
		case STEP_NEXT:
			continue;
		case STEP_FRAME:
			f = vm->frame;
			continue;
		case STEP_RAISE:
			f = unwind(&run, vm->frame);
			if (!f)
				return val_null();
			continue;
		case STEP_RETURN:
			f = leave_frame(&run, f);
			if (!f)
				return run.result;
			continue;
		case STEP_YIELD:
			f->running = false;
			vm->frame = f->caller;
			f->caller = NULL;
			vm->depth--;
			return run.result;
		}
	}
}

struct val frame_run(struct vm *vm, struct frame *frame)
{
	return frame_loop(vm, frame, false);
}

struct val module_run(struct vm *vm, struct module *module, const struct ir_module *ir)
{
	struct code *code = code_of(vm, ir, (func_id){1});
	struct frame *f = frame_new(vm, code, module);

	f->ns = module->ns;
	f->ns->h.refs++;
	return frame_run(vm, f);
}
