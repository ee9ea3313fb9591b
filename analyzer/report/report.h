#ifndef GRAPHLINT_REPORT_REPORT_H
#define GRAPHLINT_REPORT_REPORT_H

/* Formats that a run's outcome is written in, behind one function each. A
 * format is a function of the outcome and of how it is to be shown: the same
 * input gives the same bytes. */

#include "analyzer/finding/outcome.h"
#include "analyzer/finding/rule.h"

/* Of a shard, for json: what it takes to put it together with the others. */
struct report_shard {
	uint32_t part, parts; /* from 1 */
	const char *record;   /* base64 */
};

struct report {
	const struct outcome *outcome;
	const struct report_shard *shard; /* NULL: it is the whole */
	struct rule_table rules;
	const char *version;
	const char *root;     /* absolute folder that locations are told from */
	const char *help_uri; /* a rule's page is this and "slug.md"; NULL: none */
	/* A rule's page in Markdown, NULL when it has none. */
	const char *(*page)(const struct rule *rule);
	uint64_t memory_bytes; /* for "lasts N steps"; 0: not told */
	unsigned columns;      /* of the terminal; 0: it is none */
	bool color;
	bool quiet;      /* findings and nothing else */
	bool verbose;    /* counts of what was left out and why */
	bool statistics; /* a table of counts instead of findings */
};

struct report_format {
	const char *name;
	void (*write)(const struct report *report, struct text *out);
};

/* NULL: no such format. */
const struct report_format *report_format_find(const char *name);

#define FORMAT(name) void report_##name(const struct report *report, struct text *out);
#include "analyzer/report/formats.def"
#undef FORMAT

#endif
