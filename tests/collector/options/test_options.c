/* Command lines -> struct, or what is wrong with them. */
#include "collector/options/options.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 32 };

static char buffer[4096];
static char *args[ARGS_MAX];
static struct options options;
static struct failure failure;

/* Splits at single blanks; '_' stands for an empty argument. */
static int parse(const char *command_line)
{
	int count = 0;
	char *rest = NULL;
	ck_assert_uint_lt(strlen(command_line), sizeof(buffer));
	strcpy(buffer, command_line);
	for (char *arg = strtok_r(buffer, " ", &rest); arg; arg = strtok_r(NULL, " ", &rest)) {
		ck_assert_int_lt(count, ARGS_MAX - 1);
		args[count++] = strcmp(arg, "_") == 0 ? arg + 1 : arg;
	}
	args[count] = NULL;
	failure = (struct failure){0};
	return options_parse(&options, count, args, &failure);
}

/* The options as text: what differs from the defaults, then the program or the pids. */
static const char *const unwind_names[] = {
	[OPTIONS_UNWIND_AUTO] = "",
	[OPTIONS_UNWIND_COPY] = "copy ",
	[OPTIONS_UNWIND_BPF] = "bpf ",
	[OPTIONS_UNWIND_NONE] = "leaf ",
};

static const char *const sampling_names[] = {
	[OPTIONS_SAMPLING_AUTO] = "",
	[OPTIONS_SAMPLING_RANDOM] = "random ",
	[OPTIONS_SAMPLING_FIXED] = "fixed ",
	[OPTIONS_SAMPLING_OFF] = "off ",
};

static const char *const wait_names[] = {
	[OPTIONS_WAITS_AUTO] = "",
	[OPTIONS_WAITS_BPF] = "waits-by-bpf ",
	[OPTIONS_WAITS_OBSERVER] = "waits-observed ",
};

static const char *describe(void)
{
	static char text[4096];
	char *at = text;
	const char *end = text + sizeof(text);
#define ADD(...) (at += snprintf(at, (size_t)(end - at), __VA_ARGS__))
	*at = '\0';
	if (options.custom_collector)
		ADD("custom=%s ", options.custom_collector);
	if (options.preload)
		ADD("preload ");
	if (options.result_dir)
		ADD("dir=%s ", options.result_dir);
	if (options.interval_ns != 10000000)
		ADD("interval=%llu ", (unsigned long long)options.interval_ns);
	if (options.duration_ns != 0)
		ADD("duration=%llu ", (unsigned long long)options.duration_ns);
	if (options.stack_size != 0)
		ADD("stack=%u ", options.stack_size);
	if (options.overhead_limit != 0.05)
		ADD("limit=%.4f ", options.overhead_limit);
	if (options.analysis != analysis_at(0))
		ADD("%s ", options.analysis->name);
	if (options.wait_threshold_ns != 0)
		ADD("threshold=%llu ", (unsigned long long)options.wait_threshold_ns);
	ADD("%s%s", wait_names[options.wait_source], options.all_wakers ? "wakers " : "");
	ADD("%s%s%s%s%s%s%s%s%s", unwind_names[options.unwind], sampling_names[options.sampling],
	    options.switches ? "switches " : "", options.children ? "" : "childless ",
	    options.kernel ? "kernel " : "", options.collapse ? "" : "uncollapsed ",
	    options.finalize ? "" : "unfinalized ", options.quiet ? "quiet " : "",
	    options.verbose ? "verbose " : "");
	for (size_t i = 0; i < options.pid_count; i++)
		ADD("%d ", (int)options.pids[i]);
	for (char **arg = options.program; arg && *arg; arg++)
		ADD("[%s]", *arg);
#undef ADD
	return text;
}

