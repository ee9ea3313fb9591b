/* A replay for a terminal: the loop, a row for each step with a bar, the
 * verdicts, and what holds the memory. */

#include <string.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/curve.h"
#include "analyzer/report/style.h"

enum { ALL_ROWS = 40, HEAD_ROWS = 12, TAIL_ROWS = 8, BAR = 20, COLUMNS = REPLAY_KINDS + 5 };

struct column {
	const char *title;
	size_t offset; /* in a sample */
	bool bytes;    /* in KiB and so on */
	size_t width;
};

struct table {
	const struct curve *curve;
	struct column at[COLUMNS];
	uint32_t count;
};

static void add_column(struct table *table, const char *title, size_t offset, bool bytes)
{
	table->at[table->count++] = (struct column){title, offset, bytes, strlen(title)};
}

static uint64_t value_at(const struct column *column, const struct replay_sample *sample)
{
	uint64_t value;

	memcpy(&value, (const char *)sample + column->offset, sizeof(value));
	return value;
}

static void add_cell(const struct column *column, uint64_t value, struct text *out)
{
	if (column->bytes)
		amount_bytes(out, (double)value);
	else
		amount_count(out, value);
}

static bool is_shown(const struct replay_result *result, uint32_t row)
{
	return result->count <= ALL_ROWS || row < HEAD_ROWS || row + TAIL_ROWS >= result->count;
}

static bool same_memory(const struct replay_sample *a, const struct replay_sample *b)
{
	return a->live_bytes == b->live_bytes && a->storages == b->storages &&
	       a->tensors == b->tensors && a->nodes == b->nodes &&
	       !memcmp(a->by_kind, b->by_kind, sizeof(a->by_kind));
}

/* The first of rows that repeat is shown, and the last of all. */
static bool repeats(const struct replay_result *result, uint32_t row)
{
	return row > 0 && row + 1 < result->count &&
	       same_memory(&result->samples[row], &result->samples[row - 1]);
}

static void measure_column(struct table *table, struct column *column, struct arena *arena)
{
	const struct replay_result *result = table->curve->result;
	struct text cell = {.arena = arena};

	for (uint32_t i = 0; i < result->count; i++) {
		if (!is_shown(result, i) || repeats(result, i))
			continue;
		text_cut(&cell, 0);
		add_cell(column, value_at(column, &result->samples[i]), &cell);
		if (cell.length > column->width)
			column->width = cell.length;
	}
}

static void open_table(struct table *table, const struct curve *curve, struct arena *arena)
{
	*table = (struct table){.curve = curve};
	add_column(table, "live bytes", offsetof(struct replay_sample, live_bytes), false);
	for (uint32_t i = 0; i < REPLAY_KINDS; i++) {
		const uint32_t kind = curve_order[i];

		if (curve_has_kind(curve->result, kind))
			add_column(table, replay_memory_name(kind),
			           offsetof(struct replay_sample, by_kind) +
			                   kind * sizeof(uint64_t),
			           true);
	}
	add_column(table, "storages", offsetof(struct replay_sample, storages), false);
	add_column(table, "tensors", offsetof(struct replay_sample, tensors), false);
	add_column(table, "nodes", offsetof(struct replay_sample, nodes), false);
	for (uint32_t i = 0; i < table->count; i++)
		measure_column(table, &table->at[i], arena);
}

static void add_right(const char *chars, size_t width, struct text *out)
{
	const size_t length = strlen(chars);

	text_add_repeated(out, ' ', length < width ? width - length : 0);
	text_add_chars(out, chars);
}

/* Nodes are drawn when they alone grow. */
static bool draws_nodes(const struct replay_result *result)
{
	return curve_grows(&result->nodes) && !curve_grows(&result->bytes);
}

static uint64_t drawn(const struct replay_result *result, uint32_t row)
{
	return draws_nodes(result) ? result->samples[row].nodes : result->samples[row].live_bytes;
}

/* From nothing, so that its length is the memory. */
static void add_bar(const struct replay_result *result, uint32_t row, struct text *out)
{
	uint64_t most = 1, eighths;

	for (uint32_t i = 0; i < result->count; i++) {
		if (drawn(result, i) > most)
			most = drawn(result, i);
	}
	eighths = (uint64_t)((double)drawn(result, row) / (double)most * BAR * 8 + 0.5);
	for (; eighths >= 8; eighths -= 8)
		text_add_code_point(out, 0x2588);
	if (eighths)
		text_add_code_point(out, 0x2590 - (uint32_t)eighths);
}

