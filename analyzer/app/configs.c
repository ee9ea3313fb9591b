#include "analyzer/app/configs.h"

#include <string.h>

#include "analyzer/app/config.h"
#include "analyzer/base/files.h"
#include "analyzer/base/name_table.h"

struct configs {
	struct name_table by_folder, by_path; /* place + 1 */
	VEC(struct file_config *) at;         /* the run's own first */
	model_list models;                    /* of all of them */
	struct discover_configs discover;
};

/* what one says */

static const char *const *ended_list(struct app *app, const text_list *list)
{
	const char **ended = arena_array(&app->arena, const char *, (size_t)list->count + 1);

	for (uint32_t i = 0; i < list->count; i++)
		ended[i] = list->at[i];
	return ended;
}

/* Patterns of a configuration file are relative to it. */
static const char *exclude_base(struct app *app, const struct settings *settings)
{
	const struct option_value *exclude = &settings->of[OPTION_exclude];
	const struct option_value *extend = &settings->of[OPTION_extend_exclude];
	const struct option_value *from = exclude->origin == ORIGIN_FILE  ? exclude
	                                  : extend->origin == ORIGIN_FILE ? extend
	                                                                  : NULL;
	const char *folder = from ? path_folder(&app->arena, from->file) : "";

	return *folder ? folder : NULL;
}

static struct discover_options discover_of(struct app *app, const struct settings *settings)
{
	static const char *const suffixes[] = {".py", ".pyi", ".pyw", ".ipynb", NULL};
	text_list patterns = {0};

	for (uint32_t i = 0; i < settings->of[OPTION_exclude].list.count; i++)
		vec_push(&app->arena, &patterns, settings->of[OPTION_exclude].list.at[i]);
	for (uint32_t i = 0; i < settings->of[OPTION_extend_exclude].list.count; i++)
		vec_push(&app->arena, &patterns, settings->of[OPTION_extend_exclude].list.at[i]);
	return (struct discover_options){
	        .suffixes = suffixes,
	        .excludes = ended_list(app, &patterns),
	        .exclude_base = exclude_base(app, settings),
	        .no_default_excludes = settings->of[OPTION_exclude].origin != ORIGIN_DEFAULT,
	        .no_gitignore = settings_flag(settings, OPTION_no_respect_gitignore),
	        .force_exclude = settings_flag(settings, OPTION_force_exclude),
	};
}

static struct file_terms terms_of(const struct settings *settings)
{
	return (struct file_terms){
	        .selection = settings->selection,
	        .least_confidence = (enum confidence)(
	                CONFIDENCE_LIKELY + settings_number(settings, OPTION_min_confidence)),
	        .ignores = settings->file_ignores,
	};
}

static void add_config(struct app *app, struct file_config *config)
{
	struct configs *configs = app->configs;
	const char *path = config->settings.config_path;
	bool is_new;

	config->discover = discover_of(app, &config->settings);
	config->terms = terms_of(&config->settings);
	vec_push(&app->arena, &configs->at, config);
	name_table_put(&configs->by_path, path ? path : "", &is_new)->value = configs->at.count;
	for (uint32_t i = 0; i < config->settings.models.count; i++)
		vec_push(&app->arena, &configs->models, config->settings.models.at[i]);
}

/* which one */

static const struct discover_options *discover_in(void *context, const char *folder,
                                                  const char **complaint)
{
	const struct file_config *config = config_of_folder(context, folder, complaint);

	return config ? &config->discover : NULL;
}

static struct configs *configs_of(struct app *app)
{
	struct file_config *whole;

	if (app->configs)
		return app->configs;
	app->configs = arena_new(&app->arena, struct configs);
	app->configs->by_folder.arena = app->configs->by_path.arena = &app->arena;
	app->configs->discover = (struct discover_configs){config_names, discover_in, app};
	whole = arena_new(&app->arena, struct file_config);
	whole->settings = app->settings;
	add_config(app, whole);
	return app->configs;
}

static bool is_one_for_all(const struct app *app)
{
	return app->line.given[OPTION_config].text || app->line.given[OPTION_isolated].flag;
}

/* Its place + 1; 0: it cannot be used. */
static uint32_t read_config(struct app *app, const char *path, const char **complaint)
{
	struct configs *configs = configs_of(app);
	struct name_entry *entry = name_table_find(&configs->by_path, path ? path : "");
	struct text why = {.arena = &app->arena};
	struct file_config *config;

	if (entry)
		return entry->value;
	config = arena_new(&app->arena, struct file_config);
	if (!app_settings_from(app, path, &config->settings, &why)) {
		*complaint = text_chars(&why);
		return 0;
	}
	add_config(app, config);
	return configs->at.count;
}

const struct file_config *config_of_folder(struct app *app, const char *folder,
                                           const char **complaint)
{
	struct configs *configs = configs_of(app);
	struct name_entry *entry;
	uint32_t place;
	bool is_new;

	if (is_one_for_all(app))
		return configs->at.at[0];
	entry = name_table_find(&configs->by_folder, folder);
	place = entry ? entry->value
	              : read_config(app, config_find(&app->arena, folder), complaint);
	if (!entry)
		name_table_put(&configs->by_folder, folder, &is_new)->value = place;
	return place ? configs->at.at[place - 1] : NULL;
}

const struct file_config *config_of_file(struct app *app, const char *path)
{
	const char *complaint = NULL;
	const struct file_config *config =
	        config_of_folder(app, path_folder(&app->arena, path), &complaint);

	return config ? config : configs_of(app)->at.at[0];
}

static const struct file_terms *terms_of_file(void *context, const char *path)
{
	return &config_of_file(context, path)->terms;
}

void configs_join(struct app *app, struct engine_settings *engine)
{
	struct configs *configs = configs_of(app);

	engine->discover = configs->at.at[0]->discover;
	if (!is_one_for_all(app))
		engine->discover.configs = &configs->discover;
	engine->models = &configs->models;
	engine->terms_of = terms_of_file;
	engine->context = app;
}

uint32_t configs_count(const struct app *app)
{
	return app->configs ? app->configs->at.count : 0;
}

const struct file_config *configs_at(const struct app *app, uint32_t index)
{
	return app->configs->at.at[index];
}
