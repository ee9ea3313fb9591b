#ifndef GRAPHLINT_APP_SETTINGS_H
#define GRAPHLINT_APP_SETTINGS_H

/* What holds for a run: every option's value with who said so, and what only
 * the configuration file can say. The command line beats the file, the file
 * beats what it extends, that beats the defaults. Lives in the run's arena. */

#include "analyzer/app/options.h"
#include "analyzer/engine/engine.h"

struct settings {
	struct option_value of[OPTION_COUNT];
	struct selection selection;
	file_ignore_list file_ignores;
	model_list models;       /* one effect each */
	const char *config_path; /* NULL: no configuration file */
	text_list config_files;  /* it and what it extends */
};

/* The words of extend-models, ended by NULL. */
struct model_effect {
	const char *name;
	unsigned effect;
};

extern const struct model_effect model_effects[];

/* Defaults; every value is set. */
void settings_init(struct arena *arena, struct settings *settings);

static inline bool settings_flag(const struct settings *settings, enum option_id id)
{
	return settings->of[id].flag;
}

/* NULL when nobody said anything and there is no default. */
static inline const char *settings_text(const struct settings *settings, enum option_id id)
{
	return settings->of[id].text;
}

static inline uint64_t settings_number(const struct settings *settings, enum option_id id)
{
	return settings->of[id].number;
}

/* --show-settings */
void settings_dump(const struct settings *settings, struct text *out);

#endif