static void add_row(const struct table *table, uint32_t row, struct text *out)
{
	const struct replay_result *result = table->curve->result;
	const struct replay_sample *sample = &result->samples[row];
	struct text cell = {.arena = out->arena};

	text_print(out, "%6u", row + 1);
	for (uint32_t i = 0; i < table->count; i++) {
		text_cut(&cell, 0);
		add_cell(&table->at[i], value_at(&table->at[i], sample), &cell);
		text_add_chars(out, "  ");
		add_right(text_chars(&cell), table->at[i].width, out);
	}
	if (drawn(result, row)) {
		text_add_chars(out, "  ");
		style_on(out, table->curve->color, STYLE_FRAME);
		add_bar(result, row, out);
		style_off(out, table->curve->color, STYLE_FRAME);
	}
	text_add_char(out, '\n');
}

static void add_rows(const struct table *table, struct text *out)
{
	const struct replay_result *result = table->curve->result;
	uint32_t left_out = 0;

	for (uint32_t i = 0; i < result->count; i++) {
		const bool same = repeats(result, i);

		if (same || !is_shown(result, i)) {
			left_out++;
			continue;
		}
		if (left_out)
			text_print(out, "     …  %u more step%s%s\n", left_out,
			           left_out == 1 ? "" : "s",
			           repeats(result, i - 1) ? ", the same" : "");
		left_out = 0;
		add_row(table, i, out);
	}
}

static void add_table(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	struct table table;

	open_table(&table, curve, out->arena);
	style_on(out, curve->color, STYLE_BOLD);
	text_add_chars(out, "  step");
	for (uint32_t i = 0; i < table.count; i++) {
		text_add_chars(out, "  ");
		add_right(table.at[i].title, table.at[i].width, out);
	}
	text_add_chars(out, draws_nodes(result) ? "  (nodes)" : "  (live bytes)");
	style_off(out, curve->color, STYLE_BOLD);
	text_add_char(out, '\n');
	add_rows(&table, out);
	text_add_char(out, '\n');
}

static enum style style_of(const struct curve *curve, const struct replay_verdict *verdict)
{
	if (verdict->kind == REPLAY_UNKNOWN || curve_is_blind(curve->result))
		return STYLE_WARNING;
	return curve_grows(verdict) ? STYLE_ERROR : STYLE_GOOD;
}

static void add_label(const struct curve *curve, const char *label, struct text *out)
{
	style_on(out, curve->color, STYLE_BOLD);
	text_print(out, "%-8s", label);
	style_off(out, curve->color, STYLE_BOLD);
}

static void add_lasts(const struct curve *curve, struct text *out)
{
	const struct replay_verdict *verdict = &curve->result->bytes;

	if (verdict->kind != REPLAY_LINEAR || !curve->memory_bytes || verdict->slope < 0.05)
		return;
	text_add_chars(out, "; ");
	amount_memory(out, curve->memory_bytes);
	text_add_chars(out, curve->result->exact ? " lasts " : " lasts at most ");
	amount_count(out, (uint64_t)((double)curve->memory_bytes / verdict->slope));
	text_add_chars(out, " steps");
}

static void add_verdicts(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;

	add_label(curve, "bytes", out);
	style_on(out, curve->color, style_of(curve, &result->bytes));
	curve_bytes_verdict(result, out);
	style_off(out, curve->color, style_of(curve, &result->bytes));
	add_lasts(curve, out);
	text_add_char(out, '\n');
	add_label(curve, "nodes", out);
	style_on(out, curve->color, style_of(curve, &result->nodes));
	curve_nodes_verdict(result, out);
	style_off(out, curve->color, style_of(curve, &result->nodes));
	text_add_char(out, '\n');
	add_label(curve, "mode", out);
	text_add_chars(out,
	               result->exact ? "exact: every call, shape and value is known\n"
	               : curve_is_blind(result)
	                       ? "structural: no tensor was seen, so the verdict says nothing\n"
	                       : "structural: bytes are a lower bound, because some values "
	                         "are not known\n");
	for (uint32_t i = 0; i < result->stand_in_count; i++) {
		text_add_chars(out, i ? "                      " : "        stood in for: ");
		show_text(out, result->stand_ins[i]);
		text_add_char(out, '\n');
	}
}

