#ifndef GRAPHLINT_SOURCE_READ_H
#define GRAPHLINT_SOURCE_READ_H

/* Bytes of a file, read once into an arena and followed by NULs. Only regular
 * files are read: a pipe could block for ever and a device could do anything. */

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/base/arena.h"
#include "analyzer/source/source.h"

struct raw_bytes {
	char *at; /* SOURCE_PADDING NULs follow */
	size_t size;
	bool changed; /* somebody wrote to the file meanwhile */
};

bool read_file(struct arena *arena, const char *path, size_t limit, struct raw_bytes *raw,
               struct source_problem *problem);
/* Reads to the end, whatever kind of file it is; the caller keeps `fd`. */
bool read_stream(struct arena *arena, int fd, size_t limit, struct raw_bytes *raw,
                 struct source_problem *problem);

#endif
