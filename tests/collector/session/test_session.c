/* What the session decides: when a collection ends, whom signals go to, and what it says at the
 * end. All that it asks is a fake here. */
#include "collector/machine/clock.h"
#include "collector/session/session_private.h"
#include "collector/waits/observer.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAM = 4000, GONE = 4003, MS = 1000000 };

static const struct analysis counting = {.name = "counting", .suffix = "co"};
static struct options options;
static struct session session;
static char app[] = "app";
static char *program[] = {app, NULL};

/* What the fakes answer, and what they saw. */
static struct drain_counts drained;
static struct tracker_counts counted;
static uint64_t ring_lost;
static uint64_t lost_ticks;
static struct stack_source_missing missing;
static uint32_t processes;
static const struct signals_event *pending;
static size_t pending_count;
static int sent;
static uint64_t settled_all;
static char said[4096];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	size_t used = strlen(said);
	va_list args;
	va_start(args, format);
	vsnprintf(said + used, sizeof(said) - used, format, args);
	va_end(args);
}

int kill(pid_t pid, int number)
{
	if (number != 0)
		sent = pid == PROGRAM ? number : -1;
	errno = ESRCH;
	return pid == GONE ? -1 : 0;
}

void emit_add_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns,
		   const struct emit_note *note)
{
	(void)emit;
	ck_assert_uint_eq(time_ns, session.end_ns);
	if (kind == PROFILE_NOTE_COLLECTOR_RSS || kind == PROFILE_NOTE_COLLECTOR_CPU)
		ck_assert_uint_gt(note->value, 0);
	else
		say("%d: %llu %u %s\n", kind, (unsigned long long)note->value, note->pid,
		    note->text ? note->text : "-");
}

void emit_clock(struct emit *emit, const struct profile_clock *clock)
{
	(void)emit, (void)clock;
}

int emit_failed(const struct emit *emit, struct failure *failure)
{
	(void)emit, (void)failure;
	return 0;
}

void analyzer_apply(struct analyzer *analyzer, const struct record *record)
{
	(void)analyzer, (void)record;
}

void analyzer_choose_waits(struct analyzer *analyzer, enum profile_wait_source source,
			   uint64_t threshold_ns)
{
	(void)analyzer, (void)source, (void)threshold_ns;
}

uint64_t analyzer_stale_looks(const struct analyzer *analyzer)
{
	(void)analyzer;
	return 0;
}

void analyzer_put_unended(struct analyzer *analyzer, const struct waits_unended *unended,
			  uint64_t end_ns)
{
	(void)analyzer, (void)unended, (void)end_ns;
}

struct observer *observer_create(uint64_t threshold_ns, struct drain *drain)
{
	(void)threshold_ns, (void)drain;
	return NULL;
}

void observer_destroy(struct observer *observer)
{
	(void)observer;
}

void observer_add_thread(struct observer *observer, uint32_t pid, uint32_t tid)
{
	(void)observer, (void)pid, (void)tid;
}

int observer_start(struct observer *observer)
{
	(void)observer;
	return -1;
}

void observer_stop(struct observer *observer)
{
	(void)observer;
}

struct observer_counts observer_counts(const struct observer *observer)
{
	(void)observer;
	return (struct observer_counts){0};
}

struct states *analyzer_states(const struct analyzer *analyzer)
{
	(void)analyzer;
	return NULL;
}

void analyzer_lose_rest(struct analyzer *analyzer)
{
	(void)analyzer;
	ck_abort();
}

void states_counts(const struct states *states, struct states_counts *counts)
{
	(void)states, (void)counts;
	ck_abort();
}

int result_check(struct result *result, struct failure *failure)
{
	(void)result, (void)failure;
	return 0;
}

int drain_start(struct drain *drain)
{
	(void)drain;
	return 0;
}

size_t drain_polls(const struct drain *drain, struct pollfd *polls)
{
	(void)drain, (void)polls;
	return 0;
}

