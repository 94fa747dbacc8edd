/*
 * The records of a perf.data file, as linux/perf_event.h has them, little-endian. Each carries its
 * task, time and event (sample_id_all). Texts are cut at the kernel's limits for them.
 */
#ifndef TOOLS_PERF_DATA_PERF_RECORD_H
#define TOOLS_PERF_DATA_PERF_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The events of a file. */
enum perf_event_id {
	PERF_EVENT_SAMPLES = 1,
	PERF_EVENT_WAITS = 2,
};

/* The most entries of a callchain: a record's size has 16 bits. */
#define PERF_RECORD_CHAIN_MAX 8000u

/* The entry of a callchain in front of addresses of the given one's half, the kernel's or the
 * user's: PERF_CONTEXT_... */
uint64_t perf_record_context(uint64_t address);

struct perf_bytes { /* all zero: none */
	char *bytes;
	size_t size;
	size_t capacity;
};

void perf_bytes_add(struct perf_bytes *bytes, const void *more, size_t size);
void perf_bytes_add_u32(struct perf_bytes *bytes, uint32_t number);
void perf_bytes_add_u64(struct perf_bytes *bytes, uint64_t number);
/* The text and its terminator, filled up with zeros to a multiple of `align`; of a longer text the
 * first whole characters in less than `limit` bytes. */
void perf_bytes_add_text(struct perf_bytes *bytes, const char *text, size_t limit, size_t align);

struct perf_writer {
	FILE *stream;              /* the caller's */
	uint64_t written;          /* bytes of all whole records */
	struct perf_bytes records; /* those not yet in the stream */
	size_t start;              /* place of the one being made */
};

/* Hands all whole records to the stream. */
void perf_writer_flush(struct perf_writer *writer);
/* Drops what is not flushed. The stream stays open. */
void perf_writer_finish(struct perf_writer *writer);

/* A record is begun, filled through writer->records, and ended. */
void perf_writer_begin(struct perf_writer *writer, uint32_t type, uint16_t flags);
void perf_writer_end(struct perf_writer *writer);

/* Where and when something happens. */
struct perf_task {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns; /* 0: before the recording */
};

void perf_write_comm(struct perf_writer *writer, const struct perf_task *task, const char *name,
		     bool is_exec);
/* parent 0: not known. The mappings of the new process follow; it inherits none. */
void perf_write_fork(struct perf_writer *writer, const struct perf_task *task, uint32_t parent);
void perf_write_exit(struct perf_writer *writer, const struct perf_task *task);

struct perf_mapping {
	uint64_t start;
	uint64_t length;
	uint64_t pgoff;
	const char *path;
	uint64_t inode;
	uint32_t device_major;
	uint32_t device_minor;
	const uint8_t *build_id;
	uint32_t build_id_size; /* at most 20; 0: not known, inode and device count */
};

/* Executable code. */
void perf_write_mapping(struct perf_writer *writer, const struct perf_task *task,
			const struct perf_mapping *mapping);

/* A function of the kernel's half, for all processes; of all times. */
void perf_write_symbol(struct perf_writer *writer, uint64_t start, uint32_t length,
		       const char *name);

enum perf_switch_kind {
	PERF_SWITCH_IN,
	PERF_SWITCH_OUT,
	PERF_SWITCH_OUT_PREEMPTED,
};

/* The task gets or leaves the CPU. */
void perf_write_switch(struct perf_writer *writer, const struct perf_task *task, uint32_t cpu,
		       enum perf_switch_kind kind);

struct perf_sample {
	enum perf_event_id event;
	struct perf_task task;
	uint32_t cpu;
	uint64_t period;
	/* Addresses, innermost first, with a context in front of the first and wherever the half
	 * changes: at least two entries and at most PERF_RECORD_CHAIN_MAX. */
	const uint64_t *chain;
	size_t count;
};

void perf_write_sample(struct perf_writer *writer, const struct perf_sample *sample);

/* No later record is older than the records before the previous round's end. */
void perf_write_round(struct perf_writer *writer);

#endif
