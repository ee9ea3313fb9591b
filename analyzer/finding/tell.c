#include "analyzer/finding/tell.h"

static const struct rule *claimant(struct rule_table rules, const struct event *event)
{
	for (uint32_t i = 0; i < rules.count; i++)
		if (rules.at[i].claims && rules.at[i].claims(event))
			return &rules.at[i];
	return NULL;
}

static bool keeps_graphs(const struct finding *finding)
{
	return finding->rule->code[2] == '1' ||
	       (finding->rule->code[2] == '4' && finding->rule->code[4] == '3');
}

static bool same_row(const struct finding *a, const struct finding *b)
{
	return a->source == b->source && source_position(a->source, a->span.start).row ==
	                                         source_position(b->source, b->span.start).row;
}

/* One store gets one finding: of several at a place the first rule of the table
 * stays, with the worst severity. Rules stand in the order of precedence. */
static bool is_superseded(const finding_list *findings, const struct finding *finding)
{
	for (uint32_t i = 0; i < findings->count && keeps_graphs(finding); i++) {
		const struct finding *other = &findings->at[i];

		if (other->rule < finding->rule && keeps_graphs(other) && same_row(other, finding))
			return true;
	}
	return false;
}

static void keep_first_of_place(struct arena *arena, finding_list *findings)
{
	finding_list kept = {0};

	for (uint32_t i = 0; i < findings->count; i++)
		if (!is_superseded(findings, &findings->at[i]))
			vec_push(arena, &kept, findings->at[i]);
	*findings = kept;
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
	keep_first_of_place(arena, findings);
	findings_sort(findings);
	findings_merge(findings);
}
