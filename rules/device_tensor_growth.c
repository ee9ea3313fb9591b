#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool device_tensor_growth_claims(const struct event *event)
{
	return event->kind == EVENT_DATA_STORE;
}

void device_tensor_growth_tell(struct arena *arena, const struct event *event,
                               struct finding *finding)
{
	story_begin(arena, event,
	            event->flags & EVENT_ACCELERATOR ? SEVERITY_WARNING : SEVERITY_INFO, finding);
	story_steps(arena, event, finding);
	story_message(arena, finding, "%s gathers tensors on the device, one every step",
	              story_holder(arena, event));
}
