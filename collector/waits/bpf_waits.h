/*
 * Waits by BPF: each comes whole, when its call ends. The stack of the thread that ended it came
 * before, if it was sent.
 */
#ifndef COLLECTOR_WAITS_BPF_WAITS_H
#define COLLECTOR_WAITS_BPF_WAITS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <stdint.h>

struct asker;
struct record;
struct waits;

struct bpf_waits {
	struct hash_table wakes; /* the last one of each waiting thread */
	struct hash_key key;
	struct asker *asker; /* of threads that wait at the end; NULL: none yet */
	uint64_t unseen;     /* waits that could not be written */
};

void bpf_waits_init(struct bpf_waits *bpf);
void bpf_waits_finish(struct bpf_waits *bpf);

/* The record's call. */
void bpf_waits_wake(struct waits *waits, const struct record *record);
void bpf_waits_wait(struct waits *waits, const struct record *record);
void bpf_waits_end_thread(struct bpf_waits *bpf, const struct record *record);

/* Writes the note of waits that could not be written. */
void bpf_waits_end(struct waits *waits, uint64_t end_ns);

#endif
