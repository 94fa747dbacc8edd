/* Whether a task has perf events: those that do are few, and mostly ours. */
#ifndef COLLECTOR_BPF_TASK_EVENTS_BPF_H
#define COLLECTOR_BPF_TASK_EVENTS_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Whether perf events were ever opened for the task, and it does not end. For programs whose
 * pointers to tasks the verifier knows (tp_btf). */
static _Bool has_own_events(struct task_struct *task)
{
	struct task_struct___one_context *one = (void *)task;
	struct task_struct___two_contexts *two = (void *)task;
	if (bpf_core_field_exists(one->perf_event_ctxp))
		return one->perf_event_ctxp != 0;
	return two->perf_event_ctxp[1] != 0;
}

#endif
