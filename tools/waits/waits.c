#include "tools/waits/waits.h"

#include "containers/compare.h"
#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/functions/filter.h"
#include "tools/functions/functions.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/waits/poor_time.h"
#include "tools/waits/wait_items.h"
#include <stdlib.h>
#include <string.h>

struct collecting {
	struct waits *waits;
	struct profile_reader *reader;
	struct poor_time poor;
	struct index_map map; /* of the entries */
	struct wait_filter filter;
};

/* The part of an entry before its sums. */
#define KEY_SIZE offsetof(struct waits_entry, sum)
_Static_assert(KEY_SIZE == 8 * sizeof(uint32_t), "keys are compared as bytes: no padding");

void waits_sum_add(struct waits_sum *sum, const struct waits_sum *more)
{
	sum->count += more->count;
	sum->wait_ns += more->wait_ns;
	sum->ready_ns += more->ready_ns;
	sum->spin_ns += more->spin_ns;
	sum->poor_ns += more->poor_ns;
	if (more->most_ns > sum->most_ns)
		sum->most_ns = more->most_ns;
	sum->timeouts += more->timeouts;
	sum->before += more->before;
	sum->unended += more->unended;
}

static bool is_entry(const void *item, const void *wanted)
{
	return memcmp(item, wanted, KEY_SIZE) == 0;
}

static struct waits_entry make_key(const struct profile_wait_info *info)
{
	return (struct waits_entry){.thread = info->thread,
				    .tid = info->wait.tid,
				    .object = info->wait.object,
				    .node = info->wait.node,
				    .waker_thread = info->waker_thread,
				    .waker_tid = info->wait.waker_tid,
				    .waker_node = info->wait.waker_node,
				    .syscall = info->wait.syscall,
				    .state = info->wait.state,
				    .waker_state = info->wait.waker_state};
}

static uint64_t until(uint64_t start_ns, uint64_t length_ns)
{
	return length_ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + length_ns;
}

static uint64_t length_of(const struct wait_stretch *stretch)
{
	return stretch->end_ns - stretch->start_ns;
}

/* It spins before it blocks, or never does. */
static uint64_t spin_start(const struct profile_wait_info *info)
{
	uint64_t before_ns = info->wait.blocks > 0 ? info->wait.spin_ns : 0;
	return info->start_ns > before_ns ? info->start_ns - before_ns : 0;
}

static struct waits_sum measure(const struct collecting *collecting,
				const struct profile_wait_info *info)
{
	const struct profile_wait *wait = &info->wait;
	uint64_t woken_ns = until(info->start_ns, wait->wait_ns);
	const struct wait_filter *filter = &collecting->filter;
	const struct wait_stretch *part = &filter->part;
	struct wait_stretch waiting = wait_filter_cut(filter, info->start_ns, wait->wait_ns);
	struct wait_stretch ready = wait_filter_cut(filter, woken_ns, wait->ready_ns);
	struct wait_stretch spinning = wait_filter_cut(filter, spin_start(info), wait->spin_ns);
	bool starts_inside = info->start_ns >= part->start_ns && info->start_ns < part->end_ns;
	struct waits_sum sum = {
		.wait_ns = length_of(&waiting),
		.ready_ns = length_of(&ready),
		.spin_ns = length_of(&spinning),
		.poor_ns = poor_time_between(&collecting->poor, waiting.start_ns, waiting.end_ns),
		.timeouts = (wait->flags & PROFILE_WAIT_TIMED_OUT) != 0,
		.before = (wait->flags & PROFILE_WAIT_BEFORE) != 0,
		.unended = (wait->flags & PROFILE_WAIT_UNENDED) != 0,
	};
	sum.count = starts_inside || sum.wait_ns > 0 || sum.ready_ns > 0 || sum.spin_ns > 0;
	sum.most_ns = sum.wait_ns;
	return sum;
}

static bool collect_wait(const struct profile_wait_info *info, void *user)
{
	struct collecting *collecting = user;
	struct waits *waits = collecting->waits;
	uint32_t threads = profile_reader_thread_count(collecting->reader);
	uint32_t thread = info->thread == PROFILE_NONE ? threads : info->thread;
	if (!wait_filter_takes(&collecting->filter, info))
		return true;
	struct waits_sum sum = measure(collecting, info);
	if (sum.count == 0)
		return true;
	struct waits_entry key = make_key(info);
	uint32_t index =
		index_map_enter(&collecting->map, &waits->entries, &key, sizeof(key),
				index_map_hash(&collecting->map, &key, KEY_SIZE), is_entry);
	waits->count = index_map_count(&collecting->map);
	waits_sum_add(&waits->entries[index].sum, &sum);
	waits->threads[thread].wait_ns += sum.wait_ns;
	waits->threads[thread].ready_ns += sum.ready_ns;
	waits->threads[thread].blocks += info->wait.blocks;
	return true;
}

/* The conditions on functions are those of the function that waits, and of its stack. */
static void drop_functions(struct waits *waits, const struct profile_reader *reader,
			   const struct functions *functions, const struct filter *filter)
{
	size_t kept = 0;
	for (size_t i = 0; i < waits->count; i++) {
		const struct waits_entry *entry = &waits->entries[i];
		if (wait_filter_takes_functions(reader, functions, filter, entry->node,
						entry->function)) {
			waits_sum_add(&waits->sum, &entry->sum);
			waits->entries[kept++] = *entry;
		}
	}
	waits->count = kept;
}

TBRW_U32 result_waits_collect(struct waits *waits, struct profile_reader *reader,
			      const struct functions *functions, const struct filter *filter,
			      uint32_t target)
{
	struct collecting collecting = {
		.waits = waits,
		.reader = reader,
	};
	*waits = (struct waits){0};
	waits->threads = xalloc_zeroed((size_t)profile_reader_thread_count(reader) + 1,
				       sizeof(*waits->threads));
	TBRW_U32 code = wait_filter_load(&collecting.filter, reader, NULL, filter);
	if (code == VT_SUCCESS && target > 0 && profile_reader_states(reader) != 0)
		code = poor_time_collect(&collecting.poor, reader, target);
	if (code == VT_SUCCESS)
		code = profile_reader_each_wait(reader, collect_wait, &collecting);
	if (code == VT_SUCCESS) {
		wait_items_name(waits, reader, functions);
		drop_functions(waits, reader, functions, filter);
	}
	wait_filter_finish(&collecting.filter);
	poor_time_finish(&collecting.poor);
	index_map_finish(&collecting.map);
	if (code != VT_SUCCESS)
		result_waits_finish(waits);
	return code;
}

void result_waits_finish(struct waits *waits)
{
	for (size_t i = 0; i < waits->item_count; i++)
		free(waits->items[i].name);
	free(waits->items);
	free(waits->entries);
	free(waits->threads);
	memset(waits, 0, sizeof(*waits));
}
