#include <string.h>

#include "analyzer/replay/py.h"

#define METHOD(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)
#define STR(v)       AS(str, (v))

METHOD(str_format_method)
{
	(void)n;
	return str_format(vm, STR(a[0]), AS(list, a[1])->at, AS(list, a[1])->count,
	                  is_kind(a[2], K_DICT) ? AS(dict, a[2]) : NULL);
}

METHOD(str_format_map)
{
	(void)n;
	return str_format(vm, STR(a[0]), NULL, 0, is_kind(a[1], K_DICT) ? AS(dict, a[1]) : NULL);
}

static struct val justified(struct vm *vm, struct val *a, char align)
{
	struct arena scratch = {0};
	struct text spec = {.arena = &scratch};
	int64_t width;
	struct val result;

	if (!arg_int(vm, a[1], 0, &width))
		return val_null();
	text_add_chars(&spec, is_kind(a[2], K_STR) ? STR(a[2])->at : " ");
	text_print(&spec, "%c%lld", align, (long long)(width < 0 ? 0 : width));
	result = rp_format(vm, a[0], text_chars(&spec), spec.length);
	arena_release(&scratch);
	return result;
}

METHOD(str_ljust)
{
	(void)n;
	return justified(vm, a, '<');
}

METHOD(str_rjust)
{
	(void)n;
	return justified(vm, a, '>');
}

METHOD(str_center)
{
	(void)n;
	return justified(vm, a, '^');
}

METHOD(str_zfill)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	int64_t width;
	uint32_t sign = STR(a[0])->at[0] == '-' || STR(a[0])->at[0] == '+';
	struct val result;

	(void)n;
	if (!arg_int(vm, a[1], 0, &width))
		return val_null();
	text_add(&out, STR(a[0])->at, sign);
	for (int64_t i = STR(a[0])->chars; i < width && i < 100000; i++)
		text_add_char(&out, '0');
	text_add(&out, STR(a[0])->at + sign, STR(a[0])->length - sign);
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

static struct val parts(struct vm *vm, struct val *a, const char *hit)
{
	struct list *t = tuple_new(vm, 3);
	const char *at = STR(a[0])->at, *end = at + STR(a[0])->length;

	t->at[0] = val_obj(str_new(vm, at, (size_t)(hit - at)));
	t->at[1] = ref(a[1]);
	hit += STR(a[1])->length;
	t->at[2] = val_obj(str_new(vm, hit, (size_t)(end - hit)));
	return val_obj(t);
}

METHOD(str_partition)
{
	const char *hit;
	struct list *t;
	struct val other;

	(void)n;
	if (!text_argument(vm, a[1], &other))
		return other;
	hit = memmem(STR(a[0])->at, STR(a[0])->length, STR(a[1])->at, STR(a[1])->length);
	if (hit)
		return parts(vm, a, hit);
	t = tuple_new(vm, 3);
	t->at[0] = ref(a[0]);
	t->at[1] = val_str(vm, "");
	t->at[2] = val_str(vm, "");
	return val_obj(t);
}

METHOD(str_rpartition)
{
	const char *hit = NULL;
	struct list *t;
	struct val other;

	(void)n;
	if (!text_argument(vm, a[1], &other))
		return other;
	for (uint32_t i = STR(a[0])->length + 1; !hit && i-- > 0;)
		if (STR(a[0])->length - i >= STR(a[1])->length &&
		    memcmp(STR(a[0])->at + i, STR(a[1])->at, STR(a[1])->length) == 0)
			hit = STR(a[0])->at + i;
	if (hit)
		return parts(vm, a, hit);
	t = tuple_new(vm, 3);
	t->at[0] = val_str(vm, "");
	t->at[1] = val_str(vm, "");
	t->at[2] = ref(a[0]);
	return val_obj(t);
}

METHOD(str_removeprefix)
{
	struct str *s = STR(a[0]), *p = STR(a[1]);
	struct val other;

	(void)n;
	if (!text_argument(vm, a[1], &other))
		return other;
	if (s->length < p->length || memcmp(s->at, p->at, p->length) != 0)
		return ref(a[0]);
	return val_obj(str_new(vm, s->at + p->length, s->length - p->length));
}

