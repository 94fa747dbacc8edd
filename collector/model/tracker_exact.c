/*
 * Accounts for samples by the CPUs' clocks: the kernel's own, of each thread's whole life, sent by
 * BPF some time after its end. Samples add nothing to them.
 */
#include "collector/model/tracker_private.h"
#include "collector/result/emit.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* thread.before_ns: the account is of no use, most of it may be from before. */
#define BEFORE_UNKNOWN UINT64_MAX

/* Up to the last tick of the scheduler, a few ms ago (fs/proc/base.c, proc_pid_schedstat). */
static bool read_account(uint32_t pid, uint32_t tid, uint64_t *cpu_ns)
{
	char line[128];
	char *end;
	if (!tracker_read_line(pid, tid, "schedstat", line, sizeof(line)))
		return false;
	unsigned long long value = strtoull(line, &end, 10);
	if (end == line)
		return false;
	*cpu_ns = value;
	return true;
}

/* Whether an ended thread still waits for its parent: otherwise its id may be another's. Those that
 * are gone can be many. */
static bool is_zombie(struct thread *thread)
{
	char line[512];
	if (!thread->is_gone)
		thread->is_gone =
			!tracker_read_line(thread->pid, thread->tid, "stat", line, sizeof(line));
	if (thread->is_gone)
		return false;
	const char *state = strrchr(line, ')');
	return state && state[1] == ' ' && state[2] == 'Z';
}

void tracker_begin_account(const struct tracker *tracker, struct thread *thread, bool attach)
{
	if (tracker_is_exact(tracker) &&
	    !read_account(thread->pid, thread->tid, &thread->before_ns))
		thread->before_ns = attach ? BEFORE_UNKNOWN : 0; /* it ended just now */
}

static void set_account(struct tracker *tracker, struct thread *thread, uint64_t cpu_ns)
{
	assert(!thread->is_exact); /* its time is in the sums once */
	if (thread->before_ns == BEFORE_UNKNOWN) {
		tracker_close_account(tracker, thread);
		thread->is_exact = true; /* there is no other account to wait for */
		return;
	}
	thread->cpu_ns = cpu_ns > thread->before_ns ? cpu_ns - thread->before_ns : 0;
	thread->is_exact = true;
	tracker->counts.cpu_ns += thread->cpu_ns;
}

/* The longest ended life with this id whose account is due: ids are used again. */
static struct thread *find_waiting(const struct tracker *tracker, uint32_t pid, uint32_t tid)
{
	struct thread *found = NULL;
	for (struct thread *t = tracker->open_accounts; t; t = t->next_ended)
		if (t->pid == pid && t->account_tid == tid && !t->is_exact)
			found = t;
	if (found)
		return found;
	struct thread *thread = idmap_get(&tracker->threads, tid);
	return thread && thread->pid == pid && thread->account_tid == tid && !thread->is_exact
		       ? thread
		       : NULL;
}

struct thread *tracker_waiting(const struct tracker *tracker, const struct record *record)
{
	return find_waiting(tracker, record->pid, record->tid);
}

/* An exec by another thread than the first gives the first one's task the caller's id; its record
 * may come after that task was freed. An account cannot belong to a live thread. */
static struct thread *find_freed(const struct tracker *tracker, const struct record *record)
{
	struct thread *thread = tracker_waiting(tracker, record);
	if (!tracker_is_live(thread))
		return thread;
	struct thread *first = find_waiting(tracker, record->pid, record->pid);
	return first && !tracker_is_live(first) ? first : thread;
}

static void unlink_waiting(struct tracker *tracker, const struct thread *thread)
{
	struct thread **at = &tracker->open_accounts;
	while (*at && *at != thread)
		at = &(*at)->next_ended;
	if (*at)
		*at = thread->next_ended;
}

/* Called after the exec's record. */
static void apply_renamed(struct tracker *tracker, const struct record *record)
{
	struct thread *before = idmap_get(&tracker->threads, record->tid);
	struct thread *after = idmap_get(&tracker->threads, record->pid);
	bool was_told = before && before->pid == record->pid &&
			before->end_ns != PROFILE_TIME_NEVER && before->account_tid == 0;
	if (was_told) {
		set_account(tracker, before, record->account.cpu_ns);
		tracker_retire(tracker, before);
	}
	/* The exec may have taken the events: `after` then looks ended. */
	if (after && !after->is_exact && (was_told || after->end_ns == PROFILE_TIME_NEVER))
		after->before_ns = record->account.cpu_ns;
}

/* Whether the account of a thread was read before the thread's end. */
static bool is_closed(const struct tracker *tracker, const struct record *record)
{
	const struct thread *thread = idmap_get(&tracker->threads, record->tid);
	return thread && thread->pid == record->pid && thread->is_exact;
}

void tracker_apply_account(struct tracker *tracker, const struct record *record)
{
	if (record->account.is_renamed) {
		apply_renamed(tracker, record);
		return;
	}
	struct thread *thread = find_freed(tracker, record);
	if (!thread) {
		tracker->unknown_ns += is_closed(tracker, record) ? 0 : record->account.cpu_ns;
		return;
	}
	set_account(tracker, thread, record->account.cpu_ns);
	if (idmap_get(&tracker->threads, thread->tid) != thread)
		unlink_waiting(tracker, thread);
	/* The exit of a live thread was lost, or comes later. */
	if (thread->end_ns != PROFILE_TIME_NEVER)
		tracker_retire(tracker, thread);
}

void tracker_rename_account(struct tracker *tracker, struct thread *before, uint32_t pid)
{
	struct thread *first = tracker->open_accounts;
	while (first && (first->pid != pid || first->account_tid != pid))
		first = first->next_ended;
	if (first)
		first->account_tid = before->tid;
	before->account_tid = 0;
}

size_t tracker_read_accounts(struct tracker *tracker)
{
	size_t position = 0;
	size_t missing = 0;
	uint64_t cpu_ns;
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position));) {
		if (t->is_exact)
			continue;
		bool is_there = t->end_ns == PROFILE_TIME_NEVER || is_zombie(t);
		if (is_there && read_account(t->pid, t->tid, &cpu_ns))
			set_account(tracker, t, cpu_ns);
		else
			missing++;
	}
	for (const struct thread *t = tracker->open_accounts; t; t = t->next_ended)
		missing += !t->is_exact;
	return missing;
}
