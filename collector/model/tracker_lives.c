#include "collector/model/tracker_private.h"
#include "collector/result/emit.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

bool tracker_read_line(uint32_t pid, uint32_t tid, const char *name, char *line, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(line, (int)size, file) != NULL;
	if (file)
		fclose(file);
	return is_read;
}

void tracker_read_name(const struct tracker *tracker, uint32_t pid, uint32_t tid, char *name,
		       size_t size)
{
	if (tracker->context.is_recorded)
		snprintf(name, size, ":%u", tid); /* as perf does */
	else if (!tracker_read_line(pid, tid, "comm", name, size))
		name[0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

struct process *tracker_put_process(struct tracker *tracker, struct process *process)
{
	assert(!process || !idmap_get(&tracker->processes, process->pid));
	if (process && !idmap_put(&tracker->processes, process->pid, process)) {
		process_destroy(process);
		return NULL;
	}
	return process;
}

struct process *tracker_process(struct tracker *tracker, uint32_t pid)
{
	struct process *process = idmap_get(&tracker->processes, pid);
	if (process)
		return process;
	char name[PROCESS_NAME_MAX];
	tracker_read_name(tracker, pid, pid, name, sizeof(name));
	process = tracker_put_process(tracker, process_create(&tracker->context, pid, name,
							      tracker->now_ns));
	if (process)
		process->stale = !tracker->context.is_recorded; /* read before the first use */
	return process;
}

struct thread *tracker_put_thread(struct tracker *tracker, uint32_t pid, uint32_t tid,
				  const char *name, uint32_t family)
{
	assert(!idmap_get(&tracker->threads, tid));
	struct thread *thread =
		thread_create(pid, tid, name, tracker->now_ns, tracker->cpus->count);
	if (!thread)
		return NULL;
	if (!idmap_put(&tracker->threads, tid, thread)) {
		thread_destroy(thread);
		return NULL;
	}
	thread->family = family;
	for (size_t i = 0; i < tracker->cpus->count; i++)
		thread->counts[i].gaps = tracker->gaps[i];
	tracker->counts.threads++;
	tracker->counts.live_threads++;
	struct process *process = idmap_get(&tracker->processes, pid);
	if (process) {
		process->thread_count++;
		process->first_ended = process->first_ended && tid != pid;
	}
	return thread;
}

bool tracker_is_live(const struct thread *thread)
{
	return thread && thread->end_ns == PROFILE_TIME_NEVER;
}

void tracker_listen(struct tracker *tracker, const struct tracker_listener *listener)
{
	tracker->listener = *listener;
}

void tracker_tell_birth(const struct tracker *tracker, struct thread *thread,
			enum tracker_birth birth)
{
	if (tracker->listener.born)
		tracker->listener.born(tracker->listener.user, thread, birth);
}

void tracker_tell_end(const struct tracker *tracker, struct thread *thread, uint64_t time_ns,
		      const struct record *record)
{
	if (tracker->listener.ends)
		tracker->listener.ends(tracker->listener.user, thread, time_ns, record);
}

static void write_thread(struct tracker *tracker, struct thread *thread)
{
	tracker_close_account(tracker, thread);
	thread_end(thread, tracker->context.emit, !tracker->events->has_count);
}

static void finish_thread(struct tracker *tracker, struct thread *thread)
{
	write_thread(tracker, thread);
	thread_destroy(thread);
}

void tracker_retire(struct tracker *tracker, struct thread *thread)
{
	assert(!tracker_is_live(thread));
	if (idmap_get(&tracker->threads, thread->tid) == thread)
		idmap_remove(&tracker->threads, thread->tid);
	if (!tracker_has_open_account(tracker, thread)) {
		finish_thread(tracker, thread);
		return;
	}
	stack_memory_forget(&thread->stack);
	thread->next_ended = tracker->open_accounts;
	tracker->open_accounts = thread;
}

void tracker_end_thread(struct tracker *tracker, struct thread *thread, uint64_t time_ns)
{
	struct process *process = idmap_get(&tracker->processes, thread->pid);
	assert(tracker_is_live(thread) && tracker->counts.live_threads > 0);
	/* A damaged recording has any times. */
	thread->end_ns = time_ns != PROFILE_TIME_NEVER ? time_ns : PROFILE_TIME_NEVER - 1;
	tracker->counts.live_threads--;
	if (process && process->thread_count > 0 && --process->thread_count == 0) {
		process_end(process, time_ns);
		idmap_remove(&tracker->processes, process->pid);
		process_destroy(process);
	} else if (process && thread->tid == thread->pid) {
		process->first_ended = true;
	}
	if (!tracker_has_open_account(tracker, thread))
		tracker_retire(tracker, thread);
	else
		stack_memory_forget(&thread->stack);
}

void tracker_lose_thread(struct tracker *tracker, struct thread *thread)
{
	tracker_tell_end(tracker, thread, tracker->now_ns, NULL);
	tracker_end_thread(tracker, thread, tracker->now_ns);
}

void tracker_free_tid(struct tracker *tracker, uint32_t tid)
{
	struct thread *thread = idmap_get(&tracker->threads, tid);
	if (tracker_is_live(thread))
		tracker_lose_thread(tracker, thread);
	thread = idmap_get(&tracker->threads, tid);
	if (thread)
		tracker_retire(tracker, thread);
}

/* Exec by another thread than the first gives it that one's id long before the exec's record. */
static struct thread *find_in_exec(const struct tracker *tracker, uint32_t pid, uint32_t tid)
{
	const struct process *process = idmap_get(&tracker->processes, pid);
	return tid == pid && process && process->first_ended
		       ? tracker_find_live_thread(tracker, pid)
		       : NULL;
}

struct thread *tracker_thread(struct tracker *tracker, uint32_t pid, uint32_t tid)
{
	struct thread *thread = idmap_get(&tracker->threads, tid);
	struct thread *in_exec = tracker_is_live(thread) ? NULL : find_in_exec(tracker, pid, tid);
	if (in_exec)
		return in_exec;
	if (thread && thread->pid == pid)
		return thread;
	char name[THREAD_NAME_MAX];
	tracker_free_tid(tracker, tid);
	tracker_read_name(tracker, pid, tid, name, sizeof(name));
	thread = tracker_put_thread(tracker, pid, tid, name, 0);
	/* Its fork was lost, and perhaps samples with it. */
	for (size_t i = 0; thread && i < thread->count_size; i++)
		thread->counts[i].gaps = UINT64_MAX;
	if (thread)
		tracker_tell_birth(tracker, thread, TRACKER_FOUND);
	return thread;
}

struct process *tracker_find_process(const struct tracker *tracker, uint32_t pid)
{
	return idmap_get(&tracker->processes, pid);
}

struct thread *tracker_find_thread(const struct tracker *tracker, uint32_t pid, uint32_t tid)
{
	struct thread *thread = idmap_get(&tracker->threads, tid);
	return thread && thread->pid == pid ? thread : NULL;
}

struct thread *tracker_find_live(const struct tracker *tracker, uint32_t tid)
{
	struct thread *thread = idmap_get(&tracker->threads, tid);
	return tracker_is_live(thread) ? thread : NULL;
}

struct thread *tracker_next_thread(const struct tracker *tracker, size_t *position)
{
	struct thread *thread;
	do
		thread = idmap_next(&tracker->threads, position);
	while (thread && !tracker_is_live(thread));
	return thread;
}

bool tracker_knows(const struct tracker *tracker, pid_t tid)
{
	return tracker_is_live(idmap_get(&tracker->threads, (uint32_t)tid));
}

const char *tracker_next_process(const struct tracker *tracker, size_t *position, uint32_t *pid)
{
	const struct process *process;
	do
		process = idmap_next(&tracker->processes, position);
	while (process && process->thread_count == 0);
	if (process)
		*pid = process->pid;
	return process ? process->name : NULL;
}

uint32_t tracker_family(const struct tracker *tracker, pid_t tid)
{
	const struct thread *thread = idmap_get(&tracker->threads, (uint32_t)tid);
	return tracker_is_live(thread) ? thread->family : UINT32_MAX;
}

struct thread *tracker_find_live_thread(const struct tracker *tracker, uint32_t pid)
{
	size_t position = 0;
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position));)
		if (t->pid == pid && tracker_is_live(t))
			return t;
	return NULL;
}

void tracker_free_pid(struct tracker *tracker, uint32_t pid)
{
	struct thread *thread;
	if (!idmap_get(&tracker->processes, pid))
		return;
	while ((thread = tracker_find_live_thread(tracker, pid)))
		tracker_lose_thread(tracker, thread);
	struct process *process = idmap_remove(&tracker->processes, pid);
	if (!process)
		return; /* ended with its last thread */
	process_end(process, tracker->now_ns);
	process_destroy(process);
}

void tracker_write_threads(struct tracker *tracker)
{
	size_t position = 0;
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position));)
		write_thread(tracker, t);
	while (tracker->open_accounts) {
		struct thread *thread = tracker->open_accounts;
		tracker->open_accounts = thread->next_ended;
		finish_thread(tracker, thread);
	}
}
