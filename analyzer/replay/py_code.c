#include "analyzer/replay/py_code.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/ir/cfg.h"
#include "analyzer/replay/library.h"
#include "analyzer/replay/replay.h"

/* --- registers: each temporary has one from its definition to its use */

struct regs {
	uint16_t *of;   /* by instruction */
	uint16_t *free; /* stack */
	uint32_t nfree, used;
};

static uint16_t reg_take(struct regs *r)
{
	return r->nfree ? r->free[--r->nfree] : (uint16_t)r->used++;
}

static void block_registers(struct code *code, const struct ir_block *block, struct regs *r)
{
	const struct ir_func *func = code->func;

	r->nfree = 0;
	r->used = 1; /* register 0: the item of `next` */
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct ir_inst *in = &func->insts.at[i];
		const struct ir_arg *args = ir_args(func, in);

		for (uint32_t k = 0; k < in->nargs; k++) {
			uint16_t reg = r->of[args[k].value.n];

			code->insts[i].args[k].reg = reg;
			if (reg)
				r->free[r->nfree++] = reg;
		}
		if (!(op_info[in->op].flags & OPF_DEFINES))
			continue;
		r->of[i] = in->op == OP_next ? 0 : reg_take(r);
		code->insts[i].dst = r->of[i];
	}
	if (r->used > code->nregs)
		code->nregs = r->used;
}

/* `next` temporaries are used in another block: their register is known first. */
static void assign_registers(struct code *code)
{
	const struct ir_func *func = code->func;
	struct regs r = {0};

	r.of = calloc(func->insts.count + 1, sizeof(uint16_t));
	r.free = calloc(func->insts.count + 2, sizeof(uint16_t));
	BUG_IF(!r.of || !r.free);
	code->nregs = 1;
	for (uint32_t b = 1; b < func->blocks.count; b++)
		block_registers(code, &func->blocks.at[b], &r);
	free(r.of);
	free(r.free);
}

static struct val complex_value(struct vm *vm, double imaginary)
{
	struct val type = builtin_late(vm, str_intern(vm, "complex", 7)), v = val_null();

	if (!is_null(type))
		v = rp_call2(vm, type, val_int(0), val_float(imaginary));
	unref(vm, type);
	exc_clear(vm);
	return is_null(v) ? unknown_new(vm, "complex number") : v;
}

static struct val const_value(struct vm *vm, const struct ir_inst *in, struct str *text)
{
	switch ((int)in->sub) {
	case SUB_const_none:
		return val_none();
	case SUB_const_true:
		return val_bool(true);
	case SUB_const_false:
		return val_bool(false);
	case SUB_const_ellipsis:
		return (struct val){.tag = PY_ELLIPSIS};
	case SUB_const_int:
		return int_of_text(vm, text->at, text->length, 0);
	case SUB_const_float:
		return val_float(strtod(text->at, NULL));
	case SUB_const_imaginary:
		return complex_value(vm, strtod(text->at, NULL));
	case SUB_const_bytes:
		return val_obj(bytes_new(vm, text->at, text->length));
	default:
		text->h.refs++;
		return val_obj(text);
	}
}

static bool name_is_sym(enum ir_op op)
{
	switch (op) {
	case OP_unknown:
	case OP_const:
	case OP_load_attr:
	case OP_store_attr:
	case OP_delete_attr:
	case OP_import:
	case OP_import_from:
	case OP_annotate:
		return true;
	default:
		return false;
	}
}

static bool scope_is_name(uint8_t sub)
{
	return sub == SUB_scope_global || sub == SUB_scope_name;
}

static bool scope_is_sym(const struct ir_inst *in)
{
	return (in->op == OP_load || in->op == OP_store || in->op == OP_delete) &&
	       scope_is_name(in->sub);
}

