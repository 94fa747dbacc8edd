/* A result directory to be made in a folder of the test. */
#ifndef TESTS_COLLECTOR_RESULT_FIXTURE_H
#define TESTS_COLLECTOR_RESULT_FIXTURE_H

#include "collector/result/result.h"
#include <stdbool.h>

extern const char *directory; /* the folder, the working directory */
extern struct result result;
extern struct failure failure;

/* For tcase_add_checked_fixture. */
void result_fixture_setup(void);
void result_fixture_teardown(void);

void result_fixture_touch(const char *path);
bool result_fixture_exists(const char *path);

/* result_create with the wanted name (NULL: the next free one) makes the directory at path, for the
 * file; or fails, and says so. */
void result_fixture_assert_created(const char *wanted, const char *path, const char *file);
void result_fixture_assert_refused(const char *wanted, const char *said);

#endif
