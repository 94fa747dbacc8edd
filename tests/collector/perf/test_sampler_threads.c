/* Which events the sampler opens and closes for threads, and where their records go. An event is a
 * file of its own here, so that it shows what is closed. */
#include "collector/perf/sampler.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { CPUS = 2, PID = 4000, FILES = 256, EACH_NS = 5 };

enum kind { NONE, IDLE, SAMPLING, DEEP, ADDED };

/* What the kernel would know of an event, by its descriptor. */
static struct fake_event {
	enum kind kind;
	pid_t tid;
	int cpu;
	int output; /* descriptor of the event whose ring has its records */
	bool is_disabled;
} fakes[FILES];

static size_t files_max; /* events that may be open */
static pid_t gone;       /* thread that ended before its last event was opened */
static int deaf;         /* CPU whose events cannot be redirected; -1: none */
static struct sampler sampler;
static struct failure failure;

/* Not 0 and 1: a CPU's number is none of an index. */
int cpus_online(struct cpus *cpus)
{
	*cpus = (struct cpus){.numbers = calloc(CPUS, sizeof(*cpus->numbers)), .count = CPUS};
	ck_assert_ptr_nonnull(cpus->numbers);
	cpus->numbers[0] = 2;
	cpus->numbers[1] = 7;
	return 0;
}

void cpus_finish(struct cpus *cpus)
{
	free(cpus->numbers);
}

static size_t count_open(void)
{
	size_t count = 0;
	for (int fd = 0; fd < FILES; fd++) {
		if (fakes[fd].kind != NONE && fcntl(fd, F_GETFD) < 0)
			fakes[fd].kind = NONE;
		count += fakes[fd].kind != NONE;
	}
	return count;
}

