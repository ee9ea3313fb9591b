#include "analyzer/report/summary.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/style.h"

void summary_skipped(const struct skipped *skipped, struct text *out)
{
	show_text(out, skipped->path);
	if (skipped_has_place(skipped)) {
		struct position first = source_position(skipped->source, skipped->span.start);
		struct position last =
		        source_position(skipped->source, skipped->span.end - (skipped->span.end >
		                                                              skipped->span.start));

		if (first.cell)
			text_print(out, ":cell %u", first.cell);
		if (last.cell == first.cell && last.row > first.row)
			text_print(out, ":%u-%u", first.row, last.row);
		else
			text_print(out, ":%u", first.row);
	}
	text_add_chars(out, ": ");
	show_text(out, skipped->reason);
}

uint32_t summary_fixable(const struct outcome *outcome)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		const struct finding *finding = &outcome->findings.at[i];

		for (uint32_t k = 0; k < finding->fixes.count; k++) {
			if (finding->fixes.at[k].safe) {
				count++;
				break;
			}
		}
	}
	return count;
}

static void write_skips(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;

	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		const struct skipped *skipped = &outcome->skipped.at[i];

		style_text(out, report->color, skipped->is_failure ? STYLE_ERROR : STYLE_WARNING,
		           skipped->is_failure ? "could not read" : "not analysed");
		text_add_char(out, ' ');
		summary_skipped(skipped, out);
		text_add_char(out, '\n');
	}
}

static void write_stale(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;

	for (uint32_t i = 0; i < outcome->stale.count; i++) {
		text_add_chars(out, "gone since the baseline: ");
		show_text(out, outcome->stale.at[i]);
		text_add_char(out, '\n');
	}
}

static void add_severities(const struct outcome *outcome, struct text *out)
{
	const char *before = " (";

	for (int severity = SEVERITY_ERROR; severity >= SEVERITY_INFO; severity--) {
		uint32_t count = outcome_count(outcome, (enum severity)severity);

		if (!count)
			continue;
		text_add_chars(out, before);
		if (severity == SEVERITY_INFO)
			text_print(out, "%u info", count);
		else
			amount_of(out, count, severity_name((enum severity)severity),
			          severity == SEVERITY_ERROR ? "errors" : "warnings");
		before = ", ";
	}
	text_add_chars(out, ")");
}

static void write_total(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;
	uint32_t fixable = summary_fixable(outcome);

	if (!outcome->findings.count) {
		style_text(out, report->color, outcome->skipped.count ? STYLE_WARNING : STYLE_GOOD,
		           outcome->skipped.count ? "No findings in what could be analysed"
		                                  : "No findings");
	} else {
		style_on(out, report->color, STYLE_BOLD);
		amount_of(out, outcome->findings.count, "finding", "findings");
		style_off(out, report->color, STYLE_BOLD);
		add_severities(outcome, out);
	}
	text_add_chars(out, !outcome->findings.count && outcome->skipped.count ? ": " : " in ");
	amount_of(out, outcome->files, "file", "files");
	if (outcome->skipped.count) {
		text_add_chars(out, ", ");
		amount_of(out, outcome->skipped.count, "place not analysed", "places not analysed");
	}
	if (fixable) {
		text_add_chars(out, ", ");
		amount_count(out, fixable);
		text_add_chars(out, " with a fix");
	}
	text_add_chars(out, ".\n");
}

static void write_count(const char *what, uint32_t count, struct text *out)
{
	text_print(out, "  %-34s", what);
	amount_count(out, count);
	text_add_char(out, '\n');
}

static void write_counts(const struct outcome *outcome, struct text *out)
{
	write_count("files", outcome->files, out);
	write_count("files analysed", outcome->analysed, out);
	write_count("files taken from the cache", outcome->from_cache, out);
	write_count("files that cannot matter", outcome->left_out, out);
	write_count("findings suppressed by comments", outcome->suppressed, out);
	write_count("findings in the baseline", outcome->baselined, out);
	write_count("findings on unchanged lines", outcome->off_diff, out);
	write_count("findings refuted by replay", outcome->refuted, out);
}

void summary_write(const struct report *report, struct text *out)
{
	write_skips(report, out);
	write_stale(report, out);
	if (report->verbose)
		write_counts(report->outcome, out);
	write_total(report, out);
}

struct tally {
	const struct rule *rule;
	uint32_t count;
};

static int compare_tallies(const void *left, const void *right)
{
	const struct tally *a = left;
	const struct tally *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->rule->code, b->rule->code);
}

void summary_statistics(const struct report *report, struct text *out)
{
	uint32_t rules = report->rules.count;
	struct tally *tallies = arena_array(out->arena, struct tally, rules);

	for (uint32_t i = 0; i < rules; i++)
		tallies[i].rule = &report->rules.at[i];
	for (uint32_t i = 0; i < report->outcome->findings.count; i++) {
		const struct finding *finding = &report->outcome->findings.at[i];

		for (uint32_t k = 0; k < rules; k++)
			tallies[k].count += tallies[k].rule == finding->rule;
	}
	if (rules)
		qsort(tallies, rules, sizeof(*tallies), compare_tallies);
	for (uint32_t i = 0; i < rules && tallies[i].count; i++)
		text_print(out, "%6u  %s %s\n", tallies[i].count, tallies[i].rule->code,
		           tallies[i].rule->slug);
}
