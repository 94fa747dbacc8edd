/* Generated code, read from another process. */
#include "collector/model/code_memory.h"
#include "tests/support/suite.h"
#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static uint8_t *pages; /* two, the second one is nobody's */
static pid_t child;

static void setup(void)
{
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(pages, MAP_FAILED);
	ck_assert_int_eq(munmap(pages + PAGE, PAGE), 0);
	memset(pages, 0xc3, PAGE);
	child = fork();
	ck_assert_int_ge(child, 0);
	while (child == 0)
		pause();
	memset(pages, 0, PAGE); /* ours alone */
}

static void end_child(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
	}
	child = 0;
}

static void teardown(void)
{
	end_child();
	munmap(pages, PAGE);
}

START_TEST(as_far_as_it_goes)
{
	struct code_memory memory = {.pid = (uint32_t)child};
	uint64_t start = (uint64_t)(uintptr_t)pages;
	uint8_t bytes[2 * PAGE] = {0};

	ck_assert_uint_eq(code_memory_read(&memory, start, bytes, PAGE), PAGE);
	ck_assert_uint_eq(bytes[0], 0xc3);
	ck_assert_uint_eq(bytes[PAGE - 1], 0xc3);
	ck_assert_uint_eq(code_memory_read(&memory, start + PAGE - 8, bytes, PAGE), 8);
	ck_assert_uint_eq(code_memory_read(&memory, start + PAGE, bytes, PAGE), 0);
	ck_assert_uint_eq(code_memory_read(&memory, UINT64_MAX - 7, bytes, 8), 0);
	ck_assert(!memory.is_refused);
	ck_assert_uint_eq(code_memory_read(&memory, start, bytes, 1), 1);
}
END_TEST

START_TEST(gone)
{
	struct code_memory memory = {.pid = (uint32_t)child};
	uint8_t byte;

	end_child();
	ck_assert_uint_eq(code_memory_read(&memory, (uint64_t)(uintptr_t)pages, &byte, 1), 0);
	ck_assert(memory.is_refused);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_memory");
	TCase *tcase = tcase_create("read");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, as_far_as_it_goes);
	tcase_add_test(tcase, gone);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
