#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool retain_graph_claims(const struct event *event)
{
	return event->kind == EVENT_RETAIN;
}

void retain_graph_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event,
	            event->flags & EVENT_ACTIVATIONS ? SEVERITY_ERROR : SEVERITY_WARNING, finding);
	story_message(arena, finding, "retain_graph=True keeps a graph that nothing needs again");
}
