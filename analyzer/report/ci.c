/* The formats of code hosts that are a line or a small object a finding. */

#include <string.h>

#include "analyzer/finding/fingerprint.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/place.h"
#include "analyzer/report/report.h"
#include "analyzer/report/summary.h"

static const char *path_of(const struct report *report, struct arena *scratch, const char *path)
{
	return report->root ? path_below(scratch, report->root, path) : path;
}

/* github: workflow commands */

/* `also` are characters to be escaped besides those that always are. */
static void add_percented(struct text *out, const char *chars, const char *also)
{
	for (; *chars; chars++) {
		if (strchr("%\r\n", *chars) || strchr(also, *chars))
			text_print(out, "%%%02X", (unsigned)(unsigned char)*chars);
		else
			text_add_char(out, *chars);
	}
}

static const char *github_level(enum severity severity)
{
	return severity == SEVERITY_INFO ? "notice" : severity_name(severity);
}

static void github_finding(const struct report *report, struct arena *scratch,
                           const struct finding *finding, struct text *out)
{
	const struct source *source = finding->source;
	struct position first = source_position(source, finding->span.start);
	struct position last = place_end(source, finding->span);

	text_print(out, "::%s file=", github_level(finding->severity));
	add_percented(out, path_of(report, scratch, source->path), ":,");
	text_print(out, ",line=%u,col=%u,endLine=%u,", first.row, first.column, last.row);
	if (last.row == first.row)
		text_print(out, "endColumn=%u,", last.column);
	text_print(out, "title=%s %s::", finding->rule->code, finding->rule->slug);
	if (first.cell)
		text_print(out, "cell %u: ", first.cell);
	add_percented(out, finding->message, "");
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct finding_step *step = &finding->steps.at[i];

		text_add_chars(out, "%0A");
		if (step->source && step->source != source) {
			add_percented(out, path_of(report, scratch, step->source->path), "");
			text_add_char(out, ' ');
		}
		if (step->source)
			text_print(out, "line %u: ",
			           source_position(step->source, step->span.start).row);
		add_percented(out, step->message, "");
	}
	text_add_char(out, '\n');
}

void report_github(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;
	struct arena scratch = {0};

	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		github_finding(report, &scratch, &outcome->findings.at[i], out);
		arena_reset(&scratch);
	}
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		struct text line = {.arena = &scratch};
		const struct skipped *skipped = &outcome->skipped.at[i];

		summary_skipped(skipped, &line);
		text_print(out, "::%s file=", skipped->is_failure ? "error" : "warning");
		add_percented(out, path_of(report, &scratch, skipped->path), ":,");
		text_add_chars(out, ",title=not analysed::");
		add_percented(out, text_chars(&line), "");
		text_add_char(out, '\n');
		arena_reset(&scratch);
	}
	arena_release(&scratch);
}

/* azure: logging commands */

static void add_azure(struct text *out, const char *chars)
{
	for (; *chars; chars++) {
		if (*chars == '%')
			text_add_chars(out, "%AZP25");
		else if (strchr(";\r\n]", *chars))
			text_print(out, "%%%02X", (unsigned)(unsigned char)*chars);
		else
			text_add_char(out, *chars);
	}
}

static void azure_issue(struct text *out, bool is_error, const char *path, struct position position,
                        const char *code, const char *message)
{
	text_print(out, "##vso[task.logissue type=%s;sourcepath=", is_error ? "error" : "warning");
	add_azure(out, path);
	if (position.row)
		text_print(out, ";linenumber=%u;columnnumber=%u", position.row, position.column);
	text_print(out, ";code=%s]", code);
	add_azure(out, message);
	text_add_char(out, '\n');
}

void report_azure(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;
	struct arena scratch = {0};

	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		const struct finding *finding = &outcome->findings.at[i];

		azure_issue(out, finding->severity == SEVERITY_ERROR,
		            path_of(report, &scratch, finding->source->path),
		            source_position(finding->source, finding->span.start),
		            finding->rule->code, finding->message);
		arena_reset(&scratch);
	}
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		const struct skipped *skipped = &outcome->skipped.at[i];
		struct position position = {0};

		if (skipped_has_place(skipped))
			position = source_position(skipped->source, skipped->span.start);
		azure_issue(out, skipped->is_failure, path_of(report, &scratch, skipped->path),
		            position, "not-analysed", skipped->reason);
		arena_reset(&scratch);
	}
	arena_release(&scratch);
}

/* gitlab: code quality */

static const char *gitlab_severity(enum severity severity)
{
	switch (severity) {
	case SEVERITY_ERROR:
		return "critical";
	case SEVERITY_WARNING:
		return "major";
	case SEVERITY_INFO:
	case SEVERITY_OFF:
		break;
	}
	return "info";
}

static void gitlab_place(struct emitter *json, const char *name, struct position position)
{
	emit_open_object(json, name);
	emit_number(json, "line", position.row);
	emit_number(json, "column", position.column);
	emit_close_object(json);
}

