#ifndef GRAPHLINT_APP_PROGRAM_H
#define GRAPHLINT_APP_PROGRAM_H

/* One program that a command replays: its file, what it imports, and what is
 * found in it. Opened from an operand; everything lives until it is closed. */

#include "analyzer/app/app.h"
#include "analyzer/project/project.h"
#include "analyzer/replay/replay.h"

struct program {
	struct arena arena;
	struct intern *names;
	struct thread_pool *pool;
	struct project *project;
	struct source *source;
	const struct project_file *file;
	struct front_syntax syntax;
	struct front_syntax elsewhere; /* of the file with the loop, if that is another */
	uint32_t line;                 /* of the operand, in the text of all cells; 0: none */
	finding_list findings;
	bool looked; /* for findings */
};

/* The operand is FILE, FILE:LINE or, in a notebook, FILE:CELL:LINE; false: it
 * cannot be replayed, and it was said. */
GL_MUST_USE bool program_open(struct app *app, struct program *program, const char *operand);
void program_close(struct program *program);
/* The whole program on its main loop, or on the line's; the caller sets the rest. */
struct replay_request program_request(struct program *program);
/* The same with the loop that was measured. */
struct replay_request program_request_again(struct program *program,
                                            const struct replay_result *result);
/* Where the measured loop is, or would be. */
const struct source *program_loop_source(const struct program *program,
                                         const struct replay_result *result);
/* What is kept of a file's syntax between its edits. */
struct front_syntax *program_syntax(struct program *program, const struct source *source);
/* What check finds in the file, without suppressions. */
const finding_list *program_findings(struct app *app, struct program *program);

#endif
