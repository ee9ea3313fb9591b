#ifndef GRAPHLINT_FACTS_JUDGE_H
#define GRAPHLINT_FACTS_JUDGE_H

/* What the files that judge events share: questions about one that was noted,
 * asked when the analysis has ended. */

#include "analyzer/facts/analysis.h"

/* judge.c */
bool judge_any_inside(const struct analysis *a, const site_list *sites, context_id context,
                      loop_id loop);
bool judge_trains_around(const struct analysis *a, const struct pending *p);
/* Is `from` part of the graph? */
bool judge_continues(struct analysis *a, object_id graph, object_id from);
/* In each round of an enclosing loop there is a new holder. */
bool judge_made_anew(const struct pending *p);
/* The holder dies with a call. */
bool judge_local(const struct analysis *a, const struct pending *p);
/* Does a loop that ends while the holder lives have one of the sites in it? */
bool judge_goes_by(const struct analysis *a, const struct pending *p, const site_list *sites);
bool judge_cleared(const struct analysis *a, const struct pending *p);
bool judge_cleared_outside(const struct analysis *a, const struct pending *p);

/* piles.c */
bool piles_up(const struct analysis *a, const struct pending *p);
bool outputs_pile_up(const struct analysis *a, const struct pending *p);

/* flushes.c */
/* Each step of a loop that computes something comes by. */
bool flush_stands(const struct analysis *a, const struct pending *p);

/* fields.c */
/* An attribute that is carried: only by loops that read it before they write it. */
void field_settle_loops(struct analysis *a, struct pending *p);
/* Does a loop carry it from round to round? */
bool field_is_carried(struct analysis *a, const struct pending *p, context_id where, loop_id loop);

/* passes.c */
/* It ends with the pass, the call or the sequence that makes it: nothing grows over steps. */
bool pass_ends_it(struct analysis *a, const struct pending *p);

/* sequences.c */
/* A script walks over the rows of a tensor, once. */
bool sequence_is_one_pass(struct analysis *a, const struct pending *p);
/* A function carries state through steps, and returns what comes of it. */
bool sequence_is_handed_on(struct analysis *a, const struct pending *p);

#endif
