#include "tests/replayed_runner.h"

#include <check.h>
#include <string.h>

#include "analyzer/front/front.h"

struct replay_result replayed(const char *text, struct replay_request request)
{
	struct source_problem problem;
	struct source *source =
	        source_from_bytes(request.arena, "program.py", text, strlen(text), &problem);

	ck_assert(source != NULL);
	request.module = python_front_end.lower(request.arena, request.names, source, NULL).module;
	return replay_run(&request);
}

uint64_t replayed_figure(const struct replay_sample *sample, const char *key)
{
	const struct {
		const char *key;
		uint64_t value;
	} figures[] = {
	        {"live_bytes", sample->live_bytes}, {"peak_bytes", sample->peak_bytes},
	        {"storages", sample->storages},     {"tensors", sample->tensors},
	        {"nodes", sample->nodes},
	};

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		if (strcmp(figures[i].key, key) == 0)
			return figures[i].value;
	ck_abort_msg("no figure is called %s", key);
	return 0;
}
