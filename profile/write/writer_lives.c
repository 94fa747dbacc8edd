/* Processes and threads, and the records of the run as a whole: sync points and notes. */
#include "profile/base/tsc.h"
#include "profile/write/writer_private.h"

TBRW_U32 profile_writer_add_process(struct profile_writer *writer,
				    const struct profile_process *process)
{
	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (!profile_wide_set(&writer->path, process->path) ||
	    !profile_wide_set(&writer->name, process->name))
		return profile_writer_keep(writer, VT_NO_MEMORY);
	TBRW_PID record = {
		.pid_size = sizeof(record),
		.pid_id = process->pid,
		.pid_flags = TBRW_PID_CREATE | TBRW_PID_TSC_USED,
		.pid_event_when = profile_tsc_from_raw(&writer->first, process->start_ns),
		.pid_path.soi_ptr = writer->path.text,
		.pid_name.soi_ptr = writer->name.text,
	};
	TBRW_U32 code = profile_writer_keep(writer, TBRW_add_process(writer->file, &record));
	if (code != VT_SUCCESS || process->end_ns == PROFILE_TIME_NEVER)
		return code;
	record.pid_flags = TBRW_PID_TERMINATE | TBRW_PID_TSC_USED;
	record.pid_event_when = profile_tsc_from_raw(&writer->first, process->end_ns);
	return profile_writer_keep(writer, TBRW_add_process(writer->file, &record));
}

TBRW_U32 profile_writer_put_thread(struct profile_writer *writer,
				   const struct profile_thread *thread, const char *name,
				   uint32_t *index)
{
	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (!profile_wide_set(&writer->name, name))
		return profile_writer_keep(writer, VT_NO_MEMORY);
	TBRW_TID record = {
		.tid_size = sizeof(record),
		.tid_associated_pid = thread->pid,
		.tid_id = thread->tid,
		.tid_flags = TBRW_TID_CREATE | TBRW_TID_TSC_USED,
		.tid_event_when = thread->start_tsc,
		.tid_name.soi_ptr = writer->name.text,
	};
	TBRW_U32 code = profile_writer_keep(writer, TBRW_add_thread(writer->file, &record));
	if (code == VT_SUCCESS && thread->end_tsc != UINT64_MAX) {
		record.tid_flags = TBRW_TID_TERMINATE | TBRW_TID_TSC_USED;
		record.tid_event_when = thread->end_tsc;
		code = profile_writer_keep(writer, TBRW_add_thread(writer->file, &record));
	}
	if (code == VT_SUCCESS)
		code = profile_writer_add(writer, PROFILE_STREAM_THREADS, thread, &name, index);
	return code;
}

TBRW_U32 profile_writer_add_thread(struct profile_writer *writer,
				   const struct profile_thread_life *thread)
{
	struct profile_thread record = {
		.pid = thread->pid,
		.tid = thread->tid,
		.start_tsc = profile_tsc_from_raw(&writer->first, thread->start_ns),
		.end_tsc = profile_tsc_from_raw(&writer->first, thread->end_ns),
		.cpu_ns = thread->cpu_ns,
		.rest_ns = thread->rest_ns,
		.sampled_ns = thread->sampled_ns,
		.kernel_ns = thread->kernel_ns,
		.unseen_ns = thread->unseen_ns,
		.flags = thread->flags,
		.samples = thread->samples,
	};
	uint32_t index = 0;
	TBRW_U32 code = profile_writer_put_thread(writer, &record, thread->name, &index);

	if (code != VT_SUCCESS || !thread->unwinding)
		return code;
	struct profile_unwinding unwinding = *thread->unwinding;
	unwinding.kind = PROFILE_UNWINDING_THREAD;
	unwinding.subject = index;
	return profile_writer_add(writer, PROFILE_STREAM_UNWINDING, &unwinding, NULL, NULL);
}

TBRW_U32 profile_writer_add_clock(struct profile_writer *writer, const struct profile_clock *clock)
{
	return profile_writer_add(writer, PROFILE_STREAM_CLOCK, clock, NULL, NULL);
}

TBRW_U32 profile_writer_add_note(struct profile_writer *writer, enum profile_note_kind kind,
				 uint64_t time_ns, uint64_t value, uint32_t pid, uint32_t tid,
				 const char *text)
{
	struct profile_note record = {
		.tsc = profile_tsc_from_raw(&writer->first, time_ns),
		.value = value,
		.kind = kind,
		.pid = pid,
		.tid = tid,
	};
	return profile_writer_add(writer, PROFILE_STREAM_NOTES, &record, &text, NULL);
}
