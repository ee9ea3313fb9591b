#include "runtime/init.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t ag_array_numel(const struct ag_array *array)
{
	int64_t numel = 1;

	for (int i = 0; i < array->ndim; i++)
		numel *= array->shape[i];
	return numel;
}

bool ag_init_fans(const struct ag_array *array, int64_t *fan_in, int64_t *fan_out)
{
	int64_t field = 1;

	if (array->ndim < 2)
		return false;
	for (int i = 2; i < array->ndim; i++)
		field *= array->shape[i];
	*fan_in = array->shape[1] * field;
	*fan_out = array->shape[0] * field;
	return true;
}

bool ag_init_gain(const char *nonlinearity, double slope, double *gain)
{
	static const char *const ones[] = {
	        "linear",           "conv1d",           "conv2d",           "conv3d",
	        "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
	};

	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++) {
		if (strcmp(nonlinearity, ones[i]) == 0) {
			*gain = 1;
			return true;
		}
	}
	if (strcmp(nonlinearity, "tanh") == 0)
		*gain = 5.0 / 3;
	else if (strcmp(nonlinearity, "relu") == 0)
		*gain = sqrt(2.0);
	else if (strcmp(nonlinearity, "leaky_relu") == 0)
		*gain = sqrt(2.0 / (1 + pow(slope, 2)));
	else if (strcmp(nonlinearity, "selu") == 0)
		*gain = 3.0 / 4;
	else
		return false;
	return true;
}

void ag_init_constant(struct ag_array *array, double value)
{
	int64_t numel = ag_array_has_data(array) ? ag_array_numel(array) : 0;

	for (int64_t i = 0; i < numel; i++)
		ag_array_set(array, i, value);
}

void ag_init_uniform(struct ag_random *random, struct ag_array *array, double from, double to)
{
	size_t count = (size_t)ag_array_numel(array);

	if (array->f32)
		ag_random_fill_uniform_f32(random, array->f32, count, from, to);
	else if (array->f64)
		ag_random_fill_uniform_f64(random, array->f64, count, from, to);
}

void ag_init_normal(struct ag_random *random, struct ag_array *array, double mean, double std)
{
	size_t count = (size_t)ag_array_numel(array);

	if (array->f32)
		ag_random_fill_normal_f32(random, array->f32, count, mean, std);
	else if (array->f64)
		ag_random_fill_normal_f64(random, array->f64, count, mean, std);
}

bool ag_init_xavier_uniform(struct ag_random *random, struct ag_array *array, double gain)
{
	int64_t fan_in;
	int64_t fan_out;
	double bound;

	if (!ag_init_fans(array, &fan_in, &fan_out))
		return false;
	bound = sqrt(3.0) * (gain * sqrt(2.0 / (double)(fan_in + fan_out)));
	ag_init_uniform(random, array, -bound, bound);
	return true;
}

bool ag_init_xavier_normal(struct ag_random *random, struct ag_array *array, double gain)
{
	int64_t fan_in;
	int64_t fan_out;

	if (!ag_init_fans(array, &fan_in, &fan_out))
		return false;
	ag_init_normal(random, array, 0, gain * sqrt(2.0 / (double)(fan_in + fan_out)));
	return true;
}

/* The standard deviation of He's scheme; 0 for an array without elements. */
static bool kaiming_std(const struct ag_array *array, double slope, enum ag_fan fan,
                        const char *nonlinearity, double *std)
{
	int64_t fan_in;
	int64_t fan_out;
	double gain;

	*std = 0;
	if (ag_array_numel(array) == 0)
		return true;
	if (!ag_init_fans(array, &fan_in, &fan_out) || !ag_init_gain(nonlinearity, slope, &gain))
		return false;
	*std = gain / sqrt((double)(fan == AG_FAN_IN ? fan_in : fan_out));
	return true;
}

bool ag_init_kaiming_uniform(struct ag_random *random, struct ag_array *array, double slope,
                             enum ag_fan fan, const char *nonlinearity)
{
	double std;
	double bound;

	if (!kaiming_std(array, slope, fan, nonlinearity, &std))
		return false;
	bound = sqrt(3.0) * std;
	ag_init_uniform(random, array, -bound, bound);
	return true;
}

bool ag_init_kaiming_normal(struct ag_random *random, struct ag_array *array, double slope,
                            enum ag_fan fan, const char *nonlinearity)
{
	double std;

	if (!kaiming_std(array, slope, fan, nonlinearity, &std))
		return false;
	ag_init_normal(random, array, 0, std);
	return true;
}

