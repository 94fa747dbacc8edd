/* A result with samples of several events: each has its own numbers. */
#include "profile/copy.h"
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PID = 100, TID = 101, OTHER = 102 };

static const char *const names[] = {"page-faults", "cs", NULL};

static void add_sample(struct profile_writer *writer, uint64_t ms, uint32_t tid, uint8_t event,
		       uint64_t number)
{
	struct profile_sample sample = {
		.time_ns = fixture_ms(ms),
		.ip = 0x400100,
		.pid = PID,
		.tid = tid,
		.cs = 0x33,
		.event = event,
		.stack = {.cpu_ns = number, .state = PROFILE_STACK_NONE},
	};
	assert_success(profile_writer_add_sample(writer, &sample));
}

static void add_thread(struct profile_writer *writer, uint32_t tid, uint32_t samples)
{
	struct profile_thread_life thread = {
		.pid = PID,
		.tid = tid,
		.start_ns = PROFILE_TIME_BEFORE,
		.end_ns = PROFILE_TIME_NEVER,
		.cpu_ns = samples * 10 + 7,
		.rest_ns = 7,
		.sampled_ns = samples * 10,
		.samples = samples,
		.name = "thread",
	};
	assert_success(profile_writer_add_thread(writer, &thread));
}

/* Two threads recorded, a third one not. */
static void make_result(void)
{
	struct profile_run run = {
		.clock = {1000, FIXTURE_RAW_NS, FIXTURE_REAL_NS, UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
		.added_events = names,
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_writer *writer;
	assert_success(profile_writer_create(fixture_path(), &run, &writer));
	for (uint32_t i = 0; i < 2; i++)
		assert_success(profile_writer_add_note(writer, PROFILE_NOTE_EVENT_ADDED,
						       FIXTURE_RAW_NS, i + 1, 0, 0, names[i]));
	add_sample(writer, 1, PID, 0, 10);
	add_sample(writer, 2, PID, 1, 500);
	add_sample(writer, 3, TID, 2, 1);
	add_sample(writer, 4, TID, 1, 300);
	add_sample(writer, 5, TID, 0, 10);
	add_sample(writer, 6, PID, 1, 200);
	add_sample(writer, 7, OTHER, 1, 40);
	add_thread(writer, PID, 1);
	add_thread(writer, TID, 1);
	assert_success(profile_writer_finish(writer, &end));
}

struct sums {
	uint64_t samples;
	uint64_t weight;
};

static bool add(const struct profile_sample_info *sample, void *user)
{
	struct sums *sums = user;
	sums->samples++;
	sums->weight += sample->stack.cpu_ns;
	return true;
}

static const struct {
	uint32_t event;
	struct sums sums;
	uint64_t accounts[3]; /* of the threads */
} expected[] = {
	{0, {2, 20}, {17, 17, 0}},
	{1, {4, 1040}, {700, 300, 40}},
	{2, {1, 1}, {0, 1, 0}},
};

static void check(struct profile_reader *reader, int i)
{
	struct sums sums = {0};
	uint32_t event = expected[i].event;
	ck_assert_uint_eq(profile_reader_event_count(reader), 2);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 7);
	if (event > 0) {
		assert_success(profile_reader_choose_event(reader, event));
		ck_assert_str_eq(profile_reader_counted_event(reader), names[event - 1]);
		ck_assert_uint_eq(profile_reader_interval_ns(reader), 1);
	} else {
		ck_assert_ptr_null(profile_reader_counted_event(reader));
	}
	ck_assert_int_eq(profile_reader_sampling(reader), PROFILE_SAMPLING_FIXED);
	assert_success(profile_reader_each_sample(reader, add, &sums));
	ck_assert_uint_eq(sums.samples, expected[i].sums.samples);
	ck_assert_uint_eq(sums.weight, expected[i].sums.weight);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 3);
	for (uint32_t t = 0; t < 3; t++)
		ck_assert_uint_eq(profile_reader_thread(reader, t)->cpu_ns,
				  expected[i].accounts[t]);
}

START_TEST(each_event)
{
	make_result();
	struct profile_reader *reader = fixture_open();
	check(reader, _i);
	profile_reader_close(reader);
}
END_TEST

START_TEST(no_such_event)
{
	make_result();
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_choose_event(reader, 0), VT_BAD_PARAMETER);
	ck_assert_uint_eq(profile_reader_choose_event(reader, 3), VT_BAD_PARAMETER);
	check(reader, 0);
	profile_reader_close(reader);
}
END_TEST

/* A copy has the samples of all events, told apart as before. */
START_TEST(copied)
{
	struct profile_run run = {
		.clock = {1000, FIXTURE_RAW_NS, FIXTURE_REAL_NS, UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
		.added_events = names,
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_copy copy = {0};
	struct profile_reader *reader;
	char path[128];
	make_result();
	copy.reader = fixture_open();
	snprintf(path, sizeof(path), "%s.copy", fixture_path());
	assert_success(profile_writer_create(path, &run, &copy.writer));
	assert_success(profile_copy_all(&copy));
	assert_success(profile_writer_finish(copy.writer, &end));
	profile_copy_finish(&copy);
	profile_reader_close(copy.reader);
	assert_success(profile_reader_open(path, &reader));
	check(reader, _i);
	profile_reader_close(reader);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile events");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, each_event, 0, 3);
	tcase_add_test(tcase, no_such_event);
	tcase_add_loop_test(tcase, copied, 0, 3);
	return run_suite(suite);
}
