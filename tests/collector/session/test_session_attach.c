/* What the session does while it attaches: the rings are drained in between, and its end is seen.
 * All that it asks is a fake here. */
#include "collector/machine/clock.h"
#include "collector/session/attach.h"
#include "collector/session/cpu_time.h"
#include "collector/session/session_private.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

enum { MS = 1000000, NONE = 4001 };

static const struct options options = {.pids = {4000, 4010}, .pid_count = 2};
static struct session session;
static struct drain *const a_drain = (struct drain *)&session;

/* What the fakes answer, and what they saw. */
static uint64_t now_ns;
static uint64_t step_ns; /* of the clock, from one record to the next */
static bool is_openable;
static unsigned more_records;
static enum drain_extent extents[4];
static bool answers[4];
static size_t look_count;
static int attached[3]; /* result for each process */
static unsigned opened, begun, watched, applied, doubles_dropped, processes, maps_read, notes,
	lines;
static pid_t checked_max;

uint64_t clock_now(void)
{
	return now_ns;
}

uint64_t cpu_time_of_process_ns(pid_t pid)
{
	return (uint64_t)pid;
}

void emit_add_note(struct emit *emit, enum profile_note_kind kind, uint64_t time_ns,
		   const struct emit_note *note)
{
	(void)emit;
	ck_assert_int_eq(kind, PROFILE_NOTE_WARNING);
	ck_assert_uint_eq(time_ns, now_ns);
	ck_assert_ptr_nonnull(strstr(note->text, "before all threads were attached to"));
	notes++;
}

void log_line(enum log_level log, enum log_level level, const char *format, ...)
{
	(void)log, (void)level, (void)format;
	lines++;
}

int session_open_drain(struct session *of, struct failure *failure)
{
	opened++;
	if (!is_openable)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	of->drain = a_drain;
	return 0;
}

void session_start_draining(struct session *of)
{
	ck_assert_ptr_nonnull(of->drain);
	begun++;
}

void session_watch(struct session *of, int timeout_ms)
{
	(void)of;
	ck_assert_int_eq(timeout_ms, 0);
	watched++;
}

bool session_apply(struct session *of, enum drain_extent extent)
{
	(void)of, (void)extent;
	applied++;
	now_ns += step_ns;
	if (more_records == 0)
		return false;
	return --more_records > 0;
}

void analyzer_begin(struct analyzer *analyzer, uint64_t start_ns)
{
	(void)analyzer;
	ck_assert_uint_eq(start_ns, session.start_ns);
}

int attach_check(pid_t pid, struct failure *failure)
{
	if (pid == NONE)
		return failure_set(failure, FAILURE_EXIT, "no such process");
	checked_max = pid;
	return 0;
}

int attach_process(struct sampler *sampler, struct tracker *tracker, pid_t pid,
		   attach_meanwhile *look, void *user, struct failure *failure)
{
	(void)tracker, (void)failure;
	ck_assert_ptr_eq(sampler, &session.sampler);
	ck_assert_int_eq(pid, options.pids[processes]);
	for (size_t i = 0; processes == 0 && i < look_count; i++)
		answers[i] = look(user, extents[i]);
	return attached[processes++];
}

void attach_drop_doubles(struct sampler *sampler, const struct tracker *tracker)
{
	(void)sampler, (void)tracker;
	doubles_dropped++;
}

void tracker_read_attached(struct tracker *tracker, pid_t pid)
{
	(void)tracker;
	ck_assert_uint_ge(doubles_dropped, 1);
	ck_assert_int_eq(pid, session.options->pids[maps_read++ % options.pid_count]);
}

static void set_up(void)
{
	session = (struct session){.options = &options, .log = LOG_QUIET, .next_look_ns = 1};
	now_ns = 1000 * (uint64_t)MS;
	is_openable = true;
}

START_TEST(checks_all)
{
	struct options three = {.pids = {4000, 4010, NONE}, .pid_count = 3};
	struct failure failure = {0};
	ck_assert_int_eq(session_check_attached(&session, &failure), 0);
	ck_assert_int_eq(checked_max, 4010);
	session.options = &three;
	ck_assert_int_eq(session_check_attached(&session, &failure), -1);
	ck_assert_str_eq(failure.text, "no such process");
}
END_TEST

