/* Files as a whole: opening, closing, aborting, adding. */
#include "tests/tbrw/support.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static TBRW_U32 open_fails(const char *name, TBRW_U32 mode)
{
	TBRW_PTR ptr = NULL;
	TBRW_U32 code = TBRW_open(&ptr, wide_path_of(name), mode);

	ck_assert_ptr_null(ptr);
	return code;
}

static void write_value(const char *name, uint32_t value)
{
	TBRW_PTR ptr = open_file(name, CREATE);

	write_custom_stream(ptr, 0, L"value", 4, &value, 4);
	OK(TBRW_close(ptr));
}

static void expect_value(const char *name, TBRW_U32 stream, uint64_t value)
{
	TBRW_PTR ptr = open_file(name, READ);
	TBRW_U32 code;

	ck_assert_uint_eq(sum_of(ptr, stream, &code), value);
	OK(code);
	OK(TBRW_close(ptr));
}

START_TEST(open_errors)
{
	TBRW_PTR ptr = NULL;
	wchar_t bad[] = {L'/', L't', 0xD800, 0};

	FAILS(TBRW_open(NULL, L"x", READ), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_open(&ptr, NULL, READ), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_open(&ptr, L"", READ), VT_EMPTY_SAMPLE_FILE_NAME);
	FAILS(TBRW_open(&ptr, bad, READ), VT_INVALID_SAMPLE_FILE_NAME);
	FAILS(open_fails("x", 0), VT_INVALID_ACCESS_PERMS);
	FAILS(open_fails("x", 8 | READ), VT_INVALID_ACCESS_PERMS);
	FAILS(open_fails("x", TBRW_FILE_CREATE_ALWAYS), VT_INVALID_ACCESS_PERMS);
	FAILS(open_fails("x", READ), VT_FILE_OPEN_FAILED);
	FAILS(open_fails("x", READ_WRITE), VT_FILE_OPEN_FAILED);
	FAILS(open_fails("none/x", CREATE), VT_SAMP_FILE_CREATE_FAILED);
	FAILS(open_fails(".", READ), VT_INVALID_SAMPLE_FILE_NAME);
	FAILS(open_fails(".", CREATE), VT_INVALID_SAMPLE_FILE_NAME);
	FAILS(TBRW_close(NULL), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_close(bad), VT_BAD_PARAMETER);
	FAILS(TBRW_abort_cleanup_and_close(NULL), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_verify(NULL), VT_UNEXPECTED_NULL_PTR);
}
END_TEST

START_TEST(foreign_files_are_refused)
{
	unsigned char other[256] = "SPRM";
	size_t size;

	write_bytes("empty.tb5", "", 0);
	FAILS(open_fails("empty.tb5", READ), VT_INVALID_SAMPLE_FILE);
	write_bytes("other.tb5", other, sizeof(other));
	FAILS(open_fails("other.tb5", READ), VT_INVALID_SAMPLE_FILE);
	FAILS(open_fails("other.tb5", READ_WRITE), VT_INVALID_SAMPLE_FILE);
	write_value("good.tb5", 1);
	unsigned char *data = read_bytes("good.tb5", &size);
	data[20] ^= 1;
	write_bytes("flipped.tb5", data, size);
	FAILS(open_fails("flipped.tb5", READ), VT_INVALID_SAMPLE_FILE);
	free(data);
	ck_assert_int_eq(mkfifo(path_of("fifo.tb5"), 0600), 0);
	FAILS(open_fails("fifo.tb5", READ), VT_INVALID_SAMPLE_FILE_NAME);
	FAILS(open_fails("fifo.tb5", CREATE), VT_INVALID_SAMPLE_FILE_NAME);
}
END_TEST

