/* `graphlint rules` and `graphlint explain`. */

#include <string.h>

#include "analyzer/app/app.h"
#include "analyzer/app/pages.h"
#include "analyzer/report/emit.h"
#include "analyzer/report/markdown.h"

static bool wants_json(const struct app *app)
{
	return !strcmp(app_choice(app, OPTION_explain_format), "json");
}

static void add_rule(struct emitter *json, const struct rule *rule, bool with_page)
{
	emit_open_object(json, NULL);
	emit_text(json, "code", rule->code);
	emit_text(json, "slug", rule->slug);
	emit_text(json, "severity", severity_name(rule->severity));
	emit_bool(json, "on_by_default", rule->on_by_default);
	emit_text(json, "summary", rule->summary);
	if (with_page)
		emit_optional(json, "page", page_of_rule(rule));
	emit_close_object(json);
}

static void list_text(const struct rule *rule, bool color, struct text *out)
{
	style_text(out, color, STYLE_BOLD, rule->code);
	text_print(out, "  %-22s ", rule->slug);
	style_on(out, color, style_of_severity(rule->severity));
	text_print(out, "%-8s", severity_name(rule->severity));
	style_off(out, color, style_of_severity(rule->severity));
	text_print(out, "%s  %s\n", rule->on_by_default ? "on " : "off", rule->summary);
}

static int write(const struct text *out)
{
	return fwrite(text_chars(out), 1, out->length, stdout) == out->length && !fflush(stdout)
	               ? EXIT_CLEAN
	               : EXIT_TROUBLE;
}

static void settle(struct app *app)
{
	settings_init(&app->arena, &app->settings);
	command_line_apply(&app->arena, &app->line, &app->settings);
}

int app_rules(struct app *app)
{
	struct text out = {.arena = &app->arena};
	struct emitter json = {.out = &out, .indents = true};

	settle(app);
	if (wants_json(app))
		emit_open_array(&json, NULL);
	for (uint32_t i = 0; i < app->rules.count; i++) {
		if (wants_json(app))
			add_rule(&json, &app->rules.at[i], false);
		else
			list_text(&app->rules.at[i], app_has_color(app), &out);
	}
	if (wants_json(app)) {
		emit_close_array(&json);
		text_add_char(&out, '\n');
	}
	return write(&out);
}

static int fail_rule(struct app *app, const char *name)
{
	struct suggestion suggestion = {.name = name};
	struct text complaint = {.arena = &app->arena};

	for (uint32_t i = 0; i < app->rules.count; i++) {
		suggestion_offer(&suggestion, app->rules.at[i].code);
		suggestion_offer(&suggestion, app->rules.at[i].slug);
	}
	text_print(&complaint, "there is no rule `%s`", name);
	suggestion_print(&suggestion, "", &complaint);
	if (!suggestion.closest)
		text_add_chars(&complaint, "; see `graphlint rules`");
	return app_fail("%s", text_chars(&complaint));
}

int app_explain(struct app *app)
{
	struct text out = {.arena = &app->arena};
	struct emitter json = {.out = &out, .indents = true};

	settle(app);
	if (!app->line.operands.count)
		return app_fail("which rule? See `graphlint rules`");
	for (uint32_t i = 0; i < app->line.operands.count; i++) {
		const struct rule *rule = rule_find(app->rules, app->line.operands.at[i]);
		const char *page = rule ? page_of_rule(rule) : NULL;

		if (!rule)
			return fail_rule(app, app->line.operands.at[i]);
		if (wants_json(app))
			add_rule(&json, rule, true);
		else if (page)
			markdown_show(page, app_has_color(app), &out);
		else
			text_print(&out, "%s %s: %s\n", rule->code, rule->slug, rule->summary);
		if (wants_json(app))
			text_add_char(&out, '\n');
		json = (struct emitter){.out = &out, .indents = true};
	}
	return write(&out);
}
