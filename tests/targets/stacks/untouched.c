/*
 * untouched [MS] [DEPTH] [TURN]: burns in two threads at once, in untouched_burn below DEPTH calls
 * of untouched_down, each with 24 KB of locals that are never written: most of their pages are not
 * in memory. Prints how much memory the threads' stacks take in the end.
 *
 * With TURN, a number of us: untouched_left and untouched_right call untouched_down at the same
 * place of the stack in turns of that length, to burn in untouched_burn_left and
 * untouched_burn_right.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCALS = 24 * 1024 };

WORK_FUNCTION(untouched_burn)
WORK_FUNCTION(untouched_burn_left)
WORK_FUNCTION(untouched_burn_right)

struct life {
	uint64_t ns;
	uint64_t depth;
	uint64_t turn_ns;
	uint64_t (*burn)(uint64_t ns);
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
		life->used_ns += life->burn(life->turn_ns);
	__asm__ volatile("" : : "r"(locals) : "memory");
}

WORK_KEEP void untouched_left(struct life *life);
WORK_KEEP void untouched_left(struct life *life)
{
	life->burn = untouched_burn_left;
	untouched_down(life, life->depth);
	__asm__ volatile("" : : : "memory");
}

WORK_KEEP void untouched_right(struct life *life);
WORK_KEEP void untouched_right(struct life *life)
{
	life->burn = untouched_burn_right;
	untouched_down(life, life->depth);
	__asm__ volatile("" : : : "memory");
}

static void *live(void *user)
{
	struct life *life = user;
	if (life->turn_ns == life->ns)
		untouched_down(life, life->depth);
	while (life->used_ns < life->ns) {
		untouched_left(life);
		untouched_right(life);
	}
	life->stack_kb = resident_kb((uintptr_t)__builtin_frame_address(0));
	return NULL;
}

int main(int argc, char **argv)
{
	struct life lives[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		lives[i] =
			(struct life){.ns = work_argument(argc, argv, 1, 1000) * WORK_MS,
				      .depth = work_argument(argc, argv, 2, 2),
				      .turn_ns = work_argument(argc, argv, 3, 0) * WORK_MS / 1000,
				      .burn = untouched_burn};
		if (lives[i].turn_ns == 0)
			lives[i].turn_ns = lives[i].ns;
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
