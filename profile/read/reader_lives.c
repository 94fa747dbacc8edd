/* Processes and threads: recorded ones, from the process/thread section and tbcollect.threads, and
 * unrecorded ones, as in the file of a killed collector. These are known by their samples, and
 * processes by their threads too. */
#include "containers/array.h"
#include "profile/read/reader_private.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What was recorded ---- */

struct process_load {
	struct profile_reader *reader;
	size_t capacity; /* of processes */
};

static TBRW_U32 take_process(struct process_load *load, const TBRW_PID *record)
{
	struct profile_reader *reader = load->reader;
	bool is_creation =
		(record->pid_flags & TBRW_PID_CREATE) || !(record->pid_flags & TBRW_PID_TERMINATE);

	if (!tb5_lives_add(&reader->binder.processes, record->pid_id, record->pid_flags,
			   record->pid_event_when, reader->process_count))
		return VT_NO_MEMORY;
	if (!is_creation)
		return VT_SUCCESS;
	struct profile_process_info info = {.pid = record->pid_id};
	TBRW_U32 code = profile_reader_string(reader, record->pid_path, &info.path);
	if (code == VT_SUCCESS)
		code = profile_reader_string(reader, record->pid_name, &info.name);
	if (code != VT_SUCCESS)
		return code;
	if (reader->process_count >= PROFILE_NONE / 2 ||
	    !array_reserve(&reader->processes, &load->capacity, reader->process_count + 1,
			   sizeof(info)))
		return VT_NO_MEMORY;
	reader->processes[reader->process_count++] = info;
	return VT_SUCCESS;
}