static const struct {
	const char *line;
	const char *expected;
} good[] = {
	{"tbcollect -c locks-and-waits --preload prog", "preload locks-and-waits switches [prog]"},
	{"tbcollect prog", "[prog]"},
	{"tbcollect -- prog", "[prog]"},
	{"tbcollect -- prog -x --help", "[prog][-x][--help]"},
	{"tbcollect prog -q -- -v", "[prog][-q][--][-v]"}, /* the program's own options */
	{"tbcollect -- -prog", "[-prog]"},
	{"tbcollect -r out prog", "dir=out [prog]"},
	{"tbcollect --result-dir=out/ prog", "dir=out/ [prog]"},
	{"tbcollect -i 1 prog", "interval=1000000 [prog]"}, /* ms without a unit */
	{"tbcollect -i 0.1ms prog", "interval=100000 limit=0.1500 [prog]"},
	{"tbcollect -i 100us prog", "interval=100000 limit=0.1500 [prog]"},
	{"tbcollect -i 1s prog", "interval=1000000000 [prog]"},
	{"tbcollect -i 2.5ms prog", "interval=2500000 [prog]"},
	{"tbcollect --interval 10ms prog", "[prog]"},
	{"tbcollect -d 30 prog", "duration=30000000000 [prog]"}, /* seconds without a unit */
	{"tbcollect -d 0.5 prog", "duration=500000000 [prog]"},
	{"tbcollect -d 250ms prog", "duration=250000000 [prog]"},
	{"tbcollect --stack-size 8 prog", "stack=8 [prog]"},
	{"tbcollect --stack-size 65528 prog", "stack=65528 [prog]"},
	{"tbcollect --stack-size 0x4000 prog", "stack=16384 [prog]"},
	{"tbcollect --overhead-limit 5 prog", "[prog]"},
	{"tbcollect --overhead-limit 5 -i 0.1ms prog", "interval=100000 [prog]"},
	{"tbcollect -i 0.5ms prog", "interval=500000 limit=0.0611 [prog]"},
	{"tbcollect --overhead-limit 0 prog", "limit=0.0000 [prog]"},
	{"tbcollect --overhead-limit 2.5% prog", "limit=0.0250 [prog]"},
	{"tbcollect --unwind auto prog", "[prog]"},
	{"tbcollect --unwind copy prog", "copy [prog]"},
	{"tbcollect --unwind bpf prog", "bpf [prog]"},
	{"tbcollect --unwind=none prog", "leaf [prog]"},
	{"tbcollect --switches on prog", "switches [prog]"},
	{"tbcollect --switches off prog", "[prog]"},
	{"tbcollect -c concurrency prog", "concurrency switches [prog]"},
	{"tbcollect -c concurrency --switches on prog", "concurrency switches [prog]"},
	{"tbcollect -c locks-and-waits prog", "locks-and-waits switches [prog]"},
	{"tbcollect -c locks-and-waits --wait-source auto --waker-stacks sampled prog",
	 "locks-and-waits switches [prog]"},
	{"tbcollect --wait-source bpf --waker-stacks all -c locks-and-waits prog",
	 "locks-and-waits waits-by-bpf wakers switches [prog]"},
	{"tbcollect -c locks-and-waits --wait-source=observer --wait-threshold 1 prog",
	 "locks-and-waits threshold=1000000 waits-observed switches [prog]"},
	{"tbcollect -c locks-and-waits --wait-threshold 1us prog",
	 "locks-and-waits threshold=1000 switches [prog]"},
	{"tbcollect -c locks-and-waits --wait-threshold 1s prog",
	 "locks-and-waits threshold=1000000000 switches [prog]"},
	{"tbcollect -c locks-and-waits --unwind none --waker-stacks sampled prog",
	 "locks-and-waits leaf switches [prog]"},
	{"tbcollect --sampling auto prog", "[prog]"},
	{"tbcollect --sampling random prog", "random [prog]"},
	{"tbcollect --sampling=fixed prog", "fixed [prog]"},
	{"tbcollect -c hotspots prog", "[prog]"},
	{"tbcollect --no-children --kernel --no-collapse --no-finalize prog",
	 "childless kernel uncollapsed unfinalized [prog]"},
	{"tbcollect --custom-collector ./cpu.sh prog", "custom=./cpu.sh [prog]"},
	{"tbcollect -qv prog", "quiet verbose [prog]"},
	{"tbcollect --quiet --verbose prog", "quiet verbose [prog]"},
	{"tbcollect -p 1", "1 "},
	{"tbcollect -p 12,34,5", "12 34 5 "},
	{"tbcollect -p 12 -p 34 --pid=12", "12 34 "}, /* each once */
	{"tbcollect -p 2147483647", "2147483647 "},
	{"tbcollect -qp7 -d1", "duration=1000000000 quiet 7 "},
};

START_TEST(accepted)
{
	ck_assert_msg(parse(good[_i].line) == 0, "%s: %s", good[_i].line, failure.text);
	ck_assert_int_eq(options.action, OPTIONS_COLLECT);
	ck_assert_str_eq(describe(), good[_i].expected);
	ck_assert_int_eq(failure.exit_status, 0);
}
END_TEST

