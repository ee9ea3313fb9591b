#ifndef GRAPHLINT_RULES_RULES_H
#define GRAPHLINT_RULES_RULES_H

/* The table of rules, made from rules.def: a row a rule, each with its own file
 * that has NAME_claims and NAME_tell. The order is the precedence by which one
 * store is named. */

#include "analyzer/facts/facts.h"
#include "analyzer/finding/rule.h"

#define RULE(code, name, slug, severity, on_by_default, shown, summary)                            \
	bool name##_claims(const struct event *event);                                             \
	void name##_tell(struct arena *arena, const struct event *event, struct finding *finding);
#define ENGINE_RULE(code, slug, severity, on_by_default, summary)
#include "rules/rules.def"
#undef ENGINE_RULE
#undef RULE

struct rule_table rules_all(void);

#endif
