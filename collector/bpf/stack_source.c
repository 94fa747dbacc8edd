#include "collector/bpf/stack_source.h"

#include "collector/bpf/stack_chunk.h"
#include <errno.h>
#include <stack_bpf.skel.h> /* generated from stack.bpf.c */
#include <stdlib.h>

/* A light skeleton: the kernel relocates the program, without reading and parsing the 6 MB of the
 * kernel's type information at each start. */
struct stack_source {
	struct stack_bpf *skeleton;
};

int stack_source_open(uint32_t cpus, struct stack_source **source)
{
	struct stack_source *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return -1;
	opened->skeleton = stack_bpf__open();
	if (!opened->skeleton) {
		free(opened);
		errno = ENOMEM;
		return -1;
	}
	opened->skeleton->maps.slots.max_entries = cpus;
	opened->skeleton->maps.refused.max_entries = cpus;
	opened->skeleton->maps.outputs.max_entries = cpus;
	int result = stack_bpf__load(opened->skeleton);
	if (result < 0) {
		stack_source_close(opened);
		errno = -result;
		return -1;
	}
	*source = opened;
	return 0;
}

void stack_source_close(struct stack_source *source)
{
	if (!source)
		return;
	stack_bpf__destroy(source->skeleton);
	free(source);
}

void stack_source_limit(struct stack_source *source, const struct stack_source_limit *limit)
{
	/* Shared with the program, which reads each at once. */
	struct stack_bpf__data *data = source->skeleton->data;
	__atomic_store_n(&data->always_bytes, limit->always_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&data->refill_bytes, limit->refill_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&data->gather_bytes, limit->gather_bytes, __ATOMIC_RELAXED);
}

void stack_source_share(struct stack_source *source, uint32_t share)
{
	__atomic_store_n(&source->skeleton->data->share, share, __ATOMIC_RELAXED);
}

void stack_source_draw(struct stack_source *source, uint64_t interval_ns)
{
	__atomic_store_n(&source->skeleton->data->interval_ns, interval_ns, __ATOMIC_RELAXED);
}

int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd)
{
	uint32_t fd = (uint32_t)event_fd;
	return skel_map_update_elem(source->skeleton->maps.outputs.map_fd, &cpu, &fd, BPF_ANY);
}

int stack_source_program(const struct stack_source *source)
{
	return source->skeleton->progs.sample_stack.prog_fd;
}

uint64_t stack_source_refused(const struct stack_source *source, uint32_t cpu)
{
	union bpf_attr attr = {.map_fd = (uint32_t)source->skeleton->maps.refused.map_fd};
	uint64_t count = 0;
	attr.key = (uintptr_t)&cpu;
	attr.value = (uintptr_t)&count;
	return skel_sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) == 0 ? count : 0;
}

int stack_source_follow(struct stack_source *source, const struct stack_source_follow *follow)
{
	struct stack_bpf *skeleton = source->skeleton;
	skeleton->data->copies = follow->copies;
	skeleton->data->children = follow->children;
	int fork = stack_bpf__follow_fork__attach(skeleton);
	int exec = fork < 0 ? fork : stack_bpf__follow_exec__attach(skeleton);
	int freed = exec < 0 ? exec : stack_bpf__follow_free__attach(skeleton);
	return freed < 0 ? -1 : 0;
}

int stack_source_add(struct stack_source *source, uint32_t pid, bool waits)
{
	struct follow_entry entry = {.state = waits ? FOLLOW_WAITS : FOLLOW_FOLLOWS};
	return skel_map_update_elem(source->skeleton->maps.followed.map_fd, &pid, &entry, BPF_ANY);
}

void stack_source_hold(struct stack_source *source, uint32_t pid)
{
	__atomic_store_n(&source->skeleton->bss->held, pid, __ATOMIC_RELAXED);
}

int stack_source_tick_program(const struct stack_source *source)
{
	return source->skeleton->progs.sample_cpu.prog_fd;
}

void stack_source_missing(const struct stack_source *source, struct stack_source_missing *missing)
{
	const struct stack_bpf__bss *bss = source->skeleton->bss;
	*missing = (struct stack_source_missing){
		.processes = __atomic_load_n(&bss->unfollowed, __ATOMIC_RELAXED),
		.accounts = __atomic_load_n(&bss->untold, __ATOMIC_RELAXED),
		.cpu_ns = __atomic_load_n(&bss->untold_ns, __ATOMIC_RELAXED),
	};
}
