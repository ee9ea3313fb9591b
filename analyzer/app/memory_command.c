/* `graphlint memory FILE[:LINE]`: what one training step takes, and what would
 * change it. */

#include <string.h>

#include "analyzer/app/program.h"
#include "analyzer/app/version.h"
#include "analyzer/fix/vary.h"
#include "analyzer/report/footprint.h"

enum { STEPS = 3 }; /* optimizers make their state in the first */

static struct span loop_span(const struct source *source, const struct replay_result *result)
{
	return (struct span){source_line_span(source, result->loop_line - 1).start,
	                     source_line_span(source, result->loop_end - 1).end};
}

/* What another program takes; false: it does not run as far, or takes the same. */
static bool replay_variant(struct program *program, const struct variant *variant,
                           const struct replay_result *before, struct replay_result *result)
{
	const struct source *source = program_loop_source(program, before);
	struct replay_request request = program_request_again(program, before);

	request.iterations = STEPS;
	*result = fix_replay(&request, source, &variant->edits, before,
	                     program_syntax(program, source));
	return result->count == before->count && !result->error &&
	       result->samples[result->count - 1].peak_bytes !=
	               before->samples[before->count - 1].peak_bytes;
}

static void find_changes(struct program *program, struct footprint *footprint)
{
	const struct replay_result *before = footprint->result;
	const struct source *source = footprint->source;
	variant_list variants = {0};
	struct footprint_change *changes;

	vary(&program->arena, program_syntax(program, source), loop_span(source, before),
	     &variants);
	changes = arena_array(&program->arena, struct footprint_change, variants.count + 1);
	footprint->changes = changes;
	for (uint32_t i = 0; i < variants.count; i++) {
		struct replay_result *result = arena_new(&program->arena, struct replay_result);

		if (replay_variant(program, &variants.at[i], before, result))
			changes[footprint->change_count++] =
			        (struct footprint_change){variants.at[i].name, result};
	}
}

static int print_footprint(struct app *app, struct program *program)
{
	struct replay_request request = program_request(program);
	struct replay_result result;
	struct text out = {.arena = &app->arena};
	struct footprint footprint = {
	        .result = &result,
	        .program = program->source,
	        .version = GRAPHLINT_VERSION,
	        .color = app_has_color(app),
	};

	request.iterations = STEPS;
	result = replay_run(&request);
	footprint.source = program_loop_source(program, &result);
	if (!result.count)
		return app_fail("%s: %s", program->source->path,
		                !result.loop_line ? "there is no loop to replay"
		                : result.error    ? result.error
		                : result.limit    ? result.limit
		                                  : "the loop was not run");
	find_changes(program, &footprint);
	if (!strcmp(app_choice(app, OPTION_memory_format), "json"))
		footprint_json(&footprint, &out);
	else
		footprint_text(&footprint, &out);
	return app_write(app, &out) ? EXIT_CLEAN : EXIT_TROUBLE;
}

int app_memory(struct app *app)
{
	struct program program;
	int status;

	if (app->line.operands.count != 1)
		return app_fail(app->line.operands.count
		                        ? "one file at a time: `graphlint memory FILE[:LINE]`"
		                        : "which file? `graphlint memory FILE[:LINE]`");
	if (!app_load_settings(app))
		return EXIT_TROUBLE;
	if (!program_open(app, &program, app->line.operands.at[0]))
		return EXIT_TROUBLE;
	status = print_footprint(app, &program);
	program_close(&program);
	return status;
}
