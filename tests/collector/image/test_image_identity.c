/* Images: what tells files apart, those with a build-id and those without, while many are open. */
#include "collector/image/image.h"
#include "collector/image/image_file.h"
#include "collector/machine/clock.h"
#include "collector/model/process.h"
#include "tests/collector/fake_emit.h"
#include "tests/collector/image_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_MAX = 64 };

/* The least that is a program, with room for a build-id. */
struct program {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[2];
	ElfW(Nhdr) note;
	char name[4];
	uint8_t id[ID_MAX];
};

static const char *path_of(unsigned number)
{
	static char path[64];
	snprintf(path, sizeof(path), "%s/program-%u", directory, number);
	return path;
}

static void read_own_header(ElfW(Ehdr) * header)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, header, sizeof(*header)), sizeof(*header));
	close(fd);
}

/* Writes a program of this machine with a build-id of so many bytes; 0: without. */
static void make_program(unsigned number, uint32_t id_size)
{
	struct program program = {.name = "GNU"};
	read_own_header(&program.header);
	program.header.e_phoff = offsetof(struct program, segments);
	program.header.e_phnum = id_size > 0 ? 2 : 1;
	program.header.e_shoff = 0;
	program.header.e_shnum = program.header.e_shstrndx = 0;
	program.segments[0] = (ElfW(
		Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(program)};
	program.segments[0].p_memsz = sizeof(program);
	program.segments[1] = (ElfW(Phdr)){.p_type = PT_NOTE,
					   .p_offset = offsetof(struct program, note),
					   .p_filesz = offsetof(struct program, id) -
						       offsetof(struct program, note) + id_size};
	program.note = (ElfW(Nhdr)){sizeof(program.name), id_size, NT_GNU_BUILD_ID};
	for (uint32_t i = 0; i < id_size; i++)
		program.id[i] = (uint8_t)(number + i);
	int fd = open(path_of(number), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &program, sizeof(program)), sizeof(program));
	close(fd);
}

static uint64_t inode_of(unsigned number)
{
	struct stat status;
	ck_assert_int_eq(stat(path_of(number), &status), 0);
	return status.st_ino;
}

static struct image_source source_of(unsigned number)
{
	return (struct image_source){.pid = NO_PROCESS,
				     .start = 0x400000,
				     .end = 0x401000,
				     .path = path_of(number),
				     .inode = inode_of(number),
				     .build_id = (const uint8_t *)""};
}

static uint32_t get(unsigned number)
{
	struct image_source source = source_of(number);
	return image_table_get(table, &source);
}

static const struct {
	uint32_t size;     /* of the build-id in the file */
	uint32_t expected; /* in the record */
} id_sizes[] = {{0, 0}, {8, 8}, {20, 20}, {21, 0}, {32, 0}, {64, 0}};

/* A longer build-id than a record holds is none that anybody else could name the file by. */
START_TEST(size_of_build_id)
{
	static const uint8_t none[IMAGE_BUILD_ID_MAX];
	uint32_t expected = id_sizes[_i].expected;
	make_program(1, id_sizes[_i].size);
	ck_assert_uint_eq(get(1), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	struct profile_image record = fake_emit_last_image(emit);
	ck_assert_uint_eq(record.flags, 0);
	ck_assert_uint_eq(record.build_id_size, expected);
	ck_assert_mem_eq(record.build_id + expected, none, sizeof(none) - expected);
	for (uint32_t i = 0; i < expected; i++)
		ck_assert_uint_eq(record.build_id[i], 1 + i);
}
END_TEST

/* Neither is its start. */
START_TEST(start_of_a_build_id)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	for (unsigned i = 0; i < sizeof(id); i++)
		id[i] = (uint8_t)(1 + i);
	make_program(1, id_sizes[_i].size);
	struct image_source source = source_of(1);
	source.build_id = id;
	source.build_id_size = sizeof(id);
	bool is_same = id_sizes[_i].expected == sizeof(id);
	ck_assert_uint_eq(image_table_get(table, &source), 1);
	ck_assert_int_eq(image_module(table, 1) != NULL, is_same);

	struct uw_module *module;
	int fd = open(path_of(1), O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	ck_assert_int_eq(image_file_has_build_id(module, &source), is_same);
	uw_module_unref(module);
}
END_TEST

/* Files that only their inode names stay open: it is no other file's then. */
START_TEST(inode_stays)
{
	enum { FILES = 2 * IMAGE_OPEN_MAX };
	uint32_t size = _i == 0 ? 0 : 32;
	for (unsigned i = 1; i <= FILES; i++) {
		make_program(i, size);
		ck_assert_uint_eq(get(i), i);
	}
	for (unsigned i = 1; i <= FILES; i++)
		ck_assert_ptr_nonnull(image_module(table, i));
	uint64_t inode = inode_of(1);
	ck_assert_int_eq(unlink(path_of(1)), 0);
	make_program(1, size);
	ck_assert_uint_ne(inode_of(1), inode);
	ck_assert_uint_eq(get(1), FILES + 1);
	ck_assert_ptr_nonnull(image_module(table, FILES + 1));
}
END_TEST

/* They take no place of those that may be closed. */
START_TEST(inode_takes_no_place)
{
	unsigned i = 1;
	for (; i <= IMAGE_OPEN_MAX; i++) {
		make_program(i, 0);
		get(i);
	}
	for (; i <= 2 * IMAGE_OPEN_MAX; i++) {
		make_program(i, 20);
		get(i);
	}
	for (i = 1; i <= 2 * IMAGE_OPEN_MAX; i++)
		ck_assert_ptr_nonnull(image_module(table, i));
}
END_TEST

/* A file that was closed and is not there any more, or is another: told once. */
START_TEST(file_lost)
{
	for (unsigned i = 1; i <= IMAGE_OPEN_MAX + 2; i++) {
		make_program(i, 20);
		ck_assert_uint_eq(get(i), i);
	}
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_ptr_null(image_module(table, 2));
	ck_assert_int_eq(unlink(path_of(1)), 0);
	ck_assert_int_eq(unlink(path_of(2)), 0);
	make_program(2, 19);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS), 1);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	ck_assert_uint_eq(image_fixture_open_through(2, NO_PROCESS), 2);
	ck_assert_ptr_null(image_module(table, 2));
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	make_program(1, 20);
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	ck_assert_uint_eq(fake_emit_count(emit, "image "), IMAGE_OPEN_MAX + 2);
}
END_TEST

