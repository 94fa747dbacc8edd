/*
 * wait_calls CALL COUNT ROUNDS: the time of a system call that does not wait, in ns: the shortest
 * of ROUNDS rounds of COUNT calls each. CALL is futex (FUTEX_WAIT for another value: EAGAIN) or
 * getppid.
 */
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	uint32_t word = 1;
	double shortest = 0;
	if (argc != 4) {
		fprintf(stderr, "usage: wait_calls futex|getppid COUNT ROUNDS\n");
		return 2;
	}
	bool is_futex = strcmp(argv[1], "futex") == 0;
	long count = atol(argv[2]);
	for (long round = 0; round < atol(argv[3]); round++) {
		double began = now_ns();
		for (long i = 0; i < count; i++)
			if (is_futex)
				syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
			else
				syscall(SYS_getppid);
		double each = (now_ns() - began) / (double)count;
		if (shortest == 0 || each < shortest)
			shortest = each;
	}
	printf("%.1f\n", shortest);
	return 0;
}
