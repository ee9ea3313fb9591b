#include "analyzer/ir/ir.h"

#include "analyzer/base/bug.h"

const struct op_info op_info[OP_COUNT] = {
#define OP(name, least, most, flags) [OP_##name] = {#name, least, most, flags},
#include "analyzer/ir/ops.def"
#undef OP
};

static const char *const sub_texts[SUB_COUNT] = {
        [SUB_NONE] = "",
#define SUB(group, name, text) [SUB_##group##_##name] = text,
#include "analyzer/ir/subs.def"
#undef SUB
};

const char *ir_sub_text(enum ir_sub sub)
{
	BUG_IF(sub >= SUB_COUNT);
	return sub_texts[sub];
}
