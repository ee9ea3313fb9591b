#include <stdlib.h>
#include <string.h>

#include "analyzer/finding/fingerprint.h"
#include "analyzer/report/amount.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/place.h"
#include "analyzer/report/report.h"

/* What code hosts keep of one run. */
enum { MOST_RESULTS = 5000, MOST_STEPS = 1000, MOST_NOTIFICATIONS = 1000 };

struct writing {
	const struct report *report;
	struct emitter json;
	struct arena *scratch; /* reset after each result */
	const struct digest *fingerprints;
};

static const char *level_of(enum severity severity)
{
	switch (severity) {
	case SEVERITY_ERROR:
		return "error";
	case SEVERITY_WARNING:
		return "warning";
	case SEVERITY_INFO:
		return "note";
	case SEVERITY_OFF:
		break;
	}
	return "none";
}

static void add_message(struct emitter *json, const char *name, const char *chars)
{
	emit_open_object(json, name);
	emit_text(json, "text", chars);
	emit_close_object(json);
}

/* rules */

/* "graph-in-list" as "GraphInList": SARIF wants an identifier. */
static const char *rule_name(struct arena *scratch, const char *slug)
{
	struct text name = {.arena = scratch};
	bool capital = true;

	for (; *slug; slug++) {
		if (*slug == '-') {
			capital = true;
			continue;
		}
		text_add_char(&name,
		              capital && *slug >= 'a' && *slug <= 'z' ? (char)(*slug - 32) : *slug);
		capital = false;
	}
	return text_chars(&name);
}

static void add_help(struct writing *writing, const struct rule *rule)
{
	struct emitter *json = &writing->json;
	const char *page = writing->report->page ? writing->report->page(rule) : NULL;
	struct text uri = {.arena = writing->scratch};

	emit_open_object(json, "help");
	emit_text(json, "text", rule->summary);
	if (page)
		emit_text(json, "markdown", page);
	emit_close_object(json);
	if (!writing->report->help_uri)
		return;
	text_print(&uri, "%s%s.md", writing->report->help_uri, rule->slug);
	emit_text(json, "helpUri", text_chars(&uri));
}

static void add_sentence(struct writing *writing, const char *name, const char *chars)
{
	struct text sentence = {.arena = writing->scratch};
	size_t length = strlen(chars);

	text_add_chars(&sentence, chars);
	if (length && !strchr(".!?", chars[length - 1]))
		text_add_char(&sentence, '.');
	if (sentence.length && sentence.at[0] >= 'a' && sentence.at[0] <= 'z')
		sentence.at[0] = (char)(sentence.at[0] - 32);
	add_message(&writing->json, name, text_chars(&sentence));
}

static void add_rule(struct writing *writing, const struct rule *rule)
{
	struct emitter *json = &writing->json;

	emit_open_object(json, NULL);
	emit_text(json, "id", rule->code);
	emit_text(json, "name", rule_name(writing->scratch, rule->slug));
	add_sentence(writing, "shortDescription", rule->summary);
	add_sentence(writing, "fullDescription", rule->summary);
	add_help(writing, rule);
	emit_open_object(json, "defaultConfiguration");
	emit_bool(json, "enabled", rule->on_by_default);
	emit_text(json, "level", level_of(rule->severity));
	emit_close_object(json);
	emit_open_object(json, "properties");
	emit_open_array(json, "tags");
	emit_text(json, NULL, "memory");
	emit_text(json, NULL, "pytorch");
	emit_close_array(json);
	emit_text(json, "precision", "high");
	emit_text(json, "problem.severity",
	          rule->severity == SEVERITY_INFO ? "recommendation"
	                                          : severity_name(rule->severity));
	emit_close_object(json);
	emit_close_object(json);
}

