/* The command line of tbreport, and the result that it names. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/cli/locate.h"
#include "tools/cli/near.h"
#include "tools/report/options.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void touch(const char *directory, const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
}

static void set_time(const char *name, time_t seconds)
{
	struct timeval times[2] = {{seconds, 0}, {seconds, 0}};
	ck_assert_int_eq(utimes(name, times), 0);
}

static void expect_located(const char *argument, const char *expected)
{
	char *path = NULL;
	enum locate_status status = locate_result(argument, &path);
	ck_assert_int_eq(status, LOCATE_FOUND);
	ck_assert_str_eq(path, expected);
	free(path);
}

static enum locate_status not_located(const char *argument)
{
	char *path = NULL;
	enum locate_status status = locate_result(argument, &path);
	ck_assert_int_ne(status, LOCATE_FOUND);
	ck_assert_ptr_null(path);
	return status;
}

START_TEST(test_locate)
{
	char directory[32];
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(not_located(NULL), LOCATE_NO_RESULT);
	ck_assert_int_eq(not_located("r000hs"), LOCATE_MISSING);
	mkdir("r000hs", 0700);
	ck_assert_int_eq(not_located(NULL), LOCATE_NO_RESULT);
	ck_assert_int_eq(not_located("r000hs"), LOCATE_NO_TB5);
	mkdir("closed", 0);
	/* root may look everywhere */
	ck_assert_int_eq(not_located("closed"), geteuid() == 0 ? LOCATE_NO_TB5 : LOCATE_DENIED);
	rmdir("closed");
	touch("r000hs", "r000hs.tb5");
	expect_located(NULL, "r000hs/r000hs.tb5");
	expect_located("r000hs", "r000hs/r000hs.tb5");
	expect_located("r000hs/", "r000hs/r000hs.tb5");
	expect_located("r000hs/r000hs.tb5", "r000hs/r000hs.tb5");
	/* the time counts, not the number, and that not the order of names */
	mkdir("r999hs", 0700);
	touch("r999hs", "r999hs.tb5");
	mkdir("r1000cc", 0700);
	touch("r1000cc", "other.tb5");
	set_time("r000hs", 3000);
	set_time("r999hs", 2000);
	set_time("r1000cc", 2000);
	expect_located(NULL, "r000hs/r000hs.tb5");
	set_time("r000hs", 1000);
	expect_located(NULL, "r1000cc/other.tb5");
	touch("r1000cc", "another.tb5");
	ck_assert_int_eq(not_located("r1000cc"), LOCATE_AMBIGUOUS);
	touch("r1000cc", "r1000cc.tb5");
	set_time("r1000cc", 2000);
	expect_located("r1000cc", "r1000cc/r1000cc.tb5");
	/* names that are no result's */
	static const char *const others[] = {"r9999", "r9999hsxx", "r99hs", "x9999hs", "r9999HS"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		mkdir(others[i], 0700);
		touch(others[i], "a.tb5");
	}
	touch(".", "r2000hs");
	expect_located(NULL, "r1000cc/r1000cc.tb5");
	ck_assert_int_eq(chdir("r000hs"), 0);
	expect_located(".", "./r000hs.tb5");
	ck_assert_int_eq(chdir("/"), 0);
	build_directory_remove(directory);
}
END_TEST

