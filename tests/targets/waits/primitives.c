/*
 * Every function that libtbagent.so interposes, where it blocks and where it fails, with the kinds
 * of mutexes, cancellation, signals, forks and odd stacks. Prints what each call returned: nothing
 * of it depends on times, so the output is the same whoever looks on.
 */
#include "tests/targets/work.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000, MS = 1000000, HANGS_S = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static sem_t ready; /* a helper has what it is to hold */
static sem_t leave; /* the helper may go */
static int counter;
static int serial;

static void say(const char *what, int result)
{
	printf("%s: %d\n", what, result);
}

static struct timespec after(clockid_t clock, long ns)
{
	struct timespec time;
	clock_gettime(clock, &time);
	time.tv_nsec += ns;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static pthread_t start(void *(*run)(void *), void *user)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, user) != 0)
		abort();
	return thread;
}

static void run_all(void *(*run)(void *), void *user)
{
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(run, user);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *count_under_mutex(void *mutex)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(mutex);
		counter++;
		pthread_mutex_unlock(mutex);
	}
	return NULL;
}

static void try_mutex(const char *name, int type, int protocol, int robust)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutexattr_setrobust(&attributes, robust);
	say(name, pthread_mutex_init(&mutex, &attributes));
	counter = 0;
	run_all(count_under_mutex, &mutex);
	say("counted", counter);
	pthread_mutex_lock(&mutex);
	struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
	struct timespec later = after(CLOCK_MONOTONIC, 2 * MS);
	if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
		say("locked twice", pthread_mutex_lock(&mutex));
	say("locked until", pthread_mutex_timedlock(&mutex, &soon));
	if (protocol == PTHREAD_PRIO_NONE)
		say("locked until, by a clock",
		    pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &later));
	say("a wrong clock", pthread_mutex_clocklock(&mutex, CLOCK_BOOTTIME, &later));
	while (pthread_mutex_unlock(&mutex) == 0 && type == PTHREAD_MUTEX_RECURSIVE)
		continue;
	say("destroyed", pthread_mutex_destroy(&mutex));
	pthread_mutexattr_destroy(&attributes);
}

static void *die_with(void *mutex)
{
	pthread_mutex_lock(mutex);
	sem_post(&ready);
	sem_wait(&leave);
	return NULL;
}

static void *wait_for_dead(void *mutex)
{
	return (void *)(intptr_t)pthread_mutex_lock(mutex);
}

/* Its owner dies while another thread waits. */
static void try_robust(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;
	void *result;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attributes);
	for (int round = 0; round < 2; round++) {
		pthread_t owner = start(die_with, &mutex);
		sem_wait(&ready);
		struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
		say("robust, held", pthread_mutex_timedlock(&mutex, &soon));
		pthread_t waiter = start(wait_for_dead, &mutex);
		sem_post(&leave);
		pthread_join(owner, NULL);
		pthread_join(waiter, &result);
		say("robust, owner died", (int)(intptr_t)result == EOWNERDEAD);
		/* The waiter has died with it too by now. */
		say("robust, again", pthread_mutex_lock(&mutex));
		if (round == 0)
			say("consistent", pthread_mutex_consistent(&mutex));
		say("unlocked", pthread_mutex_unlock(&mutex));
	}
	say("not recoverable", pthread_mutex_lock(&mutex));
}

static void *hold_shared(void *write)
{
	say("held", write ? pthread_rwlock_wrlock(&shared) : pthread_rwlock_rdlock(&shared));
	sem_post(&ready);
	sem_wait(&leave);
	pthread_rwlock_unlock(&shared);
	return NULL;
}

static void *lock_shared(void *write)
{
	int result = write ? pthread_rwlock_wrlock(&shared) : pthread_rwlock_rdlock(&shared);
	pthread_rwlock_unlock(&shared);
	return (void *)(intptr_t)result;
}

