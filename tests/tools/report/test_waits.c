/* The reports waits and wall, of waits with known times. */
#include "tests/support/suite.h"
#include "tests/tools/render_report.h"
#include "tests/tools/waited_result.h"
#include "tools/functions/filter.h"
#include "tools/samples/tally.h"
#include "tools/stacks/sampled_result.h"
#include "tools/waits/waits.h"
#include <check.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where threads wait for a condition variable (tests/tools/report/test_wait_word.c). */
#define CONDITION_WORDS offsetof(pthread_cond_t, __data.__g_signals)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char *render(const struct build_result *result, const char *name,
		    const char *const *arguments)
{
	bool is_wall = strcmp(name, "wall") == 0;
	build_result_write(build_path, result);
	return render_file_as(build_path, name, is_wall ? report_wall_print : report_waits_print,
			      is_wall ? TALLY_BY_THREAD : TALLY_ONE_BY_ONE, arguments);
}

static void expect(const struct build_result *result, const char *name,
		   const char *const *arguments, const char *expected)
{
	char *text = render(result, name, arguments);
	ck_assert_str_eq(text, expected);
	free(text);
}

static const char *const csv[] = {"--format", "csv", NULL};

START_TEST(test_objects)
{
	expect(&waited_result, "waits", csv,
	       "Sync Object,Type,Wait Time,Wait Count,Function,Module,Wait Time with poor CPU "
	       "Utilization,Average,Maximum,Spin Time,"
	       "Ready Time,Timeouts,Waker Function,Waker Module,Created In,PID,Begun "
	       "Before,Unended\n"
	       "Sleep,Sleep,1.000000,1,main,app,0.940000,1.000000000,1.000000000,0.000000,0.050000,"
	       "0,,,,,0,0\n"
	       "Mutex "
	       "queue_lock+0x4,Mutex,0.700000,2,take,app,0.610000,0.350000000,0.500000000,0.000000,"
	       "0.000000,1,give,app,,100,0,0\n"
	       "Condition Variable 0x7f00000012a0,Condition Variable,0.600000,1,await,app,"
	       "0.500000,0.600000000,0.600000000,0.000000,0.000000,0,,,,100,0,0\n"
	       "[Short waits],,0.050000,1,,,,0.050000000,,,,,,,,,,\n");
}
END_TEST

