/* The wall-clock account as a tally, for exports. */
#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/waits/wall.h"
#include <stdlib.h>

struct making {
	struct tally *tally;
	size_t capacity;
	size_t time_capacity;
	const struct profile_reader *reader;
	struct functions *functions;
	struct wall wall;
};

/* An entry of a thread; index as of the wall's. */
static struct tally_entry *add_entry(struct making *making, uint32_t index,
				     const struct tally_times *times)
{
	struct tally *tally = making->tally;
	bool is_known = index < making->wall.thread_count;
	xalloc_room(&tally->entries, &making->capacity, tally->count + 1, sizeof(*tally->entries));
	xalloc_room(&tally->times, &making->time_capacity, tally->count + 1, sizeof(*tally->times));
	tally->times[tally->count] = *times;
	struct tally_entry *entry = &tally->entries[tally->count++];
	*entry = (struct tally_entry){.process = PROFILE_NONE,
				      .thread = is_known ? index : PROFILE_NONE,
				      .running = TALLY_RUNNING_UNKNOWN};
	if (is_known) {
		const struct profile_thread_info *thread =
			profile_reader_thread(making->reader, index);
		entry->process = thread->process;
		entry->pid = thread->pid;
		entry->tid = thread->tid;
	}
	return entry;
}

static void add_waits(struct making *making)
{
	const struct waits *waits = &making->wall.waits;
	uint32_t *labels = xalloc_zeroed(waits->item_count, sizeof(*labels));
	for (size_t i = 0; i < waits->item_count; i++) {
		char *name = xalloc_printf("[%s]", waits->items[i].name);
		labels[i] = functions_add_label(making->functions, name);
		free(name);
	}
	for (size_t i = 0; i < waits->count; i++) {
		const struct waits_entry *from = &waits->entries[i];
		uint64_t ns = making->wall.wait_ns[i];
		const struct tally_times times = {ns, ns, from->sum.count};
		uint32_t index =
			from->thread == PROFILE_NONE ? making->wall.thread_count : from->thread;
		struct tally_entry *entry = add_entry(making, index, &times);
		entry->node = from->node;
		entry->state = from->state;
		entry->label = labels[from->item];
	}
	free(labels);
}

static void add_state(struct making *making, uint32_t index, const char *name,
		      const struct tally_times *times)
{
	if (times->wall_ns == 0 && times->waits == 0)
		return;
	struct tally_entry *entry = add_entry(making, index, times);
	entry->node = TALLY_STATE;
	entry->state = PROFILE_STACK_NONE;
	entry->label = functions_add_label(making->functions, name);
}

static void add_states(struct making *making, uint32_t index)
{
	const struct wall_thread *thread = &making->wall.threads[index];
	add_state(making, index, making->wall.short_label,
		  &(struct tally_times){thread->short_ns, thread->short_ns, thread->short_count});
	add_state(making, index, WALL_READY, &(struct tally_times){.wall_ns = thread->ready_ns});
	add_state(making, index, WALL_STOPPED,
		  &(struct tally_times){.wall_ns = thread->stopped_ns});
	add_state(making, index, WALL_UNKNOWN,
		  &(struct tally_times){.wall_ns = thread->unknown_ns});
}

/* What the samples of each thread say of the time that it ran. */
static void time_samples(struct making *making, const struct filter *filter)
{
	struct tally *tally = making->tally;
	struct wall_running *running = wall_running_create(&making->wall, tally, filter);
	tally->times = xalloc_zeroed(tally->count, sizeof(*tally->times));
	for (size_t i = 0; i < tally->count; i++)
		tally->times[i].wall_ns = wall_running_take(running, &tally->entries[i]);
	for (uint32_t i = 0; i <= making->wall.thread_count; i++)
		add_state(making, i, TALLY_NO_SAMPLE,
			  &(struct tally_times){.wall_ns = wall_running_rest(running, i)});
	wall_running_destroy(running);
}

TBRW_U32 wall_tally(struct tally *tally, struct profile_reader *reader, struct functions *functions,
		    const struct filter *filter)
{
	struct making making = {.tally = tally,
				.capacity = tally->count,
				.time_capacity = tally->count,
				.reader = reader,
				.functions = functions};
	TBRW_U32 code = wall_collect(&making.wall, reader, functions, filter, 0);
	if (code != VT_SUCCESS)
		return code;
	time_samples(&making, filter);
	add_waits(&making);
	if (!filter_needs_function(filter) && !filter_has_tasks(filter)) {
		for (uint32_t i = 0; i <= making.wall.thread_count; i++)
			add_states(&making, i);
	}
	wall_finish(&making.wall);
	return VT_SUCCESS;
}
