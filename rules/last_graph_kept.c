#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool last_graph_kept_claims(const struct event *event)
{
	return event->kind == EVENT_LAST;
}

void last_graph_kept_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event, SEVERITY_WARNING, finding);
	story_steps(arena, event, finding);
	story_message(arena, finding, "%s holds the last graph while the next step builds another",
	              story_holder(arena, event));
}
