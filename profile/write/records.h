/*
 * The writer's input beside the streams' own records: lives of processes and threads, modules, and
 * samples. Times are CLOCK_MONOTONIC_RAW nanoseconds; the writer turns them into TSC values by the
 * first sync point. Pointers are borrowed during the call.
 */
#ifndef TBRW_PROFILE_RECORDS_H
#define TBRW_PROFILE_RECORDS_H

#include "profile/profile.h"
#include <stdbool.h>
#include <stdint.h>

#define PROFILE_TIME_BEFORE 0u         /* since before the collection: TSC 0 */
#define PROFILE_TIME_NEVER  UINT64_MAX /* not ended: TSC all ones */

struct profile_sample {
	uint64_t time_ns;
	uint64_t ip;
	uint64_t flags; /* processor flags at the sample (rflags), 0: not known */
	uint32_t pid;
	uint32_t tid;
	uint16_t cpu; /* 0..4095 */
	uint16_t cs;  /* code selector: 0x33 64-bit user, 0x23 32-bit user, 0x10 kernel */
	bool is_32bit;
	uint8_t event; /* PROFILE_NOTE_EVENT_ADDED; 0: CPU time */
	struct profile_stack stack;
};

struct profile_module {
	uint32_t pid;
	uint32_t image;
	uint64_t start;     /* address */
	uint64_t length;    /* bytes */
	uint64_t pgoff;     /* bytes */
	uint64_t rva;       /* of start, in the terms of frames */
	uint64_t load_ns;   /* PROFILE_TIME_BEFORE or a time */
	uint64_t unload_ns; /* for profile_writer_end_module */
	const char *path;   /* as in the target's maps; name is its last component */
	uint16_t cs;
	bool is_32bit;
	bool is_executable; /* the process's main program */
	bool is_first;      /* first module record of its process */
	bool is_global;     /* the kernel */
};

struct profile_process {
	uint32_t pid;
	uint64_t start_ns; /* PROFILE_TIME_BEFORE or a time */
	uint64_t end_ns;   /* PROFILE_TIME_NEVER or a time */
	const char *path;  /* executable */
	const char *name;
};

struct profile_thread_life {
	uint32_t pid;
	uint32_t tid;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t cpu_ns;
	uint64_t rest_ns;
	uint64_t sampled_ns;
	uint64_t kernel_ns;
	uint64_t unseen_ns;
	uint32_t samples;
	uint32_t flags; /* PROFILE_THREAD_... */
	const char *name;
	const struct profile_unwinding *unwinding; /* kind and subject are not looked at; NULL:
						      nothing was unwound */
};

#endif
