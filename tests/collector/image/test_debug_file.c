/* Where separate debug files are looked for, and which are taken. The module is a fake: it knows
 * which file belongs to it by its first byte. */
#include "collector/image/debug_file.h"
#include "tests/collector/folder_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t id[] = {0xab, 0x01, 0x23};

static struct uw_module {
	bool lacks;
	const char *link;
	unsigned asked; /* files that were handed over */
} the_module;

bool uw_module_lacks_info(struct uw_module *module)
{
	return module->lacks;
}

size_t uw_module_debug_link(struct uw_module *module, char *name, size_t size)
{
	ck_assert_uint_lt(strlen(module->link), size);
	return strlen(strcpy(name, module->link));
}

size_t uw_module_build_id(const struct uw_module *module, uint8_t *bytes, size_t size)
{
	ck_assert_ptr_eq(module, &the_module);
	ck_assert_uint_ge(size, sizeof(id));
	memcpy(bytes, id, sizeof(id));
	return sizeof(id);
}

int uw_module_add_debug(struct uw_module *module, int fd)
{
	char first = 0;
	module->asked++;
	ck_assert_int_eq(read(fd, &first, 1), 1);
	if (first != 'y')
		return -1;
	module->lacks = false;
	return 0;
}

static const char *place(const char *path, const char *link, size_t id_size, unsigned i)
{
	static char found[128];
	struct debug_file_names names = {path, id, id_size, link};
	return debug_file_place(&names, i, found, sizeof(found)) ? found : NULL;
}

START_TEST(places)
{
	const char *program = "/opt/app/bin/app", *link = "app.debug";
	ck_assert_str_eq(place(program, link, 3, 0), "/usr/lib/debug/.build-id/ab/0123.debug");
	ck_assert_str_eq(place(program, link, 3, 1), "/opt/app/bin/app.debug");
	ck_assert_str_eq(place(program, link, 3, 2), "/opt/app/bin/.debug/app.debug");
	ck_assert_str_eq(place(program, link, 3, 3), "/usr/lib/debug/opt/app/bin/app.debug");
	ck_assert_ptr_null(place(program, link, 3, DEBUG_FILE_PLACES));
	ck_assert_str_eq(place("/app", link, 0, 1), "/app.debug");
}
END_TEST

START_TEST(places_without_a_name)
{
	ck_assert_ptr_null(place("/bin/app", "x", 0, 0));
	ck_assert_ptr_null(place("/bin/app", "x", 1, 0));
	ck_assert_ptr_null(place("/bin/app", "x", 65, 0));
	for (unsigned i = 1; i < DEBUG_FILE_PLACES; i++) {
		ck_assert_ptr_null(place("/bin/app", "", 3, i));
		ck_assert_ptr_null(place("app", "x", 3, i));
		ck_assert_ptr_null(place("", "x", 3, i));
	}
}
END_TEST

START_TEST(places_that_do_not_fit)
{
	char path[sizeof("/bin/x")];
	struct debug_file_names names = {"/bin/app", id, sizeof(id), "x"};
	ck_assert(debug_file_place(&names, 1, path, sizeof(path)));
	ck_assert(!debug_file_place(&names, 1, path, sizeof(path) - 1));
	ck_assert(!debug_file_place(&names, 0, path, sizeof(path)));
}
END_TEST

static const char *folder;

static void write_file(const char *name, const char *text)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void setup(void)
{
	char path[128];
	folder = folder_fixture_make();
	snprintf(path, sizeof(path), "%s/.debug", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	the_module = (struct uw_module){.lacks = true, .link = "a"};
}

static void add(uint32_t owner)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/program", folder);
	debug_file_add(&the_module, path, owner);
}

START_TEST(first_that_fits)
{
	write_file("a", "no");
	write_file(".debug/a", "yes");
	add(getuid());
	ck_assert(!the_module.lacks);
	ck_assert_uint_eq(the_module.asked, 2);
}
END_TEST

START_TEST(nothing_is_looked_for_where_nothing_is_missing)
{
	the_module.lacks = false;
	write_file("a", "yes");
	add(getuid());
	ck_assert_uint_eq(the_module.asked, 0);
}
END_TEST

/* A fifo would hold us up, a folder is no file. */
START_TEST(no_regular_files)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/a", folder);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/.debug/a", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	add(getuid());
	ck_assert_uint_eq(the_module.asked, 0);
}
END_TEST

START_TEST(files_of_others)
{
	char path[128];
	if (getuid() != 0) {
		puts("skipped - debug files of others: only root can give files away");
		return;
	}
	write_file("a", "yes");
	snprintf(path, sizeof(path), "%s/a", folder);
	ck_assert_int_eq(chown(path, 1234, 1234), 0);
	add(0);
	ck_assert_uint_eq(the_module.asked, 0);
	add(1234);
	ck_assert_uint_eq(the_module.asked, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug_file");
	TCase *tcase = tcase_create("debug_file");
	tcase_add_checked_fixture(tcase, setup, folder_fixture_remove);
	tcase_add_test(tcase, places);
	tcase_add_test(tcase, places_without_a_name);
	tcase_add_test(tcase, places_that_do_not_fit);
	tcase_add_test(tcase, first_that_fits);
	tcase_add_test(tcase, nothing_is_looked_for_where_nothing_is_missing);
	tcase_add_test(tcase, no_regular_files);
	tcase_add_test(tcase, files_of_others);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
