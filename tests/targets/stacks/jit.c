/*
 * jit [MS [MAP]]: writes a function into anonymous memory, names it in /tmp/perf-PID.map (MAP 0:
 * does not) and burns in it. The code keeps a frame pointer and has no unwind information, as code
 * of usual just-in-time compilers.
 */
#include "tests/targets/stacks/jit_code.h"
#include "tests/targets/work.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

WORK_KEEP uint64_t jit_caller(jit_function *function, uint64_t ns);

WORK_KEEP uint64_t jit_caller(jit_function *function, uint64_t ns)
{
	uint64_t start = work_thread_ns();
	uint64_t now = start;

	while (now - start < ns) {
		function(WORK_TURNS);
		now = work_thread_ns();
	}
	return now - start;
}

static int write_map(const void *code)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(path, "w");
	if (!map) {
		perror(path);
		return -1;
	}
	fprintf(map, "%" PRIxPTR " %zx jit_square root\n", (uintptr_t)code, sizeof(jit_code));
	return fclose(map);
}

int main(int argc, char **argv)
{
	uint64_t ns = work_argument(argc, argv, 1, 1000) * WORK_MS;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	jit_function *function;

	if (code == MAP_FAILED)
		return 3;
	memcpy(code, jit_code, sizeof(jit_code));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
		return 3;
	__builtin___clear_cache(code, (char *)code + sizeof(jit_code));
	if (work_argument(argc, argv, 2, 1) != 0 && write_map(code) != 0)
		return 3;
	memcpy(&function, &code, sizeof(function));
	work_print("pid", (uint64_t)getpid());
	work_print("jit_ns", jit_caller(function, ns));
	work_print("process_ns", work_process_ns());
	return 0;
}
