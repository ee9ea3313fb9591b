/* Dtypes: sizes, promotion, conversion of elements. */

#include <math.h>
#include <string.h>

#include "runtime/element.h"

static const struct {
	const char *name;
	uint8_t size;
	uint8_t category;
	const char *spellings;
} dtypes[AG_DTYPE_COUNT] = {
#define DTYPE(id, name, size, category, text) [AG_##id] = {name, size, category, text},
#include "runtime/dtypes.def"
#undef DTYPE
};

size_t ag_dtype_size(enum ag_dtype dtype)
{
	return dtype < AG_DTYPE_COUNT ? dtypes[dtype].size : 0;
}

const char *ag_dtype_name(enum ag_dtype dtype)
{
	return dtype < AG_DTYPE_COUNT ? dtypes[dtype].name : "";
}

int ag_category(enum ag_dtype dtype)
{
	return dtypes[dtype].category;
}

bool ag_dtype_is_float(enum ag_dtype dtype)
{
	return dtype < AG_DTYPE_COUNT && dtypes[dtype].category >= 2;
}

static bool in_list(const char *list, const char *name)
{
	size_t length = strlen(name);

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == length && !memcmp(list, name, n))
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

bool ag_dtype_find(const char *name, enum ag_dtype *dtype)
{
	int i;

	for (i = 0; i < AG_DTYPE_COUNT; i++) {
		if (!strcmp(dtypes[i].name, name) || in_list(dtypes[i].spellings, name)) {
			*dtype = (enum ag_dtype)i;
			return true;
		}
	}
	return false;
}

enum ag_dtype ag_promote(enum ag_dtype a, enum ag_dtype b)
{
	enum ag_dtype high = a > b ? a : b, low = a > b ? b : a;

	if (high == AG_C64 && low == AG_F64)
		return AG_C128;
	if (high == AG_BF16 && low == AG_F16)
		return AG_F32;
	if (low == AG_U8 && high == AG_I8)
		return AG_I16;
	return high;
}

float ag_half_to_float(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, bits;
	int exponent = (half >> 10) & 31;
	uint32_t fraction = half & 1023;
	float out;

	if (exponent == 0) {
		out = ldexpf((float)fraction, -24);
		return sign ? -out : out;
	}
	if (exponent == 31)
		bits = sign | 0x7f800000u | fraction << 13;
	else
		bits = sign | (uint32_t)(exponent + 112) << 23 | fraction << 13;
	memcpy(&out, &bits, sizeof(out));
	return out;
}

uint16_t ag_float_to_half(float value)
{
	uint32_t bits, sign, fraction;
	int exponent;
	double scaled;

	memcpy(&bits, &value, sizeof(bits));
	sign = bits >> 16 & 0x8000;
	if (isnan(value))
		return (uint16_t)(sign | 0x7e00);
	if (fabsf(value) >= 65520.0f)
		return (uint16_t)(sign | 0x7c00);
	if (fabsf(value) < 6.103515625e-05f)
		return (uint16_t)(sign | (uint32_t)nearbyint(ldexp(fabs((double)value), 24)));
	scaled = frexp(fabs((double)value), &exponent); /* in [0.5, 1) */
	fraction = (uint32_t)nearbyint(ldexp(scaled, 11));
	return (uint16_t)(sign + ((uint32_t)(exponent + 13) << 10) + fraction);
}

