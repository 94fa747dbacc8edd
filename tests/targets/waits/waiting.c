/*
 * waiting MODE[=ROUNDS[xMS]]...: threads that wait for a known time, on a known object, until a
 * known function of another thread ends the wait. After each mode a line of JSON says what was:
 *
 *   {"mode": "mutex", "type": "Mutex", "object": "contended", "tid": 12, "count": 40,
 * "time_s": 1.0, "function": "take_mutex", "waker_tid": 13, "waker_function": "release_mutex"}
 *
 * time_s is by the waiting thread's clock around its calls: it has the way to a CPU after the wake,
 * too. object is a global variable; waker_tid 0: nobody wakes (a timer). The waker comes MS later
 * than the waiter asks it to, so each call blocks. The two also wait for each other in other
 * objects (held, asked, finished), and the waker sleeps.
 *
 * signals is mutex, but signals interrupt the wait before the mutex is released: their handler
 * waits, too, and the call goes on.
 *
 * heap: the modes after it have their objects in memory of their own, and print their addresses.
 *
 * Modes without a waker: sleep, poll; forks: each round has a process of its own, which waits for a
 * mutex that was held at the fork, and gives up. join: each round has a thread of its own, the last
 * one's id is printed. Modes of running threads: spin (a thread spins while another one burns),
 * phases (0, 1 and as many threads as there are CPUs burn for ROUNDS x MS each), crowd (4 threads
 * for each CPU burn ROUNDS x MS of CPU time each), idlers (ROUNDS threads wait MS long for one
 * condition). They print
 * {"mode": ..., "phase" or "threads": N, "elapsed_s": ..., "cpu_s": ...}; phases also "together_s":
 * how long all threads of the phase were there.
 */
#include "tests/targets/work.h"
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
pthread_barrier_t meeting;
pthread_spinlock_t spinning;
sem_t tokens;
sem_t held;
sem_t asked;
sem_t finished;

/* What the modes wait for. */
struct objects {
	char before[24]; /* no object is at the start */
	pthread_cond_t filled;
	pthread_rwlock_t shared;
	pthread_barrier_t meeting;
	sem_t tokens;
	pthread_mutex_t contended;
};

static struct {
	pthread_cond_t *filled;
	pthread_rwlock_t *shared;
	pthread_barrier_t *meeting;
	sem_t *tokens;
	pthread_mutex_t *contended;
	bool are_on_heap;
} objects = {&queue_filled, &shared, &meeting, &tokens, &contended, false};

static int queue_length;
static pthread_t waiting_thread; /* of a pair; set before the waker is asked */
static int channel[2];

WORK_FUNCTION(burn)
WORK_FUNCTION(burn_holding)

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

WORK_KEEP void rest(uint64_t ms);
WORK_KEEP void rest(uint64_t ms)
{
	struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
	while (nanosleep(&left, &left) != 0)
		continue;
}

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		continue;
}

#define STEP(name)                 \
	WORK_KEEP void name(void); \
	WORK_KEEP void name(void)

STEP(hold_mutex)
{
	pthread_mutex_lock(objects.contended);
}
STEP(take_mutex)
{
	pthread_mutex_lock(objects.contended);
}
STEP(release_mutex)
{
	pthread_mutex_unlock(objects.contended);
}
STEP(write_shared)
{
	pthread_rwlock_wrlock(objects.shared);
}
STEP(read_shared)
{
	pthread_rwlock_rdlock(objects.shared);
}
STEP(release_shared)
{
	pthread_rwlock_unlock(objects.shared);
}
STEP(take_token)
{
	await(objects.tokens);
}
STEP(give_token)
{
	sem_post(objects.tokens);
}
STEP(meet_first)
{
	pthread_barrier_wait(objects.meeting);
}
STEP(meet_last)
{
	pthread_barrier_wait(objects.meeting);
}

STEP(take_item)
{
	pthread_mutex_lock(&queue_lock);
	while (queue_length == 0)
		pthread_cond_wait(objects.filled, &queue_lock);
	queue_length--;
	pthread_mutex_unlock(&queue_lock);
}

/* Signals without the lock: the waiter finds it free. */
STEP(put_item)
{
	pthread_mutex_lock(&queue_lock);
	queue_length++;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_signal(objects.filled);
}

enum { SIGNALS = 4, SIGNAL_MS = 2 };

