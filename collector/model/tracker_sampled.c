#include "collector/model/tracker_sampled.h"

#include "collector/model/tracker_private.h"
#include "collector/proc/command_line.h"
#include "collector/result/emit.h"
#include <stdio.h>
#include <string.h>

enum { COMMAND_BYTES_MAX = 16 << 20 /* of all command lines that are noted */ };

void tracker_note_command(struct tracker *tracker, const struct process *process, uint64_t time_ns)
{
	char text[COMMAND_LINE_MAX];
	if (tracker->context.is_recorded || tracker->command_bytes >= COMMAND_BYTES_MAX ||
	    !command_line_read(tracker->context.asker, process->pid, process->name, text))
		return;
	tracker->command_bytes += strlen(text);
	emit_note(tracker->context.emit, PROFILE_NOTE_PROCESS_COMMAND, time_ns, .pid = process->pid,
		  .text = text);
	if (tracker->command_bytes >= COMMAND_BYTES_MAX)
		emit_note(tracker->context.emit, PROFILE_NOTE_WARNING, time_ns,
			  .text = "command lines are noted up to 16 MB in all: later processes "
				  "have none");
}

/* The process has samples: the sooner its command line is read, the likelier the process is still
 * there. */
static void commit(struct tracker *tracker, struct process *process, uint64_t time_ns)
{
	if (!process->committed)
		tracker_note_command(tracker, process, time_ns);
	process_commit(process);
}

/* Before a sample's addresses are looked up in them. */
static void read_maps(struct tracker *tracker, struct process *process, uint64_t time_ns)
{
	bool unread = process->unread;
	char text[PROCESS_NAME_MAX + 128];
	if (!unread)
		emit_note(tracker->context.emit, PROFILE_NOTE_MAPS_REREAD, time_ns, .value = 1,
			  .pid = process->pid);
	process_read_maps(process, time_ns);
	if (!unread || !process->unread)
		return;
	snprintf(text, sizeof(text),
		 "%s (process %u) ended before its maps could be read: its stacks are incomplete",
		 process->name, process->pid);
	emit_note(tracker->context.emit, PROFILE_NOTE_WARNING, time_ns, .pid = process->pid,
		  .text = text);
}

void tracker_prepare(struct tracker *tracker, struct process *process, uint64_t time_ns)
{
	if (process->stale)
		read_maps(tracker, process, time_ns);
	commit(tracker, process, time_ns);
}

void tracker_count_sample(struct tracker *tracker, struct thread *thread)
{
	thread->samples++;
	tracker->counts.samples++;
}

void tracker_count_copy(struct tracker *tracker, size_t size)
{
	tracker->counts.stack_copy_bytes += size;
}

void tracker_lose_sample(struct tracker *tracker, const struct record *record)
{
	tracker->counts.lost++;
	tracker->counts.lost_samples++;
	emit_note(tracker->context.emit, PROFILE_NOTE_SAMPLES_LOST, record->time_ns, .value = 1,
		  .pid = record->pid, .text = "out of memory");
}
