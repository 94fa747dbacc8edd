/* For builds without clang, bpftool or libbpf. */
#include "collector/bpf/waits_source.h"
#include <errno.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

int waits_source_open(const struct waits_source_config *config, struct waits_source **source)
{
	errno = ENOSYS;
	return -1;
}

void waits_source_close(struct waits_source *source)
{
}

void waits_source_limit(struct waits_source *source, const struct stack_source_limit *limit)
{
}

void waits_source_share(struct waits_source *source, uint32_t share)
{
}

int waits_source_output(struct waits_source *source, uint32_t cpu, int event_fd)
{
	return -1;
}

uint64_t waits_source_refused(const struct waits_source *source, uint32_t cpu)
{
	return 0;
}

int waits_source_add(struct waits_source *source, uint32_t pid, uint32_t tid, bool on_exec)
{
	return -1;
}

int waits_source_start(struct waits_source *source)
{
	return -1;
}

void waits_source_stop(struct waits_source *source)
{
}

bool waits_source_next_waiting(const struct waits_source *source, uint32_t *tid,
			       struct waits_source_waiting *waiting)
{
	return false;
}

void waits_source_missing(const struct waits_source *source, struct waits_source_missing *missing)
{
	*missing = (struct waits_source_missing){0};
}