static TBRW_U32 take_processes(TBRW_PID *records, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct process_load *load = user;

	if (size / sizeof(*records) < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = VT_SUCCESS;
		if (records[i].pid_flags & TBRW_PID_DEDUCED)
			load->reader->must_scan = true;
		else
			code = take_process(load, &records[i]);
		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

TBRW_U32 profile_reader_load_lives(struct profile_reader *reader)
{
	struct process_load load = {.reader = reader};
	struct tb5_binder *binder = &reader->binder;
	TBRW_U32 code = TBRW_reading_section(reader->file, TBRW_PROCESS_THREAD_SECTION);

	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_processes(reader->file, take_processes, &load, 0);
		TBRW_done_section(reader->file, TBRW_PROCESS_THREAD_SECTION);
	}
	code = profile_reader_tolerate(reader, code);
	if (code != VT_SUCCESS)
		return code;
	for (uint32_t i = 0; i < reader->thread_count; i++) {
		const struct profile_thread_info *info = &reader->threads[i];
		uint64_t key = tb5_thread_key(info->pid, info->tid);
		if (!tb5_lives_add(&binder->threads, key, TBRW_TID_CREATE | TBRW_TID_TSC_USED,
				   info->start_tsc, i))
			return VT_NO_MEMORY;
		if (info->end_tsc != UINT64_MAX &&
		    !tb5_lives_add(&binder->threads, key, TBRW_TID_TERMINATE | TBRW_TID_TSC_USED,
				   info->end_tsc, i + 1))
			return VT_NO_MEMORY;
	}
	binder->deduced_processes.first = reader->process_count;
	binder->deduced_threads.first = reader->thread_count;
	return VT_SUCCESS;
}

/* ---- What is deduced ---- */

struct scan {
	struct profile_reader *reader;
	size_t capacity; /* of threads */
};

static TBRW_U32 see_sample(struct profile_reader *reader, uint64_t index,
			   const struct profile_sample_record *sample,
			   const struct profile_stack *stack, const DATA_BIND_STRUCT *bind,
			   void *user)
{
	struct scan *scan = user;
	uint64_t process, at;

	(void)index, (void)bind;
	if (!tb5_binder_lives(&reader->binder, sample->pc.pidRecIndex, sample->pc.tid,
			      sample->tsc.tsc, true, &process, &at))
		return VT_NO_MEMORY;
	if (at < reader->binder.deduced_threads.first)
		return VT_SUCCESS;
	assert(at <= reader->thread_count);
	if (at == reader->thread_count) {
		if (at >= PROFILE_NONE - 1 || !array_reserve(&reader->threads, &scan->capacity,
							     at + 1, sizeof(*reader->threads)))
			return VT_NO_MEMORY;
		reader->threads[reader->thread_count++] = (struct profile_thread_info){
			.pid = sample->pc.pidRecIndex,
			.tid = sample->pc.tid,
			.process = (uint32_t)process,
			.flags = PROFILE_THREAD_DEDUCED,
		};
	}
	struct profile_thread_info *thread = &reader->threads[at];
	if (!profile_reader_is_of(reader, sample, 0))
		return VT_SUCCESS;
	thread->samples += thread->samples < UINT32_MAX;
	thread->cpu_ns = add_saturating(thread->cpu_ns, stack->cpu_ns);
	thread->sampled_ns = thread->cpu_ns;
	return VT_SUCCESS;
}

/* Samples of recorded threads carry nothing new. Reading all of them is worth it only if there are
 * others: bind found some, or there was no bind to find them. */
static bool needs_scan(const struct profile_reader *reader)
{
	uint64_t recorded = 0;

	for (uint32_t i = 0; i < reader->thread_count; i++)
		recorded += reader->threads[i].samples;
	return reader->must_scan || !reader->is_bound || recorded != reader->sample_count;
}

static TBRW_U32 see_everything(struct profile_reader *reader)
{
	struct scan scan = {.reader = reader, .capacity = reader->thread_count};

	for (uint32_t i = 0; i < reader->thread_count; i++) {
		struct profile_thread_info *thread = &reader->threads[i];
		uint64_t process;
		if (!tb5_binder_process_of_thread(&reader->binder, thread->pid, thread->start_tsc,
						  thread->end_tsc, &process))
			return VT_NO_MEMORY;
		thread->process = (uint32_t)process;
	}
	if (!needs_scan(reader))
		return VT_SUCCESS;
	return profile_reader_each_raw_sample(reader, false, see_sample, &scan);
}

/* After its program, or "pid N". */
static TBRW_U32 name_process(struct profile_reader *reader, const struct tb5_deduced *deduced,
			     struct profile_process_info *info)
{
	uint32_t module =
		profile_module_of_record(reader, tb5_binder_program(&reader->binder, deduced));
	char name[32];

	info->path = module != PROFILE_NONE ? reader->modules[module].path : "";
	const char *slash = strrchr(info->path, '/');
	info->name = slash ? slash + 1 : info->path;
	if (*info->name)
		return VT_SUCCESS;
	int length = snprintf(name, sizeof(name), "pid %u", info->pid);
	info->name = profile_strpool_add(&reader->made_names, name, (size_t)length);
	return info->name ? VT_SUCCESS : VT_NO_MEMORY;
}

static TBRW_U32 add_processes(struct profile_reader *reader)
{
	const struct tb5_deduction *deduced = &reader->binder.deduced_processes;
	TBRW_U32 code = VT_SUCCESS;

	/* A deduced process's number becomes its index. */
	assert(reader->process_count == deduced->first);
	if (deduced->count >= PROFILE_NONE / 2)
		return VT_NO_MEMORY;
	struct profile_process_info *processes =
		reallocarray(reader->processes, reader->process_count + deduced->count + 1,
			     sizeof(*processes));
	if (!processes)
		return VT_NO_MEMORY;
	reader->processes = processes;
	for (size_t i = 0; i < deduced->count && code == VT_SUCCESS; i++) {
		struct profile_process_info *info = &processes[reader->process_count++];
		*info = (struct profile_process_info){.pid = deduced->items[i].pid};
		tb5_binder_span(&reader->binder, &deduced->items[i], &info->start_tsc,
				&info->end_tsc);
		code = name_process(reader, &deduced->items[i], info);
	}
	return code;
}

/* A thread without a record has the life and the name of its process, as Linux names a new thread.
 */
static void name_threads(struct profile_reader *reader)
{
	for (uint32_t i = 0; i < reader->thread_count; i++) {
		struct profile_thread_info *thread = &reader->threads[i];
		assert(thread->process < reader->process_count);
		if (i < reader->binder.deduced_threads.first)
			continue;
		const struct profile_process_info *process = &reader->processes[thread->process];
		thread->start_tsc = process->start_tsc;
		thread->end_tsc = process->end_tsc;
		thread->name = process->name;
	}
}

TBRW_U32 profile_reader_deduce(struct profile_reader *reader)
{
	const struct tb5_lives *lives = &reader->binder.processes;

	for (size_t i = 0; i < lives->count; i++) {
		const struct tb5_life *life = &lives->items[i];
		if (life->record == TB5_LIFE_NONE)
			continue;
		assert(life->record < reader->process_count);
		reader->processes[life->record].start_tsc = life->start;
		reader->processes[life->record].end_tsc = life->end;
	}
	TBRW_U32 code = see_everything(reader);
	if (code == VT_SUCCESS)
		code = add_processes(reader);
	if (code == VT_SUCCESS)
		name_threads(reader);
	return code;
}
