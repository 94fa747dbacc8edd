/*
 * loadlib MODE MS LIBRARY: lets code burn that has no file of its own name any more.
 *   plain    the library as it is
 *   deleted  the library is unlinked once it is loaded
 *   memfd    a copy of it in anonymous memory
 */
#include "tests/targets/work.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

typedef uint64_t swap_run_function(uint64_t ns);

/* Writes a path of a copy of the file in memory; returns -1 on failure. */
static int copy_to_memory(const char *path, char *copy, size_t size)
{
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int to = memfd_create("tbcollect-loadlib", MFD_CLOEXEC);
	struct stat stat;

	if (from < 0 || to < 0 || fstat(from, &stat) != 0)
		return -1;
	for (off_t left = stat.st_size; left > 0;) {
		ssize_t sent = sendfile(to, from, NULL, (size_t)left);

		if (sent <= 0)
			return -1;
		left -= sent;
	}
	close(from);
	snprintf(copy, size, "/proc/self/fd/%d", to);
	return 0;
}

int main(int argc, char **argv)
{
	char path[4096];
	swap_run_function *run;

	if (argc != 4) {
		fprintf(stderr, "usage: loadlib plain|deleted|memfd MS LIBRARY\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s", argv[3]);
	if (strcmp(argv[1], "memfd") == 0 && copy_to_memory(argv[3], path, sizeof(path)) != 0) {
		perror("loadlib: memfd");
		return 3;
	}
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "loadlib: %s\n", dlerror());
		return 3;
	}
	if (strcmp(argv[1], "deleted") == 0 && unlink(path) != 0) {
		perror("loadlib: unlink");
		return 3;
	}
	*(void **)&run = dlsym(library, "swap_run");
	if (!run)
		return 3;
	work_print("loaded_ns", run(work_argument(argc, argv, 2, 500) * WORK_MS));
	work_print("process_ns", work_process_ns());
	return 0;
}
