#include "tbrw/bind/bind.h"

#include "tbrw/bind/bind_output.h"
#include "tbrw/bind/binder.h"
#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A sample reads as "now" if it has no TSC: later than every load, earlier than no unload. */
#define NO_TIME (UINT64_MAX - 1)

/* The sections of a file, and the results of binding them. */
struct binding {
	struct tb5_file *file;
	TBRW_PID *processes;
	TBRW_TID *threads;
	TBRW_MODULE *modules;
	uint64_t process_count;
	uint64_t thread_count;
	uint64_t module_count;
	uint64_t *thread_processes; /* of each record */
	uint64_t *module_processes;
	struct tb5_binder binder;
};

/* All records of a sequence, for the caller to free, unless there was an error before. */
static void *read_records(struct tb5_file *file, unsigned content, size_t size, uint64_t *count,
			  TBRW_U32 *code)
{
	struct tb5_record_source source = {tb5_file_seq(file, content), (TBRW_U32)size};

	if (*code != VT_SUCCESS)
		return NULL;
	*count = tb5_seq_size(source.seq) / size;
	void *records = *count <= UINT32_MAX ? calloc((size_t)*count + 1, size) : NULL;
	if (!records)
		*code = VT_NO_MEMORY;
	else if (*count > 0)
		*code = tb5_fetch_records(file, &source, 0, (TBRW_U32)*count, records);
	return records;
}

static bool add_lives(struct binding *binding)
{
	struct tb5_binder *binder = &binding->binder;
	bool is_added = true;

	for (uint64_t i = 0; is_added && i < binding->process_count; i++) {
		const TBRW_PID *r = &binding->processes[i];
		is_added = tb5_lives_add(&binder->processes, r->pid_id, r->pid_flags,
					 r->pid_event_when, i);
	}
	for (uint64_t i = 0; is_added && i < binding->thread_count; i++) {
		const TBRW_TID *r = &binding->threads[i];
		is_added = tb5_lives_add(&binder->threads,
					 tb5_thread_key(r->tid_associated_pid, r->tid_id),
					 r->tid_flags, r->tid_event_when, i);
	}
	binder->deduced_processes.first = binding->process_count;
	binder->deduced_threads.first = binding->thread_count;
	return is_added;
}

