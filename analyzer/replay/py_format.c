#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/py.h"

enum { MAX_PRECISION = 1000, MAX_WIDTH = 1 << 20 };

/* [[fill]align][sign][#][0][width][,_][.precision][type] */
struct spec {
	char fill[5];
	char align; /* 0: by type */
	char sign;
	bool alternate, zero;
	int64_t width;
	char grouping;
	int64_t precision; /* -1: none */
	char type;
};

static size_t char_length(const char *at)
{
	unsigned char c = (unsigned char)*at;

	return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static bool is_align(char c)
{
	return c == '<' || c == '>' || c == '^' || c == '=';
}

static int64_t spec_number(const char **at, const char *end)
{
	int64_t n = 0;

	while (*at < end && isdigit((unsigned char)**at) && n < MAX_WIDTH)
		n = n * 10 + *(*at)++ - '0';
	return n < MAX_WIDTH ? n : MAX_WIDTH;
}

static bool spec_parse(const char *at, size_t length, struct spec *spec)
{
	const char *end = at + length;
	size_t first = length ? char_length(at) : 0;

	memset(spec, 0, sizeof(*spec));
	spec->fill[0] = ' ';
	spec->precision = -1;
	if (length > first && is_align(at[first])) {
		memcpy(spec->fill, at, first);
		spec->fill[first] = 0;
		spec->align = at[first];
		at += first + 1;
	} else if (length && is_align(*at)) {
		spec->align = *at++;
	}
	if (at < end && (*at == '+' || *at == '-' || *at == ' '))
		spec->sign = *at++;
	if (at < end && *at == 'z')
		at++;
	if (at < end && *at == '#')
		spec->alternate = true, at++;
	if (at < end && *at == '0')
		spec->zero = true, at++;
	spec->width = spec_number(&at, end);
	if (at < end && (*at == ',' || *at == '_'))
		spec->grouping = *at++;
	if (at < end && *at == '.') {
		at++;
		spec->precision = spec_number(&at, end);
	}
	if (at < end)
		spec->type = *at++;
	return at == end;
}

static uint32_t chars_in(const char *at, size_t length)
{
	uint32_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)at[i] & 0xc0) != 0x80;
	return n;
}

static void fill(struct text *out, const struct spec *spec, int64_t count)
{
	for (; count > 0; count--)
		text_add_chars(out, spec->fill);
}

static void pad_into(struct text *out, const struct spec *spec, const char *at, size_t length,
                     char align)
{
	int64_t room = spec->width - chars_in(at, length), left;

	if (spec->align)
		align = spec->align;
	left = room <= 0 ? 0 : align == '>' || align == '=' ? room : align == '^' ? room / 2 : 0;
	fill(out, spec, left);
	text_add(out, at, length);
	fill(out, spec, room - left);
}

/* Digits in groups of three (four for other bases), filled up with zeros. */
static void group_digits(struct text *out, const char *digits, size_t length, char mark, int size,
                         int64_t least)
{
	size_t total = length;

	if (least > 0)
		while ((int64_t)(total + (total - 1) / (size_t)size) < least)
			total++;
	for (size_t i = 0; i < total; i++) {
		size_t left = total - i;

		if (i && left % (size_t)size == 0)
			text_add_char(out, mark);
		text_add_char(out, left > length ? '0' : digits[length - left]);
	}
}

static void number_into(struct text *out, const struct spec *spec, bool negative,
                        const char *prefix, const char *body, int group)
{
	struct arena scratch = {0};
	struct text head = {.arena = &scratch}, digits = {.arena = &scratch};
	size_t whole = strspn(body, group == 4 ? "0123456789abcdefABCDEF" : "0123456789");
	char align = spec->align ? spec->align : spec->zero ? '=' : '>';
	struct spec inner = *spec;
	int64_t room;

	if (spec->zero && !spec->align)
		inner.fill[0] = '0', inner.fill[1] = 0;
	if (negative)
		text_add_char(&head, '-');
	else if (spec->sign == '+' || spec->sign == ' ')
		text_add_char(&head, spec->sign);
	text_add_chars(&head, prefix);
	if (spec->grouping) {
		int64_t least =
		        align == '=' && inner.fill[0] == '0'
		                ? spec->width - (int64_t)head.length - (int64_t)strlen(body + whole)
		                : 0;

		group_digits(&digits, body, whole, spec->grouping, group, least);
	} else {
		text_add(&digits, body, whole);
	}
	text_add_chars(&digits, body + whole);
	if (align == '=') {
		text_add(out, text_chars(&head), head.length);
		room = spec->width - (int64_t)(head.length + digits.length);
		fill(out, &inner, room);
		text_add(out, text_chars(&digits), digits.length);
	} else {
		text_add(&head, text_chars(&digits), digits.length);
		pad_into(out, spec, text_chars(&head), head.length, '>');
	}
	arena_release(&scratch);
}

