/*
 * calls [MS]: CPU time in its own code, in pread, and in page faults, in turns of random lengths,
 * so that no sampling interval falls into step with them. What each had of the thread's time is
 * printed.
 */
#include "tests/targets/work.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { READS = 64, PAGES = 64, PAGE = 4096 };

WORK_FUNCTION(calls_burn)

/* Each reads a file's first bytes: nearly all of it is in the kernel. */
WORK_KEEP uint64_t calls_pread(int fd, uint64_t ns);
WORK_KEEP uint64_t calls_pread(int fd, uint64_t ns)
{
	char bytes[512];
	uint64_t start = work_thread_ns();
	uint64_t now = start;

	while (now - start < ns) {
		for (int i = 0; i < READS; i++)
			if (pread(fd, bytes, sizeof(bytes), 0) < 0)
				exit(1);
		now = work_thread_ns();
	}
	return now - start;
}

/* Each page is touched for the first time, again and again: the instruction that does faults. */
WORK_KEEP uint64_t calls_fault(volatile char *memory, uint64_t ns);
WORK_KEEP uint64_t calls_fault(volatile char *memory, uint64_t ns)
{
	uint64_t start = work_thread_ns();
	uint64_t now = start;

	while (now - start < ns) {
		for (int i = 0; i < PAGES; i++)
			memory[(size_t)i * PAGE] = 1;
		if (madvise((void *)(uintptr_t)memory, (size_t)PAGES * PAGE, MADV_DONTNEED) < 0)
			exit(1);
		now = work_thread_ns();
	}
	return now - start;
}

int main(int argc, char **argv)
{
	uint64_t total = work_argument(argc, argv, 1, 2000) * WORK_MS;
	uint64_t burn = 0;
	uint64_t reads = 0;
	uint64_t faults = 0;
	unsigned short seed[3] = {3, 2, 1};
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
	char *memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || memory == MAP_FAILED)
		return 1;
	while (burn + reads + faults < total) {
		/* 0.5 to 1.5 ms per tenth */
		uint64_t tenth = 500000 + (uint64_t)nrand48(seed) % 1000000;

		burn += calls_burn(2 * tenth);
		reads += calls_pread(fd, 5 * tenth);
		faults += calls_fault(memory, 3 * tenth);
	}
	work_print("calls_burn", burn);
	work_print("calls_pread", reads);
	work_print("calls_fault", faults);
	work_print("process_ns", work_process_ns());
	return 0;
}