/* As an ordinary user, whoever runs the tests. exit: the sanitizers look for leaks. */
static void locate_unreadable(void)
{
	char *path = NULL;
	if (geteuid() == 0 &&
	    (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
		exit(2);
	prctl(PR_SET_DUMPABLE, 1);
	exit(locate_result("r000hs", &path) != LOCATE_DENIED || path);
}

START_TEST(test_locate_unreadable)
{
	char directory[32];
	int status;
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(mkdir("r000hs", 0755), 0);
	touch("r000hs", "r000hs.tb5");
	ck_assert_int_eq(chmod("r000hs/r000hs.tb5", 0), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		locate_unreadable();
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	build_directory_remove(directory);
}
END_TEST

/* Of equal numbers the one changed last. */
START_TEST(test_locate_equal_numbers)
{
	char directory[32];
	build_directory(directory);
	ck_assert_int_eq(chdir(directory), 0);
	static const char *const names[] = {"r005cc", "r005hs", "r005lw"};
	for (int i = 0; i < 3; i++) {
		mkdir(names[i], 0700);
		touch(names[i], "a.tb5");
		set_time(names[i], i == 1 ? 2000 : 1000);
	}
	expect_located(NULL, "r005hs/a.tb5");
	ck_assert_int_eq(chdir("/"), 0);
	build_directory_remove(directory);
}
END_TEST

static const char *const names[] = {"summary",   "hotspots", "top-down",
				    "bottom-up", "quality",  NULL};

static enum report_options_status parse(struct report_options *options, char **problem,
					const char *arguments)
{
	static char text[256];
	char *argv[32] = {(char *)(uintptr_t) "tbreport"};
	char *rest = NULL;
	int argc = 1;
	snprintf(text, sizeof(text), "%s", arguments);
	for (char *at = strtok_r(text, " ", &rest); at; at = strtok_r(NULL, " ", &rest))
		argv[argc++] = at;
	return report_options_parse(argc, argv, names, options, problem);
}

START_TEST(test_options)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, ""), REPORT_OPTIONS_RUN);
	ck_assert_ptr_null(options.report);
	ck_assert_ptr_null(options.result);
	ck_assert_int_eq(options.format->id, FORMAT_TEXT);
	ck_assert_int_eq(options.mode, CHAIN_USER_PLUS_ONE);
	ck_assert(options.with_inlined);
	ck_assert_int_eq(parse(&options, &problem, "r001hs"), REPORT_OPTIONS_RUN);
	ck_assert_ptr_null(options.report);
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_int_eq(parse(&options, &problem,
			       "--format json hotspots --limit 7 r001hs -o out --inline off "
			       "--filter pid=1 --filter module=a --call-stack-mode all "
			       "--width 132 --min-percent 0.25"),
			 REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_str_eq(options.output, "out");
	ck_assert_uint_eq(options.limit, 7);
	ck_assert_uint_eq(options.width, 132);
	ck_assert(options.has_least_share);
	ck_assert_uint_eq(options.least_share, 2500);
	ck_assert_uint_eq(options.filter.count, 2);
	ck_assert(!options.with_inlined);
	report_options_finish(&options);
	ck_assert_int_eq(parse(&options, &problem, "--help"), REPORT_OPTIONS_HELP);
	ck_assert_int_eq(parse(&options, &problem, "--version"), REPORT_OPTIONS_VERSION);
}
END_TEST

/* A report and a result, in either order. */
START_TEST(test_argument_order)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, "r001hs hotspots"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	ck_assert_int_eq(parse(&options, &problem, "hotspots r001hs"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "hotspots");
	ck_assert_str_eq(options.result, "r001hs");
	/* a result that is named like a report */
	ck_assert_int_eq(parse(&options, &problem, "summary hotspots"), REPORT_OPTIONS_RUN);
	ck_assert_str_eq(options.report, "summary");
	ck_assert_str_eq(options.result, "hotspots");
	ck_assert_int_eq(parse(&options, &problem, "r001hs r002hs hotspots"), REPORT_OPTIONS_BAD);
	free(problem);
}
END_TEST

START_TEST(test_bad_options)
{
	static const char *const bad[] = {
		"--nonsense",        "-x",
		"--format xml",      "--format",
		"--limit 0",         "--limit -1",
		"--limit x",         "--limit 99999999999",
		"--filter pid",      "--filter a=b",
		"--inline maybe",    "--call-stack-mode some",
		"--group-by colour", "nonsense r001hs",
		"hotspots a b",      "summary --group-by module",
		"--group-by module", "--width 0",
		"--width wide",      "--min-percent -1",
		"--min-percent 101", "--min-percent nan",
		"--min-percent 1x",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct report_options options;
		char *problem = NULL;
		ck_assert_msg(parse(&options, &problem, bad[i]) == REPORT_OPTIONS_BAD, "%s",
			      bad[i]);
		/* what failed: why; what to do */
		ck_assert_ptr_nonnull(strchr(problem, ';'));
		free(problem);
		report_options_finish(&options);
	}
}
END_TEST

/* Where it can leave no row out it is no option. */
START_TEST(test_least_share)
{
	static const char *const bad[] = {"--min-percent 1", "--min-percent 0 r001hs",
					  "summary --min-percent 1",
					  "quality r001hs --min-percent 1"};
	struct report_options options;
	char *problem;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(parse(&options, &problem, bad[i]), REPORT_OPTIONS_BAD);
		ck_assert_str_eq(problem, "--min-percent: summary and quality have rows of any "
					  "share; use --limit, or another report");
		free(problem);
	}
	ck_assert_int_eq(parse(&options, &problem, "top-down --min-percent 1"), REPORT_OPTIONS_RUN);
	ck_assert_int_eq(parse(&options, &problem, "hotspots --min-percent 1"), REPORT_OPTIONS_RUN);
}
END_TEST

