/* Which process, thread and module a sample belongs to: ids and addresses that are used again. */
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>

/* Each case runs twice: on a closed file, which is bound, and on one whose writer went away. Both
 * must say the same. */
enum { CLOSED, KILLED, WAYS };

static void end_module(struct profile_writer *writer, uint32_t pid, uint64_t start,
		       uint64_t load_ms, uint64_t unload_ms, const char *path)
{
	struct profile_module module = {
		.pid = pid,
		.start = start,
		.length = 0x1000,
		.load_ns = fixture_ms(load_ms),
		.unload_ns = fixture_ms(unload_ms),
		.path = path,
		.cs = 0x33,
	};

	assert_success(profile_writer_end_module(writer, &module));
}

static struct profile_reader *reopen(struct profile_writer *writer, int way)
{
	if (way == CLOSED)
		fixture_finish(writer);
	else
		fixture_kill(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert(profile_reader_complete(reader) == (way == CLOSED));
	return reader;
}

static const char *module_path(struct profile_reader *reader,
			       const struct profile_sample_info *sample)
{
	return sample->module == PROFILE_NONE ? "none"
					      : profile_reader_module(reader, sample->module)->path;
}

static const char *process_name(struct profile_reader *reader,
				const struct profile_sample_info *sample)
{
	return sample->process == PROFILE_NONE
		       ? "none"
		       : profile_reader_process(reader, sample->process)->name;
}

static const char *thread_name(struct profile_reader *reader,
			       const struct profile_sample_info *sample)
{
	return sample->thread == PROFILE_NONE ? "none"
					      : profile_reader_thread(reader, sample->thread)->name;
}

START_TEST(module_reloaded_at_one_address)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_process(writer, 100, fixture_ms(0), PROFILE_TIME_NEVER, "/opt/app");
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(10), "/a.so", false);
	fixture_add_sample(writer, 15, 100, 100, 0x5800);
	end_module(writer, 100, 0x5000, 10, 20, "/a.so");
	fixture_add_sample(writer, 25, 100, 100, 0x5800);
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(30), "/b.so", false);
	fixture_add_sample(writer, 35, 100, 100, 0x5800);
	end_module(writer, 100, 0x5000, 30, 40, "/b.so");
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(50), "/a.so", false);
	fixture_add_sample(writer, 55, 100, 100, 0x5800);
	fixture_add_sample(writer, 5, 100, 100, 0x5800);  /* late, from before all of it */
	fixture_add_sample(writer, 55, 100, 100, 0x6000); /* one behind the end */
	fixture_add_sample(writer, 55, 200, 200, 0x5800); /* somebody else's address */

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 7);
	ck_assert_str_eq(module_path(reader, &samples[0]), "/a.so");
	ck_assert_str_eq(module_path(reader, &samples[1]), "none");
	ck_assert_str_eq(module_path(reader, &samples[2]), "/b.so");
	ck_assert_str_eq(module_path(reader, &samples[3]), "/a.so");
	ck_assert_uint_ne(samples[3].module, samples[0].module);
	ck_assert_str_eq(module_path(reader, &samples[4]), "none");
	ck_assert_str_eq(module_path(reader, &samples[5]), "none");
	ck_assert_str_eq(module_path(reader, &samples[6]), "none");
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(later_load_wins)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_process(writer, 100, fixture_ms(0), PROFILE_TIME_NEVER, "/opt/app");
	fixture_add_module(writer, 100, 0x5000, 0x3000, fixture_ms(10), "/large.so", false);
	fixture_add_module(writer, 100, 0x6000, 0x1000, fixture_ms(20), "/inside.so", false);
	fixture_add_sample(writer, 30, 100, 100, 0x5800);
	fixture_add_sample(writer, 30, 100, 100, 0x6800);
	fixture_add_sample(writer, 30, 100, 100, 0x7800);
	fixture_add_sample(writer, 15, 100, 100, 0x6800);

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_str_eq(module_path(reader, &samples[0]), "/large.so");
	ck_assert_str_eq(module_path(reader, &samples[1]), "/inside.so");
	ck_assert_str_eq(module_path(reader, &samples[2]), "/large.so");
	ck_assert_str_eq(module_path(reader, &samples[3]), "/large.so");
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(global_module)
{
	struct profile_writer *writer = fixture_create();
	struct profile_module kernel = {
		.start = 0xFFFFFFFF81000000,
		.length = 0x1000000,
		.load_ns = PROFILE_TIME_BEFORE,
		.path = "[kernel]",
		.cs = 0x10,
		.is_global = true,
	};
	uint64_t count;

	assert_success(profile_writer_add_module(writer, &kernel));
	fixture_add_sample(writer, 30, 100, 100, 0xFFFFFFFF81000010);
	fixture_add_sample(writer, 30, 200, 200, 0xFFFFFFFF81000010);
	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_str_eq(module_path(reader, &samples[0]), "[kernel]");
	ck_assert_str_eq(module_path(reader, &samples[1]), "[kernel]");
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(pid_used_again)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_process(writer, 100, fixture_ms(10), fixture_ms(20), "/bin/old");
	fixture_add_thread(writer, 100, 100, fixture_ms(10), fixture_ms(20), 1, "old main");
	fixture_add_process(writer, 100, fixture_ms(30), PROFILE_TIME_NEVER, "/bin/new");
	fixture_add_thread(writer, 100, 100, fixture_ms(30), PROFILE_TIME_NEVER, 1, "new main");
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(10), "/bin/old", true);
	fixture_add_module(writer, 100, 0x9000, 0x1000, fixture_ms(30), "/bin/new", true);
	fixture_add_sample(writer, 15, 100, 100, 0x5800);
	fixture_add_sample(writer, 35, 100, 100, 0x9800);
	/* The old program's module ended with it, though nobody said so. */
	fixture_add_sample(writer, 36, 100, 100, 0x5800);

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_str_eq(process_name(reader, &samples[0]), "old");
	ck_assert_str_eq(thread_name(reader, &samples[0]), "old main");
	ck_assert_str_eq(module_path(reader, &samples[0]), "/bin/old");
	ck_assert_str_eq(process_name(reader, &samples[1]), "new");
	ck_assert_str_eq(thread_name(reader, &samples[1]), "new main");
	ck_assert_str_eq(module_path(reader, &samples[1]), "/bin/new");
	ck_assert_str_eq(module_path(reader, &samples[2]), "none");
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	ck_assert_uint_eq(profile_reader_thread(reader, 0)->process, 0);
	ck_assert_uint_eq(profile_reader_thread(reader, 1)->process, 1);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(tid_used_again)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_process(writer, 100, fixture_ms(0), PROFILE_TIME_NEVER, "/bin/app");
	/* Written out of order. */
	fixture_add_thread(writer, 100, 101, fixture_ms(30), fixture_ms(40), 1, "second");
	fixture_add_thread(writer, 100, 101, fixture_ms(10), fixture_ms(20), 1, "first");
	fixture_add_sample(writer, 15, 100, 101, 0);
	fixture_add_sample(writer, 35, 100, 101, 0);

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_str_eq(thread_name(reader, &samples[0]), "first");
	ck_assert_str_eq(thread_name(reader, &samples[1]), "second");
	ck_assert_uint_eq(profile_reader_thread_count(reader), 2);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(exec_goes_on_as_another_program)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_process(writer, 100, fixture_ms(0), fixture_ms(20), "/bin/sh");
	fixture_add_process(writer, 100, fixture_ms(20), fixture_ms(50), "/bin/app");
	fixture_add_thread(writer, 100, 100, fixture_ms(0), fixture_ms(50), 2, "app");
	fixture_add_sample(writer, 10, 100, 100, 0);
	fixture_add_sample(writer, 20, 100, 100, 0);
	fixture_add_sample(writer, 50, 100, 100, 0); /* the last moment */

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_str_eq(process_name(reader, &samples[0]), "sh");
	ck_assert_str_eq(process_name(reader, &samples[1]), "app");
	ck_assert_str_eq(process_name(reader, &samples[2]), "app");
	ck_assert_uint_eq(samples[0].thread, 0);
	ck_assert_uint_eq(samples[2].thread, 0);
	ck_assert_uint_eq(profile_reader_thread(reader, 0)->process, samples[1].process);
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(processes_without_records)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(1), "/opt/app", true);
	fixture_add_module(writer, 100, 0x9000, 0x1000, fixture_ms(1), "/lib/libc.so", false);
	fixture_add_sample(writer, 5, 100, 100, 0x5800);
	fixture_add_sample(writer, 6, 100, 101, 0x5800);
	fixture_add_sample(writer, 7, 100, 101, 0x9800);
	fixture_add_sample(writer, 8, 300, 300, 0x9800);

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	ck_assert_str_eq(process_name(reader, &samples[0]), "app");
	ck_assert_str_eq(profile_reader_process(reader, samples[0].process)->path, "/opt/app");
	ck_assert_str_eq(process_name(reader, &samples[3]), "pid 300");
	ck_assert_uint_eq(profile_reader_thread_count(reader), 3);
	const struct profile_thread_info *worker = profile_reader_thread(reader, samples[1].thread);
	ck_assert_uint_eq(worker->tid, 101);
	ck_assert_uint_eq(worker->samples, 2);
	ck_assert_uint_eq(worker->cpu_ns, 20000000);
	ck_assert_uint_eq(worker->process, samples[0].process);
	ck_assert_str_eq(worker->name, "app");
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(exec_without_records)
{
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_add_process(writer, 100, fixture_ms(0), fixture_ms(10), "/bin/sh");
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(0), "/bin/sh", true);
	end_module(writer, 100, 0x5000, 0, 10, "/bin/sh");
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(10), "/bin/make", true);
	end_module(writer, 100, 0x5000, 10, 20, "/bin/make");
	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(20), "/bin/cc", true);
	fixture_add_sample(writer, 5, 100, 100, 0x5800);
	fixture_add_sample(writer, 15, 100, 100, 0x5800);
	fixture_add_sample(writer, 25, 100, 100, 0x5800);

	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_str_eq(process_name(reader, &samples[0]), "sh");
	ck_assert_str_eq(process_name(reader, &samples[1]), "make");
	ck_assert_str_eq(process_name(reader, &samples[2]), "cc");
	/* A thread that nobody recorded is of one process. */
	for (uint64_t i = 0; i < count; i++)
		ck_assert_uint_eq(profile_reader_thread(reader, samples[i].thread)->process,
				  samples[i].process);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 3);
	ck_assert_str_eq(module_path(reader, &samples[1]), "/bin/make");
	ck_assert_uint_eq(profile_reader_process_count(reader), 3);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(thread_without_process)
{
	struct profile_writer *writer = fixture_create();

	fixture_add_module(writer, 100, 0x5000, 0x1000, fixture_ms(1), "/opt/app", true);
	fixture_add_thread(writer, 100, 101, fixture_ms(2), fixture_ms(9), 0, "idle");
	struct profile_reader *reader = reopen(writer, _i);
	ck_assert_uint_eq(profile_reader_process_count(reader), 1);
	ck_assert_str_eq(profile_reader_process(reader, 0)->name, "app");
	ck_assert_uint_eq(profile_reader_thread(reader, 0)->process, 0);
	profile_reader_close(reader);
}
END_TEST

