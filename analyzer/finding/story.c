#include "analyzer/finding/story.h"

#include "analyzer/base/text.h"

/* What comes by it out of another file; a hook runs where its model or its tensor is used. */
static void add_driver(struct arena *arena, const struct event *event, struct finding *finding)
{
	const struct finding_driver driver = {event->program, event->loop.source, event->loop.span};
	const bool elsewhere = driver.program != event->at.source || event->flags & EVENT_IN_HOOK;

	if (driver.source && driver.program && elsewhere)
		finding_add_driver(arena, finding, driver);
}

static void add_step(struct arena *arena, struct finding *finding, enum step_role role,
                     struct event_place place, const char *message)
{
	if (place.source)
		vec_push(arena, &finding->steps,
		         (struct finding_step){role, place.source, place.span, message});
}

static const char *format_text(struct arena *arena, const char *format, ...) GL_PRINTF(2, 3);

static const char *format_text(struct arena *arena, const char *format, ...)
{
	struct text text = {.arena = arena};
	va_list arguments;

	va_start(arguments, format);
	text_vprint(&text, format, arguments);
	va_end(arguments);
	return text_chars(&text);
}

void story_begin(struct arena *arena, const struct event *event, enum severity severity,
                 struct finding *finding)
{
	const bool known = event->certainty == CERTAINTY_KNOWN;

	finding->source = event->at.source;
	finding->span = event->at.span;
	finding->value_source = event->value.source;
	finding->value_span = event->value.span;
	finding->happens_source = event->happens.source;
	finding->happens_span = event->happens.span;
	finding->function = event->function;
	finding->confidence = known ? CONFIDENCE_CERTAIN : CONFIDENCE_LIKELY;
	finding->severity = !known && severity > SEVERITY_WARNING ? SEVERITY_WARNING : severity;
	add_driver(arena, event, finding);
}

static const char *born_message(struct arena *arena, const struct event *event)
{
	return event->born_text ? format_text(arena, "graph is born here (%s)", event->born_text)
	                        : "graph is born here";
}

static bool same_place(struct event_place a, struct event_place b)
{
	return a.source == b.source && a.span.start == b.span.start && a.span.end == b.span.end;
}

void story_steps(struct arena *arena, const struct event *event, struct finding *finding)
{
	if (!same_place(event->born, event->at))
		add_step(arena, finding, STEP_BORN, event->born, born_message(arena, event));
	if (!same_place(event->made, event->at))
		add_step(arena, finding, STEP_MADE, event->made,
		         format_text(arena, "%s is made here, before the loop",
		                     story_holder(arena, event)));
	add_step(arena, finding, STEP_KEPT, event->at,
	         format_text(arena, "kept here, by %s", story_holder(arena, event)));
	add_step(arena, finding, STEP_NEEDED, event->needed, "here");
}

void story_message(struct arena *arena, struct finding *finding, const char *format, ...)
{
	struct text text = {.arena = arena};
	va_list arguments;

	va_start(arguments, format);
	text_vprint(&text, format, arguments);
	va_end(arguments);
	finding->message = text_chars(&text);
}

void story_graph(struct arena *arena, const struct event *event, struct finding *finding)
{
	const bool activations = event->flags & EVENT_ACTIVATIONS;

	story_begin(arena, event, activations ? SEVERITY_ERROR : SEVERITY_WARNING, finding);
	finding->note =
	        activations ? "no backward has freed these graphs: every step's activations "
	                      "stay in memory"
	                    : "no activations stay (freed by backward, or none were saved), but "
	                      "nodes and scalars do: about a kilobyte a step";
	story_steps(arena, event, finding);
}

const char *story_holder(struct arena *arena, const struct event *event)
{
	static const char *const kinds[] = {
	        "something", "a list", "a tuple",  "a set",
	        "a deque",   "a dict", "a tensor", "an object",
	};

	if (event->holder_name)
		return format_text(arena, "`%s`", event->holder_name);
	return kinds[event->holder];
}
