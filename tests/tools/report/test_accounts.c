/* Accounts in reports: whatever rows are, they add up to what the threads used. */
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tests/tools/drawn_result.h"
#include "tests/tools/render_report.h"
#include <check.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS          DRAWN_MS
#define PROCESSES   12u
#define THREADS     40u
#define SAMPLES_MAX 4000u
#define INTERVAL    (10 * MS)

static const char *const programs[] = {"make", "cc1", "as", "ld"};
static const char *const thread_names[] = {"main", "worker", "gc"};

/* What chance made of a seed. */
static struct {
	const char *names[PROCESSES];
	struct drawn_thread threads[THREADS];
	struct drawn_sample samples[SAMPLES_MAX];
	struct drawn_result result;
	uint64_t state;
} drawn;

static const char *const path = build_path;

/* splitmix64, less than `end`. */
static uint64_t draw(uint64_t end)
{
	uint64_t z = (drawn.state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % end;
}

/* Most threads are short; a few are long. */
static void draw_thread(struct drawn_thread *thread)
{
	*thread = (struct drawn_thread){
		.process = (uint32_t)draw(PROCESSES),
		.name = thread_names[draw(3)],
		.cpu_ns = draw(6) == 0 ? 100 * MS + draw(400 * MS) : draw(12 * MS),
	};
	if (draw(4) == 0)
		thread->unseen_ns = draw(3 * MS);
}

/* An interval each, on average, with what was measured in the kernel; now and then a hit there. */
static void draw_samples(uint32_t index, enum profile_sampling sampling)
{
	struct drawn_thread *thread = &drawn.threads[index];
	uint64_t kernel_ns = thread->cpu_ns * draw(60) / 100;
	uint64_t user_ns = thread->cpu_ns - kernel_ns;
	uint64_t count = (user_ns + draw(INTERVAL)) / INTERVAL;
	for (uint64_t i = 0; i < count && drawn.result.sample_count < SAMPLES_MAX; i++) {
		struct drawn_sample *sample = &drawn.samples[drawn.result.sample_count++];
		uint64_t part_ns = kernel_ns / (count + 1) / 1000 * 1000;
		*sample = (struct drawn_sample){.thread = index,
						.function = (uint32_t)draw(DRAWN_FUNCTIONS),
						.cpu_ns = INTERVAL - INTERVAL / 10 +
							  draw(INTERVAL / 5),
						.kernel_us = (uint32_t)(part_ns / 1000)};
		sample->cpu_ns += part_ns;
		kernel_ns -= part_ns;
		if (draw(20) == 0 && sampling == PROFILE_SAMPLING_CPUS)
			sample->kernel_us = PROFILE_KERNEL_ALL;
	}
	thread->rest_ns = kernel_ns;
}

static void draw_result(uint64_t seed, enum profile_sampling sampling)
{
	memset(&drawn, 0, sizeof(drawn));
	drawn.state = seed * 4 + sampling;
	for (uint32_t i = 0; i < PROCESSES; i++)
		drawn.names[i] = programs[draw(4)];
	drawn.result = (struct drawn_result){
		.sampling = sampling,
		.interval_ns = INTERVAL,
		.unattributed_ns = draw(2) ? draw(40 * MS) : 0,
		.names = drawn.names,
		.process_count = PROCESSES,
		.threads = drawn.threads,
		.thread_count = THREADS,
		.samples = drawn.samples,
	};
	for (uint32_t i = 0; i < THREADS; i++) {
		draw_thread(&drawn.threads[i]);
		draw_samples(i, sampling);
	}
	drawn_result_write(path, &drawn.result);
}

static struct json_object *rows_of(render_print *print, unsigned by, const char *const *options)
{
	const char *arguments[16] = {"--format", "json", "--call-stack-mode", "all"};
	for (size_t i = 0; options && options[i]; i++)
		arguments[4 + i] = options[i];
	char *text = render_file(path, print, by, arguments);
	struct json_object *rows = json_tokener_parse(text);
	ck_assert_msg(rows != NULL, "%s", text);
	free(text);
	return rows;
}

static double number_of(struct json_object *row, const char *key)
{
	return json_object_get_double(json_object_object_get(row, key));
}

static const char *text_of(struct json_object *row, const char *key)
{
	const char *text = json_object_get_string(json_object_object_get(row, key));
	return text ? text : "";
}

/* Seconds of the rows whose text under a key is this one; NULL: of all. */
static double sum_of(struct json_object *rows, const char *seconds, const char *key,
		     const char *text)
{
	double sum = 0;
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		if (!text || strcmp(text_of(row, key), text) == 0)
			sum += number_of(row, seconds);
	}
	return sum;
}

