#include <ctype.h>
#include <string.h>

#include "analyzer/replay/py.h"

#define METHOD(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)
#define STR(v)       AS(str, (v))

static struct val same_kind(struct vm *vm, struct val like, const char *at, size_t length)
{
	return val_obj(is_kind(like, K_BYTES) ? bytes_new(vm, at, length)
	                                      : str_new(vm, at, length));
}

bool text_argument(struct vm *vm, struct val v, struct val *result)
{
	*result = val_null();
	if (is_kind(v, K_STR) || is_kind(v, K_BYTES))
		return true;
	*result = is_kind(v, K_UNKNOWN)
	                  ? unknown_new(vm, "text of %s", AS(unknown, v)->what->at)
	                  : rp_raise(vm, TY_TypeError, "must be str, not %s", type_name(vm, v));
	return false;
}

METHOD(str_new_method)
{
	struct val s;

	(void)n;
	s = is_null(a[1]) ? val_str(vm, "") : rp_str(vm, a[1]);
	if (is_null(s) || AS(cls, a[0]) == vm->t[TY_str])
		return s;
	slot_set(vm, &s, val_obj(str_new(vm, STR(s)->at, STR(s)->length)));
	s.as.o->cls = AS(cls, a[0]);
	s.as.o->cls->h.refs++;
	return s;
}

static struct val mapped(struct vm *vm, struct val s, int (*change)(int, size_t))
{
	struct val out = same_kind(vm, s, STR(s)->at, STR(s)->length);

	for (size_t i = 0; i < STR(out)->length; i++)
		if ((unsigned char)STR(out)->at[i] < 128)
			STR(out)->at[i] = (char)change((unsigned char)STR(out)->at[i], i);
	return out;
}

static int to_lower(int c, size_t i)
{
	(void)i;
	return tolower(c);
}

static int to_upper(int c, size_t i)
{
	(void)i;
	return toupper(c);
}

static int to_capital(int c, size_t i)
{
	return i ? tolower(c) : toupper(c);
}

static int swapped(int c, size_t i)
{
	(void)i;
	return islower(c) ? toupper(c) : tolower(c);
}

METHOD(str_lower)
{
	(void)n;
	return mapped(vm, a[0], to_lower);
}

METHOD(str_upper)
{
	(void)n;
	return mapped(vm, a[0], to_upper);
}

METHOD(str_capitalize)
{
	(void)n;
	return mapped(vm, a[0], to_capital);
}

METHOD(str_swapcase)
{
	(void)n;
	return mapped(vm, a[0], swapped);
}

METHOD(str_title)
{
	struct val out = same_kind(vm, a[0], STR(a[0])->at, STR(a[0])->length);
	bool inside = false;

	(void)n;
	for (size_t i = 0; i < STR(out)->length; i++) {
		unsigned char c = (unsigned char)STR(out)->at[i];

		if (c < 128)
			STR(out)->at[i] = (char)(inside ? tolower(c) : toupper(c));
		inside = isalpha(c);
	}
	return out;
}

static bool strips(const char *set, size_t length, char c)
{
	return set ? memchr(set, c, length) != NULL : c == ' ' || (c >= 9 && c <= 13);
}

static struct val strip(struct vm *vm, struct val *a, bool left, bool right)
{
	const char *at = STR(a[0])->at, *end = at + STR(a[0])->length;
	const char *set;
	size_t length;
	struct val other;

	if (!is_missing(a[1]) && !text_argument(vm, a[1], &other))
		return other;
	set = is_missing(a[1]) ? NULL : STR(a[1])->at;
	length = set ? STR(a[1])->length : 0;

	while (left && at < end && strips(set, length, *at))
		at++;
	while (right && end > at && strips(set, length, end[-1]))
		end--;
	return same_kind(vm, a[0], at, (size_t)(end - at));
}

METHOD(str_strip)
{
	(void)n;
	return strip(vm, a, true, true);
}

METHOD(str_lstrip)
{
	(void)n;
	return strip(vm, a, true, false);
}

METHOD(str_rstrip)
{
	(void)n;
	return strip(vm, a, false, true);
}

static void split_blanks(struct vm *vm, struct val s, int64_t most, struct list *out)
{
	const char *at = STR(s)->at, *end = at + STR(s)->length;

	for (;;) {
		const char *word;

		while (at < end && strips(NULL, 0, *at))
			at++;
		if (at == end)
			return;
		word = at;
		if (most >= 0 && out->count == most)
			at = end;
		while (at < end && !strips(NULL, 0, *at))
			at++;
		list_push(vm, out, same_kind(vm, s, word, (size_t)(at - word)));
	}
}

