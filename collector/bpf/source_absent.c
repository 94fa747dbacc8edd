/* For builds without clang, bpftool or libbpf. */
#include "collector/bpf/source.h"
#include <errno.h>

int stack_source_open(uint32_t cpus, struct stack_source **source)
{
	(void)cpus;
	(void)source;
	return -ENOSYS;
}

void stack_source_close(struct stack_source *source)
{
	(void)source;
}

void stack_source_limit(struct stack_source *source, uint64_t always_bytes, uint64_t refill_bytes,
			uint64_t gather_bytes)
{
	(void)source;
	(void)always_bytes;
	(void)refill_bytes;
	(void)gather_bytes;
}

void stack_source_share(struct stack_source *source, uint32_t share)
{
	(void)source;
	(void)share;
}

void stack_source_draw(struct stack_source *source, uint64_t interval_ns)
{
	(void)source;
	(void)interval_ns;
}

int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd)
{
	(void)source;
	(void)cpu;
	(void)event_fd;
	return -ENOSYS;
}

int stack_source_program(const struct stack_source *source)
{
	(void)source;
	return -1;
}

uint64_t stack_source_refused(const struct stack_source *source, uint32_t cpu)
{
	(void)source;
	(void)cpu;
	return 0;
}

int stack_source_follow(struct stack_source *source, const struct stack_source_follow *follow)
{
	(void)source;
	(void)follow;
	return -ENOSYS;
}

int stack_source_add(struct stack_source *source, uint32_t pid, bool waits)
{
	(void)source;
	(void)pid;
	(void)waits;
	return -ENOSYS;
}

void stack_source_hold(struct stack_source *source, uint32_t pid)
{
	(void)source;
	(void)pid;
}

int stack_source_tick_program(const struct stack_source *source)
{
	(void)source;
	return -1;
}

void stack_source_missing(const struct stack_source *source, struct stack_source_missing *missing)
{
	(void)source;
	*missing = (struct stack_source_missing){0};
}
