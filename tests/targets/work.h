/*
 * Busy work that knows its own CPU time: what the end-to-end tests' programs are made of.
 *
 * Times are nanoseconds of CLOCK_THREAD_CPUTIME_ID, the clock that the kernel charges the thread
 * by. Every function may be called from any thread. Truth goes to standard output as lines of
 * "key value ...".
 */
#ifndef TESTS_TARGETS_WORK_H
#define TESTS_TARGETS_WORK_H

#include <stdint.h>
#include <sys/types.h>

#define WORK_MS UINT64_C(1000000)

/* Turns between two looks at the clock: some 100 us, so that the clock takes about 0.1 % of the
 * time and a piece of work ends at most that much late. */
#define WORK_TURNS 400000

/* A function that stays a function of its own, under its own name. */
#ifdef __clang__
#define WORK_KEEP __attribute__((noinline))
#else
#define WORK_KEEP __attribute__((noipa))
#endif

/* CPU time of the calling thread. */
uint64_t work_thread_ns(void);

/* CPU time of the calling process. */
uint64_t work_process_ns(void);

/* Prints "key value" and flushes, so that it is seen even if the program is killed next. */
void work_print(const char *key, uint64_t value);

/* An argument as a number of milliseconds or the default where argv[i] is missing; exits with 2
 * when it is no number. */
uint64_t work_argument(int argc, char **argv, int i, uint64_t default_value);

/* Returns once the thread of this process sleeps (state S in /proc/self/task/TID/stat): it blocks.
 * Exits with 3 if there is no such thread. */
void work_wait_asleep(pid_t tid);

/*
 * Defines name(ns): burns at least ns and returns how much it was. A macro, because the loop has to
 * be the named function's own code: an inlined function would show up as a frame.
 */
#define WORK_FUNCTION(name)                                       \
	WORK_KEEP uint64_t name(uint64_t ns);                     \
	WORK_KEEP uint64_t name(uint64_t ns)                      \
	{                                                         \
		uint64_t start = work_thread_ns();                \
		uint64_t now = start;                             \
		while (now - start < ns) {                        \
			for (uint32_t i = 0; i < WORK_TURNS; i++) \
				__asm__ volatile("" : "+r"(i));   \
			now = work_thread_ns();                   \
		}                                                 \
		return now - start;                               \
	}

#endif
