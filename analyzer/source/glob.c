#include "analyzer/source/glob.h"

#include <ctype.h>
#include <string.h>

struct glob {
	const char *pattern, *pattern_start, *pattern_end;
	const char *path, *path_end;
	/* Where to go on after a mismatch: the last star takes one byte more, the
	 * last double star one folder more. An older one need not be tried: what a
	 * later one can take contains what the older could give. */
	const char *star_pattern, *star_path;
	const char *deep_pattern, *deep_path;
};

/* The byte at *at, a backslash taken off; moves *at behind it. */
static unsigned char class_byte(const char **at, const char *end)
{
	if (**at == '\\' && *at + 1 < end)
		++*at;
	return (unsigned char)*(*at)++;
}

/* `[:alpha:]` at `at`; 0 if it is none, else its length. */
static size_t named_class(const char *at, const char *end, unsigned char byte, bool *matched)
{
	static const struct {
		const char *name;
		int (*has)(int);
	} classes[] = {
	        {"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
	        {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
	        {"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t length = strlen(classes[i].name);

		if ((size_t)(end - at) < length + 4 || memcmp(at, "[:", 2) != 0 ||
		    memcmp(at + 2, classes[i].name, length) != 0 ||
		    memcmp(at + 2 + length, ":]", 2) != 0)
			continue;
		*matched |= classes[i].has(byte) != 0;
		return length + 4;
	}
	return 0;
}

/* Behind the bracket that closes the class, NULL when none does. */
static const char *match_class(const char *at, const char *end, unsigned char byte, bool *matched)
{
	bool negated = at < end && (*at == '!' || *at == '^'), any = false;
	const char *first;

	at += negated;
	for (first = at; at < end && (*at != ']' || at == first);) {
		size_t named = named_class(at, end, byte, &any);
		unsigned char low, high;

		at += named;
		if (named)
			continue;
		low = high = class_byte(&at, end);
		if (at + 1 < end && *at == '-' && at[1] != ']') {
			at++;
			high = class_byte(&at, end);
		}
		any |= low <= byte && byte <= high;
	}
	*matched = any != negated;
	return at < end ? at + 1 : NULL;
}

/* Two stars or more that are a whole component: at the start or after a slash,
 * and before a slash or at the end. */
static void begin_star(struct glob *g)
{
	const char *first = g->pattern;
	bool starts = first == g->pattern_start || first[-1] == '/';

	while (g->pattern < g->pattern_end && *g->pattern == '*')
		g->pattern++;
	if (g->pattern - first < 2 || !starts ||
	    (g->pattern < g->pattern_end && *g->pattern != '/')) {
		g->star_pattern = g->pattern;
		g->star_path = g->path;
		return;
	}
	g->pattern += g->pattern < g->pattern_end;
	g->deep_pattern = g->pattern;
	g->deep_path = g->path;
	g->star_pattern = NULL;
}

static bool match_byte(struct glob *g)
{
	const char *pattern = g->pattern;
	bool matched;

	if (pattern == g->pattern_end)
		return false;
	if (*pattern == '?') {
		matched = *g->path != '/';
		pattern++;
	} else if (*pattern == '[') {
		pattern =
		        match_class(pattern + 1, g->pattern_end, (unsigned char)*g->path, &matched);
		if (!pattern || *g->path == '/')
			return false;
	} else {
		matched = (char)class_byte(&pattern, g->pattern_end) == *g->path;
	}
	if (!matched)
		return false;
	g->pattern = pattern;
	g->path++;
	return true;
}

static bool go_back(struct glob *g)
{
	const char *slash;

	if (g->star_pattern && g->star_path < g->path_end && *g->star_path != '/') {
		g->path = ++g->star_path;
		g->pattern = g->star_pattern;
		return true;
	}
	g->star_pattern = NULL;
	if (!g->deep_pattern)
		return false;
	slash = memchr(g->deep_path, '/', (size_t)(g->path_end - g->deep_path));
	if (!slash)
		return false;
	g->path = g->deep_path = slash + 1;
	g->pattern = g->deep_pattern;
	return true;
}

bool glob_match(const char *pattern, size_t pattern_length, const char *path, size_t path_length)
{
	struct glob g = {
	        .pattern = pattern,
	        .pattern_start = pattern,
	        .pattern_end = pattern + pattern_length,
	        .path = path,
	        .path_end = path + path_length,
	};

	for (;;) {
		if (g.pattern < g.pattern_end && *g.pattern == '*') {
			begin_star(&g);
			/* A double star at the end takes all that is left. */
			if (g.pattern == g.pattern_end && g.pattern == g.deep_pattern &&
			    !g.star_pattern)
				return g.path < g.path_end || path_length == 0;
			continue;
		}
		if (g.path == g.path_end && g.pattern == g.pattern_end)
			return true;
		if (g.path < g.path_end && match_byte(&g))
			continue;
		if (!go_back(&g))
			return false;
	}
}
