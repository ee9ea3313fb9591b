#ifndef GRAPHLINT_FRONT_PYTHON_LOWER_H
#define GRAPHLINT_FRONT_PYTHON_LOWER_H

/* What the files of the Python lowering share; nothing else includes it.
 *
 * Lowering works like a stack machine: an expression pushes one pending value,
 * an instruction takes its operands from the top. A pending value is a
 * temporary of the current block; when the block ends while values wait, they
 * go to hidden slots and are taken back when they are consumed. So nobody has
 * to know in advance where control flow comes up.
 *
 * Hidden slots come from a pool. Each is noted in the function's log, so that
 * a handler can unbind what the code it guards may have left bound. */

#include "analyzer/front/python_scope.h"
#include "analyzer/ir/build.h"

enum {
	PY_OPERANDS_MAX = 32768,   /* of one instruction */
	PY_FINALLY_NODES = 200000, /* lowered again for ways out of finally, a module */
};

struct py_pending {
	inst_id value; /* 0: in `slot`, or gone */
	slot_id slot;
	sym_id keyword;
};

/* What a way out (return, break, continue) has to close, innermost first. */
enum py_exit_kind {
	PY_EXIT_LOOP,
	PY_EXIT_WITH,
	PY_EXIT_FINALLY,
	PY_EXIT_EXCEPT,
};

struct py_exit {
	struct py_exit *outer;
	enum py_exit_kind kind;
	block_id handler; /* in force outside */
	slot_id slot;     /* iterator, manager, exception; 0: while loop */
	uint32_t node;    /* finally: its block; except: what `as` binds */
	block_id next;    /* loop: for continue */
	block_id end;     /* loop: for break */
	uint32_t pending; /* loop: values that wait outside */
};

/* A function being lowered. */
struct py_func {
	struct py_func *outer;
	struct ir_builder *builder;
	uint32_t scope; /* the function's */
	uint32_t names; /* where names are looked up: it, or its type parameters */
	uint32_t pending_base;
	struct py_exit *exits;
	slot_id handling; /* the exception of the innermost except or finally */
	VEC(slot_id) free;
	VEC(slot_id) log;
};

struct py_lower {
	struct arena *arena;   /* the result's */
	struct arena *scratch; /* gone after lowering */
	struct ir_module *module;
	const struct py_tree *tree;
	struct py_scopes scopes;
	struct py_func *func;
	func_id *lowered; /* by scope: finally blocks are lowered more than once */
	uint32_t depth;
	uint32_t finally_nodes; /* what may still be lowered again */
	VEC(struct py_pending) pending;
	VEC(struct ir_arg) args;
	VEC(uint32_t) spine;
};

/* python_emit.c */
struct span py_span(const struct py_lower *l, uint32_t node);
void py_push(struct py_lower *l, inst_id value);
/* The top `count` values are the operands, in order; a result is pushed. */
void py_emit(struct py_lower *l, enum ir_op op, enum ir_sub sub, uint32_t name, struct span span,
             uint32_t count);
/* Makes the value at `index` of the pending ones the top one. */
void py_raise_pending(struct py_lower *l, uint32_t index);
void py_keyword(struct py_lower *l, sym_id keyword); /* of the top value */
void py_const(struct py_lower *l, enum ir_sub sub, sym_id text, struct span span);
void py_none(struct py_lower *l, struct span span);
void py_int(struct py_lower *l, uint32_t value, struct span span);
void py_unknown(struct py_lower *l, const char *reason, struct span span, uint32_t count);
void py_gap(struct py_lower *l, struct span span, const char *reason);
void py_drop(struct py_lower *l, struct span span);
void py_load(struct py_lower *l, sym_id name, struct span span);
void py_store(struct py_lower *l, sym_id name, struct span span);
void py_delete(struct py_lower *l, sym_id name, struct span span);
/* Whether storing that name can never raise. */
bool py_is_plain(const struct py_lower *l, sym_id name);

slot_id py_hidden(struct py_lower *l);
void py_hidden_free(struct py_lower *l, slot_id slot);
void py_hidden_store(struct py_lower *l, slot_id slot, struct span span);
void py_hidden_load(struct py_lower *l, slot_id slot, struct span span);
void py_hidden_take(struct py_lower *l, slot_id slot, struct span span);
void py_hidden_unbind(struct py_lower *l, slot_id slot, struct span span);
/* Unbinds whatever was hidden since the log was that long. */
void py_hidden_unbind_since(struct py_lower *l, uint32_t log, struct span span);
/* Values that wait since `index`, on a way out that drops them. */
void py_pending_unbind_since(struct py_lower *l, uint32_t index, struct span span);