START_TEST(test_groups)
{
	static const struct {
		const char *group;
		const char *expected;
	} groups[] = {
		{"function",
		 "Function,Wait Time,Wait Count,Module,Wait Time with poor CPU "
		 "Utilization,Average,Maximum,Spin Time,Ready "
		 "Time,Timeouts,Waker Function,Waker Module,Begun Before,Unended\n"
		 "main,1.000000,1,app,0.940000,1.000000000,1.000000000,0.000000,0.050000,0,,,0,0\n"
		 "take,0.700000,2,app,0.610000,0.350000000,0.500000000,0.000000,0.000000,1,give,"
		 "app,0,0\n"
		 "await,0.600000,1,app,0.500000,0.600000000,0.600000000,0.000000,0.000000,0,,,0,0\n"
		 "[Short waits],0.050000,1,,,0.050000000,,,,,,,,\n"},
		{"thread",
		 "Thread,TID,Process,Wait Time,Wait Count,Short Wait Time,Short Wait "
		 "Count,Function,Module,Wait Time with poor CPU Utilization,Average,Maximum,Spin "
		 "Time,Ready "
		 "Time,Timeouts,Waker Function,Waker Module,PID,Begun Before,Unended\n"
		 "app,100,app,1.500000,2,0.050000,1,main,app,1.350000,0.750000000,1.000000000,"
		 "0.000000,0.050000,0,give,app,100,0,0\n"
		 "worker,101,app,0.800000,2,0.000000,0,await,app,0.700000,0.400000000,0.600000000,"
		 "0.000000,0.000000,1,give,app,100,0,0\n"},
		{"waker",
		 "Waker Function,Wait Time,Wait Count,Function,Wait Time with poor CPU "
		 "Utilization,Average,Maximum,Spin "
		 "Time,Ready Time,Timeouts,Waker Module,Begun Before,Unended\n"
		 "[No known waker],1.600000,2,main,1.440000,0.800000000,1.000000000,0.000000,"
		 "0.050000,0,,0,0\n"
		 "give,0.700000,2,take,0.610000,0.350000000,0.500000000,0.000000,0.000000,1,app,0,"
		 "0\n"
		 "[Short waits],0.050000,1,,,0.050000000,,,,,,,\n"},
		{"type",
		 "Type,Wait Time,Wait Count,Function,Module,Wait Time with poor CPU "
		 "Utilization,Average,Maximum,Spin "
		 "Time,Ready Time,Timeouts,Waker Function,Waker Module,Begun Before,Unended\n"
		 "Sleep,1.000000,1,main,app,0.940000,1.000000000,1.000000000,0.000000,0.050000,0,,"
		 ",0,0\n"
		 "Mutex,0.700000,2,take,app,0.610000,0.350000000,0.500000000,0.000000,0.000000,1,"
		 "give,app,0,0\n"
		 "Condition "
		 "Variable,0.600000,1,await,app,0.500000,0.600000000,0.600000000,0.000000,"
		 "0.000000,0,,,0,0\n"
		 "[Short waits],0.050000,1,,,,0.050000000,,,,,,,,\n"},
	};
	const char *arguments[] = {"--format", "csv", "--group-by", groups[_i].group, NULL};
	expect(&waited_result, "waits", arguments, groups[_i].expected);
}
END_TEST

START_TEST(test_stacks)
{
	static const char *const arguments[] = {"--format", "csv", "--stacks",
						"--limit",  "2",   NULL};
	expect(&waited_result, "waits", arguments,
	       "Sync Object / Function Stack,Wait Time,Wait Count,Module\n"
	       "Sleep,1.000000,1,\n"
	       " usleep,1.000000,1,libc.so.6\n"
	       "  main,1.000000,1,app\n"
	       "Mutex queue_lock+0x4,0.700000,2,\n"
	       " pthread_mutex_lock,0.700000,2,libc.so.6\n"
	       "  take,0.700000,2,app\n"
	       "   main,0.500000,1,app\n"
	       "   worker,0.200000,1,app\n"
	       " [Woken by],0.700000,2,\n"
	       "  pthread_mutex_unlock,0.700000,2,libc.so.6\n"
	       "   give,0.700000,2,app\n"
	       "    worker,0.500000,1,app\n"
	       "    main,0.200000,1,app\n");
}
END_TEST

/* The figures below the table, and what is said of waits that nobody saw. */
START_TEST(test_account)
{
	static const char *const parts[] =
		{"Blocked 2.350000 s: waits 2.300000 s, 1 short ones 0.050000 s; difference "
		 "0.000000 s\n",
		 "Waits of 0.01 ms and more are known: recorded by BPF\n", NULL};
	struct build_result lossy = waited_result;
	render_expect(render(&waited_result, "waits", NULL), parts);
	lossy.wait_sources = 1u << PROFILE_WAIT_BY_OBSERVER | 1u << PROFILE_WAIT_BY_LIBRARY;
	lossy.wait_threshold = 3000;
	lossy.waits_lost = 12;
	static const char *const lost[] =
		{"Waits of 3 ms and more are known: looked at while they lasted\n",
		 "Waits of 3 ms and more are known: recorded by the preloaded library\n",
		 "12 waits lost: their time counts as that of short waits\n",
		 "[Short and unseen waits]\n", NULL};
	ck_assert_int_eq(unlink(build_path), 0);
	render_expect(render(&lossy, "waits", NULL), lost);
}
END_TEST

