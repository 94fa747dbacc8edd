/* Custom analyses -> options, with the command line on top of them. */
#include "collector/options/options.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGS_MAX = 8 };

static char folder[] = "/tmp/test_options_file.XXXXXX";
static struct options options;
static struct failure failure;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
	unlink("my.analysis");
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* Parses tbcollect -c my.analysis with those options, split at blanks, for a program. */
static int parse(const char *text, const char *more)
{
	static char buffer[256];
	static char first[] = "tbcollect";
	static char option[] = "-c";
	static char path[] = "my.analysis";
	char *args[ARGS_MAX] = {first, option, path};
	char *rest = NULL;
	int count = 3;
	FILE *stream = fopen("my.analysis", "w");
	ck_assert_ptr_nonnull(stream);
	fputs(text, stream);
	ck_assert_int_eq(fclose(stream), 0);
	snprintf(buffer, sizeof(buffer), "%s prog", more);
	for (char *arg = strtok_r(buffer, " ", &rest); arg; arg = strtok_r(NULL, " ", &rest)) {
		ck_assert_int_lt(count, ARGS_MAX - 1);
		args[count++] = arg;
	}
	failure = (struct failure){0};
	return options_parse(&options, count, args, &failure);
}

static const char *describe(void)
{
	static char text[256];
	snprintf(text, sizeof(text), "%s %s %d %s%s%s%s%s%s%lluus %lluus", options.analysis->name,
		 options.analysis->suffix, (int)options.sampling,
		 options.switches ? "switches " : "", options.analysis->waits ? "waits " : "",
		 options.unwind == OPTIONS_UNWIND_NONE ? "stackless " : "",
		 options.without_io_waits ? "no-io " : "", options.all_wakers ? "wakers " : "",
		 options.wait_source == OPTIONS_WAITS_OBSERVER ? "observed " : "",
		 (unsigned long long)options.interval_ns / 1000,
		 (unsigned long long)options.wait_threshold_ns / 1000);
	for (uint32_t i = 0; i < options.event_count; i++) {
		const struct event_choice *event = &options.events[i];
		size_t used = strlen(text);
		snprintf(text + used, sizeof(text) - used, " %s:%s %llu", event->name,
			 event->period > 0 ? "period" : "freq",
			 (unsigned long long)(event->period + event->frequency));
	}
	return text;
}

static const struct {
	const char *text;
	const char *more; /* options */
	const char *result;
} good[] = {
	{"", "", "my cu 0 10000us 0us"},
	{"sampling = on", "", "my cu 0 10000us 0us"},
	{"sampling = random\ninterval = 1ms", "", "my cu 1 1000us 0us"},
	{"sampling = fixed\ninterval = 2", "", "my cu 2 2000us 0us"},
	{"interval = 1ms", "-i 5ms", "my cu 0 5000us 0us"},
	{"switches = on", "", "my cu 0 switches 10000us 0us"},
	{"switches = on", "--switches off", "my cu 0 10000us 0us"},
	{"", "--switches on", "my cu 0 switches 10000us 0us"},
	{"base = concurrency", "", "my cu 0 switches 10000us 0us"},
	{"base = concurrency\nswitches = off", "", "my cu 0 10000us 0us"},
	{"waits = on", "", "my cu 0 switches waits 10000us 0us"},
	{"base = locks-and-waits\nwaits = off", "", "my cu 0 switches 10000us 0us"},
	{"base = locks-and-waits\nwait-threshold = 10us\nwait-source = observer\nio-waits = off",
	 "", "my cu 0 switches waits no-io observed 10000us 10us"},
	{"waits = on\nwait-threshold = 10us", "--wait-threshold 1ms",
	 "my cu 0 switches waits 10000us 1000us"},
	{"waits = on\nwaker-stacks = on", "", "my cu 0 switches waits wakers 10000us 0us"},
	{"waits = on\nwaker-stacks = on", "--waker-stacks sampled",
	 "my cu 0 switches waits 10000us 0us"},
	{"stacks = off", "", "my cu 0 stackless 10000us 0us"},
	{"stacks = off", "--unwind copy", "my cu 0 10000us 0us"},
	{"sampling = off\nwaits = on\nstacks = off", "",
	 "my cu 3 switches waits stackless 10000us 0us"},
	{"sampling = off\nswitches = on", "", "my cu 3 switches 10000us 0us"},
	{"event = page-faults\nevent = cs/period=1/", "",
	 "my cu 0 10000us 0us page-faults:freq 1000 cs:period 1"},
	{"sampling = off\nstacks = off\nevent = cycles/freq=50/u", "",
	 "my cu 3 stackless 10000us 0us cycles:freq 50"},
	{"sampling = off\nswitches = on", "--sampling fixed", "my cu 2 switches 10000us 0us"},
};

