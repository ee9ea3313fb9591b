#ifndef GRAPHLINT_REPORT_PLACE_H
#define GRAPHLINT_REPORT_PLACE_H

/* How places are written: "train.py:27:5", "nb.ipynb:cell 3:5:1", and as the
 * URIs that code hosts want. */

#include "analyzer/base/text.h"
#include "analyzer/source/source.h"

void place_print(const struct source *source, struct span span, struct text *out);
/* Relative to `root` where it lies below, else a file: URI; percent-encoded. */
void place_uri(struct arena *scratch, const char *root, const char *path, struct text *out);
/* Row and column after the span's last character. */
struct position place_end(const struct source *source, struct span span);
/* The row in the file: of a notebook, counted over all cells. */
uint32_t place_file_row(const struct source *source, uint32_t offset);
/* Texts for XML, and for the workflow commands of code hosts. */
void place_escape_xml(const char *chars, struct text *out);

#endif