struct drain *drain_create(struct sampler *sampler)
{
	(void)sampler;
	return NULL;
}

void drain_begin(struct drain *drain, enum drain_extent extent)
{
	(void)drain, (void)extent;
}

bool drain_next(struct drain *drain, const struct record **record)
{
	(void)drain, (void)record;
	return false;
}

void drain_keep_share(struct drain *drain, uint32_t share)
{
	(void)drain, (void)share;
}

void drain_counts(const struct drain *drain, struct drain_counts *counts)
{
	(void)drain;
	*counts = drained;
}

/* Nothing watches or adds: the observer of no test here. */
bool drain_add_source(struct drain *drain, const struct source *source)
{
	(void)drain, (void)source;
	return true;
}

void drain_add_watcher(struct drain *drain, const struct drain_watcher *watcher)
{
	(void)drain, (void)watcher;
}

void drain_watch(struct drain *drain)
{
	(void)drain;
}

void drain_lock(struct drain *drain)
{
	(void)drain;
}

void drain_unlock(struct drain *drain)
{
	(void)drain;
}

const char *tracker_next_process(const struct tracker *tracker, size_t *position, uint32_t *pid)
{
	(void)tracker;
	*pid = PROGRAM + 1 + (uint32_t)*position;
	return (*position)++ < processes ? "helper" : NULL;
}

void tracker_settle(struct tracker *tracker, uint32_t family, uint64_t total_ns)
{
	(void)tracker;
	say("family %u: %llu\n", family, (unsigned long long)total_ns);
}

void tracker_settle_all(struct tracker *tracker, uint64_t total_ns)
{
	(void)tracker;
	settled_all = total_ns;
}

void tracker_counts(const struct tracker *tracker, struct tracker_counts *counts)
{
	(void)tracker;
	*counts = counted;
}

void sampler_read(const struct sampler *sampler, size_t index, struct event_reading *total)
{
	(void)sampler;
	*total = (struct event_reading){.count_ns = 100 * (index + 1), .lost = ring_lost};
}

uint64_t sampler_lost_switches(const struct sampler *sampler)
{
	(void)sampler;
	return 0;
}

void sampler_read_event(const struct sampler *sampler, uint32_t event, struct event_reading *total)
{
	(void)sampler;
	*total = (struct event_reading){.count_ns = event};
}

uint64_t sampler_lost_ticks(const struct sampler *sampler)
{
	(void)sampler;
	return lost_ticks;
}

void sampler_open_waits(struct sampler *sampler, uint64_t threshold_ns, bool all_wakers)
{
	(void)threshold_ns;
	(void)all_wakers;
	sampler->waits_error = EPERM;
}

const char *sampler_waits_words(const struct sampler *sampler)
{
	(void)sampler;
	return "not permitted";
}

void sampler_missing_waits(const struct sampler *sampler, struct waits_source_missing *out)
{
	(void)sampler;
	*out = (struct waits_source_missing){0};
}

void sampler_missing(const struct sampler *sampler, struct stack_source_missing *out)
{
	(void)sampler;
	*out = missing;
}

void sampler_renew(struct sampler *sampler)
{
	(void)sampler;
}

void tracker_add_unattributed(struct tracker *tracker, uint64_t cpu_ns, uint64_t total_ns)
{
	(void)tracker;
	say("unattributed %llu of %llu\n", (unsigned long long)cpu_ns,
	    (unsigned long long)total_ns);
}

void sampler_keep_share(const struct sampler *sampler, uint32_t share)
{
	(void)sampler, (void)share;
}

bool signals_next(struct signals *signals, struct signals_event *event)
{
	(void)signals;
	if (pending_count == 0)
		return false;
	*event = *pending++;
	pending_count--;
	return true;
}

void target_check(struct target *target, bool wait)
{
	ck_assert(!wait);
	target->ended = true;
}

static void set_up(void)
{
	options = (struct options){.analysis = &counting, .program = program, .children = true};
	session = (struct session){.options = &options, .log = LOG_QUIET, .end_ns = 5000};
	session.target.pid = PROGRAM;
	session.start_ns = clock_now();
	budget_begin(&session.budget, 1, session.start_ns);
	said[0] = '\0';
}

