#include "collector/waits/observer.h"

#include "collector/machine/clock.h"
#include "collector/perf/record.h"
#include "collector/proc/asker.h"
#include "collector/stream/drain.h"
#include "collector/stream/priority.h"
#include "collector/waits/blocked.h"
#include "collector/waits/look.h"
#include "collector/waits/looks.h"
#include "containers/hash_table.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
	READS_MAX = 64, /* threads of one round; the drain is not locked while they are read */
	KEPT_FILES = 64 /* threads whose files are kept open */
};

#define PATIENCE_NS 100000000u  /* for the processes of others */
#define BURST_NS    50000000u   /* CPU time that may be taken at once, after a time without use */
#define OWNER_NS    1000000000u /* how long a process's owner is believed */

/* What the observer knows of a process. */
struct observed {
	struct hash_slot head;
	uint32_t pid;
	bool is_own;
	bool is_hidden;
	uint64_t known_ns; /* when the owner was asked */
};

/* The files of a thread of a process of ours. */
struct kept_files {
	uint32_t pid;
	uint32_t tid;
	struct look_files files;
};

struct observer {
	uint64_t threshold_ns;
	struct drain *drain;
	struct looks looks;     /* with the drain locked */
	struct blocked blocked; /* likewise */
	pthread_t thread;
	bool has_thread;
	int stop_fd;
	/* The thread's. */
	struct asker *asker;
	struct look_question *question; /* reads a thread; NULL: the last one was given up */
	struct hash_table processes;
	struct hash_key key;
	struct kept_files kept[KEPT_FILES]; /* by the last digits of the thread's id */
	uint64_t round_ns;
	uint64_t allowed_ns; /* CPU time that may have been used by now */
	struct observer_counts counts;
};

static void note_switch(const struct record_switch *found, void *user)
{
	struct observer *observer = user;
	blocked_note(&observer->blocked, found);
}

struct observer *observer_create(uint64_t threshold_ns, struct drain *drain)
{
	struct observer *observer = calloc(1, sizeof(*observer));
	if (!observer)
		return NULL;
	struct source source = looks_source(&observer->looks);
	observer->threshold_ns = threshold_ns;
	observer->drain = drain;
	observer->stop_fd = -1;
	observer->key = hash_key_draw();
	for (size_t i = 0; i < KEPT_FILES; i++)
		look_files_init(&observer->kept[i].files);
	blocked_init(&observer->blocked);
	observer->asker = asker_create(PATIENCE_NS);
	if (!observer->asker || !drain_add_source(drain, &source)) {
		observer_destroy(observer);
		return NULL;
	}
	drain_add_watcher(drain, &(struct drain_watcher){.show = note_switch, .user = observer});
	return observer;
}

void observer_destroy(struct observer *observer)
{
	if (!observer)
		return;
	observer_stop(observer);
	if (observer->stop_fd >= 0)
		close(observer->stop_fd);
	asker_destroy(observer->asker);
	hash_table_finish(&observer->processes);
	for (size_t i = 0; i < KEPT_FILES; i++)
		look_files_close(&observer->kept[i].files);
	free(observer->question);
	blocked_finish(&observer->blocked);
	looks_finish(&observer->looks);
	free(observer);
}

static inline bool is_process(const void *slot, const void *key)
{
	return ((const struct observed *)slot)->pid == *(const uint32_t *)key;
}

/* What is known of the process; NULL: out of memory. */
static struct observed *find_process(struct observer *observer, uint32_t pid, uint64_t now)
{
	uint64_t hash = hash_number(&observer->key, pid);
	struct observed *process =
		hash_table_find(&observer->processes, sizeof(*process), hash, is_process, &pid);
	if (!process)
		process = hash_table_add(&observer->processes, sizeof(*process), hash);
	if (!process)
		return NULL;
	if (process->known_ns == 0 || now - process->known_ns > OWNER_NS) {
		/* It may be another process by now, or have another program. */
		process->pid = pid;
		process->is_own = asker_find_owner(pid) == geteuid();
		process->is_hidden = false;
		process->known_ns = now;
	}
	return process;
}

/* Puts what was read among the drain's records. The time is taken with the drain locked: no round
 * passes it meanwhile. */
static void put_look(struct observer *observer, const struct look_question *question)
{
	struct looks_entry *entry =
		looks_entry_create(question->pid, question->tid, &question->look, question->name,
				   question->stack);
	bool is_put = false;
	if (entry) {
		drain_lock(observer->drain);
		is_put = looks_put(&observer->looks, entry, clock_now());
		drain_unlock(observer->drain);
	}
	observer->counts.missed += !is_put;
}

static void put_hidden(struct observer *observer, struct observed *process, uint32_t tid, int error)
{
	const struct look_question hidden = {.pid = process->pid, .tid = tid, .look.error = error};
	if (!process->is_hidden)
		put_look(observer, &hidden);
	process->is_hidden = true;
}

/* Another thread's files give way. */
static struct look_files *find_files(struct observer *observer, uint32_t pid, uint32_t tid)
{
	struct kept_files *kept = &observer->kept[tid % KEPT_FILES];
	if (kept->pid != pid || kept->tid != tid)
		look_files_close(&kept->files);
	kept->pid = pid;
	kept->tid = tid;
	return &kept->files;
}

