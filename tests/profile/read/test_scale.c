/* A long run: a million samples cost little time each, and no memory. */
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	SAMPLES = 1000000,
	PROCESSES = 8,
	THREADS = 64, /* in all */
	MODULES = 50, /* per process */
};

/* Far above what it takes on a slow machine (well below 1 us to write, 1 us to read), and far
 * below what per-sample searching or flushing would take. */
#define SECONDS_MAX 20.0
/* Above the buffers and caches of TBRW, below one byte per sample of each record kept. */
#define GROWTH_MAX (32u << 20)

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static size_t resident_bytes(void)
{
	char line[128];
	FILE *file = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	fclose(file);
	/* Total size, then what is resident, in pages. */
	char *second = strchr(line, ' ');
	ck_assert_ptr_nonnull(second);
	return strtoul(second, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void assert_growth(size_t before)
{
#if !defined(__SANITIZE_ADDRESS__)
	size_t after = resident_bytes();
	ck_assert_uint_lt(after > before ? after - before : 0, GROWTH_MAX);
#else
	(void)before;
#endif
}

static void write_long_run(struct profile_writer *writer)
{
	char path[32];

	for (uint32_t p = 0; p < PROCESSES; p++)
		for (uint32_t m = 0; m < MODULES; m++) {
			snprintf(path, sizeof(path), "/lib/m%u.so", m);
			fixture_add_module(writer, 1000 + p, 0x100000u * (m + 1), 0x80000,
					   fixture_ms(0), path, m == 0);
		}
	/* Not a ck_assert for each: it costs more than what it asserts. */
	TBRW_U32 code = VT_SUCCESS;
	for (uint32_t i = 0; i < SAMPLES && code == VT_SUCCESS; i++) {
		struct profile_sample sample = {
			.time_ns = FIXTURE_RAW_NS + 1000u * i,
			.ip = 0x100000u * (1 + i % MODULES) + i % 0x80000,
			.pid = 1000 + i % PROCESSES,
			.tid = 2000 + i % THREADS,
			.stack = {.cpu_ns = 1000, .state = PROFILE_STACK_NONE},
		};
		code = profile_writer_add_sample(writer, &sample);
	}
	assert_success(code);
}

struct tally {
	struct profile_reader *reader;
	uint64_t count;
	uint64_t cpu_ns;
	uint64_t wrong;
};

static bool is_right(const struct profile_reader *reader, const struct profile_sample_info *sample,
		     uint64_t i)
{
	if (sample->module == PROFILE_NONE || sample->thread == PROFILE_NONE)
		return false;
	const struct profile_module_info *module = profile_reader_module(reader, sample->module);
	return sample->pid == 1000 + i % PROCESSES && module->pid == sample->pid &&
	       module->start == 0x100000u * (1 + i % MODULES) &&
	       profile_reader_thread(reader, sample->thread)->tid == sample->tid;
}

static bool tally_sample(const struct profile_sample_info *sample, void *user)
{
	struct tally *tally = user;
	uint64_t i = tally->count++;

	tally->wrong += !is_right(tally->reader, sample, i);
	tally->cpu_ns += sample->stack.cpu_ns;
	return true;
}

static void read_long_run(const char *how)
{
	size_t before = resident_bytes();
	double start = now();
	struct tally tally = {.reader = fixture_open()};
	double opened = now();

	assert_success(profile_reader_each_sample(tally.reader, tally_sample, &tally));
	double done = now();
	ck_assert_uint_eq(tally.count, SAMPLES);
	ck_assert_uint_eq(tally.wrong, 0);
	ck_assert_uint_eq(tally.cpu_ns, UINT64_C(1000) * SAMPLES);
	ck_assert_uint_eq(profile_reader_process_count(tally.reader), PROCESSES);
	ck_assert_uint_eq(profile_reader_thread_count(tally.reader), THREADS);
	printf("%s: open %.0f ms, each sample %.0f ns\n", how, (opened - start) * 1e3,
	       (done - opened) * 1e9 / SAMPLES);
	ck_assert_double_lt(done - start, SECONDS_MAX);
	assert_growth(before);
	profile_reader_close(tally.reader);
}

START_TEST(million_samples)
{
	struct profile_writer *writer = fixture_create();
	size_t before = resident_bytes();
	double start = now();

	write_long_run(writer);
	double written = now();
	assert_growth(before);
	fixture_finish(writer);
	double finished = now();
	printf("write: %.0f ns per sample, finish with bind %.0f ms\n",
	       (written - start) * 1e9 / SAMPLES, (finished - written) * 1e3);
	ck_assert_double_lt(finished - start, SECONDS_MAX);
	read_long_run("bound");
}
END_TEST

START_TEST(million_samples_killed)
{
	struct profile_writer *writer = fixture_create();

	write_long_run(writer);
	fixture_kill(writer);
	read_long_run("killed");
}
END_TEST

START_TEST(many_reloads)
{
	/* 20,000 loads and unloads of one plugin, each somewhere else but overlapping. */
	enum { LOADS = 20000 };
	struct profile_writer *writer = fixture_create();
	double start = now();

	for (uint32_t i = 0; i < LOADS; i++) {
		struct profile_module module = {
			.pid = 100,
			.start = 0x10000000u + (i * 7919u % 1000u) * 0x1000u,
			.length = 0x80000,
			.load_ns = fixture_ms(10 * (uint64_t)i + 1),
			.unload_ns = fixture_ms(10 * (uint64_t)i + 9),
			.path = "/lib/plugin.so",
		};
		assert_success(profile_writer_add_module(writer, &module));
		assert_success(profile_writer_end_module(writer, &module));
		fixture_add_sample(writer, 10 * (uint64_t)i + 5, 100, 100, module.start + 0x7FFFF);
		fixture_add_sample(writer, 10 * (uint64_t)i + 10, 100, 100, module.start);
	}
	fixture_kill(writer);
	struct profile_reader *reader = fixture_open();
	uint64_t count;
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(profile_reader_module_count(reader), LOADS);
	for (uint64_t i = 0; i < count; i++)
		ck_assert_uint_eq(samples[i].module, i % 2 ? PROFILE_NONE : i / 2);
	ck_assert_double_lt(now() - start, SECONDS_MAX);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile scale");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, million_samples);
	tcase_add_test(tcase, million_samples_killed);
	tcase_add_test(tcase, many_reloads);
	return run_suite(suite);
}