static void add_driver(struct writing *writing)
{
	struct emitter *json = &writing->json;

	emit_open_object(json, "tool");
	emit_open_object(json, "driver");
	emit_text(json, "name", "graphlint");
	emit_text(json, "version", writing->report->version);
	emit_text(json, "semanticVersion", writing->report->version);
	emit_open_array(json, "rules");
	for (uint32_t i = 0; i < writing->report->rules.count; i++)
		add_rule(writing, &writing->report->rules.at[i]);
	emit_close_array(json);
	emit_close_object(json);
	emit_close_object(json);
	arena_reset(writing->scratch);
}

/* places */

static void add_artifact(struct writing *writing, const char *path)
{
	struct emitter *json = &writing->json;
	struct text uri = {.arena = writing->scratch};

	place_uri(writing->scratch, writing->report->root, path, &uri);
	emit_open_object(json, "artifactLocation");
	emit_text(json, "uri", text_chars(&uri));
	if (strncmp(text_chars(&uri), "file:", 5) != 0)
		emit_text(json, "uriBaseId", "SRCROOT");
	emit_close_object(json);
}

static void add_region(struct emitter *json, const char *name, const struct source *source,
                       struct span span)
{
	struct position first = source_position(source, span.start);
	struct position last = place_end(source, span);

	emit_open_object(json, name);
	emit_number(json, "startLine", first.row);
	emit_number(json, "startColumn", first.column);
	emit_number(json, "endLine", last.row);
	emit_number(json, "endColumn", last.column);
	if (span.end > span.start && first.row == last.row && first.cell == last.cell) {
		emit_open_object(json, "snippet");
		emit_bytes(json, "text", source->text + span.start, span.end - span.start);
		emit_close_object(json);
	}
	emit_close_object(json);
}

/* The whole lines; the region may hold the end of its last one. */
static struct span lines_around(const struct source *source, struct span span)
{
	const uint32_t last = span.end > span.start ? span.end - 1 : span.start;
	const uint32_t end = source_line_span(source, source_line_at(source, last)).end;

	return (struct span){
	        source_line_span(source, source_line_at(source, span.start)).start,
	        end > span.end ? end : span.end,
	};
}

static void add_physical(struct writing *writing, const struct source *source, struct span span)
{
	struct emitter *json = &writing->json;
	struct span lines = lines_around(source, span);

	emit_open_object(json, "physicalLocation");
	add_artifact(writing, source->path);
	add_region(json, "region", source, span);
	/* A context must be more than the region itself. */
	if (lines.start < span.start || lines.end > span.end)
		add_region(json, "contextRegion", source, lines);
	emit_close_object(json);
}

static void add_logical(struct emitter *json, const struct finding *finding)
{
	const struct source_cell *cell = source_cell_at(finding->source, finding->span.start);

	if (!cell && !finding->function)
		return;
	emit_open_array(json, "logicalLocations");
	if (finding->function) {
		emit_open_object(json, NULL);
		emit_text(json, "fullyQualifiedName", finding->function);
		emit_text(json, "kind", "function");
		emit_close_object(json);
	}
	if (cell) {
		struct text name = {.arena = json->out->arena};

		text_print(&name, "cell %u", cell->number);
		emit_open_object(json, NULL);
		emit_text(json, "name", text_chars(&name));
		emit_text(json, "kind", "cell");
		emit_close_object(json);
	}
	emit_close_array(json);
}

/* results */

static void add_step(struct writing *writing, const struct finding *finding,
                     const struct finding_step *step)
{
	struct emitter *json = &writing->json;

	emit_open_object(json, NULL);
	emit_open_array(json, "kinds");
	emit_text(json, NULL, step_role_name(step->role));
	emit_close_array(json);
	emit_text(json, "importance", step->role == STEP_TRAVELS ? "important" : "essential");
	emit_open_object(json, "location");
	if (step->source)
		add_physical(writing, step->source, step->span);
	else
		add_physical(writing, finding->source, finding->span);
	add_message(json, "message", step->message);
	emit_close_object(json);
	emit_close_object(json);
}

