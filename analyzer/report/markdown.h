#ifndef GRAPHLINT_REPORT_MARKDOWN_H
#define GRAPHLINT_REPORT_MARKDOWN_H

/* Our own pages on a terminal: headings, code and emphasis in colour; without
 * colour the Markdown as it is, which reads well. */

#include "analyzer/report/style.h"

void markdown_show(const char *markdown, bool color, struct text *out);

#endif
