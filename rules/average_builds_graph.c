#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool average_builds_graph_claims(const struct event *event)
{
	return event->kind == EVENT_CHAIN && (event->flags & EVENT_WEIGHTS);
}

void average_builds_graph_tell(struct arena *arena, const struct event *event,
                               struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding,
	              "an average of weights is updated with gradients enabled: each update adds "
	              "to one graph");
}
