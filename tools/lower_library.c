/* lower_library OUT FILE...: the interpreter's library in Python as one C source
 * with the tables of analyzer/replay/library.h. A file's name is its module's:
 * torch.nn.py. It is built and run on the way to the executable. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/bug.h"
#include "analyzer/front/front.h"

/* A range of one of the tables, whose rows are written to `rows`. */
struct table {
	const char *type, *name;
	struct text rows;
	uint32_t count;
};

enum {
	PARAMS,
	SLOTS,
	INSTS,
	ARGS,
	BLOCKS,
	LOOPS,
	DOMINATORS,
	FUNCS,
	DEFINITIONS,
	MODULES,
	TABLES,
};

struct lowering {
	struct arena arena;
	struct intern *names;
	struct table tables[TABLES];
};

#define ROW(l, table, ...)                                                                         \
	do {                                                                                       \
		text_print(&(l)->tables[table].rows, "\t{" __VA_ARGS__);                           \
		text_print(&(l)->tables[table].rows, "},\n");                                      \
		(l)->tables[table].count++;                                                        \
	} while (0)

/* --- a module of the IR as rows */

static void add_insts(struct lowering *l, const struct ir_func *func)
{
	for (uint32_t i = 0; i < func->insts.count; i++) {
		const struct ir_inst *in = &func->insts.at[i];

		ROW(l, INSTS, "%u, %u, %u, %u, %u, {0, 0}", in->op, in->sub, in->nargs, in->args,
		    in->name);
	}
	for (uint32_t i = 0; i < func->args.count; i++)
		ROW(l, ARGS, "{%u}, {%u}", func->args.at[i].value.n, func->args.at[i].keyword.n);
}

static void add_blocks(struct lowering *l, const struct ir_func *func)
{
	for (uint32_t i = 0; i < func->blocks.count; i++) {
		const struct ir_block *b = &func->blocks.at[i];

		ROW(l, BLOCKS, "%u, %u, {{%u}, {%u}}, {%u}, {%u}", b->first, b->count, b->succ[0].n,
		    b->succ[1].n, b->handler.n, b->loop.n);
		ROW(l, DOMINATORS, "%u", func->dominator[i].n);
	}
	for (uint32_t i = 0; i < func->loops.count; i++)
		ROW(l, LOOPS, "{%u}, {%u}, %u, {0, 0}", func->loops.at[i].header.n,
		    func->loops.at[i].parent.n, func->loops.at[i].depth);
}

static void add_names(struct lowering *l, const struct ir_func *func)
{
	for (uint32_t i = 0; i < func->params.count; i++)
		ROW(l, PARAMS, "{%u}, %u, %u, {0}", func->params.at[i].slot.n,
		    func->params.at[i].kind, func->params.at[i].has_default);
	for (uint32_t i = 0; i < func->slots.count; i++)
		ROW(l, SLOTS, "{%u}, %u, {%u}", func->slots.at[i].name.n, func->slots.at[i].kind,
		    func->slots.at[i].outer.n);
}

static void add_func(struct lowering *l, const struct ir_func *func)
{
	const struct table *t = l->tables;

	ROW(l, FUNCS,
	    "%u, %u, %u, %u, %u, %u, {%u, %u}, {%u, %u}, {%u, %u}, {%u, %u}, {%u, %u}, {%u, %u}",
	    func->name.n, func->qualified.n, func->parent.n, func->kind, func->is_generator,
	    func->is_async, t[PARAMS].count, func->params.count, t[SLOTS].count, func->slots.count,
	    t[INSTS].count, func->insts.count, t[ARGS].count, func->args.count, t[BLOCKS].count,
	    func->blocks.count, t[LOOPS].count, func->loops.count);
	add_names(l, func);
	add_insts(l, func);
	add_blocks(l, func);
}

static void add_definition(struct lowering *l, const char *path, const char *start,
                           const char *stop, sym_id name)
{
	struct source_problem problem;
	const struct source *source =
	        source_from_bytes(&l->arena, path, start, (size_t)(stop - start), &problem);
	struct front_result lowered;

	BUG_IF(!source);
	lowered = python_front_end.lower(&l->arena, l->names, source, NULL);
	if (lowered.has_error || lowered.module->gaps.count > 1) {
		fprintf(stderr, "%s: syntax error in `%.40s`\n", path, start);
		exit(1);
	}
	ROW(l, DEFINITIONS, "%u, {%u, %u}", name.n, l->tables[FUNCS].count,
	    lowered.module->funcs.count - 1);
	for (uint32_t i = 1; i < lowered.module->funcs.count; i++)
		add_func(l, lowered.module->funcs.at[i]);
}

/* --- a file as definitions */

static bool starts_definition(const char *line, const char *end)
{
	return line < end && !strchr("\n \t#)]}", *line);
}

static const char *line_after(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline + 1 : end;
}

static bool is_import(const char *line)
{
	return strncmp(line, "import ", 7) == 0 || strncmp(line, "from ", 5) == 0;
}

/* The name that a line in the first column defines; empty: none. */
static struct span name_at(const char *text, const char *line)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	const char *at = line;
	uint32_t start = 0, length;

	if (strncmp(at, "async ", 6) == 0)
		at += 6;
	if (strncmp(at, "def ", 4) == 0)
		at += 4;
	else if (strncmp(at, "class ", 6) == 0)
		at += 6;
	start = (uint32_t)(at - text);
	length = (uint32_t)strspn(at, letters);
	if (at[length] != '(' && at[length] != ':' && strncmp(at + length, " =", 2) != 0)
		length = 0;
	return (struct span){start, start + length};
}

