/* Files of a writer that was killed, files that were cut off, files with noise. */
#include "tbrw/utf8.h"
#include "tests/profile/fixture.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than the second after which a writer flushes. */
enum { FLUSH_US = 1100000 };

START_TEST(killed_writer)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct profile_writer *writer = fixture_create();
		fixture_fill(writer, 2000);
		usleep(FLUSH_US);
		/* Flushes what came before it. */
		fixture_add_sample(writer, 3000, 100, 100, 0x400100);
		/* Lost. */
		fixture_add_sample(writer, 3001, 100, 100, 0x400100);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	struct profile_reader *reader = fixture_open();
	ck_assert(!profile_reader_complete(reader));
	ck_assert_uint_ge(profile_reader_sample_count(reader), 2000);
	ck_assert_uint_le(profile_reader_sample_count(reader), 2001);
	ck_assert_uint_eq(profile_reader_image_count(reader), 2);
	ck_assert_uint_eq(profile_reader_node_count(reader), 4);
	ck_assert_uint_eq(profile_reader_clock_count(reader), 1);
	ck_assert_uint_eq(profile_reader_note_count(reader), 1);
	ck_assert_uint_eq(profile_reader_module_count(reader), 1);
	ck_assert_str_eq(profile_reader_text(reader, profile_reader_note(reader, 0)->text),
			 "app --fast");
	ck_assert_uint_eq(profile_reader_process_count(reader), 1);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 2);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(killed_at_once)
{
	struct profile_reader *reader;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		fixture_fill(fixture_create(), 1);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	/* Whatever reached the file: nothing is an empty result, no file an error. */
	if (profile_reader_open(fixture_path(), &reader) == VT_SUCCESS) {
		ck_assert(!profile_reader_complete(reader));
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
}
END_TEST

static off_t file_size(void)
{
	struct stat status;

	ck_assert_int_eq(stat(fixture_path(), &status), 0);
	return status.st_size;
}

static void make_small_result(void)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols;
	struct profile_symbol symbol = {.frame = 1};
	struct profile_symbol_text text = {.name = "function"};

	fixture_fill(writer, 40);
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	assert_success(profile_symbol_writer_add(symbols, &symbol, &text));
	assert_success(profile_symbol_writer_finish(symbols));
}

START_TEST(every_length)
{
	/* A step of no common size of records or chunks, so that all places of a record are cut. */
	enum { PARTS = 4, STEP = 7 };
	uint32_t opened = 0;

	make_small_result();
	off_t size = file_size();
	for (off_t length = size - 1 - _i * STEP; length >= 0; length -= PARTS * STEP) {
		struct profile_reader *reader;
		ck_assert_int_eq(truncate(fixture_path(), length), 0);
		if (profile_reader_open(fixture_path(), &reader) != VT_SUCCESS)
			continue;
		opened++;
		/* Cut right behind the end chunk that it had before the symbols, it is whole. */
		ck_assert(!profile_reader_complete(reader) || length >= size / 2);
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
	/* Cut files are readable ones, but for those cut in their first bytes. */
	ck_assert_uint_gt(opened, (uint32_t)size / (PARTS * STEP) / 2);
}
END_TEST

START_TEST(flipped_bytes)
{
	unsigned short seed[3] = {(unsigned short)_i, 5, 6};

	make_small_result();
	off_t size = file_size();
	int fd = open(fixture_path(), O_RDWR);
	ck_assert_int_ge(fd, 0);
	for (int round = 0; round < 200; round++) {
		struct profile_reader *reader;
		off_t at = (off_t)nrand48(seed) % size;
		unsigned char old;
		ck_assert_int_eq(pread(fd, &old, 1, at), 1);
		unsigned char flipped = (unsigned char)(old ^ 1u << nrand48(seed) % 8);
		ck_assert_int_eq(pwrite(fd, &flipped, 1, at), 1);
		if (profile_reader_open(fixture_path(), &reader) == VT_SUCCESS) {
			fixture_check_promises(reader);
			profile_reader_close(reader);
		}
		ck_assert_int_eq(pwrite(fd, &old, 1, at), 1);
	}
	close(fd);
}
END_TEST

/* The small result once more, but with the bytes of one stream's records replaced by noise. The
 * streams' information and descriptors are copied as they are. */
struct copied {
	TBRW_PTR to;
	TBRW_U32 made; /* streams of the copy */
	TBRW_PTR from;
	unsigned short seed[3];
	bool is_noisy;
};

static void *from_id(TBRW_PTR file, TBRW_STRING_OR_ID id, wchar_t *buffer)
{
	if (id.soi_uniqueid == 0)
		return NULL;
	assert_success(
		TBRW_convert_uniqueid_to_string(file, 256 * sizeof(wchar_t), &id, buffer, NULL));
	return buffer;
}

static TBRW_U32 copy_descriptors(TBRW_SAMPREC_DESC_ENTRY *entries, TBRW_U32 size, TBRW_U32 count,
				 void *user)
{
	struct copied *copied = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		wchar_t name[256];
		TBRW_SAMPREC_DESC_ENTRY entry = entries[i];
		entry.desc_name.soi_ptr = from_id(copied->from, entries[i].desc_name, name);
		assert_success(TBRW_add_data_descriptor_entry(copied->to, copied->made, &entry));
	}
	return TRUE;
}

