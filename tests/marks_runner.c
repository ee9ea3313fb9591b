#include <string.h>

#include "analyzer/finding/rule.h"
#include "tests/marks.h"

static const char *const keywords[] = {
        [MARK_EXPECT] = "expect:",
        [MARK_ALLOW] = "allow:",
        [MARK_KNOWN_MISS] = "known-miss:",
        [MARK_KNOWN_NOISE] = "known-noise:",
};

enum { KEYWORD_COUNT = sizeof(keywords) / sizeof(keywords[0]) };

static enum severity severity_of(const char *word, size_t length)
{
	static const enum severity severities[] = {SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_INFO};

	for (int i = 0; i < 3; i++) {
		const char *name = severity_name(severities[i]);

		if (strlen(name) == length && !strncmp(name, word, length))
			return severities[i];
	}
	return SEVERITY_OFF;
}

/* "GL101, GL103 error": the marks of one keyword. */
static void read_codes(struct arena *arena, mark_list *marks, struct mark mark, const char *at)
{
	uint32_t first = marks->count;
	enum severity severity;

	do {
		size_t length;

		at += strspn(at, ", ");
		length = strcspn(at, ", \r\n#;");
		if (strncmp(at, "GL", 2) != 0)
			break;
		mark.code = arena_text(arena, at, length);
		vec_push(arena, marks, mark);
		at += length;
	} while (*at == ',');
	at += strspn(at, " ");
	severity = severity_of(at, strcspn(at, " \r\n#;"));
	for (uint32_t i = first; i < marks->count; i++)
		marks->at[i].severity = severity;
}

static bool starts_word(const char *text, const char *at)
{
	return at == text || at[-1] == ' ' || at[-1] == '#' || at[-1] == '/' || at[-1] == ';';
}

void marks_read(struct arena *arena, const struct source *source,
                const struct front_result *lowered, mark_list *marks)
{
	for (uint32_t i = 0; i < lowered->comments.count; i++) {
		struct span span = lowered->comments.at[i].span;
		const char *text =
		        arena_text(arena, source->text + span.start, span.end - span.start);

		for (int kind = 0; kind < KEYWORD_COUNT; kind++) {
			struct mark mark = {.kind = (enum mark_kind)kind, .source = source};
			const char *at = text;

			mark.row = source_position(source, span.start).row;
			while ((at = strstr(at, keywords[kind]))) {
				if (starts_word(text, at))
					read_codes(arena, marks, mark, at + strlen(keywords[kind]));
				at += strlen(keywords[kind]);
			}
		}
	}
}

static void tell(struct text *differences, const struct source *source, uint32_t row,
                 const char *code, const char *what)
{
	text_print(differences, "%s:%u: %s %s\n", source->path, row, code, what);
}

static void match_finding(mark_list *marks, const struct finding *finding, struct text *differences)
{
	uint32_t row = source_position(finding->source, finding->span.start).row;
	bool known = false;

	for (uint32_t i = 0; i < marks->count; i++) {
		struct mark *mark = &marks->at[i];

		if (mark->source != finding->source || mark->row != row ||
		    strcmp(mark->code, finding->rule->code) != 0)
			continue;
		known = mark->hit = true;
		if (mark->severity && mark->severity != finding->severity)
			tell(differences, finding->source, row, finding->rule->code,
			     severity_name(finding->severity));
	}
	if (!known)
		tell(differences, finding->source, row, finding->rule->code, "is not expected");
}

/* The other end of the same defect was flagged. */
static bool stands_for(const mark_list *marks, const struct mark *expected)
{
	for (uint32_t i = 0; i < marks->count; i++) {
		const struct mark *mark = &marks->at[i];

		if (mark->kind == MARK_ALLOW && mark->hit && !strcmp(mark->code, expected->code))
			return true;
	}
	return false;
}

void marks_compare(mark_list *marks, const finding_list *findings, struct text *differences)
{
	for (uint32_t i = 0; i < findings->count; i++)
		match_finding(marks, &findings->at[i], differences);
	for (uint32_t i = 0; i < marks->count; i++) {
		const struct mark *mark = &marks->at[i];

		if (mark->kind == MARK_EXPECT && !mark->hit && !stands_for(marks, mark))
			tell(differences, mark->source, mark->row, mark->code, "is missing");
		if (mark->kind == MARK_KNOWN_MISS && mark->hit)
			tell(differences, mark->source, mark->row, mark->code,
			     "is found now: expect it");
		if (mark->kind == MARK_KNOWN_NOISE && !mark->hit)
			tell(differences, mark->source, mark->row, mark->code,
			     "is quiet now: remove the mark");
	}
}
