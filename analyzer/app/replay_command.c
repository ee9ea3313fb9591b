/* `graphlint replay FILE[:LINE]`: one loop on the autograd runtime. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/app/app.h"
#include "analyzer/app/version.h"
#include "analyzer/base/files.h"
#include "analyzer/project/project.h"
#include "analyzer/report/curve.h"

/* The program and what it imports. */
struct program {
	struct arena arena;
	struct intern *names;
	struct thread_pool *pool;
	struct project *project;
	struct source *source;
	const struct project_file *file;
};

/* FILE, FILE:LINE or, in a notebook, FILE:CELL:LINE. */
struct target {
	const char *path;
	uint32_t cell, line; /* 0: none */
};

/* operand */

/* Cuts a number and its colon off the end; 0: there is none. */
static uint32_t cut_number(char *operand)
{
	char *colon = strrchr(operand, ':'), *end;
	unsigned long number;

	if (!colon || colon == operand || colon[1] < '0' || colon[1] > '9')
		return 0;
	errno = 0;
	number = strtoul(colon + 1, &end, 10);
	if (*end || errno || !number || number > INT32_MAX)
		return 0;
	*colon = '\0';
	return (uint32_t)number;
}

static struct target read_target(struct app *app, const char *operand)
{
	char *path = arena_text(&app->arena, operand, strlen(operand));
	struct target target = {.path = path};

	/* a file may be called like that */
	if (access(path, F_OK) == 0)
		return target;
	target.line = cut_number(path);
	if (target.line && access(path, F_OK) != 0)
		target.cell = cut_number(path);
	return target;
}

/* The line in the text of all cells; false: there is no such line, and it was said. */
static bool find_line(const struct source *source, struct target *target)
{
	if (!target->line)
		return true;
	if (source->is_notebook) {
		struct position position = {target->line, 1, target->cell};
		uint32_t offset = source_offset(source, position);

		if (!target->cell) {
			app_fail("%s is a notebook: name the cell, too, as in %s:3:%u",
			         source->path, source->path, target->line);
			return false;
		}
		position = source_position(source, offset);
		if (position.cell != target->cell || position.row != target->line) {
			app_fail("%s has no line %u in a code cell %u", source->path, target->line,
			         target->cell);
			return false;
		}
		target->line = source_line_at(source, offset) + 1;
		return true;
	}
	if (target->line <= source->line_count && !target->cell)
		return true;
	app_fail("%s has %u line%s", source->path, source->line_count,
	         source->line_count == 1 ? "" : "s");
	return false;
}

/* program */

static bool read_source(struct app *app, struct program *program, struct target *target)
{
	const char *name = settings_text(&app->settings, OPTION_stdin_filename);
	struct source_problem problem;

	if (!strcmp(target->path, "-"))
		program->source =
		        source_open_stdin(&program->arena, name ? name : "stdin.py", &problem);
	else
		program->source = source_open(&program->arena, target->path, &problem);
	if (!program->source) {
		app_fail("%s: %s", target->path, problem.message);
		return false;
	}
	if (front_end_find(program->source->path) != &python_front_end) {
		app_fail("%s: only Python and notebooks can be replayed", program->source->path);
		return false;
	}
	return find_line(program->source, target);
}

static bool open_program(struct app *app, struct program *program, struct target *target)
{
	*program = (struct program){0};
	if (!read_source(app, program, target))
		return false;
	program->names = intern_open();
	program->pool = thread_pool_open(1);
	program->project = project_open(program->names);
	project_add(program->project, program->source);
	project_load(program->project, program->pool, true);
	program->file = project_file_at(program->project, 0);
	if (program->file->lowered.module)
		return true;
	app_fail("%s: could not be read as Python", program->source->path);
	return false;
}

static void close_program(struct program *program)
{
	if (program->project) {
		project_close(program->project);
		thread_pool_close(program->pool);
		intern_close(program->names);
	}
	arena_release(&program->arena);
}

static const struct ir_module *find_module(void *data, const char *name, bool *is_package)
{
	const struct program *program = data;
	const struct project_file *file = project_import(program->project, program->file, name);
	const char *slash;

	if (!file)
		return NULL;
	slash = strrchr(file->path, '/');
	*is_package = !strcmp(slash ? slash + 1 : file->path, "__init__.py");
	return file->lowered.module;
}

/* A program whose output is wanted runs to its end. */
static uint32_t iterations(const struct app *app)
{
	if (command_line_has(&app->line, OPTION_steps))
		return (uint32_t)settings_number(&app->settings, OPTION_steps);
	return settings_flag(&app->settings, OPTION_output) ? 0 : REPLAY_STEPS;
}

static struct replay_result replay(struct app *app, struct program *program, uint32_t line)
{
	struct replay_request request = {
	        .arena = &program->arena,
	        .names = program->names,
	        .module = program->file->lowered.module,
	        .line = line,
	        .iterations = iterations(app),
	        .values = settings_flag(&app->settings, OPTION_output),
	        .find_module = find_module,
	        .data = program,
	};

	return replay_run(&request);
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

static int print_curve(struct app *app, const struct program *program, const struct claim *claim,
                       const struct replay_result *result)
{
	const char *format = app_choice(app, OPTION_replay_format);
	struct text out = {.arena = &app->arena};
	struct curve curve = {
	        .result = result,
	        .source = program->source,
	        .version = GRAPHLINT_VERSION,
	        .memory_bytes = settings_number(&app->settings, OPTION_memory),
	        .claim = claim->text,
	        .told = claim_can_be_told(claim, result),
	        .holds = claim_holds(claim, result),
	        .prints = settings_flag(&app->settings, OPTION_output),
	        .color = app_has_color(app),
	};

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

static int replay_program(struct app *app, struct program *program, const struct claim *claim,
                          uint32_t line)
{
	const struct replay_result result = replay(app, program, line);

	tell_other_loop(program, &result, line);
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
	struct target target;
	struct claim claim;
	int status = EXIT_TROUBLE;

	if (app->line.operands.count != 1)
		return app_fail(app->line.operands.count
		                        ? "one file at a time: `graphlint replay FILE[:LINE]`"
		                        : "which file? `graphlint replay FILE[:LINE]`");
	if (!app_load_settings(app) || !check_options(app, &claim))
		return EXIT_TROUBLE;
	target = read_target(app, app->line.operands.at[0]);
	if (open_program(app, &program, &target))
		status = replay_program(app, &program, &claim, target.line);
	close_program(&program);
	return status;
}
