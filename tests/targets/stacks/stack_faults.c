/*
 * stack_faults [MS]: half of its CPU time goes into faults of its stack's pages, while the page
 * that the stack pointer points to is not in memory; the other half is a spin.
 */
#include "tests/targets/work.h"
#include <stddef.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 1000 };

WORK_FUNCTION(spin)

/* A page of stack for each call: its first write is below the stack pointer of before. */
WORK_KEEP static void fault_pages(unsigned count)
{
	volatile char page[PAGE];
	page[0] = (char)count;
	if (count > 0)
		fault_pages(count - 1);
	page[1] = page[0];
}

/* Gives the pages back that fault_pages takes next. */
WORK_KEEP static void drop_pages(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0) & -(uintptr_t)PAGE;
	madvise((void *)(here - (uintptr_t)PAGES * PAGE), (size_t)(PAGES - 4) * PAGE,
		MADV_DONTNEED);
}

WORK_KEEP static uint64_t fault(void)
{
	uint64_t start = work_thread_ns();
	fault_pages(PAGES - 8);
	return work_thread_ns() - start;
}

int main(int argc, char **argv)
{
	uint64_t total = work_argument(argc, argv, 1, 2000) * WORK_MS;
	uint64_t faults = 0;
	uint64_t spins = 0;
	fault();
	while (faults + spins < total) {
		drop_pages();
		faults += fault();
		while (spins < faults)
			spins += spin(faults - spins);
	}
	work_print("fault_pages", faults);
	work_print("spin", spins);
	work_print("process_ns", work_process_ns());
	return 0;
}
