/* String conversion, checksums and error texts: what needs no file. */
#include "tbrw/store/crc32c.h"
#include "tests/tbrw/support.h"
#include <string.h>

START_TEST(utf8_round_trip)
{
	/* The first and last of each length, and the neighbours of the surrogates. */
	const wchar_t wide[] = {1,      0x7f,   0x80,    0x7ff,    0x800, 0xd7ff,
				0xe000, 0xffff, 0x10000, 0x10ffff, 0};
	wchar_t back[16];
	char utf8[64];
	TBRW_U32 size = 0;

	FAILS(TBRW_convert_wcs_to_utf8(wide, NULL, &size), VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, 1 + 1 + 2 + 2 + 3 + 3 + 3 + 3 + 4 + 4 + 1);
	size--;
	FAILS(TBRW_convert_wcs_to_utf8(wide, utf8, &size), VT_BUFFER_TOO_SMALL);
	FAILS(TBRW_convert_wcs_to_utf8(wide, NULL, &size), VT_BUFFER_NULL);
	OK(TBRW_convert_wcs_to_utf8(wide, utf8, &size));
	ck_assert_uint_eq(size, strlen(utf8) + 1);
	size = 0;
	FAILS(TBRW_convert_utf8_to_wcs(utf8, NULL, &size), VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, 11);
	FAILS(TBRW_convert_utf8_to_wcs(utf8, NULL, &size), VT_BUFFER_NULL);
	OK(TBRW_convert_utf8_to_wcs(utf8, back, &size));
	ck_assert(wcscmp(back, wide) == 0);
	FAILS(TBRW_convert_utf8_to_wcs(NULL, back, &size), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_convert_utf8_to_wcs(utf8, back, NULL), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_convert_wcs_to_utf8(NULL, utf8, &size), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_convert_wcs_to_utf8(wide, utf8, NULL), VT_UNEXPECTED_NULL_PTR);
}
END_TEST

START_TEST(utf8_malformed)
{
	static const char *const bad[] = {"\x80",
					  "a\xbf",
					  "\xc0\x80",
					  "\xc1\xbf",
					  "\xc2",
					  "\xc2\x41",
					  "\xe0\x80\x80",
					  "\xe0\x9f\xbf",
					  "\xe2\x82",
					  "\xed\xa0\x80",
					  "\xed\xbf\xbf",
					  "\xf0\x80\x80\x80",
					  "\xf0\x8f\xbf\xbf",
					  "\xf4\x90\x80\x80",
					  "\xf5\x80\x80\x80",
					  "\xf0\x9f\x98",
					  "\xfe",
					  "\xff"};
	const wchar_t wide_bad[][2] = {{0xd800, 0}, {0xdfff, 0}, {0x110000, 0}, {-1, 0}};
	TBRW_U32 size;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		size = 77;
		ck_assert_msg(TBRW_convert_utf8_to_wcs(bad[i], NULL, &size) == VT_INVALID_STRING,
			      "case %zu", i);
		ck_assert_uint_eq(size, 77);
	}
	for (size_t i = 0; i < 4; i++)
		FAILS(TBRW_convert_wcs_to_utf8(wide_bad[i], NULL, &size), VT_INVALID_STRING);
}
END_TEST

/* Check values published for CRC-32C: RFC 3720 B.4, and the usual "123456789". */
START_TEST(crc32c)
{
	unsigned char bytes[32];

	ck_assert_uint_eq(tb5_crc32c(0, "", 0), 0);
	ck_assert_uint_eq(tb5_crc32c(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	ck_assert_uint_eq(tb5_crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	ck_assert_uint_eq(tb5_crc32c(0, bytes, 32), 0x62a8ab43);
	for (unsigned i = 0; i < 32; i++)
		bytes[i] = (unsigned char)i;
	for (size_t n = 0; n <= 32; n++) {
		ck_assert_uint_eq(tb5_crc32c(7, bytes, n), tb5_crc32c_portable(7, bytes, n));
		ck_assert_uint_eq(tb5_crc32c(tb5_crc32c(0, bytes, n), bytes + n, 32 - n),
				  0x46dd794e);
	}
}
END_TEST

START_TEST(error_strings)
{
	const TBRW_CHAR *text = NULL;

	FAILS(TBRW_error_string(VT_SUCCESS, NULL), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_error_string(7, &text), VT_INVALID_ERROR_CODE);
	FAILS(TBRW_error_string(VT_FAILURE, &text), VT_INVALID_ERROR_CODE);
	ck_assert_ptr_null(text);
#define CHECK_ERROR(name, number, words)         \
	OK(TBRW_error_string(VT_##name, &text)); \
	ck_assert(wcscmp(text, L"" words) == 0);
	TBRW_ERROR_LIST(CHECK_ERROR)
#undef CHECK_ERROR
	ck_assert_uint_eq(VT_NO_SPACE, 195);
	ck_assert_uint_eq(VT_INCOMPLETE_TB5_ENCOUNTERED, 95);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {utf8_round_trip, utf8_malformed, crc32c, error_strings};

	return run_suite(suite_of("utf8", tests, sizeof(tests) / sizeof(*tests)));
}
