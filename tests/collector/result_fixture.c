#include "tests/collector/result_fixture.h"

#include "tests/collector/folder_fixture.h"
#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *directory;
struct result result;
struct failure failure;

void result_fixture_setup(void)
{
	directory = folder_fixture_make();
	failure = (struct failure){0};
}

void result_fixture_teardown(void)
{
	folder_fixture_remove();
}

void result_fixture_touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

bool result_fixture_exists(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0;
}

void result_fixture_assert_created(const char *wanted, const char *path, const char *file)
{
	ck_assert_msg(result_create(&result, wanted, "hs", &failure) == 0, "%s", failure.text);
	ck_assert_str_eq(result.directory, path);
	ck_assert_str_eq(result.file, file);
	ck_assert(result_fixture_exists(path));
	ck_assert(!result_fixture_exists(file)); /* the writer makes it */
}

void result_fixture_assert_refused(const char *wanted, const char *said)
{
	ck_assert_int_eq(result_create(&result, wanted, "hs", &failure), -1);
	ck_assert_int_ne(failure.exit_status, 0);
	ck_assert_msg(strstr(failure.text, said) != NULL, "%s", failure.text);
	ck_assert_ptr_nonnull(strstr(failure.text, wanted != NULL ? wanted : "r"));
}
