#include "analyzer/report/json_finding.h"
#include "analyzer/report/report.h"

static void json_shard(struct emitter *json, const struct report_shard *shard)
{
	emit_open_object(json, "shard");
	emit_number(json, "part", shard->part);
	emit_number(json, "parts", shard->parts);
	emit_text(json, "record", shard->record);
	emit_close_object(json);
}

/* One document: {version, findings, skipped, summary}. */
void report_json(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;
	struct emitter json = {.out = out, .indents = true};

	emit_open_object(&json, NULL);
	emit_text(&json, "version", report->version);
	emit_open_array(&json, "findings");
	for (uint32_t i = 0; i < outcome->findings.count; i++)
		json_finding(&json, NULL, &outcome->findings.at[i]);
	emit_close_array(&json);
	emit_open_array(&json, "skipped");
	for (uint32_t i = 0; i < outcome->skipped.count; i++)
		json_skipped(&json, NULL, &outcome->skipped.at[i]);
	emit_close_array(&json);
	json_summary(&json, "summary", outcome);
	if (report->shard)
		json_shard(&json, report->shard);
	emit_close_object(&json);
	text_add_char(out, '\n');
}

/* One line each: a finding as it is, then {"skipped": ...}, then {"summary": ...}. */
void report_jsonl(const struct report *report, struct text *out)
{
	const struct outcome *outcome = report->outcome;

	for (uint32_t i = 0; i < outcome->findings.count; i++) {
		struct emitter json = {.out = out};

		json_finding(&json, NULL, &outcome->findings.at[i]);
		text_add_char(out, '\n');
	}
	for (uint32_t i = 0; i < outcome->skipped.count; i++) {
		struct emitter json = {.out = out};

		emit_open_object(&json, NULL);
		json_skipped(&json, "skipped", &outcome->skipped.at[i]);
		emit_close_object(&json);
		text_add_char(out, '\n');
	}
	struct emitter json = {.out = out};

	emit_open_object(&json, NULL);
	emit_text(&json, "version", report->version);
	json_summary(&json, "summary", outcome);
	emit_close_object(&json);
	text_add_char(out, '\n');
}
