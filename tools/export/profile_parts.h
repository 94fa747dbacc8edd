/*
 * What profiles in pprof's format and in OpenTelemetry's are made of: the run, remarks, mappings,
 * locations, and stacks as numbers of locations. The format says how each is written, and gives the
 * numbers.
 */
#ifndef TOOLS_EXPORT_PROFILE_PARTS_H
#define TOOLS_EXPORT_PROFILE_PARTS_H

#include "tools/export/export.h"
#include "tools/pprof/pprof.h"
#include <stddef.h>
#include <stdint.h>

struct call_path;
struct overview;
struct tally_entry;
struct weighted_stacks;

/* Each returns the number of what it writes, not 0. Names are borrowed during the call. */
struct profile_format {
	uint64_t (*add_mapping)(void *user, const struct pprof_mapping *mapping);
	uint64_t (*add_location)(void *user, uint64_t mapping, uint64_t address,
				 const struct pprof_line *lines, size_t count);
};

struct profile_parts;

/* Writes the mappings of images with frames, the program's first. The arguments must outlive it. */
struct profile_parts *profile_parts_create(const struct weighted_stacks *stacks,
					   const struct overview *overview,
					   const struct profile_format *format, void *user);
void profile_parts_destroy(struct profile_parts *parts);

/* The locations of a stack, the leaf first, until the next call; each is written at its first use.
 * Inlined functions are lines of one location. */
const uint64_t *profile_parts_stack(struct profile_parts *parts, const struct call_path *path,
				    size_t *count);

/* The location of time in no sample, and of no known thread. */
uint64_t profile_parts_no_sample(struct profile_parts *parts);
uint64_t profile_parts_no_thread(struct profile_parts *parts);

/* Words for an entry's stack and for the reason why frames are missing or guessed; NULL: none. */
const char *profile_parts_state(const struct tally_entry *entry);
const char *profile_parts_reason(const struct tally_entry *entry);

/* Of the part of the time that the stacks' filter takes; weight: shown first. */
struct pprof_run profile_parts_run(const struct weighted_stacks *stacks, enum export_weight weight,
				   const struct overview *overview);

/* Whose profile it is, and what the summary says of its gaps: a line each, which lives for the
 * call. */
void profile_parts_remark(const struct weighted_stacks *stacks, const struct overview *overview,
			  void (*take)(const char *line, void *user), void *user);

#endif
