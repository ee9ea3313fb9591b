#ifndef GRAPHLINT_IR_IR_H
#define GRAPHLINT_IR_IR_H

/* The program as flow reads it and replay executes it: flat, language-neutral,
 * pointer-free instructions in dense arrays. docs/ir.md says what each means.
 *
 * Everything lives in the module's arena and is immutable once ir_finish has
 * run. Element 0 of every array is unused, so id 0 means none.
 *
 * What always holds (ir_verify):
 *  - a temporary is consumed exactly once, in the block that defines it and
 *    after its definition: consumption is release. The one exception is `next`,
 *    whose temporary is consumed in its first successor, which has no other
 *    predecessor. Whatever lives longer goes through a slot.
 *  - every block ends with exactly one instruction that ends blocks.
 *  - scopes opened by `enter` are left on every path. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/intern.h"
#include "analyzer/base/vec.h"
#include "analyzer/source/span.h"

struct source;

typedef struct {
	uint32_t n;
} inst_id; /* also the temporary that the instruction defines */
typedef struct {
	uint32_t n;
} block_id;
typedef struct {
	uint32_t n;
} func_id; /* 1: the module's body */
typedef struct {
	uint32_t n;
} slot_id;
typedef struct {
	uint32_t n;
} loop_id;

enum ir_op {
#define OP(name, least, most, flags) OP_##name,
#include "analyzer/ir/ops.def"
#undef OP
	OP_COUNT
};

enum op_flags {
	OPF_DEFINES = 1,    /* leaves a temporary */
	OPF_ENDS_BLOCK = 2, /* last of its block */
};

struct op_info {
	const char *name;
	int least_args, most_args; /* most -1: any number */
	unsigned flags;
};

extern const struct op_info op_info[OP_COUNT];

/* Values of ir_inst.sub, 1 and up within each group: SUB_binary_add, ... */
enum ir_sub {
	SUB_NONE,
#define SUB(group, name, text) SUB_##group##_##name,
#include "analyzer/ir/subs.def"
#undef SUB
	SUB_COUNT
};

const char *ir_sub_text(enum ir_sub sub);

/* An operand. Keyword 0: positional; SYM_star / SYM_double_star: unpacked. */
struct ir_arg {
	inst_id value;
	sym_id keyword;
};

struct ir_inst {
	uint8_t op;  /* enum ir_op */
	uint8_t sub; /* enum ir_sub */
	uint16_t nargs;
	uint32_t args; /* first of nargs in ir_func.args */
	uint32_t name; /* a sym, slot or function id, as the opcode says */
	struct span span;
};

_Static_assert(sizeof(struct ir_inst) == 20, "keep instructions small and pointer-free");

struct ir_block {
	uint32_t first; /* instructions first .. first + count - 1 */
	uint32_t count;
	block_id succ[2]; /* branch: true, false; next: item, exhausted */
	block_id handler; /* where an exception raised in here goes; 0: out */
	loop_id loop;     /* innermost loop that contains it */
};

enum slot_kind {
	SLOT_LOCAL,
	SLOT_CELL,   /* a local that inner functions capture */
	SLOT_FREE,   /* captured: slot `outer` of the parent function */
	SLOT_HIDDEN, /* made by lowering; no name in the source */
};

struct ir_slot {
	sym_id name;
	enum slot_kind kind;
	slot_id outer;
};

enum param_kind {
	PARAM_POSITIONAL_ONLY,
	PARAM_POSITIONAL,
	PARAM_VAR_POSITIONAL,
	PARAM_KEYWORD_ONLY,
	PARAM_VAR_KEYWORD,
};

struct ir_param {
	slot_id slot;
	enum param_kind kind;
	bool has_default;  /* its value is the operand of that keyword at `function` */
	sym_id annotation; /* as written, without blanks; 0: none */
};

struct ir_loop {
	block_id header;
	loop_id parent;
	uint32_t depth; /* 1: outermost */
	struct span span;
};

enum func_kind {
	FUNC_MODULE,
	FUNC_FUNCTION,
	FUNC_LAMBDA,
	FUNC_CLASS_BODY,
	FUNC_COMPREHENSION, /* its only parameter is the outermost iterator */
};

struct ir_func {
	sym_id name;      /* "train"; "<module>", "<lambda>", "<listcomp>" */
	sym_id qualified; /* "Trainer.fit.<locals>.closure" */
	sym_id returns;   /* annotation, as written */
	sym_id doc;       /* its docstring's value; 0: none */
	func_id parent;
	enum func_kind kind;
	bool is_generator, is_async;
	struct span span;      /* the whole definition */
	struct span name_span; /* the name in it, or the whole */
	VEC(struct ir_param) params;
	VEC(struct ir_slot) slots;
	VEC(struct ir_inst) insts;
	VEC(struct ir_arg) args;
	VEC(struct ir_block) blocks; /* 1: entry */
	VEC(struct ir_loop) loops;
	block_id *order;      /* reverse post-order, handlers included */
	uint32_t order_count; /* reachable blocks */
	uint32_t *order_of;   /* by block: index in order; UINT32_MAX: unreachable */
	block_id *dominator;  /* by block: immediate dominator */
};

/* Regions that could not be read, for "could not look". */
struct ir_gap {
	struct span span;
	const char *reason;
};

struct ir_module {
	struct arena *arena;
	struct intern *names;
	const struct source *source; /* borrowed; NULL in tests */
	sym_id name;                 /* dotted module name as imported; 0: unknown */
	VEC(struct ir_func *) funcs;
	VEC(struct ir_gap) gaps;
};

static inline const struct ir_func *ir_func_get(const struct ir_module *module, func_id id)
{
	return module->funcs.at[id.n];
}

static inline const struct ir_arg *ir_args(const struct ir_func *func, const struct ir_inst *inst)
{
	return func->args.at + inst->args;
}

#endif
