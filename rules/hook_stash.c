#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool hook_stash_claims(const struct event *event)
{
	return event->kind == EVENT_STORE && (event->flags & EVENT_IN_HOOK);
}

void hook_stash_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding, "a hook keeps what it is given, graph included, in %s",
	              story_holder(arena, event));
}
