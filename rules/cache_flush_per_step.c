#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool cache_flush_per_step_claims(const struct event *event)
{
	return event->kind == EVENT_FLUSH;
}

void cache_flush_per_step_tell(struct arena *arena, const struct event *event,
                               struct finding *finding)
{
	story_begin(arena, event, SEVERITY_INFO, finding);
	story_message(arena, finding,
	              "memory is flushed every step: it cannot free what is still referenced, and "
	              "costs time");
}
