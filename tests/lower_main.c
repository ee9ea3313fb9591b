/* For developers: the stages of one file as text, without the rest of the
 * program. lower_main tree|ir|cfg|none FILE... */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/front/front.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"

static char *read_all(const char *path, size_t *length)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	size_t room = 0;

	*length = 0;
	if (!file)
		return NULL;
	do {
		room = room ? room * 2 : 1 << 16;
		bytes = checked_realloc(bytes, room + SOURCE_PADDING, 1);
		*length += fread(bytes + *length, 1, room - *length, file);
	} while (*length == room);
	memset(bytes + *length, 0, SOURCE_PADDING);
	fclose(file);
	return bytes;
}

static int lower_file(const char *stage, const char *path, struct intern *names)
{
	struct arena arena = {0};
	struct text out = {.arena = &arena};
	struct source source = {.path = path};
	size_t length;
	char *bytes = read_all(path, &length);
	const char *wrong = NULL;

	if (!bytes || length > UINT32_MAX) {
		fprintf(stderr, "%s: cannot read\n", path);
		return 1;
	}
	source.text = bytes;
	source.length = (uint32_t)length;
	if (strcmp(stage, "tree") == 0) {
		python_front_end.dump_tree(&source, &out);
	} else {
		struct front_result result = python_front_end.lower(&arena, names, &source);
		wrong = ir_verify(&arena, result.module);
		if (strcmp(stage, "ir") == 0)
			ir_dump(result.module, &out);
		else if (strcmp(stage, "cfg") == 0)
			cfg_dump(result.module, &out);
		else if (result.module->gaps.count)
			text_print(&out, "%s: %u gaps, first at %u: %s\n", path,
			           result.module->gaps.count, result.module->gaps.at[0].span.start,
			           result.module->gaps.at[0].reason);
	}
	fwrite(text_chars(&out), 1, out.length, stdout);
	if (wrong)
		fprintf(stderr, "%s: %s\n", path, wrong);
	arena_release(&arena);
	free(bytes);
	return wrong != NULL;
}

int main(int argc, char **argv)
{
	struct intern *names = intern_open();
	int status = 0;

	if (argc < 3) {
		fprintf(stderr, "lower_main tree|ir|cfg|none FILE...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++)
		status |= lower_file(argv[1], argv[i], names);
	intern_close(names);
	return status;
}
