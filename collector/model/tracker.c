#include "collector/model/tracker.h"

#include "collector/image/image.h"
#include "collector/machine/clock.h"
#include "collector/machine/registers.h"
#include "collector/model/tracker_private.h"
#include "collector/proc/asker.h"
#include "collector/result/emit.h"
#include "containers/array.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tracker *create(const struct sampler *sampler, struct emit *emit, bool is_recorded)
{
	struct tracker *tracker = calloc(1, sizeof(*tracker));
	if (!tracker)
		return NULL;
	tracker->events = &sampler->config;
	tracker->cpus = &sampler->cpus;
	tracker->context.emit = emit;
	tracker->context.family = uw_space_create(registers_machine(false)->arch);
	tracker->context.is_recorded = is_recorded;
	tracker->context.asker = is_recorded ? NULL : asker_create(ASKER_PATIENCE_NS);
	tracker->context.images = image_table_create(emit, tracker->context.asker);
	tracker->gaps = calloc(tracker->cpus->count, sizeof(*tracker->gaps));
	if (!tracker->gaps || !tracker->context.images ||
	    (!tracker->context.asker && !is_recorded) || !tracker->context.family) {
		tracker_destroy(tracker);
		return NULL;
	}
	return tracker;
}

struct tracker *tracker_create(const struct sampler *sampler, struct emit *emit)
{
	return create(sampler, emit, false);
}

struct tracker *tracker_create_recorded(const struct sampler *sampler, struct emit *emit,
					uint32_t owner)
{
	struct tracker *tracker = create(sampler, emit, true);
	/* One family for all: no thread has an event of its own. */
	if (tracker && !array_reserve(&tracker->families, &tracker->family_capacity, 1,
				      sizeof(*tracker->families))) {
		tracker_destroy(tracker);
		return NULL;
	}
	if (!tracker)
		return NULL;
	tracker->families[tracker->family_count++] = (struct family){0};
	image_table_set_recorded(tracker->context.images, owner);
	return tracker;
}

void tracker_destroy(struct tracker *tracker)
{
	if (!tracker)
		return;
	size_t position = 0;
	for (void *p; (p = idmap_next(&tracker->processes, &position));)
		process_destroy(p);
	position = 0;
	for (void *p; (p = idmap_next(&tracker->threads, &position));)
		thread_destroy(p);
	while (tracker->open_accounts) {
		struct thread *thread = tracker->open_accounts;
		tracker->open_accounts = thread->next_ended;
		thread_destroy(thread);
	}
	hash_table_finish(&tracker->processes);
	hash_table_finish(&tracker->threads);
	uw_space_destroy(tracker->context.family);
	image_table_destroy(tracker->context.images);
	asker_destroy(tracker->context.asker);
	free(tracker->families);
	free(tracker->gaps);
	free(tracker);
}

int tracker_add_thread(struct tracker *tracker, pid_t pid, pid_t tid, bool attach)
{
	if (!array_reserve(&tracker->families, &tracker->family_capacity, tracker->family_count + 1,
			   sizeof(*tracker->families)))
		return -1;
	tracker->families[tracker->family_count] = (struct family){0};
	char name[PROCESS_NAME_MAX] = "";
	struct process *process = idmap_get(&tracker->processes, (uint32_t)pid);
	if (!process) {
		tracker_read_name(tracker, (uint32_t)pid, (uint32_t)pid, name, sizeof(name));
		process = tracker_put_process(tracker,
					      process_create(&tracker->context, (uint32_t)pid, name,
							     PROFILE_TIME_BEFORE));
		if (!process)
			return -1;
		if (attach)
			process_attach(process);
	}
	struct thread *thread = idmap_get(&tracker->threads, (uint32_t)tid);
	if (!tracker_is_live(thread)) {
		tracker_free_tid(tracker, (uint32_t)tid);
		tracker_read_name(tracker, (uint32_t)pid, (uint32_t)tid, name, sizeof(name));
		thread = tracker_put_thread(tracker, (uint32_t)pid, (uint32_t)tid, name, 0);
		if (thread)
			thread->is_launched = !attach;
		if (thread)
			tracker_tell_birth(tracker, thread,
					   attach ? TRACKER_ATTACHED : TRACKER_LAUNCHED);
	}
	if (!thread)
		return -1;
	thread->family = tracker->family_count;
	thread->is_head = true;
	tracker_begin_account(tracker, thread, attach);
	return (int)tracker->family_count++;
}

