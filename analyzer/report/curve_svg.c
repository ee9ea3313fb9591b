/* The curve as a drawing: memory stacked by kind, nodes as a dashed line. Colours
 * follow the reader's light or dark scheme. */

#include <math.h>
#include <string.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/curve.h"
#include "analyzer/report/place.h"

enum { WIDTH = 760, HEIGHT = 400, LEFT = 84, RIGHT = 70, TOP = 64, BOTTOM = 76, POINTS = 400 };

static const char style[] =
        "<style>.gl-text{fill:#3b4252}.gl-strong{fill:#1c212b;font-weight:600}"
        ".gl-grid{stroke:#e3e7ed}.gl-paper{fill:#fff}.gl-nodes{stroke:#1c212b;fill:none;"
        "stroke-width:1.6;stroke-dasharray:5 3}.gl-step{fill:transparent}"
        ".gl-step:hover{fill:#1c212b1c}"
        ".gl-0{fill:#a9b4c2}.gl-1{fill:#7cc4ee}.gl-2{fill:#e4572e}.gl-3{fill:#2f6fb3}"
        ".gl-4{fill:#2a9d74}.gl-5{fill:#e9b949}"
        "@media(prefers-color-scheme:dark){.gl-text{fill:#b6c0cf}.gl-strong{fill:#edf1f7}"
        ".gl-grid{stroke:#2c3442}.gl-paper{fill:#161b24}.gl-nodes{stroke:#edf1f7}"
        ".gl-step:hover{fill:#edf1f724}"
        ".gl-0{fill:#6b7686}.gl-1{fill:#4a9fd0}.gl-2{fill:#f0683f}.gl-3{fill:#4a8bd4}"
        ".gl-4{fill:#38b487}.gl-5{fill:#d9a93a}}</style>\n";

struct drawing {
	const struct replay_result *result;
	struct text *out;
	uint32_t stride; /* long series are thinned */
	double most_bytes, most_nodes;
};

enum {
	MOST_TIPS = 100, /* steps that show their figures under the pointer */
	UNTITLED = 50,   /* what a drawing without title does without */
};

static double x_of(const struct drawing *drawing, uint32_t step)
{
	const uint32_t last = drawing->result->count > 1 ? drawing->result->count - 1 : 1;

	return LEFT + (double)(WIDTH - LEFT - RIGHT) * step / last;
}

static double y_of(double value, double most)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most;
}

/* The next sampled step that is drawn; the last one always is. */
static uint32_t next_step(const struct drawing *drawing, uint32_t step)
{
	const uint32_t last = drawing->result->count - 1;

	return step < last && step + drawing->stride > last ? last : step + drawing->stride;
}

/* Of a sample, all kinds up to a place in the stack. */
static double stacked(const struct replay_sample *sample, uint32_t places)
{
	double sum = 0;

	for (uint32_t i = 0; i < places; i++)
		sum += (double)sample->by_kind[curve_order[i]];
	return sum;
}

/* A binary step that gives a few lines. */
static double tick_of(double most, double least)
{
	double tick = exp2(floor(log2(most / 4)));

	return tick < least ? least : tick;
}

static void add_area(struct drawing *drawing, uint32_t place)
{
	const struct replay_result *result = drawing->result;
	struct text back = {.arena = drawing->out->arena};

	text_print(drawing->out, "<path class=\"gl-%u\" d=\"M", curve_order[place]);
	for (uint32_t i = 0; i < result->count; i = next_step(drawing, i))
		text_print(drawing->out, "%.1f %.1f ", x_of(drawing, i),
		           y_of(stacked(&result->samples[i], place + 1), drawing->most_bytes));
	for (uint32_t i = result->count; i-- > 0;) {
		if (i % drawing->stride == 0 || i == result->count - 1)
			text_print(&back, "%.1f %.1f ", x_of(drawing, i),
			           y_of(stacked(&result->samples[i], place), drawing->most_bytes));
	}
	text_print(drawing->out, "%sZ\"/>\n", text_chars(&back));
}

static void add_nodes(struct drawing *drawing)
{
	const struct replay_result *result = drawing->result;

	text_add_chars(drawing->out, "<polyline class=\"gl-nodes\" points=\"");
	for (uint32_t i = 0; i < result->count; i = next_step(drawing, i))
		text_print(drawing->out, "%.1f,%.1f ", x_of(drawing, i),
		           y_of((double)result->samples[i].nodes, drawing->most_nodes));
	text_add_chars(drawing->out, "\"/>\n");
}

