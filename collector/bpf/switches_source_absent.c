/* For builds without clang, bpftool or libbpf. */
#include "collector/bpf/switches_source.h"
#include <errno.h>
#include <stddef.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

int switches_source_open(uint32_t cpus, struct switches_source **source)
{
	errno = ENOSYS;
	return -1;
}

void switches_source_close(struct switches_source *source)
{
}

int switches_source_start(struct switches_source *source)
{
	return -1;
}

void switches_source_stop(struct switches_source *source)
{
}

uint64_t switches_source_head(const struct switches_source *source, uint32_t cpu)
{
	return 0;
}

uint64_t switches_source_tail(const struct switches_source *source, uint32_t cpu)
{
	return 0;
}

uint32_t switches_source_capacity(const struct switches_source *source)
{
	return 0;
}

const struct switch_record *switches_source_at(const struct switches_source *source, uint32_t cpu,
					       uint64_t position)
{
	return NULL;
}

void switches_source_release(struct switches_source *source, uint32_t cpu, uint64_t position)
{
}

uint64_t switches_source_lost(const struct switches_source *source, uint32_t cpu)
{
	return 0;
}
