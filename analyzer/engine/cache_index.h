#ifndef GRAPHLINT_ENGINE_CACHE_INDEX_H
#define GRAPHLINT_ENGINE_CACHE_INDEX_H

/* What a run leaves behind for the next one over the same paths with the same
 * settings: for every file its stamp, the digest of its bytes, the component
 * of files that look each other up, and its findings; and the folders that
 * imports were looked for in. One file, replaced as a whole, with a checksum:
 * it is there or it is not. */

#include "analyzer/base/hash.h"
#include "analyzer/base/vec.h"
#include "analyzer/engine/packing.h"

/* What the file system says of a file without its being read. */
struct file_stamp {
	uint64_t size, modified, changed, inode, device; /* times in nanoseconds */
	uint64_t seen; /* when it was looked at: one that changed just before may lie */
};

struct cached_file {
	const char *path; /* as given; of an imported file its normal path */
	const char *normal;
	struct file_stamp stamp;
	struct digest digest;
	uint32_t component;
	bool linted;
	bool analysed;    /* lowered, not left out by the scan */
	bool has_problem; /* it could not be read: look again each time */
	uint32_t suppressed;
	const char *results; /* packed findings, then skips */
	size_t results_length;
};

struct cached_folder {
	const char *path;
	struct file_stamp stamp;
	uint64_t names; /* of its modules and folders */
};

struct cache_index {
	VEC(struct cached_file) files; /* linted ones first, in the run's order */
	VEC(struct cached_folder) folders;
};

/* False, and an empty index: there is none that can be used. */
bool cache_index_read(struct arena *arena, const char *path, struct cache_index *index);
/* False: it could not be written; nothing is left half done. */
bool cache_index_write(const char *path, const struct cache_index *index);

/* False: there is no such file or folder. */
bool file_stamp_take(const char *path, struct file_stamp *stamp);
/* Whether nothing can have happened to the file between the two looks. */
bool file_stamp_same(const struct file_stamp *before, const struct file_stamp *now);
/* The names in a folder that an import could mean, whatever their order. */
uint64_t folder_names_hash(const char *path);

#endif