START_TEST(attaches_all)
{
	struct failure failure = {0};
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert_uint_eq(processes, 2);
	ck_assert_uint_eq(session.start_ns, 1000 * (uint64_t)MS);
	ck_assert_uint_eq(session.attached_cpu_ns, 8010);
	ck_assert_uint_eq(opened, 1);
	ck_assert_uint_eq(doubles_dropped, 1);
	ck_assert_uint_eq(maps_read, 2);
	ck_assert_uint_eq(notes + lines, 0);
}
END_TEST

/* Nothing else is done in the first 5 ms. */
START_TEST(opens_threads_first)
{
	struct failure failure = {0};
	session.next_look_ns = 0;
	look_count = 2;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert(answers[0] && answers[1]);
	ck_assert_uint_eq(watched + applied + begun, 0);
	processes = 0;
	now_ns += 5 * MS;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert_uint_eq(watched, 1);
}
END_TEST

START_TEST(looks_now_and_then)
{
	struct failure failure = {0};
	look_count = 2;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	/* The second one is too soon. */
	ck_assert(answers[0] && answers[1]);
	ck_assert_uint_eq(watched, 1);
	ck_assert_uint_eq(applied, 1);
	ck_assert_uint_eq(opened, 1);
	ck_assert_uint_eq(session.next_look_ns, now_ns + 5 * MS);
	processes = 0;
	now_ns += 5 * MS;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert_uint_eq(watched, 2);
	ck_assert_uint_eq(begun, 2);
}
END_TEST

/* For so long as there are any, and for half a second at most. */
START_TEST(applies_all_that_there_are)
{
	struct failure failure = {0};
	extents[0] = extents[1] = DRAIN_ALL;
	look_count = 1;
	more_records = 10;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert_uint_eq(applied, 10);
	look_count = 2; /* at once */
	processes = 0;
	more_records = 1000000;
	step_ns = 100 * MS;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert_uint_eq(applied, 10 + 5 + 5);
	ck_assert_uint_eq(watched, applied);
}
END_TEST

START_TEST(looks_once_where_some_will_do)
{
	struct failure failure = {0};
	extents[0] = DRAIN_SETTLED;
	look_count = 1;
	more_records = 10;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert_uint_eq(applied, 1);
}
END_TEST

START_TEST(sees_the_end)
{
	struct failure failure = {0};
	look_count = 1;
	session.stop = true;
	attached[0] = 1;
	ck_assert_int_eq(session_attach(&session, &failure), 0);
	ck_assert(!answers[0]);
	ck_assert_uint_eq(applied, 0);
	ck_assert_uint_eq(processes, 1);
	ck_assert_uint_eq(notes, 1);
	ck_assert_uint_eq(lines, 1);
}
END_TEST

/* Not in between, where some threads are open already, but when all are. */
START_TEST(says_that_memory_is_short)
{
	struct failure failure = {0};
	is_openable = false;
	look_count = 1;
	ck_assert_int_eq(session_attach(&session, &failure), -1);
	ck_assert(answers[0]);
	ck_assert_uint_eq(opened, 2);
	ck_assert_uint_eq(processes, 2);
	ck_assert_uint_eq(begun + watched + applied + doubles_dropped, 0);
	ck_assert_str_eq(failure.text, "out of memory");
}
END_TEST

START_TEST(ends_at_a_failure)
{
	struct failure failure = {0};
	attached[0] = -1;
	ck_assert_int_eq(session_attach(&session, &failure), -1);
	ck_assert_uint_eq(processes, 1);
	ck_assert_uint_eq(opened + doubles_dropped + notes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session attach");
	TCase *tcase = tcase_create("session attach");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, checks_all);
	tcase_add_test(tcase, attaches_all);
	tcase_add_test(tcase, opens_threads_first);
	tcase_add_test(tcase, looks_now_and_then);
	tcase_add_test(tcase, applies_all_that_there_are);
	tcase_add_test(tcase, looks_once_where_some_will_do);
	tcase_add_test(tcase, sees_the_end);
	tcase_add_test(tcase, says_that_memory_is_short);
	tcase_add_test(tcase, ends_at_a_failure);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
