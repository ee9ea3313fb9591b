#ifndef GRAPHLINT_BASE_LIMITS_H
#define GRAPHLINT_BASE_LIMITS_H

/* Every cap in one place. Hitting one marks the result as incomplete and is
 * shown by --verbose; none depends on the machine, the clock or --jobs. */

enum {
	/* process */
	LIMIT_JOBS = 256,
	LIMIT_STACK_BYTES = 8 << 20,

	/* source */
	LIMIT_SOURCE_BYTES = 256 << 20, /* a file that is larger is skipped */
	LIMIT_DIRECTORY_DEPTH = 256,
	LIMIT_IGNORE_FILE_BYTES = 4 << 20,
	LIMIT_NOTEBOOK_DEPTH = 64, /* JSON nesting */
};

#endif