/* C pads exponents to two digits, as Python does. */
static void float_body(struct text *out, double f, char type, int precision, bool alternate)
{
	char format[16], *digits;
	int length;

	if (isinf(f) || f != f) {
		text_add_chars(out, f != f ? (isupper((unsigned char)type) ? "NAN" : "nan")
		                    : isupper((unsigned char)type) ? "INF"
		                                                   : "inf");
		return;
	}
	snprintf(format, sizeof(format), "%%%s.*%c", alternate ? "#" : "", type);
	length = snprintf(NULL, 0, format, precision, f);
	digits = checked_alloc((size_t)length + 1, 1);
	snprintf(digits, (size_t)length + 1, format, precision, f);
	text_add(out, digits, (size_t)length);
	free(digits);
}

static void float_general(struct text *out, double f, const struct spec *spec)
{
	size_t mark = out->length;

	if (spec->precision < 0) {
		float_repr(out, f);
		return;
	}
	float_body(out, f, 'g', spec->precision ? (int)spec->precision : 1, spec->alternate);
	if (!strpbrk(text_chars(out) + mark, ".en"))
		text_add_chars(out, ".0");
}

static struct val format_float(struct vm *vm, double f, const struct spec *spec)
{
	struct arena scratch = {0};
	struct text body = {.arena = &scratch}, out = {.arena = &scratch};
	bool negative = signbit(f) && f == f;
	int precision = spec->precision < 0               ? 6
	                : spec->precision > MAX_PRECISION ? MAX_PRECISION
	                                                  : (int)spec->precision;
	struct val result;

	f = fabs(f);
	switch (spec->type) {
	case 0:
		float_general(&body, f, spec);
		break;
	case 'n':
		float_body(&body, f, 'g', precision, spec->alternate);
		break;
	case '%':
		float_body(&body, f * 100, 'f', precision, spec->alternate);
		text_add_char(&body, '%');
		break;
	case 'f':
	case 'F':
	case 'e':
	case 'E':
	case 'g':
	case 'G':
		if (spec->type == 'g' || spec->type == 'G')
			precision = precision ? precision : 1;
		float_body(&body, f, spec->type, precision, spec->alternate);
		break;
	default:
		arena_release(&scratch);
		return rp_raise(vm, TY_ValueError,
		                "Unknown format code '%c' for object of type 'float'", spec->type);
	}
	number_into(&out, spec, negative, "", text_chars(&body), 3);
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

static struct val format_int(struct vm *vm, struct val v, const struct spec *spec)
{
	struct arena scratch = {0};
	struct text body = {.arena = &scratch}, out = {.arena = &scratch};
	int base = spec->type == 'b'                        ? 2
	           : spec->type == 'o'                      ? 8
	           : spec->type == 'x' || spec->type == 'X' ? 16
	                                                    : 10;
	char prefix[3] = {'0', spec->type, 0};
	bool negative = int_compare(v, val_int(0)) < 0;
	struct val result;
	char *digits;

	if (spec->type && strchr("eEfFgG%", spec->type))
		return format_float(vm, int_to_double(v), spec);
	if (spec->type == 'c') {
		text_add_code_point(&body, (uint32_t)v.as.i);
		pad_into(&out, spec, text_chars(&body), body.length, '<');
	} else if (spec->type && !strchr("bodxXn", spec->type)) {
		return rp_raise(vm, TY_ValueError,
		                "Unknown format code '%c' for object of type 'int'", spec->type);
	} else {
		int_print(vm, v, base, &body);
		text_add_char(&body, 0);
		digits = body.at + negative;
		for (char *c = digits; spec->type == 'X' && *c; c++)
			*c = (char)toupper((unsigned char)*c);
		number_into(&out, spec, negative, spec->alternate && base != 10 ? prefix : "",
		            digits, base == 10 ? 3 : 4);
	}
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

static struct val format_str(struct vm *vm, struct str *s, const struct spec *spec)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	size_t length = s->length;
	struct val result;

