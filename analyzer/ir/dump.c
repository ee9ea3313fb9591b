#include "analyzer/ir/dump.h"

#include <string.h>

#include "analyzer/ir/cfg.h"
#include "analyzer/source/source.h"

enum { SNIPPET_MAX = 48, COMMENT_COLUMN = 44 };

static const char *const func_kinds[] = {
        [FUNC_MODULE] = "module",
        [FUNC_FUNCTION] = "function",
        [FUNC_LAMBDA] = "lambda",
        [FUNC_CLASS_BODY] = "class",
        [FUNC_COMPREHENSION] = "comprehension",
};

static const char *const slot_kinds[] = {
        [SLOT_LOCAL] = "local",
        [SLOT_CELL] = "cell",
        [SLOT_FREE] = "free",
        [SLOT_HIDDEN] = "hidden",
};

struct dump {
	const struct ir_module *module;
	const struct ir_func *func;
	struct text *out;
};

static void put_sym(struct dump *d, uint32_t name)
{
	size_t length;
	const char *chars = intern_chars(d->module->names, (sym_id){name}, &length);

	text_add(d->out, chars, length);
}

static void put_quoted(struct dump *d, uint32_t name)
{
	size_t length;
	const char *chars = intern_chars(d->module->names, (sym_id){name}, &length);

	text_add_char(d->out, '"');
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)chars[i];
		if (c == '\n')
			text_add_chars(d->out, "\\n");
		else if (c == '"' || c == '\\')
			text_print(d->out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			text_print(d->out, "\\x%02x", c);
		else
			text_add_char(d->out, (char)c);
	}
	text_add_char(d->out, '"');
}

static void put_slot(struct dump *d, uint32_t id)
{
	const struct ir_slot *slot = &d->func->slots.at[id];

	if (slot->kind == SLOT_HIDDEN)
		text_print(d->out, "$%u", id);
	else
		put_sym(d, slot->name.n);
}

static void put_shape(struct dump *d, uint32_t shape)
{
	text_print(d->out, "%u", shape & 0x7fff);
	if (shape >> 30)
		text_print(d->out, "+*+%u", shape >> 15 & 0x7fff);
}

static void put_args(struct dump *d, const struct ir_inst *inst)
{
	const struct ir_arg *args = ir_args(d->func, inst);

	for (uint32_t i = 0; i < inst->nargs; i++) {
		text_add_char(d->out, ' ');
		if (sym_is(args[i].keyword, SYM_star) || sym_is(args[i].keyword, SYM_double_star)) {
			put_sym(d, args[i].keyword.n);
		} else if (args[i].keyword.n) {
			put_sym(d, args[i].keyword.n);
			text_add_char(d->out, '=');
		}
		text_print(d->out, "%%%u", args[i].value.n);
	}
}

static void put_const(struct dump *d, const struct ir_inst *inst)
{
	switch (inst->sub) {
	case SUB_const_int:
	case SUB_const_float:
	case SUB_const_imaginary:
		text_add_char(d->out, ' ');
		put_sym(d, inst->name);
		break;
	case SUB_const_str:
	case SUB_const_bytes:
		text_add_char(d->out, ' ');
		put_quoted(d, inst->name);
		break;
	default:
		break;
	}
}

static void put_match(struct dump *d, const struct ir_inst *inst)
{
	if (inst->sub == SUB_match_rest || inst->sub == SUB_match_mapping)
		return;
	text_add_char(d->out, ' ');
	if (inst->sub == SUB_match_sequence)
		put_shape(d, inst->name);
	else if (inst->sub == SUB_match_attribute)
		put_sym(d, inst->name);
	else
		text_print(d->out, "%u", inst->name);
}

