#include "analyzer/engine/select.h"

#include <string.h>

/* How exactly a selector names a rule: 0 not at all, else more with each letter. */
static size_t exactness(const struct rule *rule, const char *selector)
{
	if (!rule_matches(rule, selector))
		return 0;
	if (!strcmp(selector, "ALL"))
		return 1;
	return !strcmp(selector, rule->slug) ? strlen(rule->code) : strlen(selector);
}

static size_t best_exactness(const struct rule *rule, const selector_list *selectors)
{
	size_t best = 0;

	for (uint32_t i = 0; i < selectors->count; i++) {
		size_t found = exactness(rule, selectors->at[i]);

		if (found > best)
			best = found;
	}
	return best;
}

static bool layer_keeps(const struct selection_layer *layer, const struct rule *rule, bool on)
{
	size_t wanted = best_exactness(rule, &layer->select);
	size_t extended = best_exactness(rule, &layer->extend);
	size_t ignored = best_exactness(rule, &layer->ignore);

	if (layer->selects)
		on = false;
	if (extended > wanted)
		wanted = extended;
	return wanted || ignored ? wanted > ignored : on;
}

static struct rule_choice choose(const struct selection *selection, const struct rule *rule)
{
	struct rule_choice choice = {.on = rule->on_by_default};
	size_t best = 0;

	for (uint32_t i = 0; i < selection->layers.count; i++)
		choice.on = layer_keeps(&selection->layers.at[i], rule, choice.on);
	for (uint32_t i = 0; i < selection->severities.count; i++) {
		const struct severity_change *change = &selection->severities.at[i];
		size_t found = exactness(rule, change->selector);

		if (found && found >= best) {
			best = found;
			choice.has_severity = true;
			choice.severity = change->severity;
		}
	}
	return choice;
}

struct rule_choice *selection_apply(struct arena *arena, const struct selection *selection,
                                    struct rule_table rules)
{
	struct rule_choice *choices = arena_array(arena, struct rule_choice, rules.count);

	for (uint32_t i = 0; i < rules.count; i++)
		choices[i] = choose(selection, &rules.at[i]);
	return choices;
}

bool selector_is_known(struct rule_table rules, const char *selector)
{
	for (uint32_t i = 0; i < rules.count; i++) {
		if (rule_matches(&rules.at[i], selector))
			return true;
	}
	return false;
}
