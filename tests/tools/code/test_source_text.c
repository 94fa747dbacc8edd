/* Source files found, and their lines. */
#include "tests/support/suite.h"
#include "tools/code/source_text.h"
#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_source_text.XXXXXX";

static char *write_file(const char *name, const char *bytes, size_t size)
{
	char *path = xalloc_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "wb");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
	fclose(file);
	return path;
}

static void check_line(const struct source_text *text, uint32_t line, const char *expected)
{
	char *found = source_text_line(text, line);
	ck_assert_str_eq(found, expected);
	free(found);
}

START_TEST(test_lines)
{
	static const char bytes[] = "int a;\r\n\tb;\n\n\xc3\xa4\tc\0d\n\xff\x1b[31m";
	char *path = write_file("lines.c", bytes, sizeof(bytes) - 1);
	struct source_text text;
	ck_assert_int_eq(source_text_read(&text, path, NULL), 0);
	ck_assert_uint_eq(text.count, 5);
	ck_assert_int_gt(text.changed_ns, 0);
	check_line(&text, 0, "");
	check_line(&text, 1, "int a;");
	check_line(&text, 2, "        b;");
	check_line(&text, 3, "");
	check_line(&text, 4, "\xc3\xa4       c?d");
	check_line(&text, 5, "\\xff\\x1b[31m");
	check_line(&text, 6, "");
	source_text_finish(&text);
	unlink(path);
	free(path);
}
END_TEST

/* The longest end of the name that a directory has, and nothing beside the directory. */
START_TEST(test_directories)
{
	char *sub = xalloc_printf("%s/sub", folder);
	const char *const directories[] = {"/nosuchdirectory", folder, NULL};
	const char *const only_sub[] = {sub, NULL};
	struct source_text text;
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	char *near = write_file("a.c", "near", 4);
	char *far = write_file("sub/a.c", "far", 3);
	ck_assert_int_eq(source_text_read(&text, "/build/sub/a.c", directories), 0);
	check_line(&text, 1, "far");
	ck_assert_str_eq(text.path, far);
	source_text_finish(&text);
	ck_assert_int_eq(source_text_read(&text, "/build/a.c", directories), 0);
	check_line(&text, 1, "near");
	source_text_finish(&text);
	ck_assert_int_eq(source_text_read(&text, "../a.c", only_sub), ENOENT);
	ck_assert_uint_eq(text.count, 0);
	unlink(far);
	unlink(near);
	ck_assert_int_eq(source_text_read(&text, "/build/sub/a.c", directories), ENOENT);
	ck_assert_int_eq(source_text_read(&text, "/dev/zero", NULL), ENOEXEC);
	rmdir(sub);
	free(sub);
	free(far);
	free(near);
}
END_TEST

static const struct {
	const char *directory;
	const char *name;
	const char *path;
} joins[] = {
	{"/build/src", "a.c", "/build/src/a.c"},
	{"/build", "../tests/./a.c", "/tests/a.c"},
	{"/build/", "x//a.c", "/build/x/a.c"},
	{"/build/..", "a.c", "/a.c"},
	{"/", "../../a.c", "/a.c"},
	{"/build", "/usr/a.c", "/usr/a.c"},
	{"build", "../a.c", "../a.c"},
	{NULL, "a.c", "a.c"},
	{"/build/./a", "..a/...", "/build/a/..a/..."},
};

START_TEST(test_join)
{
	char *path = path_join(joins[_i].directory, joins[_i].name);
	ck_assert_str_eq(path, joins[_i].path);
	free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source_text");
	TCase *cases = tcase_create("all");
	if (!mkdtemp(folder))
		return EXIT_FAILURE;
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_lines);
	tcase_add_test(cases, test_directories);
	tcase_add_loop_test(cases, test_join, 0, (int)(sizeof(joins) / sizeof(joins[0])));
	suite_add_tcase(suite, cases);
	int status = run_suite(suite);
	rmdir(folder);
	return status;
}
