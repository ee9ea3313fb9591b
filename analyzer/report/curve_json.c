#include <string.h>

#include "analyzer/report/curve.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/json_finding.h"

/* The field names are those of the script that measures real PyTorch. */

static void add_series(struct emitter *json, const char *name, const struct replay_result *result,
                       size_t offset)
{
	emit_open_array(json, name);
	for (uint32_t i = 0; i < result->count; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&result->samples[i] + offset, sizeof(value));
		emit_number(json, NULL, (int64_t)value);
	}
	emit_close_array(json);
}

static void add_kinds(struct emitter *json, const struct replay_result *result)
{
	emit_open_object(json, "by_kind");
	for (uint32_t i = 0; i < REPLAY_KINDS; i++) {
		const uint32_t kind = curve_order[i];

		add_series(json, replay_memory_name(kind), result,
		           offsetof(struct replay_sample, by_kind) + kind * sizeof(uint64_t));
	}
	emit_close_object(json);
}

static void add_verdict(struct emitter *json, const char *name,
                        const struct replay_verdict *verdict)
{
	emit_open_object(json, name);
	emit_text(json, "kind", replay_kind_name(verdict->kind));
	emit_real(json, "slope", verdict->slope);
	emit_bool(json, "exact", verdict->exact);
	emit_number(json, "warmup", verdict->warmup);
	emit_number(json, "period", verdict->period);
	emit_close_object(json);
}

static void add_row(struct emitter *json, const char *name, const struct source *source,
                    uint32_t line)
{
	struct position position = {0};

	if (source && line && line <= source->line_count)
		position = source_position(source, source->lines[line - 1]);
	if (position.row)
		emit_number(json, name, position.row);
	else
		emit_null(json, name);
	if (position.cell)
		emit_number(json, "cell", position.cell);
}

static void add_loop(struct emitter *json, const struct curve *curve)
{
	const struct replay_result *result = curve->result;

	if (!result->loop_line) {
		emit_null(json, "loop");
		return;
	}
	emit_open_object(json, "loop");
	emit_text(json, "filename", curve->source->path);
	add_row(json, "line", curve->source, result->loop_line);
	emit_optional(json, "kind", result->loop_kind);
	emit_optional(json, "function", curve_is_of_calls(result) ? NULL : result->loop_function);
	emit_close_object(json);
}

static void add_holders(struct emitter *json, const struct curve *curve)
{
	const struct replay_result *result = curve->result;

	emit_open_array(json, "stand_ins");
	for (uint32_t i = 0; i < result->stand_in_count; i++)
		emit_text(json, NULL, result->stand_ins[i]);
	emit_close_array(json);
	emit_open_array(json, "retained_by");
	for (uint32_t i = 0; curve_has_chain(result) && i < result->chain_count; i++) {
		const struct replay_link *link = &result->chain[i];

		emit_open_object(json, NULL);
		emit_text(json, "message", link->text);
		emit_optional(json, "filename", link->source ? link->source->path : NULL);
		add_row(json, "line", link->source, link->line);
		emit_close_object(json);
	}
	emit_close_array(json);
}

static void add_end(struct emitter *json, const struct curve *curve)
{
	const struct replay_result *result = curve->result;

	emit_optional(json, "error", result->error);
	emit_optional(json, "limit", result->limit);
	if (curve->prints)
		emit_bytes(json, "output", result->output, result->output_length);
	if (curve->claim) {
		emit_open_object(json, "assert");
		emit_text(json, "claim", curve->claim);
		if (!curve->told)
			emit_null(json, "holds");
		else
			emit_bool(json, "holds", curve->holds);
		emit_close_object(json);
	}
}

/* What the replay measured, before or after. */
static void add_measured(struct emitter *json, const struct replay_result *result)
{
	emit_number(json, "iterations", result->count);
	emit_text(json, "mode", result->exact ? "exact" : "structural");
	add_series(json, "live_bytes", result, offsetof(struct replay_sample, live_bytes));
	add_series(json, "peak_bytes", result, offsetof(struct replay_sample, peak_bytes));
	add_series(json, "storages", result, offsetof(struct replay_sample, storages));
	add_series(json, "tensors", result, offsetof(struct replay_sample, tensors));
	add_series(json, "nodes", result, offsetof(struct replay_sample, nodes));
	add_kinds(json, result);
	add_verdict(json, "verdict", &result->bytes);
	add_verdict(json, "nodes_verdict", &result->nodes);
}

/* What is found in the program, with the edits, and the replay after those that
 * change nothing but the curve. */
static void add_after(struct emitter *json, const struct curve *curve)
{
	emit_open_array(json, "findings");
	for (uint32_t i = 0; i < curve->finding_count; i++)
		json_finding(json, NULL, curve->findings[i]);
	emit_close_array(json);
	if (!curve->after) {
		emit_null(json, "after");
		return;
	}
	emit_open_object(json, "after");
	add_measured(json, curve->after);
	emit_close_object(json);
}

void curve_json(const struct curve *curve, struct text *out)
{
	struct emitter json = {.out = out, .indents = true};

	emit_open_object(&json, NULL);
	emit_text(&json, "version", curve->version);
	emit_text(&json, "filename", curve->program->path);
	add_loop(&json, curve);
	add_measured(&json, curve->result);
	add_holders(&json, curve);
	add_after(&json, curve);
	add_end(&json, curve);
	emit_close_object(&json);
	text_add_char(out, '\n');
}
