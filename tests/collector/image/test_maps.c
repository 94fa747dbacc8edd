/* Lines of /proc/PID/maps, as proc_pid_maps(5) shows them and as it never would. */
#include "collector/image/maps.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char buffer[8192];

static bool parse(const char *line, struct maps_entry *entry)
{
	ck_assert_uint_lt(strlen(line), sizeof(buffer));
	strcpy(buffer, line);
	return maps_parse(buffer, entry);
}

static const struct {
	const char *line;
	struct maps_entry entry;
} good[] = {
	{"55d0c0a00000-55d0c0a21000 r-xp 00002000 fe:01 1321 /usr/bin/cat\n",
	 {0x55d0c0a00000, 0x55d0c0a21000, 0x2000, 1321, 0xfe, 1, true, false, "/usr/bin/cat"}},
	{"7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n",
	 {0x7f0000000000, 0x7f0000001000, 0, 0, 0, 0, false, true, ""}},
	{"7f0000000000-7f0000001000 rwxp 00000000 00:00 0",
	 {0x7f0000000000, 0x7f0000001000, 0, 0, 0, 0, true, true, ""}},
	{"7ffc61bd1000-7ffc61bd3000 r-xp 00000000 00:00 0                          [vdso]\n",
	 {0x7ffc61bd1000, 0x7ffc61bd3000, 0, 0, 0, 0, true, false, "[vdso]"}},
	{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n",
	 {0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 0, true, false, "[vsyscall]"}},
	{"400000-401000 r-xs 00000000 00:01 9 /dev/zero (deleted)\n",
	 {0x400000, 0x401000, 0, 9, 0, 1, true, false, "/dev/zero (deleted)"}},
	{"400000-401000 r--p 0 103:05 18446744073709551615 /a b  c\n",
	 {0x400000, 0x401000, 0, UINT64_MAX, 0x103, 5, false, false, "/a b  c"}},
	{"400000-401000 r-xp 1fffff000 00:00 1 /new\\012line\\012\n",
	 {0x400000, 0x401000, 0x1fffff000, 1, 0, 0, true, false, "/new\nline\n"}},
	{"400000-401000 r-xp 0 00:00 1 /back\\slash\\01\\0123\\011\n",
	 {0x400000, 0x401000, 0, 1, 0, 0, true, false, "/back\\slash\\01\n3\\011"}},
	{"0-ffffffffffffffff r-xp 0 0:0 0 x\n", {0, UINT64_MAX, 0, 0, 0, 0, true, false, "x"}},
};

START_TEST(lines)
{
	struct maps_entry entry;
	const struct maps_entry *expected = &good[_i].entry;
	ck_assert(parse(good[_i].line, &entry));
	ck_assert_uint_eq(entry.start, expected->start);
	ck_assert_uint_eq(entry.end, expected->end);
	ck_assert_uint_eq(entry.pgoff, expected->pgoff);
	ck_assert_uint_eq(entry.inode, expected->inode);
	ck_assert_uint_eq(entry.device_major, expected->device_major);
	ck_assert_uint_eq(entry.device_minor, expected->device_minor);
	ck_assert_int_eq(entry.executable, expected->executable);
	ck_assert_int_eq(entry.writable, expected->writable);
	ck_assert_str_eq(entry.path, expected->path);
	ck_assert(entry.path >= buffer && entry.path < buffer + sizeof(buffer));
}
END_TEST

static const char *const bad[] = {
	"",
	"\n",
	"VmFlags: rd ex mr mw me",
	"400000",
	"400000-",
	"400000-401000",
	"400000-401000 r-xp",
	"400000-401000 r-xp 0",
	"400000-401000 r-xp 0 00",
	"400000-401000 r-xp 0 00:00",
	"400000-401000 r-xp 0 00:00 x",
	"400000 401000 r-xp 0 00:00 0",
	"401000-400000 r-xp 0 00:00 0 /backwards",
	"400000-400000 r-xp 0 00:00 0 /empty",
	"g00000-401000 r-xp 0 00:00 0 /hex",
	"400000-401000 r-xpr-xp 0 00:00 0 /long permissions",
};

