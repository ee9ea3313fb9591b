#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool graph_in_dict_claims(const struct event *event)
{
	return event->kind == EVENT_STORE &&
	       (event->holder == HOLDER_DICT || (event->flags & EVENT_KEYED));
}

void graph_in_dict_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_graph(arena, event, finding);
	story_message(arena, finding, "%s keeps the autograd graph of every step under its keys",
	              story_holder(arena, event));
}
