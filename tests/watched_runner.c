#include "tests/watched_runner.h"

#include <check.h>
#include <string.h>

#include "analyzer/front/front.h"

static struct span span_of(const char *text, const char *part)
{
	const char *at = NULL;

	for (const char *next = strstr(text, part); next; next = strstr(next + 1, part))
		at = next;
	ck_assert_msg(at != NULL, "%s is not in the program", part);
	return (struct span){(uint32_t)(at - text), (uint32_t)(at - text + strlen(part))};
}

static uint32_t line_of(const char *text, struct span span)
{
	uint32_t line = 1;

	for (uint32_t i = 0; i < span.start; i++)
		line += text[i] == '\n';
	return line;
}

struct replay_result watched_run(struct arena *arena, struct intern *names,
                                 const struct watched *watched, bool born)
{
	struct source_problem problem;
	struct source *source = source_from_bytes(arena, "program.py", watched->program,
	                                          strlen(watched->program), &problem);
	const struct span span = span_of(watched->program, watched->place);
	const struct replay_place place = {source, span};
	struct replay_request request = {.arena = arena,
	                                 .names = names,
	                                 .line = line_of(watched->program, span),
	                                 .iterations = 16,
	                                 .heal = REPLAY_LEAST,
	                                 .prolong = true,
	                                 .settle = true,
	                                 .watch = &place,
	                                 .watch_count = 1,
	                                 .leads = 1,
	                                 .follow_retained = true,
	                                 .born = &place,
	                                 .born_count = born};

	request.module = python_front_end.lower(arena, names, source, NULL).module;
	return replay_run(&request);
}
