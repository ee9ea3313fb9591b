#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool data_attribute_claims(const struct event *event)
{
	return event->kind == EVENT_DATA_READ;
}

void data_attribute_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	story_begin(arena, event, SEVERITY_INFO, finding);
	story_message(arena, finding,
	              "`.data` drops the graph unchecked; `.detach()` is watched by autograd");
}
