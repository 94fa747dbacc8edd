/* Files that were deleted while a process runs or maps them. */
#include "tests/support/suite.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that runs /bin/sleep as `path`, or has the file mapped; returns once it does. */
static pid_t hold_file(const char *path, bool runs)
{
	int ready[2];
	char byte;
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0 && runs)
		_exit(execl(path, path, "1000", NULL) == 0);
	if (pid == 0) {
		int fd = open(path, O_RDONLY);
		if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			_exit(1);
		close(fd);
		close(ready[1]);
		pause();
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

/* A date when the file, as it is now, may have been mapped. */
static int64_t mapped_ns(const struct stat *status)
{
	return status->st_ctim.tv_sec * 1000000000LL + status->st_ctim.tv_nsec;
}

/* Loop: mapped, run. What was deleted is found by who still has it, and by nobody else. */
START_TEST(held_by_a_process)
{
	char directory[] = "/tmp/symbols-XXXXXX";
	char path[64];
	char gone[80];
	char command[128];
	struct stat status;
	struct symbol_address address = {.rva = 0x1000};
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/file", directory);
	snprintf(gone, sizeof(gone), "%s (deleted)", path);
	snprintf(command, sizeof(command), "cp /bin/sleep %s", path);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	pid_t pid = hold_file(path, _i == 1);
	struct symbol_image_identity identity = {.path = path,
						 .inode = status.st_ino,
						 .mapped_ns = mapped_ns(&status),
						 .pid = (uint32_t)pid};
	usleep(20000); /* deleting it changes it, after that date */
	ck_assert_int_eq(unlink(path), 0);
	if (_i == 1 || geteuid() == 0) {
		ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
		symbol_address_finish(&address);
		identity.path = gone; /* so it was called when it was mapped */
		ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_OPEN);
		symbol_address_finish(&address);
		identity.path = path;
	}
	identity.inode++;
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	identity.inode = 0; /* nothing would say that it is the one */
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	identity.inode = status.st_ino;
	identity.path = "/nonexistent/file";
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	identity.path = path;
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(resolve_file(&identity, NULL, &address, 1), SYMBOL_IMAGE_MISSING);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("deleted file");
	TCase *tcase = tcase_create("deleted file");

	tcase_add_loop_test(tcase, held_by_a_process, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