void tracker_read_attached(struct tracker *tracker, pid_t pid)
{
	struct process *process = idmap_get(&tracker->processes, (uint32_t)pid);
	if (process && process->unread)
		process_read_maps(process, clock_now());
}

/* A thread found before its fork record begins with the fork: the account is of the new life. */
static void forget_start(struct tracker *tracker, uint32_t tid)
{
	struct thread *thread = idmap_get(&tracker->threads, tid);
	if (tracker_is_exact(tracker) && tracker_is_live(thread) && thread->is_head)
		thread->is_exact = true;
}

static void apply_fork(struct tracker *tracker, const struct record *record)
{
	bool new_process = record->pid != record->fork.parent_pid;
	/* The kernel reports children not followed by events too. */
	if (new_process && tracker->events->same_process)
		return;
	forget_start(tracker, record->tid);
	tracker_free_tid(tracker, record->tid);
	if (new_process)
		tracker_free_pid(tracker, record->pid);
	/* Looked up only now: a record may name the same task twice. */
	const struct thread *parent = idmap_get(&tracker->threads, record->fork.parent_tid);
	struct process *origin = idmap_get(&tracker->processes, record->fork.parent_pid);
	/* The child may be gone when a sample of it comes. */
	if (new_process && origin && origin->unread)
		process_read_maps(origin, record->time_ns);
	if (new_process && origin)
		tracker_put_process(tracker, process_fork(origin, record->pid, record->time_ns));
	const struct process *process = tracker_process(tracker, record->pid);
	const char *name = parent ? parent->name : process ? process->name : "";
	struct thread *thread = tracker_put_thread(tracker, record->pid, record->tid, name,
						   parent ? parent->family : 0);
	if (!thread)
		return;
	tracker_tell_birth(tracker, thread, TRACKER_BORN);
	if (thread->family < tracker->family_count)
		tracker->families[thread->family].has_descendants = true;
}

/* Notes a program no longer followed by the kernel: an exec that changes user, group or
 * capabilities removes the events, root's too (fs/exec.c, begin_new_exec). It looks like an exit
 * before the program's first mapping. */
static void note_not_followed(struct tracker *tracker, const struct process *process)
{
	for (size_t i = 0; i < tracker->noted_count; i++)
		if (strcmp(tracker->noted_names[i], process->name) == 0)
			return;
	if (tracker->noted_count == NOTED_NAMES_MAX)
		return;
	memcpy(tracker->noted_names[tracker->noted_count++], process->name, PROCESS_NAME_MAX);
	emit_note(tracker->context.emit, PROFILE_NOTE_NOT_FOLLOWED, tracker->now_ns, .value = 1,
		  .pid = process->pid, .text = process->name);
}

static void apply_exit(struct tracker *tracker, const struct record *record)
{
	struct thread *thread = idmap_get(&tracker->threads, record->tid);
	const struct process *process = idmap_get(&tracker->processes, record->pid);
	if (process && process->exec_pending)
		note_not_followed(tracker, process);
	if (!tracker_is_live(thread))
		return;
	tracker_tell_end(tracker, thread, record->time_ns, record);
	tracker_end_thread(tracker, thread, record->time_ns);
}

/* When a thread other than the first calls exec, the kernel ends all others and gives it the first
 * one's id (fs/exec.c, de_thread). Its events and counts go on: the life under the old id ends
 * here, and the one under the new id starts with the present counts. A first thread that is alive
 * called exec itself; a damaged recording may name another as the caller. */
