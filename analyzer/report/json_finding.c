#include "analyzer/report/json_finding.h"

#include "analyzer/report/place.h"
#include "analyzer/report/summary.h"

void json_position(struct emitter *json, const char *name, struct position position)
{
	emit_open_object(json, name);
	emit_number(json, "row", position.row);
	emit_number(json, "column", position.column);
	emit_close_object(json);
}

static void add_range(struct emitter *json, const struct source *source, struct span span)
{
	json_position(json, "location", source_position(source, span.start));
	json_position(json, "end_location", place_end(source, span));
}

static void add_strings(struct emitter *json, const char *name, const char *const *at,
                        uint32_t count)
{
	emit_open_array(json, name);
	for (uint32_t i = 0; i < count; i++)
		emit_text(json, NULL, at[i]);
	emit_close_array(json);
}

static void add_step(struct emitter *json, const struct finding_step *step)
{
	emit_open_object(json, NULL);
	emit_text(json, "role", step_role_name(step->role));
	if (step->source) {
		struct position position = source_position(step->source, step->span.start);

		emit_text(json, "filename", step->source->path);
		json_position(json, "location", position);
		json_position(json, "end_location", place_end(step->source, step->span));
		if (position.cell)
			emit_number(json, "cell", position.cell);
	} else {
		emit_null(json, "filename");
		emit_null(json, "location");
	}
	emit_text(json, "message", step->message);
	emit_close_object(json);
}

static void add_fix(struct emitter *json, const char *name, const struct finding *finding,
                    uint32_t index)
{
	const struct finding_fix *fix = &finding->fixes.at[index];

	emit_open_object(json, name);
	emit_text(json, "title", fix->title);
	emit_text(json, "applicability", fix->safe ? "safe" : "unsafe");
	emit_optional(json, "changes", fix->changes);
	emit_open_array(json, "edits");
	for (uint32_t i = 0; i < fix->edits.count; i++) {
		emit_open_object(json, NULL);
		add_range(json, finding->source, fix->edits.at[i].span);
		emit_text(json, "content", fix->edits.at[i].text);
		emit_close_object(json);
	}
	emit_close_array(json);
	emit_optional(json, "replayed", fix->replayed);
	if (!index) {
		emit_open_array(json, "alternatives");
		for (uint32_t i = 1; i < finding->fixes.count; i++)
			add_fix(json, NULL, finding, i);
		emit_close_array(json);
	}
	emit_close_object(json);
}

static void add_replay(struct emitter *json, const struct finding_replay *replay)
{
	emit_open_object(json, "replay");
	emit_text(json, "verdict", evidence_name(replay->verdict));
	emit_optional(json, "shown", replay->shown);
	emit_optional(json, "reason", replay->reason);
	emit_optional(json, "loop", replay->loop);
	emit_bool(json, "exact", replay->exact);
	emit_number(json, "steps", replay->steps);
	emit_real(json, "bytes_per_step", replay->bytes_per_step);
	emit_real(json, "nodes_per_step", replay->nodes_per_step);
	emit_open_array(json, "live_bytes");
	for (uint32_t i = 0; i < replay->steps; i++)
		emit_number(json, NULL, replay->live_bytes[i]);
	emit_close_array(json);
	add_strings(json, "stand_ins", replay->stand_ins.at, replay->stand_ins.count);
	add_strings(json, "retained_by", replay->retained_by.at, replay->retained_by.count);
	emit_close_object(json);
}

static bool has_replay(const struct finding_replay *replay)
{
	return replay->verdict != EVIDENCE_NONE || replay->reason;
}

void json_finding(struct emitter *json, const char *name, const struct finding *finding)
{
	struct position position = source_position(finding->source, finding->span.start);

	emit_open_object(json, name);
	emit_text(json, "code", finding->rule->code);
	emit_text(json, "slug", finding->rule->slug);
	emit_text(json, "severity", severity_name(finding->severity));
	emit_text(json, "confidence", confidence_name(finding->confidence));
	emit_text(json, "filename", finding->source->path);
	add_range(json, finding->source, finding->span);
	emit_text(json, "message", finding->message);
	emit_optional(json, "note", finding->note);
	emit_optional(json, "function", finding->function);
	emit_open_array(json, "steps");
	for (uint32_t i = 0; i < finding->steps.count; i++)
		add_step(json, &finding->steps.at[i]);
	emit_close_array(json);
	if (finding->fixes.count)
		add_fix(json, "fix", finding, 0);
	else
		emit_null(json, "fix");
	if (has_replay(&finding->replay))
		add_replay(json, &finding->replay);
	else
		emit_null(json, "replay");
	emit_number(json, "noqa_row", finding->noqa_row ? finding->noqa_row : position.row);
	if (position.cell)
		emit_number(json, "cell", position.cell);
	else
		emit_null(json, "cell");
	emit_close_object(json);
}

void json_skipped(struct emitter *json, const char *name, const struct skipped *skipped)
{
	emit_open_object(json, name);
	emit_text(json, "filename", skipped->path);
	if (skipped_has_place(skipped)) {
		struct position position = source_position(skipped->source, skipped->span.start);

		add_range(json, skipped->source, skipped->span);
		if (position.cell)
			emit_number(json, "cell", position.cell);
	} else {
		emit_null(json, "location");
		emit_null(json, "end_location");
	}
	emit_text(json, "reason", skipped->reason);
	emit_bool(json, "failure", skipped->is_failure);
	emit_close_object(json);
}

void json_summary(struct emitter *json, const char *name, const struct outcome *outcome)
{
	emit_open_object(json, name);
	emit_number(json, "files", outcome->files);
	emit_number(json, "findings", outcome->findings.count);
	emit_number(json, "errors", outcome_count(outcome, SEVERITY_ERROR));
	emit_number(json, "warnings", outcome_count(outcome, SEVERITY_WARNING));
	emit_number(json, "infos", outcome_count(outcome, SEVERITY_INFO));
	emit_number(json, "fixable", summary_fixable(outcome));
	emit_number(json, "skipped", outcome->skipped.count);
	emit_number(json, "suppressed", outcome->suppressed);
	emit_number(json, "baselined", outcome->baselined);
	emit_number(json, "refuted", outcome->refuted);
	emit_open_array(json, "stale_baseline");
	for (uint32_t i = 0; i < outcome->stale.count; i++)
		emit_text(json, NULL, outcome->stale.at[i]);
	emit_close_array(json);
	emit_close_object(json);
}