/* Rows are rounded to microseconds, and [No sample] is left out up to 0.05 %. */
static void expect_sum(const char *what, double seen, double expected, bool may_lack_rest)
{
	ck_assert_msg(seen <= expected + 1e-4 &&
			      seen >= expected * (may_lack_rest ? 0.9995 : 1) - 1e-4,
		      "%s: %.6f s, not %.6f s", what, seen, expected);
}

/* Of the threads that a predicate's number picks, with their parts of what was in no account. */
static double accounts_of(const char *program, uint32_t pid, uint32_t tid)
{
	struct profile_reader *reader;
	uint64_t sum_ns = 0;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	for (uint32_t i = 0; i < profile_reader_thread_count(reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(reader, i);
		if ((!program ||
		     strcmp(tally_process_name(reader, thread->process), program) == 0) &&
		    (pid == 0 || pid == thread->pid) && (tid == 0 || tid == thread->tid))
			sum_ns += thread->cpu_ns;
	}
	profile_reader_close(reader);
	return (double)sum_ns / 1e9;
}

static double threadless(void)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	uint64_t threadless_ns = profile_reader_unattributed_ns(reader);
	profile_reader_close(reader);
	return (double)threadless_ns / 1e9;
}

static void check_functions(double total)
{
	static const char *const modules[] = {"app", "lib.so", "[System calls and faults]"};
	struct json_object *hot = rows_of(report_hotspots_print, 0, NULL);
	struct json_object *by_module = rows_of(report_modules_print, 0, NULL);
	struct json_object *down = rows_of(report_top_down_print, 0, NULL);
	struct json_object *up = rows_of(report_bottom_up_print, 0, NULL);
	double roots = 0;
	expect_sum("hotspots", sum_of(hot, "cpu_time_s", NULL, NULL), total, true);
	expect_sum("modules", sum_of(by_module, "cpu_time_s", NULL, NULL), total, true);
	expect_sum("top-down", sum_of(down, "cpu_time_self_s", NULL, NULL), total, true);
	expect_sum("top-down's root",
		   number_of(json_object_array_get_idx(down, 0), "cpu_time_total_s"), total, false);
	for (size_t i = 0; i < json_object_array_length(up); i++) {
		struct json_object *row = json_object_array_get_idx(up, i);
		if (number_of(row, "depth") == 0)
			roots += number_of(row, "cpu_time_s");
	}
	expect_sum("bottom-up", roots, total, true);
	for (size_t i = 0; i < 3; i++)
		expect_sum(modules[i], sum_of(hot, "cpu_time_s", "module", modules[i]),
			   sum_of(by_module, "cpu_time_s", "module", modules[i]), false);
	json_object_put(hot);
	json_object_put(by_module);
	json_object_put(down);
	json_object_put(up);
}

static void check_groups(double total)
{
	static const char *const groups[] = {"module", "source-file"};
	for (size_t i = 0; i < 2; i++) {
		struct json_object *rows =
			rows_of(report_hotspots_print, 0,
				(const char *const[]){"--group-by", groups[i], NULL});
		expect_sum(groups[i], sum_of(rows, "cpu_time_s", NULL, NULL), total, true);
		json_object_put(rows);
	}
}

