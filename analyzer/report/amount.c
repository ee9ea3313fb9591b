#include "analyzer/report/amount.h"

#include <math.h>

enum { BARS = 8 };

/* With one decimal, rounded as printf rounds what is exact in tenths. */
static void add_tenths(struct text *out, double value)
{
	const uint64_t tenths = (uint64_t)rint(value * 10);

	text_add_number(out, tenths / 10);
	text_add_char(out, '.');
	text_add_number(out, tenths % 10);
}

void amount_bytes(struct text *out, double bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	size_t unit = 0;

	if (bytes < 0) {
		text_add_chars(out, "-");
		bytes = -bytes;
	}
	if (bytes < 1023.5) {
		text_print(out, bytes < 0.05 ? "0" : "%.*f B", bytes == floor(bytes) ? 0 : 1,
		           bytes);
		return;
	}
	for (bytes /= 1024; bytes >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		bytes /= 1024;
	add_tenths(out, bytes);
	text_add_char(out, ' ');
	text_add_chars(out, units[unit]);
}

void amount_count(struct text *out, uint64_t count)
{
	char digits[27]; /* 20 and a comma after each three */
	size_t at = sizeof(digits);

	for (int place = 0; count || !place; place++, count /= 10) {
		if (place && place % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + count % 10);
	}
	text_add(out, digits + at, sizeof(digits) - at);
}

void amount_of(struct text *out, uint64_t count, const char *one, const char *many)
{
	amount_count(out, count);
	text_add_char(out, ' ');
	text_add_chars(out, count == 1 ? one : many);
}

void amount_sparkline(struct text *out, const int64_t *values, uint32_t count)
{
	uint32_t bars = count < BARS ? count : BARS;
	int64_t most = 0, least = INT64_MAX;

	for (uint32_t i = 0; i < count; i++) {
		most = values[i] > most ? values[i] : most;
		least = values[i] < least ? values[i] : least;
	}
	for (uint32_t i = 0; bars > 1 && i < bars; i++) {
		int64_t value = values[(uint64_t)i * (count - 1) / (bars - 1)];
		double part = most > least ? (double)(value - least) / (double)(most - least) : 0;

		text_add_code_point(out, 0x2581 + (uint32_t)(part * 7 + 0.5));
	}
}

void amount_memory(struct text *out, uint64_t bytes)
{
	uint64_t gib = 1ull << 30;

	if (bytes % gib == 0)
		text_print(out, "%llu GiB", (unsigned long long)(bytes / gib));
	else
		amount_bytes(out, (double)bytes);
}

static void add_growth(const struct finding_replay *replay, uint64_t memory_bytes, struct text *out)
{
	if (replay->bytes_per_step >= 0.05) {
		text_add_chars(out, ", +");
		amount_bytes(out, replay->bytes_per_step);
		text_add_chars(out, " per step");
	}
	if (replay->nodes_per_step >= 0.05)
		text_print(out, ", +%.*f node%s per step",
		           replay->nodes_per_step == floor(replay->nodes_per_step) ? 0 : 1,
		           replay->nodes_per_step, replay->nodes_per_step == 1 ? "" : "s");
	if (replay->verdict == EVIDENCE_SUPERLINEAR)
		text_add_chars(out, " and rising");
	text_add_chars(out, "  ");
	amount_sparkline(out, replay->live_bytes, replay->steps);
	if (memory_bytes && replay->bytes_per_step >= 0.05 && replay->verdict == EVIDENCE_LINEAR) {
		text_add_chars(out, "   ");
		amount_memory(out, memory_bytes);
		text_add_chars(out, " lasts ");
		amount_count(out, (uint64_t)((double)memory_bytes / replay->bytes_per_step));
		text_add_chars(out, " steps");
	}
}

bool replay_sentence(const struct finding_replay *replay, uint64_t memory_bytes, struct text *out)
{
	if (replay->verdict == EVIDENCE_NONE) {
		if (replay->reason)
			text_print(out, "not replayed: %s", replay->reason);
		return replay->reason != NULL;
	}
	text_add_chars(out, "replayed ");
	amount_of(out, replay->steps, "step", "steps");
	if (replay->loop)
		text_print(out, " of the loop at %s", replay->loop);
	text_add_chars(out, replay->exact ? " (exact): " : " (structural, at least): ");
	if (replay->shown) {
		text_add_chars(out, replay->shown);
		return true;
	}
	if (replay->steps) {
		amount_bytes(out, (double)replay->live_bytes[0]);
		text_add_chars(out, " → ");
		amount_bytes(out, (double)replay->live_bytes[replay->steps - 1]);
	}
	if (replay->verdict == EVIDENCE_LINEAR || replay->verdict == EVIDENCE_SUPERLINEAR)
		add_growth(replay, memory_bytes, out);
	else
		text_print(out, ", %s", evidence_name(replay->verdict));
	return true;
}
