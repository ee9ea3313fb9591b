/* replay_main FILE[:LINE] [--output] [--values] [--format json] [--steps N]: a replay for
 * developers. Without --steps the program runs to its end. With --loops each loop of the
 * file is replayed within a small budget, and has a line of the output. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/front/front.h"
#include "analyzer/replay/replay.h"

struct options {
	const char *file;
	uint32_t line, steps;
	bool output, json, values, loops;
};

/* Modules beside the file, for programs of several files. */
struct project {
	struct arena *arena;
	struct intern *names;
	const char *folder;
	size_t folder_length;
};

static const struct ir_module *find_module(void *data, const char *name, bool *is_package)
{
	struct project *p = data;
	char path[1024];
	struct source_problem problem;
	const struct source *source;

	for (int package = 0; package < 2; package++) {
		int length = snprintf(path, sizeof(path), "%.*s%s", (int)p->folder_length,
		                      p->folder, name);

		if (length < 0 || (size_t)length + 16 > sizeof(path))
			return NULL;
		for (char *c = path + p->folder_length; *c; c++)
			*c = *c == '.' ? '/' : *c;
		snprintf(path + length, sizeof(path) - (size_t)length,
		         package ? "/__init__.py" : ".py");
		source = source_open(p->arena, path, &problem);
		if (source) {
			*is_package = package;
			return python_front_end.lower(p->arena, p->names, source, NULL).module;
		}
	}
	return NULL;
}

/* The text after the last colon is a line if it is a number. */
static void split_line(struct options *o, char *argument)
{
	char *colon = strrchr(argument, ':'), *end;

	o->file = argument;
	if (colon && colon[1]) {
		unsigned long line = strtoul(colon + 1, &end, 10);

		if (!*end) {
			o->line = (uint32_t)line;
			*colon = 0;
		}
	}
}

static bool parse(struct options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--output") == 0)
			o->output = true;
		else if (strcmp(argv[i], "--values") == 0)
			o->values = true;
		else if (strcmp(argv[i], "--loops") == 0)
			o->loops = true;
		else if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc)
			o->steps = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
			o->json = strcmp(argv[++i], "json") == 0;
		else
			split_line(o, argv[i]);
	}
	return o->file != NULL;
}

static void print_series(const char *name, const struct replay_result *r, size_t offset)
{
	printf(" \"%s\": [", name);
	for (uint32_t i = 0; i < r->count; i++) {
		uint64_t value;

		memcpy(&value, (const char *)&r->samples[i] + offset, sizeof(value));
		printf("%s%llu", i ? ", " : "", (unsigned long long)value);
	}
	printf("],\n");
}

static void print_verdict(const char *name, const struct replay_verdict *v)
{
	printf(" \"%s\": {\"kind\": \"%s\", \"slope\": %.17g, \"exact\": %s},\n", name,
	       replay_kind_name(v->kind), v->slope, v->exact ? "true" : "false");
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text < 32)
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void print_json(const struct replay_result *r)
{
	printf("{\n \"loop\": {\"line\": %u, \"kind\": \"%s\"},\n", r->loop_line,
	       r->loop_kind ? r->loop_kind : "");
	printf(" \"iterations\": %u,\n", r->count);
	print_series("live_bytes", r, offsetof(struct replay_sample, live_bytes));
	print_series("storages", r, offsetof(struct replay_sample, storages));
	print_series("tensors", r, offsetof(struct replay_sample, tensors));
	print_series("nodes", r, offsetof(struct replay_sample, nodes));
	print_verdict("verdict", &r->bytes);
	print_verdict("nodes_verdict", &r->nodes);
	printf(" \"stand_ins\": [");
	for (uint32_t i = 0; i < r->stand_in_count; i++) {
		printf(i ? ", " : "");
		print_text(r->stand_ins[i]);
	}
	printf("],\n \"retained_by\": [");
	for (uint32_t i = 0; i < r->chain_count; i++) {
		printf(i ? ", " : "");
		print_text(r->chain[i].text);
	}
	printf("],\n \"error\": ");
	print_text(r->error ? r->error : "");
	printf(",\n \"limit\": ");
	print_text(r->limit ? r->limit : "");
	printf(",\n \"mode\": \"%s\"\n}\n", r->exact ? "exact" : "structural");
}

