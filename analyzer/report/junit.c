#include <string.h>

#include "analyzer/report/place.h"
#include "analyzer/report/report.h"
#include "analyzer/report/summary.h"

static void add_attribute(struct text *out, const char *name, const char *value)
{
	text_print(out, " %s=\"", name);
	place_escape_xml(value, out);
	text_add_char(out, '"');
}

static void add_finding(struct arena *scratch, const struct finding *finding, struct text *out)
{
	struct position position = source_position(finding->source, finding->span.start);
	struct text name = {.arena = scratch};
	struct text body = {.arena = scratch};

	text_print(&name, "%s %s, line %u", finding->rule->code, finding->rule->slug, position.row);
	place_print(finding->source, finding->span, &body);
	text_print(&body, ": %s", finding->message);
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct finding_step *step = &finding->steps.at[i];

		text_add_char(&body, '\n');
		if (step->source)
			place_print(step->source, step->span, &body);
		text_print(&body, ": %s", step->message);
	}
	text_add_chars(out, "    <testcase");
	add_attribute(out, "name", text_chars(&name));
	add_attribute(out, "classname", finding->source->path);
	add_attribute(out, "file", finding->source->path);
	text_print(out, " line=\"%u\">\n      <failure", position.row);
	add_attribute(out, "type", severity_name(finding->severity));
	add_attribute(out, "message", finding->message);
	text_add_char(out, '>');
	place_escape_xml(text_chars(&body), out);
	text_add_chars(out, "</failure>\n    </testcase>\n");
}

/* A suite for each file that has findings. */
static uint32_t add_suite(struct arena *scratch, const finding_list *findings, uint32_t first,
                          struct text *out)
{
	const char *path = findings->at[first].source->path;
	uint32_t end = first;

	while (end < findings->count && !strcmp(findings->at[end].source->path, path))
		end++;
	text_add_chars(out, "  <testsuite");
	add_attribute(out, "name", path);
	text_print(out, " tests=\"%u\" failures=\"%u\">\n", end - first, end - first);
	for (uint32_t i = first; i < end; i++) {
		add_finding(scratch, &findings->at[i], out);
		arena_reset(scratch);
	}
	text_add_chars(out, "  </testsuite>\n");
	return end;
}

/* What could not be looked at is skipped, or an error; a run without findings
 * is one test that passed. */
static void add_rest(struct arena *scratch, const struct outcome *outcome, struct text *out)
{
	uint32_t passed = outcome->findings.count ? 0 : 1, errors = 0;

	for (uint32_t i = 0; i < outcome->skipped.count; i++)
		errors += outcome->skipped.at[i].is_failure;
	if (!passed && !outcome->skipped.count)
		return;
	text_print(out,
	           "  <testsuite name=\"graphlint\" tests=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
	           passed + outcome->skipped.count, errors, outcome->skipped.count - errors);
	if (passed)
		text_add_chars(out,
		               "    <testcase name=\"no findings\" classname=\"graphlint\"/>\n");
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		const struct skipped *skipped = &outcome->skipped.at[i];
		struct text what = {.arena = scratch};

		summary_skipped(skipped, &what);
		text_add_chars(out, "    <testcase name=\"not analysed\"");
		add_attribute(out, "classname", skipped->path);
		text_print(out, ">\n      <%s", skipped->is_failure ? "error" : "skipped");
		add_attribute(out, "message", text_chars(&what));
		text_add_chars(out, "/>\n    </testcase>\n");
	}
	text_add_chars(out, "  </testsuite>\n");
}

void report_junit(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;
	struct arena scratch = {0};

	text_print(out,
	           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	           "<testsuites name=\"graphlint\" failures=\"%u\">\n",
	           outcome->findings.count);
	for (uint32_t i = 0; i < outcome->findings.count;)
		i = add_suite(&scratch, &outcome->findings, i, out);
	add_rest(&scratch, outcome, out);
	text_add_chars(out, "</testsuites>\n");
	arena_release(&scratch);
}
