#ifndef GRAPHLINT_ENGINE_CACHE_INDEX_H
#define GRAPHLINT_ENGINE_CACHE_INDEX_H

/* What a run leaves behind for the next one over the same paths with the same
 * settings. Its head is all that is needed when nothing changed: each file's
 * stamp and results, and the folders that modules were looked for in. The rest
 * says what each result depends on, and is read only when something changed.
 * One file, replaced as a whole, with checksums: it is there or it is not. */

#include "analyzer/base/bug.h"
#include "analyzer/base/hash.h"
#include "analyzer/base/vec.h"
#include "analyzer/engine/packing.h"

/* What the file system says of a file without its being read. */
struct file_stamp {
	uint64_t size, modified, changed, inode, device; /* times in nanoseconds */
	uint64_t seen; /* when it was looked at: one that changed just before may lie */
};

/* A module that a file looked for. */
struct cached_lookup {
	const char *dotted;
	uint32_t to; /* place in the index + 1; 0: nothing was found */
	bool scans, loads;
};

struct cached_bytes {
	const char *at;
	size_t length;
};

typedef VEC(uint32_t) place_list; /* in the index */

/* What is reported in a file when just these findings are in it. */
struct cached_telling {
	struct digest judged;
	uint32_t suppressed;
	struct cached_bytes results;
	place_list replayed;
};

struct cached_file {
	const char *path; /* as given; of an imported file its normal path */
	struct file_stamp stamp;
	struct digest digest;
	bool linted;
	bool matters;   /* the scan found something of ours in it, or in what it imports */
	bool analysed;  /* lowered, not left out by the scan */
	bool is_broken; /* there is no text, or none of a language that is known */
	bool is_gone;   /* it had no stamp */
	uint32_t suppressed;
	struct cached_bytes results; /* packed findings, then skips */
	/* the rest */
	const char *normal;
	const char *root; /* the folder that its imports start at */
	VEC(struct cached_lookup) lookups;
	struct cached_bytes found; /* by the analysis that starts at it; found.h */
	place_list used;           /* modules that this analysis asked for */
	place_list asked;          /* ... and that its body does when it is imported */
	place_list replayed;       /* modules that the replays of its loops rest on */
	struct digest judged;      /* all findings in it, before comments and replays */
	/* of what shards left, put together; not packed: */
	VEC(struct cached_telling) others;
	bool is_open; /* one of them saw less of the project than all did */
};

struct cached_folder {
	const char *path;
	struct file_stamp stamp;
	uint64_t names; /* of its modules and folders */
};

struct cache_index {
	VEC(struct cached_file) files; /* linted ones first, in the run's order */
	VEC(struct cached_folder) folders;
	uint64_t rest;          /* where it begins in the file */
	struct digest rest_sum; /* of its bytes */
};

/* False, and an empty index: there is none that can be used. */
bool cache_index_read(struct arena *arena, const char *path, struct cache_index *index);
/* False: the file is another by now, or broken. */
bool cache_index_read_rest(struct arena *arena, const char *path, struct cache_index *index);
/* All of it as bytes, and back: false when they are something else. */
void cache_index_pack(const struct cache_index *index, struct text *out);
GL_MUST_USE bool cache_index_unpack(struct arena *arena, const char *bytes, size_t length,
                                    struct cache_index *index);
/* False: it could not be written; nothing is left half done. */
bool cache_index_write(const char *path, const struct cache_index *index);

/* False: there is no such file or folder. */
bool file_stamp_take(const char *path, struct file_stamp *stamp);
/* Whether nothing can have happened to the file between the two looks. */
bool file_stamp_same(const struct file_stamp *before, const struct file_stamp *now);
/* The names in a folder that an import could mean, whatever their order. */
uint64_t folder_names_hash(const char *path);

#endif