static TBRW_U32 copy_data(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct copied *copied = user;
	unsigned char *bytes = malloc(size);

	(void)count;
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, data, size);
	/* Mostly small numbers and extremes: those get past the first checks. */
	for (TBRW_U32 i = 0; copied->is_noisy && i + 4 <= size; i += 4) {
		static const uint32_t extremes[] = {0, 1, 5, 0x7FFFFFFF, 0x80000000, UINT32_MAX};
		uint32_t word = extremes[nrand48(copied->seed) % 6];
		if (nrand48(copied->seed) % 2)
			memcpy(bytes + i, &word, 4);
	}
	assert_success(TBRW_add_data(copied->to, copied->made, size, bytes));
	free(bytes);
	return TRUE;
}

static void copy_stream(struct copied *copied, TBRW_U32 number)
{
	TBRW_PTR to = copied->to;
	TBRW_U32 made = copied->made;
	TBRW_STREAM_INFO info;
	wchar_t comment[256], command[256];

	assert_success(TBRW_reading_stream(copied->from, number));
	assert_success(TBRW_reading_stream_section(copied->from, number, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_get_stream_info(copied->from, number, sizeof(info), &info, NULL));
	assert_success(TBRW_writing_stream(to, made));
	assert_success(TBRW_writing_stream_section(to, made, TBRW_STREAM_INFO_SECTION));
	info.comment.soi_ptr = from_id(copied->from, info.comment, comment);
	info.command_line.soi_ptr = from_id(copied->from, info.command_line, command);
	info.cpu_mask.soi_ptr = NULL;
	assert_success(TBRW_set_stream_info(to, made, &info));
	assert_success(TBRW_done_stream_section(to, made, TBRW_STREAM_INFO_SECTION));
	assert_success(
		TBRW_reading_stream_section(copied->from, number, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_writing_stream_section(to, made, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_enumerate_data_descriptor_entries(copied->from, number,
							      copy_descriptors, copied));
	assert_success(TBRW_done_stream_section(to, made, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_reading_stream_section(copied->from, number, TBRW_DATA_SECTION));
	assert_success(TBRW_writing_stream_section(to, made, TBRW_DATA_SECTION));
	assert_success(TBRW_enumerate_data(copied->from, number, copy_data, copied, 0));
	assert_success(TBRW_done_stream_section(to, made, TBRW_DATA_SECTION));
	assert_success(TBRW_done_stream(to, made));
	copied->made++;
}

enum { STREAMS_WRITTEN = 14, SYMTEXT_STREAM = 18, STREAMS_IN_ALL = 20 };

START_TEST(noise_in_one_stream)
{
	char original[160];
	wchar_t name[160];
	struct profile_reader *reader;

	make_small_result();
	snprintf(original, sizeof(original), "%s.original", fixture_path());
	ck_assert_int_eq(rename(fixture_path(), original), 0);
	swprintf(name, 160, L"%s", original);
	for (unsigned short round = 0; round < 6; round++) {
		struct copied copied = {.seed = {round, (unsigned short)_i, 3}};
		assert_success(tb5_utf8_open(&copied.to, fixture_path(),
					     TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS));
		assert_success(TBRW_open(&copied.from, name, TBRW_FILE_READ));
		TBRW_U32 count;
		assert_success(TBRW_get_number_data_streams(copied.from, &count));
		ck_assert_uint_eq(count, STREAMS_IN_ALL);
		for (TBRW_U32 i = 0; i < count; i++) {
			/* Four streams of bind come between the writer's and the symbols. */
			if (i >= STREAMS_WRITTEN && i < SYMTEXT_STREAM)
				continue;
			copied.is_noisy = i == (TBRW_U32)_i;
			copy_stream(&copied, i);
		}
		assert_success(TBRW_abort_cleanup_and_close(copied.from));
		assert_success(TBRW_close(copied.to));
		assert_success(profile_reader_open(fixture_path(), &reader));
		ck_assert(profile_reader_complete(reader));
		ck_assert_uint_eq(profile_reader_sample_count(reader), 40);
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
	ck_assert_int_eq(unlink(original), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile damage");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, killed_writer);
	tcase_add_test(tcase, killed_at_once);
	tcase_add_loop_test(tcase, every_length, 0, 4);
	tcase_add_loop_test(tcase, flipped_bytes, 0, 4);
	tcase_add_loop_test(tcase, noise_in_one_stream, 0, STREAMS_WRITTEN);
	tcase_add_loop_test(tcase, noise_in_one_stream, SYMTEXT_STREAM, STREAMS_IN_ALL);
	return run_suite(suite);
}
