/* Accounts of CPU time: the parts of threads of what is in no account. */
#include "tests/profile/fixture.h"
#include <stdlib.h>

#define MS UINT64_C(1000000)

static void add_thread(struct profile_writer *writer, uint32_t tid, uint64_t unseen_ns)
{
	struct profile_thread_life thread = {
		.pid = 100,
		.tid = tid,
		.end_ns = PROFILE_TIME_NEVER,
		.cpu_ns = 20 * MS + tid,
		.rest_ns = 2 * MS,
		.sampled_ns = 15 * MS,
		.kernel_ns = 3 * MS + tid,
		.unseen_ns = unseen_ns,
		.name = "worker",
	};

	ck_assert_uint_eq(profile_writer_add_thread(writer, &thread), VT_SUCCESS);
}

static void add_note(struct profile_writer *writer, enum profile_note_kind kind, uint64_t value)
{
	ck_assert_uint_eq(profile_writer_add_note(writer, kind, fixture_ms(9), value, 0, 0, NULL),
			  VT_SUCCESS);
}

static struct profile_reader *with_unattributed(uint64_t unattributed_ns, uint64_t sampling,
						enum profile_note_kind limit)
{
	struct profile_writer *writer = fixture_create();

	fixture_add_process(writer, 100, PROFILE_TIME_BEFORE, PROFILE_TIME_NEVER, "/opt/app");
	add_thread(writer, 101, 4 * MS);
	add_thread(writer, 102, 0);
	add_thread(writer, 103, 1 * MS);
	add_note(writer, PROFILE_NOTE_UNATTRIBUTED, unattributed_ns / 2);
	add_note(writer, PROFILE_NOTE_UNATTRIBUTED, unattributed_ns - unattributed_ns / 2);
	if (limit != 0)
		add_note(writer, limit, 1);
	if (sampling > 0)
		add_note(writer, PROFILE_NOTE_SAMPLING, sampling);
	fixture_finish(writer);
	return fixture_open();
}

static void check_thread(const struct profile_reader *reader, uint32_t index, uint64_t part_ns,
			 bool is_fixed)
{
	const struct profile_thread_info *thread = profile_reader_thread(reader, index);

	ck_assert_uint_eq(thread->estimated_ns, part_ns);
	ck_assert_uint_eq(thread->cpu_ns, 20 * MS + thread->tid + part_ns);
	ck_assert_uint_eq(thread->rest_ns, 2 * MS + (is_fixed ? part_ns : 0));
	ck_assert_uint_eq(thread->sampled_ns, 15 * MS);
	ck_assert_uint_eq(thread->kernel_ns, 3 * MS + thread->tid);
}

/* Loop: what the result says of its sampling; 4 is none that there is. */
START_TEST(parts_of_what_is_in_no_account)
{
	bool is_fixed = _i < 2 || _i == 4;
	struct profile_reader *reader = with_unattributed(5 * MS + 1, (uint64_t)_i, 0);

	ck_assert_int_eq(profile_reader_sampling(reader),
			 is_fixed ? PROFILE_SAMPLING_FIXED : (enum profile_sampling)_i);
	check_thread(reader, 0, 4 * MS, is_fixed);
	check_thread(reader, 1, 0, is_fixed);
	check_thread(reader, 2, 1 * MS + 1, is_fixed);
	ck_assert_uint_eq(profile_reader_unattributed_ns(reader), 0);
	profile_reader_close(reader);
}
END_TEST

/* Loop: all threads are known, so that no others can have used it; or something was lost or not
 * followed, and no thread can have used more than twice what is to be expected. */
START_TEST(more_than_is_expected)
{
	static const enum profile_note_kind limits[] = {0, PROFILE_NOTE_SAMPLES_LOST,
							PROFILE_NOTE_RECORDS_LOST,
							PROFILE_NOTE_NOT_FOLLOWED};
	struct profile_reader *reader =
		with_unattributed(50 * MS, PROFILE_SAMPLING_CPUS, limits[_i]);

	check_thread(reader, 0, _i == 0 ? 40 * MS : 8 * MS, false);
	check_thread(reader, 1, 0, false);
	check_thread(reader, 2, _i == 0 ? 10 * MS : 2 * MS, false);
	ck_assert_uint_eq(profile_reader_unattributed_ns(reader), _i == 0 ? 0 : 40 * MS);
	profile_reader_close(reader);
}
END_TEST

/* Loop: more of it than there is. In the kernel, unseen: it is the thread's rest, and a part of
 * what is divided. */
START_TEST(part_in_the_kernel)
{
	struct profile_writer *writer = fixture_create();

	add_thread(writer, 101, 4 * MS);
	add_thread(writer, 102, 0);
	add_thread(writer, 103, 1 * MS);
	add_note(writer, PROFILE_NOTE_SAMPLING, PROFILE_SAMPLING_THREADS);
	add_note(writer, PROFILE_NOTE_SAMPLES_LOST, 1);
	add_note(writer, PROFILE_NOTE_UNATTRIBUTED, 25 * MS);
	add_note(writer, PROFILE_NOTE_UNATTRIBUTED_KERNEL, _i == 0 ? 10 * MS : 26 * MS);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	const struct profile_thread_info *first = profile_reader_thread(reader, 0);
	const struct profile_thread_info *last = profile_reader_thread(reader, 2);
	ck_assert_uint_eq(first->rest_ns, 2 * MS + (_i == 0 ? 8 * MS : 20 * MS));
	ck_assert_uint_eq(last->rest_ns, 2 * MS + (_i == 0 ? 2 * MS : 5 * MS));
	ck_assert_uint_eq(first->estimated_ns, _i == 0 ? 16 * MS : 20 * MS);
	ck_assert_uint_eq(last->estimated_ns, _i == 0 ? 4 * MS : 5 * MS);
	ck_assert_uint_eq(profile_reader_thread(reader, 1)->estimated_ns, 0);
	ck_assert_uint_eq(profile_reader_unattributed_ns(reader), _i == 0 ? 5 * MS : 0);
	profile_reader_close(reader);
}
END_TEST

START_TEST(sums_do_not_overflow)
{
	struct profile_writer *writer = fixture_create();

	add_thread(writer, 101, UINT64_MAX - 1);
	add_thread(writer, 102, UINT64_MAX - 1);
	add_note(writer, PROFILE_NOTE_UNATTRIBUTED, UINT64_MAX - 1);
	add_note(writer, PROFILE_NOTE_UNATTRIBUTED, UINT64_MAX - 1);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_thread(reader, 0)->cpu_ns, UINT64_MAX);
	ck_assert_uint_eq(profile_reader_unattributed_ns(reader), 0);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile accounts");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, parts_of_what_is_in_no_account, 0, 5);
	tcase_add_loop_test(tcase, more_than_is_expected, 0, 4);
	tcase_add_loop_test(tcase, part_in_the_kernel, 0, 2);
	tcase_add_test(tcase, sums_do_not_overflow);
	return run_suite(suite);
}
