#include "collector/bpf/waits_source.h"

#include "collector/bpf/wait_head.h"
#include "collector/bpf/wait_thread.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <waits_bpf.skel.h> /* generated from waits.bpf.c */

enum {
	PROGRAMS_WITH_SLOT = 3,
	/* Of the wakers' stacks of waits below a millisecond, one in as many is sent. */
	WAKER_PART = 8
};

struct waits_source {
	struct waits_bpf *skeleton;
	bool all_wakers;
};

int waits_source_open(const struct waits_source_config *config, struct waits_source **source)
{
	struct waits_source *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return -1;
	opened->all_wakers = config->all_wakers;
	opened->skeleton = waits_bpf__open();
	if (!opened->skeleton) {
		free(opened);
		errno = ENOMEM;
		return -1;
	}
	struct waits_bpf *skeleton = opened->skeleton;
	skeleton->maps.slots.max_entries = config->cpus * PROGRAMS_WITH_SLOT;
	skeleton->maps.due.max_entries = config->cpus;
	skeleton->maps.blanks.max_entries = config->cpus;
	skeleton->maps.refused.max_entries = config->cpus;
	skeleton->maps.outputs.max_entries = config->cpus;
	skeleton->data->cpu_count = config->cpus;
	skeleton->data->threshold_ns = config->threshold_ns;
	skeleton->data->children = config->children;
	int result = waits_bpf__load(skeleton);
	if (result < 0) {
		waits_source_close(opened);
		errno = -result;
		return -1;
	}
	waits_source_share(opened, UINT32_MAX);
	*source = opened;
	return 0;
}

void waits_source_close(struct waits_source *source)
{
	if (!source)
		return;
	waits_bpf__destroy(source->skeleton);
	free(source);
}

void waits_source_limit(struct waits_source *source, const struct stack_source_limit *limit)
{
	/* Shared with the program, which reads each at once. */
	struct waits_bpf__data *data = source->skeleton->data;
	__atomic_store_n(&data->always_bytes, limit->always_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&data->refill_bytes, limit->refill_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&data->gather_bytes, limit->gather_bytes, __ATOMIC_RELAXED);
}

void waits_source_share(struct waits_source *source, uint32_t share)
{
	struct waits_bpf__data *data = source->skeleton->data;
	__atomic_store_n(&data->share, share, __ATOMIC_RELAXED);
	__atomic_store_n(&data->wake_share, source->all_wakers ? share : share / WAKER_PART,
			 __ATOMIC_RELAXED);
}

int waits_source_output(struct waits_source *source, uint32_t cpu, int event_fd)
{
	uint32_t fd = (uint32_t)event_fd;
	return skel_map_update_elem(source->skeleton->maps.outputs.map_fd, &cpu, &fd, BPF_ANY);
}

uint64_t waits_source_refused(const struct waits_source *source, uint32_t cpu)
{
	union bpf_attr attr = {.map_fd = (uint32_t)source->skeleton->maps.refused.map_fd};
	uint64_t count = 0;
	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)&count;
	return skel_sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0 ? count : 0;
}

static uint64_t now_ns(void)
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int waits_source_add(struct waits_source *source, uint32_t pid, uint32_t tid, bool on_exec)
{
	struct thread_waits thread = {.pid = pid, .tid = tid, .follows = !on_exec};
	if (!on_exec)
		thread.added_ns = now_ns();
	return skel_map_update_elem(source->skeleton->maps.threads.map_fd, &tid, &thread,
				    BPF_NOEXIST) == 0 ||
			       errno == EEXIST
		       ? 0
		       : -1;
}

int waits_source_start(struct waits_source *source)
{
	int result = waits_bpf__attach(source->skeleton);
	if (result >= 0)
		return 0;
	waits_bpf__detach(source->skeleton);
	errno = -result;
	return -1;
}

void waits_source_stop(struct waits_source *source)
{
	waits_bpf__detach(source->skeleton);
}

/* NULL: the thread waits for nothing. */
static const struct wait *find_wait(const struct thread_waits *thread)
{
	if (thread->state == THREAD_IN_FAULT)
		return &thread->fault;
	if (thread->state == THREAD_IN_CALL || thread->call.blocks > 0)
		return &thread->call;
	return thread->pending.blocks > 0 ? &thread->pending : NULL;
}

static bool is_waiting(const struct thread_waits *thread, struct waits_source_waiting *waiting)
{
	const struct wait *wait = find_wait(thread);
	*waiting = (struct waits_source_waiting){.pid = thread->pid, .tid = thread->tid};
	if (!wait)
		return thread->follows && thread->state == THREAD_RUNS && thread->out_ns == 0;
	waiting->begin_ns = wait->begin_ns;
	if (thread->state == THREAD_IN_CALL || thread->state == THREAD_IN_FAULT)
		waiting->block_ns = thread->out_ns;
	waiting->is_interrupted = wait->flags & WAIT_HEAD_INTERRUPTED;
	waiting->is_32bit = wait->flags & WAIT_HEAD_COMPAT;
	waiting->syscall = wait->syscall;
	memcpy(waiting->args, wait->args, sizeof(waiting->args));
	if (wait->blocks == 0)
		return true;
	waiting->blocked_ns = wait->blocked_ns;
	waiting->ready_ns = wait->ready_ns;
	waiting->stopped_ns = wait->stopped_ns;
	waiting->blocks = wait->blocks;
	return true;
}

bool waits_source_next_waiting(const struct waits_source *source, uint32_t *tid,
			       struct waits_source_waiting *waiting)
{
	union bpf_attr attr = {.map_fd = (uint32_t)source->skeleton->maps.threads.map_fd};
	for (;;) {
		struct thread_waits thread;
		uint32_t next;
		attr.key = *tid == 0 ? 0 : (uintptr_t)tid;
		attr.next_key = (uintptr_t)&next;
		if (skel_sys_bpf(BPF_MAP_GET_NEXT_KEY, &attr, sizeof(attr)) != 0)
			return false;
		*tid = next;
		attr.key = (uintptr_t)tid;
		attr.value = (uintptr_t)&thread;
		if (skel_sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0 &&
		    is_waiting(&thread, waiting))
			return true;
	}
}

void waits_source_missing(const struct waits_source *source, struct waits_source_missing *missing)
{
	const struct waits_bpf__bss *bss = source->skeleton->bss;
	*missing = (struct waits_source_missing){
		.waits = __atomic_load_n(&bss->lost, __ATOMIC_RELAXED),
		.threads = __atomic_load_n(&bss->unfollowed, __ATOMIC_RELAXED),
	};
}
