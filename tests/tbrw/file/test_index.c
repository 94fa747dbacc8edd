/* What opening a file reads, and what its lists and its index may say (FORMAT.md 1.4). */
#include "tbrw/store/crc32c.h"
#include "tbrw/store/format.h"
#include "tbrw/utf8.h"
#include "tests/tbrw/support.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUES 40000u /* 640 kB: 3 chunks */

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);

static struct {
	size_t calls;
	size_t bytes;
} seen;

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
	seen.calls++;
	seen.bytes += size;
	return __real_pread64(fd, buffer, size, offset);
}

struct value {
	uint64_t number;
	uint64_t zero;
};

/* A file whose stream 0 has `count` values, 0, 1, 2 and so on. */
static void write_values(const char *name, size_t count)
{
	struct value *values = calloc(count, sizeof(*values));
	TBRW_PTR ptr = open_file(name, CREATE);

	for (size_t i = 0; i < count; i++)
		values[i].number = i;
	write_custom_stream(ptr, 0, L"values", sizeof(*values), values, count * sizeof(*values));
	OK(TBRW_close(ptr));
	free(values);
}

static TBRW_U32 check_values(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	const struct value *values = data;
	uint64_t *next = user;

	ck_assert_uint_eq(size, count * sizeof(*values));
	for (TBRW_U32 i = 0; i < count; i++)
		ck_assert_uint_eq(values[i].number, (*next)++);
	return TRUE;
}

/* Reads the values of stream 0 from a number on; *count is how many there are. */
static TBRW_U32 read_values_from(TBRW_PTR ptr, TBRW_U64 first, uint64_t *count)
{
	*count = first;
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	TBRW_U32 code = TBRW_enumerate_data(ptr, 0, check_values, count, first);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	return code;
}

static TBRW_U32 read_values(TBRW_PTR ptr, uint64_t *count)
{
	return read_values_from(ptr, 0, count);
}

static void expect_all_values(const char *name, TBRW_U32 verified)
{
	TBRW_PTR ptr = open_file(name, READ);
	uint64_t count;

	OK(read_values(ptr, &count));
	ck_assert_uint_eq(count, VALUES);
	FAILS(TBRW_verify(ptr), verified);
	OK(TBRW_close(ptr));
}

static off_t size_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(stat(path_of(name), &st), 0);
	return st.st_size;
}

START_TEST(opening_reads_the_same)
{
	write_values("small.tb5", 1);
	write_values("large.tb5", VALUES);
	memset(&seen, 0, sizeof(seen));
	OK(TBRW_close(open_file("small.tb5", READ)));
	size_t calls = seen.calls;
	size_t bytes = seen.bytes;
	memset(&seen, 0, sizeof(seen));
	OK(TBRW_close(open_file("large.tb5", READ)));
	ck_assert_uint_gt(calls, 0);
	ck_assert_uint_eq(seen.calls, calls);
	ck_assert_uint_eq(seen.bytes, bytes);
}
END_TEST

/* ---- Damage ---- */

static struct tb5_chunk_header *chunk_at(uint8_t *data, uint64_t at)
{
	return (struct tb5_chunk_header *)(data + at);
}

/* Where the first chunk of a kind is. */
static uint64_t find_chunk(uint8_t *data, size_t size, enum tb5_kind kind)
{
	uint64_t at = sizeof(struct tb5_file_header);

	while (at < size && chunk_at(data, at)->kind != kind)
		at += tb5_chunk_space(chunk_at(data, at)->length);
	ck_assert_uint_lt(at, size);
	return at;
}

static void mend_chunk(uint8_t *data, uint64_t at)
{
	struct tb5_chunk_header *h = chunk_at(data, at);

	h->payload_crc = tb5_crc32c(0, h + 1, h->length);
	h->header_crc = tb5_crc32c(0, h, offsetof(struct tb5_chunk_header, header_crc));
}

/* The index entry of stream 0's values. */
static struct tb5_index_entry *find_entry(uint8_t *data, size_t size)
{
	uint64_t at = find_chunk(data, size, TB5_KIND_INDEX);
	struct tb5_index_entry *e = (struct tb5_index_entry *)(chunk_at(data, at) + 1);

	while (e->kind != TB5_KIND_LISTS || e->content != TB5_DATA)
		e++;
	return e;
}

static struct tb5_list_record *find_list(uint8_t *data, size_t size)
{
	return (struct tb5_list_record *)(data + find_entry(data, size)->offset);
}

/* Makes all checksums right again after a change of the list and of the index. */
static void mend(uint8_t *data, size_t size)
{
	struct tb5_index_entry *e = find_entry(data, size);

	if (e->offset < size && e->size < size - e->offset)
		e->crc = tb5_crc32c(0, data + e->offset, e->size);
	mend_chunk(data, find_chunk(data, size, TB5_KIND_LISTS));
	mend_chunk(data, find_chunk(data, size, TB5_KIND_INDEX));
}

