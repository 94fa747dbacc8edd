#include "collector/bpf/switches_source.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <switches_bpf.skel.h> /* generated from switches.bpf.c */
#include <sys/mman.h>
#include <unistd.h>

/* Records of a ring: of 4 MB, or less where CPUs are many. */
enum { RECORDS_MAX = 128 * 1024, RECORDS_LEAST = 2 * 1024, ALL_RECORDS_MAX = 4 * 1024 * 1024 };

struct switches_source {
	struct switches_bpf *skeleton;
	uint32_t cpus;
	uint32_t capacity;
	struct switch_record *records;
	struct switch_ends *ends;
};

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	return (bytes + page - 1) / page * page;
}

static size_t records_size(const struct switches_source *source)
{
	return whole_pages((size_t)source->cpus * source->capacity * sizeof(*source->records));
}

static size_t ends_size(const struct switches_source *source)
{
	return whole_pages(source->cpus * sizeof(*source->ends));
}

/* NULL with errno. */
static void *map_shared(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* 0, or -1 with errno. */
static int load(struct switches_source *source)
{
	struct switches_bpf *skeleton = source->skeleton = switches_bpf__open();
	if (!skeleton) {
		errno = ENOMEM;
		return -1;
	}
	skeleton->maps.records.max_entries = source->cpus * source->capacity;
	skeleton->maps.ends.max_entries = source->cpus;
	skeleton->data->ring_records = source->capacity;
	int result = switches_bpf__load(skeleton);
	if (result < 0) {
		errno = -result;
		return -1;
	}
	source->records = map_shared(skeleton->maps.records.map_fd, records_size(source));
	source->ends =
		source->records ? map_shared(skeleton->maps.ends.map_fd, ends_size(source)) : NULL;
	return source->ends ? 0 : -1;
}

int switches_source_open(uint32_t cpus, struct switches_source **source)
{
	struct switches_source *opened = calloc(1, sizeof(*opened));
	if (!opened)
		return -1;
	opened->cpus = cpus;
	opened->capacity = RECORDS_MAX;
	while (opened->capacity > RECORDS_LEAST &&
	       (uint64_t)opened->capacity * cpus > ALL_RECORDS_MAX)
		opened->capacity /= 2;
	if (load(opened) < 0) {
		int error = errno;
		switches_source_close(opened);
		errno = error;
		return -1;
	}
	*source = opened;
	return 0;
}

void switches_source_close(struct switches_source *source)
{
	if (!source)
		return;
	if (source->ends)
		munmap(source->ends, ends_size(source));
	if (source->records)
		munmap(source->records, records_size(source));
	if (source->skeleton)
		switches_bpf__destroy(source->skeleton);
	free(source);
}

int switches_source_start(struct switches_source *source)
{
	int result = switches_bpf__attach(source->skeleton);
	if (result >= 0)
		return 0;
	errno = -result;
	return -1;
}

void switches_source_stop(struct switches_source *source)
{
	switches_bpf__detach(source->skeleton);
}

uint64_t switches_source_head(const struct switches_source *source, uint32_t cpu)
{
	/* Pairs with the program's barrier between a record and the head behind it. */
	return __atomic_load_n(&source->ends[cpu].head, __ATOMIC_ACQUIRE);
}

uint64_t switches_source_tail(const struct switches_source *source, uint32_t cpu)
{
	return __atomic_load_n(&source->ends[cpu].tail, __ATOMIC_RELAXED);
}

uint32_t switches_source_capacity(const struct switches_source *source)
{
	return source->capacity;
}

const struct switch_record *switches_source_at(const struct switches_source *source, uint32_t cpu,
					       uint64_t position)
{
	return &source->records[(size_t)cpu * source->capacity +
				(position & (source->capacity - 1))];
}

void switches_source_release(struct switches_source *source, uint32_t cpu, uint64_t position)
{
	/* Our reads are done before the program may write over them. */
	__atomic_store_n(&source->ends[cpu].tail, position, __ATOMIC_RELEASE);
}

uint64_t switches_source_lost(const struct switches_source *source, uint32_t cpu)
{
	return __atomic_load_n(&source->ends[cpu].lost, __ATOMIC_RELAXED);
}
