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
/* In a format of tbconvert export, with the time of waits where format and result have it; for the
 * caller to free; a NUL stands behind the bytes. */
char *known_export(const char *path, const char *format, bool with_threads, size_t *size);
char *known_fold(const char *path, bool with_threads); /* as folded stacks; likewise */
void known_finalize(const char *path);

/* Writes a result of the frames alone, without symbols; image 1 is the file. */
void known_write_frames(const char *path, const char *file, const struct profile_frame *frames,
			size_t count);

#endif
