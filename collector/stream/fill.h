/*
 * How full the rings are, and whether stacks are left out so that their reader keeps up. Samples
 * never are.
 */
#ifndef COLLECTOR_STREAM_FILL_H
#define COLLECTOR_STREAM_FILL_H

#include <stdbool.h>
#include <stddef.h>

struct sampler;

struct fill {
	const struct sampler *sampler; /* its rings, and those of switches if it has them */
	bool *behind;                  /* per ring: its reader is late */
	size_t behind_count;
	size_t turn; /* of the rings, in fill_is_late */
};

/* The sampler is borrowed. false: out of memory; finish it in any case. */
bool fill_init(struct fill *fill, const struct sampler *sampler);
void fill_finish(struct fill *fill);

/* Any thread, at any time: writers go on meanwhile. Whether a ring is more than so many eighths
 * full; whether a ring of switches is; whether there are records at all. */
bool fill_exceeds(const struct fill *fill, unsigned eighths);
bool fill_switches_exceed(const struct fill *fill, unsigned eighths);
bool fill_has_records(const struct fill *fill);

/* The following are for one thread at a time. A ring is behind while more than so many eighths of
 * it wait, and then until two less do. */

/* Of a reader without a thread that copies: from half of the ring on. */
bool fill_is_behind(struct fill *fill, size_t ring);

/* Where a thread copies, from three quarters on; one ring leaves out the stacks of all: */
void fill_look_at(struct fill *fill, size_t ring);
/* after a look at this ring, and at the others in turn, whether one is behind. */
bool fill_is_late(struct fill *fill, size_t ring);

#endif
