#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool sync_per_step_claims(const struct event *event)
{
	return event->kind == EVENT_SYNC;
}

void sync_per_step_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event, SEVERITY_INFO, finding);
	story_message(arena, finding, "this waits for the device every step");
}
