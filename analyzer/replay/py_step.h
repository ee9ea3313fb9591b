#ifndef GRAPHLINT_REPLAY_PY_STEP_H
#define GRAPHLINT_REPLAY_PY_STEP_H

/* One instruction at a time: what the interpreter's loop asks of the files that
 * know single opcodes. An operation takes its operands out of their registers
 * and puts its result into its own. */

#include "analyzer/ir/cfg.h"
#include "analyzer/replay/py_code.h"

enum step {
	STEP_NEXT,   /* go on with the next instruction */
	STEP_FRAME,  /* another frame runs now, or this one in another block */
	STEP_RETURN, /* run->result leaves this frame */
	STEP_YIELD,  /* run->result leaves the generator */
	STEP_RAISE,  /* vm->exc is set */
};

struct run {
	struct vm *vm;
	struct val result;
};

static inline struct val reg_out(struct frame *f, const struct code_inst *in, uint32_t arg)
{
	struct val *reg = &f->regs[in->args[arg].reg], v = *reg;

	reg->tag = PY_NULL;
	return v;
}

/* Takes the value; PY_NULL is the exception. */
static inline enum step reg_put(struct frame *f, const struct code_inst *in, struct val v)
{
	f->regs[in->dst] = v;
	return v.tag == PY_NULL ? STEP_RAISE : STEP_NEXT;
}

enum step step_go(struct run *run, struct frame *f, int which);
/* Until the frame returns, yields or raises; the reference to it is taken over. */
struct val frame_loop(struct vm *vm, struct frame *f, bool raising);

/* Whether the frame runs the function of the measured loop. */
static inline bool runs_watched(const struct vm *vm, const struct frame *f)
{
	return vm->watched == f->code->module && vm->watched_func.n == f->code->id.n;
}

/* --- py_heal.c, in a healing machine */
/* A block is entered: loops but the measured one take few turns. */
void heal_turn(struct frame *f, uint32_t to, bool again);
/* The successor that has to be taken to reach the measured loop, or a place that is led
 * to, and not to leave the loop at once; -1: none has to. */
int heal_way_in(const struct vm *vm, const struct frame *f);
/* The successor that leaves a loop which has had its turns; -1: none has to. */
int heal_way_out(struct vm *vm, const struct frame *f);
/* Before an instruction runs: what it is given. */
void heal_note(struct vm *vm, const struct frame *f, const struct code_inst *in);
/* The frame's instruction raised: STEP_RAISE if that has to stand. */
enum step heal_step(struct run *run, struct frame *f);

/* Whether a function is given a stand-in by itself, over and over: a tree of them has no leaves. */
bool heal_is_endless(const struct vm *vm, const struct code *code, const struct val *a, uint32_t n);

/* --- py_heal_items.c */
/* What the measured loop was given, and what it is given when that is used up after a
 * few turns; PY_NULL: nothing. */
void heal_note_item(struct vm *vm, struct val item);
struct val heal_next(struct vm *vm, const struct frame *f, const struct code_inst *in,
                     struct val *iterator);
/* The measured loop has nothing to go over: it is given something. */
enum step heal_items(struct run *run, struct frame *f, const struct code_inst *in);

enum step step_load(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_store(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_delete(struct run *run, struct frame *f, const struct code_inst *in);
struct val *slot_place(struct frame *f, uint32_t slot);

enum step step_call(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_function(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_class(struct run *run, struct frame *f, const struct code_inst *in);
/* A class body has ended with this namespace. */
struct val class_body_done(struct vm *vm, struct frame *body);

enum step step_build(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_unpack(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_collect(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_format(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_match(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_import(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_enter(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_leave(struct run *run, struct frame *f, const struct code_inst *in);
enum step step_yield(struct run *run, struct frame *f, const struct code_inst *in);
/* Runs a coroutine to its end; takes it. */
struct val await_value(struct vm *vm, struct val v);
enum step step_await(struct run *run, struct frame *f, const struct code_inst *in);
/* The running delegate of `yield from` gets `sent` (taken). */
enum step delegate_step(struct run *run, struct frame *f, struct val sent);

#endif
