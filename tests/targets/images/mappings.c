/*
 * mappings COUNT [MS [FILE]]: maps COUNT pages of code that nobody runs, none beside another, then
 * burns MS (default 500) in mappings_burn. FILE 1: pages of its own file, not anonymous ones.
 * mappings 0 MS FILE: burns, and after each 200 us maps a page of code and unmaps the one before
 * the last, all the time.
 */
#include "tests/targets/work.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, KEPT = 2 };

WORK_FUNCTION(mappings_burn)

WORK_KEEP void mappings_churn(uint64_t ns, int fd);

static void *map_code(int fd, void *at)
{
	int flags = MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0) | (at ? MAP_FIXED : 0);

	return mmap(at, PAGE, PROT_READ | PROT_EXEC, flags, fd, 0);
}

/* In memory of their own, from its end on: where the kernel would put them too. */
static int map_many(uint64_t count, int fd)
{
	char *room = mmap(NULL, count * 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (uint64_t i = count; i > 0; i--)
		if (room == MAP_FAILED || map_code(fd, room + (i - 1) * 2 * PAGE) == MAP_FAILED)
			return 3;
	return 0;
}

WORK_KEEP void mappings_churn(uint64_t ns, int fd)
{
	void *pages[KEPT] = {0};
	uint64_t mapped = 0, used = 0;

	for (; used < ns; mapped++) {
		void **page = &pages[mapped % KEPT];

		if (*page)
			munmap(*page, PAGE);
		*page = map_code(fd, NULL);
		used += mappings_burn(WORK_MS / 5);
	}
	work_print("mapped", mapped);
	work_print("burn_ns", used);
}

int main(int argc, char **argv)
{
	uint64_t count = work_argument(argc, argv, 1, 0);
	uint64_t ns = work_argument(argc, argv, 2, 500) * WORK_MS;
	int fd = work_argument(argc, argv, 3, 0) != 0 ? open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
						      : -1;
	int status = map_many(count, fd);

	if (status != 0)
		return status;
	if (count == 0)
		mappings_churn(ns, fd);
	else
		work_print("burn_ns", mappings_burn(ns));
	return 0;
}
