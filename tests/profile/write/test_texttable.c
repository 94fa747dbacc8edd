/* The table of a stream's texts. */
#include "profile/write/texttable.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(text_table_keeps_each_text_once)
{
	struct text_set table = {0};
	struct profile_text first, text;
	char name[32];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3000; i++) {
			snprintf(name, sizeof(name), "text %d", i);
			ck_assert_int_eq(profile_text_add(&table, name, &text),
					 round ? PROFILE_TEXT_KNOWN : PROFILE_TEXT_NEW);
			ck_assert_uint_eq(text.length, strlen(name));
			ck_assert_mem_eq(table.bytes + text.offset, name, text.length);
		}
	}
	profile_text_add(&table, "a\xFF", &first);
	ck_assert_int_eq(profile_text_add(&table, "a\xFE", &text), PROFILE_TEXT_KNOWN);
	ck_assert_uint_eq(text.offset, first.offset);
	ck_assert_int_eq(profile_text_add(&table, "", &text), PROFILE_TEXT_KNOWN);
	ck_assert_uint_eq(text.length, 0);
	ck_assert_int_eq(profile_text_add(&table, NULL, &text), PROFILE_TEXT_KNOWN);
	ck_assert_uint_eq(text.length, 0);
	text_set_finish(&table);
}
END_TEST

START_TEST(text_table_cuts_long_texts)
{
	struct text_set table = {0};
	struct profile_text text;
	size_t size = PROFILE_TEXT_MAX + 100;
	char *longest = malloc(size + 1);

	ck_assert_ptr_nonnull(longest);
	memset(longest, 'x', size);
	longest[size] = '\0';
	memcpy(longest + PROFILE_TEXT_MAX - 4, "\xC3\xA4", 2);
	profile_text_add(&table, longest, &text);
	ck_assert_uint_eq(text.length, PROFILE_TEXT_MAX - 1);
	ck_assert_mem_eq(table.bytes + text.offset + text.length - 4, "x...", 4);
	longest[PROFILE_TEXT_MAX] = '\0';
	profile_text_add(&table, longest, &text);
	ck_assert_uint_eq(text.length, PROFILE_TEXT_MAX);
	ck_assert_mem_eq(table.bytes + text.offset, longest, PROFILE_TEXT_MAX);
	free(longest);
	text_set_finish(&table);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile texttable");
	TCase *tcase = tcase_create("texttable");

	tcase_add_test(tcase, text_table_keeps_each_text_once);
	tcase_add_test(tcase, text_table_cuts_long_texts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
