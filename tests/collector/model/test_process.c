/* One process image: what is written when, and the address space that goes with it. */
#include "collector/machine/clock.h"
#include "collector/model/process.h"
#include "collector/proc/asker.h"
#include "tests/collector/fake_emit.h"
#include "tests/collector/fake_image.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { PID = 5000000 }; /* above what the kernel gives out */

static struct process_context context;
static struct process *process;

static bool is_elsewhere; /* the program, says /proc/PID/exe */

/* The linker passes the product's calls here. */
ssize_t __wrap_readlink(const char *path, char *target, size_t size);
ssize_t __real_readlink(const char *path, char *target, size_t size);

ssize_t __wrap_readlink(const char *path, char *target, size_t size)
{
	static const char elsewhere[] = "/bin/elsewhere";
	ssize_t length = __real_readlink(path, target, size);
	if (!is_elsewhere || !strstr(path, "/exe"))
		return length;
	ck_assert_uint_ge(size, strlen(elsewhere));
	memcpy(target, elsewhere, strlen(elsewhere));
	return (ssize_t)strlen(elsewhere);
}

static void setup(void)
{
	context.emit = fake_emit_create();
	context.images = image_table_create(context.emit, NULL);
	context.family = uw_space_create(UW_ARCH_X86_64);
	process = process_create(&context, PID, "app", 5);
	ck_assert_ptr_nonnull(process);
}

static void teardown(void)
{
	process_destroy(process);
	uw_space_destroy(context.family);
	image_table_destroy(context.images);
	fake_emit_destroy(context.emit);
}

static void map(uint64_t start, uint64_t end, const char *path, uint64_t time_ns)
{
	struct record_mmap record = {.start = start, .length = end - start, .path = path};
	ck_assert_int_eq(process_map(process, &record, time_ns), 0);
}

static void assert_lines(const char *lines)
{
	ck_assert_str_eq(fake_emit_lines(context.emit), lines);
	fake_emit_clear(context.emit);
}

START_TEST(empty)
{
	process_commit(process);
	process_end(process, 9);
	assert_lines("process 5000000 app () 5-9\n");
	process_destroy(NULL);
}
END_TEST

START_TEST(nothing_is_written_before_the_commit)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	map(0x600000, 0x700000, "/lib/a.so", 11);
	map(0x600000, 0x680000, "/lib/b.so", 12);
	assert_lines("");
	process_commit(process);
	assert_lines("load 5000000 400000-500000 /bin/app at 10 main first\n"
		     "load 5000000 600000-680000 /lib/b.so at 12\n"
		     "load 5000000 680000-700000 /lib/a.so at 12\n");
	process_commit(process);
	assert_lines("");
}
END_TEST

/* The kernel maps the program before its interpreter, wherever both lie. */
START_TEST(program_is_what_is_mapped_first)
{
	map(0x7f0000000000, 0x7f0000100000, "/bin/app", 10);
	map(0x400000, 0x500000, "/lib/ld.so", 11);
	map(0x7f0000200000, 0x7f0000300000, "/bin/app", 12);
	process_commit(process);
	assert_lines("load 5000000 400000-500000 /lib/ld.so at 11 first\n"
		     "load 5000000 7f0000000000-7f0000100000 /bin/app at 10 main\n"
		     "load 5000000 7f0000200000-7f0000300000 /bin/app at 12 main\n");
	process_end(process, PROFILE_TIME_NEVER);
	assert_lines("process 5000000 app (/bin/app) 5-never\n");
}
END_TEST

/* What is no file is no program. */
START_TEST(program_after_the_vdso)
{
	map(0x7f0000000000, 0x7f0000001000, "[vdso]", 10);
	map(0x400000, 0x500000, "/bin/app", 11);
	process_end(process, 20);
	assert_lines("process 5000000 app (/bin/app) 5-20\n");
}
END_TEST

START_TEST(exec_of_what_was_written)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	process_commit(process);
	fake_emit_clear(context.emit);
	process_exec(process, "prog", 20);
	assert_lines("unload 5000000 400000-500000 /bin/app at 20\n"
		     "process 5000000 app (/bin/app) 5-20\n");
	map(0x400000, 0x600000, "/bin/prog", 21);
	assert_lines("");
	process_commit(process);
	process_end(process, 30);
	assert_lines("load 5000000 400000-600000 /bin/prog at 21 main first\n"
		     "unload 5000000 400000-600000 /bin/prog at 30\n"
		     "process 5000000 prog (/bin/prog) 20-30\n");
}
END_TEST