bool ag_init_sparse(struct ag_random *random, struct ag_array *array, double sparsity, double std)
{
	int64_t rows;
	int64_t columns;
	int64_t zeros;
	int64_t *order;

	if (array->ndim != 2)
		return false;
	if (!ag_array_has_data(array))
		return true;
	rows = array->shape[0];
	columns = array->shape[1];
	/* NaN is none; beyond the rows there is nothing. */
	zeros = sparsity > 0 ? (int64_t)ceil(fmin(sparsity, 1) * (double)rows) : 0;
	order = calloc(rows ? (size_t)rows : 1, sizeof(*order));
	if (!order)
		abort();
	ag_init_normal(random, array, 0, std);
	for (int64_t column = 0; column < columns; column++) {
		ag_random_fill_permutation(random, order, (size_t)rows);
		for (int64_t i = 0; i < zeros && i < rows; i++)
			ag_array_set(array, order[i] * columns + column, 0);
	}
	free(order);
	return true;
}

bool ag_init_eye(struct ag_array *array)
{
	if (array->ndim != 2)
		return false;
	ag_init_constant(array, 0);
	for (int64_t i = 0; ag_array_has_data(array) && i < array->shape[0] && i < array->shape[1];
	     i++)
		ag_array_set(array, i * array->shape[1] + i, 1);
	return true;
}

/* The index of the middle of output channel `row`'s filter for input channel `channel`. */
static int64_t filter_middle(const struct ag_array *array, int64_t row, int64_t channel)
{
	int64_t index = row * array->shape[1] + channel;

	for (int i = 2; i < array->ndim; i++)
		index = index * array->shape[i] + array->shape[i] / 2;
	return index;
}

bool ag_init_dirac(struct ag_array *array, int64_t groups)
{
	int64_t rows;

	if (array->ndim < 3 || array->ndim > 5 || groups <= 0 || array->shape[0] % groups != 0)
		return false;
	ag_init_constant(array, 0);
	rows = array->shape[0] / groups;
	for (int64_t group = 0; ag_array_has_data(array) && rows > 0 && group < groups; group++) {
		for (int64_t i = 0; i < rows && i < array->shape[1]; i++)
			ag_array_set(array, filter_middle(array, group * rows + i, i), 1);
	}
	return true;
}

bool ag_init_linear(struct ag_random *random, struct ag_array *weight, struct ag_array *bias)
{
	int64_t fan_in;
	int64_t fan_out;
	double bound;

	if (!ag_init_fans(weight, &fan_in, &fan_out))
		return false;
	ag_init_kaiming_uniform(random, weight, sqrt(5.0), AG_FAN_IN, "leaky_relu");
	if (bias) {
		bound = fan_in > 0 ? 1 / sqrt((double)fan_in) : 0;
		ag_init_uniform(random, bias, -bound, bound);
	}
	return true;
}

bool ag_init_bilinear(struct ag_random *random, struct ag_array *weight, struct ag_array *bias)
{
	double bound;

	if (weight->ndim != 3 || weight->shape[1] <= 0)
		return false;
	bound = 1 / sqrt((double)weight->shape[1]);
	ag_init_uniform(random, weight, -bound, bound);
	if (bias)
		ag_init_uniform(random, bias, -bound, bound);
	return true;
}

void ag_init_embedding(struct ag_random *random, struct ag_array *weight, int64_t padding_idx)
{
	int64_t width = weight->shape[1];

	ag_init_normal(random, weight, 0, 1);
	if (padding_idx < 0 || padding_idx >= weight->shape[0] || !ag_array_has_data(weight))
		return;
	for (int64_t i = 0; i < width; i++)
		ag_array_set(weight, padding_idx * width + i, 0);
}

void ag_init_recurrent(struct ag_random *random, struct ag_array *parameters, uint32_t count,
                       int64_t hidden_size)
{
	double bound = hidden_size > 0 ? 1.0 / sqrt((double)hidden_size) : 0;

	for (uint32_t i = 0; i < count; i++)
		ag_init_uniform(random, &parameters[i], -bound, bound);
}

void ag_init_attention(struct ag_random *random, struct ag_attention_arrays *arrays)
{
	/* The output projection is made first, as a linear layer; its bias is cleared after. */
	ag_init_linear(random, arrays->out_weight, arrays->out_bias);
	if (arrays->in_weight) {
		ag_init_xavier_uniform(random, arrays->in_weight, 1);
	} else {
		ag_init_xavier_uniform(random, arrays->q_weight, 1);
		ag_init_xavier_uniform(random, arrays->k_weight, 1);
		ag_init_xavier_uniform(random, arrays->v_weight, 1);
	}
	if (arrays->in_bias) {
		ag_init_constant(arrays->in_bias, 0);
		ag_init_constant(arrays->out_bias, 0);
	}
	if (arrays->k_bias)
		ag_init_xavier_normal(random, arrays->k_bias, 1);
	if (arrays->v_bias)
		ag_init_xavier_normal(random, arrays->v_bias, 1);
}
