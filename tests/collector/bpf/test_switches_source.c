/* The BPF program of switches on this machine's kernel. Without privileges only the refusal can be
 * seen. */
#include "collector/bpf/switches_source.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, SKIPPED = 77, TURNS = 1000 };

static uint32_t cpu_count(void)
{
	return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
}

/* The lowest free descriptor: it stays the same where none leaks. */
static int free_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	close(fd);
	return fd;
}

/* The verifier takes the program, it starts and stops, and closing gives everything back. */
START_TEST(opens_and_closes)
{
	int before = free_descriptor();
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
	ck_assert_int_eq(free_descriptor(), before);
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

/* A child that waits for our bytes, and answers each. */
static pid_t start_echo(int asked[2], int answered[2])
{
	ck_assert(pipe(asked) == 0 && pipe(answered) == 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	char byte;
	if (pid > 0)
		return pid;
	close(asked[1]);
	while (read(asked[0], &byte, 1) == 1)
		if (write(answered[1], &byte, 1) != 1)
			break;
	_exit(0);
}

static int open_event(pid_t pid)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = PERF_TYPE_SOFTWARE,
				       .config = PERF_COUNT_SW_DUMMY};
	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
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
	int asked[2];
	int answered[2];
	char byte = 'x';
	pid_t pid = start_echo(asked, answered);
	int event = open_event(pid);
	ck_assert_int_ge(event, 0);
	ck_assert_int_eq(switches_source_open(cpu_count(), &source), 0);
	ck_assert_int_eq(switches_source_start(source), 0);
	for (int i = 0; i < TURNS; i++)
		ck_assert(write(asked[1], &byte, 1) == 1 && read(answered[0], &byte, 1) == 1);
	switches_source_stop(source);
	struct seen seen = {0};
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		count(source, cpu, (uint32_t)pid, &seen);
	/* It may answer before it waits again: then it does not switch. It is on a CPU or not. */
	ck_assert_uint_gt(seen.from, 0);
	ck_assert_uint_le(seen.from, seen.to + 1);
	ck_assert_uint_le(seen.to, seen.from + 1);
	ck_assert_uint_lt(seen.runnable, seen.from);
	struct seen ours = {0};
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		count(source, cpu, (uint32_t)getpid(), &ours);
	ck_assert_uint_eq(ours.from + ours.to, 0);
	close(asked[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	switches_source_close(source);
	close(event);
}
END_TEST

/* A full ring keeps what it has, and counts the others. */
START_TEST(full_rings)
{
	struct switches_source *source = NULL;
	int asked[2];
	int answered[2];
	char byte = 'x';
	pid_t pid = start_echo(asked, answered);
	int event = open_event(pid);
	ck_assert_int_ge(event, 0);
	ck_assert_int_eq(switches_source_open(cpu_count(), &source), 0);
	uint32_t capacity = switches_source_capacity(source);
	/* The taker has not taken since long ago. */
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		switches_source_release(source, cpu, (uint64_t)0 - capacity + 3);
	ck_assert_int_eq(switches_source_start(source), 0);
	for (int i = 0; i < TURNS; i++)
		ck_assert(write(asked[1], &byte, 1) == 1 && read(answered[0], &byte, 1) == 1);
	switches_source_stop(source);
	uint64_t lost = 0;
	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++) {
		ck_assert_uint_le(switches_source_head(source, cpu), 3);
		lost += switches_source_lost(source, cpu);
	}
	ck_assert_uint_gt(lost, 0);
	close(asked[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	switches_source_close(source);
	close(event);
}
END_TEST

START_TEST(refused_to_others)
{
	int before = free_descriptor();
	if (geteuid() == 0)
		ck_assert_int_eq(setuid(NOBODY), 0);
	struct switches_source *source = NULL;
	ck_assert(switches_source_open(4, &source) < 0 && errno == EPERM);
	ck_assert_ptr_null(source);
	ck_assert_int_eq(free_descriptor(), before);
}
END_TEST

START_TEST(closes_nothing)
{
	switches_source_close(NULL);
}
END_TEST

int main(void)
{
	struct switches_source *source = NULL;
	bool is_built = switches_source_open(1, &source) == 0 || errno != ENOSYS;
	switches_source_close(source);
	if (!is_built)
		return SKIPPED; /* built without BPF */
	Suite *suite = suite_create("switches_source");
	TCase *tcase = tcase_create("switches_source");

	if (geteuid() == 0) {
		tcase_add_test(tcase, opens_and_closes);
		tcase_add_test(tcase, many_cpus);
		tcase_add_test(tcase, records_switches);
		tcase_add_test(tcase, full_rings);
	} else {
		puts("skipped - switches by BPF: needs root");
	}
	tcase_add_test(tcase, refused_to_others);
	tcase_add_test(tcase, closes_nothing);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
