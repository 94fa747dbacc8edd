/* Processes and threads: the records of the process/thread section and of tbcollect.threads, as
 * lives. */
#include "profile/read/reader_private.h"
#include <stdlib.h>

struct load {
	struct profile_reader *reader;
	uint32_t capacity;        /* of processes */
	uint64_t record_capacity; /* of process_of_record */
	struct ending *endings;   /* TERMINATE records apart from their CREATE record */
	uint32_t ending_count;
	uint32_t ending_capacity;
	uint32_t last_created; /* process that the previous record created, PROFILE_NONE: none */
};

struct ending {
	uint32_t pid;
	uint64_t tsc;
	uint64_t record;
};

static bool reserve(struct load *load)
{
	struct profile_reader *reader = load->reader;

	if (reader->process_count == load->capacity) {
		uint32_t capacity = load->capacity ? load->capacity * 2 : 64;
		struct profile_process_info *processes =
			reallocarray(reader->processes, capacity, sizeof(*processes));
		if (capacity < load->capacity || !processes)
			return false;
		reader->processes = processes;
		load->capacity = capacity;
	}
	if (reader->process_record_count == load->record_capacity) {
		uint64_t capacity = load->record_capacity ? load->record_capacity * 2 : 64;
		uint32_t *table = reallocarray(reader->process_of_record, capacity, sizeof(*table));
		if (!table)
			return false;
		reader->process_of_record = table;
		load->record_capacity = capacity;
	}
	return true;
}

static bool add_ending(struct load *load, const TBRW_PID *record, uint64_t index)
{
	if (load->ending_count == load->ending_capacity) {
		uint32_t capacity = load->ending_capacity ? load->ending_capacity * 2 : 64;
		struct ending *endings = reallocarray(load->endings, capacity, sizeof(*endings));
		if (capacity < load->ending_capacity || !endings)
			return false;
		load->endings = endings;
		load->ending_capacity = capacity;
	}
	load->endings[load->ending_count++] = (struct ending){
		.pid = record->pid_id,
		.tsc = record->pid_event_when,
		.record = index,
	};
	return true;
}

static TBRW_U32 take_creation(struct load *load, const TBRW_PID *record, uint32_t *process)
{
	struct profile_reader *reader = load->reader;
	struct profile_process_info info = {
		.pid = record->pid_id,
		.start_tsc = record->pid_flags & TBRW_PID_TSC_USED ? record->pid_event_when : 0,
		.end_tsc = UINT64_MAX,
	};
	TBRW_U32 code = profile_reader_string(reader, record->pid_path, &info.path);

	if (code == VT_SUCCESS)
		code = profile_reader_string(reader, record->pid_name, &info.name);
	if (code != VT_SUCCESS)
		return code;
	*process = reader->process_count;
	reader->processes[reader->process_count++] = info;
	return VT_SUCCESS;
}

/* The writer of a process's life puts its end right behind its start; then they belong together
 * whatever else has the same pid. */
static TBRW_U32 take_termination(struct load *load, const TBRW_PID *record, uint32_t *process)
{
	struct profile_reader *reader = load->reader;

	if (!(record->pid_flags & TBRW_PID_TSC_USED))
		return VT_SUCCESS;
	if (load->last_created != PROFILE_NONE) {
		struct profile_process_info *info = &reader->processes[load->last_created];
		if (info->pid == record->pid_id && info->start_tsc <= record->pid_event_when) {
			info->end_tsc = record->pid_event_when;
			*process = load->last_created;
			return VT_SUCCESS;
		}
	}
	return add_ending(load, record, reader->process_record_count) ? VT_SUCCESS : VT_NO_MEMORY;
}

static TBRW_U32 take_record(struct load *load, const TBRW_PID *record)
{
	struct profile_reader *reader = load->reader;
	uint32_t process = PROFILE_NONE;
	TBRW_U32 code = VT_SUCCESS;
	bool is_creation =
		(record->pid_flags & TBRW_PID_CREATE) || !(record->pid_flags & TBRW_PID_TERMINATE);

	if (!reserve(load))
		return VT_NO_MEMORY;
	if (record->pid_flags & TBRW_PID_DEDUCED)
		reader->must_scan = true;
	else if (is_creation)
		code = take_creation(load, record, &process);
	else
		code = take_termination(load, record, &process);
	load->last_created = is_creation ? process : PROFILE_NONE;
	reader->process_of_record[reader->process_record_count++] = process;
	return code;
}