/* Each signal finds the waiter in its call again. */
STEP(signal_and_release)
{
	for (int i = 0; i < SIGNALS; i++) {
		pthread_kill(waiting_thread, SIGUSR1);
		rest(2 * SIGNAL_MS);
	}
	release_mutex();
}

static void on_signal(int number)
{
	(void)number;
	rest(SIGNAL_MS);
}

STEP(read_pipe)
{
	char byte;
	if (read(channel[0], &byte, 1) != 1)
		abort();
}

STEP(write_pipe)
{
	if (write(channel[1], "", 1) != 1)
		abort();
}

struct mode {
	const char *name;
	const char *type;
	const char *object;
	const char *function;
	const char *waker_function;
	void (*prepare)(void); /* of the waker, before the waiter begins; NULL: nothing */
	void (*wait)(void);
	void (*wake)(void);
	void (*leave)(void); /* of the waiter, afterwards; NULL: nothing */
};

static const struct mode modes[] = {
	{"mutex", "Mutex", "contended", "take_mutex", "release_mutex", hold_mutex, take_mutex,
	 release_mutex, release_mutex},
	{"signals", "Mutex", "contended", "take_mutex", "release_mutex", hold_mutex, take_mutex,
	 signal_and_release, release_mutex},
	{"queue", "Condition Variable", "queue_filled", "take_item", "put_item", NULL, take_item,
	 put_item, NULL},
	{"rwlock", "Read/Write Lock", "shared", "read_shared", "release_shared", write_shared,
	 read_shared, release_shared, release_shared},
	{"semaphore", "Semaphore", "tokens", "take_token", "give_token", NULL, take_token,
	 give_token, NULL},
	{"barrier", "Barrier", "meeting", "meet_first", "meet_last", NULL, meet_first, meet_last,
	 NULL},
	{"pipe", "Pipe", "", "read_pipe", "write_pipe", NULL, read_pipe, write_pipe, NULL},
};

struct pair {
	const struct mode *mode;
	uint64_t rounds;
	uint64_t ms;
	uint32_t waiter_tid;
	uint32_t waker_tid;
	uint64_t wait_ns;
};

static void *run_waker(void *argument)
{
	struct pair *pair = argument;
	pair->waker_tid = own_tid();
	for (uint64_t i = 0; i < pair->rounds; i++) {
		if (pair->mode->prepare)
			pair->mode->prepare();
		sem_post(&held);
		await(&asked);
		rest(pair->ms);
		pair->mode->wake();
		await(&finished);
	}
	return NULL;
}

static void *run_waiter(void *argument)
{
	struct pair *pair = argument;
	pair->waiter_tid = own_tid();
	waiting_thread = pthread_self();
	for (uint64_t i = 0; i < pair->rounds; i++) {
		await(&held);
		sem_post(&asked);
		uint64_t begin = now_ns();
		pair->mode->wait();
		pair->wait_ns += now_ns() - begin;
		if (pair->mode->leave)
			pair->mode->leave();
		sem_post(&finished);
	}
	return NULL;
}

static pthread_t begin_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, argument) != 0) {
		perror("pthread_create");
		exit(1);
	}
	return thread;
}

static const void *object_at(const char *type)
{
	const struct {
		const char *type;
		const void *object;
	} all[] = {
		{"Mutex", objects.contended},        {"Condition Variable", objects.filled},
		{"Semaphore", objects.tokens},       {"Barrier", objects.meeting},
		{"Read/Write Lock", objects.shared},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].type, type) == 0)
			return all[i].object;
	return NULL;
}

static void print_wait(const struct mode *mode, const struct pair *pair)
{
	char place[32];
	snprintf(place, sizeof(place), "%p", object_at(mode->type));
	const char *object = objects.are_on_heap && mode->object[0] != '\0' ? place : mode->object;
	printf("{\"mode\": \"%s\", \"type\": \"%s\", \"object\": \"%s\", \"tid\": %u, \"count\": "
	       "%" PRIu64 ", \"time_s\": %.6f, \"function\": \"%s\", \"waker_tid\": %u, "
	       "\"waker_function\": \"%s\"}\n",
	       mode->name, mode->type, object, pair->waiter_tid, pair->rounds,
	       (double)pair->wait_ns / 1e9, mode->function, pair->waker_tid, mode->waker_function);
	fflush(stdout);
}