static const struct {
	const char *line;
	const char *said; /* part of the message */
} bad[] = {
	{"tbcollect", "nothing to collect"},
	{"tbcollect --", "nothing to collect"},
	{"tbcollect -q", "nothing to collect"},
	{"tbcollect -p 1 prog", "both -p and a program"},
	{"tbcollect --no-such-option prog", "'--no-such-option'"},
	{"tbcollect -x prog", "'-x'"},
	{"tbcollect -q -x prog", "'-x'"},
	{"tbcollect --quiet=yes prog", "option '--quiet=yes' takes no value"},
	{"tbcollect -r", "'-r' needs a value"},
	{"tbcollect --interval", "'--interval' needs a value"},
	{"tbcollect -r _ prog", "empty result directory"},
	{"tbcollect --custom-collector _ prog", "empty command of --custom-collector"},
	{"tbcollect -i 0 prog", "bad interval '0'"},
	{"tbcollect -i -1 prog", "bad interval '-1'"},
	{"tbcollect -i 99us prog", "bad interval '99us'"},
	{"tbcollect -i 1001ms prog", "bad interval '1001ms'"},
	{"tbcollect -i 10m prog", "bad interval '10m'"},
	{"tbcollect -i 10msx prog", "bad interval '10msx'"},
	{"tbcollect -i ms prog", "bad interval 'ms'"},
	{"tbcollect -i nan prog", "bad interval 'nan'"},
	{"tbcollect -i inf prog", "bad interval 'inf'"},
	{"tbcollect -i 1e999 prog", "bad interval '1e999'"},
	{"tbcollect -i _ prog", "bad interval ''"},
	{"tbcollect -d 0 prog", "bad duration '0'"},
	{"tbcollect -d -5 prog", "bad duration '-5'"},
	{"tbcollect -d 5h prog", "bad duration '5h'"},
	{"tbcollect -d 1e300 prog", "bad duration '1e300'"},
	{"tbcollect -d 1e-300 prog", "bad duration '1e-300'"},
	{"tbcollect --overhead-limit x prog", "bad overhead limit 'x'"},
	{"tbcollect --overhead-limit -1 prog", "bad overhead limit '-1'"},
	{"tbcollect --overhead-limit nan prog", "bad overhead limit 'nan'"},
	{"tbcollect --overhead-limit 1001 prog", "bad overhead limit '1001'"},
	{"tbcollect --stack-size 0 prog", "bad stack size '0'"},
	{"tbcollect --stack-size 7 prog", "bad stack size '7'"},
	{"tbcollect --stack-size 100 prog", "bad stack size '100'"},
	{"tbcollect --stack-size 65536 prog", "bad stack size '65536'"},
	{"tbcollect --stack-size -8 prog", "bad stack size '-8'"},
	{"tbcollect --stack-size 16k prog", "bad stack size '16k'"},
	{"tbcollect --stack-size 18446744073709551624 prog", "bad stack size"},
	{"tbcollect --wait-threshold 0.9us prog", "bad wait threshold '0.9us'"},
	{"tbcollect --wait-threshold 2s prog", "bad wait threshold '2s'"},
	{"tbcollect --wait-threshold soon prog", "bad wait threshold 'soon'"},
	{"tbcollect --wait-source both prog", "unknown --wait-source 'both'"},
	{"tbcollect --waker-stacks some prog", "unknown --waker-stacks 'some'"},
	{"tbcollect --switches maybe prog", "unknown --switches 'maybe'"},
	{"tbcollect --switches", "option '--switches' needs a value"},
	{"tbcollect -c concurrency --switches off prog", "concurrency needs the threads' switches"},
	{"tbcollect --switches off -c locks-and-waits prog",
	 "locks-and-waits needs the threads' switches"},
	{"tbcollect --preload prog", "--preload sees waits of a program from its start"},
	{"tbcollect -c locks-and-waits --preload -p 1", "--preload sees waits"},
	{"tbcollect -c concurrency --preload prog", "--preload sees waits"},
	{"tbcollect --wait-source bpf prog",
	 "--wait-source is about waits, and hotspots records none"},
	{"tbcollect --wait-source auto -c concurrency prog",
	 "--wait-source is about waits, and concurrency records none"},
	{"tbcollect --switches on --wait-threshold 1ms prog",
	 "--wait-threshold is about waits, and hotspots records none"},
	{"tbcollect --waker-stacks sampled -p 1",
	 "--waker-stacks is about waits, and hotspots records none"},
	{"tbcollect -c locks-and-waits --waker-stacks all --wait-source observer prog",
	 "the observer sees no wakers"},
	{"tbcollect -c locks-and-waits --waker-stacks all --unwind none prog",
	 "--unwind none has no stacks"},
	{"tbcollect --sampling sometimes prog", "unknown --sampling 'sometimes'"},
	{"tbcollect --sampling", "option '--sampling' needs a value"},
	{"tbcollect --unwind dwarf prog", "unknown --unwind 'dwarf'"},
	{"tbcollect -c everything prog", "unknown analysis 'everything'"},
	{"tbcollect --sampling off prog", "unknown --sampling 'off'"},
	{"tbcollect -p _", "bad process id"},
	{"tbcollect -p 0", "bad process id in '0'"},
	{"tbcollect -p -3", "bad process id in '-3'"},
	{"tbcollect -p 1,", "bad process id in '1,'"},
	{"tbcollect -p ,1", "bad process id in ',1'"},
	{"tbcollect -p 1;2", "bad process id in '1;2'"},
	{"tbcollect -p 2147483648", "bad process id"},
	{"tbcollect -p 99999999999999999999", "bad process id"},
	{"tbcollect -p sshd", "bad process id in 'sshd'"},
};

