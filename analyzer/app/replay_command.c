/* `graphlint replay FILE[:LINE]`: one loop on the autograd runtime. */

#include <string.h>

#include "analyzer/app/program.h"
#include "analyzer/app/version.h"
#include "analyzer/base/files.h"
#include "analyzer/fix/fix.h"
#include "analyzer/report/curve.h"

/* Of programs with fixes, so that the answer comes soon. */
enum { MOST_REPLAYS = 64 };

/* A program whose output is wanted runs to its end. */
static uint32_t iterations(const struct app *app)
{
	if (command_line_has(&app->line, OPTION_steps))
		return (uint32_t)settings_number(&app->settings, OPTION_steps);
	return settings_flag(&app->settings, OPTION_output) ? 0 : REPLAY_STEPS;
}

/* It was ended, or never got to its loop. */
static bool says_too_little(const struct replay_result *result)
{
	return result->count < REPLAY_LEAST && (!result->count || curve_stop(result));
}

/* The same with stand-ins for what raises, and what it raised as it stands. */
static struct replay_result replay_healed(const struct replay_request *request,
                                          const struct replay_result *result)
{
	struct replay_request again = *request;
	struct replay_result healed;

	again.heal = REPLAY_LEAST;
	again.attempt = REPLAY_HEALED;
	healed = replay_run(&again);
	if (healed.count < REPLAY_LEAST)
		return *result;
	healed.error = result->error;
	healed.traceback = result->traceback;
	healed.limit = result->limit;
	return healed;
}

static struct replay_result replay(struct app *app, struct program *program)
{
	struct replay_request request = program_request(program);
	struct replay_result result;

	request.iterations = iterations(app);
	if (program->line)
		request.heal = REPLAY_LEAST;
	if (request.iterations && !command_line_has(&app->line, OPTION_steps))
		request.most_iterations = REPLAY_MOST_STEPS;
	/* Who reads the text reads the verdict; others may want every step. */
	request.settle =
	        request.most_iterations && !strcmp(app_choice(app, OPTION_replay_format), "text");
	request.values = settings_flag(&app->settings, OPTION_output);
	result = replay_run(&request);
	return !request.heal && !request.values && says_too_little(&result)
	               ? replay_healed(&request, &result)
	               : result;
}

/* fixes */

/* A loop of the program that is not the measured one does not come by there. */
static bool comes_by(const struct source *source, const struct replay_result *result,
                     const struct finding_driver *driver)
{
	const uint32_t line = source_line_at(driver->source, driver->span.start) + 1;

	return driver->source != source || (line >= result->loop_line && line <= result->loop_end);
}

/* Habits need no curve. */
static bool is_about(const struct finding *finding, const struct source *source,
                     const struct replay_result *result)
{
	bool is_driven = finding->source == source;

	for (uint32_t i = 0; i < finding->drivers.count; i++)
		is_driven |= comes_by(source, result, &finding->drivers.at[i]);
	return is_driven && finding->severity > SEVERITY_INFO;
}

/* What may have made the curve grow, and the curve without it. */
static void find_fixes(struct app *app, struct program *program, struct curve *curve)
{
	const finding_list *found = program_findings(app, program);
	struct finding **about = arena_array(&program->arena, struct finding *, found->count + 1);
	struct fix_search *search = arena_new(&program->arena, struct fix_search);

	*search = (struct fix_search){
	        .request = program_request_again(program, curve->result),
	        .before = curve->result,
	        .findings = about,
	        .most_replays = MOST_REPLAYS,
	        .syntax = &program->syntax,
	};
	for (uint32_t i = 0; i < found->count; i++) {
		if (is_about(&found->at[i], curve->source, curve->result))
			about[search->count++] = &found->at[i];
	}
	fix_search(search);
	curve->findings = about;
	curve->finding_count = search->count;
	curve->after = search->fixed ? &search->after : NULL;
}

/* --assert */

struct claim {
	const char *text; /* NULL: none */
	enum replay_kind kind;
	uint64_t bytes; /* a step, with REPLAY_LINEAR */
};

static bool read_claim(const struct app *app, struct claim *claim)
{
	*claim = (struct claim){.text = settings_text(&app->settings, OPTION_assert)};
	if (!claim->text)
		return true;
	if (!strcmp(claim->text, "flat"))
		claim->kind = REPLAY_FLAT;
	else if (!strcmp(claim->text, "bounded"))
		claim->kind = REPLAY_BOUNDED;
	else if (read_size(claim->text, &claim->bytes))
		claim->kind = REPLAY_LINEAR;
	else
		app_fail("--assert must be flat, bounded or a size such as 4KiB, not `%s`",
		         claim->text);
	return claim->kind != REPLAY_UNKNOWN;
}

static bool is_at_most(enum replay_kind kind, enum replay_kind limit)
{
	if (kind == REPLAY_FLAT || kind == REPLAY_SHRINKING)
		return true;
	return kind == REPLAY_BOUNDED && limit != REPLAY_FLAT;
}

static bool claim_can_be_told(const struct claim *claim, const struct replay_result *result)
{
	return claim->text && result->bytes.kind != REPLAY_UNKNOWN && !curve_is_blind(result);
}

/* Nodes cost memory of the host only: a size is about the tensors. */
static bool claim_holds(const struct claim *claim, const struct replay_result *result)
{
	const struct replay_verdict *bytes = &result->bytes;

	if (!claim_can_be_told(claim, result))
		return false;
	if (claim->kind == REPLAY_LINEAR)
		return is_at_most(bytes->kind, REPLAY_LINEAR) ||
		       (bytes->kind == REPLAY_LINEAR && bytes->slope <= (double)claim->bytes);
	return is_at_most(bytes->kind, claim->kind) && is_at_most(result->nodes.kind, claim->kind);
}

