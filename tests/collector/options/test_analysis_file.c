/* Texts of custom analyses -> settings, or the line that is wrong. */
#include "collector/options/analysis_file.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct analysis_file file;
static struct failure failure;

static int parse(const char *text, size_t size)
{
	ck_assert_uint_le(size, ANALYSIS_FILE_SIZE_MAX);
	memcpy(file.text, text, size);
	failure = (struct failure){0};
	return analysis_file_parse(&file, size, "my.analysis", &failure);
}

/* "1 waits=on;2 interval=1ms;" */
static const char *describe(void)
{
	static char text[1024];
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < file.count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u %s=%s;",
					 file.settings[i].line,
					 analysis_key_name(file.settings[i].key),
					 file.settings[i].value);
	return text;
}

static const struct {
	const char *text;
	const char *settings;
} good[] = {
	{"", ""},
	{"\n\n", ""},
	{"# nothing\n   # more\n", ""},
	{"waits = on", "1 waits=on;"},
	{"waits=on\n", "1 waits=on;"},
	{" \tinterval\t= 1ms \t# often\r\n", "1 interval=1ms;"},
	{"\n#x\nbase = locks-and-waits\nio-waits = off\n",
	 "3 base=locks-and-waits;4 io-waits=off;"},
	{"interval = 1ms#2\n", "1 interval=1ms#2;"},
	{"interval = a = b\n", "1 interval=a = b;"},
};

START_TEST(taken_apart)
{
	ck_assert_int_eq(parse(good[_i].text, strlen(good[_i].text)), 0);
	ck_assert_str_eq(describe(), good[_i].settings);
}
END_TEST

static const struct {
	const char *text;
	const char *message;
} bad[] = {
	{"waits\n", "my.analysis:1: no setting: write key = value, or # and a comment"},
	{"\n= on", "my.analysis:2: no setting: write key = value, or # and a comment"},
	{"wait = on", "my.analysis:1: unknown key 'wait': did you mean 'waits'?"},
	{"#\nintervall = 1ms", "my.analysis:2: unknown key 'intervall': did you mean 'interval'?"},
	{"colour = red", "my.analysis:1: unknown key 'colour': see tbcollect-analysis(5)"},
	{"a-key-of-more-than-thirty-two-characters = 1",
	 "my.analysis:1: unknown key 'a-key-of-more-than-thirty-two-characters': see "
	 "tbcollect-analysis(5)"},
	{"waits =  # on\n",
	 "my.analysis:1: waits has no value: write waits = VALUE, or leave it out"},
	{"waits = on\n\nwaits = off",
	 "my.analysis:3: waits is given in line 1 already: leave one out"},
};

START_TEST(refused_by_line)
{
	ck_assert_int_eq(parse(bad[_i].text, strlen(bad[_i].text)), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT_USAGE);
	ck_assert_str_eq(failure.text, bad[_i].message);
}
END_TEST

START_TEST(zero_bytes)
{
	static const char text[] = "waits = on\nswi\0ches = on\n";
	ck_assert_int_eq(parse(text, sizeof(text) - 1), -1);
	ck_assert_str_eq(failure.text, "my.analysis:2: no text: give a custom analysis");
}
END_TEST

START_TEST(found_by_key)
{
	ck_assert_int_eq(parse("stacks = off\nwaits = on", 23), 0);
	ck_assert_str_eq(analysis_file_find(&file, ANALYSIS_KEY_WAITS)->value, "on");
	ck_assert_ptr_null(analysis_file_find(&file, ANALYSIS_KEY_BASE));
}
END_TEST

static int read_file(const char *path)
{
	failure = (struct failure){0};
	return analysis_file_read(path, &file, &failure);
}

/* A file of `size` bytes. */
static void write_file(const char *path, size_t size)
{
	FILE *stream = fopen(path, "w");
	ck_assert_ptr_nonnull(stream);
	for (size_t i = 0; i < size; i++)
		fputc('\n', stream);
	ck_assert_int_eq(fclose(stream), 0);
}

START_TEST(read_from_files)
{
	char folder[] = "/tmp/test_analysis_file.XXXXXX";
	char path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x", folder);
	ck_assert_int_eq(read_file(path), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "No such file"));
	write_file(path, ANALYSIS_FILE_SIZE_MAX);
	ck_assert_int_eq(read_file(path), 0);
	write_file(path, ANALYSIS_FILE_SIZE_MAX + 1);
	ck_assert_int_eq(read_file(path), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "larger than 16384 bytes"));
	ck_assert_int_eq(read_file(folder), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "no regular file"));
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(read_file(path), -1); /* at once */
	unlink(path);
	rmdir(folder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("analysis_file");
	TCase *tcase = tcase_create("analysis_file");

	tcase_add_loop_test(tcase, taken_apart, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tcase, refused_by_line, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tcase, zero_bytes);
	tcase_add_test(tcase, found_by_key);
	tcase_add_test(tcase, read_from_files);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
