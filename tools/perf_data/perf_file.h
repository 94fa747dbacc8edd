/*
 * A perf.data file as tools/perf/Documentation/perf.data-file-format.txt has it: version 2, an
 * event of samples with address, task, time, CPU, period and callchain, and with waits a second
 * one of the same form. A stream that cannot seek (a pipe) gets the pipe form, as perf itself
 * writes it there.
 *
 * The event of waits has perf's name for them (perf record --off-cpu), but is no BPF output as
 * perf's: from 6.16 on, perf reads samples of such an event from bytes of their own form
 * (util/evsel.c), older ones from the fields that all samples have. A dummy event of this name is
 * read by all, and taken by none for something that counts.
 */
#ifndef TOOLS_PERF_DATA_PERF_FILE_H
#define TOOLS_PERF_DATA_PERF_FILE_H

#include "tools/perf_data/perf_record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PERF_FILE_WAITS "offcpu-time"

struct perf_build_id {
	const char *path;
	const uint8_t *bytes;
	uint32_t size; /* at most 20 */
};

/* The header's texts and numbers; texts "" and numbers 0 where unknown. All borrowed. */
struct perf_file_info {
	const char *event; /* its name */
	bool is_counted;   /* periods are numbers of it; else ns */
	bool has_switches; /* records of them come */
	bool has_waits;    /* samples of PERF_EVENT_WAITS come; periods are ns */
	uint64_t wait_ns;  /* shorter waits have none */
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
