/* Pages that a copy of a stack lacks: read where nobody has them, and never so that the target
 * takes more memory. The target is this program, and its stack a mapping of its own. */
#include "collector/machine/clock.h"
#include "collector/model/process.h"
#include "collector/model/stack_pages.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 32, TOUCHED = 2, COPY_PAGES = 16 };

static struct process_context context;
static struct process process;
static struct stack_pages pages;
static struct stack_mapping mapping;
static size_t page;
static char *stack;
static uint64_t sampled_ns; /* of the copy; 0: now */

/* What the kernel is made to say of the pages, instead of the truth; 0: the truth. */
static uint64_t said;

/* The linker passes the product's calls here. */
ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset);
ssize_t __real_pread64(int fd, void *bytes, size_t size, off_t offset);

ssize_t __wrap_pread64(int fd, void *bytes, size_t size, off_t offset)
{
	ssize_t got = __real_pread64(fd, bytes, size, offset);
	for (ssize_t i = 0; said != 0 && i < got / (ssize_t)sizeof(said); i++)
		memcpy((char *)bytes + (size_t)i * sizeof(said), &said, sizeof(said));
	return got;
}

static void *map(size_t count, int protection)
{
	void *at = mmap(NULL, count * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

/* Between pages that nobody may read, as a thread's stack. */
static void setup(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	context = (struct process_context){0};
	process = (struct process){.context = &context, .pid = (uint32_t)getpid()};
	pages = (struct stack_pages){0};
	mapping = (struct stack_mapping){0};
	said = 0;
	sampled_ns = 0;
	stack = (char *)map(PAGES + 2, PROT_NONE) + page;
	ck_assert_int_eq(mprotect(stack, PAGES * page, PROT_READ | PROT_WRITE), 0);
	memset(stack, 1, TOUCHED * page);
}

static void teardown(void)
{
	munmap(stack - page, (PAGES + 2) * page);
}

/* Of a copy that ended behind the touched pages, or at the end of the page given. */
static enum profile_skip_reason read_behind(size_t first, size_t ended)
{
	const struct uw_stack copy = {.base = (uintptr_t)stack + first * page + 8,
				      .bytes = (const uint8_t *)stack,
				      .size = (ended - first) * page - 8,
				      .requested = COPY_PAGES * page - 8};
	return stack_pages_read(&pages, &process, &mapping, &copy,
				sampled_ns > 0 ? sampled_ns : clock_now());
}

/* In memory: with what the kernel counts as the program's (proc(5), Rss). */
static size_t resident_pages(void)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[512];
	unsigned long long start, end, kb = 0;
	bool is_here = false;
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx-%llx ", &start, &end) == 2)
			is_here = start == (uintptr_t)stack;
		else if (is_here && sscanf(line, "Rss: %llu", &kb) == 1)
			break;
	}
	fclose(file);
	return kb * 1024 / page;
}

/* Whether the kernel's page of zeros is there: in memory, and not the program's. */
static bool is_mapped(size_t index)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	off_t offset = (off_t)(((uintptr_t)stack / page + index) * sizeof(entry));
	ck_assert_int_eq(__real_pread64(fd, &entry, sizeof(entry), offset), sizeof(entry));
	close(fd);
	return entry >> 63 != 0;
}

/* The test's own look at the kernel, by its counts. */
static bool kernel_has_zeros(void)
{
	size_t before = resident_pages();
	char byte = *(volatile char *)(stack + (PAGES - 1) * page);
	ck_assert_int_eq(byte, 0);
	return resident_pages() == before;
}

START_TEST(untouched)
{
	bool has_zeros = kernel_has_zeros();
	size_t before = resident_pages();
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	ck_assert_int_eq(pages.price, has_zeros ? STACK_PAGES_FREE : STACK_PAGES_COST);
	ck_assert_uint_eq(pages.count, has_zeros ? COPY_PAGES - TOUCHED : 0);
	ck_assert_uint_eq(resident_pages(), before);
	for (size_t i = TOUCHED; i < PAGES - 1; i++)
		ck_assert_int_eq(is_mapped(i), has_zeros && i < COPY_PAGES);
	for (size_t i = 0; i < COPY_PAGES * page; i++)
		ck_assert_int_eq(stack[i], i < TOUCHED * page);
}
END_TEST

/* Where a page takes memory, none is read: the kernel's word on our own page. */
START_TEST(costly)
{
	said = UINT64_C(0x81) << 56;
	ck_assert_int_eq(stack_pages_try(), STACK_PAGES_COST);
	said = UINT64_C(0x80) << 56;
	ck_assert_int_eq(stack_pages_try(), STACK_PAGES_FREE);
	said = 0;
	pages.price = STACK_PAGES_COST;
	size_t before = resident_pages();
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, 0);
	ck_assert_uint_eq(resident_pages(), before);
	ck_assert(!is_mapped(TOUCHED));
}
END_TEST

START_TEST(up_to_the_end)
{
	pages.price = STACK_PAGES_FREE;
	ck_assert_int_eq(read_behind(PAGES - 4, PAGES - 3), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, 3);
	ck_assert(!is_mapped(PAGES - 5) && is_mapped(PAGES - 3) && is_mapped(PAGES - 1));
}
END_TEST