START_TEST(no_lines)
{
	struct maps_entry entry;
	ck_assert(!parse(bad[_i], &entry));
}
END_TEST

/* Cut off anywhere, a line is refused until its inode begins; after that it has the path so far. */
START_TEST(truncated)
{
	const char *line = "55d0c0a00000-55d0c0a21000 r-xp 00002000 fe:01 1321 /usr/bin/cat";
	size_t inode = (size_t)(strstr(line, "1321") - line);
	size_t path = (size_t)(strstr(line, "/usr") - line);
	for (size_t length = 0; length <= strlen(line); length++) {
		struct maps_entry entry;
		char *cut = strndup(line, length);
		ck_assert_ptr_nonnull(cut);
		ck_assert_int_eq(maps_parse(cut, &entry), length > inode);
		if (length > inode) {
			ck_assert_uint_eq(strlen(entry.path), length > path ? length - path : 0);
			ck_assert_mem_eq(entry.path, line + path, strlen(entry.path));
		}
		free(cut);
	}
}
END_TEST

/* Few permission letters say nothing of execution. */
START_TEST(short_permissions)
{
	struct maps_entry entry;
	if (parse("400000-401000 --x 0 00:00 0 /short\n", &entry))
		ck_assert(!entry.executable);
}
END_TEST

START_TEST(long_path)
{
	char line[6000];
	struct maps_entry entry;
	int begin = snprintf(line, sizeof(line), "400000-401000 r-xp 0 00:00 5 /");
	memset(line + begin, 'p', 4095);
	strcpy(line + begin + 4095, "\n");
	ck_assert(parse(line, &entry));
	ck_assert_uint_eq(strlen(entry.path), 4096);
}
END_TEST

struct found {
	uint64_t address;
	size_t entries;
	size_t stop_after;
	struct maps_entry entry;
	char path[4096];
};

static bool find(const struct maps_entry *entry, void *user)
{
	struct found *found = user;
	found->entries++;
	if (entry->start <= found->address && found->address < entry->end) {
		found->entry = *entry;
		snprintf(found->path, sizeof(found->path), "%s", entry->path);
	}
	return found->entries != found->stop_after;
}

START_TEST(own_process)
{
	char exe[4096] = "";
	struct found found = {.address = (uint64_t)&find}; /* NOLINT: an address by design */
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	ck_assert_int_eq(maps_read(NULL, getpid(), find, &found), 0);
	ck_assert_str_eq(found.path, exe);
	ck_assert_uint_ne(found.entry.inode, 0);
	ck_assert_uint_gt(found.entries, 2); /* the libraries and the vdso too */
}
END_TEST

START_TEST(own_anonymous_code)
{
	size_t size = 3 * (size_t)sysconf(_SC_PAGESIZE);
	void *code = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	struct found found = {.address = (uint64_t)code}; /* NOLINT: an address by design */
	ck_assert_int_eq(maps_read(NULL, getpid(), find, &found), 0);
	ck_assert_str_eq(found.path, "");
	ck_assert_uint_ge(found.entry.end - found.entry.start, size);
	munmap(code, size);
}
END_TEST

START_TEST(stopped_by_the_callback)
{
	struct found found = {.stop_after = 1};
	ck_assert_int_eq(maps_read(NULL, getpid(), find, &found), 0);
	ck_assert_uint_eq(found.entries, 1);
}
END_TEST

START_TEST(no_process)
{
	struct found found = {0};
	ck_assert_int_eq(maps_read(NULL, 0x7fffffff, find, &found), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_uint_eq(found.entries, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("maps");
	TCase *tcase = tcase_create("maps");

	tcase_add_loop_test(tcase, lines, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tcase, no_lines, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tcase, truncated);
	tcase_add_test(tcase, short_permissions);
	tcase_add_test(tcase, long_path);
	tcase_add_test(tcase, own_process);
	tcase_add_test(tcase, own_anonymous_code);
	tcase_add_test(tcase, stopped_by_the_callback);
	tcase_add_test(tcase, no_process);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
