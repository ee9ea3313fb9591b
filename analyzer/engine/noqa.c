#include "analyzer/engine/noqa.h"

#include <string.h>

#include "analyzer/engine/directive.h"
#include "analyzer/finding/rule.h"

struct insertion {
	uint32_t at;
	const char *text;
};

struct adding {
	struct arena *arena;
	const struct source *source;
	VEC(struct insertion) insertions; /* by offset */
};

static uint32_t line_of_noqa(const struct finding *finding)
{
	const struct source *source = finding->source;
	uint32_t last = finding->span.end > finding->span.start ? finding->span.end - 1
	                                                        : finding->span.start;

	return source_line_at(source, last);
}

/* Where the last comment of a line starts, for a line that may hold `#` in a
 * string: the directive reader decides, so a `#` without one counts as none. */
static struct directive *noqa_on_line(struct arena *arena, const struct source *source,
                                      struct span line, directive_list *directives)
{
	for (uint32_t at = line.start; at < line.end; at++) {
		if (source->text[at] != '#')
			continue;
		directives->count = 0;
		directive_read(arena, source, (struct span){at, line.end}, directives);
		for (uint32_t i = 0; i < directives->count; i++) {
			if (directives->at[i].kind == DIRECTIVE_NOQA && directives->at[i].has_list)
				return &directives->at[i];
		}
	}
	return NULL;
}

static bool text_has_code(const char *codes, const char *code)
{
	size_t length = strlen(code);
	const char *at = codes;

	while ((at = strstr(at, code))) {
		if (at[length] == '\0' || at[length] == ',')
			return true;
		at += length;
	}
	return false;
}

static bool directive_has(const struct directive *directive, const char *code)
{
	for (uint32_t i = 0; directive && i < directive->codes.count; i++) {
		if (!strcmp(directive->codes.at[i].selector, code))
			return true;
	}
	return false;
}

/* The codes of the findings first..end-1, all on one line. */
static const char *codes_of(struct adding *adding, const finding_list *findings, uint32_t first,
                            uint32_t end, const struct directive *directive)
{
	struct text codes = {.arena = adding->arena};

	for (uint32_t i = first; i < end; i++) {
		const char *code = findings->at[i].rule->code;

		if (directive_has(directive, code) || text_has_code(text_chars(&codes), code))
			continue;
		text_print(&codes, "%s%s", codes.length ? ", " : "", code);
	}
	return text_chars(&codes);
}

static bool is_cpp(const struct source *source)
{
	const char *dot = strrchr(source->path, '.');

	return dot && strncmp(dot, ".py", 3) != 0;
}

static bool add_line(struct adding *adding, const finding_list *findings, uint32_t first,
                     uint32_t end)
{
	struct span line = source_line_span(adding->source, line_of_noqa(&findings->at[first]));
	directive_list directives = {0};
	struct directive *directive =
	        is_cpp(adding->source)
	                ? NULL
	                : noqa_on_line(adding->arena, adding->source, line, &directives);
	const char *codes = codes_of(adding, findings, first, end, directive);
	struct text comment = {.arena = adding->arena};
	struct insertion insertion = {.at = directive ? directive->span.end : line.end};

	if (!*codes)
		return false;
	while (!directive && insertion.at > line.start &&
	       strchr(" \t", adding->source->text[insertion.at - 1]))
		insertion.at--;
	text_print(&comment,
	           directive                ? ", %s"
	           : is_cpp(adding->source) ? "  // NOLINT(%s)"
	                                    : "  # noqa: %s",
	           codes);
	insertion.text = text_chars(&comment);
	vec_push(adding->arena, &adding->insertions, insertion);
	return true;
}

/* Of a byte order mark: of UTF-8, UTF-32 or UTF-16. */
static size_t mark_length(const struct source *source)
{
	if (!memcmp(source->bytes, "\xef\xbb", 2))
		return 3;
	if (source->size >= 4 && (!memcmp(source->bytes, "\xff\xfe\0\0", 4) ||
	                          !memcmp(source->bytes, "\0\0\xfe\xff", 4)))
		return 4;
	return 2;
}

static bool encode(const struct adding *adding, struct text *out)
{
	const struct source *source = adding->source;
	uint32_t done = 0;

	if (source->has_bom)
		text_add(out, source->bytes, mark_length(source));
	for (uint32_t i = 0; i < adding->insertions.count; i++) {
		const struct insertion *insertion = &adding->insertions.at[i];

		if (!source_encode_span(source, (struct span){done, insertion->at}, out) ||
		    !source_encode_text(source, insertion->text, strlen(insertion->text), out))
			return false;
		done = insertion->at;
	}
	return source_encode_span(source, (struct span){done, source->length}, out);
}

/* The findings of one file, in order of their lines. */
static uint32_t add_file(struct adding *adding, const finding_list *findings, uint32_t first,
                         uint32_t end)
{
	uint32_t added = 0;

	for (uint32_t i = first, next; i < end; i = next) {
		uint32_t line = line_of_noqa(&findings->at[i]);

		for (next = i + 1; next < end && line_of_noqa(&findings->at[next]) == line;)
			next++;
		added += add_line(adding, findings, i, next);
	}
	return added;
}

static void write_file(struct adding *adding, uint32_t added, noqa_write *write, void *context,
                       struct noqa_result *result)
{
	struct text bytes = {.arena = adding->arena};

	if (!added)
		return;
	if (!encode(adding, &bytes) || !write(context, adding->source, &bytes)) {
		result->failed = true;
		return;
	}
	result->comments += added;
	result->files++;
}

struct noqa_result noqa_add(struct arena *arena, const struct outcome *outcome, noqa_write *write,
                            void *context)
{
	const finding_list *findings = &outcome->findings;
	struct noqa_result result = {0};

	for (uint32_t i = 0, next; i < findings->count; i = next) {
		struct adding adding = {.arena = arena, .source = findings->at[i].source};

		for (next = i + 1;
		     next < findings->count && findings->at[next].source == adding.source;)
			next++;
		if (adding.source->is_notebook)
			result.left_out += next - i;
		else
			write_file(&adding, add_file(&adding, findings, i, next), write, context,
			           &result);
	}
	return result;
}
