#include "analyzer/base/bug.h"
#include "analyzer/torch/api.h"

static const char *const effect_names[API_EFFECT_COUNT] = {
        [API_NONE] = "none",
        [API_PASSES] = "passes",
        [API_VIEWS] = "views",
        [API_ALIASES] = "aliases",
        [API_CUTS] = "cuts",
        [API_CUTS_VIEW] = "cuts view",
        [API_MAKES] = "makes",
        [API_NUMBER] = "number",
        [API_COPIES] = "copies",
        [API_IN_PLACE] = "in place",
        [API_CUTS_IN_PLACE] = "cuts in place",
        [API_REQUIRES_GRAD] = "requires grad",
        [API_BACKWARD] = "backward",
        [API_GRAD] = "grad",
        [API_MODE] = "mode",
        [API_CONTEXT] = "context",
        [API_SAVES_FOR_BACKWARD] = "saves for backward",
        [API_MODULE] = "module",
        [API_PARAMETER] = "parameter",
        [API_OPTIMIZER] = "optimizer",
        [API_LOADER] = "loader",
        [API_DISTRIBUTION] = "distribution",
        [API_OBJECT] = "object",
        [API_STEP] = "step",
        [API_ZERO_GRAD] = "zero grad",
        [API_PARAMETERS] = "parameters",
        [API_CALLS] = "calls",
        [API_WRAPS] = "wraps",
        [API_CACHES] = "caches",
        [API_HOOK] = "hook",
        [API_FLUSH] = "flush",
        [API_SYNC] = "sync",
        [API_CONTAINER] = "container",
        [API_ITERATES] = "iterates",
        [API_STORES] = "stores",
        [API_REMOVES] = "removes",
        [API_GETS] = "gets",
        [API_REPLACES] = "replaces",
        [API_FIELD] = "field",
};

static const char *const kind_names[KIND_COUNT] = {
        [KIND_UNKNOWN] = "unknown",
        [KIND_NOTHING] = "nothing",
        [KIND_TENSOR] = "tensor",
        [KIND_TENSORS] = "tensors",
        [KIND_TENSOR_LIST] = "tensor list",
        [KIND_NUMBER] = "number",
        [KIND_BOOL] = "bool",
        [KIND_STR] = "str",
        [KIND_SHAPE] = "shape",
        [KIND_NUMBERS] = "numbers",
        [KIND_ARRAY] = "array",
        [KIND_SAME] = "same",
        [KIND_ELEMENT] = "element",
        [KIND_ELEMENTS] = "elements",
        [KIND_NUMBERED] = "numbered",
        [KIND_ZIPPED] = "zipped",
        [KIND_ITEMS] = "items",
        [KIND_KEYS] = "keys",
        [KIND_LIST] = "list",
        [KIND_TUPLE] = "tuple",
        [KIND_DICT] = "dict",
        [KIND_SET] = "set",
        [KIND_DEQUE] = "deque",
        [KIND_MODULE] = "module",
        [KIND_MODULES] = "modules",
        [KIND_PARAMETER] = "parameter",
        [KIND_PARAMETER_ITER] = "parameters",
        [KIND_BUFFER_ITER] = "buffers",
        [KIND_STATE] = "state",
        [KIND_OPTIMIZER] = "optimizer",
        [KIND_DISTRIBUTION] = "distribution",
        [KIND_LOADER] = "loader",
        [KIND_FUNCTION] = "function",
        [KIND_RESULT] = "result",
        [KIND_HANDLE] = "handle",
        [KIND_OBJECT] = "object",
        [KIND_CONTEXT] = "context",
        [KIND_GROUPS] = "groups",
        [KIND_CONSTANT] = "constant",
};

const char *api_effect_name(enum api_effect effect)
{
	BUG_IF((unsigned)effect >= API_EFFECT_COUNT);
	return effect_names[effect];
}

const char *api_kind_name(enum api_kind kind)
{
	BUG_IF((unsigned)kind >= KIND_COUNT);
	return kind_names[kind];
}
