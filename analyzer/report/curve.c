#include "analyzer/report/curve.h"

#include <math.h>
#include <string.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/style.h"

const struct curve_format *curve_format_find(const char *name)
{
	static const struct curve_format formats[] = {
	        {"text", curve_text},
	        {"json", curve_json},
	        {"svg", curve_svg},
	        {"html", curve_html},
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	}
	return NULL;
}

/* parameter, gradient, optimizer, data, other, activation: what a graph keeps is on top. */
const uint8_t curve_order[REPLAY_KINDS] = {3, 4, 5, 1, 0, 2};

bool curve_has_kind(const struct replay_result *result, uint32_t kind)
{
	for (uint32_t i = 0; i < result->count; i++) {
		if (result->samples[i].by_kind[kind])
			return true;
	}
	return false;
}

const char *curve_line(const struct source *source, uint32_t line, struct arena *arena)
{
	struct span span;

	if (!line || line > source->line_count)
		return "";
	span = source_line_span(source, line - 1);
	while (span.start < span.end && strchr(" \t", source->text[span.start]))
		span.start++;
	while (span.end > span.start && strchr(" \t\r", source->text[span.end - 1]))
		span.end--;
	return arena_text(arena, source->text + span.start, span.end - span.start);
}

void curve_place(const struct source *source, uint32_t line, struct text *out)
{
	struct position position;

	show_text(out, source->path);
	if (!line || line > source->line_count)
		return;
	position = source_position(source, source->lines[line - 1]);
	if (position.cell)
		text_print(out, ":cell %u", position.cell);
	text_print(out, ":%u", position.row);
}

bool curve_grows(const struct replay_verdict *verdict)
{
	return verdict->kind == REPLAY_LINEAR || verdict->kind == REPLAY_SUPERLINEAR;
}

bool curve_is_of_calls(const struct replay_result *result)
{
	return result->loop_kind && !strcmp(result->loop_kind, "function");
}

bool curve_is_blind(const struct replay_result *result)
{
	if (result->exact)
		return false;
	for (uint32_t i = 0; i < result->count; i++) {
		if (result->samples[i].tensors || result->samples[i].nodes)
			return false;
	}
	return true;
}

bool curve_has_chain(const struct replay_result *result)
{
	return result->chain_count && (curve_grows(&result->bytes) || curve_grows(&result->nodes));
}

static bool same_link(const struct replay_link *a, const struct replay_link *b)
{
	return a->source == b->source && a->line == b->line && !strcmp(a->text, b->text);
}

uint32_t curve_chain_length(const struct replay_result *result, uint32_t *period)
{
	const struct replay_link *chain = result->chain;
	uint32_t best = result->chain_count;

	*period = 0;
	for (uint32_t p = 1; p <= 6 && 3 * p <= result->chain_count; p++) {
		uint32_t from = result->chain_count - p;

		while (from && same_link(&chain[from - 1], &chain[from - 1 + p]))
			from--;
		if (from + p < best && result->chain_count - from >= 3 * p) {
			best = from + p;
			*period = p;
		}
	}
	return best;
}

const char *curve_stop(const struct replay_result *result)
{
	return result->error ? result->error : result->limit;
}

static void add_slope(const struct replay_verdict *verdict, bool bytes, struct text *out)
{
	double size = fabs(verdict->slope);

	text_add_chars(out, verdict->exact ? ", " : ", about ");
	text_add_char(out, verdict->slope < 0 ? '-' : '+');
	if (bytes)
		amount_bytes(out, size);
	else
		text_print(out, "%.*f node%s", size == floor(size) ? 0 : 1, size,
		           size == 1 ? "" : "s");
	text_add_chars(out, " per step");
	if (verdict->period > 1)
		text_print(out, " on average (it repeats every %u steps)", verdict->period);
}

static void add_verdict(const struct replay_result *result, const struct replay_verdict *verdict,
                        bool bytes, struct text *out)
{
	text_add_chars(out, replay_kind_name(verdict->kind));
	switch (verdict->kind) {
	case REPLAY_UNKNOWN:
		text_print(out, ": %u step%s ran, %d are needed", result->count,
		           result->count == 1 ? "" : "s", CURVE_LEAST_STEPS);
		break;
	case REPLAY_FLAT:
		break;
	case REPLAY_BOUNDED:
		text_add_chars(out, ": it moves, and does not keep growing");
		break;
	case REPLAY_LINEAR:
	case REPLAY_SHRINKING:
		add_slope(verdict, bytes, out);
		break;
	case REPLAY_SUPERLINEAR:
		add_slope(verdict, bytes, out);
		text_add_chars(out, " and rising");
		break;
	}
}

void curve_heading(const struct source *source, uint32_t line, bool color, struct text *out)
{
	style_on(out, color, STYLE_BOLD);
	curve_place(source, line, out);
	style_off(out, color, STYLE_BOLD);
	text_add_chars(out, ": `");
	show_text(out, curve_line(source, line, out->arena));
	text_add_char(out, '`');
}

void curve_run_by(const struct source *source, const struct source *program, struct text *out)
{
	if (source == program)
		return;
	text_add_chars(out, ", run by ");
	show_text(out, program->path);
}

void curve_bytes_verdict(const struct replay_result *result, struct text *out)
{
	add_verdict(result, &result->bytes, true, out);
}

void curve_nodes_verdict(const struct replay_result *result, struct text *out)
{
	add_verdict(result, &result->nodes, false, out);
}
