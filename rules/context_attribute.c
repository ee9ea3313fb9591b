#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool context_attribute_claims(const struct event *event)
{
	return event->kind == EVENT_CONTEXT_STORE;
}

void context_attribute_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event, SEVERITY_WARNING, finding);
	story_message(arena, finding,
	              "a tensor is kept on the autograd context: use save_for_backward");
}