/* Has the thread read. false: the kernel did not answer. */
static bool read_thread(struct observer *observer, const struct observed *process)
{
	struct look_question *question = observer->question;
	question->files =
		process->is_own ? find_files(observer, question->pid, question->tid) : NULL;
	if (look_ask(observer->asker, process->is_own, observer->question))
		return true;
	observer->question = NULL;
	return false;
}

static void look_at(struct observer *observer, const struct blocked_thread *blocked)
{
	struct observed *process = find_process(observer, blocked->pid, clock_now());
	if (!observer->question)
		observer->question = look_question_create();
	if (!process || !observer->question) {
		observer->counts.missed++;
		return;
	}
	if (process->is_hidden)
		return;
	observer->question->pid = blocked->pid;
	observer->question->tid = blocked->tid;
	observer->counts.reads++;
	if (!read_thread(observer, process)) {
		put_hidden(observer, process, blocked->tid, ETIMEDOUT);
	} else if (observer->question->look.error != 0) {
		put_hidden(observer, process, blocked->tid, observer->question->look.error);
	} else if (observer->question->look.is_blocked) {
		observer->counts.looks++;
		put_look(observer, observer->question);
	}
}

/* Whether more CPU time may be used now. */
static bool may_go_on(struct observer *observer, uint64_t now)
{
	uint64_t used_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
	observer->allowed_ns += (now - observer->round_ns) / OBSERVER_SHARE;
	observer->round_ns = now;
	if (observer->allowed_ns > used_ns + BURST_NS)
		observer->allowed_ns = used_ns + BURST_NS;
	observer->counts.cpu_ns = used_ns;
	return used_ns < observer->allowed_ns;
}

/* Takes threads that have been blocked for the threshold. */
static size_t take_blocked(struct observer *observer, struct blocked_thread taken[READS_MAX],
			   uint64_t now)
{
	size_t count = 0;
	drain_lock(observer->drain);
	blocked_settle(&observer->blocked);
	while (count < READS_MAX &&
	       blocked_take(&observer->blocked, now - observer->threshold_ns, &taken[count]))
		count++;
	drain_unlock(observer->drain);
	return count;
}

/* Reads the threads whose turn it is. Returns how long to wait for the next ones: until the first
 * one has been blocked for the threshold, as this thread may come late itself; but rounds are half
 * of it apart at least, since one costs as much as a look, and finds more threads then. So none
 * waits for longer than one and a half times the threshold. */
static uint64_t run_round(struct observer *observer)
{
	struct blocked_thread taken[READS_MAX];
	uint64_t least_ns = observer->threshold_ns / 2;
	uint64_t most_ns = observer->threshold_ns + least_ns;
	uint64_t since_ns;
	uint64_t now = clock_now();
	size_t count = 0;
	drain_watch(observer->drain);
	if (may_go_on(observer, now))
		count = take_blocked(observer, taken, now);
	for (size_t i = 0; i < count; i++)
		look_at(observer, &taken[i]);
	drain_lock(observer->drain);
	bool is_waiting = blocked_first(&observer->blocked, &since_ns);
	drain_unlock(observer->drain);
	now = clock_now();
	if (!is_waiting || since_ns > now)
		return most_ns;
	uint64_t age_ns = now - since_ns;
	return age_ns + least_ns >= observer->threshold_ns ? least_ns
							   : observer->threshold_ns - age_ns;
}

static void *run(void *user)
{
	struct observer *observer = user;
	struct pollfd stop = {.fd = observer->stop_fd, .events = POLLIN};
	uint64_t wait_ns = 0;
	priority_raise();
	observer->round_ns = clock_now();
	observer->allowed_ns = BURST_NS;
	while (stop.revents == 0) {
		struct timespec timeout = {.tv_sec = (time_t)(wait_ns / 1000000000u),
					   .tv_nsec = (long)(wait_ns % 1000000000u)};
		if (ppoll(&stop, 1, &timeout, NULL) <= 0)
			wait_ns = run_round(observer);
	}
	observer->counts.cpu_ns = clock_read(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

void observer_add_thread(struct observer *observer, uint32_t pid, uint32_t tid)
{
	struct record_switch found = {.time_ns = clock_now(),
				      .pid = pid,
				      .tid = tid,
				      .kind = RECORD_BLOCKED};
	drain_lock(observer->drain);
	blocked_note(&observer->blocked, &found);
	drain_unlock(observer->drain);
}

int observer_start(struct observer *observer)
{
	sigset_t all;
	sigset_t before;
	observer->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (observer->stop_fd < 0)
		return -1;
	/* Signals are for the thread that polls for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&observer->thread, NULL, run, observer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	observer->has_thread = error == 0;
	if (error == 0)
		pthread_setname_np(observer->thread, "tbcollect-watch");
	errno = error;
	return error == 0 ? 0 : -1;
}

void observer_stop(struct observer *observer)
{
	if (!observer->has_thread)
		return;
	eventfd_write(observer->stop_fd, 1);
	pthread_join(observer->thread, NULL);
	observer->has_thread = false;
}

struct observer_counts observer_counts(const struct observer *observer)
{
	return observer->counts;
}
