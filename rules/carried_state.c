#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool carried_state_claims(const struct event *event)
{
	return event->kind == EVENT_CHAIN;
}

void carried_state_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding,
	              "state is carried from step to step with its graph: each step's graph "
	              "contains all earlier ones");
}
