/* Images: each opened once, never a file that is not the mapped one. */
#include "collector/image/image.h"
#include "collector/image/image_file.h"
#include "collector/image/maps.h"
#include "collector/machine/clock.h"
#include "tests/collector/fake_emit.h"
#include "tests/collector/image_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
	const char *path; /* or NULL: by address */
	uint64_t address;
	struct maps_entry entry;
	char found[4096];
};

static bool search_entry(const struct maps_entry *entry, void *user)
{
	struct search *search = user;
	bool hit = search->path ? strcmp(entry->path, search->path) == 0
				: entry->start <= search->address && search->address < entry->end;
	if (!hit)
		return true;
	search->entry = *entry;
	snprintf(search->found, sizeof(search->found), "%s", entry->path);
	return false;
}

/* What the maps say of one of our own mappings; its path is valid as long as search. */
static struct image_source own_source(struct search *search)
{
	ck_assert_int_eq(maps_read(NULL, getpid(), search_entry, search), 0);
	ck_assert_uint_lt(search->entry.start, search->entry.end);
	struct image_source source = image_fixture_make_source((uint32_t)getpid(), search->found);
	source.start = search->entry.start;
	source.end = search->entry.end;
	source.inode = search->entry.inode;
	source.device_major = search->entry.device_major;
	source.device_minor = search->entry.device_minor;
	return source;
}

START_TEST(empty)
{
	ck_assert_ptr_null(image_module(table, 0));
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_ptr_null(image_module(table, UINT32_MAX));
	ck_assert_str_eq(image_path(table, 0), "");
	ck_assert_str_eq(image_path(table, UINT32_MAX), "");
	image_table_destroy(NULL);
}
END_TEST

START_TEST(own_program)
{
	struct search search = {.address =
					(uint64_t)&own_source}; /* NOLINT: an address by design */
	struct image_source source = own_source(&search);
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	ck_assert_str_eq(image_path(table, 1), search.found);
	ck_assert_uint_eq(fake_emit_last_image(emit).inode, search.entry.inode);
	/* Again, from another process and another place: the same file is the same image. */
	source.pid = NO_PROCESS;
	source.start += 0x1000000;
	source.end += 0x1000000;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "image "), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "image 1 kind 1 flags 0 "), 1);
}
END_TEST

START_TEST(own_vdso)
{
	struct search search = {.path = "[vdso]"};
	if (getauxval(AT_SYSINFO_EHDR) == 0) {
		puts("skipped - own vdso: hidden by the tool that runs this");
		return;
	}
	struct image_source source = own_source(&search);
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	source.pid = NO_PROCESS; /* the kernel's, whoever maps it */
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	fake_emit_assert(emit, "image 1 kind 2 flags 0 [vdso]", 1);
	ck_assert_uint_eq(fake_emit_count(emit, "image "), 1);
}
END_TEST

/* No vdso is as large as that; we do not read beyond ours. */
START_TEST(hostile_vdso)
{
	struct image_source source = image_fixture_make_source(NO_PROCESS, "[vdso]");
	source.end = source.start + (1 << 30);
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_null(image_module(table, 1));
	source.start = 0x7ffff7fc0000;
	source.end = source.start + (1 << 30);
	ck_assert_uint_eq(image_table_get(table, &source), 2);
	ck_assert_ptr_null(image_module(table, 2));
}
END_TEST

/* Another image than the 64-bit one, read from a process that maps it: the first that still lives.
 * Which file it is does not matter here, only where. */
START_TEST(vdso_of_a_32_bit_process)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT: by design */
	if (!vdso) {
		puts("skipped - vdso of a 32-bit process: hidden by the tool that runs this");
		return;
	}
	size_t size = 4096;
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	ck_assert_ptr_ne(copy, MAP_FAILED);
	memcpy(copy, vdso, size);
	struct image_source source = image_fixture_make_source(NO_PROCESS, "[vdso]");
	source.start = (uintptr_t)copy;
	source.end = source.start + size;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_null(image_module(table, 1));
	source.pid = (uint32_t)getpid();
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	ck_assert_str_eq(image_path(table, 1), "[vdso32]");
	ck_assert(!image_is_32bit(table, 1)); /* this one is not */
	ck_assert(!image_is_32bit(table, 0));
	munmap(copy, size);
}
END_TEST

