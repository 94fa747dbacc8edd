/* A run of `make` in reports: many short processes, few samples. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/drawn_result.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS       DRAWN_MS
#define INTERVAL (10 * MS)

static const char *const path = build_path;

#define MAKE_PROCESSES 93u

/* A `make` run at 10 ms: 30 files, each sh, cc1 and as, then ld; one in ten has a sample. */
static void write_make(uint64_t unattributed_ns)
{
	static const char *const names[] = {"sh", "cc1", "as"};
	static const uint64_t used_us[] = {900, 31000, 4100};
	static const char *process_names[MAKE_PROCESSES];
	static struct drawn_thread threads[MAKE_PROCESSES];
	static struct drawn_sample samples[120];
	size_t count = 0;
	for (uint32_t i = 0; i < 90; i++) {
		process_names[i] = names[i % 3];
		threads[i] = (struct drawn_thread){.process = i,
						   .name = names[i % 3],
						   .cpu_ns = 1000 * used_us[i % 3]};
		bool is_drawn = i % 3 == 1 || (i % 3 == 2 && i % 9 == 2);
		for (uint32_t j = 0; is_drawn && j < (i % 3 == 1 ? 3 : 1); j++)
			samples[count++] = (struct drawn_sample){.thread = i,
								 .function = i % 3,
								 .cpu_ns = INTERVAL};
	}
	const char *const last[] = {"make", "ld", "collect2"};
	const uint64_t last_us[] = {12000, 55000, 700};
	for (uint32_t i = 0; i < 3; i++) {
		process_names[90 + i] = last[i];
		threads[90 + i] = (struct drawn_thread){.process = 90 + i,
							.name = last[i],
							.cpu_ns = 1000 * last_us[i]};
	}
	for (uint32_t i = 0; i < 5; i++)
		samples[count++] =
			(struct drawn_sample){.thread = 91, .function = 4, .cpu_ns = INTERVAL};
	struct drawn_result result = {.sampling = PROFILE_SAMPLING_CPUS,
				      .interval_ns = INTERVAL,
				      .tick_ns = 1250000,
				      .seed = 18446744073709551557u,
				      .unattributed_ns = unattributed_ns,
				      .names = process_names,
				      .process_count = MAKE_PROCESSES,
				      .threads = threads,
				      .thread_count = MAKE_PROCESSES,
				      .samples = samples,
				      .sample_count = count};
	ck_assert_uint_le(count, sizeof(samples) / sizeof(samples[0]));
	drawn_result_write(path, &result);
}

static const char *const by_process[] = {"--format=csv", "--group-by=process", NULL};

/* Every program has its true time, whether its processes have samples or not. */
START_TEST(programs_of_a_make_run)
{
	write_make(0);
	render_expect(render_file(path, report_hotspots_print, 0, by_process),
		      (const char *const[]){"\ncc1,,0.930000,90,30,\n", "\nas,,0.123000,10,30,\n",
					    "\nld,1091,0.055000,5,1,\n", "\nsh,,0.027000,0,30,\n",
					    "\nmake,1090,0.012000,0,1,\n",
					    "\ncollect2,1092,0.000700,0,1,\n", NULL});
	render_expect(render_file(path, report_summary_print, TALLY_BY_REASON, NULL),
		      (const char
			       *const[]){"\nCPU Time:                 1.148 s ",
					 "\n  in no sample:           0.040 s (3.5 %)\n",
					 "\n  taken:                  at random times of each CPU, "
					 "drawn from ticks of 1.25 ms\n",
					 "\nTop Programs\n"
					 "CPU Time   CPU %  Samples  Processes  Program\n"
					 " 0.930 s  81.0 %       90         30  cc1\n"
					 " 0.123 s  10.7 %       10         30  as\n"
					 " 0.055 s   4.8 %        5          1  ld\n"
					 " 0.027 s   2.4 %        0         30  sh\n"
					 " 0.012 s   1.0 %        0          1  make\n",
					 NULL});
	render_expect(render_file(path, report_threads_print, TALLY_BY_THREAD,
				  (const char *const[]){"--format=csv", NULL}),
		      (const char *const[]){"\nsh,5000,sh,1000,0.000900,,0\n",
					    "\nas,5002,as,1002,0.004100,,1\n",
					    "\nas,5005,as,1005,0.004100,,0\n",
					    "\ncc1,5001,cc1,1001,0.031000,,3\n", NULL});
	/* The 30 assemblers share their ten samples. */
	render_expect(render_file(path, report_hotspots_print, 0,
				  (const char *const[]){"--format=csv", "--filter=process=as",
							NULL}),
		      (const char *const[]){"\nf2,0.123000,10,", NULL});
}
END_TEST

/* What is in no known thread is a row where rows are threads or processes. */
START_TEST(no_known_thread)
{
	write_make(52 * MS);
	render_expect(render_file(path, report_hotspots_print, 0, by_process),
		      (const char *const[]){"\n[No known thread],,0.052000,0,,\n", NULL});
	render_expect(render_file(path, report_hotspots_print, 0,
				  (const char *const[]){"--format=csv", "--group-by=thread", NULL}),
		      (const char *const[]){"\n[No known thread],,0.052000,0,\n", NULL});
	render_expect(render_file(path, report_threads_print, TALLY_BY_THREAD,
				  (const char *const[]){"--limit=5", NULL}),
		      (const char *const[]){"\n 0.052 s  4.3 %        0                       [No "
					    "known thread]\n",
					    NULL});
	render_expect(render_file(path, report_summary_print, TALLY_BY_REASON, NULL),
		      (const char *const[]){"\nCPU Time:                 1.200 s ",
					    "\n  of no known thread:     0.052 s (4.3 %)\n", NULL});
	char *text = render_file(path, report_threads_print, TALLY_BY_THREAD,
				 (const char *const[]){"--filter=process=cc1", NULL});
	ck_assert_ptr_null(strstr(text, "[No known thread]"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("a run of make");
	TCase *tcase = tcase_create("make");
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, build_set_up, build_tear_down);
	tcase_add_test(tcase, programs_of_a_make_run);
	tcase_add_test(tcase, no_known_thread);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
