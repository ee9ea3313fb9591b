#ifndef GRAPHLINT_APP_TOML_H
#define GRAPHLINT_APP_TOML_H

/* TOML as a tree of values, each with the line it stands on, so that a wrong
 * value can be shown to the user. Read with the tree-sitter grammar, which
 * knows the syntax; meaning (tables, dotted keys, escapes, redefinition) is
 * here. Everything lives in the arena given. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"
#include "analyzer/base/name_table.h"
#include "analyzer/base/vec.h"

enum toml_kind {
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOLEAN,
	TOML_DATE,
	TOML_ARRAY,
	TOML_TABLE,
};

struct toml_value {
	enum toml_kind kind;
	const char *key;  /* in a table; NULL in an array */
	uint32_t line;    /* from 1 */
	const char *text; /* a string's value; of others: as written */
	int64_t integer;
	bool boolean;
	bool closed;                    /* written in full: a header may not add to it */
	bool headed;                    /* has had its [header] */
	VEC(struct toml_value *) items; /* of an array or table, as written */
	struct name_table places;       /* of a table's items, by key */
};

struct toml_error {
	uint32_t line;
	const char *message;
};

/* The document's table; NULL with `error` filled when it is no TOML. */
GL_MUST_USE const struct toml_value *toml_parse(struct arena *arena, const char *bytes,
                                                size_t length, struct toml_error *error);
/* NULL when `table` is NULL, no table, or has no such key. */
const struct toml_value *toml_find(const struct toml_value *table, const char *key);
/* "a string", "an integer": for messages. */
const char *toml_kind_name(enum toml_kind kind);

#endif
