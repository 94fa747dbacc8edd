/* The executable mappings of one process image, in order of address, never overlapping. */
#ifndef COLLECTOR_PROC_MAPPING_H
#define COLLECTOR_PROC_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;     /* file offset of start */
	uint64_t load_ns;   /* PROFILE_TIME_BEFORE (0), or CLOCK_MONOTONIC_RAW */
	uint64_t mapped_ns; /* likewise, when it was mapped, also before a fork; 0: not known */
	uint32_t image;
	bool written;  /* its module record is in the result */
	bool is_main;  /* the process's program */
	bool is_32bit; /* its code is */
};

/* In blocks, so that adding one moves few others, however many there are. Zeros before the first
 * use.
 */
struct mapping_list {
	size_t count;
	struct mapping_block **blocks;
	size_t block_count;
	size_t block_capacity;
	struct mapping_block *spare[2];
	size_t spare_count;
};

/* A place between mappings. Zeros: before the first one. Holds until the list changes. */
struct mapping_place {
	size_t block;
	size_t item;
};

/* The mapping behind a place, which goes on to behind that; NULL: there is none. Its range is not
 * to be changed. */
struct mapping *mapping_list_next(const struct mapping_list *list, struct mapping_place *place);

/* The first mapping that ends after address; NULL: there is none. */
struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address);

void mapping_list_finish(struct mapping_list *list);

/* A copy with nothing written yet, as fork makes one. 0, or -1 when out of memory. */
int mapping_list_copy(struct mapping_list *copy, const struct mapping_list *list);

/* Called with a mapping that an address range was taken from, before it changes. */
typedef void mapping_unload(const struct mapping *mapping, void *user);

enum mapping_change {
	MAPPING_SAME,    /* nothing changed */
	MAPPING_ADDED,   /* where nothing was, or the same place of the same image */
	MAPPING_REPLACED /* something else was there */
};

/* Adds mapping in place of what was there: each older mapping that it overlaps is unloaded; what
 * lies outside stays as new mappings, loaded at mapping->load_ns and not written. The same mapping
 * once more (range, image, pgoff) changes nothing. The work is that of a search, and of what is
 * overlapped. 0, or -1 when out of memory (unchanged). */
int mapping_list_add(struct mapping_list *list, const struct mapping *mapping,
		     mapping_unload *unload, void *user, enum mapping_change *change);

#endif