METHOD(str_split)
{
	struct list *out;
	const char *at = STR(a[0])->at, *end = at + STR(a[0])->length, *hit;
	int64_t most;
	struct val other;

	(void)n;
	if (!is_missing(a[1]) && !text_argument(vm, a[1], &other))
		return other;
	if (!arg_int(vm, a[2], -1, &most))
		return val_null();
	if (!is_missing(a[1]) && !STR(a[1])->length)
		return rp_raise(vm, TY_ValueError, "empty separator");
	out = list_new(vm, 4);
	if (is_missing(a[1])) {
		split_blanks(vm, a[0], most, out);
		return val_obj(out);
	}
	while ((most < 0 || out->count < most) &&
	       (hit = memmem(at, (size_t)(end - at), STR(a[1])->at, STR(a[1])->length))) {
		list_push(vm, out, same_kind(vm, a[0], at, (size_t)(hit - at)));
		at = hit + STR(a[1])->length;
	}
	list_push(vm, out, same_kind(vm, a[0], at, (size_t)(end - at)));
	return val_obj(out);
}

static const char *last_of(const char *at, size_t length, const struct str *part)
{
	for (size_t i = length + 1; i-- > 0;)
		if (length - i >= part->length && memcmp(at + i, part->at, part->length) == 0)
			return at + i;
	return NULL;
}

static struct val rsplit_blanks(struct vm *vm, struct val s, int64_t most)
{
	struct list *out = list_new(vm, 4);
	const char *at = STR(s)->at, *end = at + STR(s)->length, *word;

	for (;;) {
		while (end > at && strips(NULL, 0, end[-1]))
			end--;
		if (end == at)
			return val_obj(out);
		word = end;
		if (out->count == most)
			word = at;
		while (word > at && !strips(NULL, 0, word[-1]))
			word--;
		while (out->count == most && word < end && strips(NULL, 0, *word))
			word++;
		list_insert(vm, out, 0, same_kind(vm, s, word, (size_t)(end - word)));
		end = out->count > most ? at : word;
	}
}

METHOD(str_rsplit)
{
	struct list *out;
	const char *at = STR(a[0])->at, *hit;
	size_t length = STR(a[0])->length;
	int64_t most;

	if (!arg_int(vm, a[2], -1, &most))
		return val_null();
	if (is_missing(a[1]) && most >= 0)
		return rsplit_blanks(vm, a[0], most);
	if (most < 0 || !(is_kind(a[1], K_STR) || is_kind(a[1], K_BYTES)) || !STR(a[1])->length)
		return str_split(vm, a, n);
	out = list_new(vm, 4);
	while (out->count < most && (hit = last_of(at, length, STR(a[1])))) {
		const char *after = hit + STR(a[1])->length;

		list_insert(vm, out, 0, same_kind(vm, a[0], after, (size_t)(at + length - after)));
		length = (size_t)(hit - at);
	}
	list_insert(vm, out, 0, same_kind(vm, a[0], at, length));
	return val_obj(out);
}

METHOD(str_splitlines)
{
	struct list *out = list_new(vm, 4);
	const char *at = STR(a[0])->at, *end = at + STR(a[0])->length;
	bool keep = !is_missing(a[1]) && rp_truth(vm, a[1]) > 0;

	(void)n;
	while (at < end) {
		const char *stop = at, *next;

		while (stop < end && *stop != '\r' && *stop != '\n')
			stop++;
		next = stop + (stop == end ? 0 : stop[0] == '\r' && stop[1] == '\n' ? 2 : 1);
		list_push(vm, out, same_kind(vm, a[0], at, (size_t)((keep ? next : stop) - at)));
		at = next;
	}
	return val_obj(out);
}

METHOD(str_join)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct list *items = list_from(vm, a[1]);
	struct val result = val_null();

	(void)n;
	for (uint32_t i = 0; items && i < items->count; i++) {
		if (i)
			text_add(&out, STR(a[0])->at, STR(a[0])->length);
		if (is_kind(items->at[i], K_UNKNOWN))
			str_into(vm, items->at[i], &out);
		else if (is_kind(items->at[i], K_STR) || is_kind(items->at[i], K_BYTES))
			text_add(&out, STR(items->at[i])->at, STR(items->at[i])->length);
		else {
			rp_raise(vm, TY_TypeError,
			         "sequence item %u: expected str instance, %s found", i,
			         type_name(vm, items->at[i]));
			break;
		}
	}
	if (items && is_null(vm->exc))
		result = same_kind(vm, a[0], text_chars(&out), out.length);
	unref_obj(vm, items);
	arena_release(&scratch);
	return result;
}

