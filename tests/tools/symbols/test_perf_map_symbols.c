/* Functions of generated code by the list that its maker writes. */
#include "tests/support/suite.h"
#include "tools/memory/xalloc.h"
#include "tools/symbols/perf_map_symbols.h"
#include "tools/symbols/resolve.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t feed(const char *text, size_t size, struct symbol_address *addresses, size_t count)
{
	FILE *stream = fmemopen((void *)(uintptr_t)text, size, "r");
	ck_assert_ptr_nonnull(stream);
	size_t names = perf_map_symbols_read(stream, addresses, count);
	fclose(stream);
	return names;
}

START_TEST(test_perf_map_lines)
{
	struct symbol_address addresses[] = {{.rva = 0x1000}, {.rva = 0x1010}, {.rva = 0x2000}};
	static const char text[] = "1000 10 first function\n"
				   "0x2000 0x1 second\r\n"
				   "1010 8 old\n"
				   "1010 8 compiled again";
	ck_assert_uint_eq(feed(text, sizeof(text) - 1, addresses, 3), 4);
	ck_assert_str_eq(addresses[0].function.name, "first function");
	ck_assert_uint_eq(addresses[0].function.start, 0x1000);
	ck_assert_uint_eq(addresses[0].function.size, 0x10);
	ck_assert_str_eq(addresses[1].function.name, "compiled again");
	ck_assert_str_eq(addresses[2].function.name, "second");
	for (size_t i = 0; i < 3; i++)
		symbol_address_finish(&addresses[i]);
}
END_TEST

START_TEST(test_perf_map_hostile_lines)
{
	struct symbol_address addresses[] = {{.rva = 0}, {.rva = 0x1000}, {.rva = UINT64_MAX}};
	static const char text[] =
		"\n \n1000\n1000 \n1000 10\n1000 10 \n -1000 10 sign\n+1000 10 sign\n1000 -1 sign\n"
		"1000 0 empty\n11111111111111111 10 long\n1000 11111111111111111 long\n"
		"0x 10 none\nffffffffffffffff 2 wraps\nff0 ffffffffffffffff wraps\nzz 10 no\n"
		" 1000 10 space\n1000\t10\ttab\n";
	ck_assert_uint_eq(feed(text, sizeof(text) - 1, addresses, 3), 0);
	for (size_t i = 0; i < 3; i++)
		ck_assert_ptr_null(addresses[i].function.name);
	feed("ffffffffffffffff 1 last\n0 1 zero\n", 34, addresses, 3);
	ck_assert_str_eq(addresses[2].function.name, "last");
	ck_assert_str_eq(addresses[0].function.name, "zero");
	for (size_t i = 0; i < 3; i++)
		symbol_address_finish(&addresses[i]);
}
END_TEST

START_TEST(test_perf_map_long_line)
{
	struct symbol_address address = {.rva = 0x10};
	static char text[3 * PERF_MAP_LINE_MAX];
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "10 1 ", 5);
	ck_assert_uint_eq(feed(text, sizeof(text) - 1, &address, 1), 1);
	ck_assert_uint_eq(strlen(address.function.name), PERF_MAP_LINE_MAX - 1 - 5);
	/* followed by a line that must be seen */
	memcpy(text + sizeof(text) - 13, "\n10 1 short\n", 12);
	ck_assert_uint_eq(feed(text, sizeof(text) - 1, &address, 1), 2);
	ck_assert_str_eq(address.function.name, "short");
	symbol_address_finish(&address);
}
END_TEST

/* Lines that cover everything again and again: the work has a limit. */
START_TEST(test_perf_map_work_limit)
{
	enum { COUNT = 4000 };
	struct symbol_address *addresses = xalloc_zeroed(COUNT, sizeof(*addresses));
	enum { LINES = 2 * PERF_MAP_WORK_MAX / COUNT, LENGTH = sizeof("0 100000 a\n") - 1 };
	char *text = xalloc_zeroed(LINES, LENGTH);
	for (size_t i = 0; i < COUNT; i++)
		addresses[i].rva = i;
	for (size_t i = 0; i < LINES; i++)
		memcpy(text + i * LENGTH, i < LINES / 2 ? "0 100000 a\n" : "0 100000 b\n", LENGTH);
	size_t names = feed(text, LINES * LENGTH, addresses, COUNT);
	ck_assert_uint_ge(names, LINES / 2 - 2);
	ck_assert_uint_le(names, LINES / 2);
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_str_eq(addresses[i].function.name, "a");
		symbol_address_finish(&addresses[i]);
	}
	free(addresses);
	free(text);
}
END_TEST

START_TEST(test_perf_map_file)
{
	char directory[] = "/tmp/test-perf-map-XXXXXX";
	char path[64];
	char link[64];
	struct symbol_address address = {.rva = 0x10};
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/map", directory);
	snprintf(link, sizeof(link), "%s/link", directory);
	struct stat status;
	struct perf_map_process process = {.owner_uid = getuid()};
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_MISSING);
	FILE *map = fopen(path, "w");
	fputs("10 10\n", map);
	fflush(map);
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_NO_NAMES);
	fputs("10 10 jitted\n", map);
	fclose(map);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_int_eq(resolve_generated(link, &process, &address, 1), PERF_MAP_NO_NAMES);
	ck_assert_int_eq(resolve_generated(directory, &process, &address, 1), PERF_MAP_NO_NAMES);
	process.owner_uid = getuid() + 1;
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_OTHER_OWNER);
	process.owner_uid = PERF_MAP_NO_OWNER;
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_UNKNOWN_OWNER);
	/* Left there by a process before. */
	process = (struct perf_map_process){getuid(), ((int64_t)status.st_mtim.tv_sec + 1) *
								      INT64_C(1000000000) +
							      20000000};
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_OLDER);
	ck_assert_ptr_null(address.function.name);
	process.started_ns =
		(int64_t)status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_READ);
	ck_assert_str_eq(address.function.name, "jitted");
	symbol_address_finish(&address);
	unlink(path);
	unlink(link);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(resolve_generated(path, &process, &address, 1), PERF_MAP_NO_NAMES);
	unlink(path);
	rmdir(directory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf map");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_perf_map_lines);
	tcase_add_test(cases, test_perf_map_hostile_lines);
	tcase_add_test(cases, test_perf_map_long_line);
	tcase_add_test(cases, test_perf_map_work_limit);
	tcase_add_test(cases, test_perf_map_file);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