static const char *definition_end(const char *at, const char *end)
{
	at = line_after(at, end);
	while (at < end && !starts_definition(at, end))
		at = line_after(at, end);
	return at;
}

static void add_definitions(struct lowering *l, const char *path, const char *text, size_t length)
{
	const char *end = text + length, *at = text, *decorators = NULL;

	while (at < end && (!starts_definition(at, end) || is_import(at)))
		at = line_after(at, end);
	if (at > text)
		add_definition(l, path, text, at, (sym_id){0});
	while (at < end) {
		struct span name = name_at(text, at);
		const char *next = definition_end(at, end);

		if (*at == '@') {
			decorators = decorators ? decorators : at;
		} else if (name.end > name.start) {
			add_definition(
			        l, path, decorators ? decorators : at, next,
			        intern_text(l->names, text + name.start, name.end - name.start));
			decorators = NULL;
		} else {
			fprintf(stderr, "%s: not a definition: `%.40s`\n", path, at);
			exit(1);
		}
		at = next;
	}
}

static const char *file_name(const char *path)
{
	return strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

/* As the names of modules sort: "torch" comes before "torch.nn". */
static int by_module(const void *a, const void *b)
{
	const char *x = file_name(*(char *const *)a), *y = file_name(*(char *const *)b);
	const size_t m = strlen(x) - strlen(".py"), n = strlen(y) - strlen(".py");
	const int order = memcmp(x, y, m < n ? m : n);

	return order ? order : (m > n) - (m < n);
}

static void add_module(struct lowering *l, const char *path)
{
	struct source_problem problem;
	const struct source *source = source_open(&l->arena, path, &problem);
	const char *name = file_name(path);
	uint32_t first = l->tables[DEFINITIONS].count;

	if (!source) {
		fprintf(stderr, "%s: %s\n", path, problem.message);
		exit(1);
	}
	add_definitions(l, path, source->text, source->length);
	ROW(l, MODULES, "\"%.*s\", {%u, %u}", (int)(strlen(name) - strlen(".py")), name, first,
	    l->tables[DEFINITIONS].count - first);
}

/* --- the C source */

static void write_names(const struct lowering *l, FILE *out, uint32_t count)
{
	uint32_t start = 0;

	fprintf(out, "const char library_bytes[] = {\n");
	for (uint32_t i = 0; i < count; i++) {
		size_t length;
		const char *chars = intern_chars(l->names, (sym_id){i}, &length);

		for (size_t k = 0; k < length; k++)
			fprintf(out, "'\\x%02x',", (unsigned char)chars[k]);
		fprintf(out, "0,\n");
	}
	fprintf(out, "};\nconst struct library_name library_names[] = {\n");
	for (uint32_t i = 0; i < count; i++) {
		size_t length;

		intern_chars(l->names, (sym_id){i}, &length);
		fprintf(out, "\t{%u, %zu},\n", start, length);
		start += (uint32_t)length + 1;
	}
	fprintf(out, "};\nconst uint32_t library_name_count = %u;\n", count);
}

static bool write_source(struct lowering *l, const char *path)
{
	FILE *out = fopen(path, "w");
	bool good;

	if (!out)
		return false;
	fprintf(out, "#include \"analyzer/replay/library.h\"\n\n");
	/* Ids are given in order: a new name's is the count so far. */
	write_names(l, out, intern_text(l->names, "<end of the library>", 20).n);
	for (int i = 0; i < TABLES; i++)
		fprintf(out, "const %s library_%s[] = {\n%s};\n", l->tables[i].type,
		        l->tables[i].name, text_chars(&l->tables[i].rows));
	fprintf(out, "const uint32_t library_module_count = %u;\n", l->tables[MODULES].count);
	good = !ferror(out);
	return fclose(out) == 0 && good;
}

int main(int count, char **arguments)
{
	struct lowering l = {
	        .tables = {
	                [PARAMS] = {.type = "struct ir_param", .name = "params"},
	                [SLOTS] = {.type = "struct ir_slot", .name = "slots"},
	                [INSTS] = {.type = "struct ir_inst", .name = "insts"},
	                [ARGS] = {.type = "struct ir_arg", .name = "args"},
	                [BLOCKS] = {.type = "struct ir_block", .name = "blocks"},
	                [LOOPS] = {.type = "struct ir_loop", .name = "loops"},
	                [DOMINATORS] = {.type = "block_id", .name = "dominators"},
	                [FUNCS] = {.type = "struct library_func", .name = "funcs"},
	                [DEFINITIONS] = {.type = "struct library_definition",
	                                 .name = "definitions"},
	                [MODULES] = {.type = "struct library_module", .name = "modules"},
	        }};
	bool good;

	if (count < 3)
		return 2;
	l.names = intern_open();
	for (int i = 0; i < TABLES; i++)
		l.tables[i].rows.arena = &l.arena;
	qsort(arguments + 2, (size_t)count - 2, sizeof(*arguments), by_module);
	for (int i = 2; i < count; i++)
		add_module(&l, arguments[i]);
	good = write_source(&l, arguments[1]);
	intern_close(l.names);
	arena_release(&l.arena);
	return good ? 0 : 1;
}