static void try_rwlock(void)
{
	struct timespec wrong = {.tv_nsec = -1};
	for (int write = 0; write < 2; write++) {
		pthread_t holder = start(hold_shared, write ? &write : NULL);
		sem_wait(&ready);
		struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
		struct timespec later = after(CLOCK_MONOTONIC, 2 * MS);
		say("write until", pthread_rwlock_timedwrlock(&shared, &soon));
		say("write by a clock",
		    pthread_rwlock_clockwrlock(&shared, CLOCK_MONOTONIC, &later));
		say("read until", pthread_rwlock_timedrdlock(&shared, &soon));
		say("read by a clock",
		    pthread_rwlock_clockrdlock(&shared, CLOCK_MONOTONIC, &later));
		if (!write) {
			pthread_rwlock_unlock(&shared);
			pthread_rwlock_unlock(&shared);
		}
		pthread_t waiter = start(lock_shared, &write);
		sem_post(&leave);
		pthread_join(holder, NULL);
		pthread_join(waiter, NULL);
	}
	say("a wrong time", pthread_rwlock_timedrdlock(&shared, &wrong));
	pthread_rwlock_wrlock(&shared);
	say("read by the writer", pthread_rwlock_rdlock(&shared));
	say("unlocked", pthread_rwlock_unlock(&shared));
}