START_TEST(exec_of_what_was_not_written)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	ck_assert(!process->exec_pending);
	process_exec(process, "prog", 20);
	ck_assert(process->exec_pending);
	assert_lines("");
	map(0x400000, 0x600000, "/bin/prog", 21);
	ck_assert(!process->exec_pending);
	process_end(process, 30);
	assert_lines("process 5000000 prog (/bin/prog) 5-30\n");
}
END_TEST

START_TEST(forked)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	process_commit(process);
	process->stale = true;
	fake_emit_clear(context.emit);
	struct process *child = process_fork(process, PID + 1, 50);
	ck_assert_ptr_nonnull(child);
	ck_assert(child->stale);
	ck_assert_str_eq(child->name, "app");
	process_end(child, 60); /* never committed: its modules are nobody's */
	assert_lines("process 5000001 app (/bin/app) 50-60\n");
	process_commit(child);
	assert_lines("load 5000001 400000-500000 /bin/app at 50 main first\n");
	process_destroy(child);
}
END_TEST

static void assert_found(uint64_t address, uint32_t image)
{
	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		uint32_t tag = UW_TAG_NONE;
		uint64_t rva;
		uw_space_find(process_space(process, is_32bit), address, &tag, &rva);
		ck_assert_uint_eq(tag, image);
	}
}

/* One for each width of code, made when it is first used, and kept in step from then on. */
/* Whose it is, while it lives; of those gone before, their parents' user. */
START_TEST(owner)
{
	struct process *parent = process_create(&context, (uint32_t)getpid(), "app", 0);
	ck_assert_uint_eq(parent->owner, geteuid());
	ck_assert_uint_eq(process->owner, ASKER_NO_OWNER);
	struct process *child = process_fork(parent, PID + 1, 50);
	ck_assert_uint_eq(child->owner, geteuid());
	process_exec(child, "gone too", 60);
	ck_assert_uint_eq(child->owner, geteuid());
	process_destroy(child);
	parent->owner = 1234;
	process_exec(parent, "again", 60);
	ck_assert_uint_eq(parent->owner, geteuid());
	process_destroy(parent);
}
END_TEST

START_TEST(address_space)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	ck_assert_ptr_null(process->spaces[0]);
	assert_found(0x400000, 1);
	ck_assert_ptr_nonnull(process->spaces[0]);
	ck_assert_ptr_nonnull(process->spaces[1]);
	ck_assert_ptr_ne(process->spaces[0], process->spaces[1]);
	map(0x480000, 0x580000, "/lib/a.so", 11);
	assert_found(0x47ffff, 1);
	assert_found(0x480000, 2);
	assert_found(0x580000, UW_TAG_NONE);
	process_exec(process, "prog", 20);
	assert_found(0x400000, UW_TAG_NONE);
	map(0x400000, 0x500000, "/bin/prog", 21);
	assert_found(0x400000, 3);
}
END_TEST

START_TEST(hostile_maps)
{
	struct record_mmap record = {.start = 0x400000, .path = "/empty"};
	ck_assert_int_eq(process_map(process, &record, 10), 0);
	record.length = UINT64_MAX - 0x400000 + 1; /* ends at 0 */
	ck_assert_int_eq(process_map(process, &record, 10), 0);
	record.length = UINT64_MAX;
	ck_assert_int_eq(process_map(process, &record, 10), 0);
	process_space(process, false);
	process_commit(process);
	assert_lines("");
}
END_TEST

START_TEST(long_name)
{
	char name[500];
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	process_rename(process, name);
	ck_assert_uint_eq(strlen(process->name), PROCESS_NAME_MAX - 1);
}
END_TEST

START_TEST(maps_of_a_dead_process)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	process->stale = true;
	ck_assert_int_eq(process_read_maps(process, 20), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(!process->stale); /* there is nothing more to be learned */
	process_commit(process);
	assert_lines("load 5000000 400000-500000 /bin/app at 10 main first\n");
}
END_TEST

