/* What libtbrw costs, as ratios to what the machine does with the same bytes in the same run:
 *
 *   write      adding sample records one by one     to write(2) of them in blocks of 1 MB
 *   enumerate  seeing all of them                   to memcpy of the mapped file
 *   bind       10 M samples over 10,000 modules     to qsort_r of their (pid, ip)
 *   open       a file of 1 GB                      to one of 1 MB
 *
 * Each is measured three times, alternately, and the best of each counts. Exit status 1: a ratio is
 * missed. Usage: bench_tbrw FOLDER [MILLIONS OF SAMPLES] */
#include "tbrw/tbrw.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define ROUNDS       3
#define MODULES      10000u
#define MODULE_SPACE 0x10000u
#define BLOCK        (1u << 20)

struct sample {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
};

struct bench {
	const char *folder;
	uint64_t samples;
};

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "bench_tbrw: %s failed\n", what);
	exit(2);
}

#define OK(call) check((call) == VT_SUCCESS, #call)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const char *path_of(const struct bench *b, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", b->folder, name);
	return path;
}

static const wchar_t *wide_path_of(const struct bench *b, const char *name)
{
	static wchar_t path[512];
	TBRW_U32 size = 512;

	OK(TBRW_convert_utf8_to_wcs(path_of(b, name), path, &size));
	return path;
}

/* Spread over all modules, in no order that would help. */
static struct sample sample_at(uint64_t i)
{
	uint64_t mixed = i * 0x9e3779b97f4a7c15u >> 20;
	struct sample s;

	memset(&s, 0, sizeof(s));
	s.pc.iip = mixed % MODULES * MODULE_SPACE + (mixed >> 14) % MODULE_SPACE;
	s.pc.cs = 0x33;
	s.pc.IA64PC = 1;
	s.pc.pidRecIndexRaw = 1;
	s.pc.pidRecIndex = 1000;
	s.pc.tidIsRaw = 1;
	s.pc.tid = 1000 + (TBRW_U32)(mixed % 16);
	s.tsc.tsc = 1000 + i * 100;
	return s;
}

/* ---- Writing ---- */

static void write_modules(TBRW_PTR ptr)
{
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (uint32_t i = 0; i < MODULES; i++) {
		TBRW_MODULE m = {.module_size = sizeof(m),
				 .module_associated_pid = 1000,
				 .module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED,
				 .module_event_when = 1,
				 .module_length = MODULE_SPACE,
				 .module_load_address = (uint64_t)i * MODULE_SPACE,
				 .module_unload_tsc = UINT64_MAX};

		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
}

static void begin_samples(TBRW_PTR ptr)
{
	TBRW_STREAM_INFO info = {.stream_info_size = sizeof(info),
				 .stream_type = TBRW_SAMPLING_STREAM};
	TBRW_SAMPREC_DESC_ENTRY d;

	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 0, &info));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	memset(&d, 0, sizeof(d));
	d.desc_size = sizeof(d);
	d.desc_type = ST_LEGACY_SAMPLE_RECORD;
	d.desc_data_size = sizeof(TBRW_SampleRecordPC);
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &d));
	d.desc_type = ST_TIMESTAMP;
	d.desc_subtype = SST_TSC;
	d.desc_data_size = sizeof(TBRW_SampleRecordTSC);
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &d));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
}

/* A new file with that many samples; the seconds that adding and storing them took. */
static double write_samples(const struct bench *b, const char *name, uint64_t count)
{
	TBRW_PTR ptr;

	OK(TBRW_open(&ptr, wide_path_of(b, name), TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS));
	write_modules(ptr);
	begin_samples(ptr);
	double start = now();
	for (uint64_t i = 0; i < count; i++) {
		struct sample s = sample_at(i);

		OK(TBRW_add_data(ptr, 0, sizeof(s), &s));
	}
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	double seconds = now() - start;
	OK(TBRW_close(ptr)); /* which waits for the disk, as close(2) does not */
	return seconds;
}

