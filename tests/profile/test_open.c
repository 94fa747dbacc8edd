/* Results created and opened: by which paths, and what is refused. */
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

START_TEST(writer_refuses_bad_references)
{
	struct profile_writer *writer = fixture_create();
	struct profile_frame frame = {.image = 1};
	struct profile_node node = {.parent = 1, .frame = 0};
	struct profile_image image = {.build_id_size = 21};
	struct profile_module module = {.image = 1, .path = "x"};
	struct profile_sample sample = {.stack.node = 1};
	uint32_t index;

	ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_BAD_PARAMETER);
	ck_assert_uint_eq(profile_writer_add_node(writer, &node), VT_BAD_PARAMETER);
	node.parent = 0;
	ck_assert_uint_eq(profile_writer_add_node(writer, &node), VT_BAD_PARAMETER);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, "x", &index), VT_BAD_PARAMETER);
	ck_assert_uint_eq(profile_writer_add_module(writer, &module), VT_BAD_PARAMETER);
	ck_assert_uint_eq(profile_writer_add_sample(writer, &sample), VT_BAD_PARAMETER);
	/* None of that is a failure of the file. */
	frame.image = 0;
	assert_success(profile_writer_add_frame(writer, &frame));
	assert_success(profile_writer_add_node(writer, &node));
	assert_success(profile_writer_add_sample(writer, &sample));
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(create_refuses)
{
	struct profile_run run = {.interval_ns = 1, .event_name = "CPU Time"};
	struct profile_writer *writer = NULL;

	ck_assert_uint_eq(profile_writer_create(fixture_path(), &run, &writer), VT_BAD_PARAMETER);
	run.clock.tsc_per_ns_q32 = 1;
	ck_assert_uint_ne(profile_writer_create("/nonexistent/r.tb5", &run, &writer), VT_SUCCESS);
	assert_success((TBRW_U32)symlink("/tmp/elsewhere.tb5", fixture_path()));
	ck_assert_uint_ne(profile_writer_create(fixture_path(), &run, &writer), VT_SUCCESS);
	ck_assert_int_ne(access("/tmp/elsewhere.tb5", F_OK), 0);
	ck_assert_ptr_null(writer);
}
END_TEST

START_TEST(path_that_is_no_unicode)
{
	char directory[160], path[200];
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .tsc_per_ns_q32 = 1},
		.interval_ns = 1,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_writer *writer;
	struct profile_reader *reader;

	snprintf(directory, sizeof(directory), "/tmp/profile-\xFF\xFE-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/\xC3\xA4\xFF.tb5", directory);
	assert_success(profile_writer_create(path, &run, &writer));
	assert_success(profile_writer_finish(writer, &end));
	assert_success(profile_reader_open(path, &reader));
	profile_reader_close(reader);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

START_TEST(open_refuses_what_is_no_result)
{
	struct profile_reader *reader = NULL;
	FILE *file = fopen(fixture_path(), "w");

	ck_assert_uint_ne(profile_reader_open("/nonexistent", &reader), VT_SUCCESS);
	ck_assert_uint_ne(profile_reader_open("/tmp", &reader), VT_SUCCESS);
	fputs("this is no tb5 file, however long the text is that stands in it", file);
	fclose(file);
	ck_assert_uint_eq(profile_reader_open(fixture_path(), &reader), VT_INVALID_SAMPLE_FILE);
	ck_assert_ptr_null(reader);
	profile_reader_close(NULL);
	profile_writer_abandon(NULL);
}
END_TEST

START_TEST(reads_through_a_link)
{
	char link_path[160];
	struct profile_reader *reader;

	fixture_finish(fixture_create());
	snprintf(link_path, sizeof(link_path), "%s.link", fixture_path());
	ck_assert_int_eq(symlink(fixture_path(), link_path), 0);
	assert_success(profile_reader_open(link_path, &reader));
	profile_reader_close(reader);
	ck_assert_int_eq(unlink(link_path), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile open");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, writer_refuses_bad_references);
	tcase_add_test(tcase, create_refuses);
	tcase_add_test(tcase, path_that_is_no_unicode);
	tcase_add_test(tcase, open_refuses_what_is_no_result);
	tcase_add_test(tcase, reads_through_a_link);
	return run_suite(suite);
}
