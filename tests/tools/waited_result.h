/*
 * A result of two threads with known states and waits: for a mutex, a condition variable and
 * asleep.
 */
#ifndef TESTS_TOOLS_WAITED_RESULT_H
#define TESTS_TOOLS_WAITED_RESULT_H

#include "tests/tools/build_result.h"

/* x86-64's numbers, whatever machine this is. Of a read the result says no call. */
enum {
	WAITED_READ = 0,
	WAITED_POLL = 7,
	WAITED_ACCEPT = 43,
	WAITED_WAIT4 = 61,
	WAITED_FUTEX = 202,
	WAITED_CLOCK_NANOSLEEP = 230,
	WAITED_EPOLL_WAIT = 232,
};

#define WAITED_WAITS 4u

extern const struct build_result waited_result;

#endif
