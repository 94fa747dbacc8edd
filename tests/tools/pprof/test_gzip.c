/* gzip: what is written in pieces is read back whole. */
#include "tests/support/suite.h"
#include "tools/pprof/gzip.h"
#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LARGEST ((size_t)3 << 16)

/* Writes `size` bytes in pieces. Returns the file for the caller to free. */
static char *write_pieces(const uint8_t *bytes, size_t size, size_t piece, size_t *file_size)
{
	char *file = NULL;
	FILE *stream = open_memstream(&file, file_size);
	struct gzip *gzip = gzip_create(stream);
	for (size_t at = 0; at < size; at += piece)
		gzip_write(gzip, bytes + at, size - at < piece ? size - at : piece);
	gzip_finish(gzip);
	ck_assert_int_eq(ferror(stream), 0);
	fclose(stream);
	return file;
}

static void check_content(char *file, size_t file_size, const uint8_t *bytes, size_t size)
{
	static uint8_t out[LARGEST + 1];
	z_stream inflated = {.next_in = (uint8_t *)file, .avail_in = (uInt)file_size};
	inflated.next_out = out;
	inflated.avail_out = sizeof(out);
	ck_assert_int_eq(inflateInit2(&inflated, MAX_WBITS + 16), Z_OK);
	ck_assert_int_eq(inflate(&inflated, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(inflated.avail_in, 0);
	ck_assert_uint_eq(inflated.total_out, size);
	ck_assert_int_eq(memcmp(out, bytes, size), 0);
	inflateEnd(&inflated);
}

START_TEST(test_pieces)
{
	static const size_t sizes[] = {0, 1, LARGEST / 3, LARGEST};
	static const size_t pieces[] = {1, 1000, LARGEST};
	static uint8_t bytes[LARGEST];
	/* Loop 0: content that deflate cannot make smaller. */
	for (size_t i = 0; i < LARGEST; i++)
		bytes[i] = _i == 0 ? (uint8_t)(random() >> 8) : (uint8_t)(i / 1000);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t j = 0; j < sizeof(pieces) / sizeof(pieces[0]); j++) {
			size_t size;
			char *file = write_pieces(bytes, sizes[i], pieces[j], &size);
			check_content(file, size, bytes, sizes[i]);
			free(file);
		}
	}
}
END_TEST

/* A disk without room: the stream tells. */
START_TEST(test_full_disk)
{
	static const uint8_t byte = 'x';
	FILE *stream = fopen("/dev/full", "w");
	ck_assert_ptr_nonnull(stream);
	struct gzip *gzip = gzip_create(stream);
	gzip_write(gzip, &byte, 1);
	gzip_finish(gzip);
	ck_assert(fflush(stream) != 0 && ferror(stream));
	fclose(stream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gzip");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, test_pieces, 0, 2);
	tcase_add_test(cases, test_full_disk);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
