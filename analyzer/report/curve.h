#ifndef GRAPHLINT_REPORT_CURVE_H
#define GRAPHLINT_REPORT_CURVE_H

/* What one replay measured, for people and programs: a table, JSON, the curve
 * alone, or a page. All are functions of the result and of how it is shown;
 * everything is borrowed. */

#include "analyzer/base/text.h"
#include "analyzer/finding/finding.h"
#include "analyzer/replay/replay.h"
#include "analyzer/source/source.h"

/* Iterations without which there is no verdict. */
enum { CURVE_LEAST_STEPS = 4 };

struct curve {
	const struct replay_result *result;
	const struct source *source;  /* with the loop */
	const struct source *program; /* that was run */
	const char *version;
	uint64_t memory_bytes; /* for "lasts N steps"; 0: not told */
	const char *claim;     /* of --assert; NULL: none */
	/* What was found in the program, with its fixes, and the replay with them. */
	struct finding *const *findings;
	uint32_t finding_count;
	const struct replay_result *after; /* NULL: nothing to fix, or no edit */
	bool told;                         /* it could be told whether the claim holds */
	bool holds;
	bool prints; /* what the program printed belongs to it */
	bool color;
};

struct curve_format {
	const char *name;
	void (*write)(const struct curve *curve, struct text *out);
};

/* NULL: no such format. */
const struct curve_format *curve_format_find(const char *name);

void curve_text(const struct curve *curve, struct text *out);
void curve_json(const struct curve *curve, struct text *out);
void curve_svg(const struct curve *curve, struct text *out);
void curve_html(const struct curve *curve, struct text *out);

/* Shared by the formats. */

/* One of the curve's replays as an SVG element, on the scale of both. */
void curve_drawing(const struct curve *curve, const struct replay_result *result, bool titled,
                   struct text *out);
/* How many links of the chain say something; those after them repeat the last
 * `period` ones. */
uint32_t curve_chain_length(const struct replay_result *result, uint32_t *period);

/* Kinds of memory as they are stacked: what stays at the bottom. */
extern const uint8_t curve_order[REPLAY_KINDS];
bool curve_has_kind(const struct replay_result *result, uint32_t kind);
/* There was no loop: the function around a line was called again and again. */
bool curve_is_of_calls(const struct replay_result *result);
/* A line of the source without the blanks around it, in the text's arena. */
const char *curve_line(const struct source *source, uint32_t line, struct arena *arena);
/* "train.py:8", "nb.ipynb:cell 3:5" */
void curve_place(const struct source *source, uint32_t line, struct text *out);
/* The place and the line that was replayed. */
void curve_heading(const struct source *source, uint32_t line, bool color, struct text *out);
/* ", run by train.py", unless the loop is there. */
void curve_run_by(const struct source *source, const struct source *program, struct text *out);
/* "linear, +44.0 KiB per step" */
void curve_bytes_verdict(const struct replay_result *result, struct text *out);
void curve_nodes_verdict(const struct replay_result *result, struct text *out);
bool curve_grows(const struct replay_verdict *verdict);
/* Nothing but stand-ins: not one tensor was seen, so the verdict says nothing. */
bool curve_is_blind(const struct replay_result *result);
/* Bytes or nodes grow, and what holds them was found. */
bool curve_has_chain(const struct replay_result *result);
/* Why there are not more samples; NULL: the loop ran as far as it was asked to. */
const char *curve_stop(const struct replay_result *result);

#endif
