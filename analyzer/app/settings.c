#include "analyzer/app/settings.h"

#include <string.h>

const struct model_effect model_effects[] = {
        {"returns-graph", MODEL_RETURNS_GRAPH},
        {"takes-graph", MODEL_TAKES_GRAPH},
        {"detaches", MODEL_DETACHES},
        {"no-grad", MODEL_NO_GRAD},
        {NULL, 0},
};

static const char *effect_name(unsigned effect)
{
	const struct model_effect *row = model_effects;

	while (row->effect != effect)
		row++;
	return row->name;
}

void settings_init(struct arena *arena, struct settings *settings)
{
	struct text complaint = {.arena = arena};

	*settings = (struct settings){0};
	for (int i = 0; i < OPTION_COUNT; i++) {
		const struct option *option = &options[i];

		if (*option->fallback &&
		    !option_read(arena, option, option->fallback, &settings->of[i], &complaint))
			BUG("the default of %s %s", option->name, text_chars(&complaint));
	}
}

static void print_quoted(const char *chars, struct text *out)
{
	text_add_char(out, '"');
	for (; *chars; chars++) {
		if (*chars == '"' || *chars == '\\')
			text_add_char(out, '\\');
		text_add_char(out, *chars);
	}
	text_add_char(out, '"');
}

static void print_list(const char *const *at, uint32_t count, struct text *out)
{
	text_add_char(out, '[');
	for (uint32_t i = 0; i < count; i++) {
		text_add_chars(out, i ? ", " : "");
		print_quoted(at[i], out);
	}
	text_add_char(out, ']');
}

static void print_value(const struct option *option, const struct option_value *value,
                        struct text *out)
{
	switch (option->kind) {
	case OPTION_FLAG:
		text_add_chars(out, value->flag ? "true" : "false");
		break;
	case OPTION_COUNT_OF:
		text_print(out, "%llu", (unsigned long long)value->number);
		break;
	case OPTION_LIST:
		print_list(value->list.at, value->list.count, out);
		break;
	case OPTION_CHOICE:
	case OPTION_TEXT:
	case OPTION_PATH:
	case OPTION_SIZE:
		print_quoted(value->text ? value->text : "", out);
		break;
	case OPTION_TABLE:
		break;
	}
}

static void print_origin(const struct option_value *value, struct text *out)
{
	switch (value->origin) {
	case ORIGIN_DEFAULT:
		text_add_chars(out, "  # default\n");
		break;
	case ORIGIN_FILE:
		text_print(out, "  # %s:%u\n", value->file, value->line);
		break;
	case ORIGIN_LINE:
		text_add_chars(out, "  # command line\n");
		break;
	}
}

static void dump_tables(const struct settings *settings, struct text *out)
{
	if (settings->file_ignores.count)
		text_add_chars(out, "\n[per-file-ignores]\n");
	for (uint32_t i = 0; i < settings->file_ignores.count; i++) {
		const struct file_ignore *row = &settings->file_ignores.at[i];

		print_quoted(row->pattern, out);
		text_add_chars(out, " = ");
		print_list(row->selectors.at, row->selectors.count, out);
		text_add_chars(out, "\n");
	}
	if (settings->selection.severities.count)
		text_add_chars(out, "\n[severity]\n");
	for (uint32_t i = 0; i < settings->selection.severities.count; i++) {
		const struct severity_change *row = &settings->selection.severities.at[i];

		text_print(out, "%s = \"%s\"\n", row->selector, severity_name(row->severity));
	}
	if (settings->models.count)
		text_add_chars(out, "\n[extend-models]\n");
	for (uint32_t i = 0; i < settings->models.count; i++) {
		print_quoted(settings->models.at[i].name, out);
		text_add_chars(out, " = ");
		print_quoted(effect_name(settings->models.at[i].effects), out);
		text_add_chars(out, "\n");
	}
}

void settings_dump(const struct settings *settings, struct text *out)
{
	text_print(out, "# configuration: %s\n",
	           settings->config_path ? settings->config_path : "none");
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (!(options[i].places & PLACE_KEY) || options[i].kind == OPTION_TABLE ||
		    i == OPTION_extend)
			continue;
		text_print(out, "%s = ", options[i].name);
		print_value(&options[i], &settings->of[i], out);
		print_origin(&settings->of[i], out);
	}
	dump_tables(settings, out);
}
