/*
 * The records of a recording by time. perf copies one ring after the other: the records of a round
 * and of the one before may be in any order (RECORDING_FINISHED_ROUND). Those of two rounds are
 * kept, but no more than RECORDING_ORDER_BYTES: then the older half goes on, though younger records
 * may be followed by older ones.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_ORDER_H
#define COLLECTOR_RECORDING_RECORDING_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORDING_ORDER_BYTES = 128 << 20 };

struct recording_order_entry {
	uint64_t time_ns;
	uint64_t number; /* in the file */
	uint32_t size;
	uint8_t *bytes;
};

/* Takes a record, with its header. */
typedef void recording_order_take(const uint8_t *bytes, size_t size, uint64_t time_ns, void *user);

struct recording_order { /* zeros at the start, but for take and user */
	recording_order_take *take;
	void *user;
	struct recording_order_entry *entries;
	size_t count;
	size_t capacity;
	uint64_t bytes;
	uint64_t number;
	uint64_t newest_ns;    /* of all records */
	uint64_t round_ns;     /* of those until the last round's end */
	uint64_t taken_ns;     /* newest one that went on */
	uint64_t out_of_order; /* went on after younger ones */
};

/* Copies the record. false: out of memory. */
bool recording_order_add(struct recording_order *order, uint64_t time_ns, const uint8_t *bytes,
			 size_t size);
void recording_order_end_round(struct recording_order *order);
void recording_order_end(struct recording_order *order);
void recording_order_finish(struct recording_order *order); /* drops what is left */

#endif
