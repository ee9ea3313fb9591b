#ifndef GRAPHLINT_APP_USAGE_H
#define GRAPHLINT_APP_USAGE_H

/* Texts made from the tables of options and commands: help, the manual page,
 * completions and the configuration file's JSON schema. */

#include "analyzer/app/options.h"

void usage_help(enum command_id command, struct text *out);
void usage_manual(struct text *out);
/* False: no such shell. */
GL_MUST_USE bool usage_completion(const char *shell, struct text *out);
void usage_schema(struct text *out);

#endif
