#ifndef GRAPHLINT_BASE_INTERN_H
#define GRAPHLINT_BASE_INTERN_H

/* Names to small ids, one table per run, shared by all threads.
 * The names of names.def come first and in order, so that SYM_append is a
 * constant. Ids depend on thread timing: never sort, print or store by them. */

#include <stddef.h>
#include <stdint.h>

typedef struct {
	uint32_t n;
} sym_id; /* 0: no name */

enum well_known_name {
	SYM_NONE,
#define NAME(id, text) SYM_##id,
#include "analyzer/base/names.def"
#undef NAME
	SYM_WELL_KNOWN_COUNT
};

struct intern;

struct intern *intern_open(void);
void intern_close(struct intern *table);
/* The id of these bytes (may hold NULs); thread-safe. */
sym_id intern_text(struct intern *table, const char *bytes, size_t length);
/* NUL-terminated, valid until intern_close; `length` may be NULL; "" for id 0. */
const char *intern_chars(const struct intern *table, sym_id id, size_t *length);

static inline sym_id sym(enum well_known_name name)
{
	sym_id id = {(uint32_t)name};
	return id;
}

static inline int sym_is(sym_id id, enum well_known_name name)
{
	return id.n == (uint32_t)name;
}

static inline int sym_same(sym_id a, sym_id b)
{
	return a.n == b.n;
}

#endif