START_TEST(on_disk)
{
	pages.price = STACK_PAGES_FREE;
	said = UINT64_C(1) << 62;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_uint_eq(pages.count, 0);
	ck_assert(!is_mapped(TOUCHED));
}
END_TEST

/* What is no stack of its own is left alone. */
START_TEST(of_a_file)
{
	int fd = memfd_create("stack", MFD_CLOEXEC);
	pages.price = STACK_PAGES_FREE;
	ck_assert_int_eq(ftruncate(fd, (off_t)(PAGES * page)), 0);
	ck_assert_ptr_eq(mmap(stack, PAGES * page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0),
			 stack);
	close(fd);
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_uint_eq(pages.count, 0);
	ck_assert(!is_mapped(TOUCHED));
}
END_TEST

START_TEST(nobody_there)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	process.pid = (uint32_t)child;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_NOT_RESIDENT);
}
END_TEST

/* Its processes are of the past. */
START_TEST(recorded)
{
	context.is_recorded = true;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_int_eq(pages.price, STACK_PAGES_UNKNOWN);
}
END_TEST

START_TEST(whole_copy)
{
	ck_assert_int_eq(read_behind(0, COPY_PAGES), PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_int_eq(pages.price, STACK_PAGES_UNKNOWN);
}
END_TEST

/* Readings are put off while they have had more than their part of the time; the reason stays. */
START_TEST(too_early)
{
	uint64_t before = clock_now();
	pages.price = STACK_PAGES_FREE;
	pages.due_ns = UINT64_MAX;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_uint_eq(pages.count, 0);
	pages.due_ns = 0;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_gt(pages.count, 0);
	ck_assert_uint_gt(pages.due_ns, 0);
	uint64_t count = pages.count;
	ck_assert_uint_lt(pages.due_ns, before); /* many may start together */
	pages.due_ns = UINT64_MAX;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, count);
}
END_TEST

/* A reading that left pages absent is not repeated at once; one that left none is, for a later
 * copy. */
START_TEST(in_vain)
{
	pages.price = STACK_PAGES_COST;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	pages.price = STACK_PAGES_FREE;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, 0);
	mapping.read_ns -= 1000000000u;
	ck_assert_int_eq(read_behind(0, TOUCHED), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, COPY_PAGES - TOUCHED);
	sampled_ns = mapping.read_ns; /* the copy was made before */
	ck_assert_int_eq(read_behind(4, 6), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, COPY_PAGES - TOUCHED);
	sampled_ns = 0;
	ck_assert_int_eq(read_behind(4, 6), PROFILE_SKIP_UNTOUCHED);
	ck_assert_uint_eq(pages.count, COPY_PAGES - TOUCHED + 4);
}
END_TEST

/* As many bytes as the mapping has. Pages that nobody touched are not, and stay so. */
START_TEST(copy_of_present_pages)
{
	enum { ABSENT = 0xdf, ROOM = 8 * 4096 };
	static uint8_t bytes[ROOM];
	memset(stack + (PAGES - 3) * page, 2, page);
	memset(stack + (PAGES - 1) * page, 3, page);
	size_t resident = resident_pages();
	uint64_t start = (uintptr_t)stack + (PAGES - 4) * page + 8;
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, start, bytes, ROOM, ABSENT),
			  4 * page - 8);
	static const uint8_t expected[] = {ABSENT, 2, ABSENT, 3};
	for (size_t i = 8; i < 4 * page; i++)
		ck_assert_uint_eq(bytes[i - 8], expected[i / page]);
	ck_assert_uint_eq(resident_pages(), resident);
	ck_assert(!is_mapped(PAGES - 2) && !is_mapped(PAGES - 4));
	/* No more than asked for, from the first page on. */
	start = (uintptr_t)stack + page;
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, start, bytes, 2 * page,
					   ABSENT),
			  2 * page);
	ck_assert(bytes[0] == 1 && bytes[page - 1] == 1 && bytes[page] == ABSENT);
}
END_TEST

/* Outside of any mapping, soon after such a failure, of a recording, and too early. */
START_TEST(no_copy)
{
	uint8_t bytes[64];
	uint64_t start = (uintptr_t)stack;
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, 4096, bytes, 64, 0), 0);
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, start, bytes, 64, 0), 0);
	mapping = (struct stack_mapping){0};
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, start, bytes, 64, 0), 64);
	context.is_recorded = true;
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, start, bytes, 64, 0), 0);
	context.is_recorded = false;
	pages.due_ns = clock_now() + 1000000000;
	ck_assert_uint_eq(stack_pages_copy(&pages, &process, &mapping, start, bytes, 64, 0), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack pages");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, untouched);
	tcase_add_test(cases, copy_of_present_pages);
	tcase_add_test(cases, no_copy);
	tcase_add_test(cases, costly);
	tcase_add_test(cases, up_to_the_end);
	tcase_add_test(cases, on_disk);
	tcase_add_test(cases, of_a_file);
	tcase_add_test(cases, nobody_there);
	tcase_add_test(cases, recorded);
	tcase_add_test(cases, whole_copy);
	tcase_add_test(cases, too_early);
	tcase_add_test(cases, in_vain);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
