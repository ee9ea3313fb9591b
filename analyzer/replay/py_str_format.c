#include <ctype.h>
#include <string.h>

#include "analyzer/replay/py.h"

/* "{0.name[key]!r:>{width}}".format(...) */
struct filler {
	struct vm *vm;
	struct val *at;
	uint32_t count;
	struct dict *kw;
	uint32_t automatic;
	int depth;
};

static bool fill_text(struct filler *f, const char *at, const char *end, struct text *out);

static bool all_digits(const char *at, const char *end)
{
	if (at == end)
		return false;
	for (; at < end; at++)
		if (!isdigit((unsigned char)*at))
			return false;
	return true;
}

static struct val field_start(struct filler *f, const char *at, const char *end)
{
	struct val name, v;
	uint32_t index = 0;

	if (at == end || all_digits(at, end)) {
		if (at == end)
			index = f->automatic++;
		for (; at < end && index < 1000000; at++)
			index = index * 10 + (uint32_t)(*at - '0');
		if (index >= f->count)
			return rp_raise(f->vm, TY_IndexError,
			                "Replacement index %u out of range for "
			                "positional args tuple",
			                index);
		return ref(f->at[index]);
	}
	name = val_obj(str_new(f->vm, at, (size_t)(end - at)));
	v = f->kw ? dict_get(f->vm, f->kw, name) : val_null();
	if (is_null(v))
		rp_raise_key(f->vm, name);
	unref(f->vm, name);
	return ref(v);
}

static struct val field_value(struct filler *f, const char *at, const char *end)
{
	const char *stop = at + strcspn(at, ".[");
	struct val v, next, key;

	stop = stop > end ? end : stop;
	v = field_start(f, at, stop);
	while (!is_null(v) && stop < end) {
		at = stop + 1;
		if (*stop == '.') {
			for (stop = at; stop < end && *stop != '.' && *stop != '['; stop++)
				;
			next = rp_attr(f->vm, v, str_intern(f->vm, at, (size_t)(stop - at)));
		} else {
			for (stop = at; stop < end && *stop != ']'; stop++)
				;
			key = all_digits(at, stop)
			              ? int_of_text(f->vm, at, (size_t)(stop - at), 10)
			              : val_obj(str_new(f->vm, at, (size_t)(stop - at)));
			next = rp_item(f->vm, v, key);
			unref(f->vm, key);
			stop += stop < end;
		}
		slot_set(f->vm, &v, next);
	}
	return v;
}

static bool fill_field(struct filler *f, const char *at, const char *end, struct text *out)
{
	const char *colon = at, *bang;
	int depth = 0;
	struct arena scratch = {0};
	struct text spec = {.arena = &scratch};
	struct val v, s;

	for (; colon < end && (*colon != ':' || depth); colon++)
		depth += *colon == '[' ? 1 : *colon == ']' ? -1 : 0;
	bang = memchr(at, '!', (size_t)(colon - at));
	v = field_value(f, at, bang ? bang : colon);
	if (bang && !is_null(v) && bang + 1 < end)
		slot_set(f->vm, &v, bang[1] == 's' ? rp_str(f->vm, v) : rp_repr(f->vm, v));
	if (colon < end && !is_null(v) && !fill_text(f, colon + 1, end, &spec))
		slot_set(f->vm, &v, val_null());
	s = is_null(v) ? v : rp_format(f->vm, v, text_chars(&spec), spec.length);
	unref(f->vm, v);
	if (!is_null(s))
		str_into(f->vm, s, out);
	unref(f->vm, s);
	arena_release(&scratch);
	return !is_null(s);
}

static bool fill_text(struct filler *f, const char *at, const char *end, struct text *out)
{
	if (f->depth > 2) {
		rp_raise(f->vm, TY_ValueError, "Max string recursion exceeded");
		return false;
	}
	while (at < end) {
		const char *stop;
		int depth = 1;
		bool ok;

		if (end - at > 1 && at[0] == at[1] && (*at == '{' || *at == '}')) {
			text_add_char(out, *at);
			at += 2;
			continue;
		}
		if (*at != '{') {
			if (*at == '}') {
				rp_raise(f->vm, TY_ValueError,
				         "Single '}' encountered in format string");
				return false;
			}
			text_add_char(out, *at++);
			continue;
		}
		for (stop = ++at; stop < end && depth; stop++)
			depth += *stop == '{' ? 1 : *stop == '}' ? -1 : 0;
		if (depth) {
			rp_raise(f->vm, TY_ValueError, "expected '}' before end of string");
			return false;
		}
		f->depth++;
		ok = fill_field(f, at, stop - 1, out);
		f->depth--;
		if (!ok)
			return false;
		at = stop;
	}
	return true;
}

struct val str_format(struct vm *vm, struct str *format, struct val *a, uint32_t n, struct dict *kw)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct filler f = {vm, a, n, kw, 0, 0};
	struct val result;

	result = fill_text(&f, format->at, format->at + format->length, &out) ? val_text(vm, &out)
	                                                                      : val_null();
	arena_release(&scratch);
	return result;
}
