/*
 * Two other unwinders over the same recorded samples: libunwind's remote unwinding, with accessors
 * as perf has them, and elfutils' libdwfl. Both read the stack from the sample alone.
 */
#ifndef TESTS_UNWIND_ORACLES_H
#define TESTS_UNWIND_ORACLES_H

#include "tests/unwind/recording.h"

enum { ORACLE_FRAMES_MAX = 1000 };

/* Instruction pointers, leaf first. */
struct oracle_frames {
	uint64_t ip[ORACLE_FRAMES_MAX];
	size_t count;
};

struct oracle_libunwind;
struct oracle_libdwfl;

/* recording is borrowed. cached: libunwind's own cache of rules is on. NULL: not to be had. */
struct oracle_libunwind *oracle_libunwind_create(const struct recording *recording, bool cached);
void oracle_libunwind_destroy(struct oracle_libunwind *oracle); /* accepts NULL */
void oracle_libunwind_walk(struct oracle_libunwind *oracle, const struct recording_sample *sample,
			   struct oracle_frames *frames);

struct oracle_libdwfl *oracle_libdwfl_create(const struct recording *recording);
void oracle_libdwfl_destroy(struct oracle_libdwfl *oracle); /* accepts NULL */
void oracle_libdwfl_walk(struct oracle_libdwfl *oracle, const struct recording_sample *sample,
			 struct oracle_frames *frames);

/* Whether .eh_frame or .debug_frame has something for the code at an address. */
bool oracle_libdwfl_has_cfi(const struct oracle_libdwfl *oracle, uint64_t address);

#endif