/* Of a story that is too long the end is kept: it is what happens. */
static void add_flow(struct writing *writing, const struct finding *finding)
{
	const uint32_t count = finding->steps.count;
	struct emitter *json = &writing->json;

	emit_open_array(json, "codeFlows");
	emit_open_object(json, NULL);
	emit_open_array(json, "threadFlows");
	emit_open_object(json, NULL);
	emit_open_array(json, "locations");
	for (uint32_t i = 0; i < count; i++) {
		if (i < MOST_STEPS - 1 || i == count - 1)
			add_step(writing, finding, &finding->steps.at[i]);
	}
	emit_close_array(json);
	emit_close_object(json);
	emit_close_array(json);
	emit_close_object(json);
	emit_close_array(json);
}

static void add_fix(struct writing *writing, const struct finding *finding,
                    const struct finding_fix *fix)
{
	struct emitter *json = &writing->json;

	emit_open_object(json, NULL);
	add_message(json, "description", fix->title);
	emit_open_array(json, "artifactChanges");
	emit_open_object(json, NULL);
	add_artifact(writing, finding->source->path);
	emit_open_array(json, "replacements");
	for (uint32_t i = 0; i < fix->edits.count; i++) {
		emit_open_object(json, NULL);
		add_region(json, "deletedRegion", finding->source, fix->edits.at[i].span);
		add_message(json, "insertedContent", fix->edits.at[i].text);
		emit_close_object(json);
	}
	emit_close_array(json);
	emit_close_object(json);
	emit_close_array(json);
	emit_close_object(json);
}

static void add_fixes(struct writing *writing, const struct finding *finding)
{
	struct emitter *json = &writing->json;
	bool any = false;

	for (uint32_t i = 0; i < finding->fixes.count; i++) {
		if (!finding->fixes.at[i].edits.count)
			continue;
		if (!any)
			emit_open_array(json, "fixes");
		any = true;
		add_fix(writing, finding, &finding->fixes.at[i]);
	}
	if (any)
		emit_close_array(json);
}

static void add_properties(struct writing *writing, const struct finding *finding)
{
	struct emitter *json = &writing->json;
	struct text replayed = {.arena = writing->scratch};

	emit_open_object(json, "properties");
	emit_text(json, "confidence", confidence_name(finding->confidence));
	if (replay_sentence(&finding->replay, writing->report->memory_bytes, &replayed))
		emit_text(json, "replay", text_chars(&replayed));
	emit_close_object(json);
}

static void add_result_message(struct writing *writing, const struct finding *finding)
{
	struct text message = {.arena = writing->scratch};

	text_add_chars(&message, finding->message);
	if (finding->note)
		text_print(&message, ". %s", finding->note);
	add_sentence(writing, "message", text_chars(&message));
}

static void add_result(struct writing *writing, uint32_t index)
{
	const struct finding *finding = &writing->report->outcome->findings.at[index];
	struct emitter *json = &writing->json;
	char hex[DIGEST_HEX_LENGTH + 1];

	digest_hex(writing->fingerprints[index], hex);
	emit_open_object(json, NULL);
	emit_text(json, "ruleId", finding->rule->code);
	emit_number(json, "ruleIndex", finding->rule - writing->report->rules.at);
	emit_text(json, "level", level_of(finding->severity));
	add_result_message(writing, finding);
	emit_open_array(json, "locations");
	emit_open_object(json, NULL);
	add_physical(writing, finding->source, finding->span);
	add_logical(json, finding);
	emit_close_object(json);
	emit_close_array(json);
	emit_open_object(json, "partialFingerprints");
	emit_text(json, "graphlint/v1", hex);
	emit_close_object(json);
	if (finding->steps.count)
		add_flow(writing, finding);
	add_fixes(writing, finding);
	add_properties(writing, finding);
	emit_close_object(json);
	arena_reset(writing->scratch);
}

/* The least severe that is kept when there are too many, and how many of it. */
struct cut {
	enum severity severity;
	uint32_t left;
};

static struct cut cut_of(const struct outcome *outcome)
{
	struct cut cut = {SEVERITY_ERROR, MOST_RESULTS};

