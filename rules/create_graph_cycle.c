#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool create_graph_cycle_claims(const struct event *event)
{
	return event->kind == EVENT_CREATE_GRAPH;
}

void create_graph_cycle_tell(struct arena *arena, const struct event *event,
                             struct finding *finding)
{
	const bool is_given = event->holder == HOLDER_TENSOR;

	story_begin(arena, event, SEVERITY_ERROR, finding);
	story_message(arena, finding, "%s keep each other alive",
	              is_given
	                      ? "this gradient has a graph: it and its parameter"
	                      : "backward(create_graph=True) makes parameters and their gradients");
}
