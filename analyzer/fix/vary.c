#include "analyzer/fix/vary.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fix/edit.h"

enum { MOST_NUMBERS = 64, MOST_BATCH = 1 << 24 };

/* How surely a number is the batch size. */
enum rank { RANK_NONE, RANK_MADE, RANK_MADE_IN_LOOP, RANK_NAMED };

struct number {
	uint32_t node;
	long value;
	enum rank rank;
};

struct numbers {
	struct number at[MOST_NUMBERS];
	uint32_t count;
};

static long value_of(const struct fixer *f, uint32_t node)
{
	const char *text;
	char *end;
	long value;

	if (!node || py_kind(&f->tree, node) != PY_integer)
		return 0;
	text = fixer_text(f, node);
	value = strtol(text, &end, 10);
	return *end || value > MOST_BATCH ? 0 : value;
}

static void add_number(const struct fixer *f, struct numbers *numbers, uint32_t node,
                       enum rank rank)
{
	const long value = value_of(f, node);

	if (value > 1 && numbers->count < MOST_NUMBERS)
		numbers->at[numbers->count++] = (struct number){node, value, rank};
}

/* "batch_size", "BATCH", "train_batch_size", "--batch-size", "bs" */
static bool names_batch(const struct fixer *f, uint32_t node)
{
	const char *text = node ? fixer_text(f, node) : "";
	char folded[32];
	size_t length = 0;

	for (; *text && length + 1 < sizeof(folded); text++) {
		if (isalpha((unsigned char)*text))
			folded[length++] = (char)tolower((unsigned char)*text);
	}
	folded[length] = '\0';
	return !strcmp(folded, "bs") || !strcmp(folded, "batch") || strstr(folded, "batchsize") ||
	       !strcmp(folded, "nbatch");
}

static bool is_factory(const struct fixer *f, uint32_t call)
{
	static const char *const names[] = {"randn", "rand", "zeros", "ones", "empty", "randint"};
	const uint32_t callee = py_field(&f->tree, call, PY_F_function);

	if (!callee || py_kind(&f->tree, callee) != PY_attribute)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fixer_calls(f, call, names[i]))
			return true;
	}
	return false;
}

/* The first number of a shape: torch.randn(64, 10), randint(0, 9, (64,)). */
static uint32_t first_size(const struct fixer *f, uint32_t call)
{
	const uint32_t list = py_field(&f->tree, call, PY_F_arguments);

	for (uint32_t c = list ? py_first(&f->tree, list) : 0; c; c = py_next(&f->tree, list, c)) {
		if (py_kind(&f->tree, c) == PY_tuple || py_kind(&f->tree, c) == PY_list)
			return py_first(&f->tree, c);
		if (!fixer_calls(f, call, "randint"))
			return c;
	}
	return 0;
}

static bool has_batch_string(const struct fixer *f, uint32_t list)
{
	for (uint32_t c = py_first(&f->tree, list); c; c = py_next(&f->tree, list, c)) {
		if (py_kind(&f->tree, c) == PY_string && names_batch(f, c))
			return true;
	}
	return false;
}

static void look_at(const struct fixer *f, uint32_t n, struct span loop, struct numbers *numbers)
{
	const struct span span = f->tree.nodes[n].span;
	const bool inside = span.start >= loop.start && span.end <= loop.end;
	const uint32_t up = f->parents[n];

	switch ((int)py_kind(&f->tree, n)) {
	case PY_keyword_argument:
		if (names_batch(f, py_field(&f->tree, n, PY_F_name)) ||
		    (fixer_has_text(f, py_field(&f->tree, n, PY_F_name), "default") &&
		     has_batch_string(f, up)))
			add_number(f, numbers, py_field(&f->tree, n, PY_F_value), RANK_NAMED);
		break;
	case PY_assignment:
	case PY_default_parameter:
		if (names_batch(f, py_field(&f->tree, n,
		                            py_kind(&f->tree, n) == PY_assignment ? PY_F_left
		                                                                  : PY_F_name)))
			add_number(f, numbers,
			           py_field(&f->tree, n,
			                    py_kind(&f->tree, n) == PY_assignment ? PY_F_right
			                                                          : PY_F_value),
			           RANK_NAMED);
		break;
	case PY_call:
		if (is_factory(f, n))
			add_number(f, numbers, first_size(f, n),
			           inside ? RANK_MADE_IN_LOOP : RANK_MADE);
		break;
	default:
		break;
	}
}

