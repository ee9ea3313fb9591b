#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool cached_graph_claims(const struct event *event)
{
	return (event->kind == EVENT_STORE || event->kind == EVENT_LAST) &&
	       (event->flags & (EVENT_IN_CACHE | EVENT_DEFAULT_ARG));
}

void cached_graph_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding, "%s keeps the autograd graph of every call",
	              story_holder(arena, event));
}
