/*
 * torch.nn.init and the initial values of torch.nn's layers, drawn from the generator in
 * PyTorch's order, so that a seeded network starts from PyTorch's numbers, bit for bit (the
 * orthogonal ones to rounding: they pass through a QR factorisation). Works on plain contiguous
 * arrays in row order; the caller owns them. An array without data is a meta tensor: nothing is
 * drawn for it. Functions return false where PyTorch raises; nothing is drawn then.
 */
#ifndef GRAPHLINT_RUNTIME_INIT_H
#define GRAPHLINT_RUNTIME_INIT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/random.h"

struct ag_array {
	float *f32; /* one of these two holds the values, or none */
	double *f64;
	const int64_t *shape;
	int ndim;
};

int64_t ag_array_numel(const struct ag_array *array);

static inline bool ag_array_has_data(const struct ag_array *array)
{
	return array->f32 || array->f64;
}

static inline double ag_array_get(const struct ag_array *array, int64_t index)
{
	return array->f32 ? (double)array->f32[index] : array->f64[index];
}

static inline void ag_array_set(struct ag_array *array, int64_t index, double value)
{
	if (array->f32)
		array->f32[index] = (float)value;
	else
		array->f64[index] = value;
}

enum ag_fan { AG_FAN_IN, AG_FAN_OUT };

/* False below two dimensions. */
bool ag_init_fans(const struct ag_array *array, int64_t *fan_in, int64_t *fan_out);
/* calculate_gain; `slope` is read for "leaky_relu" only (0.01 is torch's default). */
bool ag_init_gain(const char *nonlinearity, double slope, double *gain);

void ag_init_constant(struct ag_array *array, double value);
void ag_init_uniform(struct ag_random *random, struct ag_array *array, double from, double to);
void ag_init_normal(struct ag_random *random, struct ag_array *array, double mean, double std);
/* How many draws one value of a truncated normal takes, on average. */
double ag_init_trunc_rounds(double mean, double std, double from, double to);
/* Torch's defaults: mean 0, std 1, from -2, to 2. */
bool ag_init_trunc_normal(struct ag_random *random, struct ag_array *array, double mean, double std,
                          double from, double to);
bool ag_init_xavier_uniform(struct ag_random *random, struct ag_array *array, double gain);
bool ag_init_xavier_normal(struct ag_random *random, struct ag_array *array, double gain);
/* `slope` is torch's `a`; torch's defaults: 0, AG_FAN_IN, "leaky_relu". */
bool ag_init_kaiming_uniform(struct ag_random *random, struct ag_array *array, double slope,
                             enum ag_fan fan, const char *nonlinearity);
bool ag_init_kaiming_normal(struct ag_random *random, struct ag_array *array, double slope,
                            enum ag_fan fan, const char *nonlinearity);
bool ag_init_orthogonal(struct ag_random *random, struct ag_array *array, double gain);
bool ag_init_sparse(struct ag_random *random, struct ag_array *array, double sparsity, double std);
bool ag_init_eye(struct ag_array *array);
bool ag_init_dirac(struct ag_array *array, int64_t groups);

/* Layers. `bias` may be NULL. Norm layers are ag_init_constant: weight 1, bias 0. */

/* Linear, LazyLinear, Conv*d, ConvTranspose*d */
bool ag_init_linear(struct ag_random *random, struct ag_array *weight, struct ag_array *bias);
bool ag_init_bilinear(struct ag_random *random, struct ag_array *weight, struct ag_array *bias);
/* Embedding, EmbeddingBag; padding_idx < 0: none */
void ag_init_embedding(struct ag_random *random, struct ag_array *weight, int64_t padding_idx);
/* RNN, LSTM, GRU and their cells: the parameters in the module's order */
void ag_init_recurrent(struct ag_random *random, struct ag_array *parameters, uint32_t count,
                       int64_t hidden_size);

/* MultiheadAttention's parameters; NULL where the module has none. */
struct ag_attention_arrays {
	struct ag_array *in_weight; /* or the next three */
	struct ag_array *q_weight, *k_weight, *v_weight;
	struct ag_array *in_bias;
	struct ag_array *out_weight, *out_bias;
	struct ag_array *k_bias, *v_bias; /* bias_k, bias_v */
};
void ag_init_attention(struct ag_random *random, struct ag_attention_arrays *arrays);

#endif
