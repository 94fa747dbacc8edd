/* Copies of files that are changed while they are read: a step of reading is where it happens. */
#include "tests/support/suite.h"
#include "tests/tools/debuginfo/scratch.h"
#include "tools/debuginfo/snapshot.h"
#include "tools/memory/xalloc.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t at);

/* What happens to the file before the read of that number, counted from 0; -1: nothing. */
static struct {
	int before;
	int reads;
	void (*happens)(void);
} fault;

static char *path;

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t at)
{
	if (fault.reads++ == fault.before)
		fault.happens();
	return __real_pread64(fd, bytes, size, at);
}

static void set_up(void)
{
	scratch_begin();
	path = scratch_path("subject");
	scratch_run(xalloc_printf("cp '%s' '%s'", SUBJECT_PIE, path));
	fault.before = -1;
}

static void tear_down(void)
{
	free(path);
	scratch_end();
}

static void cut_short(void)
{
	ck_assert_int_eq(truncate(path, 100), 0);
}

/* As the linker does it that writes the program anew. */
static void write_anew(void)
{
	FILE *file = fopen(path, "r+");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fseek(file, 5000, SEEK_SET), 0);
	ck_assert_uint_eq(fwrite("changed", 7, 1, file), 1);
	ck_assert_int_eq(fclose(file), 0);
}

static int copy_at(const char *file)
{
	struct stat status;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	int copy = snapshot_of(fd, &status);
	int error = errno;
	close(fd);
	errno = error;
	return copy;
}

/* All but what nobody reads, which is 0. */
START_TEST(test_copy_is_the_file)
{
	int copy = copy_at(path);
	ck_assert_int_ge(copy, 0);
	char *same = xalloc_printf("%s/copy", scratch_folder());
	scratch_run(xalloc_printf("cat /proc/%d/fd/%d >'%s'", getpid(), copy, same));
	/* Differences lie in the sections' bytes only: without these both are one. */
	scratch_run(
		xalloc_printf("cd '%s' && for f in subject copy; do objcopy -R .debug_loclists -R "
			      ".debug_loc -R .debug_aranges $f; done && cmp subject copy",
			      scratch_folder()));
	free(same);
	close(copy);
}
END_TEST

START_TEST(test_other_files_and_limits)
{
	ck_assert_int_eq(copy_at(SUBJECT_SOURCE), -1);
	ck_assert_int_eq(errno, ENOEXEC);
	ck_assert_int_eq(truncate(path, SNAPSHOT_SIZE_MAX + 1), 0);
	ck_assert_int_eq(copy_at(path), -1);
	ck_assert_int_eq(errno, EFBIG);
	/* A file of holes takes no time and no memory. */
	ck_assert_int_eq(truncate(path, SNAPSHOT_SIZE_MAX), 0);
	int copy = copy_at(path);
	struct stat status;
	ck_assert_int_ge(copy, 0);
	ck_assert_int_eq(fstat(copy, &status), 0);
	ck_assert_int_lt(status.st_blocks, 16384);
	close(copy);
}
END_TEST

/* Wherever reading is when it happens: there are symbols or there are none, and the process lives
 * on. */
static size_t resolve_with_fault(void (*happens)(void))
{
	size_t refused = 0;
	bool is_over = false;
	uint64_t rva = scratch_rva("subject_outer");
	for (int i = 0; !is_over; i++) {
		struct mapped_file identity = {.path = path};
		struct symbol_address address = {.rva = rva};
		scratch_run(xalloc_printf("cp '%s' '%s'", SUBJECT_PIE, path));
		memset(&fault, 0, sizeof(fault));
		fault.before = i;
		fault.happens = happens;
		enum symbol_file_status status =
			resolve_file(&identity, scratch_folder(), &address, 1);
		is_over = fault.reads <= i;
		ck_assert(!is_over || (status == SYMBOL_FILE_OPEN && address.function.file));
		refused += status != SYMBOL_FILE_OPEN;
		symbol_address_finish(&address);
		ck_assert_int_lt(i, 200);
	}
	return refused;
}

START_TEST(test_cut_short_while_read)
{
	ck_assert_uint_ge(resolve_with_fault(cut_short), 2);
}
END_TEST

START_TEST(test_changed_while_read)
{
	ck_assert_uint_ge(resolve_with_fault(write_anew), 1);
}
END_TEST

/* The debug file is another's as well. */
START_TEST(test_debug_file_cut_short)
{
	scratch_run(xalloc_printf("cd '%s' && mkdir bin && objcopy --only-keep-debug subject "
				  "subject.debug "
				  "&& strip -o bin/subject subject && mv subject.debug bin",
				  scratch_folder()));
	char *program = xalloc_printf("%s/bin/subject", scratch_folder());
	free(path);
	path = xalloc_printf("%s/bin/subject.debug", scratch_folder());
	size_t without = 0;
	bool is_over = false;
	uint64_t rva = scratch_rva("subject_outer");
	for (int i = 0; !is_over; i++) {
		struct mapped_file identity = {.path = program};
		struct symbol_address address = {.rva = rva};
		scratch_run(xalloc_printf("cd '%s' && objcopy --only-keep-debug subject "
					  "bin/subject.debug",
					  scratch_folder()));
		memset(&fault, 0, sizeof(fault));
		fault.before = i;
		fault.happens = cut_short;
		ck_assert_int_eq(resolve_file(&identity, ":", &address, 1), SYMBOL_FILE_OPEN);
		is_over = fault.reads <= i;
		ck_assert(address.function.file || !is_over);
		without += !address.function.file;
		symbol_address_finish(&address);
		ck_assert_int_lt(i, 200);
	}
	ck_assert_uint_ge(without, 3);
	free(program);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("snapshot");
	TCase *tcase = tcase_create("snapshot");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_copy_is_the_file);
	tcase_add_test(tcase, test_other_files_and_limits);
	tcase_add_test(tcase, test_cut_short_while_read);
	tcase_add_test(tcase, test_changed_while_read);
	tcase_add_test(tcase, test_debug_file_cut_short);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