uint16_t ag_float_to_bfloat(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (isnan(value))
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float bfloat_to_float(uint16_t half)
{
	uint32_t bits = (uint32_t)half << 16;
	float out;

	memcpy(&out, &bits, sizeof(out));
	return out;
}

/* Expands its argument once per dtype with the C type and conversions. */
#define EACH_DTYPE(PLAIN)                                                                          \
	case AG_BOOL8:                                                                             \
	case AG_U8:                                                                                \
		PLAIN(uint8_t);                                                                    \
		break;                                                                             \
	case AG_I8:                                                                                \
		PLAIN(int8_t);                                                                     \
		break;                                                                             \
	case AG_I16:                                                                               \
		PLAIN(int16_t);                                                                    \
		break;                                                                             \
	case AG_I32:                                                                               \
		PLAIN(int32_t);                                                                    \
		break;                                                                             \
	case AG_I64:                                                                               \
		PLAIN(int64_t);                                                                    \
		break;                                                                             \
	case AG_F32:                                                                               \
		PLAIN(float);                                                                      \
		break;                                                                             \
	case AG_F64:                                                                               \
		PLAIN(double);                                                                     \
		break;

void ag_load_row(enum ag_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                 double *out)
{
	int64_t i;

	switch (dtype) {
#define LOAD(T)                                                                                    \
	for (i = 0; i < n; i++)                                                                    \
	out[i] = (double)((const T *)data)[at + i * stride]
		EACH_DTYPE(LOAD)
#undef LOAD
	case AG_F16:
		for (i = 0; i < n; i++)
			out[i] = ag_half_to_float(((const uint16_t *)data)[at + i * stride]);
		break;
	case AG_BF16:
		for (i = 0; i < n; i++)
			out[i] = bfloat_to_float(((const uint16_t *)data)[at + i * stride]);
		break;
	case AG_C64:
		for (i = 0; i < n; i++)
			out[i] = ((const float *)data)[2 * (at + i * stride)];
		break;
	case AG_C128:
		for (i = 0; i < n; i++)
			out[i] = ((const double *)data)[2 * (at + i * stride)];
		break;
	case AG_DTYPE_COUNT:
		break;
	}
}

void ag_store_row(enum ag_dtype dtype, void *data, int64_t at, int64_t stride, int64_t n,
                  const double *in)
{
	int64_t i;

	switch (dtype) {
	case AG_BOOL8:
		for (i = 0; i < n; i++)
			((uint8_t *)data)[at + i * stride] = in[i] != 0;
		break;
#define STORE(id, T)                                                                               \
	case id:                                                                                   \
		for (i = 0; i < n; i++)                                                            \
			((T *)data)[at + i * stride] = (T)ag_to_int(in[i]);                        \
		break;
		STORE(AG_U8, uint8_t)
		STORE(AG_I8, int8_t)
		STORE(AG_I16, int16_t)
		STORE(AG_I32, int32_t)
		STORE(AG_I64, int64_t)
#undef STORE
	case AG_F32:
		for (i = 0; i < n; i++)
			((float *)data)[at + i * stride] = (float)in[i];
		break;
	case AG_F64:
		for (i = 0; i < n; i++)
			((double *)data)[at + i * stride] = in[i];
		break;
	case AG_F16:
		for (i = 0; i < n; i++)
			((uint16_t *)data)[at + i * stride] = ag_float_to_half((float)in[i]);
		break;
	case AG_BF16:
		for (i = 0; i < n; i++)
			((uint16_t *)data)[at + i * stride] = ag_float_to_bfloat((float)in[i]);
		break;
	case AG_C64:
		for (i = 0; i < n; i++) {
			((float *)data)[2 * (at + i * stride)] = (float)in[i];
			((float *)data)[2 * (at + i * stride) + 1] = 0;
		}
		break;
	case AG_C128:
		for (i = 0; i < n; i++) {
			((double *)data)[2 * (at + i * stride)] = in[i];
			((double *)data)[2 * (at + i * stride) + 1] = 0;
		}
		break;
	case AG_DTYPE_COUNT:
		break;
	}
}

void ag_load_ints(enum ag_dtype dtype, const void *data, int64_t at, int64_t stride, int64_t n,
                  int64_t *out)
{
	int64_t i;
	double value;

	switch (dtype) {
#define LOAD(T)                                                                                    \
	for (i = 0; i < n; i++)                                                                    \
	out[i] = (int64_t)((const T *)data)[at + i * stride]
	case AG_BOOL8:
	case AG_U8:
		LOAD(uint8_t);
		break;
	case AG_I8:
		LOAD(int8_t);
		break;
	case AG_I16:
		LOAD(int16_t);
		break;
	case AG_I32:
		LOAD(int32_t);
		break;
	case AG_I64:
		LOAD(int64_t);
		break;
#undef LOAD
	default:
		for (i = 0; i < n; i++) {
			ag_load_row(dtype, data, at + i * stride, 1, 1, &value);
			out[i] = ag_to_int(value);
		}
		break;
	}
}

void ag_store_ints(enum ag_dtype dtype, void *data, int64_t at, int64_t stride, int64_t n,
                   const int64_t *in)
{
	int64_t i;
	double value;

	switch (dtype) {
	case AG_BOOL8:
		for (i = 0; i < n; i++)
			((uint8_t *)data)[at + i * stride] = in[i] != 0;
		break;
#define STORE(id, T)                                                                               \
	case id:                                                                                   \
		for (i = 0; i < n; i++)                                                            \
			((T *)data)[at + i * stride] = (T)in[i];                                   \
		break;
		STORE(AG_U8, uint8_t)
		STORE(AG_I8, int8_t)
		STORE(AG_I16, int16_t)
		STORE(AG_I32, int32_t)
		STORE(AG_I64, int64_t)
#undef STORE
	default:
		for (i = 0; i < n; i++) {
			value = (double)in[i];
			ag_store_row(dtype, data, at + i * stride, 1, 1, &value);
		}
		break;
	}
}

double ag_load_double(enum ag_dtype dtype, const void *data, int64_t at)
{
	double value = 0;

	ag_load_row(dtype, data, at, 1, 1, &value);
	return value;
}

int64_t ag_load_int(enum ag_dtype dtype, const void *data, int64_t at)
{
	int64_t value = 0;

	ag_load_ints(dtype, data, at, 1, 1, &value);
	return value;
}

void ag_store_double(enum ag_dtype dtype, void *data, int64_t at, double value)
{
	ag_store_row(dtype, data, at, 1, 1, &value);
}

void ag_store_int(enum ag_dtype dtype, void *data, int64_t at, int64_t value)
{
	ag_store_ints(dtype, data, at, 1, 1, &value);
}
