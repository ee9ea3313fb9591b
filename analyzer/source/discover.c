#include "analyzer/source/discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/files.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/text.h"
#include "analyzer/source/ignore_scope.h"

/* What holds in a part of the tree. */
struct terms {
	const struct discover_options *options;
	struct ignore_list excludes; /* defaults and the user's, one after the other */
	const char *base;            /* of the excludes: absolute, without a slash at the end */
};

struct walk {
	struct arena *arena;
	const struct discover_configs *configs;
	struct discovery *found;
	const struct terms *terms;
	VEC(struct terms *) all_terms;
	struct text shown; /* path as the user would write it */
	struct text real;  /* the same, absolute and without links */
	size_t root;       /* length of the walked folder's real path */
	unsigned depth;
};

struct entry {
	const char *name;
	bool is_folder;
};

typedef VEC(struct entry) entry_list;

static void add_problem(struct walk *w, const char *path, const char *message)
{
	struct discover_problem problem = {
	        arena_text(w->arena, path, strlen(path)),
	        arena_text(w->arena, message, strlen(message)),
	};

	vec_push(w->arena, &w->found->problems, problem);
}

static void add_file(struct walk *w, const char *path, bool named)
{
	struct discovered_file file = {arena_text(w->arena, path, strlen(path)), named};

	vec_push(w->arena, &w->found->files, file);
}

/* Excludes */

static void add_excludes(struct walk *w, struct terms *terms)
{
	static const char *const defaults[] = {
#define EXCLUDE(name) name "/",
#include "analyzer/source/excludes.def"
#undef EXCLUDE
	};
	const char *const *pattern = terms->options->excludes;
	const size_t count =
	        terms->options->no_default_excludes ? 0 : sizeof(defaults) / sizeof(*defaults);

	for (size_t i = 0; i < count; i++)
		ignore_add_lines(w->arena, &terms->excludes, defaults[i], strlen(defaults[i]));
	for (; pattern && *pattern; pattern++) {
		size_t skip = !strncmp(*pattern, "./", 2) ? 2 : 0;

		ignore_add_lines(w->arena, &terms->excludes, *pattern + skip,
		                 strlen(*pattern + skip));
	}
}

static const char *absolute_base(struct arena *arena, const char *base)
{
	char *real = realpath(base ? base : ".", NULL);
	const char *kept;

	if (!real)
		return "";
	kept = strcmp(real, "/") != 0 ? arena_text(arena, real, strlen(real)) : "";
	free(real);
	return kept;
}

static const struct terms *terms_of(struct walk *w, const struct discover_options *options)
{
	struct terms *terms;

	for (uint32_t i = 0; i < w->all_terms.count; i++) {
		if (w->all_terms.at[i]->options == options)
			return w->all_terms.at[i];
	}
	terms = arena_new(w->arena, struct terms);
	terms->options = options;
	terms->base = absolute_base(w->arena, options->exclude_base);
	add_excludes(w, terms);
	vec_push(w->arena, &w->all_terms, terms);
	return terms;
}

/* From here on what the folder's configuration says holds. */
static void take_terms(struct walk *w, const char *folder)
{
	const struct discover_options *options;

	if (!w->configs || w->found->complaint)
		return;
	options = w->configs->options_of(w->configs->context, folder, &w->found->complaint);
	if (options)
		w->terms = terms_of(w, options);
}

/* Relative to the base of the excludes when it is under it, else to the root. */
static bool is_excluded(const struct walk *w, const char *path, size_t length, bool is_folder)
{
	size_t base = strlen(w->terms->base);

	if (length <= base && !strncmp(path, w->terms->base, length))
		return false; /* the base itself, or around it */
	if (strncmp(path, w->terms->base, base) != 0 || path[base] != '/')
		base = w->root;
	if (base >= length)
		return false;
	return ignore_match(&w->terms->excludes, path + base + 1, length - base - 1, is_folder) ==
	       IGNORE_EXCLUDED;
}

