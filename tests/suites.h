#ifndef GRAPHLINT_TESTS_SUITES_H
#define GRAPHLINT_TESTS_SUITES_H

/* A prototype for each suite. The build includes this in front of every test,
 * so that a test need not declare what only test_main.c calls. */

#include <check.h>

#define SUITE(name) Suite *name##_suite(void);
#include "tests/suites.def"
#undef SUITE

#endif
