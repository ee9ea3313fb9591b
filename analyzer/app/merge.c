/* `graphlint merge`: the json reports of shards as one report, in any format. */

#include "analyzer/app/app.h"
#include "analyzer/report/read_json.h"

int app_merge(struct app *app)
{
	struct json_reading reading = {.arena = &app->arena, .rules = app->rules};
	struct text out = {.arena = &app->arena};
	struct report report;

	settings_init(&app->arena, &app->settings);
	command_line_apply(&app->arena, &app->line, &app->settings);
	if (!app->line.operands.count)
		return app_fail("which reports? `graphlint merge shard-1.json shard-2.json`");
	for (uint32_t i = 0; i < app->line.operands.count; i++) {
		const char *path = app->line.operands.at[i];
		const char *complaint = json_report_read(&reading, path);

		if (complaint)
			return app_fail("%s: %s", path, complaint);
	}
	outcome_sort(&reading.outcome);
	report = app_report(app);
	report.outcome = &reading.outcome;
	report_format_find(app_choice(app, OPTION_format))->write(&report, &out);
	if (!app_write(app, &out) || outcome_has_failure(&reading.outcome))
		return EXIT_TROUBLE;
	return reading.outcome.findings.count ? EXIT_FINDINGS : EXIT_CLEAN;
}
