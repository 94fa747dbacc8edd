#include "collector/proc/asker.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SILENT_MAX = 64, /* each leaves a thread behind */
	PATIENT_FOR = 4,
	IMPATIENCE = 20
};

/* The thread: it belongs to the asker until an answer stays out, and then to itself. */
struct worker {
	pthread_t thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t changed;
	struct asker_question *question; /* NULL: no question */
	bool is_left;                    /* nobody waits any more */
};

struct asker {
	uint64_t patience_ns;
	struct worker *worker; /* NULL: not started */
	uint32_t silent[SILENT_MAX];
	size_t silent_count;
};

static void worker_free(struct worker *worker)
{
	pthread_mutex_destroy(&worker->mutex);
	pthread_cond_destroy(&worker->changed);
	free(worker);
}

static void *answer_all(void *user)
{
	struct worker *worker = user;
	pthread_mutex_lock(&worker->mutex);
	while (!worker->is_left) {
		struct asker_question *question = worker->question;
		if (!question) {
			pthread_cond_wait(&worker->changed, &worker->mutex);
			continue;
		}
		pthread_mutex_unlock(&worker->mutex);
		question->answer(question);
		pthread_mutex_lock(&worker->mutex);
		if (!worker->is_left)
			worker->question = NULL;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->mutex);
	if (worker->question)
		worker->question->discard(worker->question);
	worker_free(worker);
	return NULL;
}

static struct worker *worker_start(void)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	pthread_condattr_t monotonic;
	sigset_t all;
	sigset_t before;
	if (!worker)
		return NULL;
	pthread_mutex_init(&worker->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&worker->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	/* Signals are for the thread that polls for them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&worker->thread, NULL, answer_all, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		worker_free(worker);
		return NULL;
	}
	pthread_setname_np(worker->thread, "tbcollect-ask");
	pthread_detach(worker->thread);
	return worker;
}

/* Leaves the worker to free itself, and its question. */
static void worker_leave(struct worker *worker)
{
	worker->is_left = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->mutex);
}

struct asker *asker_create(uint64_t patience_ns)
{
	struct asker *asker = calloc(1, sizeof(*asker));
	if (asker)
		asker->patience_ns = patience_ns;
	return asker;
}

void asker_destroy(struct asker *asker)
{
	if (!asker)
		return;
	if (asker->worker) {
		pthread_mutex_lock(&asker->worker->mutex);
		worker_leave(asker->worker);
	}
	free(asker);
}

/* The directory belongs to the effective user of the process, even if hidden (fs/proc/base.c,
 * task_dump_owner). */
uint32_t asker_find_owner(uint32_t pid)
{
	char path[64];
	struct stat status;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	return stat(path, &status) == 0 ? status.st_uid : ASKER_NO_OWNER;
}

/* A process that is gone keeps nobody waiting. */
static bool is_of_others(uint32_t pid)
{
	uint32_t owner = asker_find_owner(pid);
	return owner != ASKER_NO_OWNER && owner != geteuid();
}

static bool is_silent(const struct asker *asker, uint32_t pid)
{
	for (size_t i = 0; i < asker->silent_count; i++)
		if (asker->silent[i] == pid)
			return true;
	return asker->silent_count == SILENT_MAX;
}

static struct timespec deadline(const struct asker *asker)
{
	struct timespec time;
	uint64_t patience_ns = asker->silent_count < PATIENT_FOR ? asker->patience_ns
								 : asker->patience_ns / IMPATIENCE;
	clock_gettime(CLOCK_MONOTONIC, &time);
	uint64_t end_ns = (uint64_t)time.tv_nsec + patience_ns;
	time.tv_sec += (time_t)(end_ns / 1000000000u);
	time.tv_nsec = (long)(end_ns % 1000000000u);
	return time;
}

/* Whether the worker answers the question in time. */
static bool wait_for_answer(const struct asker *asker, struct asker_question *question)
{
	struct worker *worker = asker->worker;
	struct timespec end = deadline(asker);
	int error = 0;
	pthread_mutex_lock(&worker->mutex);
	assert(!worker->question);
	worker->question = question;
	pthread_cond_signal(&worker->changed);
	while (worker->question && error == 0)
		error = pthread_cond_timedwait(&worker->changed, &worker->mutex, &end);
	bool answered = !worker->question;
	if (answered)
		pthread_mutex_unlock(&worker->mutex);
	else
		worker_leave(worker);
	return answered;
}

bool asker_ask(struct asker *asker, uint32_t pid, struct asker_question *question)
{
	bool alone = !asker || !is_of_others(pid);
	if (!alone && is_silent(asker, pid)) {
		question->discard(question);
		return false;
	}
	if (!alone && !asker->worker)
		asker->worker = worker_start();
	if (alone || !asker->worker) {
		question->answer(question);
		return true;
	}
	if (wait_for_answer(asker, question))
		return true;
	asker->worker = NULL;
	assert(asker->silent_count < SILENT_MAX); /* is_silent: then nobody is asked */
	asker->silent[asker->silent_count++] = pid;
	return false;
}

size_t asker_silent(const struct asker *asker, const uint32_t **pids)
{
	*pids = asker->silent;
	return asker->silent_count;
}
