#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/recorded_runner.h"
#include "tests/row_checks.h"
#include "tests/row_runner.h"

enum { MOST_NODES = 320 };

static int64_t live_bytes(const struct row_run *run)
{
	struct ag_memory memory;

	ag_memory(run->ctx, &memory);
	return (int64_t)memory.live_bytes;
}

struct node_list {
	struct ag_node *at[MOST_NODES];
	uint32_t count;
};

static bool node_is_new(const struct row_run *run, const struct node_list *list,
                        const struct ag_node *node)
{
	for (uint32_t i = 0; i < run->stop_count; i++) {
		if (run->stops[i] == node)
			return false;
	}
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->at[i] == node)
			return false;
	}
	return node && list->count < MOST_NODES &&
	       strcmp(ag_node_name(node), "AccumulateGrad") != 0;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The nodes that the row added, in no order. */
static bool check_nodes(const struct row_run *run, const json_t *want, struct row_message *message)
{
	struct node_list list = {.count = 0};
	const char *got[MOST_NODES];
	const char *wanted[MOST_NODES];
	size_t count = json_array_size(want);

	for (uint32_t i = 0; i < run->result_count; i++) {
		struct ag_node *node = ag_grad_fn(run->ctx, run->results[i]);
		if (node_is_new(run, &list, node))
			list.at[list.count++] = node;
	}
	for (uint32_t i = 0; i < list.count; i++) {
		got[i] = ag_node_name(list.at[i]);
		for (uint32_t k = 0; k < ag_node_edges(list.at[i]); k++) {
			struct ag_node *node = ag_node_edge(list.at[i], k);
			if (node_is_new(run, &list, node))
				list.at[list.count++] = node;
		}
	}
	for (size_t i = 0; i < count && i < MOST_NODES; i++)
		wanted[i] = json_string_value(json_array_get(want, i));
	qsort(got, list.count, sizeof(*got), compare_names);
	qsort(wanted, count, sizeof(*wanted), compare_names);
	for (size_t i = 0; i < count || i < list.count; i++) {
		const char *left = i < list.count ? got[i] : "nothing";
		const char *right = i < count ? wanted[i] : "nothing";
		if (strcmp(left, right) != 0)
			return row_differ(message, "%u nodes, not %zu: %s instead of %s",
			                  list.count, count, left, right);
	}
	return true;
}

/* Strides decide what later is a view and what a copy; where they say nothing they may differ. */
static bool check_strides(const struct ag_tensor *tensor, const json_t *want, const char *what,
                          struct row_message *message)
{
	char *text;

	for (int i = 0; ag_numel(tensor) && i < ag_ndim(tensor); i++) {
		if (ag_size(tensor, i) == 1 ||
		    ag_strides(tensor)[i] == (int64_t)recorded_at(want, "strides", (size_t)i))
			continue;
		text = json_dumps(json_object_get(want, "strides"), JSON_COMPACT);
		row_differ(message, "%s: stride %d is %lld, not as in %s", what, i,
		           (long long)ag_strides(tensor)[i], text);
		free(text);
		return false;
	}
	return true;
}

static bool check_outputs(const struct row_run *run, const json_t *outputs,
                          struct row_message *message)
{
	if (run->result_count != json_array_size(outputs))
		return row_differ(message, "%u results, not %zu", run->result_count,
		                  json_array_size(outputs));
	for (uint32_t i = 0; i < run->result_count; i++) {
		const json_t *want = json_array_get(outputs, i);
		const struct ag_tensor *tensor = run->results[i];
		uint64_t bytes = ag_storage_bytes(ag_storage_of(tensor));
		char what[32];
		snprintf(what, sizeof(what), "result %u", i);
		if (!row_check_kind(tensor, want, what, message) ||
		    !check_strides(tensor, want, what, message))
			return false;
		if (bytes != (uint64_t)recorded_number(want, "bytes"))
			return row_differ(message, "%s is in %u bytes, not %u", what,
			                  (unsigned)bytes,
			                  (unsigned)recorded_number(want, "bytes"));
		if (ag_requires_grad(tensor) !=
		    json_is_true(json_object_get(want, "requires_grad")))
			return row_differ(message, "%s: requires_grad is %d", what,
			                  ag_requires_grad(tensor));
	}
	return true;
}

