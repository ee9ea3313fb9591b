/* Generators: PY_NULL without an exception means exhausted. */

#include "analyzer/replay/py_step.h"

static struct val generator_leave(struct vm *vm, struct generator *g, struct frame *f,
                                  struct val result)
{
	g->running = false;
	if (!f->finished) {
		unref_obj(vm, f);
		return result;
	}
	if (g->frame == f)
		g->frame = NULL;
	unref_obj(vm, f);
	slot_set(vm, &g->result, result);
	if (exc_is(vm, TY_StopIteration) && !vm->halt) {
		struct val cause = exc_take(vm);

		unref(vm, cause);
		rp_raise(vm, TY_RuntimeError, "generator raised StopIteration");
	}
	return val_null();
}

static struct val generator_run(struct vm *vm, struct generator *g, bool raising)
{
	struct frame *f = g->frame;

	g->running = true;
	g->started = true;
	/* One reference for the loop, which drops it when the frame ends, and
	 * one for here, to see how it ended. */
	f->h.refs++;
	f->measured = vm->measured_next;
	return generator_leave(vm, g, f, frame_loop(vm, f, raising));
}

static bool generator_ready(struct vm *vm, struct generator *g)
{
	if (g->running) {
		rp_raise(vm, TY_ValueError, "generator already executing");
		return false;
	}
	return g->frame != NULL;
}

struct val generator_send(struct vm *vm, struct generator *g, struct val sent)
{
	struct run run = {.vm = vm};
	struct frame *f = g->frame;

	if (!generator_ready(vm, g)) {
		unref(vm, sent);
		return val_null();
	}
	if (!g->started) {
		unref(vm, sent);
		return generator_run(vm, g, false);
	}
	if (is_null(g->delegate)) {
		f->regs[f->dst] = sent;
		return generator_run(vm, g, false);
	}
	g->running = true;
	switch (delegate_step(&run, f, sent)) {
	case STEP_YIELD:
		g->running = false;
		return run.result;
	case STEP_RAISE:
		return generator_run(vm, g, true);
	default:
		return generator_run(vm, g, false);
	}
}

struct val generator_throw(struct vm *vm, struct generator *g, struct val exc)
{
	if (!generator_ready(vm, g)) {
		rp_raise_val(vm, exc);
		return val_null();
	}
	slot_set(vm, &vm->exc, exc);
	if (is_kind(g->delegate, K_GENERATOR)) {
		struct generator *inner = AS(generator, g->delegate);
		struct val result = generator_throw(vm, inner, exc_take(vm));
		struct val done;

		if (!is_null(result))
			return result;
		done = g->delegate;
		g->delegate = val_null();
		if (is_null(vm->exc))
			g->frame->regs[g->frame->dst] =
			        is_null(inner->result) ? val_none() : ref(inner->result);
		unref(vm, done);
		return generator_run(vm, g, !is_null(vm->exc));
	}
	slot_set(vm, &g->delegate, val_null());
	return generator_run(vm, g, true);
}

/* GeneratorExit at the yield, as when the last reference goes. */
void generator_close(struct vm *vm, struct generator *g)
{
	struct val saved, result;
	struct frame *f = g->frame;

	if (!f || g->running)
		return;
	if (!g->started || !f->code->func->blocks.at[f->block].handler.n) {
		g->frame = NULL;
		unref_obj(vm, f);
		return;
	}
	saved = exc_take(vm);
	rp_raise(vm, TY_GeneratorExit, "%s", "");
	result = generator_throw(vm, g, exc_take(vm));
	if (!is_null(result))
		rp_raise(vm, TY_RuntimeError, "generator ignored GeneratorExit");
	else if (exc_is(vm, TY_GeneratorExit) || exc_is(vm, TY_StopIteration))
		exc_clear(vm);
	unref(vm, result);
	if (is_null(vm->exc))
		vm->exc = saved;
	else
		unref(vm, saved);
}
