#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool view_pins_storage_claims(const struct event *event)
{
	return event->kind == EVENT_VIEW_STORE;
}

void view_pins_storage_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event, SEVERITY_WARNING, finding);
	story_steps(arena, event, finding);
	story_message(arena, finding, "%s keeps views: each pins the whole storage it was cut from",
	              story_holder(arena, event));
}