START_TEST(generated_code_belongs_to_its_process)
{
	char line[96];
	struct image_source source = image_fixture_make_source((uint32_t)getpid(), "");
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_null(image_module(table, 1));
	snprintf(line, sizeof(line), "image 1 kind 3 flags 0 /tmp/perf-%d.map", (int)getpid());
	fake_emit_assert(emit, line, 1);
	ck_assert_uint_eq(fake_emit_last_image(emit).pid, (uint32_t)getpid());
	ck_assert_uint_eq(fake_emit_last_image(emit).owner_uid, geteuid());
	source.path = "//anon"; /* as records name it */
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	source.pid = NO_PROCESS;
	ck_assert_uint_eq(image_table_get(table, &source), 2);
	ck_assert_uint_eq(fake_emit_last_image(emit).owner_uid, UINT32_MAX);
	/* It was known while the process lived. */
	source.pid = NO_PROCESS - 1;
	source.has_owner = true;
	source.owner = 1234;
	ck_assert_uint_eq(image_table_get(table, &source), 3);
	ck_assert_uint_eq(fake_emit_last_image(emit).owner_uid, 1234);
	ck_assert_uint_eq(fake_emit_count(emit, "note 44"), 1);
}
END_TEST

static const struct {
	const char *path;
	bool is_file;
} paths[] = {
	{"/usr/bin/cat", true},
	{"/a b", true},
	{"/", true},
	{"/devoid", true},
	{"/anon", true},
	{"", false},
	{"//anon", false},
	{"[heap]", false},
	{"[stack]", false},
	{"[vdso]", false},
	{"[anon: jit]", false},
	{"anon_inode:[perf_event]", false},
	{"/dev/zero", false},
	{"/dev/zero (deleted)", false},
	{"/SYSV00000000 (deleted)", false},
	{"/anon_hugepage (deleted)", false},
	{"relative/path", false},
};

START_TEST(names_of_files)
{
	ck_assert_int_eq(image_file_is_path(paths[_i].path), paths[_i].is_file);
}
END_TEST

START_TEST(file_by_inode)
{
	const char *path = image_fixture_copy_program("program", SIZE_MAX);
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	source.inode = image_fixture_status_of(path).st_ino;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	source.inode++; /* replaced since it was mapped */
	ck_assert_uint_eq(image_table_get(table, &source), 2);
	ck_assert_ptr_null(image_module(table, 2));
	ck_assert_uint_eq(fake_emit_count(emit, "image 2 kind 1 flags 2 "), 1);
}
END_TEST

START_TEST(file_by_build_id)
{
	uint8_t id[20] = {0};
	const char *path = image_fixture_copy_program("program", SIZE_MAX);
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	source.inode = image_fixture_status_of(path).st_ino;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	uint32_t size = (uint32_t)uw_module_build_id(image_module(table, 1), id, sizeof(id));
	ck_assert_uint_gt(size, 0); /* by this test's link arguments */
	ck_assert_uint_eq(fake_emit_last_image(emit).build_id_size, size);
	ck_assert_mem_eq(fake_emit_last_image(emit).build_id, id, size);

	source.inode = 0;
	source.build_id = id;
	source.build_id_size = size;
	ck_assert_uint_eq(image_table_get(table, &source), 1); /* one file, named in two ways */

	id[3] ^= 1;
	ck_assert_uint_eq(image_table_get(table, &source), 2);
	ck_assert_ptr_null(image_module(table, 2));
}
END_TEST

