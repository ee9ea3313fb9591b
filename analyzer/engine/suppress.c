#include "analyzer/engine/suppress.h"

#include <string.h>

#include "analyzer/engine/directive.h"

struct pass {
	struct arena *arena;
	struct rule_table rules;
	const struct rule *unused; /* NULL: there is no such rule */
	struct outcome *outcome;
	finding_list kept;
};

bool suppress_is_possible(const struct source *source)
{
	static const char *const words[] = {"noqa", "NOQA", "NoQA", "graphlint", "NOLINT"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (memmem(source->text, source->length, words[i], strlen(words[i])))
			return true;
	}
	return false;
}

/* Of ours, in any comment: what can be found unused. */
bool suppress_names_ours(const struct source *source)
{
	const char *at = source->text;
	const char *end = at + source->length;

	if (memmem(at, source->length, "graphlint", 9))
		return true;
	while ((at = memmem(at, (size_t)(end - at), "GL", 2))) {
		if (directive_code_is_ours(at))
			return true;
		at += 2;
	}
	return false;
}

/* Findings have the line they start on and the one their statement ends on. */
struct lines {
	uint32_t start, end;
};

static struct lines lines_of(const struct finding *finding)
{
	const struct source *source = finding->source;
	uint32_t last = finding->span.end > finding->span.start ? finding->span.end - 1
	                                                        : finding->span.start;

	return (struct lines){source_line_at(source, finding->span.start),
	                      source_line_at(source, last)};
}

static bool covers_lines(const struct source *source, const struct directive *directive,
                         struct lines lines)
{
	uint32_t line = source_line_at(source, directive->span.start);

	if (directive->kind == DIRECTIVE_FILE)
		return true;
	if (directive->kind == DIRECTIVE_NEXT_LINE)
		return line + 1 == lines.start;
	return line == lines.start || line == lines.end;
}

static bool selects(const struct rule *rule, const char *selector)
{
	return rule_matches(rule, selector);
}

/* Whether the directive leaves the finding out; what did so is marked as used.
 * A directive without codes never hides that it is of no use. */
static bool apply(struct directive *directive, const struct finding *finding, bool is_unused_rule)
{
	bool applies = false;

	if (!directive->has_list && !is_unused_rule) {
		directive->used = true;
		return true;
	}
	for (uint32_t i = 0; i < directive->codes.count; i++) {
		struct directive_code *code = &directive->codes.at[i];

		if (!selects(finding->rule, code->selector) ||
		    (is_unused_rule && strcmp(code->selector, finding->rule->code) != 0))
			continue;
		code->used = true;
		applies = true;
	}
	return applies;
}

static bool is_suppressed(const struct pass *pass, directive_list *directives,
                          const struct finding *finding)
{
	struct lines lines = lines_of(finding);
	bool suppressed = false;

	for (uint32_t i = 0; i < directives->count; i++) {
		struct directive *directive = &directives->at[i];

		if (covers_lines(finding->source, directive, lines) &&
		    apply(directive, finding, finding->rule == pass->unused))
			suppressed = true;
	}
	return suppressed;
}

/* unused directives */

/* A code that is ours to complain about: not another tool's, nor a word in
 * brackets that could be one's. */
static bool is_ours(const struct pass *pass, const struct directive *directive,
                    const struct directive_code *code)
{
	if (directive->kind == DIRECTIVE_IGNORE || directive->kind == DIRECTIVE_FILE)
		return true;
	return directive_code_is_ours(code->selector) ||
	       (directive->kind != DIRECTIVE_NOQA && rule_find(pass->rules, code->selector));
}

static bool is_unused_code(const struct pass *pass, const struct directive *directive, uint32_t i)
{
	const struct directive_code *code = &directive->codes.at[i];

	return !code->used && is_ours(pass, directive, code) &&
	       !(pass->unused && !strcmp(code->selector, pass->unused->code));
}

