#include "analyzer/report/json_load.h"

#include <string.h>

#include "analyzer/base/files.h"
#include "analyzer/base/text.h"

json_t *json_load(struct arena *arena, const char *path, const char **complaint)
{
	struct text out = {.arena = arena};
	struct file_text file = {0};
	json_error_t error;
	json_t *root;

	if (!strcmp(path, "-")) {
		root = json_loadf(stdin, 0, &error);
	} else if (!file_read(arena, path, &file)) {
		*complaint = file.problem;
		return NULL;
	} else {
		root = json_loadb(file.bytes, file.length, 0, &error);
	}
	if (root)
		return root;
	text_print(&out, "this is no JSON: line %d: %s", error.line, error.text);
	*complaint = text_chars(&out);
	return NULL;
}