/* Where the last index says that the list of stream 0's values is. */
static uint64_t last_list(const char *name)
{
	size_t size;
	uint8_t *data = read_bytes(name, &size);
	uint64_t offset = 0;

	for (uint64_t at = sizeof(struct tb5_file_header); at < size;
	     at += tb5_chunk_space(chunk_at(data, at)->length)) {
		const struct tb5_chunk_header *h = chunk_at(data, at);
		const struct tb5_index_entry *e = (const struct tb5_index_entry *)(h + 1);

		if (h->kind != TB5_KIND_INDEX)
			continue;
		while (e->kind != TB5_KIND_LISTS || e->content != TB5_DATA || e->stream != 0)
			e++;
		offset = e->offset;
	}
	free(data);
	return offset;
}

/* Lists of what was there stay in use. */
START_TEST(adding_keeps_the_lists)
{
	uint32_t one = 1;

	write_values("a.tb5", VALUES);
	uint64_t list = last_list("a.tb5");
	for (uint32_t i = 0; i < 3; i++) {
		TBRW_PTR ptr = open_file("a.tb5", READ_WRITE);
		uint64_t count;

		if (i == 1)
			OK(read_values(ptr, &count));
		write_custom_stream(ptr, i + 1, L"more", 4, &one, 4);
		OK(TBRW_close(ptr));
		ck_assert_uint_eq(last_list("a.tb5"), list);
		expect_all_values("a.tb5", VT_SUCCESS);
	}
}
END_TEST

enum damage { FLIPPED, SWAPPED, REPEATED, BEYOND, TOO_LONG, SHORTER, DAMAGES };

static void damage_list(uint8_t *data, size_t size, enum damage damage)
{
	struct tb5_list_record *list = find_list(data, size);
	struct tb5_list_record first = list[0];

	switch (damage) {
	case FLIPPED:
		list[1].offset ^= 8;
		return;
	case SWAPPED:
		list[0] = list[1];
		list[1] = first;
		break;
	case REPEATED:
		list[1] = first;
		break;
	case BEYOND:
		list[1].offset = size - 8;
		break;
	case SHORTER:
		list[1].length--;
		break;
	default:
		list[1].length = UINT32_MAX;
		break;
	}
	mend(data, size);
}

/* The chunks are looked for in the file; an addition after that makes a list that is right. */
START_TEST(damaged_list)
{
	uint32_t one = 1;
	uint64_t count;
	size_t size;

	write_values("a.tb5", VALUES);
	uint8_t *data = read_bytes("a.tb5", &size);
	damage_list(data, size, (enum damage)_i);
	write_bytes("a.tb5", data, size);
	expect_all_values("a.tb5", VT_SUCCESS);
	TBRW_PTR ptr = open_file("a.tb5", READ_WRITE);
	OK(read_values(ptr, &count));
	write_custom_stream(ptr, 1, L"more", 4, &one, 4);
	OK(TBRW_close(ptr));
	expect_all_values("a.tb5", VT_SUCCESS);
	ck_assert_uint_gt(last_list("a.tb5"), size);
	free(data);
}
END_TEST

enum lie { BYTES_IN_INDEX, NO_LIST, ODD_LIST, LIST_BEYOND, SHORT_END, LONG_END, LIES };

static void lie_in_index(uint8_t *data, size_t size, enum lie lie)
{
	struct tb5_index_entry *e = find_entry(data, size);

	switch (lie) {
	case BYTES_IN_INDEX:
		e->kind = TB5_KIND_BYTES;
		mend_chunk(data, find_chunk(data, size, TB5_KIND_INDEX));
		return;
	case NO_LIST:
		e->size = 0;
		break;
	case ODD_LIST:
		e->size -= 8;
		break;
	case LIST_BEYOND:
		e->offset = size;
		break;
	case SHORT_END:
		e->end = 1;
		break;
	default:
		e->end = size; /* more than there is besides the chunks' headers */
		break;
	}
	mend(data, size);
}

/* Such an index is none: the file is read as one that was never closed. */
START_TEST(lying_index)
{
	size_t size;

	write_values("a.tb5", VALUES);
	uint8_t *data = read_bytes("a.tb5", &size);
	lie_in_index(data, size, (enum lie)_i);
	write_bytes("a.tb5", data, size);
	free(data);
	expect_all_values("a.tb5", VT_INCOMPLETE_TB5_ENCOUNTERED);
}
END_TEST

/* The chunk of another sequence is none of this one, whatever its list says of size and CRC; nor do
 * two lists that name it get at each other's bytes. */
