#include <string.h>
#include <strings.h>

#include "analyzer/app/options.h"

enum { LONGEST_NAME = 48 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '_' ? '-' : c;
}

/* Damerau's distance (optimal string alignment) of two short names; case and
 * the kind of dash do not count. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][LONGEST_NAME + 1];
	unsigned *two_ago = rows[0], *before = rows[1], *now = rows[2];

	for (unsigned j = 0; j <= b_length; j++)
		before[j] = j;
	for (unsigned i = 1; i <= a_length; i++) {
		unsigned *spare = two_ago;

		now[0] = i;
		for (unsigned j = 1; j <= b_length; j++) {
			unsigned differs = folded(a[i - 1]) != folded(b[j - 1]);

			now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + differs);
			if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
			    folded(a[i - 2]) == folded(b[j - 1]))
				now[j] = least(now[j], two_ago[j - 2] + 1);
		}
		two_ago = before;
		before = now;
		now = spare;
	}
	return before[b_length];
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate)
{
	size_t length = strlen(suggestion->name);
	size_t other = strlen(candidate);
	unsigned found;

	if (length > LONGEST_NAME || other > LONGEST_NAME)
		return;
	found = distance(suggestion->name, length, candidate, other);
	if (found > 1 && found > (length + 1) / 3)
		return;
	if (suggestion->closest && suggestion->distance <= found)
		return;
	suggestion->closest = candidate;
	suggestion->distance = found;
}

void suggestion_print(const struct suggestion *suggestion, const char *prefix, struct text *out)
{
	if (suggestion->closest)
		text_print(out, "; did you mean `%s%s`?", prefix, suggestion->closest);
}
