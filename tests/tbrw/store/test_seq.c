/* Sequences: what is read from the file, and what from the cache. */
#include "tbrw/store/seq.h"
#include "tests/tbrw/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK  1000u
#define CHUNKS 12u

ssize_t __real_pread64(int fd, void *buffer, size_t size, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset);

static size_t reads;

ssize_t __wrap_pread64(int fd, void *buffer, size_t size, off_t offset)
{
	reads++;
	return __real_pread64(fd, buffer, size, offset);
}

static struct tb5_store store;
static struct tb5_seq seq;
static struct tb5_cache cache;

static unsigned char byte_at(uint64_t offset)
{
	return (unsigned char)(offset * 7 + offset / CHUNK);
}

static void set_up(void)
{
	OK(tb5_store_open_temporary(&store));
	tb5_seq_init(&seq, TB5_STREAM_FIRST, 3, &store);
	for (uint64_t offset = 0; offset < (uint64_t)CHUNK * CHUNKS; offset++) {
		unsigned char byte = byte_at(offset);
		size_t taken;

		OK(tb5_seq_buffer(&seq, &byte, 1, &taken));
		ck_assert_uint_eq(taken, 1);
		if (offset % CHUNK == CHUNK - 1)
			OK(tb5_seq_flush(&seq, true));
	}
	ck_assert_uint_eq(seq.extents.count, CHUNKS);
}

static void tear_down(void)
{
	tb5_cache_finish(&cache);
	tb5_seq_finish(&seq);
	tb5_store_close(&store);
}

/* Reads a byte of a chunk; whether the file was asked. */
static bool asks(uint64_t chunk)
{
	unsigned char byte;

	reads = 0;
	OK(tb5_seq_read(&seq, &cache, chunk * CHUNK + chunk, &byte, 1));
	ck_assert_uint_eq(byte, byte_at(chunk * CHUNK + chunk));
	return reads > 0;
}

START_TEST(cache_keeps_the_last_used)
{
	for (uint64_t i = 0; i < TB5_CACHE_SLOTS; i++)
		ck_assert(asks(i));
	for (uint64_t i = 0; i < TB5_CACHE_SLOTS; i++)
		ck_assert(!asks(i));
	ck_assert(!asks(0));
	for (uint64_t i = TB5_CACHE_SLOTS; i < CHUNKS; i++)
		ck_assert(asks(i));
	/* These took the places of 1 to 4. */
	for (uint64_t i = TB5_CACHE_SLOTS; i < CHUNKS; i++)
		ck_assert(!asks(i));
	ck_assert(!asks(0));
	for (uint64_t i = 5; i < TB5_CACHE_SLOTS; i++)
		ck_assert(!asks(i));
	ck_assert(asks(1));
}
END_TEST

START_TEST(cache_drops_what_is_cut_off)
{
	for (uint64_t i = 0; i < 4; i++)
		ck_assert(asks(i));
	tb5_cache_drop(&cache, &store, seq.extents.array[2].offset);
	ck_assert(!asks(0));
	ck_assert(!asks(1));
	ck_assert(asks(2));
	ck_assert(asks(3));
}
END_TEST

/* Across chunks, in part and whole ones, and into what is not stored yet. */
START_TEST(reads_over_chunks)
{
	static unsigned char bytes[CHUNK * CHUNKS + 10];
	size_t taken;

	OK(tb5_seq_buffer(&seq, "0123456789", 10, &taken));
	ck_assert_uint_eq(tb5_seq_size(&seq), sizeof(bytes));
	OK(tb5_seq_read(&seq, &cache, CHUNK / 2, bytes, sizeof(bytes) - CHUNK / 2));
	for (size_t i = 0; i < sizeof(bytes) - 10 - CHUNK / 2; i++)
		ck_assert_uint_eq(bytes[i], byte_at(i + CHUNK / 2));
	ck_assert_mem_eq(bytes + sizeof(bytes) - 10 - CHUNK / 2, "0123456789", 10);
	OK(tb5_seq_read(&seq, &cache, sizeof(bytes), bytes, 0));
	ck_assert_uint_eq(tb5_seq_read(&seq, &cache, sizeof(bytes), bytes, 1),
			  VT_INVALID_SAMPLE_FILE);
	ck_assert_uint_eq(tb5_seq_read(&seq, &cache, sizeof(bytes) + 1, bytes, 0),
			  VT_INVALID_SAMPLE_FILE);
	ck_assert_uint_eq(tb5_seq_extent_end(&seq, 0), CHUNK);
	ck_assert_uint_eq(tb5_seq_extent_end(&seq, CHUNK), 2 * CHUNK);
	ck_assert_uint_eq(tb5_seq_extent_end(&seq, CHUNK * CHUNKS), sizeof(bytes));
	OK(tb5_seq_check(&seq, &cache));
}
END_TEST

/* An entry is not torn apart where there is another one before it. */
START_TEST(flushes_whole_entries)
{
	uint64_t before = seq.extents.end;
	size_t taken;

	seq.entry_size = 4;
	OK(tb5_seq_buffer(&seq, "0123456789", 10, &taken));
	OK(tb5_seq_flush(&seq, false));
	ck_assert_uint_eq(seq.extents.end, before + 8);
	ck_assert_uint_eq(seq.buffered, 2);
	OK(tb5_seq_flush(&seq, false));
	ck_assert_uint_eq(seq.buffered, 2);
	OK(tb5_seq_flush(&seq, true));
	ck_assert_uint_eq(seq.extents.end, before + 10);
	ck_assert_uint_eq(seq.buffered, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("seq");
	TCase *tcase = tcase_create("seq");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, cache_keeps_the_last_used);
	tcase_add_test(tcase, cache_drops_what_is_cut_off);
	tcase_add_test(tcase, reads_over_chunks);
	tcase_add_test(tcase, flushes_whole_entries);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
