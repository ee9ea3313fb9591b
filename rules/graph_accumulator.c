#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool graph_accumulator_claims(const struct event *event)
{
	return event->kind == EVENT_CHAIN && (event->flags & EVENT_ACCUMULATES);
}

void graph_accumulator_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding, "a sum grows one autograd graph over all steps");
}
