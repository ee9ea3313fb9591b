#include "analyzer/app/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/engine/found.h"

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

static bool load_program(struct app *app, struct program *program, struct target *target)
{
	if (!read_source(app, program, target))
		return false;
	program->names = intern_open();
	program->pool = thread_pool_open(1);
	program->project = project_open(program->names);
	program->syntax.source = program->source;
	project_add_parsed(program->project, program->source, &program->syntax);
	project_load(program->project, program->pool, true);
	program->file = project_file_at(program->project, 0);
	if (program->file->lowered.module)
		return true;
	app_fail("%s: could not be read as Python", program->source->path);
	return false;
}

bool program_open(struct app *app, struct program *program, const char *operand)
{
	struct target target = read_target(app, operand);

	keep_freed_memory();
	*program = (struct program){0};
	if (!load_program(app, program, &target)) {
		program_close(program);
		return false;
	}
	program->line = target.line;
	return true;
}

void program_close(struct program *program)
{
	front_syntax_release(&program->syntax);
	front_syntax_release(&program->elsewhere);
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

	return project_import_module(program->project, program->file, name, is_package);
}

/* Whether a loop of what it imports may be the one that trains. */
static bool may_train_elsewhere(const struct program *program)
{
	for (uint32_t i = 0; i < project_file_count(program->project); i++) {
		const struct project_file *file = project_file_at(program->project, i);

		if (file != program->file && file->lowered.module &&
		    replay_names_backward(file->lowered.module))
			return true;
	}
	return false;
}

static struct replay_request request_of(struct program *program)
{
	return (struct replay_request){
	        .arena = &program->arena,
	        .names = program->names,
	        .module = program->file->lowered.module,
	        .line = program->line,
	        .iterations = REPLAY_STEPS,
	        .find_module = find_module,
	        .data = program,
	};
}

struct replay_request program_request(struct program *program)
{
	struct replay_request request = request_of(program);

	request.search = !program->line && may_train_elsewhere(program);
	return request;
}

struct replay_request program_request_again(struct program *program,
                                            const struct replay_result *result)
{
	struct replay_request request = request_of(program);

	if (result->loop_module && result->loop_module != request.module)
		request.loops = result->loop_module;
	request.heal = result->attempt == REPLAY_HEALED ? REPLAY_LEAST : 0;
	return request;
}

const struct source *program_loop_source(const struct program *program,
                                         const struct replay_result *result)
{
	return result->loop_module ? result->loop_module->source : program->source;
}

struct front_syntax *program_syntax(struct program *program, const struct source *source)
{
	if (source == program->source)
		return &program->syntax;
	if (program->elsewhere.source != source) {
		front_syntax_release(&program->elsewhere);
		program->elsewhere = (struct front_syntax){.source = source};
	}
	return &program->elsewhere;
}

const finding_list *program_findings(struct app *app, struct program *program)
{
	if (!program->looked)
		found_in_project(&program->arena, program->project, program->pool, app->rules,
		                 &program->findings);
	program->looked = true;
	return &program->findings;
}
