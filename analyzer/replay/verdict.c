#include <math.h>
#include <stdlib.h>

#include "analyzer/base/bug.h"
#include "analyzer/replay/replay.h"

const char *replay_kind_name(enum replay_kind kind)
{
	static const char *const names[] = {"unknown", "flat",        "bounded",
	                                    "linear",  "superlinear", "shrinking"};

	return names[kind];
}

bool replay_grows(enum replay_kind kind)
{
	return kind == REPLAY_LINEAR || kind == REPLAY_SUPERLINEAR;
}

/* The smallest p with which the differences repeat, 0: none. */
static uint32_t period_of(const double *diffs, uint32_t n)
{
	for (uint32_t p = 1; p <= n / 3; p++) {
		uint32_t i = 0;

		while (i + p < n && diffs[i] == diffs[i + p])
			i++;
		if (i + p == n)
			return p;
	}
	return 0;
}

static double fit_slope(const double *y, uint32_t m)
{
	double mean_x = (m - 1) / 2.0, mean_y = 0, top = 0, bottom = 0;

	for (uint32_t i = 0; i < m; i++)
		mean_y += y[i] / m;
	for (uint32_t i = 0; i < m; i++) {
		top += (i - mean_x) * (y[i] - mean_y);
		bottom += (i - mean_x) * (i - mean_x);
	}
	return top / bottom;
}

static double highest(const double *y, uint32_t n)
{
	double high = y[0];

	for (uint32_t i = 1; i < n; i++)
		high = fmax(high, y[i]);
	return high;
}

static struct replay_verdict irregular(const double *tail, uint32_t m, struct replay_verdict v)
{
	uint32_t third = m / 3 ? m / 3 : 1;
	double rise1 = tail[m / 2] - tail[0], rise2 = tail[m - 1] - tail[m - 1 - m / 2];

	v.slope = fit_slope(tail, m);
	v.exact = false;
	if (m > third && highest(tail + m - third, third) <= highest(tail, m - third))
		v.kind = REPLAY_BOUNDED;
	else if (v.slope <= 0)
		v.kind = REPLAY_SHRINKING;
	else if (rise1 >= 0 && rise2 > 1.15 * rise1)
		v.kind = REPLAY_SUPERLINEAR;
	else if (rise1 > 0 && rise2 < 0.4 * rise1)
		v.kind = REPLAY_BOUNDED;
	else
		v.kind = REPLAY_LINEAR;
	return v;
}

static bool any(const double *at, uint32_t from, uint32_t to)
{
	for (; from < to; from++)
		if (at[from] != 0)
			return true;
	return false;
}

static struct replay_verdict judge(const double *tail, const double *diffs, uint32_t m,
                                   struct replay_verdict v)
{
	uint32_t n = m - 1;
	double total = 0;

	v.exact = true;
	v.kind = REPLAY_FLAT;
	if (!any(diffs, 0, n))
		return v;
	v.kind = REPLAY_BOUNDED;
	if (!any(diffs, n / 2, n)) /* moved, then stopped for good */
		return v;
	v.period = period_of(diffs, n);
	if (!v.period)
		return irregular(tail, m, v);
	for (uint32_t i = 0; i < v.period; i++)
		total += diffs[i];
	if (total == 0)
		return v;
	v.slope = total / v.period;
	v.kind = total > 0 ? REPLAY_LINEAR : REPLAY_SHRINKING;
	return v;
}

struct replay_verdict replay_verdict(const uint64_t *series, uint32_t n)
{
	struct replay_verdict v = {.kind = REPLAY_UNKNOWN};
	double *tail;
	uint32_t m, fifth = n / 5 > 3 ? n / 5 : 3;

	if (n < 4)
		return v;
	v.warmup = n <= 7 ? 1 : fifth < n - 4 ? fifth : n - 4;
	m = n - v.warmup;
	tail = checked_alloc(2 * (size_t)m, sizeof(*tail));
	for (uint32_t i = 0; i < m; i++)
		tail[i] = (double)series[v.warmup + i];
	for (uint32_t i = 0; i + 1 < m; i++)
		tail[m + i] = tail[i + 1] - tail[i];
	v = judge(tail, tail + m, m, v);
	free(tail);
	return v;
}