static void take_over_id(struct tracker *tracker, struct process *process,
			 const struct record *record)
{
	if (tracker_is_live(idmap_get(&tracker->threads, process->pid)))
		return;
	struct thread *before = tracker_find_live_thread(tracker, process->pid);
	if (!before)
		return;
	tracker_free_tid(tracker, process->pid);
	if (tracker_is_exact(tracker))
		tracker_rename_account(tracker, before, process->pid);
	struct thread *after = tracker_put_thread(tracker, process->pid, process->pid, before->name,
						  before->family);
	if (!after)
		return;
	memcpy(after->counts, before->counts, after->count_size * sizeof(*after->counts));
	after->is_head = before->is_head;
	after->rest_ns = tracker_take_pending(tracker, before);
	before->is_head = false;
	before->is_exact = !tracker_is_exact(tracker); /* the rest is counted under the new id */
	before->final_counts = (uint32_t)tracker->cpus->count; /* its account is complete */
	tracker_tell_end(tracker, before, tracker->now_ns, record);
	tracker_tell_birth(tracker, after, TRACKER_BORN);
	tracker_end_thread(tracker, before, tracker->now_ns);
}

/* The launched program's first thread begins with its exec; what had its id before waited for us.
 */
static void begin_launched(const struct tracker *tracker, const struct record *record)
{
	struct thread *thread = idmap_get(&tracker->threads, record->tid);
	if (!tracker_is_live(thread) || !thread->is_launched)
		return;
	thread->is_launched = false;
	if (tracker->counts.samples == 0)
		thread->start_ns = record->time_ns;
}

static void apply_comm(struct tracker *tracker, const struct record *record)
{
	struct process *process = idmap_get(&tracker->processes, record->pid);
	/* A recording names the tasks that were there before it. */
	if (tracker->context.is_recorded && (!process || !record->comm.exec)) {
		process = tracker_process(tracker, record->pid);
		tracker_thread(tracker, record->pid, record->tid);
	}
	if (process && record->comm.exec) {
		take_over_id(tracker, process, record);
		/* It may have ended: in a damaged recording, threads come before their process. */
		process = tracker_process(tracker, record->pid);
	}
	if (process && record->comm.exec) {
		process_exec(process, record->comm.name, record->time_ns);
		/* The launched program begins with its exec. */
		if (process->start_ns == PROFILE_TIME_BEFORE && tracker->counts.samples == 0)
			process->start_ns = record->time_ns;
		begin_launched(tracker, record);
	} else if (process && record->tid == record->pid) {
		process_rename(process, record->comm.name);
	}
	struct thread *thread = idmap_get(&tracker->threads, record->tid);
	if (thread)
		thread_rename(thread, record->comm.name);
}

/* A CPU's clock belongs to no process: the record has the one running at the time. */
static void apply_throttle(struct tracker *tracker, const struct record *record)
{
	enum profile_note_kind kind =
		record->kind == RECORD_THROTTLE ? PROFILE_NOTE_THROTTLED : PROFILE_NOTE_UNTHROTTLED;
	uint32_t pid = tracker_is_exact(tracker) ? 0 : record->pid;
	tracker->gaps[record->source]++;
	emit_note(tracker->context.emit, kind, record->time_ns, .value = 1, .pid = pid,
		  .tid = tracker->cpus->numbers[record->source]);
}

/* How many samples so many lost records were, rounded up: where ticks are drawn behind the rings,
 * most of them were to be none. */
static uint64_t samples_of_lost(const struct tracker *tracker, uint64_t records)
{
	const struct sampling *sampling = &tracker->events->sampling;
	uint64_t interval_ns = sampling->interval_ns;
	if (sampling->kind != PROFILE_SAMPLING_THREADS || tracker->events->raw ||
	    sampling->tick_ns >= interval_ns)
		return records;
	return records / interval_ns * sampling->tick_ns +
	       (records % interval_ns * sampling->tick_ns + interval_ns - 1) / interval_ns;
}

