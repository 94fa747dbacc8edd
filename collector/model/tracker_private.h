/* What the tracker's files share: its state. */
#ifndef COLLECTOR_MODEL_TRACKER_PRIVATE_H
#define COLLECTOR_MODEL_TRACKER_PRIVATE_H

#include "collector/model/idmap.h"
#include "collector/model/process.h"
#include "collector/model/thread.h"
#include "collector/model/tracker.h"

enum { NOTED_NAMES_MAX = 32 };

/* The threads that one opened thread and its descendants make. */
struct family {
	uint64_t cpu_ns;      /* counted by samples and final counts */
	bool has_descendants; /* other threads whose last counts are not known */
};

struct tracker {
	struct tracker_config config;
	struct process_context context;
	struct hash_table processes;
	struct hash_table threads; /* live ones, and ended ones that wait for their final counts */
	struct family *families;
	uint32_t family_count;
	size_t family_capacity;
	uint64_t *gaps;               /* in each ring: times that samples were lost */
	struct thread *open_accounts; /* ended, but the final count is still to come */
	uint64_t now_ns;              /* time of the last record */
	char noted_names[NOTED_NAMES_MAX][PROCESS_NAME_MAX]; /* programs noted as not followed */
	size_t noted_count;
	size_t command_bytes; /* of command lines noted so far */
	uint64_t unknown_ns;  /* in accounts of no known thread */
	uint64_t open_ns;     /* of followed threads, in no account (tracker_settle) */
	uint64_t busy_ns;     /* of it, what can lie between ticks (thread_lack) */
	struct tracker_counts counts;
};

#endif
