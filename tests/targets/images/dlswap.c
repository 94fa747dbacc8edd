/*
 * dlswap ROUNDS MS LIBRARY_A LIBRARY_B [PLACE]: loads A, lets it burn MS, unloads it; then B for
 * twice MS, which the loader puts at the address that A had. With PLACE it loads that, after
 * overwriting it in place with A or B.
 */
#include "tests/targets/work.h"
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>

typedef uint64_t swap_run_function(uint64_t ns);

/* Returns the time that was burnt and the library's address; exits on failure. */
static uint64_t run_once(const char *path, uint64_t ns, uint64_t *address)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;
	swap_run_function *run;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
		return 0;
	*address = map->l_addr;
	/* ISO C has no conversion from void * to a function; POSIX requires this one to work. */
	*(void **)&run = dlsym(library, "swap_run");
	uint64_t used = !run ? 0 : run(ns);
	dlclose(library);
	return used;
}

static int overwrite(const char *place, const char *path)
{
	char buffer[65536];
	FILE *in = fopen(path, "re"), *out = fopen(place, "we");
	size_t count;

	if (!in || !out)
		return -1;
	while ((count = fread(buffer, 1, sizeof(buffer), in)) > 0)
		fwrite(buffer, 1, count, out);
	fclose(in);
	return fclose(out);
}

int main(int argc, char **argv)
{
	if (argc != 5 && argc != 6) {
		fprintf(stderr, "usage: dlswap ROUNDS MS LIBRARY_A LIBRARY_B [PLACE]\n");
		return 2;
	}

	uint64_t rounds = work_argument(argc, argv, 1, 0);
	uint64_t ns = work_argument(argc, argv, 2, 0) * WORK_MS;
	uint64_t used[2] = {0, 0};
	uint64_t same = 0;

	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t address[2];

		for (int which = 0; which < 2; which++) {
			uint64_t ask = which == 0 ? ns : 2 * ns;

			if (argc == 6 && overwrite(argv[5], argv[3 + which]) != 0) {
				perror(argv[5]);
				return 3;
			}
			uint64_t got =
				run_once(argv[argc == 6 ? 5 : 3 + which], ask, &address[which]);

			if (got == 0) {
				fprintf(stderr, "dlswap: %s\n", dlerror());
				return 3;
			}
			used[which] += got;
		}
		same += address[0] == address[1];
	}
	work_print("swap_first", used[0]);
	work_print("swap_second", used[1]);
	work_print("same_address", same);
	work_print("rounds", rounds);
	return 0;
}
