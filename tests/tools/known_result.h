/*
 * A result of five stacks, one in each state that exports tell apart, and what becomes of it.
 */
#ifndef TESTS_TOOLS_KNOWN_RESULT_H
#define TESTS_TOOLS_KNOWN_RESULT_H

#include "profile/read/reader.h"
#include "tests/tools/build_result.h"
#include <stdbool.h>

#define KNOWN_SAMPLES 5u

extern const struct build_sample known_samples[KNOWN_SAMPLES];

/* Each fails the test if the result at path is none. */
struct profile_reader *known_reader(const char *path); /* for the caller to close */
/* As folded stacks, for the caller to free. */
char *known_fold(const char *path, bool with_threads);
void known_finalize(const char *path);

#endif
