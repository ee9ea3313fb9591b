#ifndef GRAPHLINT_REPLAY_PY_CODE_H
#define GRAPHLINT_REPLAY_PY_CODE_H

/* An IR function made ready to run: temporaries have registers, constants are
 * values, attribute names are strings. It lives as long as the machine. */

#include "analyzer/replay/py.h"

enum arg_star { ARG_PLAIN, ARG_STAR, ARG_DOUBLE_STAR };

struct code_arg {
	uint16_t reg;
	uint8_t star;
	struct str *keyword; /* NULL: positional */
};

/* Instructions that only move a value between a register and a plain slot. */
enum code_quick { QUICK_NONE, QUICK_CONST, QUICK_LOAD, QUICK_TAKE, QUICK_STORE };

struct code_inst {
	uint8_t op, sub;
	uint8_t simple; /* a call without keywords and stars */
	uint8_t watch;  /* op is OP_COUNT, and this is the watched span's number, from 1 */
	uint16_t nargs;
	uint16_t dst;
	struct code_arg *args;
	uint32_t name;    /* slot or function id, or packed counts */
	bool born;        /* op is OP_COUNT, and the result is known to have a graph */
	uint8_t quick;    /* enum code_quick */
	struct str *str;  /* when `name` is a sym */
	struct val value; /* of a constant */
};

struct code_param {
	uint32_t slot;
	enum param_kind kind;
	struct str *name;
};

struct code {
	const struct ir_module *module;
	const struct ir_func *func;
	func_id id;
	struct code_inst *insts; /* NULL: it was not called yet */
	uint8_t *back_edge;      /* by block: bit 0, 1: successor starts its loop again */
	uint32_t nregs, nslots;
	struct code_param *params;
	uint32_t nparams;
	uint32_t npositional;              /* parameters that positions can fill */
	int star_param, double_star_param; /* -1: none */
	struct str *name, *qualified;
	bool library;
	bool has_cells;
	uint32_t stays; /* how often a condition on a stand-in kept an iterator from its end */
};

struct str *code_slot_name(struct vm *vm, const struct code *code, uint32_t slot); /* borrowed */

#endif
