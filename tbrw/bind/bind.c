#include "tbrw/bind/bind.h"

#include "tbrw/bind/bind_output.h"
#include "tbrw/bind/life.h"
#include "tbrw/bind/module_index.h"
#include "tbrw/bind/pair_map.h"
#include "tbrw/file/layout.h"
#include "tbrw/file/record.h"
#include <stdlib.h>
#include <string.h>

/* A sample reads as "now" if it has no TSC: later than every load, earlier than no unload. */
#define NO_TIME (UINT64_MAX - 1)

struct binder {
	struct tb5_file *file;
	struct tb5_lives processes;
	struct tb5_lives threads;
	uint64_t processes_written;
	uint64_t threads_written;
	uint32_t *record_pids; /* of each process record: for samples that name a record */
	TBRW_PID *deduced_pids;
	uint64_t deduced_pid_count;
	struct tb5_bind_tid *deduced_tids;
	uint64_t deduced_tid_count;
	struct pair_map pid_map; /* pid, gap -> process index */
	struct pair_map tid_map; /* process index, tid -> thread index */
	struct tb5_module_index modules;
	uint64_t *module_processes; /* of each module record */
	uint64_t module_count;
	uint64_t *thread_processes; /* of each thread record */
	uint64_t *exe_load; /* of each deduced process: load time of the module that names it */
};

/* The array, perhaps moved, with room for one more than `count` entries: doubled whenever that is a
 * power of two. NULL: no memory, and the array is as it was. */
static void *with_room(void *array, uint64_t count, size_t size)
{
	if (array && count & (count - 1))
		return array;
	return realloc(array, (size_t)(count ? count * 2 : 1) * size);
}

/* ---- Processes ---- */

static TBRW_U32 deduce_process(struct binder *b, uint32_t pid, size_t gap, uint64_t when,
			       uint64_t *index)
{
	uint64_t fresh = b->processes_written + b->deduced_pid_count;
	uint64_t *known = tb5_pair_map_get(&b->pid_map, pid, gap, fresh);
	TBRW_PID *record;

	if (!known)
		return VT_NO_MEMORY;
	*index = *known;
	if (*known != fresh) {
		record = &b->deduced_pids[*known - b->processes_written];
		if (when < record->pid_event_when)
			record->pid_event_when = when;
		return VT_SUCCESS;
	}
	record = with_room(b->deduced_pids, b->deduced_pid_count, sizeof(*record));
	if (!record)
		return VT_NO_MEMORY;
	b->deduced_pids = record;
	record += b->deduced_pid_count++;
	memset(record, 0, sizeof(*record));
	record->pid_size = sizeof(*record);
	record->pid_id = pid;
	record->pid_flags = TBRW_PID_CREATE | TBRW_PID_TSC_USED | TBRW_PID_DEDUCED;
	record->pid_event_when = when;
	return VT_SUCCESS;
}

static TBRW_U32 process_at(struct binder *b, uint32_t pid, uint64_t when, uint64_t *index)
{
	size_t position = tb5_lives_position(&b->processes, pid, 0, when);
	const struct tb5_life *life = tb5_lives_at(&b->processes, position, pid, 0, when);

	if (!life)
		return deduce_process(b, pid, position, when, index);
	*index = life->index;
	return VT_SUCCESS;
}

/* The process that lives at `start`, else the first one that begins before *end. *end becomes at
 * most the end of its life. */
static TBRW_U32 process_during(struct binder *b, uint32_t pid, uint64_t start, uint64_t *end,
			       uint64_t *index)
{
	size_t position = tb5_lives_position(&b->processes, pid, 0, start);
	const struct tb5_life *life = tb5_lives_at(&b->processes, position, pid, 0, start);
	const struct tb5_life *next = tb5_lives_next(&b->processes, position, pid, 0);

	if (!life && next && next->start < *end)
		life = next;
	if (!life) {
		if (next && next->start < *end)
			*end = next->start;
		return deduce_process(b, pid, position, start, index);
	}
	if (life->end < *end)
		*end = life->end;
	*index = life->index;
	return VT_SUCCESS;
}

/* ---- Threads ---- */

