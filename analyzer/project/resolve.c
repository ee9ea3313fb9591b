#include "analyzer/project/resolve.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/text.h"

enum { MAX_PARTS = 64, ANCESTORS = 3 };

const char *resolve_normal(struct arena *arena, const char *path)
{
	const char *parts[MAX_PARTS];
	size_t lengths[MAX_PARTS];
	int count = 0;
	struct text out = {.arena = arena};
	const char *at = path;

	while (*at) {
		size_t length = strcspn(at, "/");

		if (length == 2 && memcmp(at, "..", 2) == 0 && count > 0 &&
		    !(lengths[count - 1] == 2 && memcmp(parts[count - 1], "..", 2) == 0)) {
			count--;
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
		if (access(text_chars(&init), F_OK) != 0 || strchr(folder, '/') == NULL)
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
	text_print(&path, "%s/%s%s", folder, rest, suffix);
	paths->at[paths->count++] = resolve_normal(arena, text_chars(&path));
}

static void add_module(struct arena *arena, struct resolve_paths *paths, const char *folder,
                       const char *dotted)
{
	struct text rest = {.arena = arena};

	for (const char *c = dotted; *c; c++)
		text_add_char(&rest, *c == '.' ? '/' : *c);
	if (rest.length > 0) {
		add_path(arena, paths, folder, text_chars(&rest), ".py");
		add_path(arena, paths, folder, text_chars(&rest), "/__init__.py");
	} else {
		add_path(arena, paths, folder, "", "__init__.py");
	}
}

void resolve_python(struct arena *arena, const char *importer, const char *package_root,
                    const char *dotted, struct resolve_paths *paths)
{
	const char *folder = resolve_folder(arena, importer);
	size_t dots = strspn(dotted, ".");
	struct text up = {.arena = arena};

	paths->count = 0;
	if (dots > 0) {
		text_add_chars(&up, folder);
		for (size_t i = 1; i < dots; i++)
			text_add_chars(&up, "/..");
		add_module(arena, paths, text_chars(&up), dotted + dots);
		return;
	}
	add_module(arena, paths, package_root, dotted);
	if (strcmp(folder, package_root) != 0)
		add_module(arena, paths, folder, dotted);
	text_add_chars(&up, package_root);
	text_add_chars(&up, "/src");
	add_module(arena, paths, text_chars(&up), dotted);
	text_cut(&up, up.length - 4);
	for (int i = 0; i < ANCESTORS; i++) {
		text_add_chars(&up, "/..");
		add_module(arena, paths, text_chars(&up), dotted);
	}
}
