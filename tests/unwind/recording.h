/*
 * Samples of a real program in the form the library is handed: registers and a copy of the stack,
 * taken with ptrace(2) while the program runs. All of the program is stopped then, and its files
 * and memory stay, until the recording is destroyed, so that other unwinders can look at the same
 * samples.
 */
#ifndef TESTS_UNWIND_RECORDING_H
#define TESTS_UNWIND_RECORDING_H

#include "unwind/unwind.h"
#include <stdio.h>
#include <sys/types.h>

enum { RECORDING_STACK_MAX = 256 * 1024 };

struct recording_sample {
	struct uw_regs regs;
	struct uw_stack stack;
};

/* A readable mapping that is executable, of a file, or not writable. */
struct recording_mapping {
	uint64_t start, end, offset;
	bool executable, writable;
	char path[512];
};

struct recording {
	pid_t pid, tid;    /* of the program, and of the thread that is sampled */
	enum uw_arch arch; /* x86-64 or i386: of the latest sample */
	struct recording_sample *samples;
	size_t count;
	struct recording_mapping *mappings; /* the same during all samples */
	size_t mapping_count;
};

/*
 * Runs argv and takes up to `wanted` samples of the thread that has used most CPU time after
 * delay_ms. Samples from before a change of the mappings are dropped. NULL: this machine allows no
 * ptrace(2). Aborts on other failures.
 */
struct recording *recording_create(char *const *argv, size_t wanted, unsigned delay_ms);
void recording_destroy(struct recording *recording); /* accepts NULL; ends the program */

/* The address space that the samples were taken in; tags are indices of mappings. */
struct uw_space *recording_space(const struct recording *recording);

/* Reads the stopped program's memory. */
bool recording_read(const struct recording *recording, uint64_t address, void *bytes, size_t size);

/* The mapping that holds an address; NULL: none. */
const struct recording_mapping *recording_find(const struct recording *recording, uint64_t address);

#endif
