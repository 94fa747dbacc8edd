/* The drain's two sides: the caller's in drain.c, the thread's in drain_thread.c. */
#ifndef COLLECTOR_STREAM_DRAIN_PRIVATE_H
#define COLLECTOR_STREAM_DRAIN_PRIVATE_H

#include "collector/perf/record.h"
#include "collector/stream/drain.h"
#include "collector/stream/fill.h"
#include <pthread.h>
#include <semaphore.h>

/* How long after its time stamp a record may appear in its ring (see merge_begin). */
#define DRAIN_VISIBLE_NS 2000000ull

enum { DRAIN_KNOWN_FILES = 1024 };

struct drain {
	struct sampler *sampler;
	struct queue *queue;
	pthread_t thread;
	sem_t is_ready; /* while drain_start waits for the thread */
	bool has_thread;
	struct pollfd *polls; /* the thread's stop event, then the rings */
	size_t poll_count;

	/* The thread's. */
	uint64_t *looked; /* position of the look for mapped files, per ring */
	uint64_t known_files[DRAIN_KNOWN_FILES]; /* some seen files, by ring_next_file's hash */

	/* Held for one record, or to look through one ring, and never while waiting: guards the
	 * members below, the rings, and putting into the queue. */
	pthread_mutex_t lock;
	struct record_format format;
	struct source *sources; /* the rings, those of switches if there are, then others */
	size_t source_count;
	struct switch_source *switches; /* by ring; NULL: the rings have them */
	struct merge *merge;
	struct drain_watcher watchers[DRAIN_WATCHERS];
	size_t watcher_count;
	uint64_t *watched; /* position of the watchers, per ring */
	struct assembly *assembly;
	uint64_t copied;
	uint32_t share; /* of the stacks to keep */
	uint64_t left_out_bytes;
	uint64_t *last_ns; /* of the last record, per ring */
	struct fill fill;

	/* The caller's. */
	enum drain_extent extent;
	bool in_place;        /* the queue is empty: records come straight from the rings */
	size_t unfinished;    /* DRAIN_REST: rings whose unfinished samples came */
	struct record record; /* the caller's current record */
	uint8_t *bytes;       /* the record's data: RECORD_COPY_MAX, resident as used */
};

/* The following with the lock held. */

/* Begins a round of the merge; the records it takes are shown to the watchers first. */
void drain_begin_merge(struct drain *drain, uint64_t limit_ns);

/* Whether to hand out a record of the merge. A sample left unfinished by the record goes into the
 * queue first; is_late: so does the record. */
bool drain_complete(struct drain *drain, struct record *record, bool is_late);

/* Leaves out the stack of a record that goes into the queue, if a ring would fill up meanwhile. */
void drain_keep_up(struct drain *drain, struct record *record);

#endif