static bool is_environment(struct walk *w)
{
	size_t length = w->real.length;
	bool found;

	text_add_chars(&w->real, "/pyvenv.cfg");
	found = !access(w->real.at, F_OK);
	text_cut(&w->real, length);
	return found;
}

static bool has_suffix(const struct walk *w, const char *name)
{
	size_t length = strlen(name);

	for (const char *const *suffix = w->terms->options->suffixes; *suffix; suffix++) {
		size_t tail = strlen(*suffix);

		if (length >= tail && !strcmp(name + length - tail, *suffix))
			return true;
	}
	return false;
}

/* Folders */

/* Is it a folder, a file (or a link to one), or nothing for us? */
static bool classify(int folder, const struct dirent *item, bool *is_folder)
{
	struct stat status;

	*is_folder = item->d_type == DT_DIR;
	if (item->d_type == DT_DIR || item->d_type == DT_REG)
		return true;
	if (item->d_type == DT_UNKNOWN &&
	    !fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) &&
	    S_ISDIR(status.st_mode)) {
		*is_folder = true;
		return true;
	}
	if (item->d_type != DT_LNK && item->d_type != DT_UNKNOWN)
		return false;
	return !fstatat(folder, item->d_name, &status, 0) && S_ISREG(status.st_mode);
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool is_config(const struct walk *w, const char *name)
{
	for (size_t i = 0; w->configs && w->configs->names[i]; i++) {
		if (!strcmp(w->configs->names[i], name))
			return true;
	}
	return false;
}

/* The folders and the files with a wanted suffix, by name. */
static bool list_folder(struct walk *w, entry_list *entries, bool *has_config)
{
	DIR *folder = opendir(w->shown.length ? w->shown.at : ".");
	struct dirent *item;

	if (!folder)
		return false;
	while ((item = readdir(folder))) {
		struct entry entry;

		if (!strcmp(item->d_name, ".") || !strcmp(item->d_name, ".."))
			continue;
		*has_config |= is_config(w, item->d_name);
		if (!classify(dirfd(folder), item, &entry.is_folder))
			continue;
		if (!entry.is_folder && !has_suffix(w, item->d_name))
			continue;
		entry.name = arena_text(w->arena, item->d_name, strlen(item->d_name));
		vec_push(w->arena, entries, entry);
	}
	closedir(folder);
	if (entries->count)
		qsort(entries->at, entries->count, sizeof(*entries->at), compare_entries);
	return true;
}

static void walk_folder(struct walk *w, const struct ignore_scope *outer);

static void visit(struct walk *w, const struct ignore_scope *scope, struct entry entry)
{
	size_t shown = w->shown.length, real = w->real.length;

	if (shown && w->shown.at[shown - 1] != '/')
		text_add_char(&w->shown, '/');
	text_add_chars(&w->shown, entry.name);
	text_add_char(&w->real, '/');
	text_add_chars(&w->real, entry.name);
	if (is_excluded(w, w->real.at, w->real.length, entry.is_folder) ||
	    ignore_scope_excludes(scope, w->real.at, w->real.length, entry.is_folder))
		;
	else if (!entry.is_folder)
		add_file(w, w->shown.at, false);
	else if (w->terms->options->no_default_excludes || !is_environment(w))
		walk_folder(w, scope);
	text_cut(&w->shown, shown);
	text_cut(&w->real, real);
}

static void walk_folder(struct walk *w, const struct ignore_scope *outer)
{
	const struct ignore_scope *scope = NULL;
	const struct terms *terms = w->terms;
	bool has_config = false;
	entry_list entries = {0};

	if (w->depth == LIMIT_DIRECTORY_DEPTH) {
		add_problem(w, w->shown.at, "nested too deep");
		return;
	}
	if (!list_folder(w, &entries, &has_config)) {
		add_problem(w, w->shown.length ? w->shown.at : ".", strerror(errno));
		return;
	}
	if (has_config)
		take_terms(w, text_chars(&w->shown));
	if (!w->terms->options->no_gitignore)
		scope = ignore_scope_enter(w->arena, outer, text_chars(&w->real));
	w->depth++;
	for (uint32_t i = 0; i < entries.count; i++)
		visit(w, scope, entries.at[i]);
	w->depth--;
	w->terms = terms;
}