/* Loop: nothing lies there any more, or another file does. Of a process that is there, its program
 * is another file in any case. */
START_TEST(gone_or_replaced)
{
	make_program(1, 0);
	for (unsigned i = 0; i < 2; i++) {
		struct image_source source = source_of(1);
		source.pid = i == 0 ? NO_PROCESS : (uint32_t)getpid();
		source.inode = UINT64_MAX - i;
		if (_i == 0)
			source.path = path_of(2);
		ck_assert_uint_eq(image_table_get(table, &source), 1 + i);
		ck_assert_uint_eq(fake_emit_last_image(emit).flags,
				  PROFILE_IMAGE_NOT_OPEN | (_i == 0 ? PROFILE_IMAGE_GONE : 0));
	}
}
END_TEST

/* Waits until files that are changed get another time than before. */
static uint64_t pass_a_tick(void)
{
	usleep(20000);
	return clock_now();
}

/* Writes it once more, in place. */
static void overwrite(unsigned number)
{
	uint8_t bytes[sizeof(struct program)];
	pass_a_tick();
	int fd = open(path_of(number), O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	ck_assert_int_eq(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	close(fd);
}

static uint32_t get_mapped_at(unsigned number, uint64_t time_ns)
{
	struct image_source source = source_of(number);
	source.mapped_ns = time_ns;
	return image_table_get(table, &source);
}

/* Loop: without a build-id, and with one. What is in the same file later is another image, also
 * where many are open meanwhile and the table has grown. */
START_TEST(file_overwritten)
{
	uint32_t size = _i == 0 ? 0 : 20;
	make_program(1, size);
	ck_assert_uint_eq(get(1), 1);
	uint64_t inode = inode_of(1);
	overwrite(1);
	ck_assert_uint_eq(inode_of(1), inode);
	ck_assert(uw_module_has_changed(image_module(table, 1)));
	ck_assert_uint_eq(get(1), 2);
	ck_assert_uint_eq(get(1), 2);
	ck_assert(!uw_module_has_changed(image_module(table, 2)));
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	for (unsigned i = 3; i <= 2 * IMAGE_OPEN_MAX; i++) {
		make_program(i, 20);
		ck_assert_uint_eq(get(i), i);
	}
	ck_assert_uint_eq(get(1), 2);
	/* The old one's file is no longer held open, and not opened again. */
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS), 1);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_uint_eq(image_fixture_open_through(2, NO_PROCESS), 2);
	ck_assert_ptr_nonnull(image_module(table, 2));
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
}
END_TEST

/* Mapped before it was last looked at: that it was changed by now says nothing of it, and is not
 * looked for. */
START_TEST(overwritten_after_it_was_mapped)
{
	make_program(1, _i == 0 ? 0 : 20);
	uint64_t first = pass_a_tick();
	uint64_t second = pass_a_tick();
	ck_assert_uint_eq(get_mapped_at(1, first), 1);
	overwrite(1);
	ck_assert_uint_eq(get_mapped_at(1, second), 1);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 0);
	ck_assert_uint_eq(get_mapped_at(1, pass_a_tick()), 2);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
}
END_TEST

