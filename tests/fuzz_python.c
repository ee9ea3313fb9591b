/* Any bytes as Python: lowering ends, and what it gives holds together. */

#include "analyzer/base/bug.h"
#include "analyzer/front/front.h"
#include "analyzer/ir/dump.h"
#include "analyzer/ir/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	struct intern *names = intern_open();
	struct text dump = {.arena = &arena};
	struct source_problem problem;
	const struct source *source =
	        source_from_bytes(&arena, "a.py", (const char *)data, size, &problem);
	struct front_result lowered;
	const char *wrong;

	BUG_IF(!source);
	lowered = python_front_end.lower(&arena, names, source);
	BUG_IF(!lowered.module);
	wrong = ir_verify(&arena, lowered.module);
	if (wrong)
		BUG("%s", wrong);
	ir_dump(lowered.module, &dump);
	cfg_dump(lowered.module, &dump);
	intern_close(names);
	arena_release(&arena);
	return 0;
}
