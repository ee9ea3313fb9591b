#include <string.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/excerpt.h"
#include "analyzer/report/place.h"
#include "analyzer/report/report.h"
#include "analyzer/report/summary.h"

/* Steps in one file (of a notebook, in one cell): they share an excerpt. */
struct group {
	const struct source *source;
	uint32_t cell;
	excerpt_marks marks;
};

typedef VEC(struct group) group_list;

struct writing {
	const struct report *report;
	struct arena *scratch;
	struct text *out;
	struct excerpt_look look;
};

static void write_head(const struct writing *writing, const struct finding *finding)
{
	struct text *out = writing->out;
	bool color = writing->look.color;

	style_on(out, color, STYLE_BOLD);
	place_print(finding->source, finding->span, out);
	style_off(out, color, STYLE_BOLD);
	text_add_chars(out, ": ");
	style_text(out, color, writing->look.primary, severity_name(finding->severity));
	text_add_char(out, ' ');
	style_text(out, color, STYLE_BOLD, finding->rule->code);
	text_print(out, " %s: ", finding->rule->slug);
	show_text(out, finding->message);
	text_add_char(out, '\n');
}

static uint32_t cell_of(const struct source *source, struct span span)
{
	const struct source_cell *cell = source_cell_at(source, span.start);

	return cell ? cell->number : 0;
}

static struct group *group_for(struct arena *arena, group_list *groups, const struct source *source,
                               struct span span)
{
	uint32_t cell = cell_of(source, span);
	struct group group = {.source = source, .cell = cell};

	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->at[i].source == source && groups->at[i].cell == cell)
			return &groups->at[i];
	}
	vec_push(arena, groups, group);
	return &groups->at[groups->count - 1];
}

static bool is_at_finding(const struct finding *finding, const struct finding_step *step)
{
	return step->source == finding->source && step->span.start == finding->span.start &&
	       step->span.end == finding->span.end;
}

/* Where the holder is made is told by the label of where it keeps: its line is
 * drawn only when that is elsewhere. */
static bool is_drawn(const struct finding *finding, const struct finding_step *step)
{
	return step->source && !(step->role == STEP_MADE && step->source == finding->source);
}

static void collect_groups(struct arena *arena, const struct finding *finding, group_list *groups)
{
	struct excerpt_mark primary = {.span = finding->span, .primary = true};
	struct group *group;

	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct finding_step *step = &finding->steps.at[i];

		if (is_at_finding(finding, step) && !primary.label)
			primary.label = step->message;
	}
	group = group_for(arena, groups, finding->source, finding->span);
	vec_push(arena, &group->marks, primary);
	for (uint32_t i = 0; i < finding->steps.count; i++) {
		const struct finding_step *step = &finding->steps.at[i];
		struct excerpt_mark mark = {.span = step->span, .label = step->message};

		if (!is_drawn(finding, step) ||
		    (is_at_finding(finding, step) && step->message == primary.label))
			continue;
		group = group_for(arena, groups, step->source, step->span);
		vec_push(arena, &group->marks, mark);
	}
}

/* Beside the rows, the frame and a mark that the line goes on. */
static unsigned room_for_text(const struct writing *writing)
{
	enum { LEAST_COLUMNS = 20, AROUND_COLUMNS = 4, MOST_COLUMNS = 160 };
	const unsigned columns = writing->report->columns;
	const unsigned taken = writing->look.gutter + AROUND_COLUMNS;

	if (!columns || columns > taken + MOST_COLUMNS)
		return 0;
	return columns > taken + LEAST_COLUMNS ? columns - taken : LEAST_COLUMNS;
}

