/*
 * The ids of added events (event_config.added): samples are told apart by them. New threads'
 * inherited events have the ids of the events they come from. May be asked by any thread while
 * another one adds.
 */
#ifndef COLLECTOR_PERF_EVENT_IDS_H
#define COLLECTOR_PERF_EVENT_IDS_H

#include "containers/hash.h"
#include "containers/hash_table.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct event_ids {
	pthread_mutex_t lock;
	struct hash_table table;
	struct hash_key key;
};

void event_ids_init(struct event_ids *ids);
void event_ids_finish(struct event_ids *ids);

/* What an id stands for. */
struct event_id {
	uint32_t event;  /* from 1 on */
	uint64_t period; /* of all samples, which then do not say so; 0: each says its own */
};

/* false: out of memory. */
bool event_ids_add(struct event_ids *ids, uint64_t id, const struct event_id *event);

/* false: of no added event. */
bool event_ids_find(struct event_ids *ids, uint64_t id, struct event_id *event);

#endif
