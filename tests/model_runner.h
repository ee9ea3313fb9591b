#ifndef TESTS_MODEL_RUNNER_H
#define TESTS_MODEL_RUNNER_H

/* The slow model of the runtime: values with their derivatives by all elements of all leaves,
 * nodes and what they have saved, in arrays that only grow. What is alive is found by marking
 * from the program's variables, and compared with the runtime after each step. */

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/ag.h"
#include "runtime/mersenne.h"

enum {
	LEAVES = 3,
	LEAF_SIZE = 6,
	COLUMNS = LEAVES * LEAF_SIZE,
	MOST_ELEMENTS = 16,
	MOST_OBJECTS = 512,
	VARIABLES = 6,
	STEPS = 60,
	NONE = -1
};

/* ---- the model's objects, in arrays and named by index; nothing is ever taken out */

struct m_storage {
	int size, version;
	double value[MOST_ELEMENTS];
	double slope[MOST_ELEMENTS][COLUMNS];
	bool marked;
};

struct m_tensor {
	int storage, ndim, shape[2];
	int at[MOST_ELEMENTS]; /* element to place in the storage */
	int node, base, grad;  /* grad: a tensor, of leaves only */
	int leaf;              /* number of the leaf, or NONE */
	bool requires_grad, is_view, marked;
};

struct m_node {
	int edge[2];  /* nodes; accumulators are nodes too */
	int saved[3]; /* tensors, kept as they are */
	int saved_version[3];
	int saved_result; /* a storage, and its version */
	int result_version;
	int saved_count;
	int accumulates; /* the leaf's tensor, or NONE */
	bool freed, marked;
};

struct model {
	struct ag_ctx *ctx;
	struct ag_mersenne dice;
	struct m_storage storage[MOST_OBJECTS];
	struct m_tensor tensor[MOST_OBJECTS];
	struct m_node node[MOST_OBJECTS];
	int storages, tensors, nodes;
	int accumulator[LEAVES]; /* node, or NONE when no graph has it */
	int leaf[LEAVES];        /* tensors; always held */
	struct ag_tensor *leaf_handle[LEAVES];
	int variable[VARIABLES]; /* tensors or NONE */
	struct ag_tensor *handle[VARIABLES];
	bool grad_mode;
	bool over; /* an expected error ended the program */
	char trace[STEPS * 48];
	size_t trace_used;
};

void model_need(bool good);
int model_roll(struct model *m, int sides);
void __attribute__((format(printf, 2, 3))) model_note(struct model *m, const char *format, ...);
int model_numel(const struct m_tensor *t);
int model_new_tensor(struct model *m, int ndim, const int *shape);
int model_new_node(struct model *m);
double *model_value(struct model *m, int t, int i);
double *model_slope(struct model *m, int t, int i);
void model_mark_all(struct model *m);
/* Fails the test with the program so far. */
void model_mismatch(const struct model *m, const char *what, double got, double want);
void model_compare(struct model *m);

#endif
