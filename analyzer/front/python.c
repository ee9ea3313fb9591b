#include "analyzer/front/python_lower.h"

static void lower_module(struct py_lower *l, const struct source *source)
{
	struct py_func func;
	struct ir_func *made;

	py_func_begin(l, &func, 1, FUNC_MODULE);
	made = ir_builder_func(func.builder);
	made->name = made->qualified = sym(SYM_module_scope);
	made->span = made->name_span = (struct span){0, source->length};
	py_module_body(l);
	py_func_end(l);
}

static struct front_result python_lower(struct arena *arena, struct intern *names,
                                        const struct source *source, struct front_syntax *known)
{
	struct arena scratch = {0};
	struct py_tree tree = {0};
	struct front_result result = {.module = ir_module_new(arena, names)};
	struct py_lower l = {
	        .arena = arena,
	        .scratch = &scratch,
	        .module = result.module,
	        .tree = &tree,
	};

	result.module->source = source;
	py_tree_parse(&tree, &scratch, &result, source, known);
	result.has_error = tree.has_error;
	l.finally_nodes = PY_FINALLY_NODES + tree.count;
	py_scopes_collect(&l.scopes, &scratch, &tree, names);
	py_scopes_resolve(&l.scopes);
	l.lowered = arena_array(&scratch, func_id, l.scopes.scopes.count);
	lower_module(&l, source);
	arena_release(&scratch);
	return result;
}

static void python_dump_tree(const struct source *source, struct text *out)
{
	struct arena arena = {0};
	struct py_tree tree = {0};
	struct ir_module module = {.arena = &arena};
	struct front_result result = {.module = &module};

	py_tree_parse(&tree, &arena, &result, source, NULL);
	py_tree_dump(&tree, out);
	arena_release(&arena);
}

static const char *const suffixes[] = {".py", ".pyi", ".pyw", ".ipynb", NULL};

const struct front_end python_front_end = {
        .name = "python",
        .suffixes = suffixes,
        .lower = python_lower,
        .dump_tree = python_dump_tree,
};