static TBRW_U32 take_records(TBRW_PID *records, TBRW_U32 size, TBRW_U32 count, void *user)
{
	if (size / sizeof(*records) < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		TBRW_U32 code = take_record(user, &records[i]);
		if (code != VT_SUCCESS)
			return code;
	}
	return TRUE;
}

static int compare_starts(const void *left, const void *right, void *user)
{
	const struct profile_process_info *processes = user;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (processes[a].pid != processes[b].pid)
		return processes[a].pid < processes[b].pid ? -1 : 1;
	if (processes[a].start_tsc != processes[b].start_tsc)
		return processes[a].start_tsc < processes[b].start_tsc ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Each separate ending goes to the process of its pid that started last before it, if that one has
 * not ended yet. */
static TBRW_U32 match_endings(struct load *load)
{
	struct profile_reader *reader = load->reader;
	uint32_t *order = reallocarray(NULL, (size_t)reader->process_count + 1, sizeof(*order));

	if (!order)
		return VT_NO_MEMORY;
	for (uint32_t i = 0; i < reader->process_count; i++)
		order[i] = i;
	qsort_r(order, reader->process_count, sizeof(*order), compare_starts, reader->processes);
	for (uint32_t e = 0; e < load->ending_count; e++) {
		const struct ending *ending = &load->endings[e];
		uint32_t low = 0, high = reader->process_count;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			const struct profile_process_info *info = &reader->processes[order[middle]];
			if (info->pid < ending->pid ||
			    (info->pid == ending->pid && info->start_tsc <= ending->tsc))
				low = middle + 1;
			else
				high = middle;
		}
		if (low == 0)
			continue;
		struct profile_process_info *info = &reader->processes[order[low - 1]];
		if (info->pid != ending->pid || info->end_tsc != UINT64_MAX)
			continue;
		info->end_tsc = ending->tsc;
		reader->process_of_record[ending->record] = order[low - 1];
	}
	free(order);
	return VT_SUCCESS;
}

static TBRW_U32 load_processes(struct profile_reader *reader)
{
	struct load load = {.reader = reader, .last_created = PROFILE_NONE};
	TBRW_U32 code = TBRW_reading_section(reader->file, TBRW_PROCESS_THREAD_SECTION);

	if (code == VT_SUCCESS) {
		code = TBRW_enumerate_processes(reader->file, take_records, &load, 0);
		TBRW_done_section(reader->file, TBRW_PROCESS_THREAD_SECTION);
	}
	code = profile_reader_tolerate(reader, code);
	if (code == VT_SUCCESS)
		code = match_endings(&load);
	free(load.endings);
	return code;
}

static TBRW_U32 seal_processes(struct profile_reader *reader)
{
	struct profile_lives *lives = &reader->process_lives;

	for (uint32_t i = 0; i < reader->process_count; i++) {
		const struct profile_process_info *info = &reader->processes[i];
		if (!profile_lives_add(lives, info->pid, info->start_tsc, info->end_tsc, i))
			return VT_NO_MEMORY;
	}
	if (!profile_reader_cut_execs(reader) || !profile_lives_seal(lives))
		return VT_NO_MEMORY;
	/* One that nobody saw end did end before its pid was used again. */
	for (uint32_t i = 0; i < lives->count; i++) {
		const struct profile_life *life = &lives->items[i];
		if (!life->is_gap && life->end < reader->processes[life->record].end_tsc)
			reader->processes[life->record].end_tsc = life->end;
	}
	return VT_SUCCESS;
}

static TBRW_U32 seal_threads(struct profile_reader *reader)
{
	for (uint32_t i = 0; i < reader->thread_count; i++) {
		const struct profile_thread_info *info = &reader->threads[i];
		if (!profile_lives_add(&reader->thread_lives,
				       profile_thread_key(info->pid, info->tid), info->start_tsc,
				       info->end_tsc, i))
			return VT_NO_MEMORY;
	}
	return profile_lives_seal(&reader->thread_lives) ? VT_SUCCESS : VT_NO_MEMORY;
}

TBRW_U32 profile_reader_load_lives(struct profile_reader *reader)
{
	TBRW_U32 code = load_processes(reader);

	if (code == VT_SUCCESS)
		code = seal_processes(reader);
	if (code == VT_SUCCESS)
		code = seal_threads(reader);
	return code == VT_SUCCESS ? profile_reader_deduce(reader) : code;
}