static void code_inst_init(struct vm *vm, struct code *code, uint32_t i, struct code_arg *room)
{
	const struct ir_inst *in = &code->func->insts.at[i];
	const struct ir_arg *args = ir_args(code->func, in);
	struct code_inst *out = &code->insts[i];

	out->op = in->op;
	out->sub = in->sub;
	out->nargs = in->nargs;
	out->name = in->name;
	out->args = room;
	out->simple = 1;
	for (uint32_t k = 0; k < in->nargs; k++) {
		if (!args[k].keyword.n)
			continue;
		out->simple = 0;
		if (sym_is(args[k].keyword, SYM_star))
			out->args[k].star = ARG_STAR;
		else if (sym_is(args[k].keyword, SYM_double_star))
			out->args[k].star = ARG_DOUBLE_STAR;
		else
			out->args[k].keyword = name_of_sym(vm, code->module, args[k].keyword);
	}
	if (name_is_sym((enum ir_op)in->op) || scope_is_sym(in) ||
	    (in->op == OP_match && in->sub == SUB_match_attribute))
		out->str = name_of_sym(vm, code->module, (sym_id){in->name});
	if (in->op == OP_const)
		out->value = const_value(vm, in, out->str);
}

static void code_params(struct vm *vm, struct code *code)
{
	const struct ir_func *func = code->func;

	code->star_param = code->double_star_param = -1;
	code->nparams = func->params.count;
	code->params = arena_array(vm->arena, struct code_param, code->nparams + 1);
	for (uint32_t i = 0; i < code->nparams; i++) {
		const struct ir_param *p = &func->params.at[i];
		struct code_param *out = &code->params[i];

		out->slot = p->slot.n;
		out->kind = p->kind;
		out->name = name_of_sym(vm, code->module, func->slots.at[p->slot.n].name);
		if (p->kind == PARAM_POSITIONAL_ONLY || p->kind == PARAM_POSITIONAL)
			code->npositional = i + 1;
		else if (p->kind == PARAM_VAR_POSITIONAL)
			code->star_param = (int)i;
		else if (p->kind == PARAM_VAR_KEYWORD)
			code->double_star_param = (int)i;
	}
}

static void code_back_edges(struct vm *vm, struct code *code)
{
	const struct ir_func *func = code->func;

	code->back_edge = arena_array(vm->arena, uint8_t, func->blocks.count + 1);
	for (uint32_t b = 1; b < func->blocks.count; b++) {
		for (int s = 0; s < 2; s++) {
			uint32_t to = func->blocks.at[b].succ[s].n;
			loop_id loop = to ? func->blocks.at[to].loop : (loop_id){0};

			if (to && loop.n && func->loops.at[loop.n].header.n == to &&
			    cfg_in_loop(func, (block_id){b}, loop))
				code->back_edge[b] |= (uint8_t)(1 << s);
		}
	}
}

struct code_table {
	const struct ir_module *module;
	struct code **codes;
	struct code_table *next;
};

static struct code **code_slot(struct vm *vm, const struct ir_module *module, func_id id)
{
	struct code_table *table;

	for (table = vm->codes; table && table->module != module; table = table->next)
		;
	if (!table) {
		table = arena_new(vm->arena, struct code_table);
		table->module = module;
		table->codes = arena_array(vm->arena, struct code *, module->funcs.count + 1);
		table->next = vm->codes;
		vm->codes = table;
	}
	return &table->codes[id.n];
}

static block_id block_of(const struct ir_func *func, uint32_t inst)
{
	uint32_t b = 1;

	while (b + 1 < func->blocks.count &&
	       (inst < func->blocks.at[b].first ||
	        inst >= func->blocks.at[b].first + func->blocks.at[b].count))
		b++;
	return (block_id){b};
}

/* A lambda gives back what stands in it: what happens there is done before. */
static bool is_beside(enum ir_op op)
{
	return op == OP_drop || op == OP_return;
}

/* Marks the last instruction of each watched span that lies in the function. */
static void code_watch(struct vm *vm, struct code *code)
{
	for (uint32_t k = 0; k < vm->watch_count; k++) {
		const struct span watched = vm->watch[k].span;
		uint32_t last = 0;

		if (vm->watch[k].source != code->module->source)
			continue;
		for (uint32_t i = 1; i < code->func->insts.count; i++) {
			const struct span span = code->func->insts.at[i].span;

			if (span.start >= watched.start && span.end <= watched.end &&
			    span.end > span.start && !is_beside((enum ir_op)code->insts[i].op))
				last = i;
		}
		if (!last || code->insts[last].watch)
			continue;
		code->insts[last].op = OP_COUNT;
		code->insts[last].watch = (uint8_t)(k + 1);
		vm->watch_at[k] =
		        (struct watched_at){code->module, code->id, block_of(code->func, last)};
	}
}

