#include "collector/model/code_memory.h"

#include "collector/proc/asker.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* Copies of all input: the asking side may be gone. */
struct question {
	struct asker_question base;
	uint32_t pid;
	uint64_t address;
	size_t size;
	ssize_t got;
	int error;
	uint8_t bytes[];
};

static void discard(struct asker_question *base)
{
	free(base);
}

static void answer(struct asker_question *base)
{
	struct question *question = (struct question *)base;
	struct iovec to = {question->bytes, question->size};
	struct iovec from = {(void *)(uintptr_t)question->address, question->size}; /* NOLINT */
	question->got = process_vm_readv((pid_t)question->pid, &to, 1, &from, 1, 0);
	question->error = errno;
}

size_t code_memory_read(void *context, uint64_t address, void *bytes, size_t size)
{
	struct code_memory *memory = context;
	struct question *question = memory->is_refused ? NULL : calloc(1, sizeof(*question) + size);
	if (!question)
		return 0;
	*question = (struct question){{answer, discard}, memory->pid, address, size, 0, 0};
	if (!asker_ask(memory->asker, memory->pid, &question->base)) {
		memory->is_refused = true;
		return 0;
	}
	size_t got = question->got > 0 ? (size_t)question->got : 0;
	if (question->got < 0 && question->error != EFAULT && question->error != ENOMEM)
		memory->is_refused = true;
	memcpy(bytes, question->bytes, got);
	discard(&question->base);
	return got;
}
