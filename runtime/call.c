/* Calls: find the row, bind the arguments, run it, own its results. */

#include <stdlib.h>
#include <string.h>

#include "runtime/autocast.h"
#include "runtime/element.h"
#include "runtime/frame.h"
#include "runtime/names.h"

static ag_run_fn *const run[AG_OP_COUNT] = {
#define OP(id, names, signature, results, flags) [AG_OP_##id] = op_run_##id,
#include "runtime/ops.def"
#undef OP
};

void ag_results_release(struct ag_results *results)
{
	uint32_t i;

	for (i = 0; i < results->count; i++)
		ag_release(results->at[i]);
	if (results->at != results->few)
		free(results->at);
	memset(results, 0, sizeof(*results));
}

struct ag_tensor *ag_results_take(struct ag_results *results, uint32_t index)
{
	struct ag_tensor *t;

	if (index >= results->count)
		return NULL;
	t = results->at[index];
	results->at[index] = NULL;
	return t;
}

static void results_add(struct ag_results *r, struct ag_tensor *t)
{
	if (!r->at) {
		r->at = r->few;
		r->capacity = 4;
	}
	if (r->count == r->capacity) {
		struct ag_tensor **at = ag_alloc(2 * (size_t)r->capacity, sizeof(*at));

		memcpy(at, r->at, r->count * sizeof(*at));
		if (r->at != r->few)
			free(r->at);
		r->at = at;
		r->capacity *= 2;
	}
	r->at[r->count++] = t;
}

bool ag_give(struct ag_frame *f, struct ag_tensor *t)
{
	if (!t)
		return false;
	results_add(f->results, t);
	return true;
}

bool ag_give_ref(struct ag_frame *f, struct ag_tensor *t)
{
	return ag_give(f, ag_retain(t));
}

static bool missing_tensor(const struct ag_frame *f)
{
	const struct ag_signature *s;
	uint32_t i, k;

	for (i = 0; i < f->count; i++) {
		if (f->v[i].kind == AG_TENSOR && !f->v[i].as.tensor)
			return true;
		if (f->v[i].kind == AG_LIST) {
			for (k = 0; k < f->v[i].count; k++) {
				if (f->v[i].as.list[k].kind == AG_TENSOR &&
				    !f->v[i].as.list[k].as.tensor)
					return true;
			}
		}
	}
	s = ag_signature_of(f->ctx, f->op);
	return s->count != f->count;
}

static bool is_complex(const struct ag_tensor *t)
{
	return t && ag_category((enum ag_dtype)t->dtype) == 3;
}

/* Whether an argument is complex; *shares, whether one is in storage `in`. */
static bool any_complex(const struct ag_frame *f, const struct ag_storage *in, bool *shares)
{
	bool any = false;
	uint32_t i, k, count;

	for (i = 0; i < f->count; i++) {
		const struct ag_value *items = value_items(&f->v[i], &count);

		for (k = 0; k < count; k++) {
			if (items[k].kind != AG_TENSOR || !is_complex(items[k].as.tensor))
				continue;
			any = true;
			*shares |= items[k].as.tensor->storage == in;
		}
	}
	return any;
}

/* Kernels read the real parts of complex numbers: what they made of them is not known.
 * A view is what it was. */
static void forget_complex(struct ag_frame *f)
{
	uint32_t i;

	if (!f->ctx->has_complex || (ag_op_info(f->op)->flags & AG_OPF_COMPLEX))
		return;
	for (i = 0; i < f->results->count; i++) {
		struct ag_tensor *t = f->results->at[i];
		bool shares = false;

		if (t && any_complex(f, t->storage, &shares) && (f->inplace || !shares))
			ag_storage_drop_data(t->storage);
	}
}

static bool frame_run(struct ag_frame *f)
{
	struct ag_ctx *ctx = f->ctx;
	struct ag_uncast uncast;
	size_t mark;
	bool good;

	if (missing_tensor(f)) {
		if (ctx->error.status == AG_OK)
			ag_fail(ctx, AG_ERR_TYPE, "%s: a tensor is missing", ag_op_info(f->op)->id);
		return false;
	}
	if (f->inplace && !arg_t(f, 0))
		return ag_fail(ctx, AG_ERR_TYPE, "%s_: works on a tensor", ag_op_info(f->op)->id);
	if (ctx->options.node_cap && ctx->memory.nodes > ctx->options.node_cap)
		return ag_fail(ctx, AG_ERR_MEMORY, "more than %llu live nodes",
		               (unsigned long long)ctx->options.node_cap);
	ctx->save_failed = false;
	mark = ag_scope_open(ctx);
	good = ag_autocast_open(f, &uncast) && run[f->op](f);
	ag_autocast_close(f, &uncast);
	ag_scope_close(ctx, mark);
	good = good && ag_saves_ok(ctx);
	good = ag_whole(ctx) && good;
	if (good)
		forget_complex(f);
	ctx->save_failed = false;
	if (good && f->factory_grad && f->results->count)
		good = ag_set_requires_grad(ctx, f->results->at[0], true);
	if (good)
		return true;
	ag_results_release(f->results);
	if (ctx->error.status == AG_OK)
		ag_fail(ctx, AG_ERR_RUNTIME, "%s(): the arguments do not fit",
		        ag_op_info(f->op)->id);
	return false;
}