/* A waker is known, and its stack was not taken. */
START_TEST(test_no_stack_of_the_waker)
{
	static const char *const by_waker[] = {"--format", "csv", "--group-by", "waker", NULL};
	static const char *const with_stacks[] = {"--format", "csv", "--stacks", NULL};
	static const char *const rows[] = {"\n[No known waker],1.000000,1,main,",
					   "\n[No stack of the waker],0.800000,2,await,", NULL};
	static const char *const tree[] = {"\n [Woken by],0.600000,1,\n"
					   "  [No stack of the waker],0.600000,1,\n",
					   "\n [Woken by],0.700000,2,\n"
					   "  pthread_mutex_unlock,0.500000,1,libc.so.6\n"
					   "   give,0.500000,1,app\n"
					   "    worker,0.500000,1,app\n"
					   "  [No stack of the waker],0.200000,1,\n",
					   NULL};
	static const char *const objects[] = {"queue_lock+0x4,Mutex,0.700000,2,take,app,0.610000,"
					      "0.350000000,0.500000000,0.000000,0.000000,1,give,",
					      NULL};
	struct build_wait woken[WAITED_WAITS];
	struct build_result result = waited_result;
	memcpy(woken, waited_result.waits, sizeof(woken));
	woken[1].waker = 1;
	woken[2].waker_stack = NULL;
	result.waits = woken;
	render_expect(render(&result, "waits", by_waker), rows);
	ck_assert_int_eq(unlink(build_path), 0);
	render_expect(render(&result, "waits", with_stacks), tree);
	ck_assert_int_eq(unlink(build_path), 0);
	render_expect(render(&result, "waits", csv), objects);
}
END_TEST

/* Waits that went on when the collection began, and when it ended. */
START_TEST(test_cut)
{
	static const char *const parts[] =
		{"1 wait began before the collection, which does not know when\n",
		 "2 waits lasted until the collection, the thread or the records of switches "
		 "ended\n",
		 NULL};
	static const char *const rows[] = {",,100,0,1\n", ",,,,100,1,1\n", NULL};
	struct build_wait cut[WAITED_WAITS];
	struct build_result result = waited_result;
	char *text = render(&waited_result, "waits", NULL);
	ck_assert_ptr_null(strstr(text, "began before"));
	ck_assert_ptr_null(strstr(text, "lasted until"));
	free(text);
	memcpy(cut, waited_result.waits, sizeof(cut));
	cut[1].flags |= PROFILE_WAIT_BEFORE | PROFILE_WAIT_UNENDED;
	cut[0].flags |= PROFILE_WAIT_UNENDED;
	result.waits = cut;
	ck_assert_int_eq(unlink(build_path), 0);
	render_expect(render(&result, "waits", NULL), parts);
	ck_assert_int_eq(unlink(build_path), 0);
	render_expect(render(&result, "waits", csv), rows);
}
END_TEST

/* Records of waits that say more than the slices: the difference is shown, and counts nowhere. */
START_TEST(test_more_than_blocked)
{
	static const char *const parts[] =
		{"Blocked 2.350000 s: waits 2.600000 s, 1 short ones 0.000000 s; difference "
		 "0.250000 s\n",
		 NULL};
	struct build_wait longer[WAITED_WAITS];
	struct build_result result = waited_result;
	memcpy(longer, waited_result.waits, sizeof(longer));
	longer[0].wait_us += 300000;
	result.waits = longer;
	render_expect(render(&result, "waits", NULL), parts);
	static const char *const wall[] = {" app (TID 100),0.000000000,,2.000000000\n",
					   "     Sleep,0.861111112,,0.861111112\n",
					   "      Mutex queue_lock+0x4,0.688888888,,0.688888888\n",
					   NULL};
	ck_assert_int_eq(unlink(build_path), 0);
	render_expect(render(&result, "wall", csv), wall);
}
END_TEST

/* Records of all blocks, with less time than the slices by as much as two readings of a clock may
 * differ, leave no short waits; by more, they do. Loop: us. */
