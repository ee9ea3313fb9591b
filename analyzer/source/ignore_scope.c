#include "analyzer/source/ignore_scope.h"

#include <string.h>
#include <unistd.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/text.h"
#include "analyzer/source/read.h"

static const char *join(struct arena *arena, const char *folder, size_t length, const char *name)
{
	struct text path = {.arena = arena};

	text_add(&path, folder, length);
	text_add_char(&path, '/');
	text_add_chars(&path, name);
	return path.at;
}

static bool add_file(struct arena *arena, struct ignore_list *list, const char *path)
{
	struct source_problem problem;
	struct raw_bytes raw;

	if (access(path, R_OK) || !read_file(arena, path, LIMIT_IGNORE_FILE_BYTES, &raw, &problem))
		return false;
	ignore_add_lines(arena, list, raw.at, raw.size);
	return true;
}

static bool is_top(struct arena *arena, const char *folder, size_t length)
{
	return !access(join(arena, folder, length, ".git"), F_OK);
}

const struct ignore_scope *ignore_scope_enter(struct arena *arena, const struct ignore_scope *outer,
                                              const char *folder)
{
	struct ignore_scope *scope = arena_new(arena, struct ignore_scope);
	size_t length = strlen(folder);
	bool found = false;

	/* Another work tree begins: what is around it does not apply. */
	if (is_top(arena, folder, length)) {
		outer = NULL;
		found = add_file(arena, &scope->list,
		                 join(arena, folder, length, ".git/info/exclude"));
	}
	found |= add_file(arena, &scope->list, join(arena, folder, length, ".gitignore"));
	if (!found)
		return outer;
	scope->outer = outer;
	scope->base = length + 1;
	return scope;
}

/* The nearest folder at or above with a .git; the whole length when there is none. */
static size_t top_length(struct arena *arena, const char *folder, size_t length)
{
	size_t at = length;

	for (;;) {
		if (is_top(arena, folder, at))
			return at;
		if (!at)
			return length;
		while (at && folder[at - 1] != '/')
			at--;
		at -= at > 0;
	}
}

const struct ignore_scope *ignore_scope_around(struct arena *arena, const char *folder)
{
	const struct ignore_scope *scope = NULL;
	size_t length = strlen(folder);
	size_t at = top_length(arena, folder, length);

	while (at < length) {
		const char *slash;

		scope = ignore_scope_enter(arena, scope, arena_text(arena, folder, at));
		slash = memchr(folder + at + 1, '/', length - at - 1);
		at = slash ? (size_t)(slash - folder) : length;
	}
	return scope;
}

bool ignore_scope_excludes(const struct ignore_scope *scope, const char *path, size_t length,
                           bool is_folder)
{
	for (; scope; scope = scope->outer) {
		enum ignore_verdict verdict = ignore_match(&scope->list, path + scope->base,
		                                           length - scope->base, is_folder);

		if (verdict != IGNORE_SILENT)
			return verdict == IGNORE_EXCLUDED;
	}
	return false;
}
