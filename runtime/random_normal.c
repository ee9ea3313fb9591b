/*
 * Normal values as PyTorch draws them. Below 16 values: one Box-Muller pair in double at a time,
 * the second value kept for later. From 16 on: uniform values for the whole array first, then
 * Box-Muller on blocks of 16 in place, the last block redrawn if it is not whole. For float32
 * those blocks go through single-precision logarithm, sine and cosine polynomials (Cephes'), with
 * the fused multiply-adds that the AVX2 build has; every rounding step counts.
 */
#include "runtime/random.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 16, HALF_BLOCK = 8 };

static const double pi = 3.14159265358979323846;

double ag_random_normal_f64(struct ag_random *random, double mean, double std)
{
	double turn;
	double length;
	double radius;
	double angle;

	if (random->has_cached_normal) {
		random->has_cached_normal = false;
		return fma(random->cached_normal, std, mean);
	}
	turn = ag_random_uniform_f64(random);
	length = ag_random_uniform_f64(random);
	radius = sqrt(-2.0 * log1p(-length));
	angle = 2.0 * pi * turn;
	random->cached_normal = radius * sin(angle);
	random->has_cached_normal = true;
	return fma(radius * cos(angle), std, mean);
}

/* log(x) for normal x > 0 */
static float log_f32(float x)
{
	static const float coefficients[] = {
	        7.0376836292E-2F,  -1.1514610310E-1F, 1.1676998740E-1F,
	        -1.2420140846E-1F, 1.4249322787E-1F,  -1.6668057665E-1F,
	        2.0000714765E-1F,  -2.4999993993E-1F, 3.3333331174E-1F,
	};
	int exponent;
	float e;
	float y;
	float z;

	x = frexpf(x, &exponent);
	e = (float)exponent;
	if (x < 0.707106781186547524F) {
		e -= 1.0F;
		x = x + x - 1.0F;
	} else {
		x -= 1.0F;
	}
	z = x * x;
	y = coefficients[0];
	for (size_t i = 1; i < sizeof(coefficients) / sizeof(coefficients[0]); i++)
		y = fmaf(y, x, coefficients[i]);
	y = fmaf(y * x, z, e * -2.12194440e-4F);
	y = fmaf(-z, 0.5F, y);
	return fmaf(e, 0.693359375F, x + y);
}

/* Sine and cosine of 0 <= x < 8192 */
static void sincos_f32(float x, float *sine, float *cosine)
{
	int32_t octant = ((int32_t)(x * 1.27323954473516F) + 1) & ~1;
	float y = (float)octant;
	bool swapped = octant & 2;
	float z;
	float small_cos;
	float small_sin;

	x = fmaf(y, -0.78515625F, x);
	x = fmaf(y, -2.4187564849853515625e-4F, x);
	x = fmaf(y, -3.77489497744594108e-8F, x);
	z = x * x;
	small_cos = fmaf(2.443315711809948E-5F, z, -1.388731625493765E-3F);
	small_cos = fmaf(small_cos, z, 4.166664568298827E-2F);
	small_cos = fmaf(small_cos * z, z, -(z * 0.5F)) + 1.0F;
	small_sin = fmaf(-1.9515295891E-4F, z, 8.3321608736E-3F);
	small_sin = fmaf(small_sin, z, -1.6666654611E-1F);
	small_sin = fmaf(small_sin * z, x, x);
	*sine = swapped ? small_cos : small_sin;
	*cosine = swapped ? small_sin : small_cos;
	if (octant & 4)
		*sine = -*sine;
	if ((octant + 2) & 4)
		*cosine = -*cosine;
}

/* Turns 16 uniform values into normal ones, in place. */
static void normal_block_f32(float *data, float mean, float std)
{
	for (int i = 0; i < HALF_BLOCK; i++) {
		float radius = sqrtf(-2.0F * log_f32(1.0F - data[i]));
		float sine;
		float cosine;

		sincos_f32((float)(2.0 * pi) * data[i + HALF_BLOCK], &sine, &cosine);
		data[i] = fmaf(radius * cosine, std, mean);
		data[i + HALF_BLOCK] = fmaf(radius * sine, std, mean);
	}
}

static void normal_block_f64(double *data, double mean, double std)
{
	for (int i = 0; i < HALF_BLOCK; i++) {
		double radius = sqrt(-2.0 * log(1.0 - data[i]));
		double angle = 2.0 * pi * data[i + HALF_BLOCK];

		data[i] = fma(radius * cos(angle), std, mean);
		data[i + HALF_BLOCK] = fma(radius * sin(angle), std, mean);
	}
}

static void few_normals_f32(struct ag_random *random, float *out, size_t count, double mean,
                            double std)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (float)ag_random_normal_f64(random, mean, std);
}

void ag_random_fill_normal_f32(struct ag_random *random, float *out, size_t count, double mean,
                               double std)
{
	if (count < BLOCK) {
		few_normals_f32(random, out, count, mean, std);
		return;
	}
	ag_random_fill_uniform_f32(random, out, count, 0, 1);
	for (size_t i = 0; i + BLOCK <= count; i += BLOCK)
		normal_block_f32(out + i, (float)mean, (float)std);
	if (count % BLOCK != 0) {
		ag_random_fill_uniform_f32(random, out + count - BLOCK, BLOCK, 0, 1);
		normal_block_f32(out + count - BLOCK, (float)mean, (float)std);
	}
}

void ag_random_fill_normal_f64(struct ag_random *random, double *out, size_t count, double mean,
                               double std)
{
	if (count < BLOCK) {
		for (size_t i = 0; i < count; i++)
			out[i] = ag_random_normal_f64(random, mean, std);
		return;
	}
	ag_random_fill_uniform_f64(random, out, count, 0, 1);
	for (size_t i = 0; i + BLOCK <= count; i += BLOCK)
		normal_block_f64(out + i, mean, std);
	if (count % BLOCK != 0) {
		ag_random_fill_uniform_f64(random, out + count - BLOCK, BLOCK, 0, 1);
		normal_block_f64(out + count - BLOCK, mean, std);
	}
}

void ag_random_fill_normal_half(struct ag_random *random, float *out, size_t count, double mean,
                                double std)
{
	if (count < BLOCK) {
		few_normals_f32(random, out, count, mean, std);
		return;
	}
	for (size_t i = 0; i < count; i += BLOCK) {
		float *block = i + BLOCK <= count ? out + i : out + count - BLOCK;
		ag_random_fill_uniform_f32(random, block, BLOCK, 0, 1);
		normal_block_f32(block, (float)mean, (float)std);
	}
}
