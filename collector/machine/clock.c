#include "collector/machine/clock.h"

#define NS_PER_S 1000000000ull

enum { SYNC_TRIES = 8, CALIBRATION_NS = 4000000 };

uint64_t clock_read(clockid_t id)
{
	struct timespec time;
	if (clock_gettime(id, &time) < 0)
		return 0;
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC_RAW);
}

static uint64_t read_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

/* The counter is read between two readings of the clock; of several tries the narrowest counts: an
 * interrupt in between is harmless. */
static struct profile_clock read_point(void)
{
	struct profile_clock best = {0};
	uint64_t best_width = UINT64_MAX;
	for (int i = 0; i < SYNC_TRIES; i++) {
		uint64_t before = clock_now();
		uint64_t counter = read_counter();
		uint64_t real = clock_read(CLOCK_REALTIME);
		uint64_t monotonic = clock_read(CLOCK_MONOTONIC);
		uint64_t after = clock_now();
		if (after - before >= best_width)
			continue;
		best_width = after - before;
		best = (struct profile_clock){.tsc = counter,
					      .raw_ns = before + best_width / 2,
					      .real_ns = real,
					      .monotonic_ns = monotonic};
	}
	return best;
}

struct profile_clock clock_calibrate(void)
{
	struct timespec wait = {.tv_nsec = CALIBRATION_NS};
	struct profile_clock first = read_point();
	nanosleep(&wait, NULL);
	struct profile_clock second = read_point();
	uint64_t elapsed = second.raw_ns - first.raw_ns;
	uint64_t ticks = second.tsc - first.tsc;
	/* A counter that stands still or runs backwards is none. */
	if (elapsed == 0 || second.tsc <= first.tsc || ticks / elapsed > 64) {
		first.tsc = first.raw_ns;
		first.tsc_per_ns_q32 = 1ull << 32;
		return first;
	}
	first.tsc_per_ns_q32 = (uint64_t)(((unsigned __int128)ticks << 32) / elapsed);
	return first;
}

struct profile_clock clock_sync(const struct profile_clock *first)
{
	struct profile_clock point = read_point();
	point.tsc_per_ns_q32 = first->tsc_per_ns_q32;
	if (first->tsc_per_ns_q32 == 1ull << 32 && first->tsc == first->raw_ns)
		point.tsc = point.raw_ns;
	return point;
}
