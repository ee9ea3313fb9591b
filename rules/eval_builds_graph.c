#include "analyzer/finding/story.h"
#include "rules/rules.h"

bool eval_builds_graph_claims(const struct event *event)
{
	return event->kind == EVENT_EVAL;
}

void eval_builds_graph_tell(struct arena *arena, const struct event *event, struct finding *finding)
{
	const bool evaluates = event->flags & EVENT_EVALUATES;

	story_begin(arena, event, evaluates ? SEVERITY_WARNING : SEVERITY_INFO, finding);
	story_message(arena, finding,
	              "this loop runs the model with gradients enabled and never calls backward");
}
