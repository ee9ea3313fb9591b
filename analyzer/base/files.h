#ifndef GRAPHLINT_BASE_FILES_H
#define GRAPHLINT_BASE_FILES_H

/* Small files read whole, files written whole or not at all, and paths. */

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/bug.h"

struct file_text {
	const char *bytes; /* a NUL follows; a UTF-8 mark at the start is dropped */
	size_t length;
	const char *problem; /* why it could not be read */
};

GL_MUST_USE bool file_read(struct arena *arena, const char *path, struct file_text *file);
/* With its mark. */
GL_MUST_USE bool file_read_whole(struct arena *arena, const char *path, struct file_text *file);
/* Through a neighbour that takes the file's place, so that no reader sees half
 * of it; a device or pipe is written to directly. False: errno says why. */
GL_MUST_USE bool file_write(const char *path, const char *bytes, size_t length);

/* `path` as seen from `folder` ("" is here); an absolute path stays. */
const char *path_join(struct arena *arena, const char *folder, const char *path);
/* Relative to the current folder when it is inside. */
const char *path_shorten(struct arena *arena, const char *path);
/* The current folder; "" when it is gone. */
const char *path_current(struct arena *arena);
/* The folder part with its slash; "" when there is none. */
const char *path_folder(struct arena *arena, const char *path);

#endif
