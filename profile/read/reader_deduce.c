/* Processes and threads that nobody recorded, as in the file of a collector that was killed: they
 * are known by their samples, and processes by their threads too. */
#include "profile/read/reader_private.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_programs(const void *left, const void *right, void *user)
{
	const struct profile_module_info *modules = user;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (modules[a].pid != modules[b].pid)
		return modules[a].pid < modules[b].pid ? -1 : 1;
	if (modules[a].load_tsc != modules[b].load_tsc)
		return modules[a].load_tsc < modules[b].load_tsc ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool list_programs(struct profile_reader *reader)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < reader->module_count; i++)
		count += reader->modules[i].is_executable && !reader->modules[i].is_global;
	reader->programs = reallocarray(NULL, (size_t)count + 1, sizeof(*reader->programs));
	if (!reader->programs)
		return false;
	for (uint32_t i = 0; i < reader->module_count; i++)
		if (reader->modules[i].is_executable && !reader->modules[i].is_global)
			reader->programs[reader->program_count++] = i;
	qsort_r(reader->programs, count, sizeof(*reader->programs), compare_programs,
		reader->modules);
	return true;
}

bool profile_reader_cut_execs(struct profile_reader *reader)
{
	const struct profile_module_info *previous = NULL;

	if (!list_programs(reader))
		return false;
	for (uint32_t i = 0; i < reader->program_count; i++) {
		const struct profile_module_info *module = &reader->modules[reader->programs[i]];
		bool is_same = previous && previous->pid == module->pid &&
			       strcmp(previous->path, module->path) == 0;
		previous = module;
		if (is_same || module->load_tsc == 0)
			continue;
		if (!profile_lives_cut(&reader->process_lives, module->pid, module->load_tsc))
			return false;
	}
	return true;
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void see(struct profile_life *life, uint64_t tsc)
{
	if (!life->is_gap)
		return;
	life->is_seen = true;
	if (tsc > life->last_seen)
		life->last_seen = tsc;
}

static TBRW_U32 see_sample(struct profile_reader *reader, uint64_t index,
			   const struct profile_sample_record *sample,
			   const struct profile_stack *stack, const DATA_BIND_STRUCT *bind,
			   void *user)
{
	uint32_t pid = sample->pc.pidRecIndex;
	uint64_t tsc = sample->tsc.tsc;
	struct profile_life *process = profile_lives_need(&reader->process_lives, pid, tsc);
	struct profile_life *thread =
		profile_lives_need(&reader->thread_lives, profile_thread_key(pid, sample->pc.tid),
				   tsc);

	(void)index, (void)bind, (void)user;
	if (!process || !thread)
		return VT_NO_MEMORY;
	see(process, tsc);
	see(thread, tsc);
	if (thread->is_gap) {
		thread->samples += thread->samples < UINT32_MAX;
		thread->cpu_ns = add_saturating(thread->cpu_ns, stack->cpu_ns);
	}
	return VT_SUCCESS;
}

/* The process that a thread belonged to when it ended: over an exec, that is the program that it
 * became. NULL: out of memory. */
static struct profile_life *process_of_thread(struct profile_reader *reader,
					      const struct profile_thread_info *thread)
{
	uint64_t last = thread->end_tsc;

	if (last != UINT64_MAX && last > thread->start_tsc)
		last--;
	struct profile_life *life = profile_lives_find(&reader->process_lives, thread->pid, last);
	if (life && !life->is_gap)
		return life;
	life = profile_lives_find(&reader->process_lives, thread->pid, thread->start_tsc);
	if (life && !life->is_gap)
		return life;
	return profile_lives_need(&reader->process_lives, thread->pid, last);
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
	for (uint32_t i = 0; i < reader->thread_count; i++) {
		struct profile_life *life = process_of_thread(reader, &reader->threads[i]);
		if (!life)
			return VT_NO_MEMORY;
		see(life, reader->threads[i].start_tsc);
	}
	if (!needs_scan(reader))
		return VT_SUCCESS;
	return profile_reader_each_raw_sample(reader, false, see_sample, NULL);
}

/* The executable module that a life without a record had: the one already there when it began,
 * else the first one loaded during it. NULL: none. */
static const struct profile_module_info *find_program(const struct profile_reader *reader,
						      const struct profile_life *life)
{
	uint32_t pid = (uint32_t)life->key;
	uint32_t low = 0, high = reader->program_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct profile_module_info *module =
			&reader->modules[reader->programs[middle]];
		if (module->pid < pid || (module->pid == pid && module->load_tsc <= life->start))
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0) {
		const struct profile_module_info *before =
			&reader->modules[reader->programs[low - 1]];
		if (before->pid == pid && before->unload_tsc > life->start)
			return before;
	}
	if (low < reader->program_count) {
		const struct profile_module_info *after = &reader->modules[reader->programs[low]];
		if (after->pid == pid && after->load_tsc < life->end)
			return after;
	}
	return NULL;
}

