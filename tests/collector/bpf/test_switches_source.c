/* The BPF program of switches on this machine's kernel. Without privileges only the refusal can be
 * seen. */
#include "collector/bpf/switches_source.h"
#include "tests/collector/bpf/bpf_fixture.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TURNS = 1000 };

static uint32_t cpu_count(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

/* The verifier takes the program, it starts and stops, and closing gives everything back. */
START_TEST(opens_and_closes)
{
	int before = bpf_free_descriptor();
	for (int i = 0; i < 3; i++) {
		struct switches_source *source = NULL;
		ck_assert_int_eq(switches_source_open(4, &source), 0);
		uint32_t capacity = switches_source_capacity(source);
		ck_assert_uint_gt(capacity, 1000);
		ck_assert_uint_eq(capacity & (capacity - 1), 0);
		ck_assert_int_eq(switches_source_start(source), 0);
		switches_source_stop(source);
		for (uint32_t cpu = 0; cpu < 4; cpu++) {
			ck_assert_uint_eq(switches_source_tail(source, cpu), 0);
			ck_assert_uint_eq(switches_source_lost(source, cpu), 0);
		}
		switches_source_close(source);
	}
	ck_assert_int_eq(bpf_free_descriptor(), before);
}
END_TEST

/* Memory stays bounded where CPUs are many. */
START_TEST(many_cpus)
{
	struct switches_source *source = NULL;
	ck_assert_int_eq(switches_source_open(1024, &source), 0);
	ck_assert_uint_le(switches_source_capacity(source) * 1024ull, 4 * 1024 * 1024);
	switches_source_close(source);
}
END_TEST

/* A child that waits for our bytes, and answers each; it alone has an event. */
struct echo {
	pid_t pid;
	int asked[2];
	int answered[2];
	int event;
};

static int open_event(pid_t pid)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY};
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void answer(const struct echo *echo)
{
	char byte;
	close(echo->asked[1]);
	while (read(echo->asked[0], &byte, 1) == 1)
		if (write(echo->answered[1], &byte, 1) != 1)
			break;
	_exit(0);
}

static struct echo start_echo(void)
{
	struct echo echo;
	ck_assert(pipe(echo.asked) == 0 && pipe(echo.answered) == 0);
	echo.pid = fork();
	ck_assert_int_ge(echo.pid, 0);
	if (echo.pid == 0)
		answer(&echo);
	echo.event = open_event(echo.pid);
	ck_assert_int_ge(echo.event, 0);
	return echo;
}

/* Has the child answer again and again, with the program on. */
static void take_turns(const struct echo *echo, struct switches_source *source)
{
	char byte = 'x';
	ck_assert_int_eq(switches_source_start(source), 0);
	for (int i = 0; i < TURNS; i++)
		ck_assert(write(echo->asked[1], &byte, 1) == 1 &&
			  read(echo->answered[0], &byte, 1) == 1);
	switches_source_stop(source);
}

static void end_echo(const struct echo *echo)
{
	close(echo->asked[1]);
	ck_assert_int_eq(waitpid(echo->pid, NULL, 0), echo->pid);
	close(echo->event);
}

struct seen {
	uint64_t to;
	uint64_t from;
	uint64_t runnable;
};

/* What a ring tells of the process; the program is stopped. */
static void count(const struct switches_source *source, uint32_t cpu, uint32_t pid,
		  struct seen *seen)
{
	uint64_t last_ns = 0;
	uint64_t tail = switches_source_tail(source, cpu);
	for (; tail != switches_source_head(source, cpu); tail++) {
		const struct switch_record *record = switches_source_at(source, cpu, tail);
		ck_assert_uint_ge(record->time_ns, last_ns);
		last_ns = record->time_ns;
		bool is_from = record->from_pid == pid && record->from_tid == pid;
		seen->from += is_from;
		seen->runnable += is_from && (record->flags & SWITCH_RECORD_RUNNABLE);
		seen->to += record->to_pid == pid && record->to_tid == pid;
	}
}

/* Each turn the child waits once, and runs once. Others without events are not told of. */
START_TEST(records_switches)
{
	struct switches_source *source = NULL;
	struct echo echo = start_echo();
	ck_assert_int_eq(switches_source_open(cpu_count(), &source), 0);
	take_turns(&echo, source);
	struct seen seen = {0};
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		count(source, cpu, (uint32_t)echo.pid, &seen);
	/* It may answer before it waits again: then it does not switch. It is on a CPU or not. */
	ck_assert_uint_gt(seen.from, 0);
	ck_assert_uint_le(seen.from, seen.to + 1);
	ck_assert_uint_le(seen.to, seen.from + 1);
	ck_assert_uint_lt(seen.runnable, seen.from);
	struct seen ours = {0};
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		count(source, cpu, (uint32_t)getpid(), &ours);
	ck_assert_uint_eq(ours.from + ours.to, 0);
	end_echo(&echo);
	switches_source_close(source);
}
END_TEST

/* A full ring keeps what it has, and counts the others. */
START_TEST(full_rings)
{
	struct switches_source *source = NULL;
	struct echo echo = start_echo();
	ck_assert_int_eq(switches_source_open(cpu_count(), &source), 0);
	uint32_t capacity = switches_source_capacity(source);
	/* The taker has not taken since long ago. */
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		switches_source_release(source, cpu, (uint64_t)0 - capacity + 3);
	take_turns(&echo, source);
	uint64_t lost = 0;
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++) {
		ck_assert_uint_le(switches_source_head(source, cpu), 3);
		lost += switches_source_lost(source, cpu);
	}
	ck_assert_uint_gt(lost, 0);
	end_echo(&echo);
	switches_source_close(source);
}
END_TEST

static int open_source(void **source)
{
	struct switches_source *opened = NULL;
	int result = switches_source_open(4, &opened);
	*source = opened;
	return result;
}

static void close_source(void *source)
{
	switches_source_close(source);
}

int main(void)
{
	const TTest *const tests[] = {opens_and_closes, many_cpus, records_switches, full_rings,
				      NULL};
	const struct bpf_source source = {"switches_source", "switches by BPF", open_source,
					  close_source, tests};
	return bpf_run_source(&source);
}
