/*
 * cycle CYCLE_NS [RUN_MS [THREADS [CPU]]]: a periodic program. Each thread uses RUN_MS of CPU time
 * in cycles of CYCLE_NS: the first 50 % in cycle_a, 30 % in cycle_b, 20 % in cycle_c, at the same
 * phase in every cycle however the thread is scheduled, which is what a sampler of a fixed period
 * locks to. With a CPU all threads stay on that one. Prints what each function and each thread
 * used.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Turns between two looks at the clock: about 1 us. */
#define CYCLE_TURNS (WORK_TURNS / 200)
/* Two looks that are this far apart were interrupted, and may have been on different CPUs. */
#define CYCLE_GAP_NS 5000
#define CYCLE_PARTS  3

/*
 * The thread's CPU time without a system call for each look, which would be a third of the work:
 * the processor's counter says how long it is since the last look at the kernel's account.
 */
struct cycle_clock {
	double ns_per_tick;
	uint64_t last_tick;
	double ns; /* of CPU time, at last_tick */
};

struct cycle_thread {
	pthread_t thread;
	pid_t tid;
	uint64_t cycle_ns, run_ns;
	struct cycle_clock clock;
	uint64_t used_ns[CYCLE_PARTS];
	uint64_t whole_ns;
};

/* Macros, because an inlined function would show up as a frame. */
#if defined(__x86_64__) || defined(__i386__)
#define CYCLE_TICKS() __builtin_ia32_rdtsc()
#elif defined(__aarch64__)
#define CYCLE_TICKS()                                                        \
	({                                                                   \
		uint64_t cycle_ticks_;                                       \
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(cycle_ticks_)); \
		cycle_ticks_;                                                \
	})
#endif

/* Takes the kernel's account of the thread, and returns it. */
WORK_KEEP static uint64_t cycle_clock_set(struct cycle_clock *clock)
{
	uint64_t ns = work_thread_ns();

	clock->ns = (double)ns;
	clock->last_tick = CYCLE_TICKS();
	return ns;
}

/* Nanoseconds of one tick of the counter, over 20 ms. */
static double cycle_calibrate(void)
{
	struct timespec now;
	uint64_t start_ns, ns, start_tick = CYCLE_TICKS();

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	start_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	do {
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec - start_ns;
	} while (ns < 20 * WORK_MS);
	return (double)ns / (double)(CYCLE_TICKS() - start_tick);
}

/* Burns until the thread has used end nanoseconds of CPU time. */
#define CYCLE_FUNCTION(name)                                                                    \
	WORK_KEEP void name(struct cycle_clock *clock, double end);                             \
	WORK_KEEP void name(struct cycle_clock *clock, double end)                              \
	{                                                                                       \
		while (clock->ns < end) {                                                       \
			for (uint32_t i = 0; i < CYCLE_TURNS; i++)                              \
				__asm__ volatile("" : "+r"(i));                                 \
			uint64_t tick = CYCLE_TICKS();                                          \
			double passed = (double)(tick - clock->last_tick) * clock->ns_per_tick; \
			if (passed > CYCLE_GAP_NS) {                                            \
				cycle_clock_set(clock);                                         \
			} else {                                                                \
				clock->ns += passed;                                            \
				clock->last_tick = tick;                                        \
			}                                                                       \
		}                                                                               \
	}

CYCLE_FUNCTION(cycle_a)
CYCLE_FUNCTION(cycle_b)
CYCLE_FUNCTION(cycle_c)

static void (*const cycle_functions[CYCLE_PARTS])(struct cycle_clock *, double) = {cycle_a, cycle_b,
										   cycle_c};
static const char *const cycle_names[CYCLE_PARTS] = {"cycle_a", "cycle_b", "cycle_c"};
static const double cycle_ends[CYCLE_PARTS] = {0.5, 0.8, 1.0};

static void *cycle_run(void *argument)
{
	struct cycle_thread *self = argument;
	uint64_t now;

	self->tid = gettid();
	uint64_t start = now = cycle_clock_set(&self->clock);
	for (uint64_t cycle = 0; now - start < self->run_ns; cycle++) {
		double begin = (double)start + (double)cycle * (double)self->cycle_ns;

		for (int i = 0; i < CYCLE_PARTS; i++) {
			uint64_t before = now;

			cycle_functions[i](&self->clock,
					   begin + cycle_ends[i] * (double)self->cycle_ns);
			now = cycle_clock_set(&self->clock);
			self->used_ns[i] += now - before;
		}
	}
	self->whole_ns = work_thread_ns();
	return NULL;
}

static bool cycle_pin(uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static void cycle_print(const struct cycle_thread *threads, uint64_t count)
{
	for (int i = 0; i < CYCLE_PARTS; i++) {
		uint64_t ns = 0;

		for (uint64_t t = 0; t < count; t++)
			ns += threads[t].used_ns[i];
		work_print(cycle_names[i], ns);
	}
	for (uint64_t t = 0; t < count; t++)
		printf("thread cycle %d %lu\n", threads[t].tid, (unsigned long)threads[t].whole_ns);
	work_print("process_ns", work_process_ns());
}

int main(int argc, char **argv)
{
	uint64_t cycle_ns = work_argument(argc, argv, 1, WORK_MS);
	uint64_t run_ms = work_argument(argc, argv, 2, 1500);
	uint64_t count = work_argument(argc, argv, 3, 1);
	struct cycle_thread *threads;

	if (cycle_ns == 0 || count == 0 || count > 1000)
		return 2;
	if (argc > 4 && !cycle_pin(work_argument(argc, argv, 4, 0))) {
		perror("sched_setaffinity");
		return 3;
	}
	threads = calloc(count, sizeof(*threads));
	if (!threads)
		return 3;
	double ns_per_tick = cycle_calibrate();
	for (uint64_t i = 0; i < count; i++) {
		threads[i].cycle_ns = cycle_ns;
		threads[i].run_ns = run_ms * WORK_MS;
		threads[i].clock.ns_per_tick = ns_per_tick;
		if (pthread_create(&threads[i].thread, NULL, cycle_run, &threads[i]) != 0)
			return 3;
	}
	for (uint64_t i = 0; i < count; i++)
		pthread_join(threads[i].thread, NULL);
	cycle_print(threads, count);
	free(threads);
	return 0;
}
