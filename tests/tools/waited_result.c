#include "tests/tools/waited_result.h"

#include <pthread.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct build_sample samples[] = {
	{.stack = "app:main app:work", .count = 3, .cpu_ms = 10},
	{.stack = "app:main app:rest", .count = 1, .cpu_ms = 10},
	{.stack = "app:worker app:spin", .count = 2, .cpu_ms = 10, .thread = 1},
};

/* us. Thread 0 runs 400 ms, waits 500 ms for the lock, 1000 ms asleep, is ready for 50 ms, and has
 * a short wait of 50 ms. Thread 1 lives from 40 ms to 1200 ms. */
static const struct build_slice slices[] = {
	{.thread = 0, .before = PROFILE_STATE_RUNNING, .start_us = 0, .run_us = 100000},
	{.thread = 1, .before = PROFILE_STATE_READY, .start_us = 210000, .run_us = 90000},
	{.thread = 0, .before = PROFILE_STATE_BLOCKED, .start_us = 600000, .run_us = 50000},
	{.thread = 0, .before = PROFILE_STATE_BLOCKED, .start_us = 700000, .run_us = 50000},
	{.thread = 1, .before = PROFILE_STATE_BLOCKED, .start_us = 1100000, .run_us = 50000},
	{.thread = 1, .before = PROFILE_STATE_STOPPED, .start_us = 1190000, .run_us = 10000},
	{.thread = 0,
	 .before = PROFILE_STATE_BLOCKED,
	 .ready_us = 50000,
	 .start_us = 1800000,
	 .run_us = 200000},
};

/* Where threads wait for a condition variable (tests/tools/report/test_wait_word.c). */
#define CONDITION_WORDS offsetof(pthread_cond_t, __data.__g_signals)

static const struct build_object objects[] = {
	{.kind = PROFILE_OBJECT_FUTEX, .address = 0x404060, .variable = "app:queue_lock"},
	{.kind = PROFILE_OBJECT_CALL, .number = WAITED_CLOCK_NANOSLEEP},
	{.kind = PROFILE_OBJECT_FUTEX, .address = 0x7f00000012a4 + CONDITION_WORDS},
};

static const struct build_wait waits[WAITED_WAITS] = {
	{.thread = 0,
	 .object = 1,
	 .stack = "app:main app:take libc:pthread_mutex_lock libc:__lll_lock_wait",
	 .start_us = 100000,
	 .wait_us = 500000,
	 .waker = 2,
	 .waker_stack = "app:worker app:give libc:pthread_mutex_unlock",
	 .syscall = WAITED_FUTEX,
	 .source = PROFILE_WAIT_BY_BPF},
	{.thread = 1,
	 .object = 3,
	 .stack = "app:worker app:await libc:pthread_cond_wait",
	 .start_us = 300000,
	 .wait_us = 600000,
	 .syscall = WAITED_FUTEX,
	 .blocks = 2,
	 .source = PROFILE_WAIT_BY_BPF},
	{.thread = 1,
	 .object = 1,
	 .stack = "app:worker app:take libc:pthread_mutex_lock",
	 .start_us = 900000,
	 .wait_us = 200000,
	 .waker = 1,
	 .waker_stack = "app:main app:give libc:pthread_mutex_unlock",
	 .syscall = WAITED_FUTEX,
	 .flags = PROFILE_WAIT_TIMED_OUT,
	 .source = PROFILE_WAIT_BY_BPF},
	{.thread = 0,
	 .object = 2,
	 .stack = "app:main libc:usleep libc:clock_nanosleep",
	 .start_us = 750000,
	 .wait_us = 1000000,
	 .ready_us = 50000,
	 .syscall = WAITED_CLOCK_NANOSLEEP,
	 .source = PROFILE_WAIT_BY_BPF},
};

static const struct build_life lives[] = {{0, 0, 0}, {1, 40000, 1200000}};

const struct build_result waited_result = {
	.samples = samples,
	.count = COUNT(samples),
	.is_finalized = true,
	.states = PROFILE_STATES_SWITCHES | PROFILE_STATES_WAKES,
	.target_cpus = 1000,
	.slices = slices,
	.slice_count = COUNT(slices),
	.objects = objects,
	.object_count = COUNT(objects),
	.waits = waits,
	.wait_count = COUNT(waits),
	.wait_sources = 1u << PROFILE_WAIT_BY_BPF,
	.wait_threshold = 10,
	.lives = lives,
	.life_count = COUNT(lives),
};
