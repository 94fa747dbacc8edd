/* Slices, waits and objects, written and read back. */
#include "profile/copy.h"
#include "profile/read/states.h"
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SLICES = 3, WAITS = 2 };

/* Thread 101 has two lives: the id was used again. */
static void write_result(struct profile_writer *writer)
{
	struct profile_object object = {.address = 0x1234, .kind = PROFILE_OBJECT_FUTEX};
	uint32_t index;

	fixture_fill(writer, 1);
	fixture_add_thread(writer, 100, 101, fixture_ms(2000), PROFILE_TIME_NEVER, 0, "later");
	assert_success(profile_writer_add_note(writer, PROFILE_NOTE_STATES, fixture_ms(0),
					       PROFILE_STATES_SWITCHES, 0, 0, NULL));
	assert_success(profile_writer_add_note(writer, PROFILE_NOTE_WAITS, fixture_ms(0), 3000000,
					       0, PROFILE_WAIT_BY_OBSERVER, NULL));
	assert_success(profile_writer_add_object(writer, &object, "lock", &index));
	ck_assert_uint_eq(index, 1); /* behind the unknown one */
	for (unsigned i = 0; i < SLICES; i++) {
		struct profile_slice slice = {.run_ns = 1000000,
					      .ready_ns = 7000,
					      .tid = i < 2 ? 101 : 999,
					      .cpu = 3,
					      .before = i == 1 ? 77 : PROFILE_STATE_BLOCKED};
		assert_success(profile_writer_add_slice(writer, &slice,
							fixture_ms(500 + 2000 * (uint64_t)i)));
	}
	struct profile_wait wait = {.wait_ns = 1900000000,
				    .tid = 101,
				    .object = index,
				    .node = 3,
				    .waker_tid = 101,
				    .syscall = 202,
				    .blocks = 1,
				    .source = PROFILE_WAIT_BY_OBSERVER};
	assert_success(profile_writer_add_wait(writer, &wait, fixture_ms(501)));
	wait.object = 0;
	wait.node = wait.waker_tid = 0;
	wait.state = PROFILE_STACK_GUESSED; /* of no wait */
	assert_success(profile_writer_add_wait(writer, &wait, fixture_ms(2501)));
	wait.object = index + 1;
	ck_assert_uint_eq(profile_writer_add_wait(writer, &wait, fixture_ms(1)), VT_BAD_PARAMETER);
}

struct seen {
	struct profile_slice_info slices[SLICES];
	struct profile_wait_info waits[WAITS];
	unsigned slice_count;
	unsigned wait_count;
};

static bool see_slice(const struct profile_slice_info *slice, void *user)
{
	struct seen *seen = user;
	ck_assert_uint_lt(seen->slice_count, SLICES);
	seen->slices[seen->slice_count++] = *slice;
	return true;
}

static bool see_wait(const struct profile_wait_info *wait, void *user)
{
	struct seen *seen = user;
	ck_assert_uint_lt(seen->wait_count, WAITS);
	seen->waits[seen->wait_count++] = *wait;
	return true;
}

