#include <string.h>

#include "analyzer/app/usage.h"
#include "analyzer/report/emit.h"

static void add_type(struct emitter *json, const char *type)
{
	emit_text(json, "type", type);
}

static void add_strings(struct emitter *json)
{
	add_type(json, "array");
	emit_open_object(json, "items");
	add_type(json, "string");
	emit_close_object(json);
}

static void add_choices(struct emitter *json, const char *choices)
{
	emit_open_array(json, "enum");
	while (*choices) {
		size_t length = strcspn(choices, "|");

		emit_bytes(json, NULL, choices, length);
		choices += length + (choices[length] == '|');
	}
	emit_close_array(json);
}

static void open_values(struct emitter *json)
{
	add_type(json, "object");
	emit_open_object(json, "additionalProperties");
}

/* "returns-graph", or a list of such. */
static void add_effects(struct emitter *json)
{
	static const char effects[] = "returns-graph|takes-graph|detaches|no-grad";

	open_values(json);
	emit_open_array(json, "anyOf");
	emit_open_object(json, NULL);
	add_choices(json, effects);
	emit_close_object(json);
	emit_open_object(json, NULL);
	add_type(json, "array");
	emit_open_object(json, "items");
	add_choices(json, effects);
	emit_close_object(json);
	emit_close_object(json);
	emit_close_array(json);
	emit_close_object(json);
}

static void add_table(struct emitter *json, enum option_id id)
{
	if (id == OPTION_extend_models) {
		add_effects(json);
		return;
	}
	open_values(json);
	if (id == OPTION_severity)
		add_choices(json, "error|warning|info");
	else
		add_strings(json);
	emit_close_object(json);
}

static void add_key(struct emitter *json, enum option_id id)
{
	const struct option *option = &options[id];

	emit_open_object(json, option->name);
	emit_text(json, "description", option->help);
	switch (option->kind) {
	case OPTION_FLAG:
		add_type(json, "boolean");
		break;
	case OPTION_CHOICE:
		add_choices(json, option->operand);
		emit_text(json, "default", option->fallback);
		break;
	case OPTION_COUNT_OF:
		add_type(json, "integer");
		emit_number(json, "minimum", 0);
		break;
	case OPTION_LIST:
		add_strings(json);
		break;
	case OPTION_SIZE:
		emit_open_array(json, "type");
		emit_text(json, NULL, "string");
		emit_text(json, NULL, "integer");
		emit_close_array(json);
		break;
	case OPTION_TEXT:
	case OPTION_PATH:
		add_type(json, "string");
		break;
	case OPTION_TABLE:
		add_table(json, id);
		break;
	}
	emit_close_object(json);
}

void usage_schema(struct text *out)
{
	struct emitter json = {.out = out, .indents = true};

	emit_open_object(&json, NULL);
	emit_text(&json, "$schema", "http://json-schema.org/draft-07/schema#");
	emit_text(&json, "title", "graphlint");
	emit_text(&json, "description",
	          "The configuration of graphlint: graphlint.toml, or [tool.graphlint] in "
	          "pyproject.toml");
	add_type(&json, "object");
	emit_bool(&json, "additionalProperties", false);
	emit_open_object(&json, "properties");
	for (int i = 0; i < OPTION_COUNT; i++) {
		if (options[i].places & PLACE_KEY)
			add_key(&json, (enum option_id)i);
	}
	emit_close_object(&json);
	emit_close_object(&json);
	text_add_char(out, '\n');
}
