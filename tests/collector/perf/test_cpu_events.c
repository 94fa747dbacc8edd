/* The clocks of CPUs and their turns, on events and a time that are made up here. An event is a
 * file of its own, so that it shows what is closed. */
#include "collector/machine/clock.h"
#include "collector/perf/cpu_events.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull

enum { CPUS = 2 };

/* What the kernel would know of a CPU. */
struct fake_cpu {
	int clock; /* -1: none */
	int output;
	uint64_t count_ns;
	uint64_t lost;
	uint64_t period_ns;
	unsigned periods; /* that were set after the opening */
	unsigned opened;  /* clocks */
};

static struct fake_cpu fakes[CPUS];
static uint64_t time_ns;
static uint64_t period_takes_ns; /* how long the kernel takes to set one */
static bool is_offline;          /* the last CPU: no event can be opened there */
static struct event_config config;
static uint32_t numbers[CPUS] = {0, 1};
static struct cpus cpus = {.numbers = numbers, .count = CPUS};
static struct ring rings[CPUS];
static struct cpu_events events;

uint64_t clock_now(void)
{
	return time_ns;
}

static int open_fake(int cpu, int *fd)
{
	if (is_offline && cpu == CPUS - 1) {
		errno = ENODEV;
		return -1;
	}
	*fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(*fd, 0);
	return *fd;
}

static struct fake_cpu *fake_of(int clock)
{
	for (size_t i = 0; i < CPUS; i++)
		if (fakes[i].clock == clock)
			return &fakes[i];
	ck_abort_msg("%d is no clock", clock);
}

int event_open_output(const struct event_config *of, int cpu)
{
	(void)of;
	return open_fake(cpu, &fakes[cpu].output);
}

int event_open_clock(const struct event_config *of, int cpu, uint64_t tick_ns)
{
	(void)of;
	fakes[cpu].period_ns = tick_ns;
	fakes[cpu].count_ns = 0;
	fakes[cpu].opened++;
	return open_fake(cpu, &fakes[cpu].clock);
}

int event_redirect(int fd, int ring_fd)
{
	(void)fd;
	(void)ring_fd;
	return 0;
}

int event_attach_program(int fd, int program_fd)
{
	(void)fd;
	(void)program_fd;
	return 0;
}

int event_enable(int fd)
{
	ck_assert_ptr_nonnull(fake_of(fd));
	return 0;
}

int event_disable(int fd)
{
	return event_enable(fd);
}

int event_read(const struct event_config *of, int fd, struct event_reading *reading)
{
	(void)of;
	*reading = (struct event_reading){fake_of(fd)->count_ns, fake_of(fd)->lost};
	return 0;
}

int event_set_period(int fd, uint64_t period_ns)
{
	fake_of(fd)->period_ns = period_ns;
	fake_of(fd)->periods++;
	time_ns += period_takes_ns;
	return 0;
}

int stack_source_output(struct stack_source *source, uint32_t cpu, int event_fd)
{
	(void)source;
	ck_assert_int_eq(event_fd, fakes[cpu].output);
	return 0;
}

int stack_source_tick_program(const struct stack_source *source)
{
	(void)source;
	return 0;
}

static int free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
	return fd;
}

static void begin(uint64_t interval_ns)
{
	for (size_t i = 0; i < CPUS; i++)
		fakes[i] = (struct fake_cpu){.clock = -1, .output = -1};
	time_ns = 1000000 * NS_PER_MS;
	period_takes_ns = 5000;
	is_offline = false;
	config.sampling = sampling_choose(PROFILE_SAMPLING_CPUS, interval_ns, 1);
	events = (struct cpu_events){.config = &config, .cpus = &cpus, .rings = rings};
	ck_assert_int_eq(cpu_events_open(&events), 0);
	ck_assert_int_eq(cpu_events_start(&events), 0);
}

/* Rounds of the collector: it waits, and what it does takes time too. */
static void run_rounds(uint64_t ms, uint64_t wait_ms)
{
	for (uint64_t end_ns = time_ns + ms * NS_PER_MS; time_ns < end_ns;) {
		time_ns += wait_ms * NS_PER_MS;
		for (size_t i = 0; i < CPUS; i++)
			fakes[i].count_ns += is_offline && i == CPUS - 1 ? 0 : wait_ms * NS_PER_MS;
		cpu_events_renew(&events);
	}
}

/* As often as it is due, however long the collector waited before. */
START_TEST(turns_as_due)
{
	int before = free_descriptor();
	begin(10 * NS_PER_MS);
	uint64_t first_ns = fakes[0].period_ns;
	run_rounds(10000, 20);
	for (size_t i = 0; i < CPUS; i++) {
		ck_assert_uint_ge(fakes[i].periods, 45);
		ck_assert_uint_le(fakes[i].periods, 51);
		ck_assert_uint_eq(fakes[i].opened, 1);
		ck_assert_uint_ge(fakes[i].period_ns, config.sampling.tick_ns * 85 / 100);
		ck_assert_uint_le(fakes[i].period_ns, config.sampling.tick_ns * 115 / 100);
	}
	ck_assert_uint_ne(fakes[0].period_ns, first_ns);
	ck_assert_uint_ne(fakes[0].period_ns, fakes[1].period_ns);
	cpu_events_close(&events);
	ck_assert_int_eq(free_descriptor(), before);
}
END_TEST

/* Each turn throws a part of one tick away. */
START_TEST(seldom_where_ticks_are_far_apart)
{
	begin(1000 * NS_PER_MS);
	run_rounds(100000, 100);
	ck_assert_uint_ge(fakes[0].periods, 7);
	ck_assert_uint_le(fakes[0].periods, 9);
	cpu_events_close(&events);
}
END_TEST

/* Two CPUs take 2 ms of a turn: the next is after 1 s. */
START_TEST(seldom_where_it_takes_long)
{
	begin(10 * NS_PER_MS);
	period_takes_ns = NS_PER_MS;
	run_rounds(10000, 20);
	ck_assert_uint_ge(fakes[0].periods, 9);
	ck_assert_uint_le(fakes[0].periods, 11);
	cpu_events_close(&events);
}
END_TEST

/* A clock ends with its CPU, and is opened again when that is back; what it lost still counts. */
START_TEST(opened_again)
{
	int before = free_descriptor();
	begin(10 * NS_PER_MS);
	run_rounds(1000, 20);
	fakes[1].lost = 3;
	is_offline = true;
	run_rounds(1000, 20);
	ck_assert_uint_ge(fakes[1].opened, 3);
	ck_assert_uint_eq(cpu_events_lost(&events), 3);
	is_offline = false;
	fakes[1].lost = 1;
	uint64_t opened = fakes[1].opened;
	run_rounds(1000, 20);
	ck_assert_uint_eq(fakes[1].opened, opened + 1);
	ck_assert_uint_eq(fakes[0].opened, 1);
	ck_assert_uint_eq(cpu_events_lost(&events), 4);
	cpu_events_close(&events);
	ck_assert_int_eq(free_descriptor(), before);
}
END_TEST

START_TEST(not_open)
{
	struct cpu_events none = {0};
	cpu_events_renew(&none);
	cpu_events_stop(&none);
	ck_assert_uint_eq(cpu_events_lost(&none), 0);
	cpu_events_close(&none);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cpu_events");
	TCase *tcase = tcase_create("cpu_events");
	tcase_add_test(tcase, turns_as_due);
	tcase_add_test(tcase, seldom_where_ticks_are_far_apart);
	tcase_add_test(tcase, seldom_where_it_takes_long);
	tcase_add_test(tcase, opened_again);
	tcase_add_test(tcase, not_open);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