static void expect_all(struct profile_reader *reader)
{
	struct seen seen = {0};

	ck_assert_uint_eq(profile_reader_states(reader), PROFILE_STATES_SWITCHES);
	ck_assert_uint_eq(profile_reader_wait_sources(reader), 1u << PROFILE_WAIT_BY_OBSERVER);
	ck_assert_uint_eq(profile_reader_object_count(reader), 2);
	ck_assert_uint_eq(profile_reader_object(reader, 1)->address, 0x1234);
	ck_assert_str_eq(profile_reader_text(reader, profile_reader_object(reader, 1)->name),
			 "lock");
	assert_success(profile_reader_each_slice(reader, see_slice, &seen));
	assert_success(profile_reader_each_wait(reader, see_wait, &seen));
	ck_assert_uint_eq(seen.slice_count, SLICES);
	ck_assert_uint_eq(seen.wait_count, WAITS);
	/* A time stamp is a TSC value, rounded down. */
	ck_assert_uint_le(fixture_ms(500) - seen.slices[0].start_ns, 1);
	ck_assert_uint_eq(seen.slices[0].end_ns - seen.slices[0].start_ns, 1000000);
	ck_assert_uint_eq(seen.slices[0].ready_ns, 7000);
	ck_assert_uint_eq(seen.slices[0].cpu, 3);
	ck_assert_uint_eq(seen.slices[1].before, PROFILE_STATE_UNKNOWN);
	ck_assert_uint_eq(seen.slices[2].thread, PROFILE_NONE);
	ck_assert_uint_ne(seen.slices[0].thread, seen.slices[1].thread);
	ck_assert_str_eq(profile_reader_thread(reader, seen.slices[1].thread)->name, "later");
	ck_assert_uint_eq(seen.waits[0].thread, seen.slices[0].thread);
	/* Woken in the second life. */
	ck_assert_uint_eq(seen.waits[0].waker_thread, seen.slices[1].thread);
	ck_assert_uint_eq(seen.waits[0].wait.node, 3);
	ck_assert_uint_eq(seen.waits[0].wait.state, PROFILE_STACK_COMPLETE);
	ck_assert_uint_eq(seen.waits[1].waker_thread, PROFILE_NONE);
	ck_assert_uint_eq(seen.waits[1].wait.state, PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(seen.waits[1].wait.reason, PROFILE_SKIP_BAD_INFO);
}

START_TEST(read_back)
{
	struct profile_writer *writer = fixture_create();

	write_result(writer);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	expect_all(reader);
	profile_reader_close(reader);
}
END_TEST

/* Some at a time, and none behind the last one. */
START_TEST(read_by_parts)
{
	struct profile_slice_info slices[SLICES + 1];
	struct seen seen = {0};
	size_t count;
	struct profile_writer *writer = fixture_create();

	write_result(writer);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	assert_success(profile_reader_each_slice(reader, see_slice, &seen));
	assert_success(profile_reader_read_slices(reader, 0, slices, 2, &count));
	ck_assert_uint_eq(count, 2);
	assert_success(profile_reader_read_slices(reader, 2, slices + 2, 2, &count));
	ck_assert_uint_eq(count, SLICES - 2);
	for (unsigned i = 0; i < SLICES; i++) {
		ck_assert_uint_eq(slices[i].start_ns, seen.slices[i].start_ns);
		ck_assert_uint_eq(slices[i].thread, seen.slices[i].thread);
	}
	assert_success(profile_reader_read_slices(reader, SLICES, slices, 2, &count));
	ck_assert_uint_eq(count, 0);
	profile_reader_close(reader);
}
END_TEST

START_TEST(copied)
{
	char path[160];
	struct profile_run run = {.clock = {.tsc = 1000,
					    .raw_ns = FIXTURE_RAW_NS,
					    .tsc_per_ns_q32 = UINT64_C(1) << 32},
				  .interval_ns = 10000000,
				  .event_name = "CPU Time"};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_writer *writer = fixture_create();
	struct profile_reader *reader;

	write_result(writer);
	fixture_finish(writer);
	snprintf(path, sizeof(path), "%s.copy", fixture_path());
	struct profile_copy copy = {.reader = fixture_open()};
	assert_success(profile_writer_create(path, &run, &copy.writer));
	assert_success(profile_copy_all(&copy));
	assert_success(profile_writer_finish(copy.writer, &end));
	profile_reader_close(copy.reader);
	profile_copy_finish(&copy);
	assert_success(profile_reader_open(path, &reader));
	expect_all(reader);
	profile_reader_close(reader);
	unlink(path);
}
END_TEST

/* A result without these streams, as older collectors write it, has none. */
START_TEST(none)
{
	struct seen seen = {0};
	struct profile_writer *writer = fixture_create();

	fixture_fill(writer, 1);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_states(reader), 0);
	ck_assert_uint_eq(profile_reader_wait_sources(reader), 0);
	ck_assert_uint_eq(profile_reader_object_count(reader), 1);
	assert_success(profile_reader_each_slice(reader, see_slice, &seen));
	ck_assert_uint_eq(seen.slice_count, 0);
	ck_assert_uint_eq(profile_reader_find_thread(reader, 100, fixture_tsc(1)), 0);
	ck_assert_uint_eq(profile_reader_find_thread(reader, 98, fixture_tsc(1)), PROFILE_NONE);
	ck_assert_uint_eq(profile_reader_find_thread(reader, 999, fixture_tsc(1)), PROFILE_NONE);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile states");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, read_back);
	tcase_add_test(tcase, read_by_parts);
	tcase_add_test(tcase, copied);
	tcase_add_test(tcase, none);
	return run_suite(suite);
}
