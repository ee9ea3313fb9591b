#ifndef GRAPHLINT_FINDING_STORY_H
#define GRAPHLINT_FINDING_STORY_H

/* What all rules tell alike: where, how severe, and the steps of the story.
 * A rule adds its sentence. */

#include "analyzer/base/bug.h"
#include "analyzer/facts/facts.h"
#include "analyzer/finding/finding.h"

/* Place, function, confidence and severity: `severity` if every link is known,
 * at most a warning otherwise. */
void story_begin(struct arena *arena, const struct event *event, enum severity severity,
                 struct finding *finding);
/* born, made and kept, as far as the event knows them. */
void story_steps(struct arena *arena, const struct event *event, struct finding *finding);
void story_message(struct arena *arena, struct finding *finding, const char *format, ...)
        GL_PRINTF(3, 4);
/* Activations kept: an error; nodes only: a warning. Adds the sentence that says so. */
void story_graph(struct arena *arena, const struct event *event, struct finding *finding);

/* "`history`", or "a list". */
const char *story_holder(struct arena *arena, const struct event *event);

#endif
