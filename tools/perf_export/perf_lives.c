#include "tools/perf_export/perf_lives.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <stdbool.h>
#include <stdlib.h>

struct lives {
	const struct profile_reader *reader;
	struct perf_life *lives;
	size_t count;
};

static void add_life(struct lives *lives, enum perf_life_kind kind, uint32_t index, uint64_t tsc)
{
	lives->lives[lives->count++] =
		(struct perf_life){profile_reader_raw_ns(lives->reader, tsc), kind, index};
}

struct process {
	const struct profile_process_info *info;
	uint32_t index;
};

/* An order of process numbers, and of each number's lives. */
static int compare_processes(const void *a, const void *b)
{
	const struct profile_process_info *left = ((const struct process *)a)->info;
	const struct profile_process_info *right = ((const struct process *)b)->info;
	int order = compare_numbers(left->pid, right->pid);
	return order ? order : compare_numbers(left->start_tsc, right->start_tsc);
}

/* A process that begins when the one before with its number ends is the same one after an exec. */
static bool is_exec(const struct profile_process_info *before,
		    const struct profile_process_info *info)
{
	return before->pid == info->pid && before->end_tsc == info->start_tsc;
}

static void add_processes(struct lives *lives)
{
	uint32_t count = profile_reader_process_count(lives->reader);
	struct process *processes = xalloc_zeroed(count, sizeof(*processes));
	for (uint32_t i = 0; i < count; i++)
		processes[i] = (struct process){profile_reader_process(lives->reader, i), i};
	if (count > 1)
		qsort(processes, count, sizeof(*processes), compare_processes);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_process_info *info = processes[i].info;
		bool goes_on = i > 0 && is_exec(processes[i - 1].info, info);
		add_life(lives, goes_on ? PERF_LIFE_EXEC : PERF_LIFE_START, processes[i].index,
			 info->start_tsc);
	}
	free(processes);
}

static void add_threads(struct lives *lives)
{
	for (uint32_t i = 0; i < profile_reader_thread_count(lives->reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(lives->reader, i);
		if (thread->tid != thread->pid)
			add_life(lives, PERF_LIFE_CLONE, i, thread->start_tsc);
		if (thread->end_tsc != UINT64_MAX)
			add_life(lives, PERF_LIFE_EXIT, i, thread->end_tsc);
	}
}

static int compare_lives(const void *a, const void *b)
{
	const struct perf_life *left = a;
	const struct perf_life *right = b;
	int order = compare_numbers(left->time_ns, right->time_ns);
	if (!order)
		order = compare_numbers(left->kind, right->kind);
	return order ? order : compare_numbers(left->index, right->index);
}

struct perf_life *perf_lives_collect(const struct profile_reader *reader, size_t *count)
{
	uint32_t modules = profile_reader_module_count(reader);
	size_t room = (size_t)profile_reader_process_count(reader) +
		      2 * (size_t)profile_reader_thread_count(reader) + modules;
	struct lives lives = {reader, xalloc_zeroed(room, sizeof(*lives.lives)), 0};
	add_processes(&lives);
	add_threads(&lives);
	for (uint32_t i = 0; i < modules; i++)
		add_life(&lives, PERF_LIFE_MAP, i, profile_reader_module(reader, i)->load_tsc);
	if (lives.count > 1)
		qsort(lives.lives, lives.count, sizeof(*lives.lives), compare_lives);
	*count = lives.count;
	return lives.lives;
}