static void add_axes(struct drawing *drawing)
{
	const uint32_t count = drawing->result->count;
	const double bytes = tick_of(drawing->most_bytes, 1),
	             nodes = tick_of(drawing->most_nodes, 1);
	const double steps = tick_of(count, 1);
	struct text *out = drawing->out;

	for (double at = 0; at <= drawing->most_bytes; at += bytes) {
		const double y = y_of(at, drawing->most_bytes);

		text_print(out, "<path class=\"gl-grid\" d=\"M%d %.1fH%d\"/>", LEFT, y,
		           WIDTH - RIGHT);
		text_print(out, "<text class=\"gl-text\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
		           LEFT - 8, y + 4);
		amount_bytes(out, at);
		text_add_chars(out, "</text>\n");
	}
	for (double at = 0; at <= drawing->most_nodes; at += nodes)
		text_print(out, "<text class=\"gl-text\" x=\"%d\" y=\"%.1f\">%.0f</text>\n",
		           WIDTH - RIGHT + 8, y_of(at, drawing->most_nodes) + 4, at);
	for (double at = 1; at <= count; at += steps)
		text_print(out,
		           "<text class=\"gl-text\" x=\"%.1f\" y=\"%d\" "
		           "text-anchor=\"middle\">%.0f</text>\n",
		           x_of(drawing, (uint32_t)at - 1), HEIGHT - BOTTOM + 18, at);
	text_print(out,
	           "<text class=\"gl-text\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n",
	           (LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 36);
}

static void add_legend(struct drawing *drawing)
{
	int x = LEFT;

	for (uint32_t i = 0; i < REPLAY_KINDS; i++) {
		const uint32_t kind = curve_order[i];

		if (!curve_has_kind(drawing->result, kind))
			continue;
		text_print(drawing->out,
		           "<rect x=\"%d\" y=\"%d\" width=\"11\" height=\"11\" rx=\"2\" "
		           "class=\"gl-%u\"/>"
		           "<text class=\"gl-text\" x=\"%d\" y=\"%d\">%s</text>\n",
		           x, HEIGHT - 25, kind, x + 16, HEIGHT - 15, replay_memory_name(kind));
		x += 34 + 7 * (int)strlen(replay_memory_name(kind));
	}
	text_print(drawing->out,
	           "<path class=\"gl-nodes\" d=\"M%d %dh22\"/><text class=\"gl-text\" x=\"%d\" "
	           "y=\"%d\">nodes</text>\n",
	           x, HEIGHT - 19, x + 27, HEIGHT - 15);
}

static void add_title(const struct curve *curve, const struct replay_result *result,
                      struct text *out)
{
	struct text place = {.arena = out->arena}, verdict = {.arena = out->arena};

	curve_place(curve->source, result->loop_line, &place);
	curve_bytes_verdict(result, &verdict);
	text_add_chars(&verdict, "; nodes ");
	curve_nodes_verdict(result, &verdict);
	text_add_chars(&verdict, result->exact ? " (exact)" : " (structural)");
	text_print(out, "<text class=\"gl-strong\" x=\"%d\" y=\"24\" font-size=\"15\">", LEFT);
	place_escape_xml(text_chars(&place), out);
	text_print(out, "</text>\n<text class=\"gl-text\" x=\"%d\" y=\"44\">bytes ", LEFT);
	place_escape_xml(text_chars(&verdict), out);
	text_add_chars(out, "</text>\n");
}

/* A strip for each step that says what it holds. */
static void add_tips(struct drawing *drawing)
{
	const struct replay_result *result = drawing->result;
	const double width =
	        (double)(WIDTH - LEFT - RIGHT) / (result->count > 1 ? result->count - 1 : 1);

	for (uint32_t i = 0; result->count <= MOST_TIPS && i < result->count; i++) {
		const struct replay_sample *sample = &result->samples[i];

		text_print(drawing->out,
		           "<rect class=\"gl-step\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
		           "height=\"%d\"><title>step %u: ",
		           x_of(drawing, i) - width / 2, TOP, width, HEIGHT - TOP - BOTTOM, i + 1);
		amount_bytes(drawing->out, (double)sample->live_bytes);
		text_print(drawing->out, ", %u nodes", (unsigned)sample->nodes);
		for (uint32_t k = 0; k < REPLAY_KINDS; k++) {
			if (!sample->by_kind[curve_order[k]])
				continue;
			text_print(drawing->out, "&#10;%s ", replay_memory_name(curve_order[k]));
			amount_bytes(drawing->out, (double)sample->by_kind[curve_order[k]]);
		}
		text_add_chars(drawing->out, "</title></rect>\n");
	}
}

/* Both replays on one scale, so that they can be compared. */
static void note_most(struct drawing *drawing, const struct replay_result *result)
{
	for (uint32_t i = 0; result && i < result->count; i++) {
		const struct replay_sample *sample = &result->samples[i];

		drawing->most_bytes = fmax(drawing->most_bytes, (double)sample->live_bytes);
		drawing->most_nodes = fmax(drawing->most_nodes, (double)sample->nodes);
	}
}

void curve_drawing(const struct curve *curve, const struct replay_result *result, bool titled,
                   struct text *out)
{
	struct drawing drawing = {
	        .result = result,
	        .out = out,
	        .stride = result->count / POINTS + 1,
	        .most_bytes = 1,
	        .most_nodes = 1,
	};

	note_most(&drawing, curve->result);
	note_most(&drawing, curve->after);
	drawing.most_bytes *= 1.05;
	drawing.most_nodes *= 1.05;
	text_print(
	        out,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 %d %d %d\" width=\"%d\" "
	        "height=\"%d\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
	        "role=\"img\">\n%s<rect class=\"gl-paper\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n",
	        titled ? 0 : UNTITLED, WIDTH, titled ? HEIGHT : HEIGHT - UNTITLED, WIDTH,
	        titled ? HEIGHT : HEIGHT - UNTITLED, style, WIDTH, HEIGHT);
	if (titled)
		add_title(curve, result, out);
	add_axes(&drawing);
	for (uint32_t i = 0; result->count > 1 && i < REPLAY_KINDS; i++) {
		if (curve_has_kind(result, curve_order[i]))
			add_area(&drawing, i);
	}
	if (result->count > 1)
		add_nodes(&drawing);
	add_tips(&drawing);
	add_legend(&drawing);
	text_add_chars(out, "</svg>\n");
}

void curve_svg(const struct curve *curve, struct text *out)
{
	curve_drawing(curve, curve->result, true, out);
}