START_TEST(refused)
{
	ck_assert_msg(parse(bad[_i].line) == -1, "%s was accepted", bad[_i].line);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT_USAGE);
	ck_assert_msg(strstr(failure.text, bad[_i].said) != NULL, "%s: %s", bad[_i].line,
		      failure.text);
}
END_TEST

static const struct {
	const char *line;
	enum options_action action;
} actions[] = {
	{"tbcollect --help", OPTIONS_HELP},       {"tbcollect -h", OPTIONS_HELP},
	{"tbcollect --version", OPTIONS_VERSION}, {"tbcollect -q --help prog", OPTIONS_HELP},
	{"tbcollect -p 1 --help", OPTIONS_HELP},
};

START_TEST(help_and_version)
{
	ck_assert_int_eq(parse(actions[_i].line), 0);
	ck_assert_int_eq(options.action, actions[_i].action);
}
END_TEST

/* Each option that a user can give is explained. */
START_TEST(help_names_every_option)
{
	static const char *const names[] = {"--pid",         "--collect",     "--result-dir",
					    "--interval",    "--duration",    "--stack-size",
					    "--unwind",      "--no-children", "--kernel",
					    "--no-collapse", "--no-finalize", "--custom-collector",
					    "--quiet",       "--verbose",     "--help",
					    "--version"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_msg(strstr(options_help(), names[i]) != NULL, "%s", names[i]);
	ck_assert_str_eq(options_help() + strlen(options_help()) - 1, "\n");
}
END_TEST

START_TEST(default_limits)
{
	static const struct {
		uint64_t interval_ns;
		double limit;
	} rules[] = {{1000000000, 0.05}, {10000000, 0.05}, {1000000, 0.05}, {500000, 0.0611},
		     {200000, 0.0944},   {100000, 0.15},   {1, 0.15}};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		ck_assert_double_eq_tol(options_overhead_limit(rules[i].interval_ns),
					rules[i].limit, 0.0001);
}
END_TEST

START_TEST(most_pids)
{
	char line[4000] = "tbcollect -p ";
	size_t used = strlen(line);
	for (int pid = 1; pid <= OPTIONS_PIDS_MAX; pid++)
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%d",
					 pid > 1 ? "," : "", pid);
	ck_assert_int_eq(parse(line), 0);
	ck_assert_uint_eq(options.pid_count, OPTIONS_PIDS_MAX);
	snprintf(line + used, sizeof(line) - used, ",1"); /* known already */
	ck_assert_int_eq(parse(line), 0);
	snprintf(line + used, sizeof(line) - used, ",100000");
	ck_assert_int_eq(parse(line), -1);
	ck_assert_ptr_nonnull(strstr(failure.text, "more than 256"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tcase = tcase_create("options");

	tcase_add_loop_test(tcase, accepted, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(tcase, refused, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_loop_test(tcase, help_and_version, 0,
			    (int)(sizeof(actions) / sizeof(actions[0])));
	tcase_add_test(tcase, help_names_every_option);
	tcase_add_test(tcase, default_limits);
	tcase_add_test(tcase, most_pids);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