static bool makes_value(enum ir_op op)
{
	return op == OP_call || op == OP_binary || op == OP_inplace || op == OP_unary ||
	       op == OP_await || op == OP_unpack || op == OP_load_item || op == OP_load_attr;
}

static void code_born(struct vm *vm, struct code *code)
{
	for (uint32_t i = 1; i < code->func->insts.count; i++) {
		const struct ir_inst *inst = &code->func->insts.at[i];

		if (!makes_value((enum ir_op)inst->op) ||
		    !vm->is_born(vm, code->module, inst->span))
			continue;
		code->insts[i].op = OP_COUNT;
		code->insts[i].born = true;
	}
}

static enum code_quick quick_of(const struct code *code, const struct code_inst *in)
{
	enum slot_kind kind;

	if (in->op == OP_const)
		return QUICK_CONST;
	if ((in->op != OP_load && in->op != OP_store) || scope_is_name(in->sub))
		return QUICK_NONE;
	kind = code->func->slots.at[in->name].kind;
	if (kind == SLOT_CELL || kind == SLOT_FREE)
		return QUICK_NONE;
	return in->op == OP_store          ? QUICK_STORE
	       : in->sub == SUB_scope_take ? QUICK_TAKE
	                                   : QUICK_LOAD;
}

/* What only a call needs: most functions of a class are never called. */
static void code_insts(struct vm *vm, struct code *code)
{
	const uint32_t count = code->func->insts.count;
	struct code_arg *room;
	uint32_t nargs = 0;

	for (uint32_t i = 1; i < count; i++)
		nargs += code->func->insts.at[i].nargs;
	code->insts = arena_array(vm->arena, struct code_inst, count + 1);
	room = arena_array(vm->arena, struct code_arg, nargs + 1);
	for (uint32_t i = 1; i < count; i++) {
		code_inst_init(vm, code, i, room);
		room += code->insts[i].nargs;
	}
	assign_registers(code);
	code_back_edges(vm, code);
	if (vm->watch_count && !code->library)
		code_watch(vm, code);
	if (vm->is_born && !code->library)
		code_born(vm, code);
	for (uint32_t i = 1; i < count; i++)
		code->insts[i].quick = (uint8_t)quick_of(code, &code->insts[i]);
}

struct code *code_of(struct vm *vm, const struct ir_module *module, func_id id)
{
	struct code **slot = code_slot(vm, module, id), *code = *slot;

	if (code)
		return code;
	code = arena_new(vm->arena, struct code);
	code->module = module;
	code->func = ir_func_get(module, id);
	code->id = id;
	code->nslots = code->func->slots.count ? code->func->slots.count : 1;
	code_params(vm, code);
	code->name = name_of_sym(vm, module, code->func->name);
	code->qualified = code->func->qualified.n ? name_of_sym(vm, module, code->func->qualified)
	                                          : code->name;
	for (uint32_t i = 1; i < code->func->slots.count; i++)
		if (code->func->slots.at[i].kind == SLOT_CELL ||
		    code->func->slots.at[i].kind == SLOT_FREE)
			code->has_cells = true;
	*slot = code;
	return code;
}

uint32_t code_line(const struct code *code, uint32_t inst)
{
	const struct source *source = code->module->source;

	if (!source || inst >= code->func->insts.count)
		return 0;
	return source_line_at(source, code->func->insts.at[inst].span.start) + 1;
}

const char *code_file(const struct code *code)
{
	return code->module->source ? code->module->source->path : "<unknown>";
}

struct str *code_slot_name(struct vm *vm, const struct code *code, uint32_t slot)
{
	return name_of_sym(vm, code->module, code->func->slots.at[slot].name);
}

const char *code_name(const struct code *code)
{
	return code->name->at;
}

bool code_is_generator(const struct function *fn)
{
	return fn->code->func->is_generator;
}

struct val code_parameters(struct vm *vm, const struct function *fn)
{
	struct list *names = list_new(vm, fn->code->nparams);

	for (uint32_t i = 0; i < fn->code->nparams; i++)
		list_push(vm, names, ref_obj(fn->code->params[i].name));
	return val_obj(names);
}

/* --- frames */

/* A healing machine counts the turns of each loop behind the slots. */
static bool frame_counts_turns(const struct vm *vm, const struct code *code)
{
	return vm->healing && !code->library && code->func->kind != FUNC_COMPREHENSION;
}

