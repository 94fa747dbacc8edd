/* Walks its own stack; built as every kind of executable. Exit status 0: complete and right. */
#include "tests/unwind/capture.h"
#include <stdio.h>

static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];
static uint64_t noted[2];

static __attribute__((noinline)) int inner(int a)
{
	noted[0] = (uintptr_t)__builtin_return_address(0);
	CAPTURE(&sample);
	return a + 1;
}

static __attribute__((noinline)) int outer(int a)
{
	volatile char room[100];

	noted[1] = (uintptr_t)__builtin_return_address(0);
	room[a] = 1;
	return inner(a) + room[a];
}

int main(void)
{
	struct uw_space *space = capture_space();
	enum uw_stop stop;

	outer(3);
	size_t count = uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	/* inner, outer, main, and at least _start */
	bool right = stop == UW_STOP_ROOT && count >= 4 && frames[1].ip == noted[0] &&
		     frames[2].ip == noted[1] && frames[count - 1].source == UW_SOURCE_CFI;
	if (!right)
		fprintf(stderr, "%s after %zu frames\n", uw_stop_name(stop), count);
	uw_space_destroy(space);
	return !right;
}