START_TEST(test_less_than_blocked)
{
	static const struct build_slice slices[] = {
		{.before = PROFILE_STATE_RUNNING, .run_us = 100000},
		{.before = PROFILE_STATE_BLOCKED, .start_us = 600000, .run_us = 50000},
	};
	struct build_wait wait = waited_result.waits[0];
	struct build_result result = waited_result;
	char blocked[120];
	wait.wait_us -= (unsigned)_i;
	result.slices = slices;
	result.slice_count = COUNT(slices);
	result.waits = &wait;
	result.wait_count = 1;
	snprintf(blocked, sizeof(blocked),
		 "\nBlocked 0.500000 s: waits %.6f s, 0 short ones %.6f s; difference %.6f s\n",
		 0.5 - _i / 1e6, _i > 2 ? _i / 1e6 : 0, _i > 2 ? 0 : _i / 1e6);
	const char *const parts[] = {blocked, NULL};
	char *text = render(&result, "waits", NULL);
	ck_assert_int_eq(strstr(text, "[Short waits]") != NULL, _i > 2);
	render_expect(text, parts);
}
END_TEST

START_TEST(test_filters)
{
	static const struct {
		const char *filter;
		const char *first_row;
		size_t rows;
	} filters[] = {
		{"tid=101", "\nCondition Variable 0x7f00000012a0,Condition Variable,0.600000,1,",
		 2},
		{"thread=app", "\nSleep,Sleep,1.000000,1,main", 3},
		{"function=take", "\nMutex queue_lock+0x4,Mutex,0.700000,2,take,app", 1},
		{"module=app", "\nSleep,Sleep,1.000000,1,main", 3},
		{"pid=101", "Unended\n", 0},
		{"task=none", "Unended\n", 0},
	};
	const char *arguments[] = {"--format", "csv", "--filter", filters[_i].filter, NULL};
	char *text = render(&waited_result, "waits", arguments);
	size_t lines = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	ck_assert_ptr_nonnull(strstr(text, filters[_i].first_row));
	ck_assert_uint_eq(lines, 1 + filters[_i].rows);
	free(text);
}
END_TEST

/* A part of the run has what lies in it: of spinning too, which comes before the block, or, at 1 s,
 * is all there is. The last one has no length. */
START_TEST(test_part)
{
	static const struct build_wait waits[] = {
		{.thread = 0,
		 .object = 1,
		 .stack = "app:main app:take libc:pthread_mutex_lock",
		 .start_us = 500000,
		 .wait_us = 100000,
		 .spin_us = 200000,
		 .source = PROFILE_WAIT_BY_LIBRARY},
		{.thread = 0,
		 .object = 1,
		 .stack = "app:main app:take libc:pthread_mutex_lock",
		 .start_us = 1000000,
		 .spin_us = 100000,
		 .source = PROFILE_WAIT_BY_LIBRARY},
		{.thread = 0,
		 .object = 1,
		 .stack = "app:main app:take libc:pthread_mutex_lock",
		 .start_us = 1500000,
		 .source = PROFILE_WAIT_BY_LIBRARY},
	};
	static const struct {
		const char *from, *to;
		unsigned count;
		uint64_t wait_us, spin_us;
	} parts[] = {
		{"0s", "2s", 3, 100000, 300000},
		{"0.4s", "1s", 1, 100000, 100000},
		{"0.55s", "1.05s", 2, 50000, 50000},
		{"0.7s", "0.9s", 0, 0, 0},
		{"1.5s", "2s", 1, 0, 0},
		{"1.2s", "1.5s", 0, 0, 0},
	};
	struct build_result result = waited_result;
	struct sampled_result sampled;
	struct waits found;
	result.waits = waits;
	result.wait_count = COUNT(waits);
	build_result_write(build_path, &result);
	for (size_t i = 0; i < COUNT(parts); i++) {
		struct filter filter = {0};
		ck_assert_ptr_null(filter_set_from(&filter, parts[i].from));
		ck_assert_ptr_null(filter_set_to(&filter, parts[i].to));
		ck_assert_int_eq(sampled_result_open(&sampled, build_path, &filter, TALLY_BY_THREAD,
						     true),
				 0);
		ck_assert_uint_eq(result_waits_collect(&found, sampled.reader, sampled.functions,
						       &filter, 0),
				  VT_SUCCESS);
		ck_assert_uint_eq(found.sum.count, parts[i].count);
		ck_assert_uint_eq(found.sum.wait_ns, parts[i].wait_us * 1000);
		ck_assert_uint_eq(found.sum.spin_ns, parts[i].spin_us * 1000);
		result_waits_finish(&found);
		sampled_result_close(&sampled);
		filter_finish(&filter);
	}
}
END_TEST