START_TEST(maps_of_this_process)
{
	char exe[4096] = "";
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	process_destroy(process);
	process = process_create(&context, (uint32_t)getpid(), "self", PROFILE_TIME_BEFORE);
	ck_assert_ptr_nonnull(process);
	ck_assert_int_eq(process_read_maps(process, PROFILE_TIME_BEFORE), 0);
	assert_lines("");
	size_t count = process->mappings.count;
	uint64_t version = process->map_version;
	ck_assert_uint_gt(count, 2);
	ck_assert_int_eq(process_read_maps(process, 20), 0);
	ck_assert_uint_eq(process->mappings.count, count);
	ck_assert_uint_eq(process->map_version, version); /* what is known of stacks holds */
	ck_assert_uint_eq(mapping_list_find(&process->mappings, 0)->load_ns, PROFILE_TIME_BEFORE);
	struct ranges_place place = {0};
	for (const struct mapping *mapping; (mapping = ranges_next(&process->mappings, &place));)
		ck_assert_int_eq(mapping->is_main,
				 strcmp(image_path(context.images, mapping->image), exe) == 0);
	ck_assert_str_eq(image_path(context.images, process->main_image), exe);
}
END_TEST

/* Its own code is nowhere in the maps: then it is not what is first there. */
START_TEST(program_is_not_in_the_maps)
{
	is_elsewhere = true;
	process_destroy(process);
	process = process_create(&context, (uint32_t)getpid(), "self", 5);
	ck_assert_ptr_nonnull(process);
	map(0x1000, 0x2000, "/bin/first", 10);
	ck_assert_str_eq(image_path(context.images, process->main_image), "/bin/first");
	ck_assert_int_eq(process_read_maps(process, 20), 0);
	ck_assert_uint_gt(process->mappings.count, 2);
	ck_assert_uint_eq(process->main_image, 0);
	struct ranges_place place = {0};
	for (const struct mapping *mapping; (mapping = ranges_next(&process->mappings, &place));)
		ck_assert(!mapping->is_main);
}
END_TEST

/* What was lost before the maps were read, they show; unless an older record then put something
 * else in its place. */
START_TEST(lost_before_the_maps_were_read)
{
	process_destroy(process);
	process = process_create(&context, (uint32_t)getpid(), "self", PROFILE_TIME_BEFORE);
	ck_assert_ptr_nonnull(process);
	process_lose(process, 0);
	ck_assert(process->stale); /* never read */
	ck_assert_int_eq(process_read_maps(process, 10), 0);
	process_lose(process, 20);
	ck_assert(!process->stale);
	map(0x1000, 0x2000, "/bin/new", 12); /* where nothing was */
	process_lose(process, 20);
	ck_assert(!process->stale);
	process_lose(process, clock_now());
	ck_assert(process->stale);
	ck_assert_int_eq(process_read_maps(process, 30), 0);
	map(0x1000, 0x2000, "/bin/old", 15);
	process_lose(process, 20);
	ck_assert(process->stale);
	ck_assert_int_eq(process_read_maps(process, 40), 0);
	process_exec(process, "self", 50);
	process_lose(process, 60);
	ck_assert(process->stale); /* another program's */
}
END_TEST

/* However often a compiler maps its code: who it belongs to is looked up once in a program's life.
 */
START_TEST(anonymous_code_is_looked_up_once)
{
	map(0x400000, 0x500000, "/bin/app", 10);
	for (uint64_t i = 0; i < 100; i++)
		map(0x600000 + i * 0x2000, 0x601000 + i * 0x2000, "//anon", 11 + i);
	ck_assert_uint_eq(fake_image_asked(context.images), 2);
	process_exec(process, "other", 200);
	map(0x600000, 0x601000, "//anon", 201);
	ck_assert_uint_eq(fake_image_asked(context.images), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process");
	TCase *tcase = tcase_create("process");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, anonymous_code_is_looked_up_once);
	tcase_add_test(tcase, empty);
	tcase_add_test(tcase, owner);
	tcase_add_test(tcase, nothing_is_written_before_the_commit);
	tcase_add_test(tcase, program_is_what_is_mapped_first);
	tcase_add_test(tcase, program_after_the_vdso);
	tcase_add_test(tcase, exec_of_what_was_written);
	tcase_add_test(tcase, exec_of_what_was_not_written);
	tcase_add_test(tcase, forked);
	tcase_add_test(tcase, address_space);
	tcase_add_test(tcase, hostile_maps);
	tcase_add_test(tcase, long_name);
	tcase_add_test(tcase, maps_of_a_dead_process);
	tcase_add_test(tcase, maps_of_this_process);
	tcase_add_test(tcase, program_is_not_in_the_maps);
	tcase_add_test(tcase, lost_before_the_maps_were_read);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