static void run_pair(const struct mode *mode, uint64_t rounds, uint64_t ms)
{
	struct pair pair = {.mode = mode, .rounds = rounds, .ms = ms};
	pthread_t waker = begin_thread(run_waker, &pair);
	pthread_t waiter = begin_thread(run_waiter, &pair);
	pthread_join(waiter, NULL);
	pthread_join(waker, NULL);
	print_wait(mode, &pair);
}

WORK_KEEP void poll_nothing(uint64_t ms);
WORK_KEEP void poll_nothing(uint64_t ms)
{
	poll(NULL, 0, (int)ms);
}

static void *run_timed_waiter(void *argument)
{
	struct pair *pair = argument;
	bool sleeps = strcmp(pair->mode->name, "sleep") == 0;
	pair->waiter_tid = own_tid();
	for (uint64_t i = 0; i < pair->rounds; i++) {
		uint64_t begin = now_ns();
		(sleeps ? rest : poll_nothing)(pair->ms);
		pair->wait_ns += now_ns() - begin;
	}
	return NULL;
}

/* In a thread of its own, which blocks nowhere else. */
static void run_timed(const char *name, uint64_t rounds, uint64_t ms)
{
	bool sleeps = strcmp(name, "sleep") == 0;
	const struct mode mode = {.name = name,
				  .type = sleeps ? "Sleep" : "poll",
				  .object = "",
				  .function = sleeps ? "rest" : "poll_nothing",
				  .waker_function = ""};
	struct pair pair = {.mode = &mode, .rounds = rounds, .ms = ms};
	pthread_join(begin_thread(run_timed_waiter, &pair), NULL);
	print_wait(&mode, &pair);
}

static void *run_joined(void *argument)
{
	struct pair *pair = argument;
	pair->waker_tid = own_tid();
	rest(pair->ms);
	return NULL;
}

WORK_KEEP void join_worker(pthread_t thread);
WORK_KEEP void join_worker(pthread_t thread)
{
	pthread_join(thread, NULL);
}

static void run_join(const char *name, uint64_t rounds, uint64_t ms)
{
	(void)name;
	const struct mode mode = {.name = "join",
				  .type = "Thread join",
				  .object = "",
				  .function = "join_worker",
				  .waker_function = ""};
	struct pair pair = {.mode = &mode, .rounds = rounds, .ms = ms, .waiter_tid = own_tid()};
	for (uint64_t i = 0; i < rounds; i++) {
		pthread_t thread = begin_thread(run_joined, &pair);
		uint64_t begin = now_ns();
		join_worker(thread);
		pair.wait_ns += now_ns() - begin;
	}
	print_wait(&mode, &pair);
}

/* Gives up after ms: in a child of fork, the lock's owner is not there. */
WORK_KEEP void take_inherited(uint64_t ms);
WORK_KEEP void take_inherited(uint64_t ms)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	uint64_t ns = (uint64_t)until.tv_nsec + ms * 1000000;
	until.tv_sec += (time_t)(ns / 1000000000);
	until.tv_nsec = (long)(ns % 1000000000);
	pthread_mutex_timedlock(objects.contended, &until);
}

/* What a child waited for the lock that this thread holds. */
static uint64_t wait_in_child(struct pair *pair)
{
	uint64_t wait_ns = 0;
	pid_t child = fork();
	if (child == 0) {
		uint64_t begin = now_ns();
		uint64_t cpu = work_thread_ns();
		take_inherited(pair->ms);
		/* A new process copies its pages before it blocks, and after. */
		wait_ns = now_ns() - begin - (work_thread_ns() - cpu);
		_exit(write(channel[1], &wait_ns, sizeof(wait_ns)) != sizeof(wait_ns));
	}
	pair->waiter_tid = (uint32_t)child;
	if (child < 0 || read(channel[0], &wait_ns, sizeof(wait_ns)) != sizeof(wait_ns) ||
	    waitpid(child, NULL, 0) != child)
		exit(1);
	return wait_ns;
}

static void run_forks(const char *name, uint64_t rounds, uint64_t ms)
{
	const struct mode mode = {.name = name,
				  .type = "Mutex",
				  .object = "contended",
				  .function = "take_inherited",
				  .waker_function = ""};
	struct pair pair = {.mode = &mode, .rounds = rounds, .ms = ms};
	pthread_mutex_lock(objects.contended);
	for (uint64_t i = 0; i < rounds; i++)
		pair.wait_ns += wait_in_child(&pair);
	pthread_mutex_unlock(objects.contended);
	print_wait(&mode, &pair);
}

