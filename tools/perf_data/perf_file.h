/*
 * A perf.data file as tools/perf/Documentation/perf.data-file-format.txt has it: version 2, one
 * event, of samples with address, task, time, CPU, period and callchain. A stream that cannot seek
 * (a pipe) gets the pipe form, as perf itself writes it there.
 */
#ifndef TOOLS_PERF_DATA_PERF_FILE_H
#define TOOLS_PERF_DATA_PERF_FILE_H

#include "tools/perf_data/perf_record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perf_build_id {
	const char *path;
	const uint8_t *bytes;
	uint32_t size; /* at most 20 */
};

/* The header's texts and numbers; texts "" and numbers 0 where unknown. All borrowed. */
struct perf_file_info {
	const char *event; /* its name */
	bool is_counted;   /* periods are numbers of it; else ns */
	const char *version;
	const char *host;
	const char *release; /* the kernel's */
	const char *arch;    /* as uname -m says it */
	const char *cpu;
	const char *command;
	uint32_t cpus;
	uint64_t interval_ns;
	uint64_t raw_ns;  /* a point of CLOCK_MONOTONIC_RAW, the clock of the records, ... */
	uint64_t real_ns; /* ... and of CLOCK_REALTIME; 0: not known */
	const struct perf_build_id *build_ids;
	size_t build_id_count;
};

struct perf_file {
	struct perf_writer writer; /* of the records */
	const struct perf_file_info *info;
	bool is_pipe;
};

/* Errors of the stream show in ferror. info must live until the end. */
void perf_file_begin(struct perf_file *file, const struct perf_file_info *info, FILE *stream);
/* first_ns and last_ns: times of the samples. */
void perf_file_finish(struct perf_file *file, uint64_t first_ns, uint64_t last_ns);

#endif
