/* The executable mappings of one process image, in order of address, never overlapping. */
#ifndef COLLECTOR_MODEL_MAPPING_H
#define COLLECTOR_MODEL_MAPPING_H

#include "containers/ranges.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;     /* file offset of start */
	uint64_t load_ns;   /* PROFILE_TIME_BEFORE (0), or CLOCK_MONOTONIC_RAW */
	uint64_t mapped_ns; /* likewise, time of the mapping, even before a fork; 0: not known */
	uint32_t image;
	bool written;  /* its module record is in the result */
	bool is_main;  /* the process's program */
	bool is_32bit; /* its code is */
};

/* The first mapping of a list (struct ranges of struct mapping) that ends after address; NULL:
 * none. Its range must not be changed. */
struct mapping *mapping_list_find(const struct ranges *list, uint64_t address);

/* A copy with nothing written yet, as fork makes one. 0, or -1 when out of memory. */
int mapping_list_copy(struct ranges *copy, const struct ranges *list);

/* Called with a mapping before an address range is taken from it. */
typedef void mapping_unload(const struct mapping *mapping, void *user);

enum mapping_change {
	MAPPING_SAME,    /* nothing changed */
	MAPPING_ADDED,   /* in a free place, or the same place of the same image */
	MAPPING_REPLACED /* in the place of another one */
};

/* Adds mapping in place of older ones: each older mapping it overlaps is unloaded; the parts
 * outside stay as new mappings, loaded at mapping->load_ns and not written. The same mapping once
 * more (range, image, pgoff) changes nothing. Costs a search, and work for each overlapped mapping.
 * 0, or -1 when out of memory (unchanged). */
int mapping_list_add(struct ranges *list, const struct mapping *mapping, mapping_unload *unload,
		     void *user, enum mapping_change *change);

#endif
