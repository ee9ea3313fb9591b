#include "analyzer/report/json_finding.h"

#include "analyzer/report/place.h"
#include "analyzer/report/summary.h"

void json_position(struct json_writer *json, const char *name, struct position position)
{
	json_open_object(json, name);
	json_number(json, "row", position.row);
	json_number(json, "column", position.column);
	json_close_object(json);
}

static void add_range(struct json_writer *json, const struct source *source, struct span span)
{
	json_position(json, "location", source_position(source, span.start));
	json_position(json, "end_location", place_end(source, span));
}

static void add_strings(struct json_writer *json, const char *name, const char *const *at,
			uint32_t count)
{
	json_open_array(json, name);
	for (uint32_t i = 0; i < count; i++)
		json_text(json, NULL, at[i]);
	json_close_array(json);
}

static void add_step(struct json_writer *json, const struct finding_step *step)
{
	json_open_object(json, NULL);
	json_text(json, "role", step_role_name(step->role));
	if (step->source) {
		struct position position = source_position(step->source, step->span.start);

		json_text(json, "filename", step->source->path);
		json_position(json, "location", position);
		json_position(json, "end_location", place_end(step->source, step->span));
		if (position.cell)
			json_number(json, "cell", position.cell);
	} else {
		json_null(json, "filename");
		json_null(json, "location");
	}
	json_text(json, "message", step->message);
	json_close_object(json);
}

static void add_fix(struct json_writer *json, const char *name, const struct finding *finding,
		    uint32_t index)
{
	const struct finding_fix *fix = &finding->fixes.at[index];

	json_open_object(json, name);
	json_text(json, "title", fix->title);
	json_text(json, "applicability", fix->safe ? "safe" : "unsafe");
	json_optional(json, "changes", fix->changes);
	json_open_array(json, "edits");
	for (uint32_t i = 0; i < fix->edits.count; i++) {
		json_open_object(json, NULL);
		add_range(json, finding->source, fix->edits.at[i].span);
		json_text(json, "content", fix->edits.at[i].text);
		json_close_object(json);
	}
	json_close_array(json);
	json_optional(json, "replayed", fix->replayed);
	if (!index) {
		json_open_array(json, "alternatives");
		for (uint32_t i = 1; i < finding->fixes.count; i++)
			add_fix(json, NULL, finding, i);
		json_close_array(json);
	}
	json_close_object(json);
}

static void add_replay(struct json_writer *json, const struct finding_replay *replay)
{
	json_open_object(json, "replay");
	json_text(json, "verdict", replay_verdict_name(replay->verdict));
	json_optional(json, "reason", replay->reason);
	json_bool(json, "exact", replay->exact);
	json_number(json, "steps", replay->steps);
	json_real(json, "bytes_per_step", replay->bytes_per_step);
	json_real(json, "nodes_per_step", replay->nodes_per_step);
	json_open_array(json, "live_bytes");
	for (uint32_t i = 0; i < replay->steps; i++)
		json_number(json, NULL, replay->live_bytes[i]);
	json_close_array(json);
	add_strings(json, "stand_ins", replay->stand_ins.at, replay->stand_ins.count);
	add_strings(json, "retained_by", replay->retained_by.at, replay->retained_by.count);
	json_close_object(json);
}

static bool has_replay(const struct finding_replay *replay)
{
	return replay->verdict != REPLAY_NONE || replay->reason;
}

void json_finding(struct json_writer *json, const char *name, const struct finding *finding)
{
	struct position position = source_position(finding->source, finding->span.start);

	json_open_object(json, name);
	json_text(json, "code", finding->rule->code);
	json_text(json, "slug", finding->rule->slug);
	json_text(json, "severity", severity_name(finding->severity));
	json_text(json, "confidence", confidence_name(finding->confidence));
	json_text(json, "filename", finding->source->path);
	add_range(json, finding->source, finding->span);
	json_text(json, "message", finding->message);
	json_optional(json, "note", finding->note);
	json_optional(json, "function", finding->function);
	json_open_array(json, "steps");
	for (uint32_t i = 0; i < finding->steps.count; i++)
		add_step(json, &finding->steps.at[i]);
	json_close_array(json);
	if (finding->fixes.count)
		add_fix(json, "fix", finding, 0);
	else
		json_null(json, "fix");
	if (has_replay(&finding->replay))
		add_replay(json, &finding->replay);
	else
		json_null(json, "replay");
	json_number(json, "noqa_row", finding->noqa_row ? finding->noqa_row : position.row);
	if (position.cell)
		json_number(json, "cell", position.cell);
	else
		json_null(json, "cell");
	json_close_object(json);
}

void json_skipped(struct json_writer *json, const char *name, const struct skipped *skipped)
{
	json_open_object(json, name);
	json_text(json, "filename", skipped->path);
	if (skipped->source && skipped->span.end > skipped->span.start) {
		struct position position = source_position(skipped->source, skipped->span.start);

		add_range(json, skipped->source, skipped->span);
		if (position.cell)
			json_number(json, "cell", position.cell);
	} else {
		json_null(json, "location");
		json_null(json, "end_location");
	}
	json_text(json, "reason", skipped->reason);
	json_bool(json, "failure", skipped->is_failure);
	json_close_object(json);
}

void json_summary(struct json_writer *json, const char *name, const struct outcome *outcome)
{
	json_open_object(json, name);
	json_number(json, "files", outcome->files);
	json_number(json, "findings", outcome->findings.count);
	json_number(json, "errors", outcome_count(outcome, SEVERITY_ERROR));
	json_number(json, "warnings", outcome_count(outcome, SEVERITY_WARNING));
	json_number(json, "infos", outcome_count(outcome, SEVERITY_INFO));
	json_number(json, "fixable", summary_fixable(outcome));
	json_number(json, "skipped", outcome->skipped.count);
	json_number(json, "suppressed", outcome->suppressed);
	json_number(json, "baselined", outcome->baselined);
	json_number(json, "refuted", outcome->refuted);
	json_open_array(json, "stale_baseline");
	for (uint32_t i = 0; i < outcome->stale.count; i++)
		json_text(json, NULL, outcome->stale.at[i]);
	json_close_array(json);
	json_close_object(json);
}
