/* The caching allocator model in words: PyTorch's summary table and out-of-memory text. */
#include "runtime/caching_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { AMOUNT_SIZE = 32 };

/* Text into a buffer of fixed size; `length` counts what does not fit, too. */
struct report {
	char *out;
	size_t size, length;
};

static void __attribute__((format(printf, 2, 3)))
report_add(struct report *report, const char *format, ...)
{
	size_t room = report->length < report->size ? report->size - report->length : 0;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(room ? report->out + report->length : NULL, room, format, args);
	va_end(args);
	if (length > 0)
		report->length += (size_t)length;
}

/* "  9216 KiB": the next unit from 768 * 1024 on, as PyTorch chooses it. */
static const char *amount(char *out, uint64_t value, bool is_bytes)
{
	static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	static const char *const count_units[] = {"", "K", "M"};
	const char *const *units = is_bytes ? byte_units : count_units;
	size_t last = is_bytes ? 5 : 2;
	uint64_t step = is_bytes ? 1024 : 1000;
	uint64_t most = is_bytes ? 768 * step : 750 * step;
	size_t unit = 0;

	while (unit < last && value >= most) {
		value /= step;
		unit++;
	}
	snprintf(out, AMOUNT_SIZE, "%6" PRIu64 " %-3s", value, units[unit]);
	return out;
}

static void add_row(struct report *report, const char *title, const struct ag_caching_stat *stat,
                    bool is_bytes)
{
	char text[4][AMOUNT_SIZE];

	report_add(report, "| %-22s | %s | %s | %s | %s |\n", title,
	           amount(text[0], stat->current, is_bytes), amount(text[1], stat->peak, is_bytes),
	           amount(text[2], stat->added, is_bytes),
	           amount(text[3], stat->removed, is_bytes));
}

static const struct {
	const char *title;
	bool is_bytes;
} metrics[] = {
#define METRIC(id, title, is_bytes) {title, is_bytes},
#include "runtime/caching_metrics.def"
#undef METRIC
};

size_t ag_caching_summary(const struct ag_caching *caching, char *out, size_t size)
{
	static const char *const pools[] = {NULL, "      from large pool", "      from small pool"};
	static const char rule[] = "|------------------------|------------|------------|"
	                           "------------|------------|\n";
	struct report report = {out, size, 0};

	report_add(&report, "| %-22s | %-10s | %-10s | %-10s | %-10s |\n", "Modelled CUDA memory",
	           "Cur", "Peak", "Tot alloc", "Tot freed");
	for (int metric = 0; metric < AG_CACHING_METRICS; metric++) {
		report_add(&report, "%s", rule);
		for (int pool = 0; pool < AG_CACHING_POOLS; pool++) {
			const char *title = pools[pool] ? pools[pool] : metrics[metric].title;
			add_row(&report, title, &caching->stats[metric][pool],
			        metrics[metric].is_bytes);
		}
	}
	report_add(&report, "%s", rule);
	report_add(&report, "CUDA OOMs: %" PRIu64 "  cudaMalloc retries: %" PRIu64 "\n",
	           caching->failures, caching->retries);
	return report.length;
}

static const char *in_words(char *out, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (unit < 3 && value >= 1024) {
		value /= 1024;
		unit++;
	}
	snprintf(out, AMOUNT_SIZE, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
	return out;
}

size_t ag_caching_failure_text(const struct ag_caching *caching, uint64_t bytes, char *out,
                               size_t size)
{
	const struct ag_caching_stat *allocated =
	        &caching->stats[AG_CACHING_ALLOCATED_BYTES][AG_CACHING_ALL];
	const struct ag_caching_stat *reserved =
	        &caching->stats[AG_CACHING_RESERVED_BYTES][AG_CACHING_ALL];
	uint64_t total = caching->options.device_bytes;
	struct report report = {out, size, 0};
	char text[5][AMOUNT_SIZE];

	report_add(
	        &report,
	        "CUDA out of memory. Tried to allocate %s. GPU 0 has a total capacity of %s of "
	        "which %s is free. Of the allocated memory %s is allocated by PyTorch, and %s is "
	        "reserved by PyTorch but unallocated.",
	        in_words(text[0], bytes), in_words(text[1], total),
	        in_words(text[2], total - reserved->current), in_words(text[3], allocated->current),
	        in_words(text[4], reserved->current - allocated->current));
	return report.length;
}
