#include "tools/samples/task_filter.h"

#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/intervals/spans.h"
#include "tools/memory/xalloc.h"
#include <stdlib.h>

static uint32_t choose_interval(const struct profile_interval *interval, void *user)
{
	const bool *takes = user; /* by series */
	return takes[interval->series] ? 0 : SPANS_NOT;
}

static TBRW_U32 load_condition(struct spans *spans, struct profile_reader *reader,
			       const struct filter_condition *condition)
{
	uint32_t count = profile_reader_series_count(reader);
	bool *takes = xalloc_zeroed(count, sizeof(*takes));
	for (uint32_t i = 0; i < count; i++)
		takes[i] =
			filter_takes_name(condition, profile_reader_series_name(reader, i), NULL);
	TBRW_U32 code = spans_load(spans, reader, choose_interval, takes);
	free(takes);
	return code;
}

TBRW_U32 task_filter_load(struct task_filter *tasks, struct profile_reader *reader,
			  const struct filter *filter)
{
	TBRW_U32 code = VT_SUCCESS;
	*tasks = (struct task_filter){0};
	for (size_t i = 0; i < filter->count && code == VT_SUCCESS; i++) {
		if (filter->conditions[i].key != FILTER_TASK)
			continue;
		tasks->conditions = xalloc_resize(tasks->conditions, tasks->count + 1,
						  sizeof(*tasks->conditions));
		code = load_condition(&tasks->conditions[tasks->count++], reader,
				      &filter->conditions[i]);
	}
	return code;
}

void task_filter_finish(struct task_filter *tasks)
{
	for (size_t i = 0; i < tasks->count; i++)
		spans_finish(&tasks->conditions[i]);
	free(tasks->conditions);
	*tasks = (struct task_filter){0};
}

/* The first interval is enough. */
static bool stop_at_item(uint32_t item, void *user)
{
	(void)item, (void)user;
	return false;
}

bool task_filter_takes(const struct task_filter *tasks, const struct profile_sample_info *sample)
{
	for (size_t i = 0; i < tasks->count; i++)
		if (spans_at(&tasks->conditions[i], sample->pid, sample->tid, sample->tsc,
			     stop_at_item, NULL))
			return false;
	return true;
}
