/*
 * The addresses of frames in the processes of a result: a frame is an image and an rva, and the
 * image's mappings in the process give the address.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_SPACE_H
#define TOOLS_PERF_EXPORT_PERF_SPACE_H

#include "profile/read/reader.h"
#include <stdbool.h>
#include <stdint.h>

struct perf_space;

/* Reads the samples of older results, whose mappings lack their rva. The reader must live longer.
 * Returns the reader's code. */
TBRW_U32 perf_space_create(struct profile_reader *reader, struct perf_space **space);
void perf_space_destroy(struct perf_space *space); /* accepts NULL */

/* From now on the module is mapped. */
void perf_space_map(struct perf_space *space, uint32_t module);

/* A number of the process's present mappings: another one after each change, and in each process
 * with modules. Not 0. */
uint64_t perf_space_version(struct perf_space *space, uint32_t pid);

/* The frame's address in the process, at the version that is its present one. Of several mappings
 * the one mapped last counts, even if it was unmapped since. false: code in no known mapping. */
bool perf_space_find(struct perf_space *space, uint32_t pid, uint64_t version, uint32_t frame,
		     uint64_t *address);

#endif
