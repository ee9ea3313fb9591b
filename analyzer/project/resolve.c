#include "analyzer/project/resolve.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/text.h"

enum { MAX_PARTS = 64, ANCESTORS = 3 };

static bool is_up(const char *part, size_t length)
{
	return length == 2 && memcmp(part, "..", 2) == 0;
}

const char *resolve_normal(struct arena *arena, const char *path)
{
	const char *parts[MAX_PARTS];
	size_t lengths[MAX_PARTS];
	int count = 0;
	struct text out = {.arena = arena};
	const char *at = path;

	while (*at) {
		size_t length = strcspn(at, "/");

		if (is_up(at, length) &&
		    (count ? !is_up(parts[count - 1], lengths[count - 1]) : *path == '/')) {
			count -= count > 0; /* above the root is the root */
		} else if (length > 0 && !(length == 1 && *at == '.')) {
			if (count == MAX_PARTS)
				return path;
			parts[count] = at;
			lengths[count++] = length;
		}
		at += length;
		at += strspn(at, "/");
	}
	if (*path == '/')
		text_add_char(&out, '/');
	for (int i = 0; i < count; i++) {
		if (i > 0)
			text_add_char(&out, '/');
		text_add(&out, parts[i], lengths[i]);
	}
	return count || *path == '/' ? text_chars(&out) : ".";
}

const char *resolve_folder(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return ".";
	return slash == path ? "/" : arena_text(arena, path, (size_t)(slash - path));
}

const char *resolve_root(struct arena *arena, const char *path)
{
	const char *folder = resolve_folder(arena, path);

	for (int depth = 0; depth < 32; depth++) {
		struct text init = {.arena = arena};

		text_print(&init, "%s/__init__.py", folder);
		if (access(text_chars(&init), F_OK) != 0 || strcmp(folder, ".") == 0)
			break;
		folder = resolve_folder(arena, folder);
	}
	return folder;
}

static void add_path(struct arena *arena, struct resolve_paths *paths, const char *folder,
                     const char *rest, const char *suffix)
{
	struct text path = {.arena = arena};

	if (paths->count == RESOLVE_MAX_PATHS)
		return;
	if (strcmp(folder, ".") != 0)
		text_add_chars(&path, folder);
	if (path.length && strcmp(folder, "/") != 0)
		text_add_char(&path, '/');
	text_add_chars(&path, rest);
	text_add_chars(&path, suffix);
	paths->at[paths->count++] = text_chars(&path);
}

/* `rest`: below the folder, "" for the folder itself. */
static void add_module(struct arena *arena, struct resolve_paths *paths, const char *folder,
                       const char *rest)
{
	if (*rest) {
		add_path(arena, paths, folder, rest, ".py");
		add_path(arena, paths, folder, rest, "/__init__.py");
	} else {
		add_path(arena, paths, folder, "", "__init__.py");
	}
}

static const char *path_of_dotted(struct arena *arena, const char *dotted)
{
	char *rest = arena_text(arena, dotted, strlen(dotted));

	for (char *c = rest; *c; c++)
		*c = *c == '.' ? '/' : *c;
	return rest;
}

static const char *folder_above(struct arena *arena, const char *folder, size_t levels)
{
	struct text up = {.arena = arena};

	text_add_chars(&up, folder);
	for (size_t i = 0; i < levels; i++)
		text_add_chars(&up, "/..");
	return resolve_normal(arena, text_chars(&up));
}

void resolve_python(struct arena *arena, const char *importer, const char *package_root,
                    const char *dotted, struct resolve_paths *paths)
{
	const size_t dots = strspn(dotted, ".");
	const char *rest = path_of_dotted(arena, dotted + dots);
	const char *folder = resolve_normal(arena, resolve_folder(arena, importer));
	const char *root = resolve_normal(arena, package_root), *above = root;
	struct text source = {.arena = arena};

	paths->count = 0;
	if (dots > 0) {
		add_module(arena, paths, folder_above(arena, folder, dots - 1), rest);
		return;
	}
	add_module(arena, paths, root, rest);
	if (strcmp(folder, root) != 0)
		add_module(arena, paths, folder, rest);
	text_add_chars(&source, root);
	text_add_chars(&source, "/src");
	add_module(arena, paths, resolve_normal(arena, text_chars(&source)), rest);
	for (int i = 0; i < ANCESTORS && strcmp(above, "/") != 0; i++) {
		above = folder_above(arena, above, 1);
		add_module(arena, paths, above, rest);
	}
}