/* Each row is the sum of its accounts. */
static void check_processes(double total)
{
	static const char *const by_name[] = {"--group-by", "process", NULL};
	static const char *const by_pid[] = {"--group-by", "pid", NULL};
	struct json_object *names = rows_of(report_hotspots_print, 0, by_name);
	struct json_object *pids = rows_of(report_hotspots_print, 0, by_pid);
	expect_sum("by process", sum_of(names, "cpu_time_s", NULL, NULL), total + threadless(),
		   true);
	expect_sum("by pid", sum_of(pids, "cpu_time_s", NULL, NULL), total + threadless(), true);
	for (size_t i = 0; i < 4; i++)
		expect_sum(programs[i], sum_of(names, "cpu_time_s", "process", programs[i]),
			   accounts_of(programs[i], 0, 0), false);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		char pid[16];
		snprintf(pid, sizeof(pid), "%u", DRAWN_PID + i);
		double account = accounts_of(NULL, DRAWN_PID + i, 0);
		expect_sum(pid, sum_of(pids, "cpu_time_s", "pid", pid), account, false);
	}
	json_object_put(names);
	json_object_put(pids);
}

static void check_threads(double total)
{
	struct json_object *rows = rows_of(report_threads_print, TALLY_BY_THREAD, NULL);
	expect_sum("threads", sum_of(rows, "cpu_time_s", NULL, NULL), total + threadless(), true);
	for (uint32_t i = 0; i < THREADS; i++) {
		char tid[16];
		snprintf(tid, sizeof(tid), "%u", DRAWN_TID + i);
		double seen = sum_of(rows, "cpu_time_s", "tid", tid);
		double account = accounts_of(NULL, 0, DRAWN_TID + i);
		ck_assert_msg(fabs(seen - account) < 1.01e-6, "thread %s: %.6f s, not %.6f s", tid,
			      seen, account);
	}
	json_object_put(rows);
}

/* Of a part the same holds. */
static void check_filters(void)
{
	for (uint32_t i = 0; i < 5; i++) {
		char filter[32];
		snprintf(filter, sizeof(filter), "pid=%u", DRAWN_PID + i);
		struct json_object *rows = rows_of(report_hotspots_print, 0,
						   (const char *const[]){"--filter", filter, NULL});
		expect_sum(filter, sum_of(rows, "cpu_time_s", NULL, NULL),
			   accounts_of(NULL, DRAWN_PID + i, 0), true);
		json_object_put(rows);
		snprintf(filter, sizeof(filter), "tid=%u", DRAWN_TID + i);
		rows = rows_of(report_modules_print, 0,
			       (const char *const[]){"--filter", filter, NULL});
		expect_sum(filter, sum_of(rows, "cpu_time_s", NULL, NULL),
			   accounts_of(NULL, 0, DRAWN_TID + i), true);
		json_object_put(rows);
		if (i >= 4)
			continue;
		snprintf(filter, sizeof(filter), "process=%s", programs[i]);
		rows = rows_of(report_top_down_print, 0,
			       (const char *const[]){"--filter", filter, NULL});
		expect_sum(filter, sum_of(rows, "cpu_time_self_s", NULL, NULL),
			   accounts_of(programs[i], 0, 0), true);
		json_object_put(rows);
	}
}

/* Loop: seeds; each with samples of a fixed period too, where the accounts are the samples' sums.
 */
START_TEST(rows_add_up)
{
	enum profile_sampling sampling = (enum profile_sampling)(1 + _i % 3);
	draw_result((uint64_t)_i, sampling);
	if (sampling == PROFILE_SAMPLING_FIXED) {
		for (uint32_t i = 0; i < THREADS; i++)
			drawn.threads[i].cpu_ns = drawn.threads[i].rest_ns;
		for (size_t i = 0; i < drawn.result.sample_count; i++)
			drawn.threads[drawn.samples[i].thread].cpu_ns += drawn.samples[i].cpu_ns;
		ck_assert_int_eq(remove(path), 0);
		drawn_result_write(path, &drawn.result);
	}
	double total = accounts_of(NULL, 0, 0);
	check_functions(total);
	check_groups(total);
	check_processes(total);
	check_threads(total);
	check_filters();
	struct json_object *summary = rows_of(report_summary_print, TALLY_BY_REASON, NULL);
	expect_sum("summary", number_of(summary, "cpu_time_s"), total, false);
	json_object_put(summary);
}
END_TEST

