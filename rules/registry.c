#include "rules/rules.h"

/* What the engine itself reports has no event: nothing claims it. */
static const struct rule rules[] = {
#define RULE(code, name, slug, severity, on_by_default, shown, summary)                            \
	{#code,         slug,    SEVERITY_##severity, on_by_default,                               \
	 SHOWN_##shown, summary, name##_claims,       name##_tell},
#define ENGINE_RULE(code, slug, severity, on_by_default, summary)                                  \
	{#code, slug, SEVERITY_##severity, on_by_default, SHOWN_NOTHING, summary, NULL, NULL},
#include "rules/rules.def"
#undef ENGINE_RULE
#undef RULE
};

struct rule_table rules_all(void)
{
	return (struct rule_table){rules, sizeof(rules) / sizeof(rules[0])};
}