static void handle(const struct signals_event *event)
{
	pending = event;
	pending_count = 1;
	sent = 0;
	session_handle_signals(&session);
	ck_assert_uint_eq(pending_count, 0);
}

/* Not before it is over. */
START_TEST(duration)
{
	struct failure failure;
	options.duration_ns = 30 * MS;
	ck_assert_int_eq(session_collect(&session, &failure), 0);
	ck_assert(session.stop);
	ck_assert_uint_ge(clock_now() - session.start_ns, 30 * MS);
	session.stop = false;
	session.start_ns = clock_now() - 900000ull * MS;
	options.duration_ns = 1000000ull * MS;
	session_watch(&session, 0);
	ck_assert(!session.stop);
	options.duration_ns = 0;
	session_watch(&session, 0);
	ck_assert(!session.stop);
}
END_TEST

/* The last of the attached processes ends the collection, the first does not. */
START_TEST(ends_of_attached)
{
	int pipes[2][2];
	struct pollfd polls[3] = {{.fd = -1}};
	options = (struct options){.pid_count = 2};
	session.polls = polls;
	session.poll_count = 3;
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(pipe(pipes[i]), 0);
		polls[i + 1] = (struct pollfd){.fd = pipes[i][0], .events = POLLIN};
	}
	for (size_t ended = 0; ended < 2; ended++) {
		session_watch(&session, 0);
		ck_assert(!session.stop);
		close(pipes[ended][1]);
		session_watch(&session, -1);
		ck_assert_int_eq(polls[ended + 1].fd, -1);
		ck_assert_int_eq(session.stop, ended == 1);
	}
}
END_TEST

START_TEST(signals_at_launch)
{
	handle(&(struct signals_event){.number = SIGTERM});
	ck_assert_int_eq(sent, SIGTERM);
	handle(&(struct signals_event){.number = SIGINT, .from_terminal = true});
	ck_assert_int_eq(sent, 0);
	ck_assert(!session.stop);
	handle(&(struct signals_event){.number = SIGCHLD});
	ck_assert(session.stop);
	/* Its number may be another's by now. */
	handle(&(struct signals_event){.number = SIGTERM});
	ck_assert_int_eq(sent, 0);
}
END_TEST

START_TEST(signals_when_attached)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	options = (struct options){.pid_count = 1};
	handle(&(struct signals_event){.number = SIGUSR1});
	ck_assert(!session.stop);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		session.stop = false;
		handle(&(struct signals_event){.number = ends[i]});
		ck_assert(session.stop);
		ck_assert_int_eq(sent, 0);
	}
}
END_TEST

/* Three are named; one whose end was not yet told is not counted. */
START_TEST(running_on)
{
	session_note_running(&session);
	session.target.ended = true;
	processes = 0;
	session_note_running(&session);
	ck_assert_str_eq(said, "");
	processes = 5;
	session_note_running(&session);
	ck_assert_str_eq(said, "20: 0 0 the program ended before 4 processes that it started: "
			       "helper (4001), helper (4002), helper (4004), and 1 more; from then "
			       "on they are not sampled; tbcollect -p PID samples them\n");
}
END_TEST

START_TEST(notes_at_end)
{
	session.start_ns = 1000;
	session_note_end(&session);
	ck_assert_str_eq(said, "14: 4000 0 -\n17: 0 0 -\n");
	said[0] = '\0';
	drained = (struct drain_counts){.malformed = 3,
					.out_of_order = 4,
					.broken = 1,
					.dropped_bytes = 64,
					.left_out_bytes = 500};
	counted.stack_copy_bytes = 1000;
	session.target = (struct target){.pid = 7, .ended = true, .exit_status = 130, .cpu_ns = 9};
	session_note_end(&session);
	ck_assert_str_eq(said, "7: 3 0 records that could not be read\n"
			       "36: 64 0 a ring held bytes that are no records\n37: 4 0 -\n"
			       "14: 4000 0 -\n13: 130 7 -\n21: 9 7 -\n17: 1500 0 -\n");
}
END_TEST

