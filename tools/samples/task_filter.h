/*
 * A filter's conditions on tasks: a sample meets one if it lies in an interval of a task or frame
 * with such a name (tools/intervals/spans.h).
 */
#ifndef TOOLS_SAMPLES_TASK_FILTER_H
#define TOOLS_SAMPLES_TASK_FILTER_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>

struct filter;
struct profile_reader;
struct profile_sample_info;
struct spans;

struct task_filter { /* all zero: takes everything */
	struct spans *conditions;
	size_t count;
};

/* Returns the reader's code. */
TBRW_U32 task_filter_load(struct task_filter *tasks, struct profile_reader *reader,
			  const struct filter *filter);
void task_filter_finish(struct task_filter *tasks);

bool task_filter_takes(const struct task_filter *tasks, const struct profile_sample_info *sample);

#endif
