#include "analyzer/report/footprint.h"

#include <string.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/style.h"

enum { NAME_WIDTH = 40, FIGURE_WIDTH = 14 };

static const struct replay_sample *last_step(const struct replay_result *result)
{
	return &result->samples[result->count - 1];
}

/* text */

static void add_name(const char *name, struct text *out)
{
	text_print(out, "  %-*s", NAME_WIDTH, name);
}

static void add_figure(uint64_t bytes, struct text *out)
{
	struct text figure = {.arena = out->arena};

	amount_bytes(&figure, (double)bytes);
	text_print(out, "%*s", FIGURE_WIDTH, text_chars(&figure));
}

static void add_head(const struct footprint *footprint, const char *first, const char *second,
                     const char *third, struct text *out)
{
	style_on(out, footprint->color, STYLE_BOLD);
	add_name(first, out);
	text_print(out, "%*s%*s\n", FIGURE_WIDTH, second, FIGURE_WIDTH, third);
	style_off(out, footprint->color, STYLE_BOLD);
}

static void add_kinds(const struct footprint *footprint, struct text *out)
{
	const struct replay_sample *step = last_step(footprint->result);

	add_head(footprint, "one step", "at its peak", "at its end", out);
	for (uint32_t i = 0; i < REPLAY_KINDS; i++) {
		const uint32_t kind = curve_order[i];

		if (!step->peak_by_kind[kind] && !step->by_kind[kind])
			continue;
		add_name(replay_memory_name(kind), out);
		add_figure(step->peak_by_kind[kind], out);
		add_figure(step->by_kind[kind], out);
		text_add_char(out, '\n');
	}
	style_on(out, footprint->color, STYLE_BOLD);
	add_name("all", out);
	add_figure(step->peak_bytes, out);
	add_figure(step->live_bytes, out);
	style_off(out, footprint->color, STYLE_BOLD);
	text_add_chars(out, "\n\n");
}

static void add_change(const struct footprint *footprint, const struct footprint_change *change,
                       struct text *out)
{
	const struct replay_sample *step = last_step(footprint->result);
	const uint64_t peak = last_step(change->result)->peak_bytes;
	const double share = step->peak_bytes ? ((double)peak - (double)step->peak_bytes) /
	                                                (double)step->peak_bytes
	                                      : 0;

	add_name(change->name, out);
	add_figure(peak, out);
	style_on(out, footprint->color, share < 0 ? STYLE_GOOD : STYLE_SECOND);
	text_print(out, "%*.0f %%", FIGURE_WIDTH - 2, share * 100);
	style_off(out, footprint->color, share < 0 ? STYLE_GOOD : STYLE_SECOND);
	text_add_char(out, '\n');
}

void footprint_text(const struct footprint *footprint, struct text *out)
{
	const struct replay_result *result = footprint->result;

	curve_heading(footprint->source, result->loop_line, footprint->color, out);
	text_print(out, ", step %u", result->count);
	curve_run_by(footprint->source, footprint->program, out);
	text_add_chars(out, "\n\n");
	add_kinds(footprint, out);
	if (footprint->change_count)
		add_head(footprint, "what would change it", "peak", "difference", out);
	for (uint32_t i = 0; i < footprint->change_count; i++)
		add_change(footprint, &footprint->changes[i], out);
	if (footprint->change_count)
		text_add_char(out, '\n');
	if (last_step(result)->unsized)
		text_add_chars(
		        out, "the peak is without what oneDNN's convolutions and LSTMs take while "
		             "they run\n");
	text_add_chars(out, result->exact ? "exact: every call, shape and value is known\n"
	                                  : "structural: a lower bound, because some values are "
	                                    "not known\n");
	for (uint32_t i = 0; i < result->stand_in_count; i++) {
		text_add_chars(out, i ? "              " : "stood in for: ");
		show_text(out, result->stand_ins[i]);
		text_add_char(out, '\n');
	}
}

/* json */

static void emit_kinds(struct emitter *json, const char *name, uint64_t total,
                       const uint64_t *by_kind)
{
	emit_open_object(json, name);
	emit_number(json, "bytes", (int64_t)total);
	emit_open_object(json, "by_kind");
	for (uint32_t i = 0; i < REPLAY_KINDS; i++)
		emit_number(json, replay_memory_name(curve_order[i]),
		            (int64_t)by_kind[curve_order[i]]);
	emit_close_object(json);
	emit_close_object(json);
}

static void emit_step(struct emitter *json, const struct replay_result *result)
{
	const struct replay_sample *step = last_step(result);

	emit_number(json, "step", result->count);
	emit_text(json, "mode", result->exact ? "exact" : "structural");
	emit_kinds(json, "peak", step->peak_bytes, step->peak_by_kind);
	emit_bool(json, "peak_without_onednn", step->unsized);
	emit_kinds(json, "end", step->live_bytes, step->by_kind);
}

void footprint_json(const struct footprint *footprint, struct text *out)
{
	struct emitter json = {.out = out, .indents = true};

	emit_open_object(&json, NULL);
	emit_text(&json, "version", footprint->version);
	emit_text(&json, "filename", footprint->source->path);
	emit_number(&json, "line", footprint->result->loop_line);
	emit_step(&json, footprint->result);
	emit_open_array(&json, "stand_ins");
	for (uint32_t i = 0; i < footprint->result->stand_in_count; i++)
		emit_text(&json, NULL, footprint->result->stand_ins[i]);
	emit_close_array(&json);
	emit_open_array(&json, "changes");
	for (uint32_t i = 0; i < footprint->change_count; i++) {
		emit_open_object(&json, NULL);
		emit_text(&json, "change", footprint->changes[i].name);
		emit_step(&json, footprint->changes[i].result);
		emit_close_object(&json);
	}
	emit_close_array(&json);
	emit_close_object(&json);
	text_add_char(out, '\n');
}
