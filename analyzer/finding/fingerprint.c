#include "analyzer/finding/fingerprint.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/base/text.h"
#include "analyzer/finding/rule.h"

/* Folds "." and ".." of an absolute path, by its spelling only. */
static const char *fold_path(struct arena *arena, const char *path)
{
	struct text out = {.arena = arena};

	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && !memcmp(path, "..", 2)) {
			while (out.length && out.at[out.length - 1] != '/')
				text_cut(&out, out.length - 1);
			if (out.length)
				text_cut(&out, out.length - 1);
		} else if (length && !(length == 1 && *path == '.')) {
			text_add_char(&out, '/');
			text_add(&out, path, length);
		}
		path += length;
		path += *path == '/';
	}
	return text_chars(&out);
}

const char *path_absolute(struct arena *arena, const char *path)
{
	struct text joined = {.arena = arena};
	char here[PATH_MAX];

	if (*path != '/' && getcwd(here, sizeof(here)))
		text_print(&joined, "%s/", here);
	text_add_chars(&joined, path);
	return fold_path(arena, text_chars(&joined));
}

const char *path_below(struct arena *arena, const char *root, const char *path)
{
	const char *absolute = path_absolute(arena, path);
	size_t length = strlen(root);

	while (length && root[length - 1] == '/')
		length--;
	if (strncmp(absolute, root, length) == 0 && absolute[length] == '/' && absolute[length + 1])
		return absolute + length + 1;
	return absolute;
}

static void add_line_without_blanks(const struct finding *finding, struct text *out)
{
	const struct source *source = finding->source;
	struct span line = source_line_span(source, source_line_at(source, finding->span.start));

	for (uint32_t at = line.start; at < line.end; at++) {
		if (source->text[at] != ' ' && source->text[at] != '\t')
			text_add_char(out, source->text[at]);
	}
}

static struct digest digest_content(struct arena *scratch, const struct finding *finding,
                                    const char *root)
{
	struct text content = {.arena = scratch};
	const char *path = finding->source->path;

	text_add_chars(&content, finding->rule->code);
	text_add_char(&content, '\0');
	text_add_chars(&content, root ? path_below(scratch, root, path) : path);
	text_add_char(&content, '\0');
	text_add_chars(&content, finding->function ? finding->function : "");
	text_add_char(&content, '\0');
	add_line_without_blanks(finding, &content);
	return digest_bytes(content.at, content.length);
}

struct numbered {
	struct digest digest;
	uint32_t index;
};

static int compare_numbered(const void *left, const void *right)
{
	const struct numbered *a = left;
	const struct numbered *b = right;

	if (a->digest.high != b->digest.high)
		return a->digest.high < b->digest.high ? -1 : 1;
	if (a->digest.low != b->digest.low)
		return a->digest.low < b->digest.low ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

struct digest *findings_fingerprint(struct arena *arena, const finding_list *findings,
                                    const char *root)
{
	struct digest *digests = arena_array(arena, struct digest, findings->count);
	struct numbered *order = arena_array(arena, struct numbered, findings->count);
	struct arena scratch = {0};
	uint64_t nth = 0;

	for (uint32_t i = 0; i < findings->count; i++) {
		order[i] = (struct numbered){digest_content(&scratch, &findings->at[i], root), i};
		arena_reset(&scratch);
	}
	arena_release(&scratch);
	if (findings->count > 1)
		qsort(order, findings->count, sizeof(*order), compare_numbered);
	for (uint32_t i = 0; i < findings->count; i++) {
		struct digest digest = order[i].digest;

		nth = i && digest_same(digest, order[i - 1].digest) ? nth + 1 : 0;
		digests[order[i].index] = digest_join(digest, digest_bytes(&nth, sizeof(nth)));
	}
	return digests;
}
