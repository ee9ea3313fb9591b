#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/replay/replay.h"
#include "analyzer/source/source.h"

/* Which loop is the main one is decided by names, as the measuring script on
 * real PyTorch does it: a loop that calls backward, or a function that does. */

struct names {
	uint32_t *at; /* sorted set of syms */
	uint32_t count, capacity;
};

static bool names_add(struct names *set, uint32_t name)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->at[i] == name)
			return false;
	if (set->count == set->capacity) {
		set->capacity = set->capacity ? set->capacity * 2 : 16;
		set->at = checked_realloc(set->at, set->capacity, sizeof(*set->at));
	}
	set->at[set->count++] = name;
	return true;
}

static bool names_has(const struct names *set, uint32_t name)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->at[i] == name)
			return true;
	return false;
}

struct finder {
	const struct ir_module *module;
	const struct intern *names;
	uint32_t backward, grad, autograd, nn;
	struct names *calls;  /* by function: names called in it, nested ones included */
	struct names modules; /* variables that hold modules */
};

static uint32_t callee_name(const struct ir_func *func, const struct ir_inst *call)
{
	const struct ir_inst *callee = &func->insts.at[ir_args(func, call)[0].value.n];

	if (callee->op == OP_load_attr)
		return callee->name;
	if (callee->op == OP_load &&
	    (callee->sub == SUB_scope_global || callee->sub == SUB_scope_name))
		return callee->name;
	if (callee->op == OP_load)
		return func->slots.at[callee->name].name.n;
	return 0;
}

static void collect_calls(struct finder *f, const struct ir_func *func, struct span in,
                          struct names *out, bool *grad, int depth)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i];
		uint32_t name;

		if (in.end && (inst->span.start < in.start || inst->span.end > in.end))
			continue;
		if ((inst->op == OP_function || inst->op == OP_class) && depth < 8) {
			collect_calls(f, ir_func_get(f->module, (func_id){inst->name}),
			              (struct span){0, 0}, out, grad, depth + 1);
			continue;
		}
		if (inst->op != OP_call)
			continue;
		name = callee_name(func, inst);
		if (name)
			names_add(out, name);
		if (name == f->grad && grad) {
			const struct ir_inst *callee =
			        &func->insts.at[ir_args(func, inst)[0].value.n];
			const struct ir_inst *of =
			        callee->op == OP_load_attr
			                ? &func->insts.at[ir_args(func, callee)[0].value.n]
			                : callee;

			*grad |= of->name == f->autograd;
		}
	}
}

/* Names a loop reaches: what it calls, and what functions of these names call. */
static void close_names(struct finder *f, struct names *set)
{
	bool grew = true;

	while (grew) {
		grew = false;
		for (uint32_t i = 1; i < f->module->funcs.count; i++) {
			const struct ir_func *func = f->module->funcs.at[i];

			if (func->kind != FUNC_FUNCTION || !names_has(set, func->name.n))
				continue;
			for (uint32_t k = 0; k < f->calls[i].count; k++)
				grew |= names_add(set, f->calls[i].at[k]);
		}
	}
}

static bool is_module_class(struct finder *f, const struct ir_func *func,
                            const struct ir_inst *class)
{
	for (uint32_t i = 0; i < class->nargs; i++) {
		const struct ir_inst *base = &func->insts.at[ir_args(func, class)[i].value.n];
		const char *name = base->op == OP_load_attr || base->op == OP_load
		                           ? intern_chars(f->names, (sym_id){base->name}, NULL)
		                           : "";

		if (base->op == OP_load && base->sub == SUB_scope_slot)
			continue;
		if (strstr(name, "Module"))
			return true;
	}
	return false;
}

static void find_module_classes(struct finder *f, const struct ir_func *func, struct names *classes)
{
	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *in = &func->insts.at[i];

		if (in->op == OP_class && is_module_class(f, func, in))
			names_add(classes, ir_func_get(f->module, (func_id){in->name})->name.n);
	}
}

