#ifndef GRAPHLINT_FINDING_FINDING_H
#define GRAPHLINT_FINDING_FINDING_H

/* A finding is a story plus its proof: where the graph is born, how it travels,
 * what keeps it, and what a replay measured. Findings are made in an arena of
 * the run, sorted and merged before anything prints them; texts are
 * NUL-terminated UTF-8 owned by that arena. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/vec.h"
#include "analyzer/source/source.h"

enum severity { SEVERITY_OFF, SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

enum confidence {
	CONFIDENCE_LIKELY = 1, /* rests on something unknown; never an error */
	CONFIDENCE_CERTAIN,    /* every link is known */
	CONFIDENCE_CONFIRMED,  /* a replay showed it */
};

enum step_role { STEP_BORN, STEP_TRAVELS, STEP_MADE, STEP_KEPT, STEP_NEEDED };

struct finding_step {
	enum step_role role;
	const struct source *source; /* may be another file than the finding's */
	struct span span;
	const char *message;
};

struct finding_edit {
	struct span span; /* replaced by text */
	const char *text;
};

struct finding_fix {
	bool safe;
	const char *changes; /* of an unsafe one: "the type", "the device"; may be NULL */
	const char *title;   /* "`history.append(loss.detach())`" */
	VEC(struct finding_edit) edits;
	const char *replayed; /* what the curve does after it; NULL: not replayed */
};

enum evidence {
	EVIDENCE_NONE, /* not replayed: `reason` says why */
	EVIDENCE_FLAT,
	EVIDENCE_BOUNDED,
	EVIDENCE_LINEAR,
	EVIDENCE_SUPERLINEAR,
};

struct finding_replay {
	enum evidence verdict;
	bool exact;   /* else structural: bytes are a lower bound */
	bool refuted; /* an exact replay in which it ran every step showed no growth */
	uint32_t steps;
	const int64_t *live_bytes; /* one per step */
	double bytes_per_step;
	double nodes_per_step;
	const char *shown;             /* what is no growth: "every step records a graph ..." */
	const char *reason;            /* EVIDENCE_NONE */
	const char *loop;              /* of another file, that was replayed: "train.py:9" */
	VEC(const char *) stand_ins;   /* what was stood in for */
	VEC(const char *) retained_by; /* variable, list, tensor, node, saved tensor */
};

/* A loop of other code that comes by the finding, and the program that gets there. */
struct finding_driver {
	const struct source *program;
	const struct source *source; /* of the loop */
	struct span span;
};

enum { FINDING_MOST_DRIVERS = 4 }; /* that are kept: there may be more */

struct rule;

struct finding {
	const struct rule *rule;
	enum severity severity;
	enum confidence confidence;
	const struct source *source;
	struct span span;
	const struct source *value_source; /* where what it keeps is made; NULL: unknown */
	struct span value_span;
	const struct source *happens_source; /* where it is kept, if it is told of elsewhere */
	struct span happens_span;
	const char *message;
	const char *note;     /* one more sentence for the severity; NULL: none */
	const char *function; /* qualified name of the function it stands in */
	uint32_t noqa_row;    /* whose comment suppresses it, in its cell; 0: its own row */
	VEC(struct finding_driver) drivers; /* by path and place */
	VEC(struct finding_step) steps;
	VEC(struct finding_fix) fixes; /* the safe one first */
	struct finding_replay replay;
};

typedef VEC(struct finding) finding_list;

/* By path, position, code, message: the order of every report. */
void findings_sort(finding_list *findings);
/* Keeps one of those with the same place and rule, the most severe, then the most certain,
 * with the drivers of all (no arena: they have none any more). The list must be sorted. */
void findings_merge(struct arena *arena, finding_list *findings);
void finding_add_driver(struct arena *arena, struct finding *finding, struct finding_driver driver);

const char *severity_name(enum severity severity);
const char *confidence_name(enum confidence confidence);
const char *step_role_name(enum step_role role);
const char *evidence_name(enum evidence verdict);

#endif
