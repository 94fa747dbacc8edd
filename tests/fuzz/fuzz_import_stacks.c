/* The readers of pprof (LOAD load_pprof) and of folded stacks (load_folded), and the results of
 * them. */
#include "profile/read/reader.h"
#include "tools/import_stacks/load.h"
#include "tools/terminal/diagnose.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In place of tools/terminal/diagnose.c: messages would only fill the log. */
void diagnose(const char *format, ...)
{
	(void)format;
}

const char *diagnose_code(unsigned code, char text[DIAGNOSE_CODE_SIZE])
{
	snprintf(text, DIAGNOSE_CODE_SIZE, "%u", code);
	return text;
}

static const char *scratch_path(void)
{
	static char folder[] = "/dev/shm/fuzz_import_XXXXXX";
	static char path[64];
	if (!path[0]) {
		if (!mkdtemp(folder))
			abort();
		snprintf(path, sizeof(path), "%s/r.tb5", folder);
	}
	return path;
}

static bool check_sample(const struct profile_sample_info *sample, void *user)
{
	uint64_t *cpu_ns = user;
	*cpu_ns += sample->stack.cpu_ns;
	/* Every sample is of a thread that was written. */
	if (sample->thread == PROFILE_NONE || sample->process == PROFILE_NONE)
		abort();
	return true;
}

/* What was written can be read, and threads have the time of their samples. */
static void check_result(const char *path)
{
	struct profile_reader *reader;
	uint64_t sampled_ns = 0;
	uint64_t cpu_ns = 0;
	if (profile_reader_open(path, &reader) != VT_SUCCESS)
		abort();
	for (uint32_t i = 0; i < profile_reader_thread_count(reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(reader, i);
		cpu_ns += thread->cpu_ns - thread->rest_ns;
	}
	if (profile_reader_each_sample(reader, check_sample, &sampled_ns) != VT_SUCCESS ||
	    sampled_ns != cpu_ns)
		abort();
	profile_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	const struct import_input input = {.fd = fd, .name = "input", .size = size};
	struct stack_result *result = stack_result_create();
	struct stack_run run = {0};
	if (LOAD(&input, result, &run) == 0) {
		const char *path = scratch_path();
		run.samples_limit = 100;
		if (stack_result_write(result, path, &run) != VT_SUCCESS)
			abort();
		check_result(path);
		unlink(path);
	}
	stack_result_destroy(result);
	close(fd);
	return 0;
}
