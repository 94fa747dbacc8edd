/* libtbagent.so in real programs: they do and print the same, and what they waited for is in the
 * channel. */
#include "collector/agent/channel.h"
#include "tests/support/suite.h"
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 16384, KEY = 0x5eed };

static struct channel *channel;
static int channel_fd;
static char variable[64];

static uint64_t namespace_inode(void)
{
	struct stat status;
	ck_assert_int_eq(stat("/proc/self/ns/pid", &status), 0);
	return status.st_ino;
}

static void setup(void)
{
	channel_fd = memfd_create("channel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(channel_fd, 0);
	ck_assert_int_eq(ftruncate(channel_fd, CHANNEL_SIZE), 0);
	ck_assert_int_eq(fcntl(channel_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	channel = mmap(NULL, CHANNEL_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, channel_fd, 0);
	ck_assert_ptr_ne(channel, MAP_FAILED);
	channel->header = (struct channel_header){.magic = CHANNEL_MAGIC,
						  .key = KEY,
						  .size = CHANNEL_SIZE,
						  .record_ns = 1000,
						  .stack_ns = 10000,
						  .stack_bytes = 16384,
						  .pid_namespace = namespace_inode()};
	snprintf(variable, sizeof(variable), "/proc/%d/fd/%d:%x", (int)getpid(), channel_fd, KEY);
}

static void teardown(void)
{
	munmap(channel, CHANNEL_SIZE);
	close(channel_fd);
}

struct outcome {
	int status;
	char output[OUTPUT_MAX];
};

static void prepare_child(int out, bool with_agent, rlim_t space)
{
	struct rlimit limit = {space, space};
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	unsetenv("LD_PRELOAD");
	unsetenv(CHANNEL_VARIABLE);
	if (with_agent) {
		setenv("LD_PRELOAD", AGENT, 1);
		setenv(CHANNEL_VARIABLE, variable, 1);
	}
	/* Last: a program with sanitizers gets no more memory from here on. */
	if (space != RLIM_INFINITY)
		setrlimit(RLIMIT_AS, &limit);
}

/* Runs a program; kill_at: a byte of its output at which it is killed. */
static struct outcome run(const char *program, const char *argument, bool with_agent, rlim_t space,
			  char kill_at)
{
	struct outcome outcome = {0};
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prepare_child(ends[1], with_agent, space);
		execl(program, program, argument, NULL);
		_exit(127);
	}
	close(ends[1]);
	size_t size = 0;
	ssize_t got;
	while ((got = read(ends[0], outcome.output + size, OUTPUT_MAX - 1 - size)) > 0) {
		if (kill_at && memchr(outcome.output + size, kill_at, (size_t)got))
			kill(pid, SIGKILL);
		size += (size_t)got;
	}
	close(ends[0]);
	waitpid(pid, &outcome.status, 0);
	return outcome;
}

static struct outcome run_primitives(bool with_agent)
{
	return run(PRIMITIVES, NULL, with_agent, RLIM_INFINITY, '\0');
}

/* Python's, with the library. */
static struct outcome run_script(const char *script)
{
	char path[] = "/tmp/test_agent.XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, script, strlen(script)), (ssize_t)strlen(script));
	struct outcome with = run("/usr/bin/python3", path, true, RLIM_INFINITY, '\0');
	close(fd);
	unlink(path);
	return with;
}

struct tally {
	size_t waits[CHANNEL_TYPES];
	size_t wakes[CHANNEL_TYPES];
	size_t news[CHANNEL_TYPES];
	size_t stacks;
	size_t rings;
	uint64_t lost;
};

static void count_record(struct tally *tally, const struct channel_record *record)
{
	size_t *const counts[CHANNEL_KINDS] = {NULL, tally->waits, tally->wakes, tally->news};
	ck_assert_uint_lt(record->kind, CHANNEL_KINDS);
	ck_assert_ptr_nonnull(counts[record->kind]);
	ck_assert_uint_gt(record->type, 0);
	ck_assert_uint_lt(record->type, CHANNEL_TYPES);
	ck_assert_uint_le(record->begin_ns, record->end_ns);
	ck_assert_uint_ne(record->object, 0);
	ck_assert_uint_ne(record->site, 0);
	counts[record->kind][record->type]++;
	tally->stacks += (record->flags & CHANNEL_STACK) != 0;
	size_t stack = record->flags & CHANNEL_STACK ? sizeof(struct channel_registers) : 0;
	ck_assert_uint_eq(record->size, sizeof(*record) + stack + record->stack_bytes);
}

/* Reads a ring that never wrapped, from its start. */
static void count_ring(struct tally *tally, size_t ring)
{
	const struct channel_control *control = &channel->controls[ring];
	uint64_t last_ns = 0;
	ck_assert_uint_le(control->head, CHANNEL_RING_SIZE);
	for (uint64_t at = 0; at < control->head;) {
		struct channel_record record;
		memcpy(&record, channel->rings[ring] + at, sizeof(record));
		count_record(tally, &record);
		ck_assert_uint_ge(record.end_ns, last_ns);
		last_ns = record.end_ns;
		at += record.size;
		ck_assert_uint_le(at, control->head);
	}
	tally->rings++;
	tally->lost += control->lost;
}

static struct tally count_all(void)
{
	struct tally tally = {0};
	for (size_t ring = 0; ring < CHANNEL_RINGS; ring++)
		if (channel->owners[ring] != 0)
			count_ring(&tally, ring);
	return tally;
}

static void assert_same(const struct outcome *one, const struct outcome *other)
{
	ck_assert_int_eq(one->status, other->status);
	ck_assert_str_eq(one->output, other->output);
}

START_TEST(program_does_the_same)
{
	struct outcome bare = run_primitives(false);
	struct outcome with = run_primitives(true);
	ck_assert_int_eq(WEXITSTATUS(bare.status), 42);
	assert_same(&with, &bare);
	struct tally tally = count_all();
	/* The program, its two forks' children, and those of posix_spawn and system. */
	ck_assert_uint_ge(channel->header.counts[CHANNEL_ATTACHED], 5);
	ck_assert_uint_eq(channel->header.counts[CHANNEL_NO_ROOM], 0);
	for (int type = 1; type < CHANNEL_TYPES; type++)
		ck_assert_msg(tally.waits[type] > 0 || type == CHANNEL_SPIN, "no wait of type %d",
			      type);
	ck_assert_uint_gt(tally.wakes[CHANNEL_MUTEX], 0);
	ck_assert_uint_gt(tally.wakes[CHANNEL_BARRIER], 0);
	ck_assert_uint_gt(tally.wakes[CHANNEL_SEMAPHORE], 0);
	ck_assert_uint_eq(tally.news[CHANNEL_BARRIER], 1);
	ck_assert_uint_eq(tally.news[CHANNEL_SPIN], 1);
	ck_assert_uint_eq(tally.news[CHANNEL_SEMAPHORE], 3);
	ck_assert_uint_gt(tally.stacks, 20);
	ck_assert_uint_gt(tally.rings, 8);
}
END_TEST

/* Full rings, none free, records that nobody takes: the program does not notice. */
START_TEST(no_room_is_counted)
{
	struct outcome bare = run_primitives(false);
	for (size_t i = 0; i < CHANNEL_RINGS; i++)
		channel->controls[i].head = CHANNEL_RING_SIZE;
	struct outcome with = run_primitives(true);
	assert_same(&with, &bare);
	uint64_t lost = 0;
	for (size_t i = 0; i < CHANNEL_RINGS; i++) {
		ck_assert_uint_eq(channel->controls[i].head, CHANNEL_RING_SIZE);
		lost += channel->controls[i].lost;
	}
	ck_assert_uint_gt(lost, 20);
	for (size_t i = 0; i < CHANNEL_RINGS; i++)
		channel->owners[i] = 1;
	with = run_primitives(true);
	assert_same(&with, &bare);
	ck_assert_uint_gt(channel->header.counts[CHANNEL_WITHOUT_RING], 20);
}
END_TEST

/* A collector's memory that is gone, another one's, or none at all. */
START_TEST(other_memory_is_left_alone)
{
	struct outcome bare = run_primitives(false);
	const char *const wrong[] = {"/proc/self/fd/999:5eed", "/dev/null:5eed", "", ":", "x",
				     "/etc/passwd:5eed"};
	struct outcome with;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(variable, sizeof(variable), "%s", wrong[i]);
		with = run("/bin/echo", "text", true, RLIM_INFINITY, '\0');
		ck_assert_str_eq(with.output, "text\n");
	}
	snprintf(variable, sizeof(variable), "/proc/%d/fd/%d:%x", (int)getpid(), channel_fd,
		 KEY + 1);
	with = run_primitives(true);
	assert_same(&with, &bare);
	ck_assert_uint_eq(channel->header.counts[CHANNEL_ATTACHED], 0);
	ck_assert_uint_eq(count_all().rings, 0);
}
END_TEST

START_TEST(limited_space_is_left_alone)
{
	struct outcome with = run("/bin/echo", "text", true, 1ull << 30, '\0');
	ck_assert_int_eq(with.status, 0);
	ck_assert_str_eq(with.output, "text\n");
	ck_assert_uint_eq(channel->header.counts[CHANNEL_ATTACHED], 0);
	ck_assert_uint_eq(channel->header.counts[CHANNEL_NO_ROOM], 1);
}
END_TEST

/* A program that may lock little memory into its place locks all of it. */
START_TEST(locked_memory)
{
	struct outcome bare = run(MEMLOCK, NULL, false, RLIM_INFINITY, '\0');
	struct outcome with = run(MEMLOCK, NULL, true, RLIM_INFINITY, '\0');
	ck_assert_str_eq(bare.output, "locked\n");
	assert_same(&with, &bare);
	ck_assert_uint_gt(count_all().waits[CHANNEL_JOIN], 0);
	ck_assert_uint_eq(channel->header.counts[CHANNEL_WITHOUT_RING], 0);
}
END_TEST

/* The library must not believe that a coroutine's stack is still where it was. */
START_TEST(coroutines_below_the_stack)
{
	struct outcome bare = run(COROUTINES, NULL, false, RLIM_INFINITY, '\0');
	struct outcome with = run(COROUTINES, NULL, true, RLIM_INFINITY, '\0');
	ck_assert_str_eq(bare.output, "waited\n");
	assert_same(&with, &bare);
	ck_assert_uint_eq(count_all().waits[CHANNEL_SEMAPHORE], 4);
}
END_TEST

/* The collector went: the program goes on as if there were no library. */
START_TEST(collection_that_is_over)
{
	channel->header.is_over = 1;
	struct outcome with = run_primitives(true);
	ck_assert_int_eq(WEXITSTATUS(with.status), 42);
	ck_assert_uint_eq(count_all().rings, 0);
	ck_assert_uint_eq(channel->header.counts[CHANNEL_WITHOUT_RING], 0);
}
END_TEST

START_TEST(other_namespace_is_left_alone)
{
	channel->header.pid_namespace++;
	struct outcome with = run("/bin/echo", "text", true, RLIM_INFINITY, '\0');
	ck_assert_str_eq(with.output, "text\n");
	ck_assert_uint_eq(channel->header.counts[CHANNEL_ATTACHED], 0);
	ck_assert_uint_eq(channel->header.counts[CHANNEL_OTHER_NAMESPACE], 1);
}
END_TEST

/* Rings of the image before an exec are left to the collector, which frees them. */
START_TEST(exec_leaves_its_rings)
{
	static const char script[] = "import threading,os,time\n"
				     "t=threading.Thread(target=time.sleep,args=(0.02,))\n"
				     "t.start();t.join()\n"
				     "os.execv('/bin/echo',['echo','next'])\n";
	struct outcome with = run_script(script);
	ck_assert_str_eq(with.output, "next\n");
	ck_assert_uint_eq(channel->header.counts[CHANNEL_ATTACHED], 2);
	size_t rings = 0;
	for (size_t i = 0; i < CHANNEL_RINGS; i++) {
		rings += channel->owners[i] != 0;
		ck_assert(channel->owners[i] == 0 || (channel->owners[i] & CHANNEL_LEFT) != 0);
	}
	ck_assert_uint_gt(rings, 0);
}
END_TEST

/* What was written before the program was killed in a wait is there and whole. */
START_TEST(killed_in_a_wait)
{
	/* The letter stands in "barrier", long after the first waits. */
	struct outcome with = run(PRIMITIVES, NULL, true, RLIM_INFINITY, 'b');
	ck_assert(WIFSIGNALED(with.status) || WEXITSTATUS(with.status) == 42);
	ck_assert_uint_gt(count_all().rings, 0);
}
END_TEST

START_TEST(interpreter_does_the_same)
{
	static const char script[] =
		"import threading,queue\n"
		"q=queue.Queue(3)\n"
		"t=[threading.Thread(target=lambda:[q.get() for _ in range(500)]) for _ in '123']\n"
		"[x.start() for x in t]\n"
		"[q.put(i) for i in range(1500)]\n"
		"[x.join() for x in t]\n"
		"print('done',q.qsize())\n";
	struct outcome with = run_script(script);
	ck_assert_int_eq(with.status, 0);
	ck_assert_str_eq(with.output, "done 0\n");
	struct tally tally = count_all();
	ck_assert_uint_gt(tally.waits[CHANNEL_CONDITION] + tally.waits[CHANNEL_SEMAPHORE], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent");
	TCase *tcase = tcase_create("agent");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, program_does_the_same);
	tcase_add_test(tcase, no_room_is_counted);
	tcase_add_test(tcase, other_memory_is_left_alone);
	tcase_add_test(tcase, limited_space_is_left_alone);
	tcase_add_test(tcase, locked_memory);
	tcase_add_test(tcase, coroutines_below_the_stack);
	tcase_add_test(tcase, collection_that_is_over);
	tcase_add_test(tcase, other_namespace_is_left_alone);
	tcase_add_test(tcase, exec_leaves_its_rings);
	tcase_add_test(tcase, killed_in_a_wait);
	tcase_add_test(tcase, interpreter_does_the_same);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