/* It is looked at when it was changed already: it is not known what was mapped. */
START_TEST(changed_since_it_was_mapped)
{
	make_program(1, _i == 0 ? 0 : 20);
	uint64_t before = pass_a_tick();
	overwrite(1);
	uint64_t after = pass_a_tick();
	ck_assert_uint_eq(get_mapped_at(1, before), 1);
	ck_assert_ptr_null(image_module(table, 1));
	ck_assert_uint_eq(fake_emit_last_image(emit).flags,
			  PROFILE_IMAGE_NOT_OPEN | PROFILE_IMAGE_CHANGED);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
	ck_assert_uint_eq(get_mapped_at(1, before), 1);
	ck_assert_uint_eq(get_mapped_at(1, 0), 1);
	ck_assert_uint_eq(image_fixture_open_through(1, NO_PROCESS), 1);
	ck_assert_uint_eq(get_mapped_at(1, after), 2);
	ck_assert_ptr_nonnull(image_module(table, 2));
	ck_assert_uint_eq(fake_emit_last_image(emit).flags, 0);
	ck_assert_uint_eq(get_mapped_at(1, after), 2);
	ck_assert_uint_eq(fake_emit_count(emit, "note"), 1);
}
END_TEST

/* Loop: the file was changed when its mapping was seen, or lay elsewhere then and is changed now. A
 * child that comes later has mapped it when its parent did. */
START_TEST(changed_before_a_fork)
{
	char elsewhere[80];
	struct process_context context = {.emit = emit, .images = table};
	struct process *parent = process_create(&context, NO_PROCESS, "app", 1);
	ck_assert_ptr_nonnull(parent);
	make_program(1, 0);
	struct record_mmap map = {.start = 0x400000,
				  .length = 0x1000,
				  .path = path_of(1),
				  .inode = inode_of(1)};
	uint64_t mapped = pass_a_tick();
	snprintf(elsewhere, sizeof(elsewhere), "%s-elsewhere", path_of(1));
	if (_i == 0)
		overwrite(1);
	else
		ck_assert_int_eq(rename(path_of(1), elsewhere), 0);
	ck_assert_int_eq(process_map(parent, &map, mapped), 0);
	if (_i == 1) {
		pass_a_tick();
		ck_assert_int_eq(rename(elsewhere, path_of(1)), 0);
		overwrite(1);
	}
	struct process *child = process_fork(parent, NO_PROCESS + 1, pass_a_tick());
	ck_assert_ptr_nonnull(child);
	process_commit(child);
	ck_assert_uint_eq(mapping_list_find(&child->mappings, 0)->image, 1);
	ck_assert_ptr_null(image_module(table, 1));
	process_destroy(child);
	process_destroy(parent);
}
END_TEST

/* A date of modification says nothing that the time of change does not. */
START_TEST(date_is_set)
{
	struct timespec dates[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = _i == 0 ? 1 : 1ll << 33}};
	make_program(1, 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(1), dates, 0), 0);
	ck_assert_uint_eq(get_mapped_at(1, pass_a_tick()), 1);
	ck_assert_ptr_nonnull(image_module(table, 1));
	uint64_t before = clock_now();
	pass_a_tick();
	make_program(2, 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path_of(2), dates, 0), 0);
	ck_assert_uint_eq(get_mapped_at(2, before), 2);
	ck_assert_ptr_null(image_module(table, 2));
}
END_TEST

int main(void)
{
	enum { ID_SIZES = sizeof(id_sizes) / sizeof(id_sizes[0]) };
	Suite *suite = suite_create("image_identity");
	TCase *tcase = tcase_create("image_identity");

	tcase_add_checked_fixture(tcase, image_fixture_setup, image_fixture_teardown);
	tcase_add_loop_test(tcase, size_of_build_id, 0, ID_SIZES);
	tcase_add_loop_test(tcase, start_of_a_build_id, 0, ID_SIZES);
	tcase_add_loop_test(tcase, inode_stays, 0, 2);
	tcase_add_test(tcase, inode_takes_no_place);
	tcase_add_test(tcase, file_lost);
	tcase_add_loop_test(tcase, gone_or_replaced, 0, 2);
	tcase_add_loop_test(tcase, file_overwritten, 0, 2);
	tcase_add_loop_test(tcase, overwritten_after_it_was_mapped, 0, 2);
	tcase_add_loop_test(tcase, changed_since_it_was_mapped, 0, 2);
	tcase_add_loop_test(tcase, changed_before_a_fork, 0, 2);
	tcase_add_loop_test(tcase, date_is_set, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