STEP(spin_for_lock)
{
	pthread_spin_lock(&spinning);
	pthread_spin_unlock(&spinning);
}

struct spin {
	uint64_t rounds;
	uint64_t ms;
	uint64_t spin_ns; /* CPU time */
};

static void *run_spinner(void *argument)
{
	struct spin *spin = argument;
	for (uint64_t i = 0; i < spin->rounds; i++) {
		await(&held);
		uint64_t begin = work_thread_ns();
		spin_for_lock();
		spin->spin_ns += work_thread_ns() - begin;
		sem_post(&finished);
	}
	return NULL;
}

static void run_spin(const char *name, uint64_t rounds, uint64_t ms)
{
	(void)name;
	struct spin spin = {rounds, ms, 0};
	pthread_t spinner = begin_thread(run_spinner, &spin);
	uint64_t begin = now_ns();
	for (uint64_t i = 0; i < rounds; i++) {
		pthread_spin_lock(&spinning);
		sem_post(&held);
		burn_holding(ms * WORK_MS);
		pthread_spin_unlock(&spinning);
		await(&finished);
	}
	uint64_t elapsed_ns = now_ns() - begin;
	pthread_join(spinner, NULL);
	printf("{\"mode\": \"spin\", \"threads\": 2, \"elapsed_s\": %.6f, \"cpu_s\": %.6f, "
	       "\"function\": \"spin_for_lock\"}\n",
	       (double)elapsed_ns / 1e9, (double)spin.spin_ns / 1e9);
	fflush(stdout);
}

struct runner {
	uint64_t until_ns; /* burns up to this time; 0: burns cpu_ns */
	uint64_t cpu_ns;
	uint64_t begin_ns; /* by its own clock */
	uint64_t end_ns;
};

static void *run_runner(void *argument)
{
	struct runner *runner = argument;
	uint64_t begin = work_thread_ns();
	runner->begin_ns = now_ns();
	if (runner->until_ns == 0)
		burn(runner->cpu_ns);
	while (now_ns() < runner->until_ns)
		burn(WORK_MS / 10);
	runner->end_ns = now_ns();
	runner->cpu_ns = work_thread_ns() - begin;
	return NULL;
}

/* Runs that many threads at once. Returns their CPU time; *together_ns: how long all of them were
 * there. */
static uint64_t run_together(size_t count, uint64_t until_ns, uint64_t cpu_ns,
			     uint64_t *together_ns)
{
	struct runner runners[256];
	pthread_t threads[256];
	uint64_t total = 0;
	uint64_t last_begin = 0;
	uint64_t first_end = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		runners[i] = (struct runner){.until_ns = until_ns, .cpu_ns = cpu_ns};
		threads[i] = begin_thread(run_runner, &runners[i]);
	}
	for (size_t i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		total += runners[i].cpu_ns;
		if (runners[i].begin_ns > last_begin)
			last_begin = runners[i].begin_ns;
		if (runners[i].end_ns < first_end)
			first_end = runners[i].end_ns;
	}
	*together_ns = first_end > last_begin ? first_end - last_begin : 0;
	return total;
}

static size_t cpu_count(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	return count < 1 ? 1 : count > 64 ? 64 : (size_t)count;
}

static void run_phases(const char *name, uint64_t rounds, uint64_t ms)
{
	(void)name;
	const size_t counts[] = {0, 1, cpu_count()};
	for (size_t i = 0; i < 3; i++) {
		uint64_t begin = now_ns();
		uint64_t cpu_ns = 0;
		uint64_t together_ns;
		if (counts[i] > 0) {
			cpu_ns = run_together(counts[i], begin + rounds * ms * WORK_MS, 0,
					      &together_ns);
		} else {
			rest(rounds * ms);
			together_ns = now_ns() - begin;
		}
		printf("{\"mode\": \"phases\", \"phase\": %zu, \"elapsed_s\": %.6f, "
		       "\"together_s\": %.6f, \"cpu_s\": %.6f}\n",
		       counts[i], (double)(now_ns() - begin) / 1e9, (double)together_ns / 1e9,
		       (double)cpu_ns / 1e9);
		fflush(stdout);
	}
}