/* Whether a stored value is a call of one of these classes, or of what `nn` has. */
static bool makes_module(const struct finder *f, const struct ir_func *func,
                         const struct ir_inst *store, const struct names *classes)
{
	const struct ir_inst *call = &func->insts.at[ir_args(func, store)[0].value.n], *callee, *of;

	if (call->op != OP_call)
		return false;
	callee = &func->insts.at[ir_args(func, call)[0].value.n];
	if (callee->op != OP_load_attr)
		return callee->op == OP_load && names_has(classes, callee_name(func, call));
	of = &func->insts.at[ir_args(func, callee)[0].value.n];
	return of->op == OP_load && of->name == f->nn;
}

static void find_modules(struct finder *f)
{
	struct names classes = {0};

	for (uint32_t k = 1; k < f->module->funcs.count; k++)
		find_module_classes(f, f->module->funcs.at[k], &classes);
	for (uint32_t k = 1; k < f->module->funcs.count; k++) {
		const struct ir_func *func = f->module->funcs.at[k];

		for (uint32_t i = 1; i < func->insts.count; i++) {
			const struct ir_inst *store = &func->insts.at[i];

			if (store->op == OP_store && makes_module(f, func, store, &classes))
				names_add(&f->modules, store->sub == SUB_scope_slot
				                               ? func->slots.at[store->name].name.n
				                               : store->name);
		}
	}
	free(classes.at);
}

static void classify(struct finder *f, struct replay_loop *loop)
{
	const struct ir_func *func = ir_func_get(f->module, loop->func);
	struct names called = {0};
	bool grad = false;
	uint32_t direct;

	collect_calls(f, func, func->loops.at[loop->loop.n].span, &called, &grad, 0);
	direct = called.count;
	loop->kind = "plain";
	if (names_has(&called, f->backward) || grad) {
		loop->kind = "backward";
	} else {
		for (uint32_t i = 0; i < direct; i++)
			if (names_has(&f->modules, called.at[i]))
				loop->kind = "model";
		close_names(f, &called);
		if (names_has(&called, f->backward))
			loop->kind = "backward-call";
	}
	free(called.at);
}

