#ifndef GRAPHLINT_FINDING_RULE_H
#define GRAPHLINT_FINDING_RULE_H

/* What a rule is. Rules are stateless and know nothing of each other; the only
 * list of them is rules/rules.def, whose order is the precedence by which one
 * store is named. */

#include "analyzer/finding/finding.h"

struct event;

/* What a replay can show of a rule's findings. */
enum rule_shown {
	SHOWN_NOTHING,        /* a habit: it is not replayed */
	SHOWN_KEPT_GRAPH,     /* graphs grow, and nothing behind the loop needs them */
	SHOWN_UNUSED_GRAPH,   /* every step records a graph that no backward runs through */
	SHOWN_RETAINED_GRAPH, /* growth, or no step uses what it retained */
	SHOWN_STORED_TENSOR,  /* growth, or every step keeps a tensor */
	SHOWN_GROWTH,
	SHOWN_TENSORS, /* they pile up without a graph */
	SHOWN_STORAGE, /* small views keep it alive */
};

struct rule {
	const char *code;       /* "GL101" */
	const char *slug;       /* "graph-in-list" */
	enum severity severity; /* the highest it can have */
	bool on_by_default;
	enum rule_shown shown;
	const char *summary; /* one line for `graphlint rules` */
	/* Whether this event of the engine is the rule's to report. */
	bool (*claims)(const struct event *event);
	/* Writes severity, message, steps of a claimed event. */
	void (*tell)(struct arena *arena, const struct event *event, struct finding *finding);
};

struct rule_table {
	const struct rule *at;
	uint32_t count;
};

/* NULL when there is no such rule; by code or slug. */
const struct rule *rule_find(struct rule_table rules, const char *name);
/* Whether `selector` ("GL1", "GL103", "ALL", a slug) selects the rule. */
bool rule_matches(const struct rule *rule, const char *selector);

#endif
