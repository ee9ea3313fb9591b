#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool grad_mode_left_changed_claims(const struct event *event)
{
	return event->kind == EVENT_MODE_LEFT;
}

void grad_mode_left_changed_tell(struct arena *arena, const struct event *event,
                                 struct finding *finding)
{
	story_begin(arena, event, SEVERITY_ERROR, finding);
	story_message(arena, finding,
	              "the grad mode is changed here and not put back when the function returns");
}
