#include "analyzer/app/shard.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/app/version.h"
#include "analyzer/base/base64.h"
#include "analyzer/engine/packing.h"

/* "2/4" */
static bool read_part(const char *text, struct engine_settings *engine)
{
	unsigned long part, parts;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	part = strtoul(text, &end, 10);
	if (*end != '/' || end[1] < '0' || end[1] > '9')
		return false;
	parts = strtoul(end + 1, &end, 10);
	engine->shard = (uint32_t)part;
	engine->shards = (uint32_t)parts;
	return !*end && part >= 1 && part <= parts && parts <= UINT16_MAX;
}

/* What needs the whole of a run. */
static bool fits(struct app *app)
{
	static const enum option_id others[] = {
	        OPTION_write_baseline, OPTION_add_noqa, OPTION_fix,
	        OPTION_unsafe_fixes,   OPTION_diff,     OPTION_watch};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const struct option_value *value = &app->settings.of[others[i]];

		if (!value->flag && !(others[i] == OPTION_write_baseline && value->text))
			continue;
		app_fail("--shard looks at a part, --%s needs the whole", options[others[i]].name);
		return false;
	}
	if (command_line_has_operand(&app->line, "-")) {
		app_fail("standard input has no parts: --shard needs files");
		return false;
	}
	return true;
}

bool shard_settings(struct app *app, struct engine_settings *engine)
{
	const char *text = settings_text(&app->settings, OPTION_shard);

	if (!text)
		return true;
	if (read_part(text, engine))
		return fits(app);
	app_fail("--shard must be I/N with I from 1 to N, not `%s`", text);
	return false;
}

/* what was asked for */

static bool is_of_the_output(enum option_id id)
{
	static const enum option_id ids[] = {
	        OPTION_shard,    OPTION_output_file, OPTION_format,    OPTION_jobs,
	        OPTION_no_cache, OPTION_cache_dir,   OPTION_color,     OPTION_quiet,
	        OPTION_verbose,  OPTION_statistics,  OPTION_exit_zero,
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

static void add_flag(struct text *out, const struct option *option, bool flag)
{
	if (flag)
		text_print(out, "--%s", option->name);
	else if (!strncmp(option->name, "no-", 3))
		text_print(out, "--%s", option->name + 3);
	else
		text_print(out, "--no-%s", option->name);
}

static void add_option(struct app *app, enum option_id id, text_list *arguments)
{
	const struct option_value *value = &app->line.given[id];
	struct text out = {.arena = &app->arena};

	if (options[id].kind == OPTION_FLAG) {
		add_flag(&out, &options[id], value->flag);
	} else if (options[id].kind == OPTION_LIST) {
		text_print(&out, "--%s=", options[id].name);
		for (uint32_t i = 0; i < value->list.count; i++)
			text_print(&out, "%s%s", i ? "," : "", value->list.at[i]);
	} else {
		text_print(&out, "--%s=%s", options[id].name, value->text);
	}
	vec_push(&app->arena, arguments, text_chars(&out));
}

static text_list arguments_of(struct app *app)
{
	text_list arguments = {0};

	for (int i = 0; i < OPTION_COUNT; i++) {
		if (command_line_has(&app->line, (enum option_id)i) &&
		    !is_of_the_output((enum option_id)i))
			add_option(app, (enum option_id)i, &arguments);
	}
	vec_push(&app->arena, &arguments, "--");
	for (uint32_t i = 0; i < app->line.operands.count; i++)
		vec_push(&app->arena, &arguments, app->line.operands.at[i]);
	return arguments;
}

/* the record */

struct report_shard shard_report(struct app *app, struct run *run)
{
	const text_list arguments = arguments_of(app);
	struct text record = {.arena = &app->arena}, index = record, letters = record;
	struct engine_settings engine = {0};

	BUG_IF(!read_part(settings_text(&app->settings, OPTION_shard), &engine));
	pack_text(&record, GRAPHLINT_VERSION);
	pack_number(&record, arguments.count);
	for (uint32_t i = 0; i < arguments.count; i++)
		pack_text(&record, arguments.at[i]);
	run_record(run, &index);
	pack_bytes(&record, text_chars(&index), index.length);
	base64_add(&letters, record.at, record.length);
	return (struct report_shard){engine.shard, engine.shards, text_chars(&letters)};
}

const char *shard_record_read(struct arena *arena, const char *letters, struct shard_record *record)
{
	struct text bytes = {.arena = arena};
	struct unpacking in = {.arena = arena};
	const char *version, *index;
	uint32_t count;
	size_t length;

	if (!base64_read(&bytes, letters, strlen(letters)) || !bytes.length)
		return "its record is damaged";
	in.at = bytes.at;
	in.end = bytes.at + bytes.length;
	version = unpack_text(&in);
	if (!version || strcmp(version, GRAPHLINT_VERSION) != 0)
		return "it was written by another version of graphlint";
	count = unpack_count(&in);
	for (uint32_t i = 0; i < count && !in.broken; i++) {
		const char *argument = unpack_text(&in);

		in.broken |= !argument;
		vec_push(arena, &record->arguments, argument);
	}
	index = unpack_bytes(&in, &length);
	if (in.broken || !record->arguments.count)
		return "its record is damaged";
	/* Nothing: too much was loaded to be noted, and all is looked at again. */
	if (length && !cache_index_unpack(arena, index, length, &record->index))
		return "its record is damaged";
	return NULL;
}