START_TEST(test_wall)
{
	expect(&waited_result, "wall", csv,
	       "Function Stack,Wall Time:Self,Module,Wall Time:Total\n"
	       "Total,0.000000000,,3.160000000\n"
	       " app (TID 100),0.000000000,,2.000000000\n"
	       "  [Sleep],0.000000000,,1.000000000\n"
	       "   main,0.000000000,app,1.000000000\n"
	       "    usleep,0.000000000,libc.so.6,1.000000000\n"
	       "     Sleep,1.000000000,,1.000000000\n"
	       "  [Mutex],0.000000000,,0.500000000\n"
	       "   main,0.000000000,app,0.500000000\n"
	       "    take,0.000000000,app,0.500000000\n"
	       "     pthread_mutex_lock,0.000000000,libc.so.6,0.500000000\n"
	       "      Mutex queue_lock+0x4,0.500000000,,0.500000000\n"
	       "  [Running],0.000000000,,0.400000000\n"
	       "   main,0.000000000,app,0.400000000\n"
	       "    work,0.300000000,app,0.300000000\n"
	       "    rest,0.100000000,app,0.100000000\n"
	       "  [Short waits],0.050000000,,0.050000000\n"
	       "  [Ready],0.050000000,,0.050000000\n"
	       " worker (TID 101),0.000000000,,1.160000000\n"
	       "  [Condition Variable],0.000000000,,0.600000000\n"
	       "   worker,0.000000000,app,0.600000000\n"
	       "    await,0.000000000,app,0.600000000\n"
	       "     pthread_cond_wait,0.000000000,libc.so.6,0.600000000\n"
	       "      Condition Variable 0x7f00000012a0,0.600000000,,0.600000000\n"
	       "  [Mutex],0.000000000,,0.200000000\n"
	       "   worker,0.000000000,app,0.200000000\n"
	       "    take,0.000000000,app,0.200000000\n"
	       "     pthread_mutex_lock,0.000000000,libc.so.6,0.200000000\n"
	       "      Mutex queue_lock+0x4,0.200000000,,0.200000000\n"
	       "  [Ready],0.170000000,,0.170000000\n"
	       "  [Running],0.000000000,,0.150000000\n"
	       "   worker,0.000000000,app,0.150000000\n"
	       "    spin,0.150000000,app,0.150000000\n"
	       "  [Stopped],0.040000000,,0.040000000\n");
}
END_TEST

/* Of rows "NAME,SELF,MODULE,TOTAL" of a tree: all own times are the total of the first. */
static void expect_sum(char *text)
{
	char *rest = NULL;
	uint64_t sum = 0;
	uint64_t total = 0;
	strtok_r(text, "\n", &rest);
	for (char *line; (line = strtok_r(NULL, "\n", &rest));) {
		unsigned long s, ns, total_s, total_ns;
		ck_assert_int_eq(sscanf(strchr(line, ','), ",%lu.%lu", &s, &ns), 2);
		ck_assert_int_eq(sscanf(strrchr(line, ','), ",%lu.%lu", &total_s, &total_ns), 2);
		sum += s * UINT64_C(1000000000) + ns;
		if (total == 0)
			total = total_s * UINT64_C(1000000000) + total_ns;
	}
	ck_assert_uint_gt(total, 0);
	ck_assert_uint_eq(sum, total);
	free(text);
}