static void write_excerpts(struct writing *writing, const struct finding *finding)
{
	struct text *out = writing->out;
	group_list groups = {0};

	collect_groups(writing->scratch, finding, &groups);
	writing->look.gutter = 1;
	for (uint32_t i = 0; i < groups.count; i++) {
		unsigned gutter = excerpt_gutter(groups.at[i].source, &groups.at[i].marks);

		if (gutter > writing->look.gutter)
			writing->look.gutter = gutter;
	}
	writing->look.columns = room_for_text(writing);
	for (uint32_t i = 0; i < groups.count; i++) {
		struct group *group = &groups.at[i];

		if (i) {
			style_on(out, writing->look.color, STYLE_FRAME);
			text_add_repeated(out, ' ', writing->look.gutter);
			text_add_chars(out, "::: ");
			style_off(out, writing->look.color, STYLE_FRAME);
			place_print(group->source, group->marks.at[0].span, out);
			text_add_char(out, '\n');
		}
		excerpt_gap(&writing->look, out);
		text_add_char(out, '\n');
		excerpt_print(writing->scratch, group->source, &group->marks, &writing->look, out);
	}
	excerpt_gap(&writing->look, out);
	text_add_char(out, '\n');
}

static void start_remark(const struct writing *writing)
{
	style_on(writing->out, writing->look.color, STYLE_FRAME);
	text_add_repeated(writing->out, ' ', writing->look.gutter + 1);
	text_add_char(writing->out, '=');
	style_off(writing->out, writing->look.color, STYLE_FRAME);
	text_add_char(writing->out, ' ');
}

static void write_remark(const struct writing *writing, const char *chars)
{
	start_remark(writing);
	show_text(writing->out, chars);
	text_add_char(writing->out, '\n');
}

static void write_fix(const struct writing *writing, const struct finding_fix *fix)
{
	struct text *out = writing->out;

	start_remark(writing);
	style_text(out, writing->look.color, fix->safe ? STYLE_GOOD : STYLE_PLAIN, "fix");
	if (fix->safe)
		text_add_chars(out, " (safe): ");
	else if (fix->changes)
		text_print(out, " (unsafe, changes %s): ", fix->changes);
	else
		text_add_chars(out, " (unsafe): ");
	show_text(out, fix->title);
	if (fix->replayed) {
		text_add_chars(out, ", replayed: ");
		show_text(out, fix->replayed);
	}
	text_add_char(out, '\n');
}

static void write_list(const struct writing *writing, const char *head, const char *const *at,
                       uint32_t count)
{
	struct text line = {.arena = writing->scratch};

	if (!count)
		return;
	text_add_chars(&line, head);
	for (uint32_t i = 0; i < count; i++)
		text_print(&line, "%s%s", i ? ", " : " ", at[i]);
	write_remark(writing, text_chars(&line));
}

static void write_remarks(const struct writing *writing, const struct finding *finding)
{
	const struct finding_replay *replay = &finding->replay;
	struct text sentence = {.arena = writing->scratch};

	if (finding->note)
		write_remark(writing, finding->note);
	if (finding->confidence == CONFIDENCE_LIKELY)
		write_remark(writing,
		             "likely, not certain: it rests on code that could not be seen");
	if (replay_sentence(replay, writing->report->memory_bytes, &sentence))
		write_remark(writing, text_chars(&sentence));
	write_list(writing, "stood in for:", replay->stand_ins.at, replay->stand_ins.count);
	write_list(writing, "held by:", replay->retained_by.at, replay->retained_by.count);
	for (uint32_t i = 0; i < finding->fixes.count; i++)
		write_fix(writing, &finding->fixes.at[i]);
}

static void write_finding(struct writing *writing, const struct finding *finding)
{
	writing->look.primary = style_of_severity(finding->severity);
	write_head(writing, finding);
	write_excerpts(writing, finding);
	write_remarks(writing, finding);
	text_add_char(writing->out, '\n');
	arena_reset(writing->scratch);
}

void report_text(const struct report *report, struct text *out)
{
	const finding_list *findings = &report->outcome->findings;
	struct arena scratch = {0};
	struct writing writing = {
	        .report = report,
	        .scratch = &scratch,
	        .out = out,
	        .look = {.color = report->color},
	};

	for (uint32_t i = 0; i < findings->count && !report->statistics; i++)
		write_finding(&writing, &findings->at[i]);
	arena_release(&scratch);
	if (report->statistics)
		summary_statistics(report, out);
	if (!report->quiet)
		summary_write(report, out);
}
