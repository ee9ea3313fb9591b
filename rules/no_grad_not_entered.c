#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool no_grad_not_entered_claims(const struct event *event)
{
	return event->kind == EVENT_MODE_UNUSED;
}

void no_grad_not_entered_tell(struct arena *arena, const struct event *event,
                              struct finding *finding)
{
	story_begin(arena, event, SEVERITY_ERROR, finding);
	story_message(arena, finding,
	              "this grad mode is made and never entered: it changes nothing");
}
