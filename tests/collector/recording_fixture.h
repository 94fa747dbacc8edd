/*
 * Recordings made byte by byte, and the results that they become.
 */
#ifndef TESTS_COLLECTOR_RECORDING_FIXTURE_H
#define TESTS_COLLECTOR_RECORDING_FIXTURE_H

#include "collector/recording/recording.h"
#include "profile/read/reader.h"
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RECORDED_HEADER_SIZE = 104,
	RECORDED_ATTR_SIZE = 112,
	RECORDED_CHAIN = 3,
	/* Types of records. */
	RECORDED_DEFERRED = 22,
	RECORDED_ATTR = 64,
	RECORDED_ROUND = 68,
	RECORDED_AUXTRACE = 71,
	RECORDED_UPDATE = 78,
	RECORDED_COMPRESSED = 81
};

extern struct recorded {
	uint8_t bytes[16 << 20];
	size_t size;
	size_t hole; /* zeros behind the bytes */
	char path[64];
	struct profile_reader *reader; /* of the result */
	struct recording_summary summary;
	struct failure failure;
	uint64_t seen_done; /* of the import's work */
} recorded;

extern const uint64_t recorded_chain[RECORDED_CHAIN];

void recorded_set_up(void);
void recorded_tear_down(void);
void recorded_forget(void); /* between two imports */

void recorded_put(const void *more, size_t count);
void recorded_put_u64(uint64_t value);
void recorded_put_task(uint32_t pid, uint32_t tid);
void recorded_put_text(const char *text);
size_t recorded_begin(uint32_t type, uint16_t misc);
void recorded_end(size_t start);
/* All records but samples end with task and time, and the id if there are several events. */
void recorded_end_with(size_t start, uint32_t pid, uint64_t time_ns);

struct perf_event_attr recorded_attributes(uint64_t config);
/* A file with one event, up to its records. */
void recorded_begin_file(const struct perf_event_attr *attr);
void recorded_end_file(void);
void recorded_begin_pipe(const struct perf_event_attr *attr);
/* In a pipe: an event, and samples of it. */
void recorded_add_event(struct perf_event_attr attr, uint64_t id, uint64_t samples);

void recorded_put_comm(uint32_t pid, const char *name, uint64_t time_ns);
void recorded_put_map(uint32_t pid, uint64_t at, const char *name, uint64_t time_ns);
void recorded_put_sample(uint32_t pid, uint64_t time_ns, uint64_t period, const uint64_t *chain,
			 uint64_t count);

/* 0 with an open reader, or -1. */
int recorded_import(const char *event);
int recorded_import_ranked(const char *event, size_t rank);
bool recorded_has_note(enum profile_note_kind kind, uint64_t value, const char *text);

#endif