static TBRW_U32 name_process(struct profile_reader *reader, const struct profile_life *life,
			     struct profile_process_info *info)
{
	const struct profile_module_info *program = find_program(reader, life);
	char name[32];

	info->path = program ? program->path : "";
	const char *slash = strrchr(info->path, '/');
	info->name = slash ? slash + 1 : info->path;
	if (*info->name)
		return VT_SUCCESS;
	int length = snprintf(name, sizeof(name), "pid %u", info->pid);
	info->name = profile_strpool_add(&reader->made_names, name, (size_t)length);
	return info->name ? VT_SUCCESS : VT_NO_MEMORY;
}

static uint32_t count_seen(const struct profile_lives *lives)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < lives->count; i++)
		count += lives->items[i].is_gap && lives->items[i].is_seen;
	return count;
}

static TBRW_U32 add_processes(struct profile_reader *reader)
{
	uint32_t more = count_seen(&reader->process_lives);
	struct profile_process_info *processes =
		reallocarray(reader->processes, (size_t)reader->process_count + more + 1,
			     sizeof(*processes));

	if (!processes)
		return VT_NO_MEMORY;
	reader->processes = processes;
	for (uint32_t i = 0; i < reader->process_lives.count; i++) {
		struct profile_life *life = &reader->process_lives.items[i];
		if (!life->is_gap || !life->is_seen)
			continue;
		struct profile_process_info *info = &processes[reader->process_count];
		*info = (struct profile_process_info){
			.pid = (uint32_t)life->key,
			.start_tsc = life->start,
			.end_tsc = life->end,
		};
		TBRW_U32 code = name_process(reader, life, info);
		if (code != VT_SUCCESS)
			return code;
		life->record = reader->process_count++;
	}
	return VT_SUCCESS;
}

/* A thread without a record takes the name of its process, as Linux gives it to a new thread. */
static TBRW_U32 add_threads(struct profile_reader *reader)
{
	uint32_t more = count_seen(&reader->thread_lives);
	struct profile_thread_info *threads =
		reallocarray(reader->threads, (size_t)reader->thread_count + more + 1,
			     sizeof(*threads));

	if (!threads)
		return VT_NO_MEMORY;
	reader->threads = threads;
	for (uint32_t i = 0; i < reader->thread_lives.count; i++) {
		struct profile_life *life = &reader->thread_lives.items[i];
		if (!life->is_gap || !life->is_seen)
			continue;
		uint32_t pid = (uint32_t)(life->key >> 32);
		const struct profile_life *process =
			profile_lives_find(&reader->process_lives, pid, life->last_seen);
		uint32_t owner = process ? process->record : PROFILE_NONE;
		threads[reader->thread_count] = (struct profile_thread_info){
			.pid = pid,
			.tid = (uint32_t)life->key,
			.process = owner,
			.samples = life->samples,
			.start_tsc = life->start,
			.end_tsc = life->end,
			.cpu_ns = life->cpu_ns,
			.sampled_ns = life->cpu_ns,
			.flags = PROFILE_THREAD_DEDUCED,
			.name = owner == PROFILE_NONE ? "" : reader->processes[owner].name,
		};
		life->record = reader->thread_count++;
	}
	return VT_SUCCESS;
}

TBRW_U32 profile_reader_deduce(struct profile_reader *reader)
{
	uint32_t recorded = reader->thread_count;
	TBRW_U32 code = see_everything(reader);

	if (code == VT_SUCCESS)
		code = add_processes(reader);
	if (code == VT_SUCCESS)
		code = add_threads(reader);
	for (uint32_t i = 0; code == VT_SUCCESS && i < recorded; i++) {
		const struct profile_life *life = process_of_thread(reader, &reader->threads[i]);
		if (!life)
			return VT_NO_MEMORY;
		reader->threads[i].process = life->record;
	}
	return code;
}