START_TEST(chunk_of_another)
{
	size_t size;
	uint64_t count;

	write_values("a.tb5", VALUES);
	uint8_t *data = read_bytes("a.tb5", &size);
	uint64_t other = find_chunk(data, size, TB5_KIND_BYTES);
	while (chunk_at(data, other)->content != TB5_DESCRIPTORS)
		other += tb5_chunk_space(chunk_at(data, other)->length);
	struct tb5_index_entry *e = find_entry(data, size);
	find_list(data, size)[0].offset = other;
	if (_i == 1) { /* as if it were that sequence's only chunk */
		*find_list(data, size) =
			(struct tb5_list_record){other, chunk_at(data, other)->length,
						 chunk_at(data, other)->payload_crc};
		e->size = sizeof(struct tb5_list_record);
		e->end = chunk_at(data, other)->length;
	}
	mend(data, size);
	write_bytes("a.tb5", data, size);
	free(data);
	TBRW_PTR ptr = open_file("a.tb5", READ);
	if (_i == 1)
		OK(TBRW_verify(ptr)); /* which has the chunk in memory then, for its owner */
	FAILS(read_values_from(ptr, (TBRW_U64)_i, &count), VT_INVALID_SAMPLE_FILE);
	ck_assert_uint_eq(count, (uint64_t)_i);
	OK(TBRW_close(ptr));
}
END_TEST

