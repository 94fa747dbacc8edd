/* The library's place, its memory, and what keeps a program from loading it. */
#include "collector/agent/channel.h"
#include "collector/preload/preload.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct failure failure;

/* The library lies beside the test as beside tbcollect in a build directory. */
static void setup(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
	ck_assert_int_gt(length, 0);
	path[length] = '\0';
	strcpy(strrchr(path, '/'), "/agent");
	mkdir(path, 0700);
	strcat(path, "/libtbagent.so");
	if (symlink(AGENT, path) < 0)
		ck_assert_int_eq(access(path, R_OK), 0);
	failure = (struct failure){0};
}

static const char *find(char **environment, const char *name)
{
	const char *found = NULL;
	size_t length = strlen(name);
	for (size_t i = 0; environment[i]; i++) {
		if (strncmp(environment[i], name, length) == 0 && environment[i][length] == '=') {
			ck_assert_ptr_null(found);
			found = environment[i] + length + 1;
		}
	}
	return found;
}

START_TEST(memory_and_environment)
{
	struct preload preload;
	struct stat status;
	char path[64];
	setenv("LD_PRELOAD", "/other/lib.so", 1);
	setenv(CHANNEL_VARIABLE, "of an outer collection", 1);
	setenv("KEPT", "as it is", 1);
	ck_assert_int_eq(preload_open(&preload, "/bin/true", 10000, 16384, &failure), 0);
	ck_assert_str_eq(find(preload.environment, "KEPT"), "as it is");
	const char *library = find(preload.environment, "LD_PRELOAD");
	ck_assert_int_eq(strncmp(library, "/other/lib.so:/", 15), 0);
	ck_assert_ptr_nonnull(strstr(library, "/libtbagent.so"));
	snprintf(path, sizeof(path), "/proc/%d/fd/%d:%llx", (int)getpid(), preload.fd,
		 (unsigned long long)preload.channel->header.key);
	ck_assert_str_eq(find(preload.environment, CHANNEL_VARIABLE), path);
	ck_assert_int_eq(fstat(preload.fd, &status), 0);
	ck_assert_uint_eq((uint64_t)status.st_size, CHANNEL_SIZE);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	ck_assert_int_eq(ftruncate(preload.fd, 4096), -1);
	ck_assert_uint_eq(preload.channel->header.magic, CHANNEL_MAGIC);
	ck_assert_uint_eq(preload.channel->header.record_ns, PRELOAD_RECORD_NS);
	ck_assert_uint_eq(preload.channel->header.stack_ns, 10000);
	ck_assert_uint_eq(preload.channel->header.stack_bytes, 16384);
	ck_assert_ptr_null(preload.obstacle);
	/* Ours is as before. */
	ck_assert_str_eq(getenv("LD_PRELOAD"), "/other/lib.so");
	preload_close(&preload);
	preload_close(&preload);
}
END_TEST

static void assert_obstacle(const char *program, const char *obstacle)
{
	struct preload preload;
	ck_assert_int_eq(preload_open(&preload, program, 1, 1, &failure), 0);
	if (obstacle)
		ck_assert_str_eq(preload.obstacle, obstacle);
	else
		ck_assert_ptr_null(preload.obstacle);
	preload_close(&preload);
}

START_TEST(obstacles)
{
	char narrow[64] = {127, 'E', 'L', 'F', 1, 1, 1};
	char path[] = "/tmp/test_preload.XXXXXX";
	assert_obstacle("true", NULL);
	assert_obstacle("/no/such/program", NULL);
	assert_obstacle("no such program", NULL);
	assert_obstacle("/etc/passwd", NULL);
	assert_obstacle("/", NULL);
	assert_obstacle(STATIC, "it is statically linked");
	int fd = mkstemp(path);
	assert_obstacle(path, NULL);
	ck_assert_int_eq(write(fd, narrow, sizeof(narrow)), sizeof(narrow));
	assert_obstacle(path, "it is no 64-bit program");
	if (geteuid() == 0) {
		ck_assert_int_eq(fchown(fd, 1, 1), 0);
		ck_assert_int_eq(fchmod(fd, 04755), 0);
		assert_obstacle(path, "it runs with other rights than yours");
	}
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(privileges_of_our_own)
{
	struct preload preload;
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 0), 0);
	ck_assert_int_eq(preload_open(&preload, "/bin/true", 1, 1, &failure), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "privileges of its own"));
	ck_assert_ptr_null(preload.channel);
	ck_assert_ptr_null(preload.environment);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("preload");
	TCase *tcase = tcase_create("preload");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, memory_and_environment);
	tcase_add_test(tcase, obstacles);
	tcase_add_test(tcase, privileges_of_our_own);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