/* The same samples made the same way, collected in blocks. */
static double write_blocks(const struct bench *b, const char *name)
{
	unsigned char *block = malloc(BLOCK + sizeof(struct sample));
	size_t filled = 0;

	unlink(path_of(b, name));
	int fd = open(path_of(b, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	check(fd >= 0 && block, "creating a file");
	double start = now();
	for (uint64_t i = 0; i < b->samples; i++) {
		struct sample s = sample_at(i);

		memcpy(block + filled, &s, sizeof(s));
		filled += sizeof(s);
		if (filled < BLOCK && i + 1 < b->samples)
			continue;
		check(write(fd, block, filled) == (ssize_t)filled, "write");
		filled = 0;
	}
	close(fd);
	free(block);
	return now() - start;
}

/* ---- Reading ---- */

static TBRW_U32 see(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	uint64_t *sum = user;

	(void)size;
	*sum += ((const struct sample *)data)->tsc.tsc + count;
	return TRUE;
}

static double enumerate(const struct bench *b, const char *name)
{
	uint64_t sum = 0;
	TBRW_PTR ptr;
	double start = now();

	OK(TBRW_open(&ptr, wide_path_of(b, name), TBRW_FILE_READ));
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_enumerate_data(ptr, 0, see, &sum, 0));
	OK(TBRW_abort_cleanup_and_close(ptr));
	check(sum != 0, "seeing samples");
	return now() - start;
}

static double copy_mapped(const struct bench *b, const char *name)
{
	unsigned char *block = malloc(BLOCK);
	double start = now();
	int fd = open(path_of(b, name), O_RDONLY | O_CLOEXEC);
	volatile unsigned char sum = 0;
	struct stat st;

	check(fd >= 0 && block && fstat(fd, &st) == 0, "opening a file");
	unsigned char *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	check(map != MAP_FAILED, "mmap");
	for (size_t at = 0; at < (size_t)st.st_size; at += BLOCK) {
		size_t left = (size_t)st.st_size - at;

		memcpy(block, map + at, left < BLOCK ? left : BLOCK);
		sum = (unsigned char)(sum + block[0]);
	}
	munmap(map, (size_t)st.st_size);
	close(fd);
	free(block);
	return now() - start;
}

/* ---- Binding ---- */

static double bind(const struct bench *b, const char *name)
{
	TBRW_PTR ptr;

	OK(TBRW_open(&ptr, wide_path_of(b, name), TBRW_FILE_READ));
	double start = now();
	OK(TBRW_dobind(ptr, 0));
	double seconds = now() - start;
	OK(TBRW_close(ptr));
	return seconds;
}

struct key {
	uint64_t pid;
	uint64_t ip;
};

static int key_compare(const void *a, const void *b, void *context)
{
	const struct key *x = a;
	const struct key *y = b;

	(void)context;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->ip > y->ip) - (x->ip < y->ip);
}

static double sort_keys(const struct bench *b)
{
	struct key *keys = malloc(b->samples * sizeof(*keys));

	check(keys, "malloc");
	for (uint64_t i = 0; i < b->samples; i++) {
		struct sample s = sample_at(i);

		keys[i] = (struct key){s.pc.pidRecIndex, s.pc.iip};
	}
	double start = now();
	qsort_r(keys, b->samples, sizeof(*keys), key_compare, NULL);
	double seconds = now() - start;
	free(keys);
	return seconds;
}

/* ---- Opening ---- */

static double open_once(const struct bench *b, const char *name)
{
	const wchar_t *path = wide_path_of(b, name);
	double start = now();
	TBRW_PTR ptr;

	OK(TBRW_open(&ptr, path, TBRW_FILE_READ));
	OK(TBRW_close(ptr));
	return now() - start;
}

static void keep_best(double *best, double seconds)
{
	if (*best == 0 || seconds < *best)
		*best = seconds;
}

static bool judge(const char *name, double value, bool good, const char *wanted)
{
	printf("%-10s %7.2f  wanted %-12s %s\n", name, value, wanted, good ? "ok" : "MISSED");
	return good;
}

int main(int argc, char **argv)
{
	struct bench b = {argc > 1 ? argv[1] : ".", 10000000};
	double add = 0, blocks = 0, seen = 0, copied = 0, bound = 0, sorted = 0, large = 0;
	double small = 0;

	if (argc > 2)
		b.samples = strtoull(argv[2], NULL, 10) * 1000000;
	check(b.samples > 0, "reading the number of samples");
	for (int round = 0; round < ROUNDS; round++) {
		keep_best(&add, write_samples(&b, "bench.tb5", b.samples));
		keep_best(&blocks, write_blocks(&b, "bench.raw"));
		keep_best(&seen, enumerate(&b, "bench.tb5"));
		keep_best(&copied, copy_mapped(&b, "bench.tb5"));
		keep_best(&bound, bind(&b, "bench.tb5"));
		keep_best(&sorted, sort_keys(&b));
	}
	unlink(path_of(&b, "bench.raw"));
	unlink(path_of(&b, "bench.tb5"));
	write_samples(&b, "bench-large.tb5", (1u << 30) / sizeof(struct sample));
	write_samples(&b, "bench-small.tb5", (1u << 20) / sizeof(struct sample));
	for (int round = 0; round < 100; round++) {
		keep_best(&large, open_once(&b, "bench-large.tb5"));
		keep_best(&small, open_once(&b, "bench-small.tb5"));
	}
	unlink(path_of(&b, "bench-large.tb5"));
	unlink(path_of(&b, "bench-small.tb5"));
	printf("seconds: add %.3f blocks %.3f enumerate %.3f memcpy %.3f bind %.3f qsort_r %.3f "
	       "open 1 GB %.6f open 1 MB %.6f\n",
	       add, blocks, seen, copied, bound, sorted, large, small);
	bool good = judge("write", blocks / add, blocks / add >= 0.5, ">= 0.5");
	good &= judge("enumerate", copied / seen, copied / seen >= 0.5, ">= 0.5");
	good &= judge("bind", bound / sorted, bound / sorted <= 4, "<= 4");
	good &= judge("open", large / small, large / small <= 1.5, "<= 1.5");
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
