/* The curve as a drawing: memory stacked by kind, nodes as a dashed line. */

#include <math.h>

#include "analyzer/report/amount.h"
#include "analyzer/report/curve.h"
#include "analyzer/report/place.h"

enum { WIDTH = 760, HEIGHT = 400, LEFT = 84, RIGHT = 70, TOP = 64, BOTTOM = 76, POINTS = 400 };

static const char *const colors[REPLAY_KINDS] = {
        "#9aa5b1", "#56b4e9", "#d55e00", "#0072b2", "#009e73", "#e6b400",
};

struct drawing {
	const struct replay_result *result;
	struct text *out;
	uint32_t stride; /* long series are thinned */
	double most_bytes, most_nodes;
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

	text_print(drawing->out, "<path fill=\"%s\" d=\"M", colors[curve_order[place]]);
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

	text_add_chars(drawing->out, "<polyline fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\" "
	                             "stroke-dasharray=\"5 3\" points=\"");
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

		text_print(out, "<path stroke=\"#ddd\" d=\"M%d %.1fH%d\"/>", LEFT, y,
		           WIDTH - RIGHT);
		text_print(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 8, y + 4);
		amount_bytes(out, at);
		text_add_chars(out, "</text>\n");
	}
	for (double at = 0; at <= drawing->most_nodes; at += nodes)
		text_print(out, "<text x=\"%d\" y=\"%.1f\">%.0f</text>\n", WIDTH - RIGHT + 8,
		           y_of(at, drawing->most_nodes) + 4, at);
	for (double at = 1; at <= count; at += steps)
		text_print(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
		           x_of(drawing, (uint32_t)at - 1), HEIGHT - BOTTOM + 18, at);
	text_print(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">step</text>\n",
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
		           "<rect x=\"%d\" y=\"%d\" width=\"11\" height=\"11\" fill=\"%s\"/>"
		           "<text x=\"%d\" y=\"%d\">%s</text>\n",
		           x, HEIGHT - 25, colors[kind], x + 16, HEIGHT - 15,
		           replay_memory_name(kind));
		x += 92;
	}
	text_print(drawing->out,
	           "<path stroke=\"#222\" stroke-width=\"1.5\" stroke-dasharray=\"5 3\" "
	           "d=\"M%d %dh22\"/><text x=\"%d\" y=\"%d\">nodes</text>\n",
	           x, HEIGHT - 19, x + 27, HEIGHT - 15);
}

static void add_title(const struct curve *curve, struct text *out)
{
	struct text place = {.arena = out->arena}, verdict = {.arena = out->arena};

	curve_place(curve->source, curve->result->loop_line, &place);
	curve_bytes_verdict(curve->result, &verdict);
	text_add_chars(&verdict, "; nodes ");
	curve_nodes_verdict(curve->result, &verdict);
	text_add_chars(&verdict, curve->result->exact ? " (exact)" : " (structural)");
	text_print(out, "<text x=\"%d\" y=\"24\" font-size=\"15\" font-weight=\"bold\">", LEFT);
	place_escape_xml(text_chars(&place), out);
	text_print(out, "</text>\n<text x=\"%d\" y=\"44\">bytes ", LEFT);
	place_escape_xml(text_chars(&verdict), out);
	text_add_chars(out, "</text>\n");
}

static struct drawing open_drawing(const struct curve *curve, struct text *out)
{
	struct drawing drawing = {
	        .result = curve->result,
	        .out = out,
	        .stride = curve->result->count / POINTS + 1,
	        .most_bytes = 1,
	        .most_nodes = 1,
	};

	for (uint32_t i = 0; i < curve->result->count; i++) {
		const struct replay_sample *sample = &curve->result->samples[i];

		drawing.most_bytes = fmax(drawing.most_bytes, (double)sample->live_bytes);
		drawing.most_nodes = fmax(drawing.most_nodes, (double)sample->nodes);
	}
	drawing.most_bytes *= 1.05;
	drawing.most_nodes *= 1.05;
	return drawing;
}

void curve_svg(const struct curve *curve, struct text *out)
{
	struct drawing drawing = open_drawing(curve, out);

	text_print(out,
	           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
	           "height=\"%d\" font-family=\"system-ui, sans-serif\" font-size=\"12\" "
	           "fill=\"#222\">\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
	           WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
	add_title(curve, out);
	add_axes(&drawing);
	for (uint32_t i = 0; curve->result->count > 1 && i < REPLAY_KINDS; i++) {
		if (curve_has_kind(curve->result, curve_order[i]))
			add_area(&drawing, i);
	}
	if (curve->result->count > 1)
		add_nodes(&drawing);
	add_legend(&drawing);
	text_add_chars(out, "</svg>\n");
}
