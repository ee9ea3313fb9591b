#ifndef GRAPHLINT_FINDING_RULE_H
#define GRAPHLINT_FINDING_RULE_H

/* What a rule is. Rules are stateless and know nothing of each other; the only
 * list of them is rules/rules.def, whose order is the precedence by which one
 * store is named. */

#include "analyzer/finding/finding.h"

struct event;

struct rule {
	const char *code;       /* "GL101" */
	const char *slug;       /* "graph-in-list" */
	enum severity severity; /* the highest it can have */
	bool on_by_default;
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
