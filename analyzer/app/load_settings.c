/* What holds for a run and for each of its files: the configuration that is
 * nearest, with the command line over it. */

#include <string.h>
#include <sys/stat.h>

#include "analyzer/app/app.h"
#include "analyzer/app/config.h"
#include "analyzer/base/files.h"
#include "analyzer/finding/fingerprint.h"

/* where a configuration is looked for */

static bool is_folder(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static const char *folder_of_operand(struct app *app, const char *operand)
{
	const struct option_value *name = &app->line.given[OPTION_stdin_filename];

	if (!strcmp(operand, "-"))
		return path_absolute(&app->arena,
		                     name->text ? path_folder(&app->arena, name->text) : "");
	if (is_folder(operand))
		return path_absolute(&app->arena, operand);
	return path_absolute(&app->arena, path_folder(&app->arena, operand));
}

/* The folder that holds all operands: what is said of the run as a whole is
 * searched from there. */
static const char *common_folder(struct app *app)
{
	const text_list *operands = &app->line.operands;
	char *common = NULL;

	for (uint32_t i = 0; i < operands->count; i++) {
		const char *folder = folder_of_operand(app, operands->at[i]);
		size_t same = 0, slash = 0;

		if (!common) {
			common = arena_text(&app->arena, folder, strlen(folder));
			continue;
		}
		for (; common[same] && common[same] == folder[same]; same++) {
			if (common[same] == '/')
				slash = same;
		}
		if ((!common[same] || common[same] == '/') &&
		    (!folder[same] || folder[same] == '/'))
			slash = same;
		common[slash] = '\0';
	}
	return common ? path_shorten(&app->arena, *common ? common : "/") : "";
}

/* selectors */

static void print_origin(const struct option_value *value, const struct option *option,
                         struct text *out)
{
	if (value->origin == ORIGIN_FILE)
		text_print(out, "%s:%u: `%s`", value->file, value->line, option->name);
	else
		text_print(out, "--%s", option->name);
}

static bool complain_selector(const struct app *app, const char *selector, struct text *complaint)
{
	struct suggestion suggestion = {.name = selector};

	for (uint32_t i = 0; i < app->rules.count; i++) {
		suggestion_offer(&suggestion, app->rules.at[i].code);
		suggestion_offer(&suggestion, app->rules.at[i].slug);
	}
	text_print(complaint, ": `%s` is no rule", selector);
	suggestion_print(&suggestion, "", complaint);
	return false;
}

static bool check_list(const struct app *app, const struct settings *settings, enum option_id id,
                       struct text *complaint)
{
	const struct option_value *value = &settings->of[id];

	for (uint32_t i = 0; i < value->list.count; i++) {
		if (selector_is_known(app->rules, value->list.at[i]))
			continue;
		print_origin(value, &options[id], complaint);
		return complain_selector(app, value->list.at[i], complaint);
	}
	return true;
}

static bool check_tables(const struct app *app, const struct settings *settings,
                         struct text *complaint)
{
	for (uint32_t i = 0; i < settings->file_ignores.count; i++) {
		const struct file_ignore *ignore = &settings->file_ignores.at[i];

		for (uint32_t k = 0; k < ignore->selectors.count; k++) {
			if (selector_is_known(app->rules, ignore->selectors.at[k]))
				continue;
			text_print(complaint, "%s:%u: `per-file-ignores`", ignore->file,
			           ignore->line);
			return complain_selector(app, ignore->selectors.at[k], complaint);
		}
	}
	for (uint32_t i = 0; i < settings->selection.severities.count; i++) {
		const struct severity_change *change = &settings->selection.severities.at[i];

		if (selector_is_known(app->rules, change->selector))
			continue;
		text_print(complaint, "%s:%u: `severity`", change->file, change->line);
		return complain_selector(app, change->selector, complaint);
	}
	return true;
}

/* reading */

bool app_settings_from(struct app *app, const char *config, struct settings *settings,
                       struct text *complaint)
{
	settings_init(&app->arena, settings);
	if (config && !config_read(&app->arena, config, settings, complaint))
		return false;
	command_line_apply(&app->arena, &app->line, settings);
	return check_list(app, settings, OPTION_select, complaint) &&
	       check_list(app, settings, OPTION_extend_select, complaint) &&
	       check_list(app, settings, OPTION_ignore, complaint) &&
	       check_tables(app, settings, complaint);
}

bool app_load_settings(struct app *app)
{
	struct text complaint = {.arena = &app->arena};
	const char *config = app->line.given[OPTION_config].text;

	if (app->line.given[OPTION_isolated].flag)
		config = NULL;
	else if (!config)
		config = config_find(&app->arena, common_folder(app));
	if (app_settings_from(app, config, &app->settings, &complaint))
		return true;
	app_fail("%s", text_chars(&complaint));
	return false;
}