static uint32_t unused_codes(const struct pass *pass, const struct directive *directive)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < directive->codes.count; i++)
		count += is_unused_code(pass, directive, i);
	return count;
}

static bool is_unused(const struct pass *pass, const struct directive *directive)
{
	if (directive->has_list)
		return unused_codes(pass, directive) > 0;
	return !directive->used &&
	       (directive->kind == DIRECTIVE_IGNORE || directive->kind == DIRECTIVE_FILE);
}

/* "GL999"; a shorter selector is a prefix. */
static bool is_no_rule(const struct pass *pass, const char *selector)
{
	return directive_code_is_ours(selector) && strlen(selector) >= 5 &&
	       !rule_find(pass->rules, selector);
}

static const char *unused_message(const struct pass *pass, const struct source *source,
                                  const struct directive *directive)
{
	struct text message = {.arena = pass->arena};
	const char *before = "suppresses nothing: ";

	if (!directive->has_list)
		return directive->kind == DIRECTIVE_FILE ? "this file has nothing to ignore"
		                                         : "there is nothing to ignore here";
	for (uint32_t i = 0; i < directive->codes.count; i++) {
		const struct span span = directive->codes.at[i].span;

		if (!is_unused_code(pass, directive, i))
			continue;
		text_add_chars(&message, before);
		text_print(&message, "`%.*s`", (int)(span.end - span.start),
		           source->text + span.start);
		if (is_no_rule(pass, directive->codes.at[i].selector))
			text_add_chars(&message, " (there is no such rule)");
		before = ", ";
	}
	return text_chars(&message);
}

static void add_edit(const struct pass *pass, struct finding_fix *fix, uint32_t start, uint32_t end,
                     const char *with)
{
	struct finding_edit edit = {{start, end}, with};

	vec_push(pass->arena, &fix->edits, edit);
}

/* Takes single codes out, each with the comma before or after it. */
static void edit_codes(const struct pass *pass, const struct directive *directive,
                       struct finding_fix *fix)
{
	bool kept_before = false;

	for (uint32_t i = 0; i < directive->codes.count; i++) {
		const struct directive_code *code = &directive->codes.at[i];

		if (!is_unused_code(pass, directive, i))
			kept_before = true;
		else if (kept_before)
			add_edit(pass, fix, code[-1].span.end, code->span.end, "");
		else
			add_edit(pass, fix, code->span.start, code[1].span.start, "");
	}
}

static bool is_blank(const struct source *source, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		if (source->text[from] != ' ' && source->text[from] != '\t')
			return false;
	}
	return true;
}

/* The whole comment goes: with its line when nothing else is on it, else with
 * the blanks before it. */
static void edit_comment(const struct pass *pass, const struct source *source, struct span comment,
                         struct finding_fix *fix)
{
	uint32_t line = source_line_at(source, comment.start);
	struct span whole = source_line_span(source, line);
	uint32_t start = comment.start;

	if (is_blank(source, whole.start, comment.start) &&
	    is_blank(source, comment.end, whole.end) && line + 1 < source->line_count) {
		add_edit(pass, fix, whole.start, source->lines[line + 1], "");
		return;
	}
	while (start > whole.start && is_blank(source, start - 1, start))
		start--;
	add_edit(pass, fix, start, comment.end, "");
}

/* Takes the directive out of a comment that says more. What follows stays a
 * comment. */
static void edit_directive(const struct pass *pass, const struct source *source,
                           const struct directive *directive, struct finding_fix *fix)
{
	uint32_t start = directive->span.start, end = directive->span.end;
	bool has_mark = strchr("#/", source->text[start]) != NULL;

	while (end < directive->comment.end && is_blank(source, end, end + 1))
		end++;
	if (end == directive->comment.end) {
		while (start > directive->comment.start && is_blank(source, start - 1, start))
			start--;
		add_edit(pass, fix, start, end, "");
	} else if (!has_mark || source->text[end] == '#') {
		add_edit(pass, fix, start, end, "");
	} else {
		add_edit(pass, fix, start, end, source->text[start] == '#' ? "# " : "// ");
	}
}

