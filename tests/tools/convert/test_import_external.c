/* Files of external data that are named in one call, and folders that finalization looks into. */
#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/cli/output.h"
#include "tools/convert/import_external.h"
#include "tools/terminal/diagnose.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct build_sample samples[] = {{.stack = "app:main", .count = 1, .cpu_ms = 10}};
static const struct build_result result = {.samples = samples, .count = 1};

static char own[64];
static char other[64];

static void set_up(void)
{
	build_set_up();
	snprintf(own, sizeof(own), "%s/r0", build_folder);
	snprintf(other, sizeof(other), "%s/other", build_folder);
	ck_assert_int_eq(mkdir(own, 0700), 0);
	ck_assert_int_eq(mkdir(other, 0700), 0);
	strcat(strcpy(build_path, own), "/r0.tb5");
	build_result_write(build_path, &result);
}

static char *write_file(const char *folder, const char *name)
{
	char *path;
	ck_assert_int_ge(asprintf(&path, "%s/%s", folder, name), 0);
	FILE *file = fopen(path, "w");
	fprintf(file, "name,start_tsc.QPC,end_tsc\nof %s,1,2\n", folder);
	fclose(file);
	return path;
}

static void tear_down(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'/*", build_folder);
	ck_assert_int_eq(system(command), 0);
	build_tear_down();
}

static uint32_t count_sources(void)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), VT_SUCCESS);
	uint32_t count = profile_reader_source_count(reader);
	profile_reader_close(reader);
	return count;
}

/* One would replace the other, and be lost. */
START_TEST(one_name)
{
	char *names[] = {write_file(own, "x-hostname-box.csv"), write_file(own, "y.csv"),
			 write_file(other, "x-hostname-box.csv")};
	ck_assert_int_eq(import_external_files(build_path, names, 3), EXIT_USAGE);
	ck_assert_uint_eq(count_sources(), 0);
	ck_assert_int_eq(import_external_files(build_path, names, 2), 0);
	ck_assert_uint_eq(count_sources(), 2);
	for (int i = 0; i < 3; i++)
		free(names[i]);
}
END_TEST

/* Whatever the folder is called. */
START_TEST(own_folder)
{
	char text[160];
	ck_assert(import_external_looks_into(own, build_path));
	snprintf(text, sizeof(text), "%s/../other/../r0/.", own);
	ck_assert(import_external_looks_into(text, build_path));
	snprintf(text, sizeof(text), "%s/link", other);
	ck_assert_int_eq(symlink(own, text), 0);
	ck_assert(import_external_looks_into(text, build_path));
	/* Another result's, too. */
	ck_assert(import_external_looks_into(own, "/nowhere/r1.tb5"));
	ck_assert(!import_external_looks_into(other, build_path));
	ck_assert(!import_external_looks_into(build_folder, build_path));
	snprintf(text, sizeof(text), "%s/csv", own);
	ck_assert(!import_external_looks_into(text, build_path));
	ck_assert_int_eq(mkdir(text, 0700), 0);
	ck_assert(!import_external_looks_into(text, build_path));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("import external");
	TCase *cases = tcase_create("all");
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, one_name);
	tcase_add_test(cases, own_folder);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
