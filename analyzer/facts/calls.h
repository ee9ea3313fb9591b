#ifndef GRAPHLINT_FACTS_CALLS_H
#define GRAPHLINT_FACTS_CALLS_H

/* What the files that follow calls share: arguments, construction, modules, and
 * callees that are not known. */

#include "analyzer/facts/analysis.h"

enum { MAX_ARGUMENTS = 24, MAX_RECURSION = 2, MAX_NESTING = 5, MAX_ENTERED = 16 };

void bind_parameters(struct analysis *a, struct activation *act, struct state *state,
                     struct call call, object_id function, object_id frame);
struct call with_receiver(struct call call, object_id receiver, struct analysis *a,
                          struct argument *room);
/* The names in "seen move logp", or in a list of strings; 0 past the end. */
sym_id field_name(struct analysis *a, const struct state *state, value_id names, uint32_t index);
value_id make_record_tuple(struct analysis *a, struct activation *act, struct state *state,
                           struct call call, object_id class);
/* A model has run: for nothing, if no backward comes and only numbers leave. */
void note_forward(struct analysis *a, struct activation *act, struct state *state, struct call call,
                  object_id module, value_id result);
/* A result of code that is not looked at: it may have a graph of its arguments, or none. */
void doubt_graph(struct analysis *a, struct state *state, object_id id);
/* Is it what the call gave because its body was too much to follow? */
bool is_unseen(const struct analysis *a, const struct activation *act, struct call call,
               object_id result);
/* Something unknown has been used as only a module can be. */
void tell_module(struct analysis *a, struct state *state, object_id id);
value_id call_unknown_object(struct analysis *a, struct activation *act, struct state *state,
                             struct call call, object_id id);

#endif
