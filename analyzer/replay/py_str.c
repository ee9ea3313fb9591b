#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/hash.h"
#include "analyzer/replay/py.h"

static uint32_t count_chars(const char *bytes, size_t length)
{
	uint32_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return count;
}

static struct str *text_new(struct vm *vm, enum rp_kind kind, enum rp_type type, const void *bytes,
                            size_t length)
{
	struct str *s;

	if (length > PY_MAX_BYTES) {
		vm_halt(vm, VM_HALT_BYTES, "a string of more than 1 GiB");
		length = 0;
	}
	s = rp_new(vm, kind, vm->t[type], sizeof(*s) + length + 1);
	s->length = s->chars = (uint32_t)length;
	if (length)
		memcpy(s->at, bytes, length);
	s->at[length] = 0;
	return s;
}

struct str *str_new(struct vm *vm, const char *bytes, size_t length)
{
	struct str *s = text_new(vm, K_STR, TY_str, bytes, length);

	s->chars = count_chars(s->at, s->length);
	return s;
}

struct str *bytes_new(struct vm *vm, const void *bytes, size_t length)
{
	return text_new(vm, K_BYTES, TY_bytes, bytes, length);
}

struct str *str_chars(struct vm *vm, const char *chars)
{
	return str_new(vm, chars, strlen(chars));
}

struct val val_str(struct vm *vm, const char *chars)
{
	return val_obj(str_chars(vm, chars));
}

struct val val_text(struct vm *vm, const struct text *text)
{
	return val_obj(str_new(vm, text_chars(text), text->length));
}

struct val str_print(struct vm *vm, const char *format, ...)
{
	char few[512];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(few, sizeof(few), format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(few))
		length = sizeof(few) - 1;
	return val_obj(str_new(vm, few, (size_t)length));
}

uint64_t str_hash(struct str *s)
{
	if (!s->hash)
		s->hash = hash_bytes(s->at, s->length) | 1;
	return s->hash;
}

bool str_is(const struct str *s, const char *chars)
{
	return s->length == strlen(chars) && memcmp(s->at, chars, s->length) == 0;
}

static void table_grow(struct vm *vm)
{
	uint32_t size = vm->table ? (vm->table_mask + 1) * 2 : 2048;
	struct str **old = vm->table;
	uint32_t count = old ? vm->table_mask + 1 : 0;

	vm->table = checked_alloc(size, sizeof(struct str *));
	memset(vm->table, 0, size * sizeof(struct str *));
	vm->table_mask = size - 1;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at;

		if (!old[i])
			continue;
		for (at = (uint32_t)str_hash(old[i]) & vm->table_mask; vm->table[at];)
			at = (at + 1) & vm->table_mask;
		vm->table[at] = old[i];
	}
	free(old);
}

/* Interned strings live as long as the machine. */
struct str *str_intern(struct vm *vm, const char *bytes, size_t length)
{
	uint64_t hash = hash_bytes(bytes, length) | 1;
	uint32_t at;
	struct str *s;

	if (!vm->table || vm->table_count * 2 > vm->table_mask)
		table_grow(vm);
	for (at = (uint32_t)hash & vm->table_mask; (s = vm->table[at]);
	     at = (at + 1) & vm->table_mask)
		if (s->hash == hash && s->length == length && memcmp(s->at, bytes, length) == 0)
			return s;
	s = str_new(vm, bytes, length);
	s->hash = hash;
	s->interned = true;
	vm->table[at] = s;
	vm->table_count++;
	return s;
}

struct str **str_place(struct vm *vm, struct str_pages *pages, uint32_t id)
{
	const uint32_t page = id / PY_STR_PAGE;

	if (page >= pages->count) {
		const uint32_t count = page * 2 + 16;

		pages->at = checked_realloc((void *)pages->at, count, sizeof(*pages->at));
		memset((void *)(pages->at + pages->count), 0,
		       (count - pages->count) * sizeof(*pages->at));
		pages->count = count;
	}
	if (!pages->at[page])
		pages->at[page] = arena_array(vm->arena, struct str *, PY_STR_PAGE);
	return &pages->at[page][id % PY_STR_PAGE];
}

struct str *str_of_sym(struct vm *vm, sym_id name)
{
	struct str **place = str_place(vm, &vm->of_sym, name.n);

	if (!*place) {
		size_t length;
		const char *chars = intern_chars(vm->names, name, &length);

		*place = str_intern(vm, chars, length);
	}
	return *place;
}

uint32_t str_offset(const struct str *s, uint32_t index)
{
	uint32_t at = 0;

	if (s->chars == s->length)
		return index;
	for (; index && at < s->length; index--)
		for (at++; at < s->length && ((unsigned char)s->at[at] & 0xc0) == 0x80;)
			at++;
	return at;
}

struct val str_at(struct vm *vm, struct str *s, int64_t index)
{
	uint32_t start = str_offset(s, (uint32_t)index), stop = start + 1;

	while (stop < s->length && ((unsigned char)s->at[stop] & 0xc0) == 0x80)
		stop++;
	return val_obj(str_new(vm, s->at + start, stop - start));
}

struct val str_slice(struct vm *vm, struct str *s, int64_t start, int64_t count, int64_t step)
{
	struct arena scratch = {0};
	struct text text = {.arena = &scratch};
	struct val result;

	if (step == 1 || count <= 0) {
		uint32_t from, to;

		if (count <= 0)
			return val_obj(str_new(vm, "", 0));
		from = str_offset(s, (uint32_t)start);
		to = str_offset(s, (uint32_t)(start + count));
		return val_obj(str_new(vm, s->at + from, to - from));
	}
	for (int64_t i = 0; i < count; i++) {
		uint32_t at = str_offset(s, (uint32_t)(start + i * step)), end = at + 1;

		while (end < s->length && ((unsigned char)s->at[end] & 0xc0) == 0x80)
			end++;
		text_add(&text, s->at + at, end - at);
	}
	result = val_text(vm, &text);
	arena_release(&scratch);
	return result;
}
