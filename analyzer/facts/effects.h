#ifndef GRAPHLINT_FACTS_EFFECTS_H
#define GRAPHLINT_FACTS_EFFECTS_H

/* The transfer functions of names outside the project, by what the API table
 * says of them. Each family stands in a file of its own. */

#include "analyzer/facts/analysis.h"

struct effect {
	struct analysis *a;
	struct activation *act;
	struct state *state;
	struct call call;
	const struct api_entry *entry;
};

/* effects_tensor.c: values and in-place operations */
value_id effect_passes(struct effect *e);
value_id effect_views(struct effect *e, bool keeps_graph);
value_id effect_aliases(struct effect *e);
value_id effect_cuts(struct effect *e);
value_id effect_makes(struct effect *e);
value_id effect_copies(struct effect *e);
value_id effect_replaces(struct effect *e);
value_id effect_in_place(struct effect *e);
value_id effect_cuts_in_place(struct effect *e);
value_id effect_requires_grad(struct effect *e);
value_id effect_backward(struct effect *e);
value_id effect_grad(struct effect *e);
void join_in_place(struct analysis *a, struct activation *act, struct state *state, uint32_t inst,
                   value_id targets, value_id operands);

/* data_reads.c: `.data` of `source` is read */
void check_data_read(struct effect *e, value_id source);

/* gradient_hooks.c */
void gradient_hook_add(struct effect *e, value_id tensors, value_id functions);
/* Gradients of `outputs` for `inputs` are made, with their graphs. */
void gradient_hooks_run(struct effect *e, value_id outputs, value_id inputs);

/* effects_container.c: containers, iterators */
value_id effect_container(struct effect *e);
value_id effect_iterates(struct effect *e);
value_id effect_stores(struct effect *e);
value_id effect_removes(struct effect *e);
value_id effect_gets(struct effect *e);

/* effects_object.c: modules, functions, hooks */
value_id effect_module(struct effect *e);
value_id effect_object(struct effect *e);
value_id effect_parameters(struct effect *e);
value_id effect_calls(struct effect *e);
value_id effect_wraps(struct effect *e);
value_id effect_caches(struct effect *e);
value_id effect_hook(struct effect *e);
/* An instance of a class that the table knows by name only. */
value_id construct_external(struct effect *e, object_id class);

/* What the entry says comes out, made of `operands`. */
value_id effect_result(struct effect *e, value_id operands, unsigned bits);
value_id effect_tuple(struct effect *e, value_id operands, unsigned bits);
value_id effect_argument(struct effect *e, uint32_t index, const char *keyword);
value_id effect_target(struct effect *e);
bool effect_flag(struct effect *e, const char *keyword, bool *known);
/* What any tensor in the value is. */
uint32_t effect_bits(struct effect *e, value_id value);

#endif
