/* Strings: stored once each, read by their ids. */
#include "tests/tbrw/support.h"
#include <stdlib.h>
#include <string.h>

START_TEST(strings)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	const wchar_t surrogate[] = {L'a', 0xDC00, 0};
	TBRW_MODULE m = module_of(1, 0, 1, 0, L"");
	const TBRW_MODULE *one;
	wchar_t text[4];
	TBRW_U32 size = 0;

	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_add_module(ptr, &m));
	m.module_path = string_of(surrogate);
	FAILS(TBRW_add_module(ptr, &m), VT_INVALID_STRING);
	m.module_path.soi_uniqueid = 1ull << 63;
	FAILS(TBRW_add_module(ptr, &m), VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES);
	m.module_path = string_of(L"xyz");
	m.module_name = string_of(L"xyz");
	OK(TBRW_add_module(ptr, &m));
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_get_one_module(ptr, 0, &one));
	ck_assert_uint_ne(one->module_path.soi_uniqueid, 0);
	ck_assert(same_text(ptr, one->module_path, L""));
	OK(TBRW_get_one_module(ptr, 1, &one));
	TBRW_U64 first = one->module_path.soi_uniqueid;
	ck_assert_uint_eq(first, one->module_name.soi_uniqueid);
	TBRW_STRING_OR_ID id = one->module_path;
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text) - 1, &id, text, &size),
	      VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, sizeof(text));
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, NULL, NULL), VT_BUFFER_NULL);
	OK(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL));
	ck_assert(wcscmp(text, L"xyz") == 0);
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), NULL, text, NULL),
	      VT_UNEXPECTED_NULL_PTR);
	id.soi_uniqueid = 0;
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL),
	      VT_INVALID_STRING);
	id.soi_uniqueid = UINT64_MAX;
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL),
	      VT_INVALID_STRING);
	id = string_of(L"pointer");
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL),
	      VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES);
	OK(TBRW_close(ptr));

	/* A string keeps its id when the file is opened again to add to it. */
	ptr = open_file("a.tb5", READ_WRITE);
	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	{
		TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"xyz");

		OK(TBRW_set_stream_info(ptr, 0, &info));
		OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
		OK(TBRW_abort_cleanup_and_close(ptr));
	}
	ptr = open_file("a.tb5", READ_WRITE);
	write_custom_stream(ptr, 0, L"xyz", 1, "abc", 3);
	OK(TBRW_close(ptr));
	ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	{
		TBRW_STREAM_INFO info;

		OK(TBRW_get_stream_info(ptr, 0, sizeof(info), &info, NULL));
		ck_assert_uint_eq(info.comment.soi_uniqueid, first);
	}
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* Record after record names the same strings, now these, now those; some are long, all begin alike.
 */
START_TEST(strings_again)
{
	enum { STRINGS = 9, ROUNDS = 40, LONGEST = 300 };
	static const size_t lengths[STRINGS] = {0, 1, 2, 254, 255, 256, 257, LONGEST - 1, LONGEST};
	wchar_t texts[STRINGS][LONGEST + 1] = {0};
	uint64_t ids[STRINGS] = {0};
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_MODULE m = module_of(1, 0, 1, 0, L"");
	const TBRW_MODULE *one;

	for (size_t i = 0; i < STRINGS; i++)
		wmemset(texts[i], L'a', lengths[i]);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; i < ROUNDS * STRINGS; i++) {
		m.module_path = string_of(texts[i % STRINGS]);
		m.module_name = string_of(texts[i * 7 % (i / STRINGS % STRINGS + 1)]);
		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; i < ROUNDS * STRINGS; i++) {
		OK(TBRW_get_one_module(ptr, i, &one));
		ck_assert(same_text(ptr, one->module_path, texts[i % STRINGS]));
		ck_assert(same_text(ptr, one->module_name,
				    texts[i * 7 % (i / STRINGS % STRINGS + 1)]));
		if (i < STRINGS)
			ids[i] = one->module_path.soi_uniqueid;
		ck_assert_uint_eq(one->module_path.soi_uniqueid, ids[i % STRINGS]);
	}
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		strings,
		strings_again,
	};

	return run_suite(suite_of("strings", tests, sizeof(tests) / sizeof(*tests)));
}
