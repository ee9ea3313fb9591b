#include "analyzer/finding/tell.h"

static const struct rule *claimant(struct rule_table rules, const struct event *event)
{
	for (uint32_t i = 0; i < rules.count; i++)
		if (rules.at[i].claims && rules.at[i].claims(event))
			return &rules.at[i];
	return NULL;
}

void tell_findings(struct arena *arena, struct rule_table rules, const event_list *events,
		   finding_list *findings)
{
	for (uint32_t i = 0; i < events->count; i++) {
		const struct event *event = &events->at[i];
		struct finding finding = {.rule = claimant(rules, event)};

		if (!finding.rule)
			continue;
		finding.rule->tell(arena, event, &finding);
		vec_push(arena, findings, finding);
	}
	findings_sort(findings);
	findings_merge(findings);
}
