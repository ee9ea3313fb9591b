/* Any bytes at all: they lower, what comes out verifies, and both dumps of it
 * can be written. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/front/front.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void lower(const char *text, uint32_t length)
{
	struct arena arena = {0};
	struct text out = {.arena = &arena};
	struct intern *names = intern_open();
	struct source source = {.path = "fuzz.py", .text = text, .length = length};
	struct front_result result = python_front_end.lower(&arena, names, &source, NULL);
	const char *wrong = ir_verify(&arena, result.module);

	if (wrong)
		BUG("%s", wrong);
	ir_dump(result.module, &out);
	cfg_dump(result.module, &out);
	python_front_end.dump_tree(&source, &out);
	intern_close(names);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size > UINT32_MAX)
		return 0;
	text = checked_alloc(size + SOURCE_PADDING, 1);
	memcpy(text, data, size);
	memset(text + size, 0, SOURCE_PADDING);
	lower(text, (uint32_t)size);
	free(text);
	return 0;
}