static void put_name(struct dump *d, const struct ir_inst *inst)
{
	switch (inst->op) {
	case OP_const:
		put_const(d, inst);
		return;
	case OP_match:
		put_match(d, inst);
		return;
	case OP_unknown:
		text_add_char(d->out, ' ');
		put_quoted(d, inst->name);
		return;
	default:
		break;
	}
	switch (inst->op) {
	case OP_load:
	case OP_store:
	case OP_delete:
		text_add_char(d->out, ' ');
		if (inst->sub == SUB_scope_slot || inst->sub == SUB_scope_take)
			put_slot(d, inst->name);
		else
			put_sym(d, inst->name);
		break;
	case OP_collect:
	case OP_next:
	case OP_enter:
	case OP_leave:
		text_add_char(d->out, ' ');
		put_slot(d, inst->name);
		break;
	case OP_function:
	case OP_class:
		text_print(d->out, " f%u", inst->name);
		break;
	case OP_unpack:
		text_add_char(d->out, ' ');
		put_shape(d, inst->name);
		break;
	case OP_load_attr:
	case OP_store_attr:
	case OP_delete_attr:
	case OP_import:
	case OP_import_from:
	case OP_annotate:
		text_add_char(d->out, ' ');
		put_sym(d, inst->name);
		break;
	default:
		break;
	}
}

/* The first line of the source that the instruction stands for. */
static void put_span(struct dump *d, struct span span, size_t line_start)
{
	const struct source *source = d->module->source;
	size_t used = d->out->length - line_start;
	const char *from, *end;
	size_t length = span.end - span.start;

	if (span.end == 0)
		return;
	text_add_repeated(d->out, ' ', used < COMMENT_COLUMN ? COMMENT_COLUMN - used : 1);
	if (!source || span.end > source->length) {
		text_print(d->out, "; %u..%u", span.start, span.end);
		return;
	}
	from = source->text + span.start;
	end = memchr(from, '\n', length);
	if (end)
		length = (size_t)(end - from);
	text_add_chars(d->out, "; ");
	if (length > SNIPPET_MAX)
		for (length = SNIPPET_MAX; length && (from[length] & 0xc0) == 0x80;)
			length--;
	text_add(d->out, from, length);
	if (length < span.end - span.start)
		text_add_chars(d->out, "…");
}

static void put_inst(struct dump *d, uint32_t id, const struct ir_block *block)
{
	const struct ir_inst *inst = &d->func->insts.at[id];
	size_t start = d->out->length;
	bool slot = inst->op == OP_load || inst->op == OP_store || inst->op == OP_delete;

	text_add_chars(d->out, "    ");
	if (op_info[inst->op].flags & OPF_DEFINES)
		text_print(d->out, "%%%u = ", id);
	text_add_chars(d->out, op_info[inst->op].name);
	if (inst->sub && !(slot && inst->sub == SUB_scope_slot) &&
	    ir_sub_text((enum ir_sub)inst->sub)[0])
		text_print(d->out, " %s", ir_sub_text((enum ir_sub)inst->sub));
	put_name(d, inst);
	put_args(d, inst);
	for (int i = 0; i < 2 && (op_info[inst->op].flags & OPF_ENDS_BLOCK); i++)
		if (block->succ[i].n)
			text_print(d->out, " b%u", block->succ[i].n);
	put_span(d, inst->span, start);
	text_add_char(d->out, '\n');
}

static void put_params(struct dump *d)
{
	static const char *const marks[] = {
	        [PARAM_POSITIONAL_ONLY] = "/", [PARAM_POSITIONAL] = "",
	        [PARAM_VAR_POSITIONAL] = "*",  [PARAM_KEYWORD_ONLY] = "=",
	        [PARAM_VAR_KEYWORD] = "**",
	};

	for (uint32_t i = 0; i < d->func->params.count; i++) {
		const struct ir_param *param = &d->func->params.at[i];
		text_add_chars(d->out, i ? ", " : " (");
		text_add_chars(d->out, marks[param->kind]);
		put_slot(d, param->slot.n);
		if (param->annotation.n) {
			text_add_chars(d->out, ": ");
			put_sym(d, param->annotation.n);
		}
		if (param->has_default)
			text_add_chars(d->out, " = ...");
	}
	if (d->func->params.count)
		text_add_char(d->out, ')');
}

