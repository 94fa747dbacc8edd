/* The way of the BPF programs' records to the collector's rings. */
#ifndef COLLECTOR_BPF_OUTPUT_BPF_H
#define COLLECTOR_BPF_OUTPUT_BPF_H

#include "collector/bpf/kernel_types.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

/* By CPU: the events through which records are sent. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, __u32);
} outputs SEC(".maps");

/* By CPU: records other than samples for which the ring had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the loader: as many as there are CPUs */
	__type(key, __u32);
	__type(value, __u64);
} refused SEC(".maps");

static void count_refused(void)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 *count = bpf_map_lookup_elem(&refused, &cpu);
	if (count)
		++*count;
}

/* Whether an event's ring is more than so many eighths full. */
static _Bool is_ring_crowded(struct perf_event *event, __u32 eighths)
{
	struct perf_buffer *buffer = 0;
	struct perf_event_mmap_page *page = 0;
	__u64 head = 0, tail = 0, size = 0;
	if (bpf_core_read(&buffer, sizeof(buffer), &event->rb) != 0 || !buffer ||
	    bpf_core_read(&head, sizeof(head), &buffer->head) != 0 ||
	    bpf_core_read(&page, sizeof(page), &buffer->user_page) != 0 ||
	    bpf_core_read(&tail, sizeof(tail), &page->data_tail) != 0 ||
	    bpf_core_read(&size, sizeof(size), &page->data_size) != 0)
		return 0;
	return head - tail > size / 8 * eighths;
}

#endif
