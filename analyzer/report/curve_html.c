/* One page that needs nothing else: the curve, the verdicts, what holds the
 * memory, the source with the lines marked, and the figures. */

#include "analyzer/report/amount.h"
#include "analyzer/report/curve.h"
#include "analyzer/report/place.h"

enum { AROUND = 6 }; /* lines shown around those that are marked */

static const char style[] =
        "body{font:15px/1.5 system-ui,sans-serif;color:#222;max-width:60rem;margin:2rem auto;"
        "padding:0 1rem}\n"
        "svg{max-width:100%;height:auto}\n"
        "h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\n"
        "pre{font:13px/1.45 ui-monospace,monospace;background:#f6f7f9;padding:.6rem 0;"
        "overflow-x:auto}\n"
        "pre span{display:block;padding:0 .8rem}pre .loop{background:#fff3cd}"
        "pre .holds{background:#f8d0c4}\n"
        "pre i{color:#8a939c;font-style:normal;user-select:none}\n"
        "ol.chain{list-style:none;padding:0}ol.chain li{border-left:3px solid #d55e00;"
        "padding:.2rem .8rem;margin:.25rem 0}\n"
        "ol.chain b{color:#667;font-weight:normal;margin-left:.8rem}\n"
        "table{border-collapse:collapse}td,th{padding:.1rem .7rem;text-align:right}"
        "tr:nth-child(even){background:#f6f7f9}\n"
        "dl{display:grid;grid-template-columns:max-content auto;gap:.2rem 1rem}"
        "dt{font-weight:bold}dd{margin:0}\n";

static void add_escaped(const struct text *text, struct text *out)
{
	place_escape_xml(text_chars(text), out);
}

static void add_definition(const char *name, const struct text *value, struct text *out)
{
	text_print(out, "<dt>%s</dt><dd>", name);
	add_escaped(value, out);
	text_add_chars(out, "</dd>\n");
}

static void add_verdicts(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	struct text value = {.arena = out->arena};

	text_add_chars(out, "<dl>\n");
	curve_bytes_verdict(result, &value);
	add_definition("bytes", &value, out);
	text_cut(&value, 0);
	curve_nodes_verdict(result, &value);
	add_definition("nodes", &value, out);
	text_cut(&value, 0);
	text_add_chars(&value, result->exact ? "exact" : "structural: bytes are a lower bound");
	for (uint32_t i = 0; i < result->stand_in_count; i++)
		text_print(&value, "%s%s", i ? ", " : "; stood in for ", result->stand_ins[i]);
	add_definition("mode", &value, out);
	if (curve->claim) {
		text_cut(&value, 0);
		text_print(&value, "%s: %s", curve->claim,
		           curve->holds  ? "holds"
		           : curve->told ? "does not hold"
		                         : "cannot be told");
		add_definition("assert", &value, out);
	}
	text_add_chars(out, "</dl>\n");
}

static void add_chain(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;

	if (!curve_has_chain(result))
		return;
	text_add_chars(out, "<h2>What holds it</h2>\n<ol class=\"chain\">\n");
	for (uint32_t i = 0; i < result->chain_count; i++) {
		struct text place = {.arena = out->arena};

		text_print(out, "<li style=\"margin-left:%urem\">", i);
		place_escape_xml(result->chain[i].text, out);
		if (result->chain[i].source) {
			curve_place(result->chain[i].source, result->chain[i].line, &place);
			text_add_chars(out, "<b>");
			add_escaped(&place, out);
			text_add_chars(out, "</b>");
		}
		text_add_chars(out, "</li>\n");
	}
	text_add_chars(out, "</ol>\n");
}

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

static bool is_near(const struct curve *curve, uint32_t line)
{
	const struct replay_result *result = curve->result;

	if (line + AROUND >= result->loop_line && line <= result->loop_end + AROUND)
		return true;
	for (uint32_t i = 0; curve_has_chain(result) && i < result->chain_count; i++) {
		const uint32_t at = result->chain[i].line;

		if (result->chain[i].source == curve->source && line + AROUND >= at &&
		    line <= at + AROUND)
			return true;
	}
	return false;
}

static void add_source(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	bool gap = false;

	text_add_chars(out, "<h2>The loop</h2>\n<pre>");
	for (uint32_t line = 1; line <= curve->source->line_count; line++) {
		const struct span span = source_line_span(curve->source, line - 1);

		if (!is_near(curve, line)) {
			gap = true;
			continue;
		}
		if (gap)
			text_add_chars(out, "<span><i>   …</i></span>");
		gap = false;
		text_print(out, "<span%s><i>%4u  </i>",
		           holds(curve, line)          ? " class=\"holds\""
		           : line == result->loop_line ? " class=\"loop\""
		                                       : "",
		           line);
		place_escape_xml(arena_text(out->arena, curve->source->text + span.start,
		                            span.end - span.start),
		                 out);
		text_add_chars(out, "</span>");
	}
	text_add_chars(out, "</pre>\n");
}

static void add_figure(uint64_t figure, struct text *out)
{
	text_add_chars(out, "<td>");
	amount_count(out, figure);
	text_add_chars(out, "</td>");
}

static void add_figures(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;

	text_add_chars(out, "<details><summary>All figures, in bytes</summary>\n<table>\n"
	                    "<tr><th>step</th><th>live</th>");
	for (uint32_t i = 0; i < REPLAY_KINDS; i++)
		text_print(out, "<th>%s</th>", replay_memory_name(curve_order[i]));
	text_add_chars(out, "<th>storages</th><th>tensors</th><th>nodes</th></tr>\n");
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
	text_add_chars(out, "</table></details>\n");
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
	text_print(out, "</title>\n<style>\n%s</style></head><body>\n<h1>", style);
	add_escaped(&place, out);
	text_add_chars(out, "</h1>\n");
	add_verdicts(curve, out);
	curve_svg(curve, out);
	add_chain(curve, out);
	add_source(curve, out);
	add_printed(curve, out);
	add_figures(curve, out);
	text_print(out, "<p><small>graphlint %s</small></p>\n</body></html>\n", curve->version);
}