	for (; cut.severity > SEVERITY_INFO; cut.severity--) {
		uint32_t count = outcome_count(outcome, cut.severity);

		if (count >= cut.left)
			break;
		cut.left -= count;
	}
	return cut;
}

static void add_results(struct writing *writing)
{
	const finding_list *findings = &writing->report->outcome->findings;
	struct cut cut = cut_of(writing->report->outcome);

	emit_open_array(&writing->json, "results");
	for (uint32_t i = 0; i < findings->count; i++) {
		if (findings->at[i].severity < cut.severity ||
		    (findings->at[i].severity == cut.severity && cut.left-- == 0)) {
			cut.left += findings->at[i].severity == cut.severity;
			continue;
		}
		add_result(writing, i);
	}
	emit_close_array(&writing->json);
}

/* what could not be looked at */

static void add_notification(struct writing *writing, const struct skipped *skipped)
{
	struct emitter *json = &writing->json;

	emit_open_object(json, NULL);
	emit_text(json, "level", skipped->is_failure ? "error" : "warning");
	emit_open_array(json, "locations");
	emit_open_object(json, NULL);
	if (skipped_has_place(skipped)) {
		add_physical(writing, skipped->source, skipped->span);
	} else {
		emit_open_object(json, "physicalLocation");
		add_artifact(writing, skipped->path);
		emit_close_object(json);
	}
	emit_close_object(json);
	emit_close_array(json);
	add_sentence(writing, "message", skipped->reason);
	emit_close_object(json);
	arena_reset(writing->scratch);
}

static void add_cut_notification(struct writing *writing, uint32_t count)
{
	struct emitter *json = &writing->json;
	struct text message = {.arena = writing->scratch};

	text_print(&message, "Only %d of %u findings are listed, the most severe ones.",
	           MOST_RESULTS, count);
	emit_open_object(json, NULL);
	emit_text(json, "level", "warning");
	add_message(json, "message", text_chars(&message));
	emit_close_object(json);
}

static void add_invocation(struct writing *writing)
{
	const struct outcome *outcome = writing->report->outcome;
	struct emitter *json = &writing->json;

	emit_open_array(json, "invocations");
	emit_open_object(json, NULL);
	emit_bool(json, "executionSuccessful", !outcome_has_failure(outcome));
	emit_open_array(json, "toolExecutionNotifications");
	for (uint32_t i = 0; i < outcome->skipped.count && i < MOST_NOTIFICATIONS; i++)
		add_notification(writing, &outcome->skipped.at[i]);
	if (outcome->findings.count > MOST_RESULTS)
		add_cut_notification(writing, outcome->findings.count);
	emit_close_array(json);
	emit_close_object(json);
	emit_close_array(json);
}

static void add_base(struct emitter *json)
{
	emit_open_object(json, "originalUriBaseIds");
	emit_open_object(json, "SRCROOT");
	add_message(json, "description", "The folder that the sources are in.");
	emit_close_object(json);
	emit_close_object(json);
}

void report_sarif(const struct report *report, struct text *out)
{
	struct arena scratch = {0}, kept = {0};
	struct writing writing = {
	        .report = report,
	        .json = {.out = out, .indents = true},
	        .scratch = &scratch,
	        .fingerprints =
	                findings_fingerprint(&kept, &report->outcome->findings, report->root),
	};
	struct emitter *json = &writing.json;

	emit_open_object(json, NULL);
	emit_text(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	emit_text(json, "version", "2.1.0");
	emit_open_array(json, "runs");
	emit_open_object(json, NULL);
	add_driver(&writing);
	add_base(json);
	emit_text(json, "columnKind", "unicodeCodePoints");
	add_invocation(&writing);
	add_results(&writing);
	emit_close_object(json);
	emit_close_array(json);
	emit_close_object(json);
	text_add_char(out, '\n');
	arena_release(&scratch);
	arena_release(&kept);
}
