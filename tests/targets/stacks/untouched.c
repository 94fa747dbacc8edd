/*
 * untouched [MS] [DEPTH]: burns in two threads at once, in untouched_burn below DEPTH calls of
 * untouched_down, each with 24 KB of locals that are never written: most of their pages are not in
 * memory. Prints how much memory the threads' stacks take in the end.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCALS = 24 * 1024 };

WORK_FUNCTION(untouched_burn)

struct life {
	uint64_t ns;
	uint64_t depth;
	uint64_t used_ns;
	uint64_t stack_kb;
};

/* Of the mapping around an address, in memory: without the kernel's page of zeros (proc(5)). */
static uint64_t resident_kb(uint64_t address)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long long start, end, kb = 0;
	int is_here = 0;
	if (!file)
		exit(1);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			is_here = start <= address && address < end;
		else if (is_here && sscanf(line, "Rss: %llu", &kb) == 1)
			break;
	}
	fclose(file);
	return kb;
}

WORK_KEEP void untouched_down(struct life *life, uint64_t depth);
WORK_KEEP void untouched_down(struct life *life, uint64_t depth)
{
	char locals[LOCALS];
	__asm__ volatile("" : : "r"(locals) : "memory");
	if (depth > 1)
		untouched_down(life, depth - 1);
	else
		life->used_ns = untouched_burn(life->ns);
	__asm__ volatile("" : : "r"(locals) : "memory");
}

static void *live(void *user)
{
	struct life *life = user;
	untouched_down(life, life->depth);
	life->stack_kb = resident_kb((uintptr_t)__builtin_frame_address(0));
	return NULL;
}

int main(int argc, char **argv)
{
	struct life lives[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		lives[i] = (struct life){work_argument(argc, argv, 1, 1000) * WORK_MS,
					 work_argument(argc, argv, 2, 2), 0, 0};
		if (pthread_create(&threads[i], NULL, live, &lives[i]) != 0)
			return 1;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	work_print("stack_kb", lives[0].stack_kb + lives[1].stack_kb);
	work_print("burn_ns", lives[0].used_ns + lives[1].used_ns);
	work_print("process_ns", work_process_ns());
	return 0;
}