START_TEST(many_processes_and_threads)
{
	enum { PROCESSES = 300, THREADS = 4 };
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	for (uint32_t p = 0; p < PROCESSES; p++) {
		char path[32];
		snprintf(path, sizeof(path), "/bin/p%u", p);
		fixture_add_module(writer, 1000 + p, 0x5000, 0x1000, fixture_ms(0), path, true);
		if (p % 2)
			fixture_add_process(writer, 1000 + p, fixture_ms(0), PROFILE_TIME_NEVER,
					    path);
	}
	for (uint32_t i = 0; i < PROCESSES * THREADS * 5; i++)
		fixture_add_sample(writer, 1 + i, 1000 + i % PROCESSES,
				   5000 + i % (PROCESSES * THREADS), 0x5000 + i % 4096);
	struct profile_reader *reader = reopen(writer, _i);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(profile_reader_process_count(reader), PROCESSES);
	ck_assert_uint_eq(profile_reader_thread_count(reader), PROCESSES * THREADS);
	for (uint64_t i = 0; i < count; i++) {
		char name[32];
		snprintf(name, sizeof(name), "p%u", (unsigned)(i % PROCESSES));
		ck_assert_str_eq(process_name(reader, &samples[i]), name);
		ck_assert_uint_eq(profile_reader_module(reader, samples[i].module)->pid,
				  samples[i].pid);
		const struct profile_thread_info *thread =
			profile_reader_thread(reader, samples[i].thread);
		ck_assert_uint_eq(thread->tid, samples[i].tid);
		ck_assert_uint_eq(thread->process, samples[i].process);
		ck_assert_uint_eq(thread->samples, 5);
	}
	fixture_check_promises(reader);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile attribution");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, module_reloaded_at_one_address, 0, WAYS);
	tcase_add_loop_test(tcase, later_load_wins, 0, WAYS);
	tcase_add_loop_test(tcase, global_module, 0, WAYS);
	tcase_add_loop_test(tcase, pid_used_again, 0, WAYS);
	tcase_add_loop_test(tcase, tid_used_again, 0, WAYS);
	tcase_add_loop_test(tcase, exec_goes_on_as_another_program, 0, WAYS);
	tcase_add_loop_test(tcase, processes_without_records, 0, WAYS);
	tcase_add_loop_test(tcase, exec_without_records, 0, WAYS);
	tcase_add_loop_test(tcase, thread_without_process, 0, WAYS);
	tcase_add_loop_test(tcase, many_processes_and_threads, 0, WAYS);
	return run_suite(suite);
}
