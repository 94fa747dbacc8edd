/* JSON as written, and as a reader of JSON reads it. */
#include "tests/support/suite.h"
#include "tools/json/json_writer.h"
#include <check.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static size_t size;
static struct json_writer writer;

static void set_up(void)
{
	writer = (struct json_writer){.stream = open_memstream(&text, &size)};
	ck_assert_ptr_nonnull(writer.stream);
}

static void tear_down(void)
{
	fclose(writer.stream);
	free(text);
}

static void expect_text(const char *expected)
{
	fflush(writer.stream);
	ck_assert_str_eq(text, expected);
}

START_TEST(test_structure)
{
	json_open_object(&writer, NULL);
	json_open_array(&writer, "empty");
	json_close_array(&writer);
	json_open_object(&writer, "none");
	json_close_object(&writer);
	json_open_array(&writer, "list");
	json_write_number(&writer, NULL, 0);
	json_open_array(&writer, NULL);
	json_write_number(&writer, NULL, 1);
	json_close_array(&writer);
	json_open_object(&writer, NULL);
	json_write_bool(&writer, "yes", true);
	json_write_bool(&writer, "no", false);
	json_close_object(&writer);
	json_write_null(&writer, NULL);
	json_write_raw(&writer, NULL, "[2,3]!", 5);
	json_close_array(&writer);
	json_write_text(&writer, "last", "");
	json_close_object(&writer);
	expect_text("{\"empty\":[],\"none\":{},\"list\":[0,[1],{\"yes\":true,\"no\":false},null,"
		    "[2,3]],\"last\":\"\"}");
}
END_TEST

START_TEST(test_numbers)
{
	json_open_array(&writer, NULL);
	json_write_number(&writer, NULL, UINT64_MAX);
	json_write_number(&writer, NULL, 10);
	json_write_decimal(&writer, NULL, 1500, 3);
	json_write_decimal(&writer, NULL, 7, 3);
	json_write_decimal(&writer, NULL, 7, 0);
	json_write_decimal(&writer, NULL, UINT64_MAX, 18);
	json_write_decimal(&writer, NULL, 0, 6);
	json_close_array(&writer);
	expect_text("[18446744073709551615,10,1.500,0.007,7,18.446744073709551615,0.000000]");
}
END_TEST

/* Every byte of ASCII, and characters of several bytes, also as a member's name. */
START_TEST(test_texts)
{
	char all[160];
	unsigned length = 0;
	for (int c = 1; c < 0x80; c++)
		all[length++] = (char)c;
	strcpy(all + length, "\xc3\xa9\xe2\x80\xa8\xf0\x9f\x94\xac");
	json_open_object(&writer, NULL);
	json_write_text(&writer, all, all);
	json_write_text(&writer, "last", "\\\"");
	json_close_object(&writer);
	fflush(writer.stream);
	for (size_t i = 0; i < size; i++)
		ck_assert((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
	struct json_object *read = json_tokener_parse(text);
	struct json_object *member;
	ck_assert_ptr_nonnull(read);
	ck_assert(json_object_object_get_ex(read, all, &member));
	ck_assert_str_eq(json_object_get_string(member), all);
	ck_assert(json_object_object_get_ex(read, "last", &member));
	ck_assert_str_eq(json_object_get_string(member), "\\\"");
	json_object_put(read);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("JSON writer");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_structure);
	tcase_add_test(cases, test_numbers);
	tcase_add_test(cases, test_texts);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
