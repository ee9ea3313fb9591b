#ifndef GRAPHLINT_REPORT_JSON_LOAD_H
#define GRAPHLINT_REPORT_JSON_LOAD_H

/* A JSON file as a whole, with a sentence for what is wrong with it. */

#include <jansson.h>

#include "analyzer/base/arena.h"

/* To be given back with json_decref; "-" is standard input. NULL: `*complaint` says why. */
json_t *json_load(struct arena *arena, const char *path, const char **complaint);

#endif