/* Times that no number divides: nothing is lost by rounding. Loop: calls from slices with and
 * without the times of wakes, a result without slices, waits that say more than slices. */
START_TEST(test_wall_is_exact)
{
	static const struct build_sample many[] = {
		{.stack = "app:main app:a", .count = 7, .cpu_ms = 3},
		{.stack = "app:main app:b", .count = 3, .cpu_ms = 1},
		{.stack = "app:main app:c", .count = 1, .cpu_ms = 1},
		{.stack = "app:main app:d", .count = 2, .cpu_ms = 1, .is_kernel_only = true},
	};
	struct build_wait longer[WAITED_WAITS];
	struct build_result result = waited_result;
	memcpy(longer, waited_result.waits, sizeof(longer));
	result.samples = many;
	result.count = COUNT(many);
	result.waits = longer;
	if (_i == 1)
		result.states = PROFILE_STATES_SWITCHES;
	if (_i == 2)
		result.slice_count = 0;
	if (_i == 3)
		longer[0].wait_us += 1234567;
	expect_sum(render(&result, "wall", csv));
}
END_TEST

/* What a lock or a call is named after. */
static const struct {
	struct build_object object;
	const char *stack;
	unsigned syscall;
	const char *row; /* Sync Object,Type */
	const char *function;
} names[] = {
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1000},
	 "app:f libc:___pthread_mutex_lock libc:",
	 WAITED_FUTEX,
	 "Mutex 0x1000,Mutex",
	 "f"},
	/* The words of a lock for readers and writers, and of a barrier. */
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1208},
	 "app:f libc:pthread_rwlock_rdlock",
	 WAITED_FUTEX,
	 "Read/Write Lock 0x1200,Read/Write Lock",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x130c},
	 "app:f libc:__GI___pthread_rwlock_wrlock",
	 WAITED_FUTEX,
	 "Read/Write Lock 0x1300,Read/Write Lock",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1404},
	 "app:f libc:pthread_barrier_wait",
	 WAITED_FUTEX,
	 "Barrier 0x1400,Barrier",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1500},
	 "app:f libc:__new_sem_wait_slow64.constprop.0",
	 WAITED_FUTEX,
	 "Semaphore 0x1500,Semaphore",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1600},
	 "app:main libc:__pthread_clockjoin_ex",
	 WAITED_FUTEX,
	 "Thread join 0x1600,Thread join",
	 "main"},
	/* Of a runtime above the C library, and inlined from a header. */
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1700 + CONDITION_WORDS},
	 "app:f app:std::condition_variable::wait<g> libc:pthread_cond_wait",
	 WAITED_FUTEX,
	 "Condition Variable 0x1700,Condition Variable",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1800 + CONDITION_WORDS},
	 "jit:run app:ObjectMonitor::enter app: libc:pthread_cond_wait",
	 WAITED_FUTEX,
	 "Monitor 0x1800,Monitor",
	 "run"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1900},
	 "app:main.work app:runtime.mcall app:runtime.notesleep app:runtime.futex",
	 WAITED_FUTEX,
	 "Thread park 0x1900,Thread park",
	 "main.work"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1a04 + CONDITION_WORDS},
	 "app:f app:take_gil>PyCOND_TIMEDWAIT libc:pthread_cond_timedwait",
	 WAITED_FUTEX,
	 "Interpreter Lock 0x1a00,Interpreter Lock",
	 "f"},
	/* A static program. */
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1a24 + CONDITION_WORDS},
	 "app:f app:pthread_cond_wait app:__futex_abstimed_wait_common",
	 WAITED_FUTEX,
	 "Condition Variable 0x1a20,Condition Variable",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1a00},
	 "app:own_lock",
	 WAITED_FUTEX,
	 "Futex 0x1a00,Futex",
	 "own_lock"},
	/* The source knows the type. */
	{{.kind = PROFILE_OBJECT_SYNC, .type = PROFILE_SYNC_SPIN, .address = 0x1b04},
	 "app:f libc:pthread_mutex_lock",
	 0,
	 "Spin Lock 0x1b04,Spin Lock",
	 "f"},
	{{.kind = PROFILE_OBJECT_SYNC,
	  .type = PROFILE_SYNC_RWLOCK,
	  .address = 0x1c08,
	  .variable = "app:table"},
	 "app:f libc:pthread_rwlock_rdlock",
	 0,
	 "Read/Write Lock table+0x4,Read/Write Lock",
	 "f"},
	{{.kind = PROFILE_OBJECT_FUTEX, .address = 0x1d00, .variable = "app:"},
	 "app:f libc:pthread_mutex_lock",
	 WAITED_FUTEX,
	 "Mutex app+0x",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 3, .name = "/tmp/data"},
	 "app:f libc:read",
	 WAITED_READ,
	 "Stream /tmp/data,Stream",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 4, .name = "pipe:[77]"},
	 "app:f libc:read",
	 WAITED_READ,
	 "Pipe [77],Pipe",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 5, .name = "socket:[78]"},
	 "app:f libc:read",
	 WAITED_READ,
	 "Socket [78],Socket",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 6, .name = "/dev/pts/3"},
	 "app:f libc:read",
	 WAITED_READ,
	 "Terminal /dev/pts/3,Terminal",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 7, .name = "anon_inode:[eventfd]"},
	 "app:f libc:read",
	 WAITED_READ,
	 "[eventfd] (fd 7),Event",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 8, .name = "anon_inode:[eventpoll]"},
	 "app:f libc:epoll_wait",
	 WAITED_EPOLL_WAIT,
	 "epoll_wait (fd 8),poll",
	 "f"},
	{{.kind = PROFILE_OBJECT_FILE, .number = 9},
	 "app:f libc:accept",
	 WAITED_ACCEPT,
	 "Socket (fd 9),Socket",
	 "f"},
	{{.kind = PROFILE_OBJECT_CALL, .number = WAITED_POLL},
	 "app:f libc:poll",
	 WAITED_POLL,
	 "poll,poll",
	 "f"},
	{{.kind = PROFILE_OBJECT_CALL, .number = 9999},
	 "app:f",
	 9999,
	 "System call 9999,System call",
	 "f"},
	{{.kind = PROFILE_OBJECT_CHILD, .number = 123},
	 "app:f libc:wait4",
	 WAITED_WAIT4,
	 "Child process,Child process",
	 "f"},
	{{.kind = PROFILE_OBJECT_FAULT}, "app:f", 0, "Page fault,Page fault", "f"},
	{{.kind = PROFILE_OBJECT_UNSEEN}, NULL, 0, "[Not looked at],Unknown", "[Unknown frame(s)]"},
	{{.kind = PROFILE_OBJECT_UNKNOWN}, NULL, 0, "[Unknown],Unknown", "[Unknown frame(s)]"},
};