static bool is_whole_comment(const struct source *source, const struct directive *directive)
{
	struct span comment = directive->comment;

	while (comment.start < directive->span.start &&
	       strchr("#/* \t", source->text[comment.start]))
		comment.start++;
	while (comment.end > directive->span.end && strchr("*/ \t", source->text[comment.end - 1]))
		comment.end--;
	return comment.start >= directive->span.start && comment.end <= directive->span.end;
}

static struct finding_fix unused_fix(const struct pass *pass, const struct source *source,
                                     const struct directive *directive)
{
	struct finding_fix fix = {.safe = true, .title = "remove what suppresses nothing"};

	if (directive->has_list && unused_codes(pass, directive) < directive->codes.count)
		edit_codes(pass, directive, &fix);
	else if (is_whole_comment(source, directive))
		edit_comment(pass, source, directive->comment, &fix);
	else
		edit_directive(pass, source, directive, &fix);
	return fix;
}

static void report_unused(struct pass *pass, const struct source *source,
                          directive_list *directives, const struct directive *directive)
{
	struct finding finding = {
	        .rule = pass->unused,
	        .severity = pass->unused->severity,
	        .confidence = CONFIDENCE_CERTAIN,
	        .source = source,
	        .span = directive->span,
	        .message = unused_message(pass, source, directive),
	};

	if (is_suppressed(pass, directives, &finding)) {
		pass->outcome->suppressed++;
		return;
	}
	vec_push(pass->arena, &finding.fixes, unused_fix(pass, source, directive));
	vec_push(pass->arena, &pass->kept, finding);
}

/* files */

static void read_directives(struct arena *arena, const struct suppress_file *file,
                            directive_list *directives)
{
	if (!suppress_is_possible(file->source))
		return;
	for (uint32_t i = 0; i < file->comment_count; i++)
		directive_read(arena, file->source, file->comments[i], directives);
}

static void suppress_in_file(struct pass *pass, const struct suppress_file *file,
                             const finding_list *findings)
{
	directive_list directives = {0};

	read_directives(pass->arena, file, &directives);
	if (!directives.count)
		return;
	for (uint32_t i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->at[i];

		if (finding->source == file->source && finding->severity != SEVERITY_OFF &&
		    is_suppressed(pass, &directives, finding)) {
			finding->severity = SEVERITY_OFF;
			pass->outcome->suppressed++;
		}
	}
	for (uint32_t i = 0; pass->unused && !file->is_imported && i < directives.count; i++) {
		if (is_unused(pass, &directives.at[i]))
			report_unused(pass, file->source, &directives, &directives.at[i]);
	}
}

static void set_noqa_row(struct finding *finding)
{
	uint32_t line = lines_of(finding).end;

	finding->noqa_row = source_position(finding->source, finding->source->lines[line]).row;
}

void suppress_findings(struct arena *arena, struct rule_table rules, struct suppress_file *files,
                       uint32_t count, struct outcome *outcome)
{
	finding_list found = outcome->findings;
	struct pass pass = {
	        .arena = arena,
	        .rules = rules,
	        .unused = rule_find(rules, "unused-suppression"),
	        .outcome = outcome,
	};

	for (uint32_t i = 0; i < count; i++) {
		uint32_t before = outcome->suppressed;

		suppress_in_file(&pass, &files[i], &found);
		files[i].suppressed = outcome->suppressed - before;
	}
	for (uint32_t i = 0; i < found.count; i++) {
		if (found.at[i].severity != SEVERITY_OFF)
			vec_push(arena, &pass.kept, found.at[i]);
	}
	for (uint32_t i = 0; i < pass.kept.count; i++)
		set_noqa_row(&pass.kept.at[i]);
	outcome->findings = pass.kept;
	findings_sort(&outcome->findings);
}