static int by_start(const void *a, const void *b)
{
	const struct replay_loop *x = a, *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static const char *function_around(const struct finder *f, const struct ir_func *func)
{
	while (func->kind != FUNC_FUNCTION && func->kind != FUNC_MODULE)
		func = ir_func_get(f->module, func->parent);
	return func->kind == FUNC_MODULE ? NULL : intern_chars(f->names, func->name, NULL);
}

static void finder_open(struct finder *f, struct intern *names, const struct ir_module *module)
{
	memset(f, 0, sizeof(*f));
	f->module = module;
	f->names = names;
	f->backward = SYM_backward;
	f->grad = intern_text(names, "grad", 4).n;
	f->autograd = intern_text(names, "autograd", 8).n;
	f->nn = intern_text(names, "nn", 2).n;
	f->calls = checked_alloc(module->funcs.count + 1, sizeof(*f->calls));
	memset(f->calls, 0, (module->funcs.count + 1) * sizeof(*f->calls));
	for (uint32_t i = 1; i < module->funcs.count; i++)
		collect_calls(f, module->funcs.at[i], (struct span){0, 0}, &f->calls[i], NULL, 0);
	find_modules(f);
}

static void finder_close(struct finder *f)
{
	for (uint32_t i = 1; i < f->module->funcs.count; i++)
		free(f->calls[i].at);
	free(f->calls);
	free(f->modules.at);
}

uint32_t replay_loops(struct arena *arena, const struct intern *names,
                      const struct ir_module *module, struct replay_loop **loops)
{
	struct finder f;
	uint32_t count = 0, total = 0;

	for (uint32_t i = 1; i < module->funcs.count; i++)
		total += module->funcs.at[i]->loops.count;
	*loops = arena_array(arena, struct replay_loop, total + 1);
	finder_open(&f, (struct intern *)(uintptr_t)names, module);
	for (uint32_t i = 1; i < module->funcs.count; i++) {
		const struct ir_func *func = module->funcs.at[i];

		for (uint32_t k = 1; func->kind != FUNC_COMPREHENSION && k < func->loops.count;
		     k++) {
			struct replay_loop *loop = &(*loops)[count++];

			loop->func = (func_id){i};
			loop->loop = (loop_id){k};
			loop->line =
			        source_line_at(module->source, func->loops.at[k].span.start) + 1;
			loop->end_line =
			        source_line_at(module->source, func->loops.at[k].span.end) + 1;
			loop->depth = func->loops.at[k].depth - 1;
			loop->function = function_around(&f, func);
			classify(&f, loop);
		}
	}
	finder_close(&f);
	qsort(*loops, count, sizeof(**loops), by_start);
	return count;
}

static bool of_kind(const struct replay_loop *loop, int round)
{
	if (round == 0)
		return strncmp(loop->kind, "backward", 8) == 0;
	return strcmp(loop->kind, round == 1 ? "model" : "plain") == 0;
}

/* A loop of a function that another such loop calls is not outermost. */
static bool is_called(const struct ir_module *module, const struct replay_loop *loops,
                      uint32_t count, const struct replay_loop *one, int round)
{
	struct finder f;
	bool found = false;
	uint32_t name;

	if (!one->function)
		return false;
	memset(&f, 0, sizeof(f));
	f.module = module;
	name = ir_func_get(module, one->func)->name.n;
	f.calls = checked_alloc(module->funcs.count + 1, sizeof(*f.calls));
	memset(f.calls, 0, (module->funcs.count + 1) * sizeof(*f.calls));
	for (uint32_t i = 1; i < module->funcs.count; i++)
		collect_calls(&f, module->funcs.at[i], (struct span){0, 0}, &f.calls[i], NULL, 0);
	for (uint32_t i = 0; !found && i < count; i++) {
		const struct ir_func *func = ir_func_get(module, loops[i].func);
		struct names called = {0};

		if (&loops[i] == one || !of_kind(&loops[i], round) || loops[i].depth ||
		    (loops[i].function && strcmp(loops[i].function, one->function) == 0))
			continue;
		collect_calls(&f, func, func->loops.at[loops[i].loop.n].span, &called, NULL, 0);
		close_names(&f, &called);
		found = names_has(&called, name);
		free(called.at);
	}
	finder_close(&f);
	return found;
}

/* --- the loop that calls a function */

enum { MOST_CALLERS = 8 }; /* in one another */

static bool calls_any(struct finder *f, const struct replay_loop *loop, const struct names *wanted)
{
	const struct ir_func *func = ir_func_get(f->module, loop->func);
	struct names called = {0};
	bool found = false;

	collect_calls(f, func, func->loops.at[loop->loop.n].span, &called, NULL, 0);
	for (uint32_t i = 0; !found && i < called.count; i++)
		found = names_has(wanted, called.at[i]);
	free(called.at);
	return found;
}

/* One that trains before others, an inner one before those around it. */
static const struct replay_loop *nearest_caller(struct finder *f, const struct replay_loop *loops,
                                                uint32_t count, const struct names *wanted)
{
	const struct replay_loop *best = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct replay_loop *one = &loops[i];
		const bool inner = best && one->func.n == best->func.n && one->line > best->line &&
		                   one->end_line <= best->end_line;

		if (!calls_any(f, one, wanted))
			continue;
		if (!best || inner || (of_kind(one, 0) && !of_kind(best, 0)))
			best = one;
	}
	return best;
}

