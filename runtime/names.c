/* Torch names: prefixes made short, then a hash over the words of ops.def. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/names.h"

enum { NAME_MAX_LENGTH = 96, NAME_SLOTS = 4096, FOUND_SLOTS = 128, FOUND_LENGTH = 40 };

struct ag_found_name {
	char name[FOUND_LENGTH];
	uint16_t from, op;
	bool inplace;
};

static const struct ag_op_info rows[AG_OP_COUNT] = {
#define OP(id, names, signature, results, flags)                                                   \
	[AG_OP_##id] = {#id, names, signature, results, flags},
#include "runtime/ops.def"
#undef OP
};

const struct ag_op_info *ag_op_info(enum ag_op op)
{
	return op < AG_OP_COUNT ? &rows[op] : NULL;
}

static const struct {
	const char *long_form, *short_form;
} prefixes[] = {
        {"torch.nn.functional.", "F."},
        {"nn.functional.", "F."},
        {"torch.Tensor.", "Tensor."},
        {"torch.nn.init.", "init."},
        {"nn.init.", "init."},
        {"torch.linalg.", "linalg."},
        {"torch.special.", "special."},
        {"torch._C._nn.", "F."},
        {"torch._C._VariableFunctions.", "torch."},
};

static bool shorten(const char *name, char *out)
{
	const char *head = "";
	size_t i, before, length;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		length = strlen(prefixes[i].long_form);
		if (strncmp(name, prefixes[i].long_form, length) != 0)
			continue;
		head = prefixes[i].short_form;
		name += length;
		break;
	}
	before = strlen(head);
	length = strlen(name);
	if (before + length >= NAME_MAX_LENGTH)
		return false;
	memcpy(out, head, before);
	memcpy(out + before, name, length + 1);
	return true;
}

static uint32_t hash_name(const char *name, size_t length)
{
	uint32_t hash = 2166136261u;

	while (length--)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return hash;
}

static bool row_has(enum ag_op op, const char *name, size_t length)
{
	const char *at = rows[op].names;

	while (*at) {
		size_t n = strcspn(at, " ");

		if (n == length && !memcmp(at, name, n))
			return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

/* Slots hold the first row of each name. */
static void table_add(uint16_t *table, enum ag_op op, const char *name, size_t length)
{
	uint32_t slot = hash_name(name, length) % NAME_SLOTS;

	while (table[slot]) {
		if (row_has((enum ag_op)table[slot], name, length))
			return;
		slot = (slot + 1) % NAME_SLOTS;
	}
	table[slot] = (uint16_t)op;
}

static void table_build(struct ag_ctx *ctx)
{
	int op;

	ctx->name_table = ag_alloc(NAME_SLOTS, sizeof(*ctx->name_table));
	for (op = 1; op < AG_OP_COUNT; op++) {
		const char *at = rows[op].names;

		while (*at) {
			size_t n = strcspn(at, " ");

			table_add(ctx->name_table, (enum ag_op)op, at, n);
			at += n + (at[n] == ' ');
		}
	}
}

static enum ag_op find(struct ag_ctx *ctx, const char *name, size_t length, enum ag_op from)
{
	uint32_t slot = hash_name(name, length) % NAME_SLOTS;
	int op;

	while (ctx->name_table[slot] && !row_has((enum ag_op)ctx->name_table[slot], name, length))
		slot = (slot + 1) % NAME_SLOTS;
	op = ctx->name_table[slot];
	if (!op)
		return AG_OP_NONE;
	for (op = op < (int)from ? (int)from : op; op < AG_OP_COUNT; op++) {
		if (row_has((enum ag_op)op, name, length))
			return (enum ag_op)op;
	}
	return AG_OP_NONE;
}

/* With and without prefix, as the table may have either. */
static enum ag_op find_any(struct ag_ctx *ctx, const char *name, size_t length, enum ag_op from)
{
	static const char *const spaces[] = {"torch.", "Tensor.", "F."};
	const char *dot = memchr(name, '.', length);
	char full[NAME_MAX_LENGTH + 8];
	enum ag_op op = find(ctx, name, length, from);
	size_t i;

	if (op)
		return op;
	if (dot)
		return find(ctx, dot + 1, length - (size_t)(dot + 1 - name), from);
	for (i = 0; i < 3; i++) {
		snprintf(full, sizeof(full), "%s%.*s", spaces[i], (int)length, name);
		op = find(ctx, full, strlen(full), from);
		if (op)
			return op;
	}
	return AG_OP_NONE;
}

static enum ag_op look_up(struct ag_ctx *ctx, const char *name, enum ag_op from, bool *inplace)
{
	char text[NAME_MAX_LENGTH];
	enum ag_op op;
	size_t length;

	*inplace = false;
	if (!shorten(name, text))
		return AG_OP_NONE;
	length = strlen(text);
	op = find_any(ctx, text, length, from);
	if (op || length < 2 || text[length - 1] != '_')
		return op;
	*inplace = true;
	do {
		op = find_any(ctx, text, length - 1, from);
		from = (enum ag_op)(op + 1);
	} while (op && !(rows[op].flags & AG_OPF_INPLACE));
	return op;
}

/* The ends of names differ most. */
static uint32_t quick_hash(const char *name, size_t length)
{
	const size_t taken = length < 8 ? length : 8;
	uint64_t end = 0;

	memcpy(&end, name + length - taken, taken);
	return (uint32_t)(((end ^ length) * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

enum ag_op ag_names_next(struct ag_ctx *ctx, const char *name, enum ag_op from, bool *inplace)
{
	const size_t length = strlen(name);
	struct ag_found_name *found;

	if (!ctx->name_table) {
		table_build(ctx);
		ctx->founds = ag_alloc(FOUND_SLOTS, sizeof(*ctx->founds));
	}
	if (length >= FOUND_LENGTH)
		return look_up(ctx, name, from, inplace);
	found = &ctx->founds[(quick_hash(name, length) + from) % FOUND_SLOTS];
	if (found->from != from || memcmp(found->name, name, length + 1) != 0) {
		memcpy(found->name, name, length + 1);
		found->from = (uint16_t)from;
		found->op = (uint16_t)look_up(ctx, name, from, &found->inplace);
	}
	*inplace = found->inplace;
	return (enum ag_op)found->op;
}

void ag_names_release(struct ag_ctx *ctx)
{
	int i;

	for (i = 0; ctx->signatures && i < AG_OP_COUNT; i++)
		free(ctx->signatures[i]);
	free(ctx->signatures);
	free(ctx->name_table);
	free(ctx->founds);
}
