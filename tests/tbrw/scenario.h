/* A use of the whole API that passes on the first error instead of aborting the test: for tests in
 * which memory, disk or another thread gets in the way. */
#ifndef TESTS_TBRW_SCENARIO_H
#define TESTS_TBRW_SCENARIO_H

#include "tbrw/tbrw.h"
#include <stdint.h>

#define SCENARIO_SAMPLES 20000u

/* Creates the file with something in every section; the samples' ips are seed, seed + 1, ...
 * *added is the number of samples that TBRW_add_data reported as added. On an error the file is
 * left by TBRW_abort_cleanup_and_close. */
TBRW_U32 scenario_write(const wchar_t *path, uint64_t seed, uint32_t *added);

/* Opens it to write: adds a stream, binds, unbinds, binds again. */
TBRW_U32 scenario_bind(const wchar_t *path);

/* Reads all of it, the samples' ips too: VT_UNEXPECTED_VALUE if one is wrong. *seen is the number
 * of samples. */
TBRW_U32 scenario_read(const wchar_t *path, uint64_t seed, uint32_t *seen);

/* What a scenario that failed may leave: nothing, or a file that reads without an error and holds
 * no sample that was not added. */
void expect_no_more_than(const wchar_t *path, uint32_t added);

#endif