static TBRW_U32 thread_at(struct binder *b, uint64_t process, uint32_t pid, uint32_t tid,
			  uint64_t when, uint64_t *index)
{
	size_t position = tb5_lives_position(&b->threads, pid, tid, when);
	const struct tb5_life *life = tb5_lives_at(&b->threads, position, pid, tid, when);
	uint64_t fresh = b->threads_written + b->deduced_tid_count;
	struct tb5_bind_tid *entry;

	if (life) {
		*index = life->index;
		return VT_SUCCESS;
	}
	uint64_t *known = tb5_pair_map_get(&b->tid_map, process, tid, fresh);
	if (!known)
		return VT_NO_MEMORY;
	*index = *known;
	if (*known != fresh) {
		entry = &b->deduced_tids[*known - b->threads_written];
		if (when < entry->tid.tid_event_when)
			entry->tid.tid_event_when = when;
		return VT_SUCCESS;
	}
	entry = with_room(b->deduced_tids, b->deduced_tid_count, sizeof(*entry));
	if (!entry)
		return VT_NO_MEMORY;
	b->deduced_tids = entry;
	entry += b->deduced_tid_count++;
	memset(entry, 0, sizeof(*entry));
	entry->pid_index = process;
	entry->tid.tid_size = sizeof(entry->tid);
	entry->tid.tid_associated_pid = pid;
	entry->tid.tid_id = tid;
	entry->tid.tid_flags = TBRW_TID_CREATE | TBRW_TID_TSC_USED | TBRW_TID_DEDUCED;
	entry->tid.tid_event_when = when;
	return VT_SUCCESS;
}

/* ---- Loading ---- */

static TBRW_U32 load_processes(struct binder *b)
{
	size_t count = (size_t)b->processes_written;
	struct tb5_life_event *events = calloc(count + 1, sizeof(*events));
	TBRW_U32 code = VT_SUCCESS;

	b->record_pids = calloc(count + 1, sizeof(*b->record_pids));
	if (!events || !b->record_pids)
		code = VT_NO_MEMORY;
	for (size_t i = 0; code == VT_SUCCESS && i < count; i++) {
		TBRW_PID r;

		code = tb5_record_read(b->file, tb5_file_seq(b->file, TB5_PROCESSES), i, &r,
				       sizeof(r));
		if (code != VT_SUCCESS)
			break;
		b->record_pids[i] = r.pid_id;
		events[i] = (struct tb5_life_event){r.pid_id, 0, r.pid_event_when, i,
						    r.pid_flags & TBRW_PID_TERMINATE};
	}
	if (code == VT_SUCCESS && !tb5_lives_build(&b->processes, events, count))
		code = VT_NO_MEMORY;
	free(events);
	return code;
}

/* Which process each thread record belongs to; both records of a life to that of its beginning. */
static TBRW_U32 assign_threads(struct binder *b, const struct tb5_life_event *events, size_t count)
{
	TBRW_U32 code = VT_SUCCESS;

	for (size_t i = 0; i < count; i++)
		b->thread_processes[i] = TBRW_INDEX_NONE;
	for (size_t i = 0; code == VT_SUCCESS && i < b->threads.count; i++) {
		const struct tb5_life *life = &b->threads.items[i];
		uint64_t end = life->end;
		uint64_t process;

		code = process_during(b, life->pid, life->start, &end, &process);
		if (code != VT_SUCCESS)
			break;
		b->thread_processes[life->index] = process;
		if (life->terminate_index != UINT64_MAX)
			b->thread_processes[life->terminate_index] = process;
	}
	for (size_t i = 0; code == VT_SUCCESS && i < count; i++)
		if (b->thread_processes[events[i].index] == TBRW_INDEX_NONE)
			code = process_at(b, events[i].pid, events[i].when,
					  &b->thread_processes[events[i].index]);
	return code;
}

static TBRW_U32 load_threads(struct binder *b)
{
	size_t count = (size_t)b->threads_written;
	struct tb5_life_event *events = calloc(count + 1, sizeof(*events));
	TBRW_U32 code = VT_SUCCESS;

	b->thread_processes = calloc(count + 1, sizeof(*b->thread_processes));
	if (!events || !b->thread_processes)
		code = VT_NO_MEMORY;
	for (size_t i = 0; code == VT_SUCCESS && i < count; i++) {
		TBRW_TID r;

		code = tb5_record_read(b->file, tb5_file_seq(b->file, TB5_THREADS), i, &r,
				       sizeof(r));
		if (code == VT_SUCCESS)
			events[i] = (struct tb5_life_event){r.tid_associated_pid, r.tid_id,
							    r.tid_event_when, i,
							    r.tid_flags & TBRW_TID_TERMINATE};
	}
	if (code == VT_SUCCESS && !tb5_lives_build(&b->threads, events, count))
		code = VT_NO_MEMORY;
	if (code == VT_SUCCESS)
		code = assign_threads(b, events, count);
	free(events);
	return code;
}

