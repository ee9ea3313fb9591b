/* Any bytes as a Python file and as a notebook: places go there and back, and
 * the text goes back to the bytes it came from. */

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/source/encoding.h"
#include "analyzer/source/gitignore.h"
#include "analyzer/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct source *source)
{
	BUG_IF(utf8_valid_length(source->text, source->length) != source->length);
	for (int i = 0; i < SOURCE_PADDING; i++)
		BUG_IF(source->text[source->length + (uint32_t)i]);
	for (uint32_t i = 0; i < source->notes.count; i++)
		BUG_IF(source->notes.at[i].span.end > source->length);
}

static void check_places(const struct source *source)
{
	uint32_t step = source->length / 64 + 1;

	for (uint32_t at = 0; at <= source->length; at += step) {
		struct position position = source_position(source, at);
		struct position again = source_position(source, source_offset(source, position));

		BUG_IF(position.row != again.row || position.cell != again.cell);
		BUG_IF(again.column > position.column);
	}
}

static void check_bytes(struct arena *arena, const struct source *source)
{
	struct text out = {.arena = arena};
	size_t mark = source->has_bom ? 3 : 0;

	if (strcmp(source->encoding, "utf-8") != 0)
		return; /* an encoding may have two ways to say the same */
	BUG_IF(!source_encode_span(source, (struct span){0, source->length}, &out));
	BUG_IF(out.length + mark != source->size);
	BUG_IF(memcmp(text_chars(&out), source->bytes + mark, out.length) != 0);
}

static void check_ignore(struct arena *arena, const char *bytes, size_t size)
{
	struct ignore_list list = {0};
	size_t half = size / 2;

	if (size > 4096)
		return;
	ignore_add_lines(arena, &list, bytes, half);
	ignore_match(&list, bytes + half, size - half, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct source_problem problem;
	const char *bytes = (const char *)data;
	struct source *source = source_from_bytes(&arena, "a.py", bytes, size, &problem);

	BUG_IF(!source);
	check_text(source);
	check_places(source);
	check_bytes(&arena, source);
	source = source_from_bytes(&arena, "a.ipynb", bytes, size, &problem);
	if (source) {
		check_text(source);
		check_places(source);
	}
	check_ignore(&arena, bytes, size);
	arena_release(&arena);
	return 0;
}
