#ifndef GRAPHLINT_REPORT_STYLE_H
#define GRAPHLINT_REPORT_STYLE_H

/* Colours of a terminal; without colour nothing is written. Text of the user's
 * is made harmless: no control character reaches the terminal. */

#include <stdbool.h>

#include "analyzer/base/text.h"
#include "analyzer/finding/finding.h"

enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_FRAME,  /* gutters, arrows, "=" */
	STYLE_SECOND, /* steps on the way */
	STYLE_ERROR,
	STYLE_WARNING,
	STYLE_INFO,
	STYLE_GOOD,
};

void style_on(struct text *out, bool color, enum style style);
void style_off(struct text *out, bool color, enum style style);
/* `chars` in a style. */
void style_text(struct text *out, bool color, enum style style, const char *chars);
enum style style_of_severity(enum severity severity);

/* A character as it may be shown: control characters become their pictures,
 * what changes the direction of writing is spelled out. Returns its columns. */
unsigned show_character(struct text *out, uint32_t code_point);
/* A message or path: one line, harmless. */
void show_text(struct text *out, const char *chars);

#endif