/* what came of it */

/* A failure that kept the loop from being measured is one; else it is a remark. */
static void tell_end(const struct replay_result *result)
{
	const char *traceback = result->traceback;

	if (traceback)
		fprintf(stderr, "%s%s", traceback,
		        *traceback && traceback[strlen(traceback) - 1] == '\n' ? "" : "\n");
	else if (result->limit)
		fprintf(stderr, "graphlint: the replay was ended: %s\n", result->limit);
	if (curve_stop(result) && result->attempt == REPLAY_HEALED)
		fprintf(stderr, "graphlint: replayed with stand-ins for what ends it\n");
}

static void tell_other_loop(const struct program *program, const struct replay_result *result,
                            uint32_t line)
{
	struct arena arena = {0};
	struct text place = {.arena = &arena};

	if (!line || !result->loop_line || line == result->loop_line ||
	    (line > result->loop_line && line <= result->loop_end))
		return;
	curve_place(program->source, result->loop_line, &place);
	fprintf(stderr, "graphlint: no loop is on this line or around it; this is %s\n",
	        text_chars(&place));
	arena_release(&arena);
}

static int status_of(const struct claim *claim, const struct replay_result *result)
{
	if (!result->count || (claim->text && !claim_can_be_told(claim, result)))
		return EXIT_TROUBLE;
	return claim->text && !claim_holds(claim, result) ? EXIT_FINDINGS : EXIT_CLEAN;
}

static const char *why_nothing(const struct replay_result *result)
{
	if (!result->loop_line)
		return "there is no loop to replay";
	return curve_stop(result) ? "the loop did not get through one step"
	                          : "the loop was not run";
}

/* What the program prints and nothing else, as if it had been run. */
static int print_output(struct app *app, const struct claim *claim,
                        const struct replay_result *result)
{
	struct text out = {.arena = &app->arena};
	int status = claim->text ? status_of(claim, result) : EXIT_CLEAN;

	text_add(&out, result->output, result->output_length);
	if (!app_write(app, &out))
		return EXIT_TROUBLE;
	tell_end(result);
	if (claim->text && status == EXIT_FINDINGS)
		fprintf(stderr, "graphlint: --assert %s does not hold: bytes are %s, nodes %s\n",
		        claim->text, replay_kind_name(result->bytes.kind),
		        replay_kind_name(result->nodes.kind));
	else if (claim->text && status == EXIT_TROUBLE)
		return app_fail("--assert %s cannot be told from %u step%s", claim->text,
		                result->count, result->count == 1 ? "" : "s");
	return curve_stop(result) ? EXIT_TROUBLE : status;
}

static int print_curve(struct app *app, struct program *program, const struct claim *claim,
                       const struct replay_result *result)
{
	const char *format = app_choice(app, OPTION_replay_format);
	struct text out = {.arena = &app->arena};
	struct curve curve = {
	        .result = result,
	        .source = program_loop_source(program, result),
	        .program = program->source,
	        .version = GRAPHLINT_VERSION,
	        .memory_bytes = settings_number(&app->settings, OPTION_memory),
	        .claim = claim->text,
	        .told = claim_can_be_told(claim, result),
	        .holds = claim_holds(claim, result),
	        .prints = settings_flag(&app->settings, OPTION_output),
	        .color = app_has_color(app),
	};

	if (curve_grows(&result->bytes) || curve_grows(&result->nodes))
		find_fixes(app, program, &curve);
	if (!result->count && strcmp(format, "json") != 0) {
		tell_end(result);
		return app_fail("%s: %s", program->source->path, why_nothing(result));
	}
	curve_format_find(format)->write(&curve, &out);
	if (!app_write(app, &out))
		return EXIT_TROUBLE;
	tell_end(result);
	return status_of(claim, result);
}

static int replay_program(struct app *app, struct program *program, const struct claim *claim)
{
	const struct replay_result result = replay(app, program);

	tell_other_loop(program, &result, program->line);
	if (settings_flag(&app->settings, OPTION_output) &&
	    !strcmp(app_choice(app, OPTION_replay_format), "text"))
		return print_output(app, claim, &result);
	return print_curve(app, program, claim, &result);
}

static bool check_options(const struct app *app, struct claim *claim)
{
	const struct settings *settings = &app->settings;

	if (command_line_has(&app->line, OPTION_steps) && !settings_number(settings, OPTION_steps))
		app_fail("--steps must be at least 1");
	else if (settings_flag(settings, OPTION_output) &&
	         !strcmp(app_choice(app, OPTION_replay_format), "svg"))
		app_fail("--output has no place in svg: use text, json or html");
	else
		return read_claim(app, claim);
	return false;
}

int app_replay(struct app *app)
{
	struct program program;
	struct claim claim;
	int status;

	if (app->line.operands.count != 1)
		return app_fail(app->line.operands.count
		                        ? "one file at a time: `graphlint replay FILE[:LINE]`"
		                        : "which file? `graphlint replay FILE[:LINE]`");
	if (!app_load_settings(app) || !check_options(app, &claim))
		return EXIT_TROUBLE;
	if (!program_open(app, &program, app->line.operands.at[0]))
		return EXIT_TROUBLE;
	status = replay_program(app, &program, &claim);
	program_close(&program);
	return status;
}