static void apply_lost(struct tracker *tracker, const struct record *record)
{
	size_t position = 0;
	if (record->only_switches) {
		tracker->counts.lost += record->lost;
		tracker->counts.lost_switches += record->lost_switches;
		return;
	}
	uint64_t before = samples_of_lost(tracker, tracker->lost_records);
	tracker->lost_records += record->lost - record->lost_switches;
	uint64_t lost = samples_of_lost(tracker, tracker->lost_records) - before;
	tracker->counts.lost += record->lost;
	tracker->counts.lost_switches += record->lost_switches;
	tracker->counts.lost_samples += lost;
	tracker->gaps[record->source]++;
	if (lost > 0)
		emit_note(tracker->context.emit, PROFILE_NOTE_SAMPLES_LOST, record->time_ns,
			  .value = lost, .tid = tracker->cpus->numbers[record->source]);
	/* A mapping may have been lost. */
	for (struct process *p; (p = idmap_next(&tracker->processes, &position));)
		process_lose(p, record->time_ns);
}

/* A thread's final count. */
static void apply_count(struct tracker *tracker, const struct record *record)
{
	struct thread *thread = idmap_get(&tracker->threads, record->tid);
	if (thread && tracker_count_final(tracker, thread, record->count, record->source) &&
	    thread->end_ns != PROFILE_TIME_NEVER)
		tracker_retire(tracker, thread);
}

void tracker_apply(struct tracker *tracker, const struct record *record)
{
	struct process *process;
	assert(record->source < tracker->cpus->count);
	if (record->time_ns > tracker->now_ns)
		tracker->now_ns = record->time_ns;
	switch (record->kind) {
	case RECORD_MMAP:
		process = tracker_process(tracker, record->pid);
		if (process)
			process_map(process, &record->mmap, record->time_ns);
		break;
	case RECORD_COMM:
		apply_comm(tracker, record);
		break;
	case RECORD_FORK:
		apply_fork(tracker, record);
		break;
	case RECORD_EXIT:
		apply_exit(tracker, record);
		break;
	case RECORD_COUNT:
		apply_count(tracker, record);
		break;
	case RECORD_LOST:
		apply_lost(tracker, record);
		break;
	case RECORD_THROTTLE:
	case RECORD_UNTHROTTLE:
		apply_throttle(tracker, record);
		break;
	case RECORD_ACCOUNT:
		tracker_apply_account(tracker, record);
		break;
	case RECORD_SAMPLE:
	case RECORD_EVENT:
	case RECORD_ENDING:
	case RECORD_LOOK:
	case RECORD_SWITCH:
	case RECORD_WAIT:
	case RECORD_WAKE:
	case RECORD_SYNC_WAIT:
	case RECORD_SYNC_WAKE:
	case RECORD_SYNC_NEW:
	case RECORD_OTHER:
		break;
	}
}

static void note_silent(const struct tracker *tracker)
{
	const uint32_t *pids;
	size_t count =
		tracker->context.is_recorded ? 0 : asker_silent(tracker->context.asker, &pids);
	char text[200];
	if (count == 0)
		return;
	snprintf(text, sizeof(text),
		 "the kernel did not answer about %zu process%s, as %u: they hold the lock of "
		 "their mappings; what was not known of them by then is missing",
		 count, count == 1 ? "" : "es", pids[0]);
	emit_note(tracker->context.emit, PROFILE_NOTE_WARNING, tracker->now_ns, .pid = pids[0],
		  .text = text);
}

void tracker_finish(struct tracker *tracker)
{
	size_t position = 0;
	for (struct process *p; (p = idmap_next(&tracker->processes, &position));) {
		if (p->committed)
			tracker_note_command(tracker, p, tracker->now_ns);
		process_end(p, PROFILE_TIME_NEVER);
	}
	tracker_write_threads(tracker);
	note_silent(tracker);
	if (tracker->counts.unattributed_ns > 0)
		emit_note(tracker->context.emit, PROFILE_NOTE_UNATTRIBUTED, tracker->now_ns,
			  .value = tracker->counts.unattributed_ns);
	uint64_t kernel_ns = tracker_unattributed_kernel_ns(tracker);
	if (kernel_ns > 0)
		emit_note(tracker->context.emit, PROFILE_NOTE_UNATTRIBUTED_KERNEL, tracker->now_ns,
			  .value = kernel_ns);
}

void tracker_counts(const struct tracker *tracker, struct tracker_counts *counts)
{
	*counts = tracker->counts;
}
