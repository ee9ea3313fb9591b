#ifndef GRAPHLINT_REPLAY_REGEX_H
#define GRAPHLINT_REPLAY_REGEX_H

/* Regular expressions in Python's common syntax: groups, named ones too, classes,
 * greedy and lazy repetition, anchors, references back, looking ahead and behind,
 * and the flags i, m, s and x. A pattern becomes a program for a machine that
 * tries one way and comes back. Texts are UTF-8; beyond ASCII all are letters. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum regex_flags { REGEX_IGNORE_CASE = 2, REGEX_LINES = 8, REGEX_DOT_ALL = 16, REGEX_VERBOSE = 64 };

enum {
	REGEX_MOST_GROUPS = 100,
	REGEX_MOST_CODE = 1 << 15,
	REGEX_MOST_STEPS = 1 << 22, /* of one search */
};

enum regex_op {
	RX_CHAR,  /* x: the code point */
	RX_ANY,   /* but a line's end */
	RX_SET,   /* x: first range, y: how many; negated */
	RX_SPLIT, /* x: first way, y: second way */
	RX_JUMP,  /* x */
	RX_SAVE,  /* x: slot */
	RX_MOVED, /* not from the position in slot x: the next jump is left out */
	RX_START,
	RX_END,
	RX_LINE_START,
	RX_LINE_END,
	RX_TEXT_END,
	RX_WORD_EDGE, /* negated: none */
	RX_SAME,      /* x: group */
	RX_LOOK, /* y: behind the end of what is looked for; x: code points to go back; negated */
	RX_MATCH,
};

struct regex_inst {
	uint8_t op;
	bool negated, fold; /* fold: either case */
	int32_t x, y;
};

struct regex_range {
	uint32_t low, high;
};

struct regex_name {
	uint32_t start, length; /* in the pattern */
	uint32_t group;
};

struct regex {
	struct regex_inst *code;
	uint32_t count, capacity;
	struct regex_range *ranges;
	uint32_t range_count, range_capacity;
	uint32_t groups, slots; /* groups: without the whole */
	struct regex_name names[REGEX_MOST_GROUPS];
	uint32_t name_count;
	uint32_t flags;
	const char *error; /* NULL: none */
};

/* False: `error` says why. To be freed in either case. */
bool regex_compile(struct regex *regex, const char *pattern, size_t length, uint32_t flags);
void regex_free(struct regex *regex);

enum regex_how {
	REGEX_SEARCH,
	REGEX_AT_START,
	REGEX_WHOLE,
	REGEX_ONWARD, /* a search whose match does not end where it starts looking */
};

/* Byte offsets of the groups' starts and ends in `out`, 2 * (groups + 1) of them, -1: took no
 * part. False: no match. */
bool regex_run(const struct regex *regex, const char *text, size_t length, size_t from,
               enum regex_how how, int64_t *out);

/* The code point at a byte of UTF-8, and the bytes it has. */
uint32_t regex_point(const char *text, size_t length, size_t at, size_t *bytes);
bool regex_is_word(uint32_t point);
bool regex_in_ranges(const struct regex_range *ranges, uint32_t count, uint32_t point);

#endif
