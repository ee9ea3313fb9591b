#ifndef GRAPHLINT_ENGINE_SELECT_H
#define GRAPHLINT_ENGINE_SELECT_H

/* Which rules are reported, how serious each is, and where. A selection is a
 * list of layers, the weakest first (a base configuration, the configuration,
 * the command line): a layer with `select` starts anew. Within a layer the
 * longer selector wins, `ignore` at equal length. */

#include <stdbool.h>

#include "analyzer/base/vec.h"
#include "analyzer/finding/rule.h"

typedef VEC(const char *) selector_list;

struct selection_layer {
	bool selects; /* `select` was given, empty or not */
	selector_list select;
	selector_list extend;
	selector_list ignore;
};

struct severity_change {
	const char *selector;
	enum severity severity; /* the highest that a finding keeps */
	const char *file;       /* where it is said */
	uint32_t line;
};

struct selection {
	VEC(struct selection_layer) layers;
	VEC(struct severity_change) severities;
};

/* By the rule's place in the table. */
struct rule_choice {
	bool on;
	bool has_severity;
	enum severity severity;
};

/* One choice for each rule of the table, in `arena`. */
struct rule_choice *selection_apply(struct arena *arena, const struct selection *selection,
                                    struct rule_table rules);
/* Whether any rule answers to this selector. */
bool selector_is_known(struct rule_table rules, const char *selector);

#endif
