/* String conversion, checksums and error texts: what needs no file. */
#include "tbrw/store/crc32c.h"
#include "tbrw/utf8.h"
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
#define FFFD "\xEF\xBF\xBD"

static const struct {
	const char *given;
	const char *clean;
} utf8_cases[] = {
	{"", ""},
	{"plain", "plain"},
	{"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
	{"a\x80z", "a" FFFD "z"},                  /* continuation without a lead */
	{"\xC0\xAF", FFFD FFFD},                   /* overlong slash */
	{"\xE0\x80\xAF", FFFD FFFD FFFD},          /* overlong, three bytes */
	{"\xED\xA0\x80", FFFD FFFD FFFD},          /* surrogate */
	{"\xF4\x90\x80\x80", FFFD FFFD FFFD FFFD}, /* above U+10FFFF */
	{"\xF0\x9F\x98", FFFD},                    /* cut off */
	{"\xE2\x82x", FFFD "x"},                   /* broken off */
	{"\xFF\xFE", FFFD FFFD},
};

START_TEST(utf8_clean)
{
	for (size_t i = 0; i < sizeof(utf8_cases) / sizeof(utf8_cases[0]); i++) {
		char out[64];
		size_t size = strlen(utf8_cases[i].given);
		size_t length = tb5_utf8_clean(utf8_cases[i].given, size, out);
		out[length] = '\0';
		ck_assert_str_eq(out, utf8_cases[i].clean);
		ck_assert_uint_eq(tb5_utf8_clean(utf8_cases[i].given, size, NULL), length);
		ck_assert_uint_eq(tb5_utf8_clean(out, length, NULL), length);
	}
}
END_TEST

/* A wide string made of it says the same, and is told from one that was well-formed. */
START_TEST(utf8_to_wide_replaces)
{
	for (size_t i = 0; i < sizeof(utf8_cases) / sizeof(utf8_cases[0]); i++) {
		wchar_t wide[64];
		char back[64];
		size_t size = strlen(utf8_cases[i].given), length;
		bool is_clean = strcmp(utf8_cases[i].given, utf8_cases[i].clean) == 0;
		ck_assert_int_eq(tb5_utf8_to_wide(utf8_cases[i].given, size, wide, &length),
				 is_clean);
		wide[length] = 0;
		ck_assert(tb5_utf8_from_wide(wide, back, &size));
		back[size] = '\0';
		ck_assert_str_eq(back, utf8_cases[i].clean);
	}
}
END_TEST

START_TEST(utf8_nul_is_no_terminator)
{
	char out[16];
	size_t length = tb5_utf8_clean("a\0b", 3, out);

	ck_assert_uint_eq(length, 5);
	ck_assert_mem_eq(out, "a" FFFD "b", 5);
}
END_TEST

START_TEST(utf8_every_code_point)
{
	uint32_t wrong = 0; /* an assertion for each would take most of the time */

	for (uint32_t code_point = 1; code_point <= 0x10FFFF; code_point++) {
		char out[4];
		uint32_t back;
		if (code_point == 0xD800)
			code_point = 0xE000;
		size_t size = tb5_utf8_encode(code_point, out);
		wrong += tb5_utf8_decode(out, size, &back) != size || back != code_point;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(utf8_cut_keeps_characters_whole)
{
	ck_assert_uint_eq(tb5_utf8_cut("ab\xE2\x82\xAC", 5, 5), 5);
	ck_assert_uint_eq(tb5_utf8_cut("ab\xE2\x82\xAC", 5, 4), 2);
	ck_assert_uint_eq(tb5_utf8_cut("ab\xE2\x82\xAC", 5, 3), 2);
	ck_assert_uint_eq(tb5_utf8_cut("ab\xE2\x82\xAC", 5, 2), 2);
}
END_TEST

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
	const TTest *const tests[] = {utf8_round_trip,
				      utf8_malformed,
				      utf8_clean,
				      utf8_to_wide_replaces,
				      utf8_nul_is_no_terminator,
				      utf8_every_code_point,
				      utf8_cut_keeps_characters_whole,
				      crc32c,
				      error_strings};

	return run_suite(suite_of("utf8", tests, sizeof(tests) / sizeof(*tests)));
}