	if (spec->type && spec->type != 's')
		return rp_raise(vm, TY_ValueError,
		                "Unknown format code '%c' for object of type 'str'", spec->type);
	if (spec->precision >= 0 && spec->precision < s->chars)
		length = str_offset(s, (uint32_t)spec->precision);
	pad_into(&out, spec, s->at, length, '<');
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

static struct val format_own(struct vm *vm, struct val fn, const char *at, size_t length)
{
	struct val spec = val_obj(str_new(vm, at, length)), result = rp_call1(vm, fn, spec);

	unref(vm, spec);
	unref(vm, fn);
	return result;
}

struct val rp_format(struct vm *vm, struct val v, const char *at, size_t length)
{
	struct spec spec;
	struct val fn, s, result;

	fn = v.tag == PY_OBJECT ? special_own(vm, v, PN_format) : val_null();
	if (!is_null(fn))
		return format_own(vm, fn, at, length);
	if (!is_null(vm->exc))
		return val_null();
	if (v.tag == PY_OBJECT && vm->kinds[v.as.o->kind].format)
		return vm->kinds[v.as.o->kind].format(vm, v, at, length);
	if (!length || is_kind(v, K_UNKNOWN))
		return rp_str(vm, v);
	if (!spec_parse(at, length, &spec))
		return rp_raise(vm, TY_ValueError,
		                "Invalid format specifier '%.*s' for object of "
		                "type '%s'",
		                (int)length, at, type_name(vm, v));
	if (v.tag == PY_FLOAT)
		return format_float(vm, v.as.f, &spec);
	if (v.tag == PY_BOOL && !spec.type) {
		s = rp_str(vm, v);
		result = format_int(vm, val_int(v.as.i), &spec);
		unref(vm, s);
		return result;
	}
	if (is_any_int(v))
		return format_int(vm, v, &spec);
	if (is_kind(v, K_STR))
		return format_str(vm, AS(str, v), &spec);
	return rp_raise(vm, TY_TypeError, "unsupported format string passed to %s.__format__",
	                type_name(vm, v));
}

/* --- "%d items" % n */

struct percent {
	struct vm *vm;
	const char *start; /* of the format */
	struct val args;
	uint32_t used;
};

static struct val percent_next(struct percent *p)
{
	if (!is_kind(p->args, K_TUPLE)) {
		if (p->used++)
			return rp_raise(p->vm, TY_TypeError,
			                "not enough arguments for format string");
		return ref(p->args);
	}
	if (p->used >= AS(list, p->args)->count)
		return rp_raise(p->vm, TY_TypeError, "not enough arguments for format string");
	return ref(AS(list, p->args)->at[p->used++]);
}

static struct val percent_text(struct vm *vm, struct val v, char type)
{
	return type == 's'   ? rp_str(vm, v)
	       : type == 'r' ? rp_repr(vm, v)
	                     : library_call(vm, "builtins", "ascii", &v, 1);
}

static struct val percent_value(struct vm *vm, struct val v, struct spec *spec)
{
	struct val s, result;
	double f;

	switch (spec->type) {
	case 's':
	case 'r':
	case 'a':
		s = percent_text(vm, v, spec->type);
		if (is_null(s))
			return s;
		spec->type = 's';
		spec->zero = false;
		spec->align = spec->align ? spec->align : '>';
		result = format_str(vm, AS(str, s), spec);
		unref(vm, s);
		return result;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		if (is_kind(v, K_UNKNOWN))
			return rp_str(vm, v);
		if (is_kind(v, K_STR) || is_none(v) || is_kind(v, K_LIST))
			return rp_raise(vm, TY_TypeError,
			                "%%%c format: a real number is required, "
			                "not %s",
			                spec->type, type_name(vm, v));
		s = rp_to_int(vm, v);
		if (is_null(s))
			return s;
		if (strchr("iu", spec->type))
			spec->type = 'd';
		spec->precision = -1;
		result = is_kind(s, K_UNKNOWN) ? rp_str(vm, s) : format_int(vm, s, spec);
		unref(vm, s);
		return result;
	case 'c':
		return is_kind(v, K_STR) ? ref(v) : format_int(vm, v, spec);
	default:
		if (is_kind(v, K_UNKNOWN))
			return rp_str(vm, v);
		if (!rp_double(vm, v, &f))
			return val_null();
		return format_float(vm, f, spec);
	}
}

static bool percent_star(struct percent *p, int64_t *out)
{
	struct val v = percent_next(p);

	*out = is_int(v) ? v.as.i : 0;
	unref(p->vm, v);
	return !is_null(v);
}

/* `(name)`: the item of a mapping; PY_NULL without an exception: there is none. */
static struct val percent_named(struct percent *p, const char **at, const char *end)
{
	const char *close;
	struct val name, v;

