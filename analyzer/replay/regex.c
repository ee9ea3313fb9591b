#include "analyzer/replay/regex.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"

uint32_t regex_point(const char *text, size_t length, size_t at, size_t *bytes)
{
	unsigned char first = (unsigned char)text[at];
	size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	uint32_t point = size == 1 ? first : first & (0xffU >> (size + 1));

	if (size > length - at)
		size = length - at;
	for (size_t i = 1; i < size; i++)
		point = point << 6 | ((unsigned char)text[at + i] & 0x3fU);
	*bytes = size;
	return point;
}

bool regex_is_word(uint32_t point)
{
	return point == '_' || (point >= '0' && point <= '9') || (point >= 'a' && point <= 'z') ||
	       (point >= 'A' && point <= 'Z') || point >= 0xaa;
}

bool regex_in_ranges(const struct regex_range *ranges, uint32_t count, uint32_t point)
{
	for (uint32_t i = 0; i < count; i++)
		if (point >= ranges[i].low && point <= ranges[i].high)
			return true;
	return false;
}

/* --- the machine */

/* What is tried when the present way fails, or a slot's value before it. */
struct branch {
	int32_t pc; /* -1: a slot */
	uint32_t slot;
	int64_t at;
};

struct machine {
	const struct regex *regex;
	const char *text;
	size_t length;
	int64_t *slots;
	struct branch *todo;
	uint32_t count, capacity;
	uint32_t steps;
	int64_t refused; /* the match must not end here; -1: nowhere */
	bool whole;
};

static void push(struct machine *m, struct branch branch)
{
	if (m->count == m->capacity) {
		m->capacity = m->capacity ? m->capacity * 2 : 64;
		m->todo = checked_realloc(m->todo, m->capacity, sizeof(*m->todo));
	}
	m->todo[m->count++] = branch;
}

static uint32_t lower(uint32_t point)
{
	return point >= 'A' && point <= 'Z' ? point + 32 : point;
}

static uint32_t other_case(uint32_t point)
{
	if (point >= 'a' && point <= 'z')
		return point - 32;
	return lower(point);
}

static bool fits(const struct machine *m, const struct regex_inst *in, uint32_t point)
{
	const struct regex_range *ranges = m->regex->ranges;
	bool found;

	if (in->op == RX_ANY)
		return point != '\n';
	if (in->op == RX_CHAR)
		return in->fold ? lower((uint32_t)in->x) == lower(point) : (uint32_t)in->x == point;
	found = regex_in_ranges(ranges + in->x, (uint32_t)in->y, point) ||
	        (in->fold && regex_in_ranges(ranges + in->x, (uint32_t)in->y, other_case(point)));
	return found != in->negated;
}

static bool word_before(const struct machine *m, size_t at)
{
	return at > 0 && ((unsigned char)m->text[at - 1] >= 0x80 ||
	                  regex_is_word((unsigned char)m->text[at - 1]));
}

static bool word_at(const struct machine *m, size_t at)
{
	size_t bytes;

	return at < m->length && regex_is_word(regex_point(m->text, m->length, at, &bytes));
}

static bool at_anchor(const struct machine *m, const struct regex_inst *in, size_t at)
{
	switch ((enum regex_op)in->op) {
	case RX_START:
		return at == 0;
	case RX_LINE_START:
		return at == 0 || m->text[at - 1] == '\n';
	case RX_END:
		return at == m->length || (at + 1 == m->length && m->text[at] == '\n');
	case RX_LINE_END:
		return at == m->length || m->text[at] == '\n';
	case RX_TEXT_END:
		return at == m->length;
	default:
		return (word_before(m, at) != word_at(m, at)) != in->negated;
	}
}

/* The same text as a group: how many bytes, or -1. */
static int64_t same_again(const struct machine *m, const struct regex_inst *in, size_t at)
{
	int64_t start = m->slots[in->x * 2], end = m->slots[in->x * 2 + 1];

	if (start < 0 || end < start || (size_t)(end - start) > m->length - at)
		return -1;
	for (int64_t i = 0; i < end - start; i++) {
		uint32_t a = (unsigned char)m->text[start + i];
		uint32_t b = (unsigned char)m->text[at + (size_t)i];

		if (in->fold ? lower(a) != lower(b) : a != b)
			return -1;
	}
	return end - start;
}

static bool run_from(struct machine *m, int32_t pc, size_t at, size_t *end, bool inner);