static void add_link(const struct curve *curve, uint32_t index, struct text *out)
{
	const struct replay_link *link = &curve->result->chain[index];

	text_add_repeated(out, ' ', 8 + (index ? (size_t)(index - 1) * 2 : 0));
	style_text(out, curve->color, STYLE_FRAME, index ? "└ " : "");
	show_text(out, link->text);
	if (link->source) {
		text_add_chars(out, "  ");
		style_on(out, curve->color, STYLE_SECOND);
		curve_place(link->source, link->line, out);
		style_off(out, curve->color, STYLE_SECOND);
	}
	text_add_char(out, '\n');
}

static void add_chain(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;
	uint32_t length, period;

	if (!curve_has_chain(result))
		return;
	style_text(out, curve->color, STYLE_BOLD, "held by\n");
	length = curve_chain_length(result, &period);
	for (uint32_t i = 0; i < length; i++)
		add_link(curve, i, out);
	if (period)
		text_print(out, "%*s… and so on, the last %u again and again\n",
		           (int)(8 + (length - 1) * 2), "", period);
}

static void add_fix(const struct curve *curve, const struct finding *finding,
                    const struct finding_fix *fix, struct text *out)
{
	const uint32_t line = source_line_at(finding->source, finding->span.start) + 1;

	text_add_chars(out, "        ");
	style_on(out, curve->color, STYLE_SECOND);
	curve_place(finding->source, line, out);
	style_off(out, curve->color, STYLE_SECOND);
	text_add_chars(out, "  ");
	show_text(out, fix->title);
	if (!fix->safe)
		text_print(out, " (changes %s)", fix->changes);
	text_print(out, ": %s\n", fix->replayed);
}

static void add_after(const struct curve *curve, struct text *out)
{
	if (!curve->after)
		return;
	style_text(out, curve->color, STYLE_BOLD, "fix\n");
	for (uint32_t i = 0; i < curve->finding_count; i++) {
		for (uint32_t k = 0; k < curve->findings[i]->fixes.count; k++)
			add_fix(curve, curve->findings[i], &curve->findings[i]->fixes.at[k], out);
	}
	add_label(curve, "after", out);
	style_on(out, curve->color, style_of(curve, &curve->after->bytes));
	text_add_chars(out, "bytes ");
	curve_bytes_verdict(curve->after, out);
	text_add_chars(out, "; nodes ");
	curve_nodes_verdict(curve->after, out);
	style_off(out, curve->color, style_of(curve, &curve->after->bytes));
	text_add_char(out, '\n');
}

static void add_claim(const struct curve *curve, struct text *out)
{
	if (!curve->claim)
		return;
	add_label(curve, "assert", out);
	text_print(out, "%s: ", curve->claim);
	style_text(out, curve->color, curve->holds ? STYLE_GOOD : STYLE_ERROR,
	           curve->holds  ? "holds"
	           : curve->told ? "does not hold"
	                         : "cannot be told");
	if (curve->holds && !curve->result->exact)
		text_add_chars(out, ", as far as a structural replay shows");
	text_add_char(out, '\n');
}

static void add_heading(const struct curve *curve, struct text *out)
{
	const struct replay_result *result = curve->result;

	curve_heading(curve->source, result->loop_line, curve->color, out);
	if (curve_is_of_calls(result)) {
		text_add_chars(out, ", its function called ");
		amount_of(out, result->count, "time", "times");
	} else {
		if (result->loop_function) {
			text_add_chars(out, " in ");
			show_text(out, result->loop_function);
		}
		text_add_chars(out, ", replayed ");
		amount_of(out, result->count, "step", "steps");
	}
	curve_run_by(curve->source, curve->program, out);
	text_add_chars(out, "\n\n");
}

void curve_text(const struct curve *curve, struct text *out)
{
	add_heading(curve, out);
	if (curve->result->count)
		add_table(curve, out);
	add_verdicts(curve, out);
	add_chain(curve, out);
	add_after(curve, out);
	add_claim(curve, out);
}
