/* One page that needs nothing else: the curves before and after, the edits, what
 * holds the memory, the source with the lines marked, and the figures. */

#include <string.h>

#include "analyzer/finding/rule.h"
#include "analyzer/report/amount.h"
#include "analyzer/report/curve.h"
#include "analyzer/report/curve_style.h"
#include "analyzer/report/place.h"

enum { AROUND = 6 }; /* lines shown around those that are marked */

static void add_escaped(const struct text *text, struct text *out)
{
	place_escape_xml(text_chars(text), out);
}

static void add_chip(const char *class, const char *name, const struct text *value,
                     struct text *out)
{
	text_print(out, "<span class=\"chip %s\"><b>%s</b>", class, name);
	add_escaped(value, out);
	text_add_chars(out, "</span>\n");
}

static const char *class_of(const struct replay_verdict *verdict)
{
	if (verdict->kind == REPLAY_UNKNOWN)
		return "warn";
	return curve_grows(verdict) ? "bad" : "good";
}

static void add_verdicts(const struct replay_result *result, struct text *out)
{
	struct text value = {.arena = out->arena};

	curve_bytes_verdict(result, &value);
	add_chip(class_of(&result->bytes), "bytes", &value, out);
	text_cut(&value, 0);
	curve_nodes_verdict(result, &value);
	add_chip(class_of(&result->nodes), "nodes", &value, out);
}

static void add_mode(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	struct text value = {.arena = out->arena};

	text_add_chars(&value, result->exact ? "every call, shape and value is known"
	                                     : "bytes are a lower bound");
	for (uint32_t i = 0; i < result->stand_in_count; i++)
		text_print(&value, "%s%s", i ? ", " : "; stood in for ", result->stand_ins[i]);
	add_chip(result->exact ? "" : "warn", result->exact ? "exact" : "structural", &value, out);
	if (!curve->claim)
		return;
	text_cut(&value, 0);
	text_print(&value, "%s %s", curve->claim,
	           curve->holds  ? "holds"
	           : curve->told ? "does not hold"
	                         : "cannot be told");
	add_chip(curve->holds ? "good" : "bad", "assert", &value, out);
}

static void add_head(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	struct text place = {.arena = out->arena}, count = {.arena = out->arena};

	curve_place(curve->source, result->loop_line, &place);
	text_add_chars(out, "<h1>");
	add_escaped(&place, out);
	text_add_chars(out, "</h1>\n<div class=\"soft\"><code>");
	place_escape_xml(curve_line(curve->source, result->loop_line, out->arena), out);
	text_add_chars(&count, "replayed for ");
	amount_of(&count, result->count, "step", "steps");
	curve_run_by(curve->source, curve->program, &count);
	text_add_chars(out, "</code> &nbsp;");
	add_escaped(&count, out);
	text_add_chars(out, "</div>\n<div class=\"chips\">\n");
	add_verdicts(result, out);
	add_mode(curve, out);
	text_add_chars(out, "</div>\n");
}

static void add_figure_of(const struct curve *curve, const struct replay_result *result,
                          const char *title, struct text *out)
{
	text_print(out, "<figure><figcaption>%s</figcaption>\n", title);
	curve_drawing(curve, result, false, out);
	text_add_chars(out, "</figure>\n");
}

static void add_curves(const struct curve *curve, struct text *out)
{
	text_add_chars(out, "<div class=\"curves\">\n");
	add_figure_of(curve, curve->result, curve->after ? "As it is" : "Live memory", out);
	if (curve->after)
		add_figure_of(curve, curve->after, "After the fix", out);
	text_add_chars(out, "</div>\n");
}

static void add_fixes(const struct curve *curve, struct text *out)
{
	if (!curve->after)
		return;
	text_add_chars(out, "<h2>The fix</h2>\n<ul class=\"fixes\">\n");
	for (uint32_t i = 0; i < curve->finding_count; i++) {
		const struct finding *finding = curve->findings[i];

		for (uint32_t k = 0; k < finding->fixes.count; k++) {
			const struct finding_fix *fix = &finding->fixes.at[k];

			text_print(out, "<li><span class=\"soft\">%s</span><code>",
			           finding->rule->code);
			place_escape_xml(fix->title, out);
			text_print(out, "</code><span class=\"chip good\">%s</span>%s%s%s</li>\n",
			           fix->replayed,
			           fix->safe ? "<span class=\"soft\">values stay the same"
			                     : "<span class=\"soft\">changes ",
			           fix->safe ? "" : fix->changes, "</span>");
		}
	}
	text_add_chars(out, "</ul>\n");
}

static void add_chain(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	struct text several = {.arena = out->arena};
	uint32_t length, period;

	if (!curve_has_chain(result))
		return;
	text_add_chars(out, "<h2>What holds it</h2>\n<ol class=\"chain\">\n");
	length = curve_chain_length(result, &period);
	text_print(&several, "%u", period);
	for (uint32_t i = 0; i < length; i++) {
		struct text place = {.arena = out->arena};

		text_add_chars(out, "<li><div class=\"box\"><span>");
		place_escape_xml(result->chain[i].text, out);
		text_add_chars(out, "</span>");
		if (result->chain[i].source) {
			curve_place(result->chain[i].source, result->chain[i].line, &place);
			text_add_chars(out, "<span class=\"soft mono\">");
			add_escaped(&place, out);
			text_add_chars(out, "</span>");
		}
		text_add_chars(out, "</div></li>\n");
	}
	if (period)
		text_print(out,
		           "<li><div class=\"box soft\">and so on: the last %s again and "
		           "again</div></li>\n",
		           period == 1 ? "one" : text_chars(&several));
	text_add_chars(out, "</ol>\n");
}

/* the source */

