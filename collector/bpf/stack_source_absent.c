/* For builds without clang, bpftool or libbpf. */
#include "collector/bpf/stack_source.h"
#include <errno.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

int stack_source_open(uint32_t cpus, struct stack_source **source)
{
	errno = ENOSYS;
	return -1;
}

void stack_source_close(struct stack_source *source)
{
}

void stack_source_limit(struct stack_source *source, const struct stack_source_limit *limit)
{
}

void stack_source_share(struct stack_source *source, uint32_t share)
{
}

void stack_source_draw(struct stack_source *source, uint64_t interval_ns)
{
}

int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd)
{
	return -1;
}

int stack_source_program(const struct stack_source *source)
{
	return -1;
}

uint64_t stack_source_refused(const struct stack_source *source, uint32_t cpu)
{
	return 0;
}

int stack_source_follow(struct stack_source *source, const struct stack_source_follow *follow)
{
	return -1;
}

int stack_source_add(struct stack_source *source, uint32_t pid, bool waits)
{
	return -1;
}

void stack_source_hold(struct stack_source *source, uint32_t pid)
{
}

int stack_source_tick_program(const struct stack_source *source)
{
	return -1;
}

void stack_source_missing(const struct stack_source *source, struct stack_source_missing *missing)
{
	*missing = (struct stack_source_missing){0};
}