START_TEST(applied)
{
	ck_assert_msg(parse(good[_i].text, good[_i].more) == 0, "%s", failure.text);
	ck_assert_str_eq(describe(), good[_i].result);
}
END_TEST

static const struct {
	const char *text;
	const char *message; /* its start */
} bad[] = {
	{"sampling = often", "my.analysis:1: bad value 'often' of sampling: it is on, off, random "
			     "or fixed"},
	{"\ninterval = 1h", "my.analysis:2: bad interval '1h': "},
	{"base = memory", "my.analysis:1: unknown base 'memory': there is hotspots, concurrency, "},
	{"switches = yes", "my.analysis:1: bad value 'yes' of switches: it is on or off"},
	{"waits = on\nswitches = off", "my.analysis:2: switches = off, and waits are on: "},
	{"wait-threshold = 1ms", "my.analysis:1: wait-threshold = 1ms says nothing here: waits are "
				 "off; set waits = on"},
	{"io-waits = off", "my.analysis:1: io-waits = off says nothing here: waits are off"},
	{"waits = on\nwait-source = me", "my.analysis:2: unknown --wait-source 'me': "},
	{"waits = on\nwaker-stacks = off", "my.analysis:2: bad value 'off' of waker-stacks: it is "
					   "sampled or on"},
	{"waker-stacks = on\nwait-source = observer\nwaits = on",
	 "my.analysis:1: waker-stacks = on, and the observer sees no wakers: "},
	{"waits = on\nstacks = off\nwaker-stacks = on",
	 "my.analysis:3: waker-stacks = on, and stacks are off: "},
	{"sampling = off", "my.analysis:1: sampling = off, and nothing else is on: "},
	{"event = page-fault", "my.analysis:1: unknown event 'page-fault': "},
	{"event = page-faults/period=0/", "my.analysis:1: bad event 'page-faults/period=0/': "},
	{"event = cs\nevent = faults\nevent = cs/freq=10/",
	 "my.analysis:3: the event cs is given already"},
	{"sampling = off\nswitches = on\ninterval = 1ms",
	 "my.analysis:3: interval = 1ms says nothing here: sampling is off"},
	{"sampling = off\nswitches = on\nstacks = on",
	 "my.analysis:3: stacks = on says nothing here: sampling is off, and nothing else has "
	 "stacks"},
};

START_TEST(refused)
{
	ck_assert_int_eq(parse(bad[_i].text, ""), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT_USAGE);
	ck_assert_msg(strncmp(failure.text, bad[_i].message, strlen(bad[_i].message)) == 0, "%s",
		      failure.text);
}
END_TEST

START_TEST(waits_need_switches)
{
	ck_assert_int_eq(parse("waits = on", "--switches off"), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "my needs the threads' switches"));
}
END_TEST

START_TEST(named_after_the_file)
{
	char path[64];
	char first[] = "tbcollect";
	char option[] = "-c";
	char program[] = "prog";
	char *args[] = {first, option, path, program, NULL};
	ck_assert_int_eq(parse("", ""), 0);
	snprintf(path, sizeof(path), "%s/my.analysis", folder);
	ck_assert_int_eq(options_parse(&options, 4, args, &failure), 0);
	ck_assert_str_eq(options.analysis->name, "my");
	snprintf(path, sizeof(path), "./hotspots");
	ck_assert_int_eq(options_parse(&options, 4, args, &failure), -1);
	ck_assert_ptr_nonnull(
		strstr(failure.text, "cannot open the custom analysis ./hotspots: No such file"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options_file");
	TCase *tcase = tcase_create("options_file");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, applied, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tcase, refused, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tcase, waits_need_switches);
	tcase_add_test(tcase, named_after_the_file);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
