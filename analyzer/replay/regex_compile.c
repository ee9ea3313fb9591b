#include "analyzer/replay/regex.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"

/* Instructions are written as the pattern is read; what is repeated is written again, or
 * moved to make room before it. */

enum { MOST_DEPTH = 200, MOST_REPEATS = 1000 };

static const struct regex_range digits[] = {{'0', '9'}};
static const struct regex_range blanks[] = {
        {9, 13},          {28, 32},         {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
        {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};
static const struct regex_range words[] = {
        {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {0xaa, 0x10ffff}};

struct reader {
	struct regex *regex;
	const char *at, *end, *start;
	uint32_t flags;
	int depth;
};

static bool fail(struct reader *r, const char *why)
{
	if (!r->regex->error)
		r->regex->error = why;
	return false;
}

static uint32_t emit(struct reader *r, enum regex_op op, int32_t x, int32_t y)
{
	struct regex *x_of = r->regex;

	if (x_of->count >= REGEX_MOST_CODE) {
		fail(r, "the pattern is too large");
		return 0;
	}
	if (x_of->count == x_of->capacity) {
		x_of->capacity = x_of->capacity ? x_of->capacity * 2 : 32;
		x_of->code = checked_realloc(x_of->code, x_of->capacity, sizeof(*x_of->code));
	}
	x_of->code[x_of->count] = (struct regex_inst){
	        .op = (uint8_t)op, .fold = (r->flags & REGEX_IGNORE_CASE) != 0, .x = x, .y = y};
	return x_of->count++;
}

static bool is_jump(const struct regex_inst *in)
{
	return in->op == RX_SPLIT || in->op == RX_JUMP;
}

static void move_targets(struct regex_inst *in, int32_t by)
{
	if (is_jump(in))
		in->x += by;
	if (in->op == RX_SPLIT || in->op == RX_LOOK)
		in->y += by;
}

/* Room for one instruction at `first`. */
static void make_room(struct reader *r, uint32_t first)
{
	struct regex *x = r->regex;

	emit(r, RX_MATCH, 0, 0);
	if (x->error)
		return;
	memmove(x->code + first + 1, x->code + first, (x->count - 1 - first) * sizeof(*x->code));
	for (uint32_t i = first + 1; i < x->count; i++)
		move_targets(&x->code[i], 1);
}

static void put(struct reader *r, uint32_t at, enum regex_op op, uint32_t x, uint32_t y)
{
	if (!r->regex->error)
		r->regex->code[at] =
		        (struct regex_inst){.op = (uint8_t)op, .x = (int32_t)x, .y = (int32_t)y};
}

static void put_split(struct reader *r, uint32_t at, uint32_t one, uint32_t other, bool lazy)
{
	put(r, at, RX_SPLIT, lazy ? other : one, lazy ? one : other);
}

/* --- repetition */

struct repeat {
	uint32_t least, most; /* most 0: any number */
	bool lazy;
};

static void copy_code(struct reader *r, const struct regex_inst *body, uint32_t count,
                      uint32_t first)
{
	int32_t by = (int32_t)r->regex->count - (int32_t)first;

	for (uint32_t i = 0; i < count && !r->regex->error; i++) {
		uint32_t at = emit(r, RX_MATCH, 0, 0);

		if (r->regex->error)
			return;
		r->regex->code[at] = body[i];
		move_targets(&r->regex->code[at], by);
	}
}

/* L: split B, out; B: save; body; moved; jump L */
static void any_number(struct reader *r, const struct regex_inst *body, uint32_t count,
                       uint32_t first, bool lazy)
{
	uint32_t slot = r->regex->slots++, top = emit(r, RX_SPLIT, 0, 0);

	emit(r, RX_SAVE, (int32_t)slot, 0);
	copy_code(r, body, count, first);
	emit(r, RX_MOVED, (int32_t)slot, 0);
	emit(r, RX_JUMP, (int32_t)top, 0);
	put_split(r, top, top + 1, r->regex->count, lazy);
}

static void repeat_code(struct reader *r, uint32_t first, struct repeat how)
{
	struct regex *x = r->regex;
	uint32_t count = x->count - first, most = how.most;
	struct regex_inst *body = checked_alloc(count + 1, sizeof(*body));

	memcpy(body, x->code + first, count * sizeof(*body));
	x->count = first;
	for (uint32_t i = 0; i < how.least && !x->error; i++)
		copy_code(r, body, count, first);
	if (!most)
		any_number(r, body, count, first, how.lazy);
	for (uint32_t i = how.least; i < most && !x->error; i++) {
		uint32_t top = emit(r, RX_SPLIT, 0, 0);

		copy_code(r, body, count, first);
		put_split(r, top, top + 1, x->count, how.lazy);
	}
	free(body);
}

static bool read_number(struct reader *r, uint32_t *out)
{
	const char *from = r->at;

	for (*out = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
		if (*out < 100000)
			*out = *out * 10 + (uint32_t)(*r->at - '0');
	return r->at > from;
}

/* {2}, {2,}, {,3}, {2,3}; anything else is text. `none`: at most no time at all. */
static bool read_braces(struct reader *r, struct repeat *how, bool *none)
{
	const char *from = r->at++;
	bool low = read_number(r, &how->least), high = low;

	how->most = how->least;
	if (r->at < r->end && *r->at == ',') {
		r->at++;
		high = read_number(r, &how->most);
	}
	if (r->at < r->end && *r->at == '}' && (low || high || r->at[-1] == ',') &&
	    r->at > from + 1) {
		r->at++;
		*none = high && !how->most;
		if (!high && r->at[-2] == ',')
			how->most = 0;
		return true;
	}
	r->at = from;
	return false;
}

static bool read_repeat(struct reader *r, uint32_t first, bool *found)
{
	struct repeat how = {0};
	bool none = false;

	*found = false;
	if (r->at == r->end)
		return true;
	if (*r->at == '*' || *r->at == '+' || *r->at == '?') {
		how.least = *r->at == '+';
		how.most = *r->at == '?';
		r->at++;
	} else if (*r->at != '{' || !read_braces(r, &how, &none)) {
		return true;
	}
	*found = true;
	if (r->at < r->end && *r->at == '?') {
		how.lazy = true;
		r->at++;
	}
	if (r->at < r->end && *r->at == '+')
		return fail(r, "possessive repetition is not supported");
	if (how.least > MOST_REPEATS || how.most > MOST_REPEATS)
		return fail(r, "too many repetitions");
	if (none)
		r->regex->count = first;
	else
		repeat_code(r, first, how);
	return !r->regex->error;
}

/* --- sets */

static void add_range(struct reader *r, uint32_t low, uint32_t high)
{
	struct regex *x = r->regex;

	if (x->range_count == x->range_capacity) {
		x->range_capacity = x->range_capacity ? x->range_capacity * 2 : 32;
		x->ranges = checked_realloc(x->ranges, x->range_capacity, sizeof(*x->ranges));
	}
	x->ranges[x->range_count++] = (struct regex_range){low, high};
}

static bool add_class(struct reader *r, char letter)
{
	const struct regex_range *from;
	uint32_t count, before = 0;

	switch (letter | 0x20) {
	case 'd':
		from = digits, count = sizeof(digits) / sizeof(digits[0]);
		break;
	case 's':
		from = blanks, count = sizeof(blanks) / sizeof(blanks[0]);
		break;
	case 'w':
		from = words, count = sizeof(words) / sizeof(words[0]);
		break;
	default:
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (letter & 0x20)
			add_range(r, from[i].low, from[i].high);
		else if (from[i].low > before)
			add_range(r, before, from[i].low - 1);
		before = from[i].high + 1;
	}
	if (!(letter & 0x20) && before <= 0x10ffff)
		add_range(r, before, 0x10ffff);
	return true;
}

static uint32_t read_point(struct reader *r)
{
	size_t bytes;
	uint32_t point = regex_point(r->at, (size_t)(r->end - r->at), 0, &bytes);

	r->at += bytes;
	return point;
}

static uint32_t read_hex(struct reader *r, int count)
{
	uint32_t value = 0;

	for (; count && r->at < r->end; count--, r->at++) {
		char c = (char)(*r->at | 0x20);

		value = value * 16 + (uint32_t)(*r->at <= '9' ? *r->at - '0' : c - 'a' + 10);
	}
	return value;
}

/* After a backslash: a character that stands for one. */
static uint32_t read_escape(struct reader *r)
{
	static const char letters[] = "ntrfva0", points[] = "\n\t\r\f\v\a";
	const char *found = strchr(letters, *r->at);

	if (*r->at == 'x' || *r->at == 'u')
		return read_hex(r, *r->at++ == 'x' ? 2 : 4);
	if (*r->at && found) {
		r->at++;
		return (unsigned char)points[found - letters];
	}
	return read_point(r);
}

static bool read_set_item(struct reader *r, bool *is_class, uint32_t *point)
{
	*is_class = false;
	if (*r->at != '\\') {
		*point = read_point(r);
		return true;
	}
	if (++r->at == r->end)
		return fail(r, "unterminated character set");
	if (add_class(r, *r->at)) {
		r->at++;
		*is_class = true;
	} else if (*r->at == 'b') {
		r->at++;
		*point = 8;
	} else {
		*point = read_escape(r);
	}
	return true;
}

static bool read_set(struct reader *r)
{
	uint32_t first = r->regex->range_count, low, high = 0, at;
	bool negated = r->at < r->end && *r->at == '^', is_class;
	const char *from;

	r->at += negated;
	for (from = r->at; r->at < r->end && (*r->at != ']' || r->at == from);) {
		if (!read_set_item(r, &is_class, &low))
			return false;
		if (is_class)
			continue;
		high = low;
		if (r->end - r->at > 1 && *r->at == '-' && r->at[1] != ']') {
			r->at++;
			if (!read_set_item(r, &is_class, &high))
				return false;
			if (is_class || high < low)
				return fail(r, "bad character range");
		}
		add_range(r, low, high);
	}
	if (r->at == r->end)
		return fail(r, "unterminated character set");
	r->at++;
	at = emit(r, RX_SET, (int32_t)first, (int32_t)(r->regex->range_count - first));
	if (!r->regex->error)
		r->regex->code[at].negated = negated;
	return !r->regex->error;
}

/* --- groups */

static bool read_ways(struct reader *r);

static bool close_group(struct reader *r)
{
	if (r->at == r->end || *r->at != ')')
		return fail(r, "missing ), unterminated subpattern");
	r->at++;
	return true;
}

static bool read_group(struct reader *r, uint32_t group)
{
	emit(r, RX_SAVE, (int32_t)group * 2, 0);
	if (!read_ways(r))
		return false;
	emit(r, RX_SAVE, (int32_t)group * 2 + 1, 0);
	return close_group(r);
}

/* How many code points what was written from `first` on takes; false: that varies. */
static bool width_of(const struct regex *x, uint32_t first, uint32_t end, int32_t *width)
{
	*width = 0;
	for (uint32_t i = first; i < end; i++) {
		const struct regex_inst *in = &x->code[i];

		if (in->op == RX_SPLIT || in->op == RX_SAME)
			return false;
		if (in->op == RX_LOOK)
			i = (uint32_t)in->y - 1;
		*width += in->op <= RX_SET;
	}
	return true;
}

static bool read_look(struct reader *r, bool behind)
{
	bool negated = *r->at++ == '!';
	uint32_t at = emit(r, RX_LOOK, 0, 0);
	int32_t width = 0;

	if (!read_ways(r) || !close_group(r))
		return false;
	if (behind && !width_of(r->regex, at + 1, r->regex->count, &width))
		return fail(r, "look-behind requires fixed-width pattern");
	emit(r, RX_MATCH, 0, 0);
	put(r, at, RX_LOOK, (uint32_t)width, r->regex->count);
	if (!r->regex->error)
		r->regex->code[at].negated = negated;
	return !r->regex->error;
}

static const char *read_name(struct reader *r, char last)
{
	const char *from = r->at;

	while (r->at < r->end && *r->at != last)
		r->at++;
	if (r->at == r->end || r->at == from) {
		fail(r, "missing group name");
		return NULL;
	}
	return from;
}

static bool read_named(struct reader *r)
{
	struct regex *x = r->regex;
	const char *from = read_name(r, '>');
	uint32_t group = ++x->groups;

	if (!from || x->groups >= REGEX_MOST_GROUPS)
		return fail(r, "too many groups");
	x->names[x->name_count++] =
	        (struct regex_name){(uint32_t)(from - r->start), (uint32_t)(r->at - from), group};
	r->at++;
	return read_group(r, group);
}

static bool read_same_name(struct reader *r)
{
	const char *from = read_name(r, ')');
	size_t length = (size_t)(r->at - from);

	for (uint32_t i = 0; from && i < r->regex->name_count; i++) {
		const struct regex_name *name = &r->regex->names[i];

		if (name->length == length && memcmp(r->start + name->start, from, length) == 0) {
			r->at++;
			emit(r, RX_SAME, (int32_t)name->group, 0);
			return true;
		}
	}
	return fail(r, "unknown group name");
}

static uint32_t flag_of(char letter)
{
	switch (letter) {
	case 'i':
		return REGEX_IGNORE_CASE;
	case 'm':
		return REGEX_LINES;
	case 's':
		return REGEX_DOT_ALL;
	case 'x':
		return REGEX_VERBOSE;
	default:
		return 0;
	}
}

/* (?i) for all that follows, (?i:...) for the group. */
static bool read_flags(struct reader *r)
{
	uint32_t before = r->flags;
	bool ok;

	for (; r->at < r->end && (flag_of(*r->at) || *r->at == 'a' || *r->at == 'u'); r->at++)
		r->flags |= flag_of(*r->at);
	if (r->at < r->end && *r->at == ')') {
		r->at++;
		return true;
	}
	if (r->at == r->end || *r->at != ':')
		return fail(r, "unknown extension");
	r->at++;
	ok = read_ways(r) && close_group(r);
	r->flags = before;
	return ok;
}

static bool read_extension(struct reader *r)
{
	char next;

	if (++r->at == r->end)
		return fail(r, "unexpected end of pattern");
	next = r->at + 1 < r->end ? r->at[1] : 0;
	if (*r->at == '#') {
		while (r->at < r->end && *r->at != ')')
			r->at++;
		return close_group(r);
	}
	if (*r->at == '=' || *r->at == '!')
		return read_look(r, false);
	if (*r->at == '<' && (next == '=' || next == '!')) {
		r->at++;
		return read_look(r, true);
	}
	if (*r->at == 'P' && (next == '<' || next == '=')) {
		r->at += 2;
		return next == '<' ? read_named(r) : read_same_name(r);
	}
	return read_flags(r);
}

static bool read_parenthesis(struct reader *r)
{
	if (r->at < r->end && *r->at == '?')
		return read_extension(r);
	if (++r->regex->groups >= REGEX_MOST_GROUPS)
		return fail(r, "too many groups");
	return read_group(r, r->regex->groups);
}

/* --- atoms */

static bool read_backslash(struct reader *r)
{
	uint32_t first = r->regex->range_count, number, at;

	if (r->at == r->end)
		return fail(r, "bad escape (end of pattern)");
	if (*r->at >= '1' && *r->at <= '9') {
		read_number(r, &number);
		if (number > r->regex->groups)
			return fail(r, "invalid group reference");
		emit(r, RX_SAME, (int32_t)number, 0);
	} else if (*r->at == 'b' || *r->at == 'B') {
		at = emit(r, RX_WORD_EDGE, 0, 0);
		if (!r->regex->error)
			r->regex->code[at].negated = *r->at == 'B';
		r->at++;
	} else if (*r->at == 'A' || *r->at == 'Z') {
		emit(r, *r->at++ == 'A' ? RX_START : RX_TEXT_END, 0, 0);
	} else if (add_class(r, *r->at)) {
		r->at++;
		emit(r, RX_SET, (int32_t)first, (int32_t)(r->regex->range_count - first));
	} else {
		emit(r, RX_CHAR, (int32_t)read_escape(r), 0);
	}
	return !r->regex->error;
}

static bool read_any(struct reader *r)
{
	uint32_t first = r->regex->range_count;

	if (!(r->flags & REGEX_DOT_ALL)) {
		emit(r, RX_ANY, 0, 0);
		return true;
	}
	add_range(r, 0, 0x10ffff);
	emit(r, RX_SET, (int32_t)first, 1);
	return true;
}

static bool read_atom(struct reader *r)
{
	switch (*r->at) {
	case '(':
		r->at++;
		return read_parenthesis(r);
	case '[':
		r->at++;
		return read_set(r);
	case '\\':
		r->at++;
		return read_backslash(r);
	case '.':
		r->at++;
		return read_any(r);
	case '^':
		r->at++;
		emit(r, r->flags & REGEX_LINES ? RX_LINE_START : RX_START, 0, 0);
		return true;
	case '$':
		r->at++;
		emit(r, r->flags & REGEX_LINES ? RX_LINE_END : RX_END, 0, 0);
		return true;
	case '*':
	case '+':
	case '?':
		return fail(r, "nothing to repeat");
	default:
		emit(r, RX_CHAR, (int32_t)read_point(r), 0);
		return true;
	}
}

static bool skip_blanks(struct reader *r)
{
	if (!(r->flags & REGEX_VERBOSE) || r->at == r->end)
		return false;
	if (*r->at == '#') {
		while (r->at < r->end && *r->at != '\n')
			r->at++;
		return true;
	}
	if (*r->at != ' ' && (*r->at < '\t' || *r->at > '\r'))
		return false;
	r->at++;
	return true;
}

static bool read_way(struct reader *r)
{
	while (r->at < r->end && *r->at != '|' && *r->at != ')') {
		uint32_t first = r->regex->count;
		bool repeated;

		if (skip_blanks(r))
			continue;
		if (!read_atom(r) || r->regex->error)
			return false;
		while (skip_blanks(r))
			;
		if (!read_repeat(r, first, &repeated))
			return false;
		if (repeated && r->at < r->end && (*r->at == '*' || *r->at == '+'))
			return fail(r, "multiple repeat");
	}
	return !r->regex->error;
}

/* split A, B; A; jump out; B: split ... */
static bool read_ways(struct reader *r)
{
	uint32_t first = r->regex->count, leave;

	if (++r->depth > MOST_DEPTH)
		return fail(r, "the pattern is nested too deeply");
	if (!read_way(r))
		return false;
	if (r->at < r->end && *r->at == '|') {
		r->at++;
		make_room(r, first);
		leave = emit(r, RX_JUMP, 0, 0);
		put(r, first, RX_SPLIT, first + 1, r->regex->count);
		if (!read_ways(r))
			return false;
		put(r, leave, RX_JUMP, r->regex->count, 0);
	}
	r->depth--;
	return !r->regex->error;
}

bool regex_compile(struct regex *regex, const char *pattern, size_t length, uint32_t flags)
{
	struct reader r = {.regex = regex,
	                   .at = pattern,
	                   .end = pattern + length,
	                   .start = pattern,
	                   .flags = flags};

	memset(regex, 0, sizeof(*regex));
	/* Slots of loops come after those of all groups. */
	regex->slots = 2 * REGEX_MOST_GROUPS;
	if (read_ways(&r) && r.at < r.end)
		fail(&r, "unbalanced parenthesis");
	emit(&r, RX_MATCH, 0, 0);
	regex->flags = r.flags;
	return !regex->error;
}

void regex_free(struct regex *regex)
{
	free(regex->code);
	free(regex->ranges);
}