/* Whether a row takes these, position by position. */
static bool fits(struct ag_ctx *ctx, enum ag_op op, bool inplace, const struct ag_value *args,
                 uint32_t count)
{
	const struct ag_signature *s;
	struct ag_value taken;
	uint32_t i;

	/* Rows without a name are parts of others, which know what they take. */
	if (op <= AG_OP_NONE || op >= AG_OP_COUNT || !*ag_op_info(op)->names)
		return ag_fail(ctx, AG_ERR_UNKNOWN_OP, "no such op");
	s = ag_signature_of(ctx, op);
	if (count > s->count)
		return ag_fail(ctx, AG_ERR_TYPE, "%s(): takes %u arguments, not %u",
		               ag_op_info(op)->id, s->count, count);
	for (i = 0; i < s->count; i++) {
		bool good = i < count ? ag_take(&s->at[i], &args[i], &taken)
		                      : s->at[i].has_default || s->at[i].starred;

		if (!good)
			return ag_fail(ctx, AG_ERR_TYPE, "%s(): argument '%s' %s",
			               ag_op_info(op)->id, s->at[i].name,
			               i < count ? "is of another kind" : "is missing");
	}
	return !inplace || (ag_op_info(op)->flags & AG_OPF_INPLACE) ||
	       ag_fail(ctx, AG_ERR_UNKNOWN_OP, "%s does not work in place", ag_op_info(op)->id);
}

bool ag_call_op(struct ag_ctx *ctx, enum ag_op op, bool inplace, const struct ag_value *args,
                uint32_t count, struct ag_results *results)
{
	memset(results, 0, sizeof(*results));
	return fits(ctx, op, inplace, args, count) &&
	       ag_run_op(ctx, op, inplace, args, count, results);
}

bool ag_run_op(struct ag_ctx *ctx, enum ag_op op, bool inplace, const struct ag_value *args,
               uint32_t count, struct ag_results *results)
{
	const struct ag_signature *s = ag_signature_of(ctx, op);
	struct ag_frame f;
	uint32_t i;

	memset(results, 0, sizeof(*results));
	f.ctx = ctx;
	f.op = op;
	f.inplace = inplace;
	f.factory_grad = false;
	f.results = results;
	f.count = s->count;
	for (i = 0; i < s->count; i++)
		f.v[i] = i < count ? args[i] : s->at[i].value;
	return frame_run(&f);
}

struct ag_tensor *ag_run1(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                          uint32_t count)
{
	struct ag_results results;
	struct ag_tensor *t;

	if (!ag_run_op(ctx, op, false, args, count, &results))
		return NULL;
	t = ag_results_take(&results, 0);
	ag_results_release(&results);
	return t;
}

struct ag_tensor *ag_call1(struct ag_ctx *ctx, enum ag_op op, const struct ag_value *args,
                           uint32_t count)
{
	return fits(ctx, op, false, args, count) ? ag_run1(ctx, op, args, count) : NULL;
}

enum ag_op ag_op_find(struct ag_ctx *ctx, const char *name, bool *inplace)
{
	return ag_names_next(ctx, name, (enum ag_op)1, inplace);
}

/* requires_grad=True and dtype=... of factories whose signature leaves them out. */
static void factory_keywords(struct ag_frame *f, const struct ag_args *args)
{
	uint32_t i;

	f->factory_grad = false;
	if (!(ag_op_info(f->op)->flags & AG_OPF_FACTORY))
		return;
	for (i = 0; i < args->nkeywords; i++) {
		if (!strcmp(args->keywords[i].name, "requires_grad"))
			f->factory_grad = ag_value_int(&args->keywords[i].value) != 0;
	}
}

bool ag_call(struct ag_ctx *ctx, const char *name, const struct ag_args *args,
             struct ag_results *results)
{
	struct ag_frame f;
	char why[160] = "";
	enum ag_op op = (enum ag_op)1;

	memset(results, 0, sizeof(*results));
	f.ctx = ctx;
	f.results = results;
	for (;; op = (enum ag_op)(op + 1)) {
		const struct ag_signature *s;

		op = ag_names_next(ctx, name, op, &f.inplace);
		if (!op)
			break;
		s = ag_signature_of(ctx, op);
		if (!ag_bind(s, args, f.v, f.extra, ag_op_info(op)->flags, why, sizeof(why)))
			continue;
		f.op = op;
		f.count = s->count;
		factory_keywords(&f, args);
		return frame_run(&f);
	}
	if (!why[0])
		return ag_fail(ctx, AG_ERR_UNKNOWN_OP, "'%s' is not known", name);
	return ag_fail(ctx, AG_ERR_TYPE, "%s(): %s", name, why);
}

bool ag_wants_grad(struct ag_ctx *ctx, struct ag_tensor *const *inputs, uint32_t count)
{
	uint32_t i;

	if (!ctx->mode.enabled)
		return false;
	for (i = 0; i < count; i++) {
		if (inputs[i] && ag_requires_grad(inputs[i]))
			return true;
	}
	return false;
}
