/* The samples of a thread, as parts of the time that it ran. */
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/waits/wall.h"
#include <stdlib.h>

struct running_thread {
	uint64_t running_ns;
	uint64_t sampled_ns; /* all of its samples' time */
	uint64_t given_ns;   /* of the samples so far ... */
	uint64_t part_ns;    /* ... and of the time that they stand for */
};

struct wall_running {
	struct running_thread *threads; /* as the wall's */
	uint32_t thread_count;          /* without the last */
	bool is_part; /* nobody knows how long a thread ran inside of tasks: CPU time counts */
};

static struct running_thread *find_thread(const struct wall_running *running,
					  const struct tally_entry *entry)
{
	uint32_t thread = entry->thread == PROFILE_NONE ? running->thread_count : entry->thread;
	return &running->threads[thread];
}

struct wall_running *wall_running_create(const struct wall *wall, const struct tally *tally,
					 const struct filter *filter)
{
	struct wall_running *running = xalloc_zeroed(1, sizeof(*running));
	running->thread_count = wall->thread_count;
	running->is_part = filter_has_tasks(filter);
	running->threads = xalloc_zeroed((size_t)wall->thread_count + 1, sizeof(*running->threads));
	for (uint32_t i = 0; i <= wall->thread_count; i++)
		running->threads[i].running_ns = wall->threads[i].running_ns;
	for (size_t i = 0; i < tally->count; i++)
		find_thread(running, &tally->entries[i])->sampled_ns +=
			tally->entries[i].sum.cpu_ns;
	return running;
}

void wall_running_destroy(struct wall_running *running)
{
	if (!running)
		return;
	free(running->threads);
	free(running);
}

uint64_t wall_running_take(struct wall_running *running, const struct tally_entry *entry)
{
	struct running_thread *thread = find_thread(running, entry);
	if (running->is_part || thread->sampled_ns == 0)
		return running->is_part ? entry->sum.cpu_ns : 0;
	thread->given_ns += entry->sum.cpu_ns;
	uint64_t part_ns = (uint64_t)((unsigned __int128)thread->given_ns * thread->running_ns /
				      thread->sampled_ns);
	uint64_t taken_ns = part_ns - thread->part_ns;
	thread->part_ns = part_ns;
	return taken_ns;
}

uint64_t wall_running_rest(const struct wall_running *running, uint32_t thread)
{
	const struct running_thread *found = &running->threads[thread];
	return running->is_part || found->sampled_ns > 0 ? 0 : found->running_ns;
}
