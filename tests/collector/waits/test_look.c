/* Texts of /proc, and looks at threads that block. */
#include "collector/waits/look.h"
#include "tests/support/suite.h"
#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 20000 };

static char name[LOOK_NAME_MAX];
static uint8_t stack[LOOK_STACK_MAX];
static struct look look;

static const struct {
	const char *text;
	int number; /* -1: none */
	uint64_t first, last, sp, pc;
	bool is_32bit;
} good[] = {
	{"202 0x7f00 0x80 0x2 0x0 0x0 0xffffffffffffffff 0x7ffc00000010 0x7f1200000020\n", 202,
	 0x7f00, UINT64_MAX, 0x7ffc00000010, 0x7f1200000020, false},
	{"0 0x5 0x1 0x2 0x3 0x4 0x6 0xffff0000 0x8049000\n", 0, 5, 6, 0xffff0000, 0x8049000, true},
	{"-1 0x7ffc00000010 0x401000\n", -1, 0, 0, 0x7ffc00000010, 0x401000, false},
	{"65534 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n", 65534, 0, 0, 0, 0, true},
};

START_TEST(parsed)
{
	struct look_pointers pointers;
	ck_assert(look_parse(good[_i].text, &pointers));
	ck_assert_uint_eq(pointers.call.number,
			  good[_i].number < 0 ? PROFILE_NO_SYSCALL : good[_i].number);
	ck_assert_uint_eq(pointers.call.arguments[0], good[_i].first);
	ck_assert_uint_eq(pointers.call.arguments[5], good[_i].last);
	ck_assert_uint_eq(pointers.sp, good[_i].sp);
	ck_assert_uint_eq(pointers.pc, good[_i].pc);
	ck_assert_int_eq(pointers.is_32bit, good[_i].is_32bit);
}
END_TEST

static const char *const bad[] = {
	"running\n",
	"",
	"\n",
	"-2 0x1 0x2\n",
	"-1 0x1\n",
	"-1 0x1 0x2",
	"-1 0x1 0x2 0x3\n",
	"-1  0x1 0x2\n",
	"202\n",
	"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7\n",
	"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9\n",
	"202 0x1 0x2 0x3 x 0x5 0x6 0x7 0x8\n",
	"202 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x10000000000000000\n",
	"65535 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n",
	"99999999999999999999 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n",
};

START_TEST(refused)
{
	struct look_pointers pointers;
	ck_assert(!look_parse(bad[_i], &pointers));
}
END_TEST

START_TEST(states)
{
	ck_assert_int_eq(look_parse_state("7 (cat) S 1 2\n"), 'S');
	ck_assert_int_eq(look_parse_state("7 (a) R (b) T 1 2\n"), 'T');
	ck_assert_int_eq(look_parse_state("7 (cat)"), 0);
	ck_assert_int_eq(look_parse_state("7 (cat)x"), 0);
	ck_assert_int_eq(look_parse_state("7 (cat) "), 0);
	ck_assert_int_eq(look_parse_state(""), 0);
}
END_TEST

/* Looks until the thread blocks in that call. */
static void look_until(uint32_t pid, uint32_t tid, long number)
{
	for (int i = 0; i < WAIT_MS; i++) {
		look_read(pid, tid, NULL, name, stack, &look);
		ck_assert_int_eq(look.error, 0);
		if (look.is_blocked && look.pointers.call.number == number)
			return;
		poll(NULL, 0, 1);
	}
	ck_abort_msg("it does not block in %ld", number);
}

static int word;
static volatile uint32_t waiter;

static void *wait_for_word(void *mark)
{
	uint64_t *volatile kept = mark; /* on the stack, above the stack pointer of the call */
	waiter = (uint32_t)gettid();
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return kept;
}