/* Opened as it is mapped where we may, and never taken for what has its name now. */
START_TEST(deleted_file)
{
	const char *path = image_fixture_copy_program("program", SIZE_MAX);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	close(fd);
	uint64_t mapped_ns = clock_now();
	usleep(20000); /* deleted at a later time, as files have it */
	ck_assert_int_eq(unlink(path), 0);
	image_fixture_copy_program("program", 5000);
	struct search search = {.address = (uint64_t)code}; /* NOLINT: an address by design */
	struct image_source source = own_source(&search);
	char link[128];
	snprintf(link, sizeof(link), "/proc/self/map_files/%llx-%llx",
		 (unsigned long long)source.start, (unsigned long long)source.end);
	bool allowed = access(link, R_OK) == 0;
	source.mapped_ns = mapped_ns;
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_str_eq(image_path(table, 1), path);
	ck_assert_int_eq(image_module(table, 1) != NULL, allowed);
	ck_assert_uint_eq(fake_emit_last_image(emit).flags,
			  PROFILE_IMAGE_DELETED | (allowed ? 0 : PROFILE_IMAGE_NOT_OPEN));
	munmap(code, 4096);
}
END_TEST

START_TEST(long_path)
{
	char path[5000];
	memset(path, 'p', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	struct image_source source = image_fixture_make_source(NO_PROCESS, path);
	/* The fake's lines are shorter than that. */
	path[900] = '\0';
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_str_eq(image_path(table, 1), path);
}
END_TEST

/* The result numbers the kernel too, which is no image of the table: loop, behind how many. */
START_TEST(numbers_are_the_results)
{
	static const struct profile_image kernel = {.kind = PROFILE_IMAGE_KERNEL};
	char name[32];
	for (int i = 0; i < _i; i++) {
		snprintf(name, sizeof(name), "/nowhere/%d", i);
		struct image_source source = image_fixture_make_source(NO_PROCESS, name);
		ck_assert_uint_eq(image_table_get(table, &source), i + 1);
	}
	uint32_t taken = emit_image(emit, &kernel, "[vmlinux]");
	struct image_source source = image_fixture_make_source(NO_PROCESS, "/nowhere/later");
	uint32_t later = image_table_get(table, &source);
	ck_assert_uint_eq(later, taken + 1);
	ck_assert_str_eq(image_path(table, later), "/nowhere/later");
	ck_assert_str_eq(image_path(table, taken), "");
	ck_assert_uint_eq(image_table_get(table, &source), later);
}
END_TEST

/* More at once than the table grows by. */
START_TEST(numbers_far_apart)
{
	static const struct profile_image kernel = {.kind = PROFILE_IMAGE_KERNEL};
	for (int i = 0; i < 20000; i++)
		emit_image(emit, &kernel, "[vmlinux]");
	struct image_source source = image_fixture_make_source(NO_PROCESS, "/nowhere/later");
	uint32_t later = image_table_get(table, &source);
	ck_assert_uint_gt(later, 20000);
	ck_assert_str_eq(image_path(table, later), "/nowhere/later");
	ck_assert_str_eq(image_path(table, later - 1), "");
	ck_assert_uint_eq(image_table_get(table, &source), later);
}
END_TEST

START_TEST(many)
{
	char path[64];
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 1; i <= 1000; i++) {
			snprintf(path, sizeof(path), "/no/such/%u", i / 2);
			struct image_source source = image_fixture_make_source(NO_PROCESS, path);
			source.inode = i;
			ck_assert_uint_eq(image_table_get(table, &source), i);
		}
	}
	ck_assert_uint_eq(fake_emit_count(emit, "image "), 1000);
	ck_assert_str_eq(image_path(table, 1000), "/no/such/500");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *tcase = tcase_create("image");

	tcase_add_checked_fixture(tcase, image_fixture_setup, image_fixture_teardown);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, own_program);
	tcase_add_test(tcase, own_vdso);
	tcase_add_test(tcase, hostile_vdso);
	tcase_add_test(tcase, vdso_of_a_32_bit_process);
	tcase_add_test(tcase, generated_code_belongs_to_its_process);
	tcase_add_loop_test(tcase, names_of_files, 0, (int)(sizeof(paths) / sizeof(paths[0])));
	tcase_add_test(tcase, file_by_inode);
	tcase_add_test(tcase, file_by_build_id);
	tcase_add_test(tcase, deleted_file);
	tcase_add_test(tcase, long_path);
	tcase_add_loop_test(tcase, numbers_are_the_results, 0, 140);
	tcase_add_test(tcase, numbers_far_apart);
	tcase_add_test(tcase, many);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
