/*
 * What it takes to find the rules of a return address in a function that has no tables and was not
 * met before: at random calls of a file's code, the files of which this program names.
 *
 * CPU time; the file is read once before, so that its pages are in memory.
 *
 * Usage: bench_first_walk COUNT FILE...
 * Exit status 0: all limits hold; 1: some do not, and are named at the end.
 */
#include "unwind/functions/functions.h"
#include "unwind/module/module.h"
#include "unwind/unwind.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NEAR = 4096, CALL_SIZE = 5 };

/* What must hold: microseconds in the mean. */
static const double first_us_max = 20;

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static const struct uw_segment *code_of(const struct uw_elf *elf)
{
	const struct uw_segment *largest = NULL;

	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].executable &&
		    (!largest || elf->segments[i].file_size > largest->file_size))
			largest = &elf->segments[i];
	return largest;
}

/* A return address behind a call within the code, near a random place and in no table; 0: none. */
static uint64_t draw_return(const struct uw_module *module, const struct uw_segment *code)
{
	uint64_t at = ((uint64_t)rand() << 20 ^ (uint64_t)rand()) % code->file_size;
	struct uw_cfi_gap gap;
	struct uw_fde fde;
	uint8_t bytes[NEAR];

	if (code->file_size - at < NEAR ||
	    !uw_elf_read_constant(&module->elf, code->rva + at, bytes, NEAR))
		return 0;
	for (size_t i = 0; i + CALL_SIZE <= NEAR; i++) {
		int32_t displacement;
		uint64_t ra = code->rva + at + i + CALL_SIZE;

		memcpy(&displacement, bytes + i + 1, sizeof(displacement));
		uint64_t target = ra + (uint64_t)(int64_t)displacement;
		if (bytes[i] == 0xe8 && target - code->rva < code->file_size && target % 16 == 0)
			return uw_module_find(module, ra - 1, &fde, &gap) == UW_CFI_NONE ? ra : 0;
	}
	return 0;
}

static bool run(const char *path, size_t wanted)
{
	double *times = calloc(wanted, sizeof(*times)), sum = 0;
	size_t count = 0, known = 0, starts = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct uw_module *module;

	if (!times || fd < 0 || uw_module_open(fd, &module) < 0) {
		perror(path);
		exit(2);
	}
	close(fd);
	uw_module_load(module);
	struct uw_functions *functions = uw_module_functions(module);
	const struct uw_segment *code = code_of(&module->elf);
	for (size_t tries = 0; functions && code && count < wanted && tries < 20 * wanted;
	     tries++) {
		uint64_t ra = draw_return(module, code), start;
		if (ra == 0)
			continue;
		double begin = now_us();
		bool is_known = uw_functions_row(functions, ra - 1, false, &start) != NULL;
		times[count] = now_us() - begin;
		sum += times[count++];
		known += is_known;
		starts += is_known && start != UW_START_UNKNOWN;
	}
	qsort(times, count, sizeof(*times), compare_doubles);
	double mean = count > 0 ? sum / (double)count : 0;
	struct uw_functions_counts counts = {0};
	if (functions)
		uw_functions_count(functions, &counts);
	printf("%s: %zu addresses, %.1f %% known, %.1f %% with start; %.1f us in the mean, median "
	       "%.1f, 99 %% %.1f, "
	       "most %.1f; %.2f analyses each, %.0f bytes, %.0f steps\n",
	       path, count, 100.0 * (double)known / (double)(count ? count : 1),
	       100.0 * (double)starts / (double)(count ? count : 1), mean,
	       count ? times[count / 2] : 0, count ? times[count * 99 / 100] : 0,
	       count ? times[count - 1] : 0, (double)counts.analyses / (double)(count ? count : 1),
	       (double)counts.bytes / (double)(count ? count : 1),
	       (double)counts.steps / (double)(count ? count : 1));
	free(times);
	uw_module_unref(module);
	if (mean > first_us_max)
		fprintf(stderr, "limit missed: %s: %.1f us, at most %.0f expected\n", path, mean,
			first_us_max);
	return mean <= first_us_max;
}

int main(int argc, char **argv)
{
	bool done = true;

	if (argc < 3) {
		fprintf(stderr, "usage: %s COUNT FILE...\n", argv[0]);
		return 2;
	}
	for (int i = 2; i < argc; i++)
		done &= run(argv[i], strtoul(argv[1], NULL, 10));
	return !done;
}
