/*
 * Nanoseconds of CPU time per frame of uw_walk over a sample of this program: with a warm cache,
 * and with the cache emptied before each walk, so that every frame's rules are found and evaluated
 * again. Argument: how many frames deep the sampled recursion is (default 40).
 */
#include "tests/unwind/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WALKS_WARM = 200000, WALKS_COLD = 5000, DEPTH_DEFAULT = 40 };

static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];

/* Two functions, so that neighbouring frames have different return addresses. */
static int sample_even(int depth);

static __attribute__((noinline)) int sample_odd(int depth)
{
	volatile char room[40];

	room[depth % 40] = 1;
	if (depth > 0)
		return sample_even(depth - 1) + room[depth % 40];
	CAPTURE(&sample);
	return 0;
}

static __attribute__((noinline)) int sample_even(int depth)
{
	volatile long room[10];

	room[depth % 10] = 2;
	if (depth > 0)
		return sample_odd(depth - 1) * (int)room[depth % 10];
	CAPTURE(&sample);
	return 1;
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void measure(struct uw_space *space, const char *name, int walks, bool cold)
{
	double start = now_ns();
	enum uw_stop stop = UW_STOP_COUNT;
	size_t count = 0;

	for (int i = 0; i < walks; i++) {
		/* Any change of the mappings empties the cache. */
		if (cold)
			uw_space_map(space, 4096, 8192, 0, NULL, (uint32_t)i);
		count += uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	}
	printf("%s: %.1f ns per frame, %zu frames, %s\n", name, (now_ns() - start) / (double)count,
	       count / (size_t)walks, uw_stop_name(stop));
}

int main(int argc, char **argv)
{
	struct uw_space *space = capture_space();

	sample_odd(argc > 1 ? atoi(argv[1]) : DEPTH_DEFAULT);
	measure(space, "warm", WALKS_WARM, false);
	measure(space, "cold", WALKS_COLD, true);
	uw_space_destroy(space);
	return 0;
}