static int open_fake(enum kind kind, pid_t tid, int cpu)
{
	errno = EMFILE;
	if (count_open() == files_max)
		return -1;
	errno = ESRCH;
	if (tid == gone && cpu == 7)
		return -1;
	int fd = memfd_create("event", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_lt(fd, FILES);
	fakes[fd] = (struct fake_event){.kind = kind, .tid = tid, .cpu = cpu, .output = -1};
	return fd;
}

int event_probe(struct event_config *config, struct failure *why)
{
	(void)why;
	config->has_lost = true;
	return 0;
}

int event_open(const struct event_config *config, pid_t tid, int cpu)
{
	(void)config;
	return open_fake(SAMPLING, tid, cpu);
}

int event_open_deep(const struct event_config *config, pid_t tid, int cpu)
{
	(void)config;
	return open_fake(DEEP, tid, cpu);
}

int event_open_added(const struct event_config *config, uint32_t index, pid_t tid, int cpu)
{
	(void)config, (void)index;
	return open_fake(ADDED, tid, cpu);
}

uint64_t event_hides_period(const struct event_config *config, uint32_t index)
{
	(void)config;
	return 100 * (index + 1);
}

int event_read_id(int fd, uint64_t *id)
{
	*id = 1000 + (uint64_t)fd;
	return 0;
}

int event_open_idle(const struct event_config *config, int cpu)
{
	(void)config;
	return open_fake(IDLE, 0, cpu);
}

int event_redirect(int fd, int ring_fd)
{
	errno = EINVAL;
	if (fakes[fd].cpu == deaf)
		return -1;
	fakes[fd].output = ring_fd;
	return 0;
}

int event_disable(int fd)
{
	fakes[fd].is_disabled = true;
	return 0;
}

int event_read(const struct event_config *config, int fd, struct event_reading *reading)
{
	(void)config;
	*reading = (struct event_reading){EACH_NS, (uint64_t)fakes[fd].cpu};
	return fakes[fd].cpu == deaf ? -1 : 0;
}

/* Only samples by the CPUs' clocks, or of BPF, ask for these. */
int event_open_output(const struct event_config *config, int cpu)
{
	(void)config;
	ck_abort_msg("an output on CPU %d", cpu);
}

int event_open_clock(const struct event_config *config, int cpu, uint64_t tick_ns)
{
	(void)config, (void)tick_ns;
	ck_abort_msg("a clock of CPU %d", cpu);
}

int event_set_period(int fd, uint64_t period_ns)
{
	(void)period_ns;
	ck_abort_msg("another period of %d", fd);
}

int event_attach_program(int fd, int program_fd)
{
	(void)program_fd;
	ck_abort_msg("a program at %d", fd);
}

int event_enable(int fd)
{
	ck_abort_msg("%d is enabled by exec", fd);
}

/* Short intervals, so that there are deep events too. */
static void set_up(void)
{
	struct event_config config = {
		.sampling = {.kind = PROFILE_SAMPLING_FIXED, .interval_ns = 100000},
		.stack_size = UINT32_MAX,
	};
	memset(fakes, 0, sizeof(fakes));
	files_max = FILES;
	gone = -1;
	deaf = -1;
	failure = (struct failure){0};
	ck_assert_int_eq(sampler_init(&sampler, &config, SAMPLER_COPY, &failure), 0);
}

static void tear_down(void)
{
	sampler_finish(&sampler);
	ck_assert_uint_eq(count_open(), 0);
}

static void add(pid_t tid)
{
	ck_assert_msg(sampler_add(&sampler, PID, tid, &failure) == 0, "%s", failure.text);
	ck_assert_int_eq(sampler.threads[sampler.thread_count - 1].tid, tid);
}

/* One of the kind for each CPU, of the thread, with its records in the ring of the CPU. */
static void expect_events(const int *fds, enum kind kind, pid_t tid)
{
	ck_assert_ptr_nonnull(fds);
	for (size_t i = 0; i < CPUS; i++) {
		const struct fake_event *event = &fakes[fds[i]];
		ck_assert_int_ge(fcntl(fds[i], F_GETFD), 0);
		ck_assert_int_eq(event->kind, kind);
		ck_assert_int_eq(event->tid, tid);
		ck_assert_int_eq(event->cpu, (int)sampler.cpus.numbers[i]);
		ck_assert_int_eq(event->output, sampler.rings[i].fd);
		ck_assert_int_eq(fakes[event->output].kind, IDLE);
		ck_assert_int_eq(fakes[event->output].cpu, event->cpu);
	}
}

START_TEST(events_on_each_cpu)
{
	add(PID);
	add(PID + 1);
	ck_assert_uint_eq(sampler.thread_count, 2);
	for (size_t t = 0; t < 2; t++) {
		expect_events(sampler.threads[t].fds, SAMPLING, PID + (pid_t)t);
		expect_events(sampler.threads[t].deep_fds, DEEP, PID + (pid_t)t);
	}
	ck_assert_uint_eq(count_open(), 5 * CPUS);
}
END_TEST

/* Two beside the sampling event: their ids tell which. */
START_TEST(added_events)
{
	struct event_reading reading;
	sampler.config.added_count = 2;
	add(PID);
	add(PID + 1);
	for (size_t t = 0; t < 2; t++) {
		const int *fds = sampler.threads[t].added_fds;
		for (uint32_t i = 0; i < 2; i++)
			expect_events(fds + (size_t)i * CPUS, ADDED, PID + (pid_t)t);
		for (size_t i = 0; i < 2 * CPUS; i++) {
			struct event_id found = {0};
			uint64_t id = 1000 + (uint64_t)fds[i];
			ck_assert(event_ids_find(&sampler.ids, id, &found));
			ck_assert_uint_eq(found.event, i / CPUS + 1);
			ck_assert_uint_eq(found.period, 100 * (i / CPUS + 1));
		}
	}
	ck_assert_uint_eq(count_open(), 9 * CPUS);
	sampler_read_event(&sampler, 2, &reading);
	ck_assert_uint_eq(reading.count_ns, 2 * CPUS * EACH_NS);
	sampler_drop(&sampler, 0);
	ck_assert_ptr_null(sampler.threads[0].added_fds);
	ck_assert_uint_eq(count_open(), 5 * CPUS);
	sampler_stop(&sampler);
	for (size_t i = 0; i < 2 * CPUS; i++)
		ck_assert(fakes[sampler.threads[1].added_fds[i]].is_disabled);
}
END_TEST

/* They are not done without. */
START_TEST(too_few_files_for_added_events)
{
	sampler.config.added_count = 2;
	files_max = 7;
	ck_assert_int_eq(sampler_add(&sampler, PID, PID, &failure), -1);
	ck_assert_uint_eq(count_open(), CPUS); /* the rings */
	ck_assert_uint_eq(sampler.thread_count, 0);
}
END_TEST

/* Loop: how many events may be open. Rings and the sampling events of two threads take 6; deep
 * events are done without where these would not fit. */
START_TEST(deep_events_make_room)
{
	files_max = (size_t)_i;
	add(PID);
	ck_assert_int_eq(sampler.deep, files_max >= 6);
	add(PID + 1);
	ck_assert_int_eq(sampler.deep, files_max >= 10);
	for (size_t t = 0; t < 2; t++) {
		expect_events(sampler.threads[t].fds, SAMPLING, PID + (pid_t)t);
		if (!sampler.deep)
			ck_assert_ptr_null(sampler.threads[t].deep_fds);
	}
	ck_assert_uint_eq(count_open(), sampler.deep ? 10 : 6);
}
END_TEST

/* Not even then there is room for the second thread: the first one goes on. */
START_TEST(too_few_files)
{
	files_max = 5;
	add(PID);
	ck_assert_int_eq(sampler_add(&sampler, PID, PID + 1, &failure), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT);
	ck_assert_msg(strstr(failure.text, "cannot open the events of") != NULL, "%s",
		      failure.text);
	ck_assert_uint_eq(sampler.thread_count, 1);
	expect_events(sampler.threads[0].fds, SAMPLING, PID);
	ck_assert_uint_eq(count_open(), 4);
}
END_TEST

/* It ends between its first event and its last. */
START_TEST(thread_is_gone)
{
	add(PID);
	gone = PID + 1;
	ck_assert_int_eq(sampler_add(&sampler, PID, gone, &failure), 1);
	ck_assert_int_eq(failure.exit_status, 0);
	ck_assert_uint_eq(sampler.thread_count, 1);
	ck_assert_uint_eq(count_open(), 3 * CPUS);
	add(PID + 2);
	expect_events(sampler.threads[1].fds, SAMPLING, PID + 2);
}
END_TEST

/* Loop: the CPU whose records would get lost. */
START_TEST(no_way_to_a_ring)
{
	add(PID);
	deaf = _i == 0 ? 2 : 7;
	ck_assert_int_eq(sampler_add(&sampler, PID, PID + 1, &failure), -1);
	ck_assert_int_eq(failure.exit_status, FAILURE_EXIT);
	ck_assert_uint_eq(sampler.thread_count, 1);
	ck_assert_uint_eq(count_open(), 3 * CPUS);
}
END_TEST

/* The entry stays, and the others' events. */
START_TEST(dropped)
{
	struct event_reading reading;
	add(PID);
	add(PID + 1);
	sampler_drop(&sampler, 0);
	ck_assert_uint_eq(sampler.thread_count, 2);
	ck_assert_ptr_null(sampler.threads[0].fds);
	ck_assert_ptr_null(sampler.threads[0].deep_fds);
	expect_events(sampler.threads[1].fds, SAMPLING, PID + 1);
	ck_assert_uint_eq(count_open(), 3 * CPUS);
	sampler_read(&sampler, 0, &reading);
	ck_assert_uint_eq(reading.count_ns, 0);
}
END_TEST

/* Over all CPUs whose event can be read. */
START_TEST(readings)
{
	struct event_reading reading;
	add(PID);
	sampler_read(&sampler, 0, &reading);
	ck_assert_uint_eq(reading.count_ns, 2 * EACH_NS);
	ck_assert_uint_eq(reading.lost, 2 + 7);
	deaf = 2;
	sampler_read(&sampler, 0, &reading);
	ck_assert_uint_eq(reading.count_ns, EACH_NS);
	ck_assert_uint_eq(reading.lost, 7);
}
END_TEST

START_TEST(stopped)
{
	size_t disabled = 0;
	add(PID);
	add(PID + 1);
	sampler_drop(&sampler, 1);
	sampler_stop(&sampler);
	for (int fd = 0; fd < FILES; fd++) {
		if (fakes[fd].is_disabled)
			ck_assert(fakes[fd].kind == SAMPLING || fakes[fd].kind == DEEP);
		disabled += fakes[fd].is_disabled;
	}
	ck_assert_uint_eq(disabled, 2 * CPUS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("events of threads");
	TCase *tcase = tcase_create("threads");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, events_on_each_cpu);
	tcase_add_test(tcase, added_events);
	tcase_add_test(tcase, too_few_files_for_added_events);
	tcase_add_loop_test(tcase, deep_events_make_room, 6, 11);
	tcase_add_test(tcase, too_few_files);
	tcase_add_test(tcase, thread_is_gone);
	tcase_add_loop_test(tcase, no_way_to_a_ring, 0, 2);
	tcase_add_test(tcase, dropped);
	tcase_add_test(tcase, readings);
	tcase_add_test(tcase, stopped);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
