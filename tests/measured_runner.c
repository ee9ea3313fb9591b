#include "tests/measured_runner.h"

#include <check.h>
#include <string.h>

#include "tests/recorded_runner.h"

/* Of the program that runs. */
static struct ag_tensor *kept[STEPS * 4];
static int nkept;
static uint64_t bytes[STEPS], nodes[STEPS];

void sample(int step)
{
	rt_sweep();
	bytes[step] = rt_bytes();
	nodes[step] = rt_nodes();
}

void keep(struct ag_tensor *t)
{
	kept[nkept++] = ag_retain(t);
}

void drop(struct ag_tensor **variable)
{
	ag_release(*variable);
	*variable = NULL;
}

static const json_t *recorded_program(const json_t *document, const char *name)
{
	const json_t *list = json_object_get(document, "programs"), *entry;
	size_t i;

	json_array_foreach(list, i, entry)
	{
		if (!strcmp(recorded_text(entry, "program"), name))
			return entry;
	}
	ck_abort_msg("%s is not recorded", name);
	return NULL;
}

static void expect(const json_t *recorded, const char *what, const uint64_t *got)
{
	for (size_t i = 0; i < STEPS; i++)
		ck_assert_msg((double)got[i] == recorded_at(recorded, what, i),
		              "%s: %s after step %zu is %llu, PyTorch has %.0f",
		              recorded_text(recorded, "program"), what, i,
		              (unsigned long long)got[i], recorded_at(recorded, what, i));
}

void measured_check(const struct measured *program, bool meta)
{
	struct ag_options options = {.meta = meta};
	json_t *document = recorded_load("programs.json");
	const json_t *recorded = recorded_program(document, program->name);

	nkept = 0;
	rt_open_with(&options);
	program->run();
	expect(recorded, "live_bytes", bytes);
	expect(recorded, "nodes", nodes);
	while (nkept)
		ag_release(kept[--nkept]);
	rt_close();
	json_decref(document);
}
