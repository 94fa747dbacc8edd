/* Bytes of stack that the kernel copies for a sample (PROFILE_NOTE_STACK_SIZE): limits for the
 * collector, which asks for them, and for the tools, which advise about them. */
#ifndef TBRW_PROFILE_STACK_SIZE_H
#define TBRW_PROFILE_STACK_SIZE_H

/* The most that may be asked for: a record holds less than 64 KB (linux/perf_event.h: its size has
 * 16 bits), the copy is a multiple of 8. */
#define PROFILE_STACK_SIZE_MAX 65528u

/* The most asked for by default: a sample has so many bytes besides its stack. */
#define PROFILE_SAMPLE_BYTES           320u
#define PROFILE_STACK_SIZE_DEFAULT_MAX (PROFILE_STACK_SIZE_MAX - PROFILE_SAMPLE_BYTES)

#endif
