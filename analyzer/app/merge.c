/* `graphlint merge`: the json reports of shards as the report of one run, in any
 * format. Other json reports are put one after the other. */

#include <string.h>

#include "analyzer/app/check.h"
#include "analyzer/app/shard.h"
#include "analyzer/engine/shards.h"
#include "analyzer/report/read_json.h"

struct part {
	const char *path;
	struct json_shard shard;
	struct shard_record record;
};

/* reports as they are */

static int write_as_they_are(struct app *app, struct json_reading *reading)
{
	struct text out = {.arena = &app->arena};
	struct report report;

	settings_init(&app->arena, &app->settings);
	command_line_apply(&app->arena, &app->line, &app->settings);
	outcome_sort(&reading->outcome);
	report = app_report(app);
	report.outcome = &reading->outcome;
	report_format_find(app_choice(app, OPTION_format))->write(&report, &out);
	if (!app_write(app, &out))
		return EXIT_TROUBLE;
	return check_exit_status(app, &reading->outcome);
}

/* shards */

static bool same_texts(const text_list *a, const text_list *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++) {
		if (strcmp(a->at[i], b->at[i]) != 0)
			return false;
	}
	return true;
}

/* All parts of one run, each once; they are put in order. */
static bool are_complete(struct app *app, struct part *parts, uint32_t count)
{
	const uint32_t wanted = parts[0].shard.parts;
	struct part *ordered = arena_array(&app->arena, struct part, wanted + 1);

	for (uint32_t i = 0; i < count; i++) {
		struct part *place = &ordered[parts[i].shard.part - 1];

		if (parts[i].shard.parts != wanted ||
		    !same_texts(&parts[i].record.arguments, &parts[0].record.arguments)) {
			app_fail("%s and %s are not parts of the same run", parts[0].path,
			         parts[i].path);
			return false;
		}
		if (place->path) {
			app_fail("%s and %s are both part %u of %u", place->path, parts[i].path,
			         parts[i].shard.part, wanted);
			return false;
		}
		*place = parts[i];
	}
	for (uint32_t i = 0; i < wanted; i++) {
		if (!ordered[i].path) {
			app_fail("part %u of %u is missing", i + 1, wanted);
			return false;
		}
	}
	memcpy(parts, ordered, wanted * sizeof(*parts));
	return true;
}

/* What the shards were asked for, and how this command wants it written. */
static bool take_arguments(struct app *app, const text_list *arguments)
{
	char **words = arena_array(&app->arena, char *, (size_t)arguments->count + 1);
	struct text complaint = {.arena = &app->arena};
	struct command_line line;

	for (uint32_t i = 0; i < arguments->count; i++)
		words[i + 1] = arena_text(&app->arena, arguments->at[i], strlen(arguments->at[i]));
	if (!command_line_read(&app->arena, (int)arguments->count + 1, words, &line, &complaint)) {
		app_fail("%s", text_chars(&complaint));
		return false;
	}
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (command_line_has(&app->line, (enum option_id)i))
			line.given[i] = app->line.given[i];
	}
	app->line = line;
	return true;
}

static int write_as_one(struct app *app, struct part *parts, uint32_t count)
{
	struct cache_index *indices = arena_array(&app->arena, struct cache_index, count);
	struct cache_index joined;
	struct engine_settings engine;

	if (!are_complete(app, parts, count) || !take_arguments(app, &parts[0].record.arguments) ||
	    !app_load_settings(app) || !check_settings(app, &engine))
		return EXIT_TROUBLE;
	for (uint32_t i = 0; i < count; i++)
		indices[i] = parts[i].record.index;
	shards_join(&app->arena, indices, count, &joined);
	engine.joined = &joined;
	return check_with(app, &engine);
}

/* reading */

static const char *read_part(struct app *app, struct json_reading *reading, struct part *part)
{
	const char *complaint = json_report_read(reading, part->path, &part->shard);

	if (complaint || !part->shard.parts)
		return complaint;
	return shard_record_read(&app->arena, part->shard.record, &part->record);
}

int app_merge(struct app *app)
{
	struct json_reading reading = {.arena = &app->arena, .rules = app->rules};
	const uint32_t count = app->line.operands.count;
	struct part *parts = arena_array(&app->arena, struct part, count + 1);

	if (!count)
		return app_fail("which reports? `graphlint merge shard-1.json shard-2.json`");
	for (uint32_t i = 0; i < count; i++) {
		const char *complaint;

		parts[i].path = app->line.operands.at[i];
		complaint = read_part(app, &reading, &parts[i]);
		if (complaint)
			return app_fail("%s: %s", parts[i].path, complaint);
		if (!parts[i].shard.parts != !parts[0].shard.parts)
			return app_fail("%s is the report of a shard, %s is not",
			                parts[parts[0].shard.parts ? 0 : i].path,
			                parts[parts[0].shard.parts ? i : 0].path);
	}
	return parts[0].shard.parts ? write_as_one(app, parts, count)
	                            : write_as_they_are(app, &reading);
}
