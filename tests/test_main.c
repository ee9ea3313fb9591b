/* Runs the suites of suites.def, or those that are named on the command line,
 * and ends with the totals. CK_FORK=no keeps one process (for a debugger). No test is timed:
 * the limit is for one that hangs, on a machine as slow as they come. */

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suites.h"

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define SUITE(name) {#name, name##_suite},
#include "tests/suites.def"
#undef SUITE
};

enum { SUITE_COUNT = sizeof(suites) / sizeof(suites[0]) };

static bool is_suite(const char *name)
{
	for (size_t i = 0; i < SUITE_COUNT; i++)
		if (!strcmp(suites[i].name, name))
			return true;
	return false;
}

static bool is_wanted(const char *name, int count, char **wanted)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(wanted[i], name))
			return true;
	return count == 0;
}

int main(int argc, char **argv)
{
	SRunner *runner = NULL;
	int failed;

	setenv("CK_DEFAULT_TIMEOUT", "120", 0);
	for (int i = 1; i < argc; i++) {
		if (!is_suite(argv[i])) {
			fprintf(stderr, "no suite is named %s\n", argv[i]);
			return EXIT_FAILURE;
		}
	}
	for (size_t i = 0; i < SUITE_COUNT; i++) {
		if (!is_wanted(suites[i].name, argc - 1, argv + 1))
			continue;
		if (runner)
			srunner_add_suite(runner, suites[i].make());
		else
			runner = srunner_create(suites[i].make());
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	printf("%d passed, %d failed\n", srunner_ntests_run(runner) - failed, failed);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