static TBRW_U32 load_sections(struct binding *binding)
{
	TBRW_U32 code = VT_SUCCESS;

	binding->processes = read_records(binding->file, TB5_PROCESSES, sizeof(TBRW_PID),
					  &binding->process_count, &code);
	binding->threads = read_records(binding->file, TB5_THREADS, sizeof(TBRW_TID),
					&binding->thread_count, &code);
	binding->modules = read_records(binding->file, TB5_MODULES, sizeof(TBRW_MODULE),
					&binding->module_count, &code);
	if (code == VT_SUCCESS &&
	    (!add_lives(binding) ||
	     !tb5_binder_seal(&binding->binder, binding->modules, (size_t)binding->module_count)))
		code = VT_NO_MEMORY;
	/* The records are the binding's. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return code;
}

/* Both records of a life belong to one process. */
static bool assign_threads(struct binding *binding)
{
	struct tb5_binder *binder = &binding->binder;
	bool is_assigned = true;

	for (uint64_t i = 0; i < binding->thread_count; i++)
		binding->thread_processes[i] = TB5_BIND_NONE;
	for (size_t i = 0; is_assigned && i < binder->threads.count; i++) {
		const struct tb5_life *life = &binder->threads.items[i];
		assert(life->record < binding->thread_count); /* only processes have cuts */
		uint64_t *process = &binding->thread_processes[life->record];
		is_assigned = tb5_binder_process_of_thread(binder, (uint32_t)(life->key >> 32),
							   life->start, life->end, process);
		if (life->end_record != TB5_LIFE_NONE)
			binding->thread_processes[life->end_record] = *process;
	}
	for (uint64_t i = 0; is_assigned && i < binding->thread_count; i++) {
		const TBRW_TID *r = &binding->threads[i];
		if (binding->thread_processes[i] == TB5_BIND_NONE)
			is_assigned =
				tb5_binder_process_of_thread(binder, r->tid_associated_pid,
							     r->tid_event_when, r->tid_event_when,
							     &binding->thread_processes[i]);
	}
	return is_assigned;
}

static TBRW_U32 assign_processes(struct binding *binding)
{
	binding->thread_processes = calloc((size_t)binding->thread_count + 1, sizeof(uint64_t));
	binding->module_processes = calloc((size_t)binding->module_count + 1, sizeof(uint64_t));
	if (!binding->thread_processes || !binding->module_processes || !assign_threads(binding))
		return VT_NO_MEMORY;
	for (uint64_t i = 0; i < binding->module_count; i++)
		if (!tb5_binder_process_of_module(&binding->binder, &binding->binder.modules[i],
						  &binding->module_processes[i]))
			return VT_NO_MEMORY;
	return VT_SUCCESS;
}

/* ---- Samples ---- */

static TBRW_U32 bind_sample(struct binding *binding, const unsigned char *entry,
			    const struct tb5_layout *layout, uint64_t number, DATA_BIND_STRUCT *out)
{
	TBRW_SampleRecordPC pc;
	uint64_t tsc = NO_TIME;

	memcpy(&pc, entry + layout->record_offset, sizeof(pc));
	if (layout->tsc_offset != TB5_NO_FIELD)
		memcpy(&tsc, entry + layout->tsc_offset, sizeof(tsc));
	uint32_t pid = pc.pidRecIndex;
	if (!pc.pidRecIndexRaw && pid < binding->process_count)
		pid = binding->processes[pid].pid_id;
	uint64_t process, thread;
	if (!tb5_binder_lives(&binding->binder, pid, pc.tid, tsc, true, &process, &thread))
		return VT_NO_MEMORY;
	out->module_index =
		tb5_binder_module(&binding->binder, pid, pc.IA64PC ? pc.iip : pc.eip, tsc, number);
	out->pid_index = process;
	out->tid_index = thread;
	return VT_SUCCESS;
}

/* Samples taken per run. */
#define RUN_SAMPLES 4096u

static TBRW_U32 bind_run_of_samples(struct binding *binding, const struct tb5_layout *layout,
				    uint64_t first, size_t count, unsigned char *entries,
				    DATA_BIND_STRUCT *results, struct tb5_stream *out)
{
	struct tb5_file *file = binding->file;
	TBRW_U32 code =
		tb5_seq_read(tb5_stream_seq(file->streams[0], TB5_DATA), &file->cache,
			     first * layout->entry_size, entries, count * layout->entry_size);

	for (size_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = bind_sample(binding, entries + i * layout->entry_size, layout, first + i,
				   &results[i]);
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(file, tb5_stream_seq(out, TB5_DATA), results,
			       count * sizeof(*results));
}

static TBRW_U32 bind_samples(struct binding *binding, const struct tb5_layout *layout,
			     struct tb5_stream *out)
{
	uint64_t total = tb5_seq_size(tb5_stream_seq(binding->file->streams[0], TB5_DATA)) /
			 layout->entry_size;
	size_t run = RUN_SAMPLES * (size_t)40 / layout->entry_size + 1;
	DATA_BIND_STRUCT *results = malloc(run * sizeof(*results));
	unsigned char *entries = malloc(run * layout->entry_size);
	TBRW_U32 code = results && entries ? VT_SUCCESS : VT_NO_MEMORY;

	assert(layout->record_offset + sizeof(TBRW_SampleRecordPC) <= layout->entry_size);
	for (uint64_t at = 0; code == VT_SUCCESS && at < total; at += run)
		code = bind_run_of_samples(binding, layout, at,
					   total - at < run ? (size_t)(total - at) : run, entries,
					   results, out);
	free(entries);
	free(results);
	return code;
}

/* ---- The other streams ---- */

static TBRW_U32 write_deduced_processes(struct binding *binding, struct tb5_seq *seq)
{
	const struct tb5_deduction *deduced = &binding->binder.deduced_processes;
	TBRW_U32 code = VT_SUCCESS;

	for (size_t i = 0; code == VT_SUCCESS && i < deduced->count; i++) {
		TBRW_PID entry = {
			.pid_size = sizeof(entry),
			.pid_id = deduced->items[i].pid,
			.pid_flags = TBRW_PID_CREATE | TBRW_PID_TSC_USED | TBRW_PID_DEDUCED,
			.pid_event_when = deduced->items[i].seen,
		};
		uint64_t program = tb5_binder_program(&binding->binder, &deduced->items[i]);
		if (program != TB5_BIND_NONE) {
			entry.pid_path = binding->modules[program].module_path;
			entry.pid_name = binding->modules[program].module_name;
		}
		code = tb5_file_append(binding->file, seq, &entry, sizeof(entry));
	}
	return code;
}

static TBRW_U32 write_threads(struct binding *binding, struct tb5_seq *seq)
{
	const struct tb5_deduction *deduced = &binding->binder.deduced_threads;
	TBRW_U32 code = VT_SUCCESS;

	for (uint64_t i = 0; code == VT_SUCCESS && i < binding->thread_count + deduced->count;
	     i++) {
		struct tb5_bind_tid entry;
		if (i < binding->thread_count) {
			entry = (struct tb5_bind_tid){binding->thread_processes[i],
						      binding->threads[i]};
		} else {
			const struct tb5_deduced *item = &deduced->items[i - binding->thread_count];
			entry = (struct tb5_bind_tid){item->owner,
						      {.tid_size = sizeof(entry.tid),
						       .tid_associated_pid = item->pid,
						       .tid_id = item->tid,
						       .tid_flags = TBRW_TID_CREATE |
								    TBRW_TID_TSC_USED |
								    TBRW_TID_DEDUCED,
						       .tid_event_when = item->seen}};
		}
		code = tb5_file_append(binding->file, seq, &entry, sizeof(entry));
	}
	return code;
}

static TBRW_U32 bind_all(struct binding *binding, const struct tb5_layout *layout,
			 const struct tb5_bind_set *out)
{
	TBRW_U32 code = load_sections(binding);

	if (code == VT_SUCCESS)
		code = assign_processes(binding);
	if (code == VT_SUCCESS)
		code = bind_samples(binding, layout, out->data);
	if (code == VT_SUCCESS)
		code = tb5_file_append(binding->file, tb5_stream_seq(out->module, TB5_DATA),
				       binding->module_processes,
				       (size_t)binding->module_count * sizeof(MODULE_BIND_STRUCT));
	if (code == VT_SUCCESS)
		code = write_deduced_processes(binding, tb5_stream_seq(out->pid, TB5_DATA));
	if (code == VT_SUCCESS)
		code = write_threads(binding, tb5_stream_seq(out->tid, TB5_DATA));
	free(binding->processes);
	free(binding->threads);
	free(binding->modules);
	free(binding->thread_processes);
	free(binding->module_processes);
	tb5_binder_finish(&binding->binder);
	return code;
}

TBRW_U32 tb5_bind_run(struct tb5_file *file)
{
	struct binding binding = {.file = file};
	struct tb5_bind_output output;
	struct tb5_layout layout;
	TBRW_U32 code = tb5_layout_read(file, file->streams[0], &layout);

	if (code == VT_SUCCESS && layout.record_offset == TB5_NO_FIELD)
		code = VT_LEGACY_DATA_NOT_EXIST;
	if (code != VT_SUCCESS)
		return code;
	code = tb5_bind_output_begin(&output, file);
	if (code != VT_SUCCESS)
		return code;
	return tb5_bind_output_end(&output, bind_all(&binding, &layout, &output.streams));
}