START_TEST(test_names)
{
	const struct build_wait wait = {.object = 1,
					.stack = names[_i].stack,
					.start_us = 1000,
					.wait_us = 1000,
					.syscall = names[_i].syscall,
					.source = PROFILE_WAIT_BY_OBSERVER};
	const struct build_result result = {.samples = waited_result.samples,
					    .count = 1,
					    .is_finalized = true,
					    .objects = &names[_i].object,
					    .object_count = 1,
					    .waits = &wait,
					    .wait_count = 1,
					    .wait_sources = 1u << PROFILE_WAIT_BY_OBSERVER};
	char *text = render(&result, "waits", csv);
	char *row = strchr(text, '\n') + 1;
	char function[64];
	snprintf(function, sizeof(function), ",0.001000,1,%s,", names[_i].function);
	ck_assert_msg(strncmp(row, names[_i].row, strlen(names[_i].row)) == 0, "%s: %s",
		      names[_i].row, row);
	ck_assert_msg(strstr(row, function) != NULL, "%s: %s", function, row);
	free(text);
}
END_TEST

/* A condition variable's wait ends with locking its mutex: what is locked as a mutex once is one.
 * Loop: waits without stacks have no say. */
START_TEST(test_type_of_several_waits)
{
	const char *stack = _i ? NULL : "app:f libc:pthread_cond_wait libc:";
	static const struct build_object lock = {.kind = PROFILE_OBJECT_FUTEX, .address = 0x1004};
	const struct build_wait both[] = {
		{.object = 1,
		 .stack = stack,
		 .start_us = 1000,
		 .wait_us = 1000,
		 .syscall = WAITED_FUTEX},
		{.object = 1,
		 .stack = stack,
		 .start_us = 3000,
		 .wait_us = 1000,
		 .syscall = WAITED_FUTEX},
		{.object = 1,
		 .stack = "app:g libc:pthread_mutex_lock libc:",
		 .start_us = 5000,
		 .wait_us = 1000,
		 .syscall = WAITED_FUTEX},
	};
	const struct build_result result = {.samples = waited_result.samples,
					    .count = 1,
					    .is_finalized = true,
					    .objects = &lock,
					    .object_count = 1,
					    .waits = both,
					    .wait_count = COUNT(both),
					    .wait_sources = 1u << PROFILE_WAIT_BY_OBSERVER};
	static const char *const parts[] = {"\nMutex 0x1004,Mutex,0.003000,3,", NULL};
	render_expect(render(&result, "waits", csv), parts);
}
END_TEST

