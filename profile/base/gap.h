/*
 * What is not known of a stack or of CPU time: the names in reports, exports and imports, and the
 * addresses in callchains of perf.data files, which have nothing else.
 */
#ifndef PROFILE_BASE_GAP_H
#define PROFILE_BASE_GAP_H

#include <stdint.h>

enum profile_gap {
	PROFILE_GAP_UNKNOWN,   /* code in no known module */
	PROFILE_GAP_SKIPPED,   /* the frames up to the root are missing */
	PROFILE_GAP_GUESSED,   /* the frames up to the root are not verified */
	PROFILE_GAP_KERNEL,    /* time in the kernel without a stack */
	PROFILE_GAP_NO_SAMPLE, /* CPU time in no sample */
	PROFILE_GAP_NO_THREAD, /* CPU time of no known thread */
	PROFILE_GAP_COUNT
};

/* Of profile_gap_name, where a constant is needed. */
#define PROFILE_GAP_KERNEL_NAME    "[System calls and faults]"
#define PROFILE_GAP_NO_SAMPLE_NAME "[No sample]"
#define PROFILE_GAP_NO_THREAD_NAME "[No known thread]"

const char *profile_gap_name(enum profile_gap gap);
/* The gap of that name; PROFILE_GAP_COUNT: none. */
enum profile_gap profile_gap_find(const char *name);

/* Each has PROFILE_GAP_SIZE addresses, in the kernel's half, where all processes share names. They
 * lie in a hole of x86-64's (Documentation/arch/x86/x86_64/mm.rst: KASAN's shadow). */
#define PROFILE_GAP_START UINT64_C(0xfffff00000000000)
#define PROFILE_GAP_SIZE  0x1000u

static inline uint64_t profile_gap_address(enum profile_gap gap)
{
	return PROFILE_GAP_START + (uint64_t)gap * PROFILE_GAP_SIZE;
}

#endif