static void print_table(const struct replay_result *r)
{
	printf("loop on line %u (%s)\n", r->loop_line, r->loop_kind ? r->loop_kind : "none");
	for (uint32_t i = 0; i < r->count; i++)
		printf("%4u %12llu B %6llu storages %6llu tensors %6llu nodes\n", i,
		       (unsigned long long)r->samples[i].live_bytes,
		       (unsigned long long)r->samples[i].storages,
		       (unsigned long long)r->samples[i].tensors,
		       (unsigned long long)r->samples[i].nodes);
	printf("bytes %s %g, nodes %s %g, %s\n", replay_kind_name(r->bytes.kind), r->bytes.slope,
	       replay_kind_name(r->nodes.kind), r->nodes.slope, r->exact ? "exact" : "structural");
	for (uint32_t i = 0; i < r->stand_in_count; i++)
		printf("stood in for: %s\n", r->stand_ins[i]);
	for (uint32_t i = 0; i < r->chain_count; i++)
		printf("%*s%s (line %u)\n", (int)i, "", r->chain[i].text, r->chain[i].line);
}

static void replay_loops_of(struct replay_request request, const char *file)
{
	static const struct replay_budget small = {.steps = 400000,
	                                           .host_bytes = UINT64_C(64) << 20,
	                                           .live_bytes = UINT64_C(2) << 30,
	                                           .nodes = 200000,
	                                           .work = 5e7,
	                                           .seconds = 10};
	struct replay_loop *loops;
	uint32_t count = replay_loops(request.arena, request.names, request.module, &loops);

	request.budget = &small;
	request.iterations = 16;
	for (uint32_t i = 0; i < count; i++) {
		clock_t start = clock();
		struct replay_result r;

		request.line = loops[i].line;
		r = replay_run(&request);
		printf("%s:%u\t%s\t%u\t%s\t%s\t%s\t%.1f ms\t%s\t%s\n", file, loops[i].line,
		       loops[i].kind, r.count, replay_kind_name(r.bytes.kind),
		       replay_kind_name(r.nodes.kind), r.exact ? "exact" : "structural",
		       (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC, r.limit ? r.limit : "",
		       r.error ? r.error : "");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct arena arena = {0};
	struct source_problem problem;
	struct intern *names;
	const struct source *source;
	struct replay_request request;
	struct replay_result r;
	struct project project;

	if (!parse(&o, argc, argv)) {
		fprintf(stderr, "usage: replay_main FILE[:LINE] [--output] [--values] [--format "
		                "json] [--steps N]\n");
		return 2;
	}
	source = source_open(&arena, o.file, &problem);
	if (!source) {
		fprintf(stderr, "%s: %s\n", o.file, problem.message);
		return 2;
	}
	names = intern_open();
	project = (struct project){&arena, names, o.file, 0};
	if (strrchr(o.file, '/'))
		project.folder_length = (size_t)(strrchr(o.file, '/') + 1 - o.file);
	request = (struct replay_request){
	        .find_module = find_module,
	        .data = &project,
	        .arena = &arena,
	        .names = names,
	        .line = o.line,
	        .iterations = o.steps,
	        .values = o.output || o.values,
	        .module = python_front_end.lower(&arena, names, source, NULL).module};
	if (o.loops) {
		replay_loops_of(request, o.file);
		intern_close(names);
		arena_release(&arena);
		return 0;
	}
	r = replay_run(&request);
	if (o.output)
		fwrite(r.output, 1, r.output_length, stdout);
	else if (o.json)
		print_json(&r);
	else
		print_table(&r);
	if (r.traceback)
		fprintf(stderr, "%s\n", r.traceback);
	if (r.limit)
		fprintf(stderr, "limit: %s\n", r.limit);
	intern_close(names);
	arena_release(&arena);
	return r.error ? 1 : 0;
}
