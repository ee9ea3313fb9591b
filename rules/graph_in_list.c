#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool graph_in_list_claims(const struct event *event)
{
	return event->kind == EVENT_STORE && event->holder >= HOLDER_LIST &&
	       event->holder <= HOLDER_DEQUE;
}

void graph_in_list_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding, "%s keeps the autograd graph of every step",
	              story_holder(arena, event));
}