METHOD(str_removesuffix)
{
	struct str *s = STR(a[0]), *p = STR(a[1]);
	struct val other;

	(void)n;
	if (!text_argument(vm, a[1], &other))
		return other;
	if (s->length < p->length || memcmp(s->at + s->length - p->length, p->at, p->length) != 0)
		return ref(a[0]);
	return val_obj(str_new(vm, s->at, s->length - p->length));
}

static struct val retyped(struct vm *vm, struct val s, enum rp_type type)
{
	const struct str *text = STR(s);

	return val_obj(type == TY_bytes ? bytes_new(vm, text->at, text->length)
	                                : str_new(vm, text->at, text->length));
}

METHOD(str_encode)
{
	(void)n;
	return retyped(vm, a[0], TY_bytes);
}

METHOD(bytes_decode)
{
	(void)n;
	return retyped(vm, a[0], TY_str);
}

static struct val bytes_of(struct vm *vm, struct val source)
{
	struct list *items;
	struct str *s;
	int64_t count;

	if (is_kind(source, K_STR) || is_kind(source, K_BYTES))
		return retyped(vm, source, TY_bytes);
	if (is_int(source)) {
		count = source.as.i < 0 || source.as.i > PY_MAX_BYTES / 4 ? 0 : source.as.i;
		s = rp_new(vm, K_BYTES, vm->t[TY_bytes], sizeof(*s) + (size_t)count + 1);
		s->length = s->chars = (uint32_t)count;
		return val_obj(s);
	}
	items = is_null(source) ? list_new(vm, 0) : list_from(vm, source);
	if (!items)
		return val_null();
	s = rp_new(vm, K_BYTES, vm->t[TY_bytes], sizeof(*s) + items->count + 1);
	s->length = s->chars = items->count;
	for (uint32_t i = 0; i < items->count; i++)
		s->at[i] = is_int(items->at[i]) ? (char)items->at[i].as.i : 0;
	unref_obj(vm, items);
	return val_obj(s);
}

METHOD(bytes_new_method)
{
	struct val s = bytes_of(vm, a[1]);

	(void)n;
	if (is_null(s) || AS(cls, a[0]) == vm->t[TY_bytes])
		return s;
	s.as.o->cls = AS(cls, a[0]);
	s.as.o->cls->h.refs++;
	return s;
}

METHOD(bytes_hex)
{
	struct arena scratch = {0};
	struct text out = {.arena = &scratch};
	struct val result;

	(void)n;
	for (uint32_t i = 0; i < STR(a[0])->length; i++)
		text_print(&out, "%02x", (unsigned char)STR(a[0])->at[i]);
	result = val_text(vm, &out);
	arena_release(&scratch);
	return result;
}

METHOD(str_repr_method)
{
	(void)n;
	return rp_repr(vm, a[0]);
}

METHOD(str_str_method)
{
	(void)n;
	return retyped(vm, a[0], TY_str);
}

METHOD(str_len_method)
{
	(void)vm, (void)n;
	return val_int(STR(a[0])->chars);
}

METHOD(str_eq_method)
{
	(void)n;
	if (!is_kind(a[1], K_STR))
		return (struct val){.tag = PY_NOT_IMPLEMENTED};
	return rp_compare(vm, SUB_compare_equal, a[0], a[1]);
}

METHOD(str_hash_method)
{
	(void)vm, (void)n;
	return val_int((int64_t)(str_hash(STR(a[0])) >> 1));
}

const struct native_def str_more_methods[] = {
        {"format", str_format_method, "self *args **kw"},
        {"format_map", str_format_map, "self mapping"},
        {"ljust", str_ljust, "self width ? fill"},
        {"rjust", str_rjust, "self width ? fill"},
        {"center", str_center, "self width ? fill"},
        {"zfill", str_zfill, "self width"},
        {"partition", str_partition, "self sep"},
        {"rpartition", str_rpartition, "self sep"},
        {"removeprefix", str_removeprefix, "self prefix"},
        {"removesuffix", str_removesuffix, "self suffix"},
        {"encode", str_encode, "self ? encoding errors"},
        {"__str__", str_str_method, "self"},
        {"__len__", str_len_method, "self"},
        {"__eq__", str_eq_method, "self other"},
        {"__hash__", str_hash_method, "self"},
        {0},
};

const struct native_def bytes_methods[] = {
        {"__new__", bytes_new_method, "cls ? source encoding errors"},
        {"decode", bytes_decode, "self ? encoding errors"},
        {"hex", bytes_hex, "self"},
        {"__repr__", str_repr_method, "self"},
        {0},
};