static void run_crowd(const char *name, uint64_t rounds, uint64_t ms)
{
	(void)name;
	uint64_t begin = now_ns();
	uint64_t together_ns;
	uint64_t cpu_ns = run_together(4 * cpu_count(), 0, rounds * ms * WORK_MS, &together_ns);
	printf("{\"mode\": \"crowd\", \"threads\": %zu, \"elapsed_s\": %.6f, \"cpu_s\": %.6f}\n",
	       4 * cpu_count(), (double)(now_ns() - begin) / 1e9, (double)cpu_ns / 1e9);
	fflush(stdout);
}

static bool is_open;

static void *run_idler(void *argument)
{
	(void)argument;
	pthread_mutex_lock(&queue_lock);
	while (!is_open)
		pthread_cond_wait(objects.filled, &queue_lock);
	pthread_mutex_unlock(&queue_lock);
	return NULL;
}

static void run_idlers(const char *name, uint64_t rounds, uint64_t ms)
{
	(void)name;
	pthread_t *threads = calloc(rounds, sizeof(*threads));
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	uint64_t count = 0;
	uint64_t begin = now_ns();
	while (threads && count < rounds &&
	       pthread_create(&threads[count], &attributes, run_idler, NULL) == 0)
		count++;
	rest(ms);
	pthread_mutex_lock(&queue_lock);
	is_open = true;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_broadcast(objects.filled);
	for (uint64_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("{\"mode\": \"idlers\", \"threads\": %" PRIu64
	       ", \"elapsed_s\": %.6f, \"cpu_s\": %.6f}\n",
	       count, (double)(now_ns() - begin) / 1e9, (double)work_process_ns() / 1e9);
	fflush(stdout);
	free(threads);
}

static void run_heap(const char *name, uint64_t rounds, uint64_t ms)
{
	(void)name;
	(void)rounds;
	(void)ms;
	struct objects *own = calloc(1, sizeof(*own)); /* to the end */
	if (!own)
		exit(1);
	pthread_cond_init(&own->filled, NULL);
	pthread_rwlock_init(&own->shared, NULL);
	pthread_barrier_init(&own->meeting, NULL, 2);
	sem_init(&own->tokens, 0, 0);
	pthread_mutex_init(&own->contended, NULL);
	objects.filled = &own->filled;
	objects.shared = &own->shared;
	objects.meeting = &own->meeting;
	objects.tokens = &own->tokens;
	objects.contended = &own->contended;
	objects.are_on_heap = true;
}

static const struct {
	const char *name;
	void (*run)(const char *name, uint64_t rounds, uint64_t ms);
	uint64_t rounds;
	uint64_t ms;
} others[] = {
	{"sleep", run_timed, 20, 10},      {"poll", run_timed, 20, 10},
	{"join", run_join, 5, 50},         {"spin", run_spin, 10, 20},
	{"phases", run_phases, 1, 300},    {"crowd", run_crowd, 1, 100},
	{"idlers", run_idlers, 1000, 300}, {"forks", run_forks, 10, 12},
	{"heap", run_heap, 0, 0},
};

static bool run_mode(const char *name, uint64_t rounds, uint64_t ms)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		bool is_mutex = i == 0;
		if (strcmp(modes[i].name, name) != 0)
			continue;
		run_pair(&modes[i],
			 rounds > 0 ? rounds
			 : is_mutex ? 40
				    : 20,
			 ms > 0     ? ms
			 : is_mutex ? 25
				    : 10);
		return true;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(others[i].name, name) != 0)
			continue;
		others[i].run(name, rounds > 0 ? rounds : others[i].rounds,
			      ms > 0 ? ms : others[i].ms);
		return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	const struct sigaction restarts = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	if (pipe(channel) != 0 || sigaction(SIGUSR1, &restarts, NULL) != 0)
		return 1;
	sem_init(&tokens, 0, 0);
	sem_init(&held, 0, 0);
	sem_init(&asked, 0, 0);
	sem_init(&finished, 0, 0);
	pthread_barrier_init(&meeting, NULL, 2);
	pthread_spin_init(&spinning, PTHREAD_PROCESS_PRIVATE);
	for (int i = 1; i < argc; i++) {
		char name[32] = "";
		uint64_t rounds = 0;
		uint64_t ms = 0;
		sscanf(argv[i], "%31[^=]=%" SCNu64 "x%" SCNu64, name, &rounds, &ms);
		if (!run_mode(name, rounds, ms)) {
			fprintf(stderr, "waiting: no mode %s\n", argv[i]);
			return 2;
		}
	}
	return 0;
}
