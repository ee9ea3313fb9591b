#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool graph_in_attribute_claims(const struct event *event)
{
	return event->kind == EVENT_STORE;
}

void graph_in_attribute_tell(struct arena *arena, const struct event *event,
                             struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding, "%s keeps the autograd graph of every step in its attributes",
	              story_holder(arena, event));
}