static void *wait_for_change(void *from)
{
	pthread_mutex_lock(&lock);
	while (counter == *(const int *)from)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void try_condition(void)
{
	pthread_t threads[THREADS];
	static int zero;
	counter = 0;
	for (int i = 0; i < THREADS; i++)
		threads[i] = start(wait_for_change, &zero);
	pthread_mutex_lock(&lock);
	counter = 1;
	say("broadcast", pthread_cond_broadcast(&changed));
	say("signal", pthread_cond_signal(&changed));
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_lock(&lock);
	struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
	struct timespec later = after(CLOCK_MONOTONIC, 2 * MS);
	say("wait until", pthread_cond_timedwait(&changed, &lock, &soon));
	say("wait by a clock", pthread_cond_clockwait(&changed, &lock, CLOCK_MONOTONIC, &later));
	pthread_mutex_unlock(&lock);
}

static void *meet(void *user)
{
	(void)user;
	for (int i = 0; i < 100; i++)
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			__atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *count_spinning(void *user)
{
	(void)user;
	for (int i = 0; i < ROUNDS; i++) {
		pthread_spin_lock(&spin);
		counter++;
		pthread_spin_unlock(&spin);
	}
	return NULL;
}

static void try_barrier_and_spin(void)
{
	say("barrier", pthread_barrier_init(&barrier, NULL, THREADS));
	run_all(meet, NULL);
	say("serial threads", serial);
	say("destroyed", pthread_barrier_destroy(&barrier));
	say("spin lock", pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
	counter = 0;
	run_all(count_spinning, NULL);
	say("counted", counter);
}

static sigjmp_buf back;

static void post(int number)
{
	(void)number;
	sem_post(&semaphore);
}

static void note_signal(int number)
{
	(void)number;
}

static void jump(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

struct sleeper {
	pthread_t thread;
	pid_t tid;
};

static void *interrupt(void *user)
{
	const struct sleeper *sleeper = user;
	work_wait_asleep(sleeper->tid);
	pthread_kill(sleeper->thread, SIGUSR1);
	return NULL;
}

static int wait_interrupted(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	struct sleeper self = {pthread_self(), gettid()};
	sigaction(SIGUSR1, &action, NULL);
	pthread_t other = start(interrupt, &self);
	errno = 0;
	int result = sem_wait(&semaphore);
	int error = errno;
	pthread_join(other, NULL);
	while (sem_trywait(&semaphore) == 0)
		continue;
	return result == 0 ? 0 : error;
}

static void *jump_out(void *user)
{
	struct sigaction action = {.sa_handler = jump};
	struct sleeper self = {pthread_self(), gettid()};
	(void)user;
	sigaction(SIGUSR1, &action, NULL);
	volatile pthread_t other = 0;
	if (sigsetjmp(back, 1) == 0) {
		other = start(interrupt, &self);
		sem_wait(&semaphore);
	}
	pthread_join(other, NULL);
	say("jumped", 1);
	pthread_testcancel();
	return NULL;
}

static void try_semaphore(void)
{
	struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
	struct timespec later = after(CLOCK_MONOTONIC, 2 * MS);
	struct timespec wrong = {.tv_nsec = -1};
	say("until", sem_timedwait(&semaphore, &soon));
	say("timed out", errno == ETIMEDOUT);
	say("by a clock", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &later));
	sem_post(&semaphore);
	say("a wrong time", sem_timedwait(&semaphore, &wrong));
	say("invalid", errno == EINVAL);
	errno = 77;
	say("taken", sem_wait(&semaphore));
	say("errno", errno);
	say("interrupted", wait_interrupted(note_signal) == EINTR);
	say("posted by a handler", wait_interrupted(post) != 0);
	pthread_join(start(jump_out, NULL), NULL);
}

static pid_t tids[THREADS];

/* Until the others wait for it. */
static void initialize(void)
{
	for (int i = 0; i < THREADS; i++) {
		pid_t tid;
		while ((tid = __atomic_load_n(&tids[i], __ATOMIC_ACQUIRE)) == 0)
			usleep(100);
		if (tid != gettid())
			work_wait_asleep(tid);
	}
	counter++;
}

static void *once(void *control)
{
	static int started;
	int i = __atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&tids[i], gettid(), __ATOMIC_RELEASE);
	pthread_once(control, initialize);
	return NULL;
}

static void *stay(void *user)
{
	sem_wait(&leave);
	return user;
}

static void try_thread(void)
{
	static pthread_once_t control = PTHREAD_ONCE_INIT;
	void *value = NULL;
	counter = 0;
	run_all(once, &control);
	say("initialized", counter);
	pthread_t thread = start(stay, &counter);
	struct timespec soon = after(CLOCK_REALTIME, 1 * MS);
	struct timespec later = after(CLOCK_MONOTONIC, 1 * MS);
	say("join until", pthread_timedjoin_np(thread, &value, &soon));
	say("join by a clock", pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &later));
	sem_post(&leave);
	say("join", pthread_join(thread, &value));
	say("its value", value == &counter);
	say("join itself", pthread_join(pthread_self(), NULL));
}

static void unlock(void *mutex)
{
	say("cleaned up", pthread_mutex_unlock(mutex));
}

static void *wait_for_ever(void *user)
{
	(void)user;
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	sem_post(&ready);
	for (;;)
		pthread_cond_wait(&changed, &lock);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *take_cancelled(void *user)
{
	(void)user;
	pthread_cancel(pthread_self());
	sem_wait(&semaphore); /* which is free */
	return NULL;
}

static void *lock_cancelled(void *tid)
{
	__atomic_store_n((pid_t *)tid, gettid(), __ATOMIC_RELEASE);
	pthread_mutex_lock(&lock); /* no cancellation point */
	pthread_mutex_unlock(&lock);
	say("locked in spite of it", 1);
	pthread_testcancel();
	return NULL;
}

static void try_cancellation(void)
{
	void *value;
	pthread_t thread = start(wait_for_ever, NULL);
	sem_wait(&ready);
	pthread_mutex_lock(&lock); /* it waits, once the mutex is free */
	pthread_mutex_unlock(&lock);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	say("cancelled in a wait", value == PTHREAD_CANCELED);
	sem_post(&semaphore);
	pthread_join(start(take_cancelled, NULL), &value);
	say("cancelled before a wait", value == PTHREAD_CANCELED);
	say("still free", sem_trywait(&semaphore));
	pthread_mutex_lock(&lock);
	pid_t tid = 0;
	thread = start(lock_cancelled, &tid);
	while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	work_wait_asleep(tid);
	pthread_cancel(thread);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, &value);
	say("cancelled after it", value == PTHREAD_CANCELED);
}

/* What a child with one thread does, while a lock of its parent's other thread is held for ever. */
static _Noreturn void be_child(void)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
	counter = 0;
	count_under_mutex(&own);
	bool is_right = counter == ROUNDS;
	is_right &= pthread_mutex_timedlock(&lock, &soon) == ETIMEDOUT;
	is_right &= sem_timedwait(&semaphore, &soon) < 0 && errno == ETIMEDOUT;
	_exit(is_right ? 42 : 1);
}

