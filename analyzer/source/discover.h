#ifndef GRAPHLINT_SOURCE_DISCOVER_H
#define GRAPHLINT_SOURCE_DISCOVER_H

/* Paths from the command line to the files to lint. A file that is named is
 * taken whatever it is called, unless force_exclude; a folder is searched, links
 * to folders are not followed, ignore files of git and the excludes apply. Where
 * configuration files lie, the caller is asked what holds from there on. The
 * result is sorted by path and has each file once. Everything is in the arena. */

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/vec.h"

struct discover_options {
	const char *const *suffixes; /* ".py", …, NULL */
	const char *const *excludes; /* patterns of the user, NULL; may be NULL */
	const char *exclude_base;    /* folder that they are relative to; NULL: the current one */
	bool no_default_excludes;
	bool no_gitignore;
	bool force_exclude;                     /* for files that are named, too */
	const struct discover_configs *configs; /* NULL: the same holds everywhere */
};

/* Of a folder that is given, holds a file that is given, or in which one of the
 * names lies: its options, which outlive the search; what they say of configs does
 * not count. NULL: there are none, and `*complaint` says why. */
struct discover_configs {
	const char *const *names; /* ended by NULL */
	const struct discover_options *(*options_of)(void *context, const char *folder,
	                                             const char **complaint);
	void *context;
};

struct discovered_file {
	const char *path; /* as the user would write it */
	bool named;       /* not found in a folder */
};

/* A path that could not be looked at. */
struct discover_problem {
	const char *path;
	const char *message;
};

struct discovery {
	VEC(struct discovered_file) files;
	VEC(struct discover_problem) problems;
	const char *complaint; /* of a configuration; NULL: all is well */
};

void discover(struct arena *arena, const struct discover_options *options, const char *const *paths,
              uint32_t count, struct discovery *found);
/* Sorts by path and keeps one of each file. */
void discovery_sort(struct arena *arena, struct discovery *found);

#endif