METHOD(str_replace)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	const char *at = STR(a[0])->at, *end = at + STR(a[0])->length, *hit;
	struct val result;
	int64_t most;

	(void)n;
	if (!text_argument(vm, a[1], &result) || !text_argument(vm, a[2], &result))
		return result;
	if (!arg_int(vm, a[3], -1, &most))
		return val_null();
	while (most != 0 && at + STR(a[1])->length <= end &&
	       (hit = memmem(at, (size_t)(end - at), STR(a[1])->at, STR(a[1])->length))) {
		text_add(&out, at, (size_t)(hit - at));
		text_add(&out, STR(a[2])->at, STR(a[2])->length);
		at = hit + STR(a[1])->length;
		most--;
		if (!STR(a[1])->length && at < end)
			text_add_char(&out, *at++);
		else if (!STR(a[1])->length)
			break;
	}
	text_add(&out, at, (size_t)(end - at));
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

/* -1: an exception */
static int has_affix(struct vm *vm, struct str *s, struct val part, bool end)
{
	struct str *p = STR(part);

	if (!is_kind(part, K_BYTES) && !arg_str(vm, part, "must be str or a tuple of str"))
		return -1;
	return s->length >= p->length &&
	       memcmp(s->at + (end ? s->length - p->length : 0), p->at, p->length) == 0;
}

/* The part of the text between the bounds a[2] and a[3]. */
static struct val between(struct vm *vm, struct val *a)
{
	struct slice *slice;
	struct val part;

	if (is_missing(a[2]) && is_missing(a[3]))
		return ref(a[0]);
	slice = rp_new(vm, K_SLICE, vm->t[TY_slice], sizeof(*slice));
	slice->start = is_missing(a[2]) ? val_none() : ref(a[2]);
	slice->stop = is_missing(a[3]) ? val_none() : ref(a[3]);
	slice->step = val_none();
	part = rp_item(vm, a[0], val_obj(slice));
	unref_obj(vm, slice);
	return part;
}

static struct val affix(struct vm *vm, struct val *a, bool end)
{
	struct val part = is_kind(a[1], K_UNKNOWN) ? unknown_new(vm, "affix") : between(vm, a);
	uint32_t count = is_kind(a[1], K_TUPLE) ? AS(list, a[1])->count : 1;
	int yes = 0;

	if (is_null(part) || is_kind(part, K_UNKNOWN))
		return part;
	for (uint32_t i = 0; i < count && !yes; i++)
		yes = has_affix(vm, STR(part),
		                is_kind(a[1], K_TUPLE) ? AS(list, a[1])->at[i] : a[1], end);
	unref(vm, part);
	return yes < 0 ? val_null() : val_bool(yes);
}

METHOD(str_startswith)
{
	(void)n;
	return affix(vm, a, false);
}

METHOD(str_endswith)
{
	(void)n;
	return affix(vm, a, true);
}

static int64_t chars_before(const struct str *s, const char *at)
{
	int64_t count = 0;

	for (const char *c = s->at; c < at; c++)
		count += ((unsigned char)*c & 0xc0) != 0x80;
	return count;
}

/* The bytes between the bounds a[2] and a[3], in which a[1] is sought; false: *result is
 * the answer, or an exception is set. */
static bool sought(struct vm *vm, struct val *a, const char **at, const char **end,
                   struct val *result)
{
	const struct str *s = STR(a[0]);
	int64_t start, stop;

	if (!text_argument(vm, a[1], result) || !arg_int(vm, a[2], 0, &start) ||
	    !arg_int(vm, a[3], s->chars, &stop))
		return false;
	start = start < 0 && (start += s->chars) < 0 ? 0 : start;
	stop = stop < 0 ? stop + s->chars : stop < s->chars ? stop : s->chars;
	*result = val_int(-1);
	if (start > stop)
		return false;
	*at = s->at + str_offset(s, (uint32_t)start);
	*end = s->at + str_offset(s, (uint32_t)stop);
	return true;
}

METHOD(str_find)
{
	const char *at, *end, *hit;
	struct val result;

	(void)n;
	if (!sought(vm, a, &at, &end, &result))
		return is_null(vm->exc) ? result : val_null();
	hit = memmem(at, (size_t)(end - at), STR(a[1])->at, STR(a[1])->length);
	return val_int(hit ? chars_before(STR(a[0]), hit) : -1);
}

METHOD(str_rfind)
{
	const char *at, *end, *hit;
	struct val result;

	(void)n;
	if (!sought(vm, a, &at, &end, &result))
		return is_null(vm->exc) ? result : val_null();
	hit = last_of(at, (size_t)(end - at), STR(a[1]));
	return val_int(hit ? chars_before(STR(a[0]), hit) : -1);
}