static const struct {
	const char *arguments;
	const char *problem; /* NULL: none, it may be a result's name */
} doubts[] = {
	{"hotspotz", "hotspotz: neither a report nor a result; did you mean hotspots?"},
	{"hotsptos", "hotsptos: neither a report nor a result; did you mean hotspots?"},
	{"topdown", "topdown: neither a report nor a result; did you mean top-down?"},
	{"bot", "bot: neither a report nor a result; did you mean bottom-up?"},
	{"functions", "functions: neither a report nor a result; see tbreport --help"},
	{"to", "to: neither a report nor a result; see tbreport --help"},
	{"tup-diwnn", "tup-diwnn: neither a report nor a result; see tbreport --help"},
	{"a-name-with-more-letters-than-any-that-is-compared",
	 "a-name-with-more-letters-than-any-that-is-compared: neither a report nor a result; see "
	 "tbreport --help"},
	{"r001hs", NULL},
	{"old.tb5", NULL},
	{"results/hotspotz", NULL},
	{"hotspots hotspotz", NULL},
	{"", NULL},
};

START_TEST(test_doubts)
{
	struct report_options options;
	char *problem;
	ck_assert_int_eq(parse(&options, &problem, doubts[_i].arguments), REPORT_OPTIONS_RUN);
	problem = report_options_doubt(&options, names);
	if (doubts[_i].problem)
		ck_assert_str_eq(problem, doubts[_i].problem);
	else
		ck_assert_ptr_null(problem);
	free(problem);
	ck_assert_int_eq(parse(&options, &problem, "hotspotz r001hs"), REPORT_OPTIONS_BAD);
	ck_assert_str_eq(problem, "hotspotz: no such report; did you mean hotspots?");
	free(problem);
}
END_TEST

static const struct {
	const char *name;
	const char *advice;
} nears[] = {
	{"import", "see --help"}, /* export is another thing, not a slip */
	{"exprot", "did you mean export?"},
	{"xeport", "did you mean export?"},
	{"Compare_Numbers", "did you mean compare_numbers or std::compare_numbers<int>?"},
	{"numbers", "did you mean compare_numbers, std::compare_numbers<int> or sort_numbers?"},
	{"", "see --help"},
};

START_TEST(test_near)
{
	static const char *const all[] = {"export",
					  "compare_numbers",
					  "compare_numbers",
					  "std::compare_numbers<int>",
					  "sort_numbers",
					  "more_numbers",
					  NULL};
	char *advice = near_advise(nears[_i].name, all, "--help");
	ck_assert_str_eq(advice, nears[_i].advice);
	free(advice);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command line");
	TCase *tcase = tcase_create("tbreport");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_locate);
	tcase_add_test(tcase, test_locate_unreadable);
	tcase_add_test(tcase, test_locate_equal_numbers);
	tcase_add_test(tcase, test_options);
	tcase_add_test(tcase, test_argument_order);
	tcase_add_test(tcase, test_bad_options);
	tcase_add_test(tcase, test_least_share);
	tcase_add_loop_test(tcase, test_doubts, 0, (int)(sizeof(doubts) / sizeof(doubts[0])));
	tcase_add_loop_test(tcase, test_near, 0, (int)(sizeof(nears) / sizeof(nears[0])));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