/* The row of short waits comes last, however many others there are. Loop: how many. */
START_TEST(test_any_number_of_rows)
{
	struct build_object objects[40] = {{0}};
	struct build_wait waits[40] = {{0}};
	struct build_result result = waited_result;
	size_t lines = 0;
	for (unsigned i = 0; i < 40; i++) {
		objects[i] = (struct build_object){.kind = PROFILE_OBJECT_FUTEX,
						   .address = 0x1000 + 8 * i};
		waits[i] = (struct build_wait){.object = i + 1,
					       .stack = "app:main libc:pthread_mutex_lock",
					       .start_us = 100000 + 10000 * i,
					       .wait_us = 10000,
					       .syscall = WAITED_FUTEX};
	}
	result.objects = objects;
	result.object_count = 40;
	result.waits = waits;
	result.wait_count = (size_t)_i;
	char *text = render(&result, "waits", csv);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	ck_assert_uint_eq(lines, (size_t)_i + 2);
	const char *row = strstr(text, "\n[Short waits],,");
	ck_assert_ptr_nonnull(row);
	unsigned long s, us;
	ck_assert_int_eq(sscanf(row, "\n[Short waits],,%lu.%6lu", &s, &us), 2);
	ck_assert_uint_eq(s * 1000000 + us, 2350000 - 10000 * (unsigned)_i);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waits");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_objects);
	tcase_add_loop_test(cases, test_groups, 0, 4);
	tcase_add_test(cases, test_stacks);
	tcase_add_test(cases, test_account);
	tcase_add_test(cases, test_no_stack_of_the_waker);
	tcase_add_test(cases, test_cut);
	tcase_add_test(cases, test_more_than_blocked);
	tcase_add_loop_test(cases, test_less_than_blocked, 0, 5);
	tcase_add_loop_test(cases, test_filters, 0, 6);
	tcase_add_test(cases, test_part);
	tcase_add_test(cases, test_wall);
	tcase_add_loop_test(cases, test_wall_is_exact, 0, 4);
	tcase_add_loop_test(cases, test_names, 0, (int)COUNT(names));
	tcase_add_loop_test(cases, test_type_of_several_waits, 0, 2);
	tcase_add_loop_test(cases, test_any_number_of_rows, 0, 41);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
