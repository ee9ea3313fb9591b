#include "analyzer/torch/api_tables.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b)  PASTE_(a, b)
/* A row is known by its file's tag and its line there: one row a line. */
#define AT(tag)       PASTE(tag, __LINE__)
#define FIELD(tag, s) char AT(tag)[sizeof(s)];
#define SET(tag, s)   .AT(tag) = s,
#define OFFSET(tag)   (uint32_t) offsetof(struct names, AT(tag))

struct names {
	char empty[1];
#define API(name, effect, result, count, flags) FIELD(torch_, name)
#include "analyzer/torch/api.def"
#undef API
#define API(name, effect, result, count, flags) FIELD(python_, name)
#include "analyzer/torch/python.def"
#undef API
#define API(name, effect, result, count, flags) FIELD(framework_, name)
#include "analyzer/torch/frameworks.def"
#undef API
#define API(name, effect, result, count, flags) FIELD(measured_, name)
#include "analyzer/torch/api_measured.def"
#undef API
#define CLASS(name, base, makes) FIELD(class_, name) FIELD(base_, base)
#include "analyzer/torch/classes.def"
#undef CLASS
#define CLASS(name, base, makes) FIELD(measured_class_, name) FIELD(measured_base_, base)
#include "analyzer/torch/classes_measured.def"
#undef CLASS
#define ALIAS(from, to) FIELD(alias_, from) FIELD(canonical_, to)
#include "analyzer/torch/aliases.def"
#undef ALIAS
#define ALIAS(from, to) FIELD(measured_alias_, from) FIELD(measured_canonical_, to)
#include "analyzer/torch/aliases_measured.def"
#undef ALIAS
#define RESULT(function, class) FIELD(function_, function) FIELD(made_, class)
#include "analyzer/torch/results.def"
#undef RESULT
#define RESULT(function, class) FIELD(measured_function_, function) FIELD(measured_made_, class)
#include "analyzer/torch/results_measured.def"
#undef RESULT
#define HOOK(class, method, mode, need, model) FIELD(hooked_, class) FIELD(method_, method)
#include "analyzer/torch/hooks.def"
#undef HOOK
};

static const struct names names = {
        .empty = "",
#define API(name, effect, result, count, flags) SET(torch_, name)
#include "analyzer/torch/api.def"
#undef API
#define API(name, effect, result, count, flags) SET(python_, name)
#include "analyzer/torch/python.def"
#undef API
#define API(name, effect, result, count, flags) SET(framework_, name)
#include "analyzer/torch/frameworks.def"
#undef API
#define API(name, effect, result, count, flags) SET(measured_, name)
#include "analyzer/torch/api_measured.def"
#undef API
#define CLASS(name, base, makes) SET(class_, name) SET(base_, base)
#include "analyzer/torch/classes.def"
#undef CLASS
#define CLASS(name, base, makes) SET(measured_class_, name) SET(measured_base_, base)
#include "analyzer/torch/classes_measured.def"
#undef CLASS
#define ALIAS(from, to) SET(alias_, from) SET(canonical_, to)
#include "analyzer/torch/aliases.def"
#undef ALIAS
#define ALIAS(from, to) SET(measured_alias_, from) SET(measured_canonical_, to)
#include "analyzer/torch/aliases_measured.def"
#undef ALIAS
#define RESULT(function, class) SET(function_, function) SET(made_, class)
#include "analyzer/torch/results.def"
#undef RESULT
#define RESULT(function, class) SET(measured_function_, function) SET(measured_made_, class)
#include "analyzer/torch/results_measured.def"
#undef RESULT
#define HOOK(class, method, mode, need, model) SET(hooked_, class) SET(method_, method)
#include "analyzer/torch/hooks.def"
#undef HOOK
};

#define ROW(tag, effect, result, count, measured, flags)                                           \
	{OFFSET(tag), API_##effect, KIND_##result, count, measured, flags},

static const struct api_entry torch_rows[] = {
#define API(name, effect, result, count, flags) ROW(torch_, effect, result, count, 0, flags)
#include "analyzer/torch/api.def"
#undef API
};

static const struct api_entry python_rows[] = {
#define API(name, effect, result, count, flags) ROW(python_, effect, result, count, 0, flags)
#include "analyzer/torch/python.def"
#undef API
};

static const struct api_entry framework_rows[] = {
#define API(name, effect, result, count, flags) ROW(framework_, effect, result, count, 0, flags)
#include "analyzer/torch/frameworks.def"
#undef API
};

static const struct api_entry measured_rows[] = {
#define API(name, effect, result, count, flags) ROW(measured_, effect, result, count, 1, flags)
#include "analyzer/torch/api_measured.def"
#undef API
};

/* All of it: a name is its offset in the whole. */
const char *const api_name_block = (const char *)&names;

static const struct api_class class_rows[] = {
#define CLASS(name, base, makes) {OFFSET(class_), OFFSET(base_), KIND_##makes},
#include "analyzer/torch/classes.def"
#undef CLASS
};

static const struct api_class measured_class_rows[] = {
#define CLASS(name, base, makes) {OFFSET(measured_class_), OFFSET(measured_base_), KIND_##makes},
#include "analyzer/torch/classes_measured.def"
#undef CLASS
};

static const struct api_pair alias_rows[] = {
#define ALIAS(from, to) {OFFSET(alias_), OFFSET(canonical_)},
#include "analyzer/torch/aliases.def"
#undef ALIAS
};

static const struct api_pair measured_alias_rows[] = {
#define ALIAS(from, to) {OFFSET(measured_alias_), OFFSET(measured_canonical_)},
#include "analyzer/torch/aliases_measured.def"
#undef ALIAS
};

static const struct api_pair result_rows[] = {
#define RESULT(function, class) {OFFSET(function_), OFFSET(made_)},
#include "analyzer/torch/results.def"
#undef RESULT
};

static const struct api_pair measured_result_rows[] = {
#define RESULT(function, class) {OFFSET(measured_function_), OFFSET(measured_made_)},
#include "analyzer/torch/results_measured.def"
#undef RESULT
};

static const struct api_hook_mode hook_rows[] = {
#define HOOK(class, method, mode, need, model)                                                     \
	{OFFSET(hooked_), OFFSET(method_), API_MODE_##mode, API_NEED_##need, model},
#include "analyzer/torch/hooks.def"
#undef HOOK
};

#define TABLE(rows)                                                                                \
	{                                                                                          \
		rows, sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0])                          \
	}

const struct api_table api_tables[API_TABLE_COUNT] = {
        TABLE(torch_rows),
        TABLE(python_rows),
        TABLE(framework_rows),
        TABLE(measured_rows),
};
const struct api_table api_class_tables[2] = {TABLE(class_rows), TABLE(measured_class_rows)};
const struct api_table api_alias_tables[2] = {TABLE(alias_rows), TABLE(measured_alias_rows)};
const struct api_table api_result_tables[2] = {TABLE(result_rows), TABLE(measured_result_rows)};
const struct api_table api_hook_table = TABLE(hook_rows);