static void gitlab_finding(const struct report *report, struct emitter *json, struct arena *scratch,
                           const struct finding *finding, struct digest fingerprint)
{
	struct text description = {.arena = scratch};
	char hex[DIGEST_HEX_LENGTH + 1];

	digest_hex(fingerprint, hex);
	text_print(&description, "%s %s: %s", finding->rule->code, finding->rule->slug,
	           finding->message);
	emit_open_object(json, NULL);
	emit_text(json, "description", text_chars(&description));
	emit_text(json, "check_name", finding->rule->slug);
	emit_text(json, "fingerprint", hex);
	emit_text(json, "severity", gitlab_severity(finding->severity));
	emit_open_object(json, "location");
	emit_text(json, "path", path_of(report, scratch, finding->source->path));
	emit_open_object(json, "positions");
	gitlab_place(json, "begin", source_position(finding->source, finding->span.start));
	gitlab_place(json, "end", place_end(finding->source, finding->span));
	emit_close_object(json);
	emit_close_object(json);
	emit_close_object(json);
}

void report_gitlab(const struct report *report, struct text *out)
{
	const finding_list *findings = &report->outcome->findings;
	struct arena scratch = {0}, kept = {0};
	struct emitter json = {.out = out, .indents = true};
	struct digest *digests = findings_fingerprint(&kept, findings, report->root);

	emit_open_array(&json, NULL);
	for (uint32_t i = 0; i < findings->count; i++) {
		gitlab_finding(report, &json, &scratch, &findings->at[i], digests[i]);
		arena_reset(&scratch);
	}
	emit_close_array(&json);
	text_add_char(out, '\n');
	arena_release(&scratch);
	arena_release(&kept);
}

/* rdjsonl: reviewdog; its columns count bytes */

static void reviewdog_place(struct emitter *json, const char *name, const struct source *source,
                            uint32_t offset)
{
	uint32_t line = source_line_at(source, offset);

	emit_open_object(json, name);
	emit_number(json, "line", source_position(source, offset).row);
	emit_number(json, "column", offset - source->lines[line] + 1);
	emit_close_object(json);
}

static void reviewdog_range(struct emitter *json, const struct source *source, struct span span)
{
	emit_open_object(json, "range");
	reviewdog_place(json, "start", source, span.start);
	reviewdog_place(json, "end", source, span.end);
	emit_close_object(json);
}

static const char *reviewdog_severity(enum severity severity)
{
	return severity == SEVERITY_ERROR     ? "ERROR"
	       : severity == SEVERITY_WARNING ? "WARNING"
	                                      : "INFO";
}

static void reviewdog_location(const struct report *report, struct arena *scratch,
                               struct emitter *json, const struct source *source, struct span span)
{
	emit_open_object(json, "location");
	emit_text(json, "path", path_of(report, scratch, source->path));
	reviewdog_range(json, source, span);
	emit_close_object(json);
}

static void reviewdog_steps(const struct report *report, struct arena *scratch,
                            struct emitter *json, const struct finding *finding)
{
	emit_open_array(json, "relatedLocations");
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct finding_step *step = &finding->steps.at[i];

		if (!step->source)
			continue;
		emit_open_object(json, NULL);
		emit_text(json, "message", step->message);
		reviewdog_location(report, scratch, json, step->source, step->span);
		emit_close_object(json);
	}
	emit_close_array(json);
}

static void reviewdog_fixes(struct emitter *json, const struct finding *finding)
{
	const struct finding_fix *fix = finding->fixes.at;

	if (!finding->fixes.count)
		return;
	emit_open_array(json, "suggestions");
	for (uint32_t i = 0; i < fix->edits.count; i++) {
		emit_open_object(json, NULL);
		reviewdog_range(json, finding->source, fix->edits.at[i].span);
		emit_text(json, "text", fix->edits.at[i].text);
		emit_close_object(json);
	}
	emit_close_array(json);
}

void report_rdjsonl(const struct report *report, struct text *out)
{
	const finding_list *findings = &report->outcome->findings;
	struct arena scratch = {0};

	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->at[i];
		struct emitter json = {.out = out};

		emit_open_object(&json, NULL);
		emit_text(&json, "message", finding->message);
		reviewdog_location(report, &scratch, &json, finding->source, finding->span);
		emit_text(&json, "severity", reviewdog_severity(finding->severity));
		emit_open_object(&json, "source");
		emit_text(&json, "name", "graphlint");
		emit_close_object(&json);
		emit_open_object(&json, "code");
		emit_text(&json, "value", finding->rule->code);
		emit_close_object(&json);
		reviewdog_fixes(&json, finding);
		reviewdog_steps(report, &scratch, &json, finding);
		emit_close_object(&json);
		text_add_char(out, '\n');
		arena_reset(&scratch);
	}
	arena_release(&scratch);
}
