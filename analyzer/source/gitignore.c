#include "analyzer/source/gitignore.h"

#include <string.h>

#include "analyzer/source/glob.h"

/* Without the spaces at the end, unless a backslash keeps them. */
static size_t trimmed_length(const char *line, size_t length)
{
	size_t end = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == '\\' && i + 1 < length)
			i++;
		else if (line[i] == ' ' || line[i] == '\t')
			continue;
		end = i + 1;
	}
	return end;
}

static void add_line(struct arena *arena, struct ignore_list *list, const char *line, size_t length)
{
	struct ignore_pattern pattern = {0};

	if (length && line[length - 1] == '\r')
		length--;
	if (!length || line[0] == '#')
		return;
	length = trimmed_length(line, length);
	if (length && line[0] == '!') {
		pattern.negated = true;
		line++;
		length--;
	}
	if (length && line[length - 1] == '/') {
		pattern.folders_only = true;
		length--;
	}
	if (length && line[0] == '/') {
		pattern.anchored = true;
		line++;
		length--;
	}
	if (!length)
		return;
	pattern.anchored |= memchr(line, '/', length) != NULL;
	pattern.glob = arena_text(arena, line, length);
	pattern.length = length;
	vec_push(arena, &list->patterns, pattern);
}

void ignore_add_lines(struct arena *arena, struct ignore_list *list, const char *bytes,
                      size_t length)
{
	const char *at = bytes, *end = bytes + length;

	if (length >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (!stop)
			stop = end;
		add_line(arena, list, at, (size_t)(stop - at));
		at = stop + 1;
	}
}

static bool pattern_matches(const struct ignore_pattern *pattern, const char *path, size_t length,
                            bool is_folder)
{
	const char *slash;

	if (pattern->folders_only && !is_folder)
		return false;
	if (!pattern->anchored && (slash = memrchr(path, '/', length))) {
		length -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	return glob_match(pattern->glob, pattern->length, path, length);
}

enum ignore_verdict ignore_match(const struct ignore_list *list, const char *path, size_t length,
                                 bool is_folder)
{
	for (uint32_t i = list->patterns.count; i-- > 0;) {
		const struct ignore_pattern *pattern = &list->patterns.at[i];

		if (pattern_matches(pattern, path, length, is_folder))
			return pattern->negated ? IGNORE_KEPT : IGNORE_EXCLUDED;
	}
	return IGNORE_SILENT;
}