block_id py_block(struct py_lower *l);
void py_jump(struct py_lower *l, block_id block, struct span span);
void py_branch(struct py_lower *l, block_id then, block_id otherwise, struct span span);
void py_start(struct py_lower *l, block_id block);
/* Falls into the block. */
void py_enter_block(struct py_lower *l, block_id block, struct span span);
/* Falls into the block if anything else leads there; else just goes on. */
void py_join(struct py_lower *l, block_id block, struct span span);
/* What follows has this handler. */
void py_handler(struct py_lower *l, block_id handler, struct span span);
void py_return(struct py_lower *l, struct span span);
void py_throw(struct py_lower *l, struct span span, uint32_t operands);
/* Ends the block with `next`; goes on in the body, the item on top. */
void py_next_item(struct py_lower *l, slot_id iterator, block_id done, struct span span);
bool py_is_dead(const struct py_lower *l);

/* python_expr.c */
void py_expr(struct py_lower *l, uint32_t node);
bool py_enter_depth(struct py_lower *l, uint32_t node); /* false: a gap was noted */
void py_elements(struct py_lower *l, uint32_t node, enum ir_sub sub);
/* Children of a broken or unknown node that are expressions, into an unknown. */
void py_broken(struct py_lower *l, uint32_t node, const char *reason);
bool py_is_expression(enum py_kind kind);
/* The scope that the node opens; 0, with an unknown pushed: it has none, for
 * it stands in broken code that nobody looked for names in. */
uint32_t py_scope_open(struct py_lower *l, uint32_t node);
enum ir_sub py_binary_sub(enum py_kind token);
/* The attribute's or keyword's name. */
sym_id py_ident(struct py_lower *l, uint32_t node);

/* python_call.c */
void py_call_arguments(struct py_lower *l, uint32_t node, uint32_t list, uint32_t pending);
void py_arguments(struct py_lower *l, uint32_t list);
void py_index(struct py_lower *l, uint32_t subscript);

/* python_logic.c */
void py_condition(struct py_lower *l, uint32_t node, block_id then, block_id otherwise);
void py_boolean(struct py_lower *l, uint32_t node);
void py_comparison(struct py_lower *l, uint32_t node);
void py_conditional(struct py_lower *l, uint32_t node);

/* python_string.c */
void py_string(struct py_lower *l, uint32_t node);
/* The value of a string that is a docstring; 0: it is none. */
sym_id py_docstring(struct py_lower *l, uint32_t node);
void py_number(struct py_lower *l, uint32_t node);

/* python_assign.c */
void py_assign(struct py_lower *l, uint32_t target); /* the top value */
void py_assignment(struct py_lower *l, uint32_t node);
void py_augmented(struct py_lower *l, uint32_t node);
void py_delete_target(struct py_lower *l, uint32_t node);
void py_unpack(struct py_lower *l, const uint32_t *targets, uint32_t count, struct span span);
void py_assign_name(struct py_lower *l, uint32_t identifier);

/* python_stmt.c */
void py_statement(struct py_lower *l, uint32_t node);
void py_body(struct py_lower *l, uint32_t block);

/* python_flow.c */
void py_if(struct py_lower *l, uint32_t node);
void py_while(struct py_lower *l, uint32_t node);
void py_for(struct py_lower *l, uint32_t node);
void py_return_statement(struct py_lower *l, uint32_t node);
void py_break(struct py_lower *l, uint32_t node, bool again);

/* A handler while it runs. */
struct py_caught {
	slot_id exception;
	slot_id outer; /* what was being handled around it */
};

/* python_try.c */
/* The handler begins: what the guarded code left bound since the log was that
 * long is unbound, and the exception waits in a slot. */
void py_catch_begin(struct py_lower *l, struct py_caught *caught, block_id handler, uint32_t log,
                    struct span span);
void py_catch_end(struct py_lower *l, struct py_caught *caught);
void py_raise_again(struct py_lower *l, struct py_caught *caught, struct span span);
void py_leave(struct py_lower *l, slot_id manager, struct span span);
void py_try(struct py_lower *l, uint32_t node);
void py_raise(struct py_lower *l, uint32_t node);
/* Closes everything up to `stop`, without leaving it. */
void py_unwind(struct py_lower *l, struct py_exit *stop, struct span span);

/* python_with.c */
void py_with(struct py_lower *l, uint32_t node);

/* python_match.c */
void py_match(struct py_lower *l, uint32_t node);

/* python_import.c */
void py_import(struct py_lower *l, uint32_t node);
void py_import_from(struct py_lower *l, uint32_t node);

/* python_def.c */
void py_decorated(struct py_lower *l, uint32_t node);
void py_function(struct py_lower *l, uint32_t node);
void py_class(struct py_lower *l, uint32_t node);
void py_lambda(struct py_lower *l, uint32_t node);
/* Opens the function of that scope; `func` is the caller's until py_func_end. */
void py_func_begin(struct py_lower *l, struct py_func *func, uint32_t scope, enum func_kind kind);
void py_func_end(struct py_lower *l);
void py_func_name(struct py_lower *l, enum well_known_name name);
void py_module_body(struct py_lower *l);
sym_id py_annotation(struct py_lower *l, uint32_t node);

/* python_comprehension.c */
void py_comprehension(struct py_lower *l, uint32_t node);

#endif