START_TEST(futex)
{
	pthread_t thread;
	uint64_t mark = 1;
	const uint64_t *address = &mark;
	word = 0;
	waiter = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_word, &mark), 0);
	while (waiter == 0)
		poll(NULL, 0, 1);
	look_until((uint32_t)getpid(), waiter, SYS_futex);
	ck_assert_uint_eq(look.pointers.call.arguments[0], (uintptr_t)&word);
	ck_assert_uint_eq(look.name_size, 0);
	ck_assert(!look.is_stopped && !look.pointers.is_32bit);
	ck_assert_uint_gt(look.stack_size, 512);
	ck_assert_ptr_nonnull(memmem(stack, look.stack_size, &address, sizeof(address)));
	__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(thread, NULL);
	look_read((uint32_t)getpid(), waiter, NULL, name, stack, &look);
	ck_assert(!look.is_blocked);
	ck_assert_int_eq(look.error, 0);
}
END_TEST

/* Files that are kept are of one thread: the next one's are opened anew, as soon as it is gone. */
START_TEST(kept_files)
{
	struct look_files files;
	look_files_init(&files);
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		uint64_t mark = 1;
		word = 0;
		waiter = 0;
		ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_word, &mark), 0);
		while (waiter == 0)
			poll(NULL, 0, 1);
		look_until((uint32_t)getpid(), waiter, SYS_futex);
		size_t copied = look.stack_size;
		for (int again = 0; again < 2; again++) {
			look_read((uint32_t)getpid(), waiter, &files, name, stack, &look);
			ck_assert(look.is_blocked && !look.is_stopped);
			ck_assert_uint_eq(look.pointers.call.arguments[0], (uintptr_t)&word);
			ck_assert_uint_eq(look.stack_size, copied);
		}
		ck_assert(files.syscall_fd >= 0 && files.stat_fd >= 0);
		ck_assert(look.pointers.sp >= files.stack_low &&
			  look.pointers.sp < files.stack_high);
		__atomic_store_n(&word, 1, __ATOMIC_RELEASE);
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		pthread_join(thread, NULL);
	}
	look_read((uint32_t)getpid(), waiter, &files, name, stack, &look);
	ck_assert(!look.is_blocked);
	ck_assert_int_eq(look.error, 0);
	look_files_close(&files);
	ck_assert(files.syscall_fd < 0 && files.stat_fd < 0);
}
END_TEST

/* A child that reads from a pipe until the parent is gone, or as the hook has it. */
static pid_t fork_reader(int *end, void (*hook)(void))
{
	int ends[2];
	char byte;
	ck_assert_int_eq(pipe(ends), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		close(ends[1]);
		if (hook)
			hook();
		_exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(ends[0]);
	*end = ends[1];
	return child;
}

static void end_reader(pid_t child, int end)
{
	close(end);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(pipe_and_stop)
{
	int end;
	pid_t child = fork_reader(&end, NULL);
	look_until((uint32_t)child, (uint32_t)child, SYS_read);
	ck_assert_int_eq(strncmp(name, "pipe:[", 6), 0);
	ck_assert_uint_eq(look.name_size, strlen(name) + 1);
	ck_assert(!look.is_stopped);
	kill(child, SIGSTOP);
	ck_assert_int_eq(waitpid(child, NULL, WUNTRACED), child);
	look_until((uint32_t)child, (uint32_t)child, SYS_read);
	ck_assert(look.is_stopped);
	kill(child, SIGCONT);
	end_reader(child, end);
}
END_TEST

static void forbid(void)
{
	prctl(PR_SET_DUMPABLE, 0);
}

/* Root may look at everything: it gives up its rights in a child. */
START_TEST(not_dumpable)
{
	int end;
	pid_t looker = fork();
	ck_assert_int_ge(looker, 0);
	if (looker == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(2);
		pid_t child = fork_reader(&end, forbid);
		for (int i = 0; i < WAIT_MS; i++) {
			look_read((uint32_t)child, (uint32_t)child, NULL, name, stack, &look);
			if (look.error != 0)
				_exit(look.error == EACCES || look.error == EPERM ? 0 : 3);
			poll(NULL, 0, 1);
		}
		_exit(4);
	}
	int status;
	ck_assert_int_eq(waitpid(looker, &status, 0), looker);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("look");
	TCase *tcase = tcase_create("look");
	tcase_add_loop_test(tcase, parsed, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tcase, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tcase, states);
	tcase_add_test(tcase, futex);
	tcase_add_test(tcase, kept_files);
	tcase_add_test(tcase, pipe_and_stop);
	tcase_add_test(tcase, not_dumpable);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
