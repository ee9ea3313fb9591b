/* What is one number, by how it is used: `if x > 0`, `float(x)`, `x.backward()`. */

#include "analyzer/facts/analysis.h"

enum { LIKE_DEPTH = 8 };

void shape_follows(struct analysis *a, const struct state *state, object_id id, value_id operands)
{
	const value_id tensors = tensors_in(a, state, operands, 0);

	def_of(a, id)->like = value_join(a, def_of(a, id)->like, tensors);
}

/* One number is made of single numbers. */
static void mark_one(struct analysis *a, object_id id, int depth)
{
	const struct value *like = value_get(a, def_of(a, id)->like);

	if (def_of(a, id)->scalar || depth == 0)
		return;
	def_of(a, id)->scalar = true;
	for (uint32_t i = 0; i < like->count; i++)
		mark_one(a, like->refs[i], depth - 1);
}

static void mark(struct analysis *a, value_id value, bool of_any_round)
{
	const struct value *v = value_get(a, value);

	for (uint32_t i = 0; i < v->count; i++)
		if (is_tensor_like(a, v->refs[i]) && (of_any_round || !is_older(v->refs[i])))
			mark_one(a, v->refs[i], LIKE_DEPTH);
}

void mark_number(struct analysis *a, value_id value)
{
	mark(a, value, false);
}

void mark_loss(struct analysis *a, value_id losses)
{
	mark(a, losses, true);
}

static bool is_one(const struct analysis *a, object_id id, int depth)
{
	const struct value *like = value_get(a, def_of(a, id)->like);
	bool all = like->count > 0 && depth > 0;

	if (def_of(a, id)->scalar)
		return true;
	for (uint32_t i = 0; all && i < like->count; i++)
		all = is_one(a, like->refs[i], depth - 1);
	return all;
}

bool is_one_number(const struct analysis *a, object_id id)
{
	return is_one(a, id, LIKE_DEPTH);
}