/* Finds each module's process, and lets no module outlive it. */
static TBRW_U32 assign_modules(struct binder *b, struct tb5_bind_module *modules)
{
	TBRW_U32 code = VT_SUCCESS;

	for (size_t i = 0; code == VT_SUCCESS && i < b->module_count; i++) {
		struct tb5_bind_module *m = &modules[i];

		b->module_processes[m->record] = TBRW_INDEX_NONE;
		if (m->global)
			continue;
		if (m->tsc) {
			code = process_during(b, m->pid, m->load, &m->unload, &m->process);
		} else {
			uint64_t end = UINT64_MAX;

			code = process_during(b, m->pid, 0, &end, &m->process);
		}
		b->module_processes[m->record] = m->process;
	}
	return code;
}

/* Deduced processes get their names from the executable that was loaded last. */
static TBRW_U32 name_processes(struct binder *b, const struct tb5_bind_module *modules,
			       const TBRW_MODULE *records)
{
	b->exe_load = calloc((size_t)b->deduced_pid_count + 1, sizeof(*b->exe_load));
	if (!b->exe_load)
		return VT_NO_MEMORY;
	for (size_t i = 0; i < b->module_count; i++) {
		const struct tb5_bind_module *m = &modules[i];
		uint64_t deduced = m->process - b->processes_written;

		if (!m->exe || m->global || m->process < b->processes_written ||
		    m->end == m->address || m->load < b->exe_load[deduced])
			continue;
		b->exe_load[deduced] = m->load;
		b->deduced_pids[deduced].pid_path = records[m->record].module_path;
		b->deduced_pids[deduced].pid_name = records[m->record].module_name;
	}
	return VT_SUCCESS;
}

/* Records that are read at once. */
#define RUN_RECORDS 4096u

static TBRW_U32 read_modules(struct binder *b, TBRW_MODULE *records)
{
	struct tb5_record_source source = {tb5_file_seq(b->file, TB5_MODULES), sizeof(*records)};
	TBRW_U32 code = VT_SUCCESS;

	for (uint64_t i = 0; code == VT_SUCCESS && i < b->module_count; i += RUN_RECORDS) {
		uint64_t left = b->module_count - i;

		code = tb5_fetch_records(b->file, &source, i,
					 left < RUN_RECORDS ? (TBRW_U32)left : RUN_RECORDS,
					 &records[i]);
	}
	return code;
}

static TBRW_U32 load_modules(struct binder *b)
{
	struct tb5_bind_module *modules;
	TBRW_MODULE *records;

	b->module_count = tb5_seq_size(tb5_file_seq(b->file, TB5_MODULES)) / sizeof(*records);
	size_t count = (size_t)b->module_count;
	records = calloc(count + 1, sizeof(*records));
	modules = calloc(count + 1, sizeof(*modules));
	b->module_processes = calloc(count + 1, sizeof(*b->module_processes));
	TBRW_U32 code =
		records && modules && b->module_processes ? read_modules(b, records) : VT_NO_MEMORY;
	if (code == VT_SUCCESS && !tb5_modules_resolve(records, count, modules))
		code = VT_NO_MEMORY;
	if (code == VT_SUCCESS)
		code = assign_modules(b, modules);
	if (code == VT_SUCCESS)
		code = name_processes(b, modules, records);
	free(records);
	if (code != VT_SUCCESS) {
		free(modules);
		return code;
	}
	return tb5_module_index_build(&b->modules, modules, count) ? VT_SUCCESS : VT_NO_MEMORY;
}

/* ---- Samples ---- */

static TBRW_U32 bind_sample(struct binder *b, const unsigned char *entry,
			    const struct tb5_layout *layout, uint64_t number, DATA_BIND_STRUCT *out)
{
	TBRW_SampleRecordPC pc;
	uint64_t tsc = NO_TIME;
	uint64_t process, thread;

	memcpy(&pc, entry + layout->record_offset, sizeof(pc));
	if (layout->tsc_offset != TB5_NO_FIELD)
		memcpy(&tsc, entry + layout->tsc_offset, sizeof(tsc));
	uint32_t pid = pc.pidRecIndex;
	if (!pc.pidRecIndexRaw && pid < b->processes_written)
		pid = b->record_pids[pid];
	TBRW_U32 code = process_at(b, pid, tsc, &process);
	if (code == VT_SUCCESS)
		code = thread_at(b, process, pid, pc.tid, tsc, &thread);
	if (code != VT_SUCCESS)
		return code;
	const struct tb5_bind_module *module =
		tb5_module_index_find(&b->modules, pid, pc.IA64PC ? pc.iip : pc.eip, tsc, number);
	*out = (DATA_BIND_STRUCT){module ? module->record : TBRW_INDEX_NONE, process, thread};
	return VT_SUCCESS;
}