/* Sums of the results that require grad, back to the leaves; all of it is dropped. */
static bool backward(struct row_run *run)
{
	struct ag_tensor *heads[ROW_MOST_RESULTS];
	struct ag_tensor *out[ROW_MOST_INPUTS] = {0};
	uint32_t count = 0;
	bool done;

	for (uint32_t i = 0; i < run->result_count; i++) {
		if (ag_requires_grad(run->results[i]))
			heads[count++] = ag_sum(run->ctx, run->results[i]);
	}
	done = ag_grad(run->ctx, heads, NULL, count, run->leaves, run->leaf_count, AG_ALLOW_UNUSED,
	               out);
	for (uint32_t i = 0; i < count; i++)
		ag_release(heads[i]);
	for (uint32_t i = 0; i < run->leaf_count; i++)
		ag_release(out[i]);
	return done;
}

static bool expect_bytes(const json_t *want, const char *key, int64_t got,
                         struct row_message *message)
{
	int64_t bytes = json_integer_value(json_object_get(want, key));

	return got == bytes || row_differ(message, "%s bytes: %lld, not %lld", key, (long long)got,
	                                  (long long)bytes);
}

static bool check_marks(struct row_run *run, const json_t *document, const json_t *row,
                        const json_t *want, struct row_message *message)
{
	struct ag_autocast region = {.enabled = run->autocast, .dtype = AG_BF16, .cache = true};
	int64_t before = live_bytes(run);
	int64_t ran, dropped, after, end;
	bool done;

	region = ag_autocast_enter(run->ctx, AG_CPU, region);
	done = row_execute(run, document, row);
	ag_autocast_exit(run->ctx, AG_CPU, region);
	if (!done)
		return row_differ(message, "%s", row_failure(run));
	if (!check_nodes(run, json_object_get(want, "nodes"), message) ||
	    !check_outputs(run, json_object_get(want, "outputs"), message))
		return false;
	ran = live_bytes(run);
	steps_release(&run->machine);
	for (uint32_t i = 0; i < run->stop_count; i++)
		ag_node_release(run->stops[i]);
	run->stop_count = 0;
	dropped = live_bytes(run);
	if (json_is_true(json_object_get(want, "backward")) && !backward(run))
		return row_differ(message, "backward: %s", row_failure(run));
	after = live_bytes(run);
	for (uint32_t i = 0; i < run->result_count; i++)
		ag_release(run->results[i]);
	run->result_count = 0;
	end = live_bytes(run);
	return expect_bytes(want, "new", ran - before, message) &&
	       expect_bytes(want, "kept", dropped - end, message) &&
	       expect_bytes(want, "after", after - end, message);
}

static bool check_choice(const json_t *document, const json_t *row, const json_t *want, bool meta,
                         bool autocast, struct row_message *message)
{
	struct ag_options options = {.meta = meta};
	struct row_run run = {.ctx = ag_open(&options), .autocast = autocast};
	const json_t *inputs = json_object_get(want, "inputs");
	bool same;

	run.machine.ctx = run.ctx;
	same = row_make_inputs(&run, document, inputs ? inputs : json_object_get(row, "inputs"),
	                       json_object_get(want, "needs"));
	if (!same)
		row_differ(message, "inputs: %s", row_failure(&run));
	else
		same = check_marks(&run, document, row, want, message);
	/* A shape that depends on data cannot be had without it. */
	if (!same && meta && ag_error(run.ctx)->status == AG_ERR_NO_DATA)
		same = true;
	row_release(&run);
	ag_close(run.ctx);
	return same;
}

static const char *variant(const json_t *want)
{
	const json_t *inputs = json_object_get(want, "inputs");

	for (size_t i = 0; i < json_array_size(inputs); i++) {
		if (json_object_get(json_array_get(inputs, i), "layout"))
			return " in another layout";
	}
	return inputs ? " in half" : "";
}

bool row_check_memory(const json_t *document, const json_t *row, bool meta,
                      struct row_message *message)
{
	const json_t *choices = json_object_get(row, "memory");
	bool same = true;

	for (size_t i = 0; same && i < json_array_size(choices); i++) {
		const json_t *want = json_array_get(choices, i);
		same = check_choice(document, row, want, meta, false, message);
		if (!same) {
			char *needs = json_dumps(json_object_get(want, "needs"), JSON_COMPACT);
			struct row_message inner = *message;
			row_differ(message, "%s%s %s: %.400s", meta ? "meta" : "memory",
			           variant(want), needs, inner.text);
			free(needs);
		}
	}
	return same;
}

bool row_check_autocast(const json_t *document, const json_t *row, bool meta,
                        struct row_message *message)
{
	const json_t *want = json_object_get(row, "autocast");
	struct row_message inner;

	if (json_is_null(want))
		return true;
	if (!want)
		want = json_array_get(json_object_get(row, "memory"), 0);
	return check_choice(document, row, want, meta, true, &inner) ||
	       row_differ(message, "autocast%s: %.400s", meta ? ", meta" : "", inner.text);
}