static bool looks(struct machine *m, const struct regex_inst *in, int32_t pc, size_t at)
{
	uint32_t kept = m->count, to = kept;
	size_t from = at, end;
	bool found;

	for (int32_t back = 0; back < in->x; back++) {
		if (from == 0)
			return in->negated;
		while (--from > 0 && ((unsigned char)m->text[from] & 0xc0) == 0x80)
			;
	}
	found = run_from(m, pc + 1, from, &end, true);
	/* What it saved stays, its other ways do not. */
	for (uint32_t i = kept; i < m->count; i++)
		if (m->todo[i].pc < 0)
			m->todo[to++] = m->todo[i];
	m->count = to;
	return found != in->negated;
}

static void save(struct machine *m, uint32_t slot, size_t at)
{
	push(m, (struct branch){-1, slot, m->slots[slot]});
	m->slots[slot] = (int64_t)at;
}

/* One instruction: false, this way fails. */
static bool step(struct machine *m, int32_t *pc, size_t *at)
{
	const struct regex_inst *in = &m->regex->code[*pc];
	size_t bytes = 0;
	int64_t same;

	switch ((enum regex_op)in->op) {
	case RX_CHAR:
	case RX_ANY:
	case RX_SET:
		if (*at >= m->length || !fits(m, in, regex_point(m->text, m->length, *at, &bytes)))
			return false;
		*at += bytes;
		break;
	case RX_SPLIT:
		push(m, (struct branch){in->y, 0, (int64_t)*at});
		*pc = in->x - 1;
		break;
	case RX_JUMP:
		*pc = in->x - 1;
		break;
	case RX_SAVE:
		save(m, (uint32_t)in->x, *at);
		break;
	case RX_MOVED:
		*pc += m->slots[in->x] == (int64_t)*at;
		break;
	case RX_SAME:
		same = same_again(m, in, *at);
		if (same < 0)
			return false;
		*at += (size_t)same;
		break;
	case RX_LOOK:
		if (!looks(m, in, *pc, *at))
			return false;
		*pc = in->y - 1;
		break;
	default:
		if (!at_anchor(m, in, *at))
			return false;
		break;
	}
	++*pc;
	return true;
}

static bool may_end(const struct machine *m, size_t at)
{
	return (int64_t)at != m->refused && (!m->whole || at == m->length);
}

static bool run_from(struct machine *m, int32_t pc, size_t at, size_t *end, bool inner)
{
	uint32_t base = m->count;

	for (;;) {
		bool done = m->regex->code[pc].op == RX_MATCH;

		if (done && (inner || may_end(m, at))) {
			*end = at;
			return true;
		}
		if (++m->steps > REGEX_MOST_STEPS)
			return false;
		if (!done && step(m, &pc, &at))
			continue;
		while (m->count > base && m->todo[m->count - 1].pc < 0) {
			const struct branch *b = &m->todo[--m->count];

			m->slots[b->slot] = b->at;
		}
		if (m->count == base)
			return false;
		pc = m->todo[--m->count].pc;
		at = (size_t)m->todo[m->count].at;
	}
}

static bool matches_at(struct machine *m, size_t from, int64_t *out)
{
	size_t end;

	m->count = 0;
	for (uint32_t i = 0; i < 2 * (m->regex->groups + 1); i++)
		m->slots[i] = -1;
	if (!run_from(m, 0, from, &end, false))
		return false;
	memcpy(out, m->slots, 2 * (m->regex->groups + 1) * sizeof(*out));
	out[0] = (int64_t)from;
	out[1] = (int64_t)end;
	return true;
}

bool regex_run(const struct regex *regex, const char *text, size_t length, size_t from,
               enum regex_how how, int64_t *out)
{
	struct machine m = {.regex = regex, .text = text, .length = length};
	bool found = false;
	size_t bytes;

	m.refused = how == REGEX_ONWARD ? (int64_t)from : -1;
	m.whole = how == REGEX_WHOLE;
	m.slots = checked_alloc(regex->slots + 2, sizeof(*m.slots));
	for (size_t at = from; at <= length && !found; at += bytes) {
		found = matches_at(&m, at, out);
		bytes = 1;
		if (at < length)
			regex_point(text, length, at, &bytes);
		if (how == REGEX_AT_START || how == REGEX_WHOLE)
			break;
	}
	free(m.slots);
	free(m.todo);
	return found;
}