/* Samples taken per run. */
#define RUN_SAMPLES 4096u

static TBRW_U32 bind_run_of_samples(struct binder *b, const struct tb5_layout *layout,
				    uint64_t first, size_t count, unsigned char *entries,
				    DATA_BIND_STRUCT *results, struct tb5_stream *out)
{
	struct tb5_stream *samples = b->file->streams[0];
	TBRW_U32 code =
		tb5_seq_read(tb5_stream_seq(samples, TB5_DATA), &b->file->cache,
			     first * layout->entry_size, entries, count * layout->entry_size);

	for (size_t i = 0; code == VT_SUCCESS && i < count; i++)
		code = bind_sample(b, entries + i * layout->entry_size, layout, first + i,
				   &results[i]);
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(b->file, tb5_stream_seq(out, TB5_DATA), results,
			       count * sizeof(*results));
}

static TBRW_U32 bind_samples(struct binder *b, const struct tb5_layout *layout,
			     struct tb5_stream *out)
{
	uint64_t total =
		tb5_seq_size(tb5_stream_seq(b->file->streams[0], TB5_DATA)) / layout->entry_size;
	size_t run = RUN_SAMPLES * (size_t)40 / layout->entry_size + 1;
	DATA_BIND_STRUCT *results = malloc(run * sizeof(*results));
	unsigned char *entries = malloc(run * layout->entry_size);
	TBRW_U32 code = results && entries ? VT_SUCCESS : VT_NO_MEMORY;

	for (uint64_t at = 0; code == VT_SUCCESS && at < total; at += run)
		code = bind_run_of_samples(b, layout, at,
					   total - at < run ? (size_t)(total - at) : run, entries,
					   results, out);
	free(entries);
	free(results);
	return code;
}

/* ---- The other streams ---- */

static TBRW_U32 write_threads(struct binder *b, struct tb5_seq *seq)
{
	TBRW_U32 code = VT_SUCCESS;

	for (uint64_t i = 0; code == VT_SUCCESS && i < b->threads_written; i++) {
		struct tb5_bind_tid entry = {.pid_index = b->thread_processes[i]};

		code = tb5_record_read(b->file, tb5_file_seq(b->file, TB5_THREADS), i, &entry.tid,
				       sizeof(entry.tid));
		if (code == VT_SUCCESS)
			code = tb5_file_append(b->file, seq, &entry, sizeof(entry));
	}
	if (code != VT_SUCCESS)
		return code;
	return tb5_file_append(b->file, seq, b->deduced_tids,
			       (size_t)b->deduced_tid_count * sizeof(*b->deduced_tids));
}

static TBRW_U32 bind_all(struct binder *b, const struct tb5_layout *layout,
			 const struct tb5_bind_set *out)
{
	TBRW_U32 code = load_processes(b);

	if (code == VT_SUCCESS)
		code = load_threads(b);
	if (code == VT_SUCCESS)
		code = load_modules(b);
	if (code == VT_SUCCESS)
		code = bind_samples(b, layout, out->data);
	if (code == VT_SUCCESS)
		code = tb5_file_append(b->file, tb5_stream_seq(out->module, TB5_DATA),
				       b->module_processes,
				       (size_t)b->module_count * sizeof(MODULE_BIND_STRUCT));
	if (code == VT_SUCCESS)
		code = tb5_file_append(b->file, tb5_stream_seq(out->pid, TB5_DATA), b->deduced_pids,
				       (size_t)b->deduced_pid_count * sizeof(TBRW_PID));
	if (code == VT_SUCCESS)
		code = write_threads(b, tb5_stream_seq(out->tid, TB5_DATA));
	return code;
}

static void binder_finish(struct binder *b)
{
	tb5_lives_finish(&b->processes);
	tb5_lives_finish(&b->threads);
	tb5_pair_map_finish(&b->pid_map);
	tb5_pair_map_finish(&b->tid_map);
	tb5_module_index_finish(&b->modules);
	free(b->record_pids);
	free(b->deduced_pids);
	free(b->deduced_tids);
	free(b->module_processes);
	free(b->thread_processes);
	free(b->exe_load);
}

TBRW_U32 tb5_bind_run(struct tb5_file *file)
{
	struct binder b = {.file = file,
			   .processes_written = tb5_processes_written(file),
			   .threads_written = tb5_threads_written(file)};
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
	code = bind_all(&b, &layout, &output.streams);
	code = tb5_bind_output_end(&output, code);
	binder_finish(&b);
	return code;
}
