/* Who had an id at a time: the lives of processes (key: pid) or threads (key: pid and tid), and the
 * gaps between them. A sample in a gap shows a life that nobody recorded; such gaps become lives
 * of their own. Not thread-safe. */
#ifndef TBRW_PROFILE_LIVES_H
#define TBRW_PROFILE_LIVES_H

#include "profile/base/idmap.h"
#include <stdbool.h>
#include <stdint.h>

#define PROFILE_LIFE_NONE UINT32_MAX

/* Covers start <= tsc < end, up to and including all ones if that is the end. */
struct profile_life {
	uint64_t key;
	uint64_t start;
	uint64_t end;
	uint32_t record;    /* index of the life, PROFILE_LIFE_NONE for a gap that is none yet */
	uint32_t samples;   /* seen in a gap */
	uint64_t cpu_ns;    /* seen in a gap */
	uint64_t last_seen; /* in a gap: the latest time */
	bool is_gap;        /* not recorded */
	bool is_seen;       /* a gap that something was in */
};

struct profile_lives {
	struct profile_life *items; /* sealed: sorted by key and start, without holes */
	uint32_t count;
	uint32_t capacity;
	uint32_t sorted; /* items before this one are sorted; those after are found by extra */
	struct profile_idmap extra;
	uint32_t memo; /* last item found */
};

/* A zeroed struct is empty and needs no init. */
void profile_lives_finish(struct profile_lives *lives);

/* Before sealing. false: out of memory. */
bool profile_lives_add(struct profile_lives *lives, uint64_t key, uint64_t start, uint64_t end,
		       uint32_t record);
/* A time at which a gap, if there is one, falls into two lives (an exec). */
bool profile_lives_cut(struct profile_lives *lives, uint64_t key, uint64_t tsc);

/* Sorts, ends each life no later than the next one begins, and fills the gaps. */
bool profile_lives_seal(struct profile_lives *lives);

/* The recorded life at a time or a gap, NULL for a key without any. Pointers are valid until the
 * next call that can add. */
struct profile_life *profile_lives_at(struct profile_lives *lives, uint64_t key, uint64_t tsc);

/* As profile_lives_at, but the moment at which a recorded life ended still belongs to it. */
struct profile_life *profile_lives_find(struct profile_lives *lives, uint64_t key, uint64_t tsc);

/* Finds, and adds a gap of all times for an unknown key. NULL: out of memory. */
struct profile_life *profile_lives_need(struct profile_lives *lives, uint64_t key, uint64_t tsc);

#endif
