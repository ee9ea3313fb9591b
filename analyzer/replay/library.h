#ifndef GRAPHLINT_REPLAY_LIBRARY_H
#define GRAPHLINT_REPLAY_LIBRARY_H

/* The library in Python (lib/) as tools/lower_library.c lowered it when the
 * executable was built: each top-level definition is a module of the IR of its
 * own, run when its name is first asked for. The tables hold offsets, not
 * pointers, so they cost nothing until they are used. Names are ids of
 * library_names, not of the run's intern table; the well-known ones are equal
 * in both. A module without an intern table is one of these. */

#include "analyzer/replay/py.h"

struct library_range {
	uint32_t first, count;
};

struct library_func {
	uint32_t name, qualified, parent;
	uint8_t kind, is_generator, is_async;
	struct library_range params, slots, insts, args, blocks, loops;
};

/* Of name 0: the imports at the top of the file. */
struct library_definition {
	uint32_t name;
	struct library_range funcs; /* the first is id 1 */
};

struct library_module {
	const char *name;
	struct library_range definitions;
};

struct library_name {
	uint32_t start, length; /* in library_bytes; a NUL follows */
};

extern const char library_bytes[];
extern const struct library_name library_names[];
extern const uint32_t library_name_count;
extern const struct ir_param library_params[];
extern const struct ir_slot library_slots[];
extern const struct ir_inst library_insts[];
extern const struct ir_arg library_args[];
extern const struct ir_block library_blocks[];
extern const struct ir_loop library_loops[];
extern const block_id library_dominators[]; /* by block */
extern const struct library_func library_funcs[];
extern const struct library_definition library_definitions[];
extern const struct library_module library_modules[]; /* by name */
extern const uint32_t library_module_count;

/* NULL: the library has no such module. */
const struct library_module *library_find(const char *name);
/* The module that another name stands for, else the name itself. */
const char *library_alias(const char *name);
/* NULL: it does not define this name; "" are its imports. */
const struct library_definition *library_definition_find(const struct library_module *library,
                                                         const struct str *name);
/* Whether a function of that name is written in the definition. */
bool library_definition_has(const struct library_definition *definition, const char *name);
struct ir_module *library_lowered(struct arena *arena, const struct library_definition *definition);
/* A name of a module's functions, whichever table it is of; borrowed. */
struct str *name_of_sym(struct vm *vm, const struct ir_module *module, sym_id name);

#endif