static struct val found_at(struct vm *vm, struct val at)
{
	if (at.tag == PY_INT && at.as.i < 0)
		return rp_raise(vm, TY_ValueError, "substring not found");
	return at;
}

METHOD(str_index)
{
	return found_at(vm, str_find(vm, a, n));
}

METHOD(str_rindex)
{
	return found_at(vm, str_rfind(vm, a, n));
}

METHOD(str_count)
{
	const char *at, *end, *hit;
	struct val result;
	int64_t count = 0;

	(void)n;
	if (!sought(vm, a, &at, &end, &result))
		return !is_null(vm->exc) ? val_null() : result.tag == PY_INT ? val_int(0) : result;
	if (!STR(a[1])->length)
		return val_int(chars_before(STR(a[0]), end) - chars_before(STR(a[0]), at) + 1);
	while ((hit = memmem(at, (size_t)(end - at), STR(a[1])->at, STR(a[1])->length))) {
		count++;
		at = hit + STR(a[1])->length;
	}
	return val_int(count);
}

static struct val all_chars(struct val s, int (*test)(int))
{
	for (size_t i = 0; i < STR(s)->length; i++)
		if ((unsigned char)STR(s)->at[i] >= 128 ? test == isspace || test == isdigit
		                                        : !test((unsigned char)STR(s)->at[i]))
			return val_bool(false);
	return val_bool(STR(s)->length != 0);
}

METHOD(str_isdigit)
{
	(void)vm, (void)n;
	return all_chars(a[0], isdigit);
}

METHOD(str_isalpha)
{
	(void)vm, (void)n;
	return all_chars(a[0], isalpha);
}

METHOD(str_isalnum)
{
	(void)vm, (void)n;
	return all_chars(a[0], isalnum);
}

METHOD(str_isspace)
{
	(void)vm, (void)n;
	return all_chars(a[0], isspace);
}

static struct val cased(struct val s, bool upper)
{
	bool any = false;

	for (size_t i = 0; i < STR(s)->length; i++) {
		unsigned char c = (unsigned char)STR(s)->at[i];

		if (upper ? islower(c) : isupper(c))
			return val_bool(false);
		any |= upper ? isupper(c) != 0 : islower(c) != 0;
	}
	return val_bool(any);
}

METHOD(str_isupper)
{
	(void)vm, (void)n;
	return cased(a[0], true);
}

METHOD(str_islower)
{
	(void)vm, (void)n;
	return cased(a[0], false);
}

METHOD(str_isidentifier)
{
	(void)vm, (void)n;
	for (size_t i = 0; i < STR(a[0])->length; i++) {
		unsigned char c = (unsigned char)STR(a[0])->at[i];

		if (!(isalpha(c) || c == '_' || c > 127 || (i && isdigit(c))))
			return val_bool(false);
	}
	return val_bool(STR(a[0])->length != 0);
}

const struct native_def str_methods[] = {
        {"__new__", str_new_method, "cls ? object encoding errors"},
        {"lower", str_lower, "self"},
        {"upper", str_upper, "self"},
        {"capitalize", str_capitalize, "self"},
        {"swapcase", str_swapcase, "self"},
        {"title", str_title, "self"},
        {"strip", str_strip, "self ? chars"},
        {"lstrip", str_lstrip, "self ? chars"},
        {"rstrip", str_rstrip, "self ? chars"},
        {"split", str_split, "self ? sep maxsplit"},
        {"rsplit", str_rsplit, "self ? sep maxsplit"},
        {"splitlines", str_splitlines, "self ? keepends"},
        {"join", str_join, "self items"},
        {"replace", str_replace, "self old new ? count"},
        {"startswith", str_startswith, "self prefix ? start end"},
        {"endswith", str_endswith, "self suffix ? start end"},
        {"find", str_find, "self sub ? start end"},
        {"rfind", str_rfind, "self sub ? start end"},
        {"index", str_index, "self sub ? start end"},
        {"rindex", str_rindex, "self sub ? start end"},
        {"count", str_count, "self sub ? start end"},
        {"isdigit", str_isdigit, "self"},
        {"isdecimal", str_isdigit, "self"},
        {"isnumeric", str_isdigit, "self"},
        {"isalpha", str_isalpha, "self"},
        {"isalnum", str_isalnum, "self"},
        {"isspace", str_isspace, "self"},
        {"isupper", str_isupper, "self"},
        {"islower", str_islower, "self"},
        {"isidentifier", str_isidentifier, "self"},
        {0},
};
