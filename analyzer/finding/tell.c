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

static uint32_t row_of(const struct finding *finding)
{
	return source_position(finding->source, finding->span.start).row;
}

/* Of several at a place the first rule of the table stays. Rules stand in the
 * order of precedence. */
static bool is_superseded(const finding_list *findings, const uint32_t *rows, uint32_t place)
{
	const struct finding *finding = &findings->at[place];

	for (uint32_t i = 0; i < findings->count && rows[place]; i++) {
		const struct finding *other = &findings->at[i];

		if (rows[i] == rows[place] && other->source == finding->source &&
		    other->rule < finding->rule)
			return true;
	}
	return false;
}

static void keep_first_of_place(struct arena *arena, finding_list *findings)
{
	uint32_t *rows = arena_array(arena, uint32_t, findings->count + 1);
	finding_list kept = {0};

	for (uint32_t i = 0; i < findings->count; i++)
		rows[i] = keeps_graphs(&findings->at[i]) ? row_of(&findings->at[i]) : 0;
	for (uint32_t i = 0; i < findings->count; i++)
		if (!is_superseded(findings, rows, i))
			vec_push(arena, &kept, findings->at[i]);
	*findings = kept;
}

bool tell_finding(struct arena *arena, struct rule_table rules, const struct event *event,
                  struct finding *finding)
{
	*finding = (struct finding){.rule = claimant(rules, event)};
	if (finding->rule)
		finding->rule->tell(arena, event, finding);
	return finding->rule != NULL;
}

void settle_findings(struct arena *arena, finding_list *findings)
{
	keep_first_of_place(arena, findings);
	findings_sort(findings);
	findings_merge(arena, findings);
}