	if (*at >= end || **at != '(')
		return val_null();
	close = memchr(*at, ')', (size_t)(end - *at));
	if (!close)
		return rp_raise(p->vm, TY_ValueError, "incomplete format key");
	name = val_obj(str_new(p->vm, *at + 1, (size_t)(close - *at - 1)));
	v = rp_item(p->vm, p->args, name);
	unref(p->vm, name);
	*at = close + 1;
	p->used = 1;
	return v;
}

static const char *percent_flags(const char *c, const char *end, struct spec *spec)
{
	for (; c < end && strchr("-+ #0", *c); c++) {
		if (*c == '-')
			spec->align = '<';
		else if (*c == '0')
			spec->zero = true;
		else if (*c == '#')
			spec->alternate = true;
		else if (spec->sign != '+')
			spec->sign = *c;
	}
	return c;
}

/* Digits, or a `*` that takes an argument. */
static bool percent_number(struct percent *p, const char **at, const char *end, int64_t *out)
{
	if (*at < end && **at == '*') {
		(*at)++;
		return percent_star(p, out);
	}
	*out = spec_number(at, end);
	return true;
}

/* Flags, width, precision and type; *at moves behind them. */
static bool percent_spec(struct percent *p, const char **at, const char *end, struct spec *spec)
{
	const char *c = percent_flags(*at, end, spec);

	if (!percent_number(p, &c, end, &spec->width))
		return false;
	if (c < end && *c == '.') {
		c++;
		if (!percent_number(p, &c, end, &spec->precision))
			return false;
	}
	while (c < end && strchr("hlL", *c))
		c++;
	if (c >= end) {
		rp_raise(p->vm, TY_ValueError, "incomplete format");
		return false;
	}
	spec->type = *c++;
	*at = c;
	return true;
}

/* One conversion after the `%`; *at moves behind it. */
static bool percent_one(struct percent *p, const char **at, const char *end, struct text *out)
{
	struct spec spec = {.fill = " ", .precision = -1};
	struct val v = percent_named(p, at, end), s;

	if (!is_null(p->vm->exc) || !percent_spec(p, at, end, &spec)) {
		unref(p->vm, v);
		return false;
	}
	if (spec.type == '%') {
		unref(p->vm, v);
		text_add_char(out, '%');
		return true;
	}
	if (!strchr("srdiuxXoeEfFgGca", spec.type)) {
		unref(p->vm, v);
		rp_raise(p->vm, TY_ValueError,
		         "unsupported format character '%c' (0x%x) at index %d", spec.type,
		         (unsigned char)spec.type, (int)(*at - 1 - p->start));
		return false;
	}
	if (is_null(v))
		v = percent_next(p);
	if (is_null(v))
		return false;
	s = percent_value(p->vm, v, &spec);
	unref(p->vm, v);
	if (!is_null(s))
		str_into(p->vm, s, out);
	unref(p->vm, s);
	return !is_null(s);
}

struct val str_percent(struct vm *vm, struct str *format, struct val args)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct percent p = {vm, format->at, args, 0};
	const char *at = format->at, *end = at + format->length;
	struct val result = val_null();
	bool ok = true;

	while (ok && at < end) {
		const char *mark = memchr(at, '%', (size_t)(end - at));

		text_add(&out, at, (size_t)((mark ? mark : end) - at));
		at = mark ? mark + 1 : end;
		if (mark)
			ok = percent_one(&p, &at, end, &out);
	}
	if (ok && (is_kind(args, K_TUPLE)
	                   ? p.used < AS(list, args)->count
	                   : !p.used && !is_kind(args, K_DICT) && !is_kind(args, K_UNKNOWN)))
		rp_raise(vm, TY_TypeError, "not all arguments converted during string formatting");
	if (is_null(vm->exc))
		result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}