START_TEST(symbolic_links_are_not_written_through)
{
	struct stat st;

	write_value("target.tb5", 7);
	ck_assert_int_eq(symlink(path_of("target.tb5"), path_of("link.tb5")), 0);
	FAILS(open_fails("link.tb5", CREATE), VT_INVALID_SAMPLE_FILE_NAME);
	FAILS(open_fails("link.tb5", READ_WRITE), VT_INVALID_SAMPLE_FILE_NAME);
	expect_value("link.tb5", 0, 7);
	ck_assert_int_eq(lstat(path_of("link.tb5"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(created_with_umask)
{
	mode_t old = umask(027);
	struct stat st;

	write_value("mode.tb5", 1);
	umask(old);
	ck_assert_int_eq(stat(path_of("mode.tb5"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(replaced)
{
	TBRW_U32 code;

	write_value("a.tb5", 1);
	TBRW_PTR reader = open_file("a.tb5", READ);
	write_value("a.tb5", 2);
	ck_assert_uint_eq(sum_of(reader, 0, &code), 1);
	OK(code);
	OK(TBRW_close(reader));
	expect_value("a.tb5", 0, 2);
}
END_TEST

START_TEST(one_writer)
{
	TBRW_PTR writer = open_file("a.tb5", CREATE);

	FAILS(open_fails("a.tb5", CREATE), VT_TB5_IN_USE);
	FAILS(open_fails("a.tb5", READ_WRITE), VT_TB5_IN_USE);
	OK(TBRW_abort_cleanup_and_close(writer));
}
END_TEST

START_TEST(empty_file)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_U32 streams = 9;

	OK(TBRW_close(ptr));
	ptr = open_file("a.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_get_number_data_streams(ptr, &streams));
	ck_assert_uint_eq(streams, 0);
	FAILS(TBRW_writing_section(ptr, TBRW_MODULE_SECTION), VT_INVALID_ACCESS_PERMS);
	FAILS(TBRW_writing_stream(ptr, 0), VT_INVALID_ACCESS_PERMS);
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(close_refuses_what_is_open)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	uint32_t value = 3;

	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_close(ptr), VT_GLOBAL_SECTION_NOT_CLOSED);
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_verify(ptr));
	begin_samples(ptr);
	FAILS(TBRW_close(ptr), VT_STREAM_SECTION_NOT_CLOSED);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	FAILS(TBRW_close(ptr), VT_STREAM_NOT_CLOSED);
	OK(TBRW_done_stream(ptr, 0));
	write_custom_stream(ptr, 1, L"v", 4, &value, 4);
	OK(TBRW_reading_stream(ptr, 1));
	FAILS(TBRW_close(ptr), VT_NOT_ALL_SECTIONS_CLOSED);
	OK(TBRW_done_stream(ptr, 1));
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(abort_of_a_new_file)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);

	OK(TBRW_abort_cleanup_and_close(ptr));
	ck_assert_int_ne(access(path_of("a.tb5"), F_OK), 0);

	ptr = open_file("a.tb5", CREATE);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_abort_cleanup_and_close(ptr));
	ptr = open_file("a.tb5", READ);
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	OK(TBRW_reading_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_close(ptr));
	FAILS(open_fails("a.tb5", READ_WRITE), VT_INCOMPLETE_TB5_ENCOUNTERED);
}
END_TEST

/* Someone else's file that took the name over is not ours to remove. */
START_TEST(abort_leaves_a_replacement)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);

	ck_assert_int_eq(unlink(path_of("a.tb5")), 0);
	write_bytes("a.tb5", "x", 1);
	OK(TBRW_abort_cleanup_and_close(ptr));
	ck_assert_int_eq(access(path_of("a.tb5"), F_OK), 0);
}
END_TEST

START_TEST(streams_added_later)
{
	uint32_t value = 20;
	size_t size, again;

	write_value("a.tb5", 10);
	TBRW_PTR ptr = open_file("a.tb5", READ_WRITE);
	FAILS(TBRW_writing_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_writing_stream(ptr, 2), VT_INVALID_STREAM);
	write_custom_stream(ptr, 1, L"value", 4, &value, 4);
	OK(TBRW_close(ptr));
	expect_value("a.tb5", 0, 10);
	expect_value("a.tb5", 1, 20);
	free(read_bytes("a.tb5", &size));
	OK(TBRW_close(open_file("a.tb5", READ_WRITE)));
	free(read_bytes("a.tb5", &again));
	ck_assert_uint_eq(size, again);
}
END_TEST

/* Adding to a file counts when it is closed; until then the file is what it was. */
START_TEST(adding_is_all_or_nothing)
{
	uint32_t value = 20;
	size_t before_size, after_size, restored_size;
	TBRW_U32 streams;

	write_value("a.tb5", 10);
	unsigned char *before = read_bytes("a.tb5", &before_size);
	TBRW_PTR ptr = open_file("a.tb5", READ_WRITE);
	write_custom_stream(ptr, 1, L"value", 4, &value, 4);
	unsigned char *after = read_bytes("a.tb5", &after_size);
	ck_assert_uint_gt(after_size, before_size);
	OK(TBRW_abort_cleanup_and_close(ptr));
	free(before);
	before = read_bytes("a.tb5", &restored_size);
	ck_assert_uint_eq(restored_size, before_size);
	expect_value("a.tb5", 0, 10);

	write_bytes("killed.tb5", after, after_size);
	ptr = open_file("killed.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_get_number_data_streams(ptr, &streams));
	ck_assert_uint_eq(streams, 1);
	OK(TBRW_close(ptr));
	ptr = open_file("killed.tb5", READ_WRITE);
	write_custom_stream(ptr, 1, L"value", 4, &value, 4);
	OK(TBRW_close(ptr));
	expect_value("killed.tb5", 1, 20);
	free(before);
	free(after);
}
END_TEST

static TBRW_U32 sum_words(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	ck_assert_uint_eq(size % count, 0);
	return sum_values(data, size, size / 4, user);
}

/* More data than buffers hold, in entries that no buffer size is a multiple of. */
START_TEST(large_stream)
{
	enum { ENTRY = 4 * 7, COUNT = 300000 };
	TBRW_PTR ptr = open_file("large.tb5", CREATE);
	uint32_t *values = malloc((size_t)ENTRY * COUNT);
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"large");
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_NONE, SST_NONE, 0, ENTRY, L"value");
	uint64_t sum = 0, expected = 0;

	ck_assert_ptr_nonnull(values);
	for (uint32_t i = 0; i < ENTRY / 4 * COUNT; i++) {
		values[i] = i;
		expected += i;
	}
	write_bytes("values.bin", values, (size_t)ENTRY * COUNT);
	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_add_data(ptr, 0, ENTRY * COUNT / 2, values));
	OK(TBRW_add_data(ptr, 0, 1, (char *)values + ENTRY * COUNT / 2));
	OK(TBRW_add_data(ptr, 0, ENTRY * COUNT - ENTRY * COUNT / 2 - 1,
			 (char *)values + ENTRY * COUNT / 2 + 1));
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of("none.bin")), VT_FILE_OPEN_FAILED);
	/* What would never end: the file itself, a pipe that nobody writes. */
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of("a.tb5")), VT_FILE_OPEN_FAILED);
	ck_assert_int_eq(mkfifo(path_of("pipe"), 0600), 0);
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of("pipe")), VT_FILE_OPEN_FAILED);
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of(".")), VT_FILE_OPEN_FAILED);
	OK(TBRW_add_data_from_file(ptr, 0, wide_path_of("values.bin")));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 0, &info));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	FAILS(TBRW_done_stream(ptr, 0), VT_DATA_DESC_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &d));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_close(ptr));
	free(values);

	ptr = open_file("large.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_enumerate_data(ptr, 0, sum_words, &sum, 0));
	ck_assert_uint_eq(sum, 2 * expected);
	sum = 0;
	OK(TBRW_enumerate_data(ptr, 0, sum_words, &sum, COUNT));
	ck_assert_uint_eq(sum, expected);
	OK(TBRW_enumerate_data(ptr, 0, sum_words, &sum, 2 * COUNT));
	ck_assert_uint_eq(sum, expected);
	FAILS(TBRW_enumerate_data(ptr, 0, sum_words, &sum, 2 * COUNT + 1), VT_INVALID_READ_START);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		open_errors,
		foreign_files_are_refused,
		symbolic_links_are_not_written_through,
		created_with_umask,
		replaced,
		one_writer,
		empty_file,
		close_refuses_what_is_open,
		abort_of_a_new_file,
		abort_leaves_a_replacement,
		streams_added_later,
		adding_is_all_or_nothing,
		large_stream,
	};

	return run_suite(suite_of("file", tests, sizeof(tests) / sizeof(*tests)));
}
