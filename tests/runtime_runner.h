#ifndef GRAPHLINT_TESTS_RUNTIME_H
#define GRAPHLINT_TESTS_RUNTIME_H

/* Programs against runtime/ag.h that read like the Python they stand for.
 * What a statement makes belongs to a pool until rt_sweep; rt_set gives it to a
 * variable, whose old value goes then, as in Python. Every call is checked. */

#include "runtime/ag.h"

struct rt {
	struct ag_ctx *ctx;
	struct ag_tensor **pool;
	size_t count, capacity;
};

extern struct rt rt;

void rt_open(void);
void rt_open_with(const struct ag_options *options);
void rt_close(void); /* fails the test when something is left alive */
void rt_sweep(void);
/* Into the pool; fails the test when t is NULL. */
struct ag_tensor *rt_keep(struct ag_tensor *t);
void rt_set(struct ag_tensor **variable, struct ag_tensor *t);
void rt_true(bool good); /* or the test fails with the runtime's error */

struct ag_tensor *rt_call_values(const char *name, const struct ag_value *values, size_t count);
#define RT_COUNT(...) (sizeof((struct ag_value[]){__VA_ARGS__}) / sizeof(struct ag_value))
#define CALL(name, ...)                                                                            \
	rt_call_values(name, (struct ag_value[]){__VA_ARGS__}, RT_COUNT(__VA_ARGS__))
#define T(t) ag_arg(t)
#define N(n) ag_int(n)
#define R(n) ag_float(n)

struct ag_tensor *rt_randn(int ndim, ...); /* sizes as int */
struct ag_tensor *rt_at(struct ag_tensor *t, int64_t index);
struct ag_tensor *rt_leaf(struct ag_tensor *t); /* requires_grad_() */
struct ag_tensor *rt_ones(int64_t n);
struct ag_tensor *rt_ones_leaf(int64_t n);
struct ag_module *rt_layer_values(const char *name, const struct ag_value *values, size_t count);
#define LAYER(name, ...)                                                                           \
	rt_layer_values(name, (struct ag_value[]){__VA_ARGS__}, RT_COUNT(__VA_ARGS__))
#define PLAIN(name) rt_layer_values(name, NULL, 0)
/* Takes over the layers; ends with NULL. */
struct ag_module *rt_sequential(struct ag_module *first, ...);
struct ag_tensor *rt_forward(struct ag_module *m, struct ag_tensor *x);
/* The parameters of one or two modules; the caller frees the list. */
struct ag_tensor **rt_parameters(struct ag_module *a, struct ag_module *b, uint32_t *count);
struct ag_optim *rt_optim(const char *name, double lr, double momentum, struct ag_module *a,
                          struct ag_module *b);
void rt_backward(struct ag_tensor *t);
void rt_step(struct ag_optim *o);
void rt_zero_grad(struct ag_optim *o);
uint64_t rt_bytes(void);
uint64_t rt_nodes(void);
/* Live bytes beyond `before` when of this statement's values only `keep` is held. */
uint64_t rt_grown(uint64_t before, struct ag_tensor *keep);
double rt_item(struct ag_tensor *t);
/* Whether a call failed with an error that has `part` in its text; the test fails otherwise. */
bool rt_fails(bool good, const char *part);

#endif