/* The surest number; of several as sure ones the first. NULL: none. */
static const struct number *choose(const struct numbers *numbers)
{
	const struct number *best = NULL;

	for (uint32_t i = 0; i < numbers->count; i++) {
		if (!best || numbers->at[i].rank > best->rank)
			best = &numbers->at[i];
	}
	return best;
}

static void add_batch(struct fixer *f, const struct numbers *numbers, const struct number *chosen,
                      long value, variant_list *variants)
{
	struct text name = {.arena = f->arena}, digits = {.arena = f->arena};
	struct variant variant = {0};

	text_print(&digits, "%ld", value);
	text_print(&name, "batch of %ld instead of %ld", value, chosen->value);
	variant.name = text_chars(&name);
	for (uint32_t i = 0; i < numbers->count; i++) {
		const struct number *number = &numbers->at[i];

		if (number->value == chosen->value &&
		    (number->rank == RANK_NAMED) == (chosen->rank == RANK_NAMED))
			fixer_replace(f, &variant.edits, f->tree.nodes[number->node].span,
			              text_chars(&digits));
	}
	vec_push(f->arena, variants, variant);
}

/* Every part of the outermost module is computed again in backward. */
static const char checkpointed[] =
        "import torch as __torch\n"
        "import torch.utils.checkpoint as __checkpoint\n"
        "def __each_part_checkpointed():\n"
        "    plain = __torch.nn.Module.__call__\n"
        "    depth = [0]\n"
        "    def call(self, *args, **kwargs):\n"
        "        own = depth[0]\n"
        "        depth[0] = own + 1\n"
        "        try:\n"
        "            if own == 1 and __torch.is_grad_enabled():\n"
        "                depth[0] = 2\n"
        "                return __checkpoint.checkpoint(plain, self, *args, use_reentrant=False, "
        "**kwargs)\n"
        "            return plain(self, *args, **kwargs)\n"
        "        finally:\n"
        "            depth[0] = own\n"
        "    __torch.nn.Module.__call__ = call\n"
        "__each_part_checkpointed()\n";

static const struct {
	const char *name, *text;
} preludes[] = {
        {"everything in bfloat16",
         "import torch as __torch\n__torch.set_default_dtype(__torch.bfloat16)\n"},
        {"mixed precision (autocast to bfloat16)",
         "import torch as __torch\n"
         "__torch.autocast('cpu', dtype=__torch.bfloat16).__enter__()\n"},
        {"checkpointing of each part of the model", checkpointed},
};

/* In front of the first import: what it changes must hold from then on. */
static void add_preludes(struct fixer *f, variant_list *variants)
{
	uint32_t first = 0;

	for (uint32_t c = py_first(&f->tree, 0); c && !first; c = py_next(&f->tree, 0, c)) {
		const enum py_kind kind = py_kind(&f->tree, c);

		if (kind == PY_import_statement || kind == PY_import_from_statement)
			first = c;
	}
	for (size_t i = 0; first && i < sizeof(preludes) / sizeof(preludes[0]); i++) {
		struct variant variant = {.name = preludes[i].name};

		fixer_insert(f, &variant.edits, f->tree.nodes[first].span.start, preludes[i].text);
		vec_push(f->arena, variants, variant);
	}
}

void vary(struct arena *arena, struct front_syntax *syntax, struct span loop,
          variant_list *variants)
{
	struct finding nothing = {.source = syntax->source};
	struct numbers numbers = {.count = 0};
	const struct number *chosen;
	fix_list fixes = {0};
	struct fixer f;

	fixer_open(&f, arena, &nothing, syntax, &fixes);
	for (uint32_t n = 1; n < f.tree.count; n++)
		look_at(&f, n, loop, &numbers);
	chosen = choose(&numbers);
	if (chosen) {
		add_batch(&f, &numbers, chosen, chosen->value / 2, variants);
		add_batch(&f, &numbers, chosen, chosen->value * 2, variants);
	}
	add_preludes(&f, variants);
	fixer_release(&f);
}
