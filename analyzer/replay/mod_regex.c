#include <stdlib.h>
#include <string.h>

#include "analyzer/replay/modules.h"
#include "analyzer/replay/regex.h"

/* What lib/re.py is made of: a pattern's program is compiled when it is first used
 * and kept by the machine, by its number. */

#define REGEX(name) static struct val name(struct vm *vm, struct val *a, uint32_t n)

enum { MOST_REGEXES = 4096 };

struct regexes {
	struct regex *at;
	uint32_t count;
};

void regexes_close(struct vm *vm)
{
	struct regexes *all = vm->regexes;

	for (uint32_t i = 0; all && i < all->count; i++)
		regex_free(&all->at[i]);
	if (all)
		free(all->at);
	free(all);
}

static struct val names_of(struct vm *vm, const struct regex *regex, const char *pattern)
{
	struct dict *names = dict_new(vm);

	for (uint32_t i = 0; i < regex->name_count; i++)
		dict_put_str(
		        vm, names,
		        str_intern(vm, pattern + regex->names[i].start, regex->names[i].length),
		        val_int(regex->names[i].group));
	return val_obj(names);
}

/* (number, groups, names, flags), or a text: what is wrong with it */
REGEX(regex_new)
{
	struct regexes *all = vm->regexes;
	const struct str *pattern = AS(str, a[0]);
	struct regex *regex;
	struct list *made;

	(void)n;
	if (!all) {
		all = vm->regexes = checked_alloc(1, sizeof(*all));
		*all = (struct regexes){0};
	}
	if (all->count >= MOST_REGEXES)
		return val_str(vm, "too many patterns");
	all->at = checked_realloc(all->at, all->count + 1, sizeof(*all->at));
	regex = &all->at[all->count++];
	if (!regex_compile(regex, pattern->at, pattern->length, (uint32_t)a[1].as.i))
		return val_str(vm, regex->error);
	made = tuple_new(vm, 4);
	made->at[0] = val_int(all->count - 1);
	made->at[1] = val_int(regex->groups);
	made->at[2] = names_of(vm, regex, pattern->at);
	made->at[3] = val_int(regex->flags);
	return val_obj(made);
}

/* Byte offsets as those of code points, in one walk over the text. */
static void in_points(const struct str *text, int64_t *spans, uint32_t count)
{
	if (text->chars == text->length)
		return;
	for (uint32_t i = 0; i < count; i++) {
		int64_t points = 0;

		for (int64_t at = 0; at < spans[i]; at++)
			points += ((unsigned char)text->at[at] & 0xc0) != 0x80;
		spans[i] = spans[i] < 0 ? -1 : points;
	}
}

/* number, text, from, to, how: the spans, or None */
REGEX(regex_find)
{
	const struct regexes *all = vm->regexes;
	const struct regex *regex;
	const struct str *text = AS(str, a[1]);
	int64_t spans[2 * REGEX_MOST_GROUPS];
	struct list *out;
	uint32_t count, from, to;

	(void)n;
	if (!all || a[0].tag != PY_INT || a[0].as.i < 0 || a[0].as.i >= all->count ||
	    !is_kind(a[1], K_STR))
		return rp_raise(vm, TY_TypeError, "expected string or bytes-like object, got '%s'",
		                type_name(vm, a[1]));
	regex = &all->at[a[0].as.i];
	to = a[3].as.i < text->chars ? str_offset(text, (uint32_t)a[3].as.i) : text->length;
	if (a[2].as.i > text->chars)
		return val_none();
	from = str_offset(text, (uint32_t)a[2].as.i);
	if (!regex_run(regex, text->at, to, from, (enum regex_how)a[4].as.i, spans))
		return val_none();
	count = 2 * (regex->groups + 1);
	in_points(text, spans, count);
	out = list_new(vm, count);
	for (uint32_t i = 0; i < count; i++)
		list_push(vm, out, val_int(spans[i]));
	return val_obj(out);
}

static const struct native_def functions[] = {
        {"compile", regex_new, "pattern flags"},
        {"find", regex_find, "number text start stop how"},
        {0},
};

const struct native_module regex_module = {"_re", functions, NULL, NULL};
