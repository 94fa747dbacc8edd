/* A stream that the library does not have but for the edits of made_up.py is written, checked,
 * recovered and copied like the others. */
#include "profile/copy.h"
#include "profile/write/writer_private.h"
#include "tests/profile/fixture.h"
#include "tools/convert/recover.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RECORDS = 3 };

static char copy_path[128];

static void setup(void)
{
	fixture_setup();
	snprintf(copy_path, sizeof(copy_path), "%s.copy", fixture_path());
}

static void teardown(void)
{
	unlink(copy_path);
	fixture_teardown();
}

static const char *const texts[RECORDS] = {"one", "two", "one"};

static struct profile_made_up record_at(uint32_t i)
{
	return (struct profile_made_up){
		.tsc = fixture_tsc(i + 1),
		.value = UINT64_MAX - i,
		.frame = i,
		.image = i % 2,
	};
}

static TBRW_U32 add(struct profile_writer *writer, const struct profile_made_up *record,
		    const char *text)
{
	return profile_writer_add(writer, PROFILE_STREAM_MADE_UP, record, &text, NULL);
}

static struct profile_writer *create_filled(void)
{
	struct profile_writer *writer = fixture_create();

	fixture_fill(writer, 10);
	for (uint32_t i = 0; i < RECORDS; i++) {
		struct profile_made_up record = record_at(i);
		assert_success(add(writer, &record, texts[i]));
	}
	return writer;
}

/* The records from the first on, whose frames and images are so much further on. */
static void expect(const struct profile_reader *reader, uint32_t first, uint32_t frame_shift,
		   uint32_t image_shift)
{
	uint32_t count;
	const struct profile_made_up *read =
		profile_reader_records(reader, PROFILE_STREAM_MADE_UP, &count);

	ck_assert_uint_ge(count, first + RECORDS);
	for (uint32_t i = 0; i < RECORDS; i++, read++) {
		struct profile_made_up expected = record_at(i);
		ck_assert_uint_eq(read[first].tsc, expected.tsc);
		ck_assert_uint_eq(read[first].value, expected.value);
		ck_assert_uint_eq(read[first].frame, expected.frame + frame_shift);
		ck_assert_uint_eq(read[first].image,
				  expected.image ? expected.image + image_shift : 0);
		ck_assert_str_eq(profile_reader_text(reader, read[first].text), texts[i]);
	}
}

static uint32_t count_of(const struct profile_reader *reader)
{
	uint32_t count;

	profile_reader_records(reader, PROFILE_STREAM_MADE_UP, &count);
	return count;
}

/* Loop: from a closed file, from one that was never closed. */
START_TEST(written_and_read)
{
	struct profile_writer *writer = create_filled();

	if (_i == 0)
		fixture_finish(writer);
	else
		fixture_kill(writer);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	ck_assert_uint_eq(count_of(reader), RECORDS);
	expect(reader, 0, 0, 0);
	profile_reader_close(reader);
}
END_TEST

START_TEST(writer_refuses)
{
	struct profile_writer *writer = create_filled();
	struct profile_made_up record = {.frame = RECORDS};

	ck_assert_uint_eq(add(writer, &record, "x"), VT_BAD_PARAMETER);
	record = (struct profile_made_up){.image = 2};
	ck_assert_uint_eq(add(writer, &record, "x"), VT_BAD_PARAMETER);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(count_of(reader), RECORDS);
	profile_reader_close(reader);
}
END_TEST

/* As a damaged file has them: the writer is made to believe that there are more. */
START_TEST(references_that_lead_nowhere)
{
	struct profile_writer *writer = create_filled();
	struct profile_made_up no_frame = {.frame = RECORDS, .value = 1};
	struct profile_made_up no_image = {.image = 77, .value = 2};
	uint32_t count;

	writer->counts[PROFILE_STREAM_FRAMES] = PROFILE_NONE;
	writer->counts[PROFILE_STREAM_IMAGES] = PROFILE_NONE;
	assert_success(add(writer, &no_frame, "x"));
	assert_success(add(writer, &no_image, NULL));
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	expect(reader, 0, 0, 0);
	const struct profile_made_up *read =
		profile_reader_records(reader, PROFILE_STREAM_MADE_UP, &count);
	ck_assert_uint_eq(count, RECORDS + 1);
	ck_assert_uint_eq(read[RECORDS].value, 2);
	ck_assert_uint_eq(read[RECORDS].image, 0);
	ck_assert_str_eq(profile_reader_text(reader, read[RECORDS].text), "");
	profile_reader_close(reader);
}
END_TEST

START_TEST(recovered)
{
	struct progress progress = {0};
	struct profile_reader *copied;

	fixture_kill(create_filled());
	struct profile_reader *reader = fixture_open();
	ck_assert(!profile_reader_complete(reader));
	assert_success(recover_write(reader, fixture_path(), copy_path, &progress));
	assert_success(profile_reader_open(copy_path, &copied));
	ck_assert(profile_reader_complete(copied));
	ck_assert_uint_eq(count_of(copied), RECORDS);
	expect(copied, 0, 0, 0);
	profile_reader_close(copied);
	profile_reader_close(reader);
}
END_TEST

/* Twice into one result, as if two were merged: the second one's frames lie behind the first's. */
START_TEST(copied_with_others)
{
	struct profile_run run = {.interval_ns = 10000000, .event_name = "CPU Time"};
	struct profile_run_end end = {.comment = "two"};
	struct profile_writer *writer;
	struct profile_reader *copied;

	fixture_finish(create_filled());
	struct profile_reader *reader = fixture_open();
	run.clock = *profile_reader_clock(reader, 0);
	end.clock = run.clock;
	assert_success(profile_writer_create(copy_path, &run, &writer));
	for (int i = 0; i < 2; i++) {
		struct profile_copy copy = {.reader = reader, .writer = writer};
		assert_success(profile_copy_all(&copy));
		profile_copy_finish(&copy);
	}
	assert_success(profile_writer_finish(writer, &end));
	assert_success(profile_reader_open(copy_path, &copied));
	ck_assert_uint_eq(count_of(copied), 2 * RECORDS);
	expect(copied, 0, 0, 0);
	expect(copied, RECORDS, 3, 1);
	profile_reader_close(copied);
	profile_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("a stream more");
	TCase *tcase = tcase_create("made up");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, written_and_read, 0, 2);
	tcase_add_test(tcase, writer_refuses);
	tcase_add_test(tcase, references_that_lead_nowhere);
	tcase_add_test(tcase, recovered);
	tcase_add_test(tcase, copied_with_others);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