static size_t frame_size(const struct code *code, bool turns)
{
	return (code->nslots + code->nregs +
	        (turns ? code->func->blocks.count / sizeof(struct val) + 1 : 0)) *
	       sizeof(struct val);
}

struct frame *frame_new(struct vm *vm, struct code *code, struct module *module)
{
	struct frame *f = rp_new(vm, K_FRAME, vm->t[TY_frame], sizeof(*f));
	const bool turns = frame_counts_turns(vm, code);

	if (!code->insts)
		code_insts(vm, code);
	f->code = code;
	f->module = module;
	module->h.refs++;
	f->slots = rp_mem(vm, NULL, 0, frame_size(code, turns));
	memset(f->slots, 0, frame_size(code, turns));
	f->turns = turns ? (uint8_t *)(f->slots + code->nslots + code->nregs) : NULL;
	f->regs = f->slots + code->nslots;
	f->block = 1;
	f->pc = code->func->blocks.at[1].first;
	for (uint32_t i = 1; code->has_cells && i < code->nslots; i++)
		if (code->func->slots.at[i].kind == SLOT_CELL)
			f->slots[i] =
			        val_obj(rp_new(vm, K_CELL, vm->t[TY_cell], sizeof(struct cell)));
	return f;
}

void frame_drop_slots(struct vm *vm, struct frame *f)
{
	for (uint32_t i = 0; f->slots && i < f->code->nslots + f->code->nregs; i++)
		slot_set(vm, &f->slots[i], val_null());
	slot_set(vm, &f->handled, val_null());
}

bool code_visit_frame(struct frame *f, visit_fn *fn, void *walk);
bool code_visit_frame(struct frame *f, visit_fn *fn, void *walk)
{
	for (uint32_t i = 0; i < f->code->nslots + f->code->nregs; i++)
		if (f->slots[i].tag == PY_OBJECT && !fn(walk, f->slots[i], "local", val_int(i)))
			return false;
	if (f->handled.tag == PY_OBJECT && !fn(walk, f->handled, "handled", val_null()))
		return false;
	if (f->made.tag == PY_OBJECT && !fn(walk, f->made, "made", val_null()))
		return false;
	if (f->fn && !fn(walk, val_obj(f->fn), "function", val_null()))
		return false;
	if (f->ns && !fn(walk, val_obj(f->ns), "namespace", val_null()))
		return false;
	return !f->module || fn(walk, val_obj(f->module), "globals", val_null());
}

void code_release_frame(struct vm *vm, struct frame *f);
void code_release_frame(struct vm *vm, struct frame *f)
{
	frame_drop_slots(vm, f);
	rp_mem(vm, f->slots, frame_size(f->code, f->turns), 0);
	unref(vm, f->made);
	unref_obj(vm, f->fn);
	unref_obj(vm, f->ns);
	unref_obj(vm, f->module);
}

bool code_visit_function(struct function *f, visit_fn *fn, void *walk);
bool code_visit_function(struct function *f, visit_fn *fn, void *walk)
{
	for (uint32_t i = 0; f->captured && i < f->code->nslots; i++)
		if (f->captured[i].tag == PY_OBJECT &&
		    !fn(walk, f->captured[i], "captured", val_int(i)))
			return false;
	for (uint32_t i = 0; f->defaults && i < f->code->nparams; i++)
		if (f->defaults[i].tag == PY_OBJECT &&
		    !fn(walk, f->defaults[i], "default", val_int(i)))
			return false;
	return true;
}

void code_release_function(struct vm *vm, struct function *f);
void code_release_function(struct vm *vm, struct function *f)
{
	for (uint32_t i = 0; f->captured && i < f->code->nslots; i++)
		unref(vm, f->captured[i]);
	for (uint32_t i = 0; f->defaults && i < f->code->nparams; i++)
		unref(vm, f->defaults[i]);
	if (f->captured)
		rp_mem(vm, f->captured, f->code->nslots * sizeof(struct val), 0);
	if (f->defaults)
		rp_mem(vm, f->defaults, f->code->nparams * sizeof(struct val), 0);
	unref_obj(vm, f->name);
	unref_obj(vm, f->qualified);
	unref_obj(vm, f->module);
}
