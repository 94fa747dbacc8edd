/* Made-up intervals in a result, and what they hold by a look at each of them. */
#ifndef TESTS_TOOLS_INTERVALS_INTERVALS_H
#define TESTS_TOOLS_INTERVALS_INTERVALS_H

#include "profile/read/external.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fixture, with build_tear_down: writes a result without intervals. */
void intervals_set_up(void);

/* Adds them to the result, and opens it. The caller closes the reader. */
struct profile_reader *intervals_write(const struct profile_interval *intervals, size_t count);

bool intervals_hold(const struct profile_interval *interval, uint32_t pid, uint32_t tid,
		    uint64_t tsc);

/* A number below the limit, the same ones from each seed. */
unsigned intervals_draw(unsigned *seed, unsigned limit);

#endif