/* Loop: the kinds. Where nothing is drawn there is nothing that it came from. */
START_TEST(notes_of_sampling)
{
	static const char *const expected[] =
		{[PROFILE_SAMPLING_FIXED] = "2: 10000000 0 -\n45: 1 0 -\n3: ",
		 [PROFILE_SAMPLING_THREADS] =
			 "2: 10000000 0 -\n45: 2 0 -\n46: 3333333 0 -\n47: 99 0 -\n3: ",
		 [PROFILE_SAMPLING_CPUS] =
			 "2: 10000000 0 -\n45: 3 0 -\n46: 1250000 0 -\n47: 99 0 -\n3: "};
	options.interval_ns = 10 * MS;
	session.end_ns = session.start_ns;
	session.sampler.config.has_count = true;
	session.sampler.config.sampling =
		sampling_choose((enum profile_sampling)_i, options.interval_ns, 99);
	session_note_start(&session);
	ck_assert_msg(strstr(said, expected[_i]) != NULL, "%s", said);
	ck_assert_ptr_nonnull(strstr(said, ": 0 0 counting\n"));
}
END_TEST

/* Records lost of which no record told; wait4's total only where all that it counts is followed. */
START_TEST(settles)
{
	struct sampler_thread threads[] = {{.family = 11}, {.family = 12}};
	session.sampler.threads = threads;
	session.sampler.thread_count = 2;
	session.target = (struct target){.ended = true, .cpu_ns = 900};
	ring_lost = 4;
	counted.lost = 8;
	session_settle(&session);
	ck_assert_str_eq(said, "family 11: 100\nfamily 12: 200\n");
	ck_assert_uint_eq(settled_all, 900);
	said[0] = '\0';
	settled_all = 0;
	options.children = false;
	counted.lost = 5;
	session_settle(&session);
	ck_assert_str_eq(said, "family 11: 100\nfamily 12: 200\n7: 3 0 -\n");
	ck_assert_uint_eq(settled_all, 0);
}
END_TEST

/* BPF tells the accounts, and what of them it could not. */
START_TEST(settles_exact_accounts)
{
	struct sampler_thread threads[] = {{.family = 11}, {.family = 12}};
	session.sampler.threads = threads;
	session.sampler.thread_count = 2;
	session.sampler.config.sampling.kind = PROFILE_SAMPLING_CPUS;
	session.target = (struct target){.ended = true, .cpu_ns = 900};
	ring_lost = 0;
	lost_ticks = 7;
	counted.lost = 5;
	missing = (struct stack_source_missing){.accounts = 3, .cpu_ns = 30};
	session_settle(&session);
	ck_assert_str_eq(said,
			 "unattributed 30 of 300\n7: 3 0 CPU times of ended threads\n7: 2 0 -\n");
	ck_assert_uint_eq(settled_all, 900);
	said[0] = '\0';
	lost_ticks = 0;
	missing = (struct stack_source_missing){.processes = 2};
	session_settle(&session);
	ck_assert_str_eq(said,
			 "unattributed 0 of 300\n20: 0 0 2 processes were not sampled: more than "
			 "12288 lived at once; --sampling fixed follows any number\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tcase = tcase_create("session");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, duration);
	tcase_add_test(tcase, ends_of_attached);
	tcase_add_test(tcase, signals_at_launch);
	tcase_add_test(tcase, signals_when_attached);
	tcase_add_test(tcase, running_on);
	tcase_add_test(tcase, notes_at_end);
	tcase_add_loop_test(tcase, notes_of_sampling, PROFILE_SAMPLING_FIXED,
			    PROFILE_SAMPLING_CPUS + 1);
	tcase_add_test(tcase, settles);
	tcase_add_test(tcase, settles_exact_accounts);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
