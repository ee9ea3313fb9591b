#include "analyzer/finding/rule.h"

#include <string.h>

static bool same_name(const struct rule *rule, const char *name)
{
	return !strcmp(rule->code, name) || !strcmp(rule->slug, name);
}

const struct rule *rule_find(struct rule_table rules, const char *name)
{
	for (uint32_t i = 0; i < rules.count; i++) {
		if (same_name(&rules.at[i], name))
			return &rules.at[i];
	}
	return NULL;
}

/* A prefix has at least the two letters, so that "" and "G" select nothing. */
static bool is_prefix_of(const char *selector, const char *code)
{
	size_t length = strlen(selector);

	return length >= 2 && !strncmp(selector, code, length);
}

bool rule_matches(const struct rule *rule, const char *selector)
{
	return !strcmp(selector, "ALL") || same_name(rule, selector) ||
	       is_prefix_of(selector, rule->code);
}