/* The whole file is looked through once, not for each damaged list. */
START_TEST(many_damaged_lists)
{
	enum { STREAMS = 60 };
	uint32_t one = 1;
	size_t size;
	TBRW_PTR ptr = open_file("a.tb5", CREATE);

	for (uint32_t n = 0; n < STREAMS; n++)
		write_custom_stream(ptr, n, L"one", 4, &one, 4);
	OK(TBRW_close(ptr));
	memset(&seen, 0, sizeof(seen));
	ptr = open_file("a.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_close(ptr));
	size_t calls = seen.calls;
	uint8_t *data = read_bytes("a.tb5", &size);
	size_t index = find_chunk(data, size, TB5_KIND_INDEX);
	for (struct tb5_index_entry *e = (struct tb5_index_entry *)(chunk_at(data, index) + 1);
	     (uint8_t *)e < data + size - 64; e++)
		if (e->kind == TB5_KIND_LISTS && e->content != TB5_STRINGS)
			e->crc ^= 1;
	mend_chunk(data, index);
	write_bytes("a.tb5", data, size);
	free(data);
	memset(&seen, 0, sizeof(seen));
	ptr = open_file("a.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_close(ptr));
	/* As before, and each chunk's header once. */
	ck_assert_uint_lt(seen.calls, 3 * calls + 16 * STREAMS);
}
END_TEST

/* Chunks that are not to be found are looked for once. */
START_TEST(lost_chunks)
{
	size_t size;
	uint64_t count;

	write_values("a.tb5", VALUES);
	uint8_t *data = read_bytes("a.tb5", &size);
	chunk_at(data, find_list(data, size)[1].offset)->magic = 0;
	find_list(data, size)[1].crc ^= 1;
	write_bytes("a.tb5", data, size);
	free(data);
	TBRW_PTR ptr = open_file("a.tb5", READ);
	FAILS(read_values(ptr, &count), VT_INVALID_SAMPLE_FILE);
	memset(&seen, 0, sizeof(seen));
	FAILS(read_values(ptr, &count), VT_INVALID_SAMPLE_FILE);
	ck_assert_uint_le(seen.calls, 2); /* the descriptors */
	FAILS(TBRW_verify(ptr), VT_INVALID_SAMPLE_FILE);
	OK(TBRW_close(ptr));
}
END_TEST

/* What was added is not cut off because its index is damaged: the file is read-only now. */
START_TEST(damaged_last_index)
{
	uint32_t one = 1;
	uint64_t last = 0;
	size_t size;
	TBRW_U32 streams;

	write_values("a.tb5", VALUES);
	TBRW_PTR ptr = open_file("a.tb5", READ_WRITE);
	write_custom_stream(ptr, 1, L"more", 4, &one, 4);
	OK(TBRW_close(ptr));
	uint8_t *data = read_bytes("a.tb5", &size);
	for (uint64_t at = sizeof(struct tb5_file_header); at < size;
	     at += tb5_chunk_space(chunk_at(data, at)->length))
		if (chunk_at(data, at)->kind == TB5_KIND_INDEX)
			last = at;
	data[last + 40] ^= 1;
	write_bytes("a.tb5", data, size);
	free(data);
	FAILS(TBRW_open(&ptr, wide_path_of("a.tb5"), READ_WRITE), VT_INCOMPLETE_TB5_ENCOUNTERED);
	ck_assert_int_eq(size_of("a.tb5"), (off_t)size);
	ptr = open_file("a.tb5", READ);
	OK(TBRW_get_number_data_streams(ptr, &streams));
	ck_assert_uint_eq(streams, 2);
	OK(TBRW_close(ptr));
	expect_all_values("a.tb5", VT_INCOMPLETE_TB5_ENCOUNTERED);
}
END_TEST

/* Small lists named often would take memory out of proportion to the file. */
START_TEST(lists_for_more_than_the_file)
{
	enum { ENTRIES = 4000, RECORDS = 64 };
	struct tb5_index_entry *entries = calloc(ENTRIES, sizeof(*entries));
	size_t size;
	struct tb5_end end = {0};
	struct tb5_chunk_header *h;

	write_values("a.tb5", 1);
	uint8_t *data = read_bytes("a.tb5", &size);
	size_t index_at = find_chunk(data, size, TB5_KIND_INDEX);
	size_t room = index_at + sizeof(*h) + ENTRIES * sizeof(*entries) + sizeof(*h) + sizeof(end);
	uint8_t *grown = calloc(1, room);
	memcpy(grown, data, index_at);
	for (uint64_t i = 0; i < ENTRIES; i++)
		entries[i] = (struct tb5_index_entry){64,
						      TB5_KIND_LISTS,
						      TB5_USER_GLOBAL,
						      TB5_NO_STREAM,
						      (i + 1) * RECORDS,
						      RECORDS * sizeof(struct tb5_list_record),
						      0};
	h = chunk_at(grown, index_at);
	*h = (struct tb5_chunk_header){.magic = TB5_CHUNK_MAGIC,
				       .kind = TB5_KIND_INDEX,
				       .stream = TB5_NO_STREAM,
				       .length = ENTRIES * sizeof(*entries)};
	memcpy(h + 1, entries, ENTRIES * sizeof(*entries));
	mend_chunk(grown, index_at);
	end = (struct tb5_end){index_at, ENTRIES * sizeof(*entries), room, 0};
	h = chunk_at(grown, room - sizeof(end) - sizeof(*h));
	*h = (struct tb5_chunk_header){.magic = TB5_CHUNK_MAGIC,
				       .kind = TB5_KIND_END,
				       .stream = TB5_NO_STREAM,
				       .length = sizeof(end)};
	memcpy(h + 1, &end, sizeof(end));
	mend_chunk(grown, room - sizeof(end) - sizeof(*h));
	write_bytes("b.tb5", grown, room);
	TBRW_PTR ptr = open_file("b.tb5", READ);
	FAILS(TBRW_reading_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION), VT_SECTION_NOT_EXIST);
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	OK(TBRW_close(ptr));
	free(entries);
	free(grown);
	free(data);
}
END_TEST

/* A string in no UTF-8: an error, and nothing is given out. */
START_TEST(ill_formed_string)
{
	size_t size, length = 77;
	char *utf8 = NULL;
	TBRW_STREAM_INFO info;

	write_values("a.tb5", 4);
	uint8_t *data = read_bytes("a.tb5", &size);
	uint8_t *text = memmem(data, size, "values", strlen("values"));
	ck_assert_ptr_nonnull(text);
	*text = 0xff;
	for (uint64_t at = sizeof(struct tb5_file_header); at < size;
	     at += tb5_chunk_space(chunk_at(data, at)->length))
		mend_chunk(data, at);
	/* Without its index, which knows the checksums too. */
	write_bytes("b.tb5", data, find_chunk(data, size, TB5_KIND_INDEX));
	free(data);
	TBRW_PTR ptr = open_file("b.tb5", READ);
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_get_stream_info(ptr, 0, sizeof(info), &info, NULL));
	FAILS(tb5_utf8_of_id(ptr, info.comment, &utf8, &length), VT_INVALID_STRING);
	ck_assert_ptr_null(utf8);
	ck_assert_uint_eq(length, 77);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_close(ptr));
	unlink(path_of("b.tb5")); /* no example for readers */
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {opening_reads_the_same, adding_keeps_the_lists,
				      many_damaged_lists,     lost_chunks,
				      damaged_last_index,     lists_for_more_than_the_file,
				      ill_formed_string};
	Suite *suite = suite_of("index", tests, sizeof(tests) / sizeof(*tests));
	TCase *each = tcase_create("each");

	tcase_add_checked_fixture(each, folder_setup, folder_teardown);
	tcase_add_loop_test(each, damaged_list, 0, DAMAGES);
	tcase_add_loop_test(each, lying_index, 0, LIES);
	tcase_add_loop_test(each, chunk_of_another, 0, 2);
	suite_add_tcase(suite, each);
	return run_suite(suite);
}
