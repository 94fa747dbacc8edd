/*
 * What happens to the processes and threads of a result, in the order of time.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_LIVES_H
#define TOOLS_PERF_EXPORT_PERF_LIVES_H

#include "profile/read/reader.h"
#include <stddef.h>
#include <stdint.h>

/* In the order of things that happen at the same time. */
enum perf_life_kind {
	PERF_LIFE_START, /* of a process */
	PERF_LIFE_EXEC,  /* a process goes on as another program */
	PERF_LIFE_CLONE, /* a thread's start; none for a process's first thread */
	PERF_LIFE_MAP,   /* of a module */
	PERF_LIFE_EXIT,  /* of a thread */
};

struct perf_life {
	uint64_t time_ns; /* 0: before the collection */
	enum perf_life_kind kind;
	uint32_t index; /* of the thread, process or module */
};

/* The caller frees the array. */
struct perf_life *perf_lives_collect(const struct profile_reader *reader, size_t *count);

#endif
