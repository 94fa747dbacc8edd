/*
 * What threads of a result did over time: their slices of CPU time with the states between them,
 * and their waits (profile.h). A result without them has none, and none of the notes
 * PROFILE_NOTE_STATES and PROFILE_NOTE_WAITS. Both are streamed, and never kept in memory.
 *
 * Pointers live during the callback. One thread at a time per reader. A TBRW code is returned;
 * VT_SUCCESS also after a stop by the callback.
 */
#ifndef TBRW_PROFILE_STATES_H
#define TBRW_PROFILE_STATES_H

#include "profile/profile.h"
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_reader;

/* Bits of enum profile_states; 0: the result has no slices. */
uint32_t profile_reader_states(const struct profile_reader *reader);

/* The waits' source, PROFILE_WAIT_BY_...: a bit 1 << source for each. 0: it has no waits. */
uint32_t profile_reader_wait_sources(const struct profile_reader *reader);

/* Times are CLOCK_MONOTONIC_RAW ns. */
struct profile_slice_info {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t ready_ns; /* as in the record; `before` READY: 0 */
	uint32_t tid;
	uint32_t thread; /* index; PROFILE_NONE: not known */
	uint16_t cpu;
	uint8_t before; /* enum profile_state */
	uint8_t flags;  /* PROFILE_SLICE_... */
};
typedef bool profile_slice_callback(const struct profile_slice_info *slice, void *user);

/* In the order of the file, which is that of their ends but where the file is damaged. */
TBRW_U32 profile_reader_each_slice(struct profile_reader *reader, profile_slice_callback *callback,
				   void *user);

/* The slices from the `first` on, up to `capacity`: *count of them, fewer only at the end. For
 * those who read slices beside something else, some thousand at a time: a call takes some 20 us. */
TBRW_U32 profile_reader_read_slices(struct profile_reader *reader, uint64_t first,
				    struct profile_slice_info *slices, size_t capacity,
				    size_t *count);

struct profile_wait_info {
	uint64_t start_ns;
	uint32_t thread; /* indices; PROFILE_NONE: not known */
	uint32_t waker_thread;
	/* Object and nodes are those of this reader. A stack with a gap is SKIPPED, BAD_INFO. */
	struct profile_wait wait;
};
typedef bool profile_wait_callback(const struct profile_wait_info *wait, void *user);

/* In the order of the file: roughly that of their ends. */
TBRW_U32 profile_reader_each_wait(struct profile_reader *reader, profile_wait_callback *callback,
				  void *user);

/* From record *next on, which moves behind the last one read: *count of them, up to `capacity`,
 * fewer only at the end. Records that do not fit together are left out. For those who read waits
 * beside something else, as profile_reader_read_slices. */
TBRW_U32 profile_reader_read_waits(struct profile_reader *reader, uint64_t *next,
				   struct profile_wait_info *waits, size_t capacity, size_t *count);

uint32_t profile_reader_object_count(const struct profile_reader *reader); /* at least 1 */
/* index below the count. Its nodes, kind and type are valid; the name is by profile_reader_text. */
const struct profile_object *profile_reader_object(const struct profile_reader *r, uint32_t index);

/* The thread with this id at a time (TSC); PROFILE_NONE: none is known. */
uint32_t profile_reader_find_thread(struct profile_reader *reader, uint32_t tid, uint64_t tsc);

#endif