static void *hold(void *mutex)
{
	pthread_mutex_lock(mutex);
	sem_post(&ready);
	sem_wait(&leave);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static void try_fork(bool is_raw)
{
	int status;
	pthread_t holder = start(hold, &lock);
	sem_wait(&ready);
	fflush(stdout);
	pid_t pid = is_raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
	if (pid == 0)
		be_child();
	waitpid(pid, &status, 0);
	say("child", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	sem_post(&leave);
	pthread_join(holder, NULL);
}

static void try_spawn(void)
{
	char name[] = "true";
	char *arguments[] = {name, NULL};
	pid_t pid;
	int status = -1;
	say("spawned", posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ));
	waitpid(pid, &status, 0);
	say("its end", status);
	say("system", system("exit 3") >> 8);
}

static ucontext_t main_context;
static ucontext_t side_context;

static void wait_on_the_side(void)
{
	struct timespec soon = after(CLOCK_REALTIME, 2 * MS);
	say("on another stack", sem_timedwait(&semaphore, &soon));
}

static void *wait_with_little_stack(void *user)
{
	wait_on_the_side();
	return user;
}

static int wait_deep(int depth)
{
	volatile char frame[4096];
	frame[depth % 4096] = 1;
	if (depth == 0)
		wait_on_the_side();
	else
		wait_deep(depth - 1);
	return frame[0];
}

static void *run_on_the_side(void *user)
{
	size_t size = 32768;
	char *stack = malloc(size);
	getcontext(&side_context);
	side_context.uc_stack.ss_sp = stack;
	side_context.uc_stack.ss_size = size;
	side_context.uc_link = &main_context;
	makecontext(&side_context, wait_on_the_side, 0);
	swapcontext(&main_context, &side_context);
	free(stack);
	wait_deep(400);
	return user;
}

/* A thread's stack so near below the first thread's as the kernel may place one, and nothing
 * between them. */
static void try_near_stack(void)
{
	enum { SIZE = 1 << 18, DISTANCE = 20 << 20 };
	pthread_attr_t attributes;
	pthread_t thread;
	char *here = (char *)((uintptr_t)&thread & -(uintptr_t)4096);
	void *stack = mmap(here - DISTANCE, SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	bool is_there = stack != MAP_FAILED;
	pthread_attr_init(&attributes);
	if (is_there)
		pthread_attr_setstack(&attributes, stack, SIZE);
	say("near stack", pthread_create(&thread, &attributes, wait_with_little_stack, NULL));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	if (is_there)
		munmap(stack, SIZE);
}

static void try_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	run_on_the_side(NULL);
	pthread_join(start(run_on_the_side, NULL), NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32768);
	say("little stack", pthread_create(&thread, &attributes, wait_with_little_stack, NULL));
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	try_near_stack();
}

int main(void)
{
	alarm(HANGS_S); /* a lost wake-up ends the program with a signal */
	sem_init(&semaphore, 0, 0);
	sem_init(&ready, 0, 0);
	sem_init(&leave, 0, 0);
	try_mutex("normal", PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	try_mutex("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	try_mutex("recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
	try_mutex("error-checking", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE,
		  PTHREAD_MUTEX_STALLED);
	try_mutex("inheriting", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT,
		  PTHREAD_MUTEX_STALLED);
	try_mutex("robust", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST);
	try_robust();
	try_rwlock();
	try_condition();
	try_barrier_and_spin();
	try_semaphore();
	try_thread();
	try_cancellation();
	try_fork(false);
	try_fork(true);
	try_spawn();
	try_stacks();
	return 42;
}