/* What was named */

/* "./a//b/" to "a/b"; the empty text is the current folder. */
static void normalise(struct text *out, const char *path)
{
	if (*path == '/')
		text_add_char(out, '/');
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length && !(length == 1 && *path == '.')) {
			if (out->length && out->at[out->length - 1] != '/')
				text_add_char(out, '/');
			text_add(out, path, length);
		}
		path += length;
		path += *path == '/';
	}
}

/* The real folder that a path is in, then its name: a file that is a link is
 * known by its own name. */
static bool resolve(struct walk *w, const char *path, bool is_folder)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *real;

	text_cut(&w->real, 0);
	if (is_folder) {
		real = realpath(*path ? path : ".", NULL);
	} else {
		size_t length = slash ? (size_t)(slash - path) : 0;
		const char *folder = length  ? arena_text(w->arena, path, length)
		                     : slash ? "/"
		                             : ".";

		real = realpath(folder, NULL);
	}
	if (!real)
		return false;
	text_add_chars(&w->real, strcmp(real, "/") != 0 ? real : "");
	free(real);
	if (!is_folder) {
		text_add_char(&w->real, '/');
		text_add_chars(&w->real, name);
	}
	return true;
}

/* Would a walk from the base of the excludes, or from the top of the work tree,
 * have left it out? Each folder on the way has its own terms. */
static bool walk_excludes(struct walk *w, bool is_folder)
{
	const struct ignore_scope *innermost = NULL, *scope;
	const struct terms *terms = w->terms;
	const char *path = w->real.at;
	bool excluded = false;
	size_t at = 0;

	if (!terms->options->no_gitignore)
		innermost = ignore_scope_around(w->arena, path);
	w->root = 0;
	while (!excluded && at < w->real.length) {
		const char *slash = strchr(path + at + 1, '/');
		bool folder = slash || is_folder;

		take_terms(w, at ? arena_text(w->arena, path, at) : "/");
		at = slash ? (size_t)(slash - path) : w->real.length;
		for (scope = innermost; scope && scope->base >= at;)
			scope = scope->outer;
		excluded = is_excluded(w, path, at, folder) ||
		           ignore_scope_excludes(scope, path, at, folder);
	}
	w->terms = terms;
	return excluded;
}

static void take_file(struct walk *w)
{
	take_terms(w, path_folder(w->arena, w->shown.at));
	if (w->terms->options->force_exclude && resolve(w, w->shown.at, false) &&
	    walk_excludes(w, false))
		return;
	add_file(w, w->shown.at, true);
}

static void take_folder(struct walk *w)
{
	const struct ignore_scope *scope = NULL;

	if (!resolve(w, text_chars(&w->shown), true)) {
		add_problem(w, w->shown.at, strerror(errno));
		return;
	}
	take_terms(w, text_chars(&w->shown));
	if (w->terms->options->force_exclude && walk_excludes(w, true))
		return;
	w->root = w->real.length;
	w->depth = 0;
	if (!w->terms->options->no_gitignore)
		scope = ignore_scope_around(w->arena, text_chars(&w->real));
	walk_folder(w, scope);
}

static void take(struct walk *w, const char *path)
{
	struct stat status;

	text_cut(&w->shown, 0);
	normalise(&w->shown, path);
	if (stat(w->shown.length ? w->shown.at : ".", &status))
		add_problem(w, path, strerror(errno));
	else if (S_ISDIR(status.st_mode))
		take_folder(w);
	else
		take_file(w);
}

void discover(struct arena *arena, const struct discover_options *options, const char *const *paths,
              uint32_t count, struct discovery *found)
{
	struct walk w = {
	        .arena = arena,
	        .configs = options->configs,
	        .found = found,
	        .shown = {.arena = arena},
	        .real = {.arena = arena},
	};
	const struct terms *outermost = terms_of(&w, options);

	for (uint32_t i = 0; i < count; i++) {
		w.terms = outermost;
		take(&w, paths[i]);
	}
	discovery_sort(arena, found);
}
