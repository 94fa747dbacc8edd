/* What a result says of unwinding: of guessed stacks, and of the work by thread and image. */
#include "tests/profile/fixture.h"
#include <stdlib.h>
#include <string.h>

static void add_stack(struct profile_writer *writer, struct profile_stack stack)
{
	struct profile_sample sample = {.time_ns = fixture_ms(1), .pid = 1, .tid = 1};

	sample.stack = stack;
	assert_success(profile_writer_add_sample(writer, &sample));
}

/* Loop: read from a closed file, from one that was never closed. */
START_TEST(guess_of_a_stack)
{
	const struct profile_stack guessed = {.cpu_ns = 1,
					      .state = PROFILE_STACK_GUESSED,
					      .reason = PROFILE_SKIP_TRUNCATED,
					      .collapsed = 9,
					      .verified = 65535,
					      .guess_level = PROFILE_GUESS_AGREED,
					      .guess_hits = 255};
	struct profile_writer *writer = fixture_create();
	struct profile_stack stack = guessed;
	uint64_t count;

	add_stack(writer, stack);
	stack.state = PROFILE_STACK_SKIPPED; /* no guess: what was said of one is dropped */
	add_stack(writer, stack);
	stack = guessed;
	stack.guess_level = PROFILE_GUESS_LEVEL_COUNT; /* a level of a later version */
	add_stack(writer, stack);
	stack = guessed;
	stack.kernel_us = 7; /* more than the sample weighs */
	add_stack(writer, stack);
	if (_i == 0)
		fixture_finish(writer);
	else
		fixture_kill(writer);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 4);
	ck_assert_mem_eq(&samples[0].stack, &guessed, sizeof(guessed));
	ck_assert_uint_eq(samples[1].stack.collapsed, 9);
	ck_assert_uint_eq(samples[1].stack.verified, 0);
	ck_assert_uint_eq(samples[1].stack.guess_level, PROFILE_GUESS_NONE);
	ck_assert_uint_eq(samples[1].stack.guess_hits, 0);
	ck_assert_uint_eq(samples[2].stack.state, PROFILE_STACK_GUESSED);
	ck_assert_uint_eq(samples[2].stack.verified, 0);
	ck_assert_uint_eq(samples[2].stack.guess_level, PROFILE_GUESS_NONE);
	ck_assert_mem_eq(&samples[3].stack, &guessed, sizeof(guessed));
	free(samples);
	profile_reader_close(reader);
}
END_TEST

static void expect_unwinding(const struct profile_reader *reader, uint32_t index,
			     struct profile_unwinding expected)
{
	const struct profile_unwinding *read = profile_reader_unwinding(reader, index);

	ck_assert_mem_eq(read, &expected, sizeof(expected));
}

/* Threads without are in between, so that subjects are no indices. */
START_TEST(unwinding)
{
	struct profile_unwinding one = {0, 99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	struct profile_thread_life life = {.pid = 1, .end_ns = PROFILE_TIME_NEVER, .name = "t"};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	struct profile_writer *writer = fixture_create();
	uint32_t index;

	for (uint32_t i = 0; i < 4; i++) {
		life.tid = i + 1;
		life.unwinding = i % 2 == 1 ? &one : NULL;
		one.walks = 100 + i;
		assert_success(profile_writer_add_thread(writer, &life));
	}
	assert_success(profile_writer_add_image(writer, &image, "/opt/app", &index));
	one.walks = 7;
	one.kind = PROFILE_UNWINDING_IMAGE;
	for (uint32_t i = 0; i < 3; i++) {
		one.subject = (uint32_t[]){index, index + 1, 0}[i];
		ck_assert_uint_eq(profile_writer_add(writer, PROFILE_STREAM_UNWINDING, &one, NULL,
						     NULL),
				  i == 1 ? VT_BAD_PARAMETER : VT_SUCCESS);
	}
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	ck_assert_uint_eq(profile_reader_unwinding_count(reader), 4);
	one.kind = PROFILE_UNWINDING_THREAD;
	one.subject = 1;
	one.walks = 101;
	expect_unwinding(reader, 0, one);
	one.subject = 3;
	one.walks = 103;
	expect_unwinding(reader, 1, one);
	one.kind = PROFILE_UNWINDING_IMAGE;
	one.subject = 1;
	one.walks = 7;
	expect_unwinding(reader, 2, one);
	one.subject = 0;
	expect_unwinding(reader, 3, one);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile unwinding");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, guess_of_a_stack, 0, 2);
	tcase_add_test(tcase, unwinding);
	return run_suite(suite);
}
