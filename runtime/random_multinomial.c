/*
 * torch.multinomial. Several with replacement: a binary search in the cumulative weights for each.
 * One, or without: weight / exponential noise, and the largest quotients win (one race for all
 * samples). Sums and quotients are rounded to the weights' precision, as PyTorch keeps them in it.
 */
#include "runtime/random.h"

#include <math.h>
#include <stdlib.h>

struct contender {
	double quotient;
	size_t index;
};

struct scratch {
	double *weights;
	double *cumulative;
	struct contender *contenders;
	bool single; /* round to float */
};

static double rounded(const struct scratch *scratch, double value)
{
	return scratch->single ? (double)(float)value : value;
}

static void *scratch_array(size_t count, size_t size)
{
	void *array = calloc(count ? count : 1, size);

	if (!array)
		abort();
	return array;
}

static bool row_is_valid(const double *weights, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (!(weights[i] >= 0) || isinf(weights[i]))
			return false;
		sum += weights[i];
	}
	return sum > 0;
}

static int compare_contenders(const void *left, const void *right)
{
	const struct contender *a = left;
	const struct contender *b = right;

	if (a->quotient != b->quotient)
		return a->quotient > b->quotient ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void draw_quotients(struct ag_random *random, struct scratch *scratch, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double noise;
		double quotient;

		if (scratch->single) {
			float single;
			ag_random_fill_exponential_f32(random, &single, 1, 1.0);
			noise = (double)single;
		} else {
			ag_random_fill_exponential_f64(random, &noise, 1, 1.0);
		}
		quotient = rounded(scratch, scratch->weights[i] / noise);
		scratch->contenders[i].quotient = isnan(quotient) ? INFINITY : quotient;
		scratch->contenders[i].index = i;
	}
}

static void sample_distinct(struct ag_random *random, struct scratch *scratch, size_t count,
                            int64_t *out, size_t samples)
{
	draw_quotients(random, scratch, count);
	qsort(scratch->contenders, count, sizeof(*scratch->contenders), compare_contenders);
	for (size_t i = 0; i < samples; i++)
		out[i] = (int64_t)scratch->contenders[i].index;
}

static size_t first_not_below(const double *cumulative, size_t count, double value)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (cumulative[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void sample_with_replacement(struct ag_random *random, struct scratch *scratch, size_t count,
                                    int64_t *out, size_t samples)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		sum = rounded(scratch, sum + scratch->weights[i]);
		scratch->cumulative[i] = sum;
	}
	for (size_t i = 0; i < count; i++)
		scratch->cumulative[i] = rounded(scratch, scratch->cumulative[i] / sum);
	scratch->cumulative[count - 1] = 1;
	for (size_t i = 0; i < samples; i++) {
		double value = ag_random_uniform_f64(random);
		out[i] = (int64_t)first_not_below(scratch->cumulative, count, value);
	}
}

struct request {
	const float *singles; /* one of these two holds the weights */
	const double *doubles;
	int64_t *out;
	size_t rows, categories, samples;
	bool replacement;
};

static void load_row(struct scratch *scratch, const struct request *request, size_t row)
{
	for (size_t i = 0; i < request->categories; i++) {
		size_t at = row * request->categories + i;
		scratch->weights[i] =
		        scratch->single ? (double)request->singles[at] : request->doubles[at];
	}
}

static bool all_rows_valid(struct scratch *scratch, const struct request *request)
{
	for (size_t row = 0; row < request->rows; row++) {
		load_row(scratch, request, row);
		if (!row_is_valid(scratch->weights, request->categories))
			return false;
	}
	return true;
}

static bool multinomial(struct ag_random *random, const struct request *request)
{
	struct scratch scratch = {.single = request->singles != NULL};
	size_t samples = request->samples;
	bool valid;

	if (!request->categories || (!request->replacement && samples > request->categories))
		return false;
	scratch.weights = scratch_array(request->categories, sizeof(*scratch.weights));
	scratch.cumulative = scratch_array(request->categories, sizeof(*scratch.cumulative));
	scratch.contenders = scratch_array(request->categories, sizeof(*scratch.contenders));
	valid = all_rows_valid(&scratch, request);
	for (size_t row = 0; valid && row < request->rows; row++) {
		int64_t *out = request->out + row * samples;
		load_row(&scratch, request, row);
		if (request->replacement && samples > 1)
			sample_with_replacement(random, &scratch, request->categories, out,
			                        samples);
		else
			sample_distinct(random, &scratch, request->categories, out, samples);
	}
	free(scratch.weights);
	free(scratch.cumulative);
	free(scratch.contenders);
	return valid;
}

bool ag_random_multinomial_f32(struct ag_random *random, int64_t *out, const float *weights,
                               size_t rows, size_t categories, size_t samples, bool replacement)
{
	struct request request = {.singles = weights,
	                          .out = out,
	                          .rows = rows,
	                          .categories = categories,
	                          .samples = samples,
	                          .replacement = replacement};

	return multinomial(random, &request);
}

bool ag_random_multinomial_f64(struct ag_random *random, int64_t *out, const double *weights,
                               size_t rows, size_t categories, size_t samples, bool replacement)
{
	struct request request = {.doubles = weights,
	                          .out = out,
	                          .rows = rows,
	                          .categories = categories,
	                          .samples = samples,
	                          .replacement = replacement};

	return multinomial(random, &request);
}