static bool add_callers(struct finder *f, struct names *wanted)
{
	bool grew = false;

	for (uint32_t i = 1; i < f->module->funcs.count; i++) {
		const struct ir_func *func = f->module->funcs.at[i];

		if (func->kind != FUNC_FUNCTION || names_has(wanted, func->name.n))
			continue;
		for (uint32_t k = 0; k < f->calls[i].count; k++)
			if (names_has(wanted, f->calls[i].at[k])) {
				grew |= names_add(wanted, func->name.n);
				break;
			}
	}
	return grew;
}

const struct replay_loop *replay_choose_caller(struct intern *names, const struct ir_module *module,
                                               const struct replay_loop *loops, uint32_t count,
                                               func_id function)
{
	const struct replay_loop *found = NULL;
	struct names wanted = {0};
	struct finder f;

	finder_open(&f, names, module);
	names_add(&wanted, ir_func_get(module, function)->name.n);
	for (int i = 0; !found && i < MOST_CALLERS; i++) {
		found = nearest_caller(&f, loops, count, &wanted);
		if (!add_callers(&f, &wanted))
			break;
	}
	free(wanted.at);
	finder_close(&f);
	return found;
}

bool replay_is_called(struct intern *names, const struct ir_module *module, func_id function)
{
	const uint32_t name = ir_func_get(module, function)->name.n;
	struct finder f;
	bool found = false;

	finder_open(&f, names, module);
	for (uint32_t i = 1; !found && i < module->funcs.count; i++)
		found = i != function.n && names_has(&f.calls[i], name);
	finder_close(&f);
	return found;
}

bool replay_names_backward(const struct ir_module *module)
{
	for (uint32_t f = 1; f < module->funcs.count; f++) {
		const struct ir_func *func = module->funcs.at[f];

		for (uint32_t i = 1; i < func->insts.count; i++)
			if (func->insts.at[i].op == OP_load_attr &&
			    sym_is((sym_id){func->insts.at[i].name}, SYM_backward))
				return true;
	}
	return false;
}

/* --- by place */

static const struct replay_loop *loop_at(const struct replay_loop *loops, uint32_t count,
                                         uint32_t line)
{
	const struct replay_loop *best = NULL;

	for (uint32_t i = 0; i < count; i++) {
		if (loops[i].line == line)
			return &loops[i];
		if (loops[i].line <= line && loops[i].end_line >= line)
			best = &loops[i];
	}
	return best;
}

const struct replay_loop *replay_choose(const struct ir_module *module,
                                        const struct replay_loop *loops, uint32_t count,
                                        uint32_t line)
{
	if (line)
		return loop_at(loops, count, line);
	for (int round = 0; round < 3; round++) {
		const struct replay_loop *first = NULL;

		for (uint32_t i = 0; i < count; i++) {
			if (loops[i].depth || !of_kind(&loops[i], round))
				continue;
			first = first ? first : &loops[i];
			if (!is_called(module, loops, count, &loops[i], round))
				return &loops[i];
		}
		if (first)
			return first;
	}
	return NULL;
}

uint32_t replay_rare_steps(const struct ir_module *module, const struct replay_loop *loop)
{
	const struct ir_func *func = ir_func_get(module, loop->func);
	const struct span span = func->loops.at[loop->loop.n].span;
	uint32_t most = 0;

	for (uint32_t i = 1; i < func->insts.count; i++) {
		const struct ir_inst *inst = &func->insts.at[i], *by;
		unsigned long steps;

		if (inst->op != OP_binary || inst->sub != SUB_binary_modulo ||
		    inst->span.start < span.start || inst->span.end > span.end)
			continue;
		by = &func->insts.at[ir_args(func, inst)[1].value.n];
		if (by->op != OP_const || by->sub != SUB_const_int)
			continue;
		steps = strtoul(intern_chars(module->names, (sym_id){by->name}, NULL), NULL, 0);
		if (steps <= REPLAY_MOST_STEPS && steps > most)
			most = (uint32_t)steps;
	}
	return most;
}