static void put_slots(struct dump *d)
{
	for (uint32_t i = 1; i < d->func->slots.count; i++) {
		const struct ir_slot *slot = &d->func->slots.at[i];
		if (slot->kind == SLOT_HIDDEN || slot->kind == SLOT_LOCAL)
			continue;
		text_print(d->out, "  %s ", slot_kinds[slot->kind]);
		put_slot(d, i);
		if (slot->kind == SLOT_FREE)
			text_print(d->out, " = slot %u of f%u", slot->outer.n, d->func->parent.n);
		text_add_char(d->out, '\n');
	}
}

static void put_head(struct dump *d, uint32_t id)
{
	const struct ir_func *func = d->func;

	text_print(d->out, "%sf%u %s ", id > 1 ? "\n" : "", id, func_kinds[func->kind]);
	put_sym(d, func->qualified.n);
	put_params(d);
	if (func->returns.n) {
		text_add_chars(d->out, " -> ");
		put_sym(d, func->returns.n);
	}
	if (func->is_async)
		text_add_chars(d->out, " async");
	if (func->is_generator)
		text_add_chars(d->out, " generator");
	if (func->parent.n)
		text_print(d->out, " in f%u", func->parent.n);
	text_add_char(d->out, '\n');
	if (func->doc.n) {
		text_add_chars(d->out, "  doc ");
		put_quoted(d, func->doc.n);
		text_add_char(d->out, '\n');
	}
}

static void put_func(struct dump *d, uint32_t id)
{
	put_head(d, id);
	put_slots(d);
	for (uint32_t b = 1; b < d->func->blocks.count; b++) {
		const struct ir_block *block = &d->func->blocks.at[b];
		text_print(d->out, "  b%u:", b);
		if (block->handler.n)
			text_print(d->out, " handler b%u", block->handler.n);
		if (d->func->order_of[b] == UINT32_MAX)
			text_add_chars(d->out, " unreachable");
		text_add_char(d->out, '\n');
		for (uint32_t i = 0; i < block->count; i++)
			put_inst(d, block->first + i, block);
	}
}

static void put_gaps(struct dump *d)
{
	for (uint32_t i = 0; i < d->module->gaps.count; i++) {
		const struct ir_gap *gap = &d->module->gaps.at[i];
		text_print(d->out, "gap %u..%u %s\n", gap->span.start, gap->span.end, gap->reason);
	}
}

void ir_dump(const struct ir_module *module, struct text *out)
{
	struct dump d = {.module = module, .out = out};

	for (uint32_t f = 1; f < module->funcs.count; f++) {
		d.func = module->funcs.at[f];
		put_func(&d, f);
	}
	put_gaps(&d);
}

static void put_edges(struct dump *d, uint32_t b)
{
	const struct ir_block *block = &d->func->blocks.at[b];

	text_print(d->out, "  b%u", b);
	if (d->func->order_of[b] == UINT32_MAX) {
		text_add_chars(d->out, " unreachable\n");
		return;
	}
	if (block->succ[0].n)
		text_print(d->out, " -> b%u", block->succ[0].n);
	if (block->succ[1].n)
		text_print(d->out, " b%u", block->succ[1].n);
	if (block->handler.n)
		text_print(d->out, " handler b%u", block->handler.n);
	if (d->func->dominator[b].n)
		text_print(d->out, " dominator b%u", d->func->dominator[b].n);
	if (block->loop.n)
		text_print(d->out, " loop %u", block->loop.n);
	text_add_char(d->out, '\n');
}

static void put_loops(struct dump *d)
{
	for (uint32_t l = 1; l < d->func->loops.count; l++) {
		const struct ir_loop *loop = &d->func->loops.at[l];
		size_t start = d->out->length;
		text_print(d->out, "  loop %u header b%u depth %u", l, loop->header.n, loop->depth);
		if (loop->parent.n)
			text_print(d->out, " in loop %u", loop->parent.n);
		put_span(d, loop->span, start);
		text_add_char(d->out, '\n');
	}
}

void cfg_dump(const struct ir_module *module, struct text *out)
{
	struct dump d = {.module = module, .out = out};

	for (uint32_t f = 1; f < module->funcs.count; f++) {
		d.func = module->funcs.at[f];
		put_head(&d, f);
		for (uint32_t b = 1; b < d.func->blocks.count; b++)
			put_edges(&d, b);
		put_loops(&d);
	}
}
