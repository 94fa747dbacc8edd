#include "collector/session/attach.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 100 };

static int open_thread(struct sampler *sampler, struct tracker *tracker, pid_t pid, pid_t tid,
		       struct failure *failure)
{
	int result = sampler_add(sampler, pid, tid, failure);
	if (result != 0)
		return result;
	int family = tracker_add_thread(tracker, pid, tid, true);
	if (family < 0)
		return failure_set(failure, FAILURE_EXIT, "out of memory");
	assert(sampler->thread_count > 0);
	sampler->threads[sampler->thread_count - 1].family = (uint32_t)family;
	return 0;
}

struct attaching {
	struct sampler *sampler;
	struct tracker *tracker;
	attach_meanwhile *meanwhile;
	void *user;
	bool stopped;
};

/* One pass over the list of threads. The number of threads opened, or -1. */
static int open_new_threads(struct attaching *attaching, pid_t pid, DIR *tasks,
			    struct failure *failure)
{
	int opened = 0;
	for (struct dirent *entry; !attaching->stopped && (entry = readdir(tasks));) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		if (tid <= 0 || tracker_knows(attaching->tracker, tid))
			continue;
		int result = open_thread(attaching->sampler, attaching->tracker, pid, tid, failure);
		if (result < 0)
			return -1;
		if (result > 0)
			continue;
		opened++;
		attaching->stopped = !attaching->meanwhile(attaching->user, DRAIN_SETTLED);
	}
	return opened;
}

/* Explains an error of /proc about pid. */
static int explain(struct failure *failure, int error, pid_t pid)
{
	if (error == ENOENT || error == ESRCH)
		return event_explain(failure, ESRCH, pid);
	return failure_set_error(failure, error, "cannot look at process %d", (int)pid);
}

int attach_check(pid_t pid, struct failure *failure)
{
	char line[256];
	char path[64];
	long leader = pid;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return explain(failure, errno, pid);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "Tgid:", 5) == 0)
			leader = strtol(line + 5, NULL, 10);
	fclose(file);
	if (leader == pid)
		return 0;
	return failure_set(failure, FAILURE_EXIT,
			   "cannot attach to %d: it is a thread of process %ld; give -p %ld",
			   (int)pid, leader, leader);
}

int attach_process(struct sampler *sampler, struct tracker *tracker, pid_t pid,
		   attach_meanwhile *meanwhile, void *user, struct failure *failure)
{
	struct attaching attaching = {sampler, tracker, meanwhile, user, false};
	char path[64];
	int total = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	for (int round = 0; round < ROUNDS_MAX && !attaching.stopped; round++) {
		DIR *tasks = opendir(path);
		if (!tasks && total == 0)
			return explain(failure, errno, pid);
		if (!tasks)
			break;
		int opened = open_new_threads(&attaching, pid, tasks, failure);
		closedir(tasks);
		if (opened < 0)
			return -1;
		total += opened;
		if (opened == 0)
			break;
		attaching.stopped = attaching.stopped || !meanwhile(user, DRAIN_ALL);
	}
	if (total == 0)
		return event_explain(failure, ESRCH, pid);
	if (!attaching.stopped)
		sampler_release(sampler);
	return attaching.stopped;
}

void attach_drop_doubles(struct sampler *sampler, const struct tracker *tracker)
{
	for (size_t i = 0; i < sampler->thread_count; i++) {
		const struct sampler_thread *thread = &sampler->threads[i];
		uint32_t family = tracker_family(tracker, thread->tid);
		if (family != UINT32_MAX && family != thread->family)
			sampler_drop(sampler, i);
	}
}
