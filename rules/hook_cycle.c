#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool hook_cycle_claims(const struct event *event)
{
	return event->kind == EVENT_HOOK_CYCLE;
}

void hook_cycle_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event, SEVERITY_WARNING, finding);
	story_message(arena, finding,
	              "the hook captures the tensor that it is registered on: neither is ever "
	              "freed by reference counts");
}
