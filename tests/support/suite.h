/* What the main function of every test with check ends with. */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>

/* Runs the suite, which is gone then, as verbosely as CK_VERBOSITY says. The exit status: 0 if
 * nothing failed, else 1. */
int run_suite(Suite *suite);

#endif
