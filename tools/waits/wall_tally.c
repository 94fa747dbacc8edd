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
	const struct profile_reader *reader;
	struct functions *functions;
	struct wall wall;
};

/* An entry of a thread; index as of the wall's. */
static struct tally_entry *add_entry(struct making *making, uint32_t index, uint64_t ns,
				     uint64_t count)
{
	struct tally *tally = making->tally;
	bool is_known = index < making->wall.thread_count;
	xalloc_room(&tally->entries, &making->capacity, tally->count + 1, sizeof(*tally->entries));
	struct tally_entry *entry = &tally->entries[tally->count++];
	*entry = (struct tally_entry){.process = PROFILE_NONE,
				      .thread = is_known ? index : PROFILE_NONE,
				      .sum = {.cpu_ns = ns, .samples = count}};
	if (is_known) {
		const struct profile_thread_info *thread =
			profile_reader_thread(making->reader, index);
		entry->process = thread->process;
		entry->pid = thread->pid;
		entry->tid = thread->tid;
	}
	tally->cpu_ns += ns;
	tally->samples += count;
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
		uint32_t index =
			from->thread == PROFILE_NONE ? making->wall.thread_count : from->thread;
		struct tally_entry *entry =
			add_entry(making, index, making->wall.wait_ns[i], from->sum.count);
		entry->node = from->node;
		entry->state = from->state;
		entry->label = labels[from->item];
	}
	free(labels);
}

static void add_state(struct making *making, uint32_t index, const char *name, uint64_t ns,
		      uint64_t count)
{
	if (ns == 0 && count == 0)
		return;
	struct tally_entry *entry = add_entry(making, index, ns, count);
	entry->node = TALLY_STATE;
	entry->state = PROFILE_STACK_NONE;
	entry->label = functions_add_label(making->functions, name);
}

static void add_samples(struct making *making, const struct tally *sampled,
			const struct filter *filter)
{
	struct wall_running *running = wall_running_create(&making->wall, sampled, filter);
	for (size_t i = 0; i < sampled->count; i++) {
		const struct tally_entry *from = &sampled->entries[i];
		uint64_t ns = wall_running_take(running, from);
		uint32_t index =
			from->thread == PROFILE_NONE ? making->wall.thread_count : from->thread;
		struct tally_entry *entry = add_entry(making, index, ns, 0);
		entry->node = from->node;
		entry->state = from->state;
		entry->reason = from->reason;
	}
	for (uint32_t i = 0; i <= making->wall.thread_count; i++)
		add_state(making, i, TALLY_NO_SAMPLE, wall_running_rest(running, i), 0);
	wall_running_destroy(running);
}

TBRW_U32 wall_tally(struct tally *tally, struct profile_reader *reader, struct functions *functions,
		    const struct filter *filter, const struct tally *sampled, enum wall_parts parts)
{
	struct making making = {.tally = tally, .reader = reader, .functions = functions};
	size_t threads = (size_t)profile_reader_thread_count(reader) + 1;
	TBRW_U32 code = wall_collect(&making.wall, reader, functions, filter, 0);
	*tally = (struct tally){0};
	if (code != VT_SUCCESS)
		return code;
	tally->thread_rest_ns = xalloc_zeroed(threads, sizeof(*tally->thread_rest_ns));
	tally->thread_kernel_ns = xalloc_zeroed(threads, sizeof(*tally->thread_kernel_ns));
	if (parts == WALL_ALL)
		add_samples(&making, sampled, filter);
	add_waits(&making);
	for (uint32_t i = 0; i < threads; i++) {
		const struct wall_thread *thread = &making.wall.threads[i];
		if (filter_needs_function(filter) || filter_has_tasks(filter))
			continue;
		add_state(&making, i, WALL_SHORT, thread->short_ns, thread->short_count);
		if (parts == WALL_WAITS)
			continue;
		add_state(&making, i, WALL_READY, thread->ready_ns, 0);
		add_state(&making, i, WALL_STOPPED, thread->stopped_ns, 0);
		add_state(&making, i, WALL_UNKNOWN, thread->unknown_ns, 0);
	}
	wall_finish(&making.wall);
	return VT_SUCCESS;
}