static bool holds(const struct curve *curve, uint32_t line)
{
	for (uint32_t i = 0; curve_has_chain(curve->result) && i < curve->result->chain_count;
	     i++) {
		const struct replay_link *link = &curve->result->chain[i];

		if (link->source == curve->source && link->line == line)
			return true;
	}
	return false;
}

/* NULL: there is none on the line. */
static const struct finding *finding_on(const struct curve *curve, uint32_t line)
{
	for (uint32_t i = 0; i < curve->finding_count; i++) {
		const struct finding *finding = curve->findings[i];

		if (finding->source == curve->source &&
		    source_line_at(finding->source, finding->span.start) + 1 == line)
			return finding;
	}
	return NULL;
}

static bool is_near(const struct curve *curve, uint32_t line)
{
	const struct replay_result *result = curve->result;

	if (line + AROUND >= result->loop_line && line <= result->loop_end + AROUND)
		return true;
	for (uint32_t at = line > AROUND ? line - AROUND : 1; at <= line + AROUND; at++) {
		if (holds(curve, at) || finding_on(curve, at))
			return true;
	}
	return false;
}

static void add_line(const char *class, const char *number, const char *text, struct text *out)
{
	text_print(out, "<span class=\"%s\"><i>%s  </i>", class, number);
	place_escape_xml(text, out);
}

/* The line with the edits of the first fix that lie on it. */
static void add_edited(const struct curve *curve, const struct finding *finding, struct span line,
                       struct text *out)
{
	struct text made = {.arena = out->arena};
	const struct finding_fix *fix = finding->fixes.count ? &finding->fixes.at[0] : NULL;
	uint32_t done = line.start;

	for (uint32_t i = 0; fix && i < fix->edits.count; i++) {
		const struct finding_edit *edit = &fix->edits.at[i];

		if (edit->span.start < done || edit->span.end > line.end)
			continue;
		text_add(&made, curve->source->text + done, edit->span.start - done);
		text_add_chars(&made, edit->text);
		done = edit->span.end;
	}
	if (!made.length)
		return;
	text_add(&made, curve->source->text + done, line.end - done);
	add_line("new", "   +", text_chars(&made), out);
	text_add_chars(out, "</span>");
}

static void add_source_line(const struct curve *curve, uint32_t line, struct text *out)
{
	const struct span span = source_line_span(curve->source, line - 1);
	const struct finding *finding = finding_on(curve, line);
	struct text number = {.arena = out->arena};

	text_print(&number, "%4u", line);
	add_line(finding                            ? "kept"
	         : holds(curve, line)               ? "holds"
	         : line == curve->result->loop_line ? "loop"
	                                            : "",
	         text_chars(&number),
	         arena_text(out->arena, curve->source->text + span.start, span.end - span.start),
	         out);
	if (finding) {
		text_add_chars(out, "<em>");
		place_escape_xml(finding->message, out);
		text_add_chars(out, "</em>");
	}
	text_add_chars(out, "</span>");
	if (finding)
		add_edited(curve, finding, span, out);
}

static void add_source(const struct curve *curve, struct text *out)
{
	bool gap = false;

	text_add_chars(out, "<h2>The loop</h2>\n<pre>");
	for (uint32_t line = 1; line <= curve->source->line_count; line++) {
		if (!is_near(curve, line)) {
			gap = true;
			continue;
		}
		if (gap)
			text_add_chars(out, "<span><i>   …</i></span>");
		gap = false;
		add_source_line(curve, line, out);
	}
	text_add_chars(out, "</pre>\n");
}

/* figures */

static void add_figure(uint64_t figure, struct text *out)
{
	text_add_chars(out, "<td>");
	amount_count(out, figure);
	text_add_chars(out, "</td>");
}

static void add_figures(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;

	text_add_chars(out, "<details><summary>All figures, in bytes</summary>\n"
	                    "<div class=\"scroll\"><table>\n<thead><tr><th>step</th><th>live</th>");
	for (uint32_t i = 0; i < REPLAY_KINDS; i++)
		text_print(out, "<th>%s</th>", replay_memory_name(curve_order[i]));
	text_add_chars(out,
	               "<th>storages</th><th>tensors</th><th>nodes</th></tr></thead>\n<tbody>\n");
	for (uint32_t i = 0; i < result->count; i++) {
		const struct replay_sample *sample = &result->samples[i];

		text_add_chars(out, "<tr>");
		add_figure(i + 1, out);
		add_figure(sample->live_bytes, out);
		for (uint32_t k = 0; k < REPLAY_KINDS; k++)
			add_figure(sample->by_kind[curve_order[k]], out);
		add_figure(sample->storages, out);
		add_figure(sample->tensors, out);
		add_figure(sample->nodes, out);
		text_add_chars(out, "</tr>\n");
	}
	text_add_chars(out, "</tbody></table></div></details>\n");
}

static void add_printed(const struct curve *curve, struct text *out)
{
	if (!curve->prints)
		return;
	text_add_chars(out, "<h2>What it prints</h2>\n<pre><span>");
	place_escape_xml(curve->result->output, out);
	text_add_chars(out, "</span></pre>\n");
}

void curve_html(const struct curve *curve, struct text *out)
{
	struct text place = {.arena = out->arena};

	curve_place(curve->source, curve->result->loop_line, &place);
	text_add_chars(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	                    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	add_escaped(&place, out);
	text_print(out, "</title>\n<style>\n%s</style></head><body><main>\n", curve_style);
	add_head(curve, out);
	add_curves(curve, out);
	add_fixes(curve, out);
	add_chain(curve, out);
	add_source(curve, out);
	add_printed(curve, out);
	add_figures(curve, out);
	text_print(out, "<footer>graphlint %s</footer>\n</main></body></html>\n", curve->version);
}
