/*
 * The events of a recording, and the parts of their records. Source: linux/perf_event.h, struct
 * perf_event_attr and enum perf_event_type; perf_event_open(2).
 */
#ifndef COLLECTOR_RECORDING_RECORDING_EVENTS_H
#define COLLECTOR_RECORDING_RECORDING_EVENTS_H

#include "collector/recording/recording_cursor.h"
#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each event has an id for each processor or thread. */
enum { RECORDING_EVENT_NAME = 128, RECORDING_EVENTS_MAX = 4096, RECORDING_IDS_MAX = 1 << 21 };

struct recording_event {
	uint32_t type;
	uint64_t config;
	uint64_t period; /* or frequency */
	bool is_frequency;
	bool has_trailers; /* sample_id_all */
	bool has_kernel;   /* kernel mode is sampled */
	bool is_inherited; /* by threads to come */
	int32_t clock;     /* of the times; -1: the scheduler's */
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t registers; /* of user code: bits of asm/perf_regs.h */
	uint32_t stack_size;
	char name[RECORDING_EVENT_NAME];
	uint64_t samples; /* the caller's count */
};

struct recording_events {
	struct recording_event *items;
	size_t count;
	size_t capacity;
	struct hash_table ids; /* of records, with their events */
	struct hash_key key;
};

/* Adds an event of a perf_event_attr of size bytes; the cursor stands at it. false: it is none, or
 * there are too many. */
bool recording_events_add(struct recording_events *events, struct recording_cursor *attr);
/* The id of a record of the last event, unless an event has it. false: out of memory, or there are
 * too many. */
bool recording_events_add_id(struct recording_events *events, uint64_t id);
/* The event of an id, or of its number where no record has an id; NULL: there is none. */
struct recording_event *recording_events_find(struct recording_events *events, uint64_t id);
struct recording_event *recording_events_named(const struct recording_events *events,
					       const char *name);
void recording_events_finish(struct recording_events *events);

void recording_event_rename(struct recording_event *event, const char *name);

/* Whether its periods are ns: a clock's. */
bool recording_event_is_time(const struct recording_event *event);

/* Whether its samples are waits: tbconvert's exports have such an event (profile/profile.h,
 * tools/perf_data/perf_file.h). A sample's time is when the wait ended, its period the time blocked
 * in ns; the event's period is the shortest that there are. */
bool recording_event_is_waits(const struct recording_event *event);

/* Whether its samples are the scheduler's switches of CPUs; ... threads woken, by the first of both
 * tracepoints at a wake, or by the second. */
bool recording_event_is_switches(const struct recording_event *event);
bool recording_event_is_waking(const struct recording_event *event);
bool recording_event_is_wakeup(const struct recording_event *event);

/* What follows a record that is no sample. */
struct recording_trailer {
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint32_t cpu;
	bool has_cpu;
	bool has_task;
	bool has_time; /* time_ns is not 0 */
	size_t size;   /* bytes at the record's end */
};

/* Of a record of the kernel's, with its header. false: it is too short. */
bool recording_trailer_read(struct recording_events *events, const uint8_t *bytes, size_t size,
			    struct recording_trailer *trailer);

/* A sample's parts. Pointers are into its bytes, unaligned; NULL: it has no such part. */
struct recording_sample {
	struct recording_event *event;
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	uint32_t cpu;
	bool has_cpu;
	uint64_t period;
	bool has_period;
	const uint8_t *chain; /* u64 each */
	uint64_t chain_count;
	const uint8_t *counts; /* what the events of its group have counted so far, its own too */
	uint64_t counts_read;  /* how many; 0: it has none, or nobody knows of which events */
	size_t count_words;    /* u64 of each, ... */
	size_t id_word;        /* ... one of them its id */
	uint64_t nameless;     /* counts of events that nobody knows */
	const uint8_t *raw;    /* of a tracepoint: its record */
	size_t raw_size;
	uint64_t abi; /* PERF_SAMPLE_REGS_ABI_... */
	const uint8_t *registers;
	const uint8_t *stack;
	uint64_t stack_size;   /* bytes asked for */
	uint64_t stack_copied; /* bytes that came */
};

/* A total that an event has counted. */
struct recording_count {
	uint64_t id;
	uint64_t total;
};

/* The i-th one, below counts_read. */
struct recording_count recording_sample_count(const struct recording_sample *sample, uint64_t i);

/* Of a record with its header. false: it is not whole, or of no known event. */
bool recording_sample_read(struct recording_events *events, const uint8_t *bytes, size_t size,
			   struct recording_sample *sample);

#endif
