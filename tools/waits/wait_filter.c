/* A filter's conditions on waits. */
#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/functions/filter.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/states/thread_states.h"
#include "tools/waits/wait_functions.h"
#include "tools/waits/waits.h"
#include <stdlib.h>

static bool *choose_threads(const struct profile_reader *reader, const struct filter *filter)
{
	uint32_t count = profile_reader_thread_count(reader);
	bool *takes = xalloc_zeroed((size_t)count + 1, sizeof(*takes));
	for (uint32_t i = 0; i < count; i++)
		takes[i] = tally_takes_thread(reader, filter, i);
	takes[count] = filter_takes_thread(filter, 0, "", 0, "");
	return takes;
}

static struct wait_stretch choose_part(const struct profile_reader *reader,
				       const struct filter *filter)
{
	struct collected collected;
	collected_init(&collected, reader, filter);
	struct wait_stretch part = {collected.start_ns,
				    filter->to_ns ? collected.end_ns : UINT64_MAX};
	collected_finish(&collected);
	return part;
}

TBRW_U32 wait_filter_load(struct wait_filter *waits, struct profile_reader *reader,
			  const struct functions *functions, const struct filter *filter)
{
	*waits = (struct wait_filter){
		.reader = reader,
		.filter = filter,
		.functions = functions,
		.tasks = xalloc_zeroed(1, sizeof(*waits->tasks)),
		.takes_thread = choose_threads(reader, filter),
		.part = choose_part(reader, filter),
	};
	if (functions && filter_needs_function(filter))
		waits->sites = wait_functions_create(reader, functions);
	return task_filter_load(waits->tasks, reader, filter);
}

void wait_filter_finish(struct wait_filter *waits)
{
	if (waits->tasks)
		task_filter_finish(waits->tasks);
	free(waits->tasks);
	wait_functions_destroy(waits->sites);
	free(waits->takes_thread);
	*waits = (struct wait_filter){0};
}

static bool takes_task(const struct wait_filter *waits, const struct profile_wait_info *info)
{
	struct profile_sample_info moment = {.tsc = info->wait.start_tsc,
					     .tid = info->wait.tid,
					     .thread = info->thread};
	if (info->thread != PROFILE_NONE)
		moment.pid = profile_reader_thread(waits->reader, info->thread)->pid;
	return task_filter_takes(waits->tasks, &moment);
}

/* Parents have smaller numbers than children: the walk ends. */
static bool is_on_stack(const struct profile_reader *reader, const struct functions *functions,
			const struct filter_condition *condition, uint32_t node)
{
	for (; node != 0 && node != PROFILE_NONE;
	     node = profile_reader_node(reader, node)->parent) {
		uint32_t count = 0;
		const uint32_t *of_frame =
			functions_of_frame(functions, profile_reader_node(reader, node)->frame,
					   &count);
		for (uint32_t i = 0; i < count; i++)
			if (filter_takes_on_stack(condition, functions_at(functions, of_frame[i])))
				return true;
	}
	return false;
}

bool wait_filter_takes_functions(const struct profile_reader *reader,
				 const struct functions *functions, const struct filter *filter,
				 uint32_t node, uint32_t function)
{
	bool takes = filter_takes_function(filter, functions_at(functions, function),
					   functions_dso_of(functions, function));
	for (size_t i = 0; takes && i < filter->count; i++)
		if (filter->conditions[i].key == FILTER_STACK)
			takes = is_on_stack(reader, functions, &filter->conditions[i], node);
	return takes;
}

static bool takes_function(const struct wait_filter *waits, uint32_t node)
{
	if (!waits->sites)
		return true;
	return wait_filter_takes_functions(waits->reader, waits->functions, waits->filter, node,
					   wait_site_of(waits->sites, node).function);
}

bool wait_filter_takes(const struct wait_filter *waits, const struct profile_wait_info *info)
{
	uint32_t threads = profile_reader_thread_count(waits->reader);
	uint32_t thread = info->thread == PROFILE_NONE ? threads : info->thread;
	return waits->takes_thread[thread] && takes_task(waits, info) &&
	       takes_function(waits, info->wait.node);
}

struct wait_stretch wait_filter_cut(const struct wait_filter *waits, uint64_t start_ns,
				    uint64_t length_ns)
{
	uint64_t end_ns = length_ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + length_ns;
	if (start_ns < waits->part.start_ns)
		start_ns = waits->part.start_ns;
	if (end_ns > waits->part.end_ns)
		end_ns = waits->part.end_ns;
	return (struct wait_stretch){start_ns, end_ns > start_ns ? end_ns : start_ns};
}
