/* Generated code of a process, read from its memory for the unwinder. */
#ifndef COLLECTOR_MODEL_CODE_MEMORY_H
#define COLLECTOR_MODEL_CODE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;

/* A process's memory. asker is borrowed; NULL: we ask the kernel ourselves. */
struct code_memory {
	uint32_t pid;
	struct asker *asker;
	bool is_refused; /* we may not read it, or it is gone: not asked again */
};

/* Copies what can be read of size bytes at address, from the first one on; returns their number.
 * Needs the right to trace the process, as a parent has; the process is not stopped. memory: a
 * struct code_memory (uw_code_reader). */
size_t code_memory_read(void *memory, uint64_t address, void *bytes, size_t size);

#endif