START_TEST(how_samples_were_taken)
{
	static const char *const words[] =
		{NULL, "at a fixed period of each thread's CPU time\n",
		 "at random times of each thread's CPU time, drawn from ticks of 0.25 ms\n",
		 "at random times of each CPU, drawn from ticks of 0.25 ms\n"};
	static const char *const keys[] = {"null", "\"fixed\"", "\"threads\"", "\"cpus\""};
	static const struct drawn_thread thread = {.name = "app", .cpu_ns = 50 * MS};
	static const struct drawn_sample samples[] = {{.cpu_ns = INTERVAL}, {.cpu_ns = INTERVAL}};
	struct drawn_result result = {.sampling = (uint32_t)_i,
				      .interval_ns = INTERVAL,
				      .tick_ns = 250000,
				      .seed = UINT64_MAX - 58,
				      .names = programs,
				      .process_count = 1,
				      .threads = &thread,
				      .thread_count = 1,
				      .samples = samples,
				      .sample_count = 2};
	drawn_result_write(path, &result);
	char *text = render_file(path, report_summary_print, TALLY_BY_REASON, NULL);
	ck_assert_int_eq(strstr(text, "\n  taken: ") != NULL, _i > 0);
	ck_assert_ptr_null(strstr(text, "Top Programs"));
	render_expect(text, (const char *const[]){words[_i], NULL});
	struct json_object *summary = rows_of(report_summary_print, TALLY_BY_REASON, NULL);
	struct json_object *sampling = json_object_object_get(summary, "sampling");
	struct json_object *times = json_object_object_get(sampling, "times");
	ck_assert_str_eq(json_object_to_json_string(times), keys[_i]);
	ck_assert_uint_eq(json_object_get_uint64(json_object_object_get(sampling, "seed")),
			  UINT64_MAX - 58);
	ck_assert_double_eq_tol(number_of(sampling, "tick_s"), 0.00025, 1e-9);
	json_object_put(summary);
}
END_TEST

/* Accounts by an expectation are said to be. */
START_TEST(estimated_time)
{
	static const struct drawn_thread threads[] =
		{{.name = "a", .cpu_ns = 40 * MS, .unseen_ns = 8 * MS},
		 {.name = "b", .cpu_ns = 40 * MS, .unseen_ns = 2 * MS}};
	static const struct drawn_sample samples[] = {{.cpu_ns = INTERVAL}, {.cpu_ns = INTERVAL}};
	struct drawn_result result = {.sampling = PROFILE_SAMPLING_THREADS,
				      .interval_ns = INTERVAL,
				      .unattributed_ns = 20 * MS,
				      .names = programs,
				      .process_count = 1,
				      .threads = threads,
				      .thread_count = 2,
				      .samples = samples,
				      .sample_count = 2};
	drawn_result_write(path, &result);
	render_expect(render_file(path, report_summary_print, TALLY_BY_REASON, NULL),
		      (const char *const[]){"\n  estimated:              0.020 s (20.0 %)\n",
					    NULL});
	render_expect(render_file(path, report_summary_print, TALLY_BY_REASON,
				  (const char *const[]){"--format=csv", "--filter=thread=b", NULL}),
		      (const char *const[]){"\nestimated_s,0.004000\n", "\ncpu_time_s,0.044000\n",
					    NULL});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("accounts in reports");
	TCase *tcase = tcase_create("accounts");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, build_set_up, build_tear_down);
	tcase_add_loop_test(tcase, rows_add_up, 0, 15);
	tcase_add_loop_test(tcase, how_samples_were_taken, 0, 4);
	tcase_add_test(tcase, estimated_time);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
