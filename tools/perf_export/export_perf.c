#include "tools/perf_export/export_perf.h"

#include "profile/read/reader.h"
#include "tools/perf_data/perf_file.h"
#include "tools/perf_export/perf_chain.h"
#include "tools/perf_export/perf_header.h"
#include "tools/perf_export/perf_lives.h"
#include "tools/perf_export/perf_moments.h"
#include "tools/perf_export/perf_space.h"
#include "tools/samples/tally.h"
#include <stdlib.h>

/* perf sorts the records of a round and of the one before. */
enum { ROUND_RECORDS = 8192 };

/* Samples in hand before the first of them is written (perf_chain_expect). */
enum { AHEAD = 16 };

struct sample_ahead {
	struct tally_sample sample;
	struct profile_sample_info info;
};

struct perf_export {
	struct weighted_stacks *stacks;
	struct profile_reader *reader; /* of the stacks */
	struct perf_file file;
	struct perf_space *space;
	struct perf_life *lives;
	size_t life_count;
	size_t next_life;
	struct perf_chain chain;
	struct perf_moments *moments;
	unsigned round_records;
	uint64_t round_ns, least_ns; /* newest times of the rounds up to the last, and before */
	uint64_t first_ns, last_ns;  /* of all samples and switches */
	struct sample_ahead ahead[AHEAD]; /* a ring: those from written on up to taken */
	uint64_t taken, written;
};

/* A sample that comes later than the order allows gets the time of the oldest one allowed. */
static uint64_t order_time(struct perf_export *export, uint64_t time_ns)
{
	if (time_ns < export->least_ns)
		time_ns = export->least_ns;
	if (time_ns > export->last_ns)
		export->last_ns = time_ns;
	if (export->first_ns == 0 || time_ns < export->first_ns)
		export->first_ns = time_ns;
	return time_ns;
}

static void count_record(struct perf_export *export)
{
	if (++export->round_records < ROUND_RECORDS)
		return;
	perf_write_round(&export->file.writer);
	export->round_records = 0;
	export->least_ns = export->round_ns;
	export->round_ns = export->last_ns;
}

/* With the chain at hand. */
static void write_sample(struct perf_export *export, enum perf_event_id event,
			 const struct perf_task *task, uint32_t cpu, uint64_t period)
{
	struct perf_sample sample = {.event = event,
				     .task = *task,
				     .cpu = cpu,
				     .period = period,
				     .chain = export->chain.entries,
				     .count = export->chain.count};
	sample.task.time_ns = order_time(export, task->time_ns);
	perf_write_sample(&export->file.writer, &sample);
	count_record(export);
}

static void write_gap(struct perf_export *export, const struct perf_task *task, uint32_t cpu,
		      enum profile_gap gap, uint64_t period)
{
	if (period == 0)
		return;
	perf_chain_set_gap(&export->chain, gap);
	write_sample(export, PERF_EVENT_SAMPLES, task, cpu, period);
}

/* A thread's time in no sample, at its end. */
static void write_rest(struct perf_export *export, uint32_t index, uint64_t time_ns)
{
	const struct profile_thread_info *thread = profile_reader_thread(export->reader, index);
	const struct perf_task task = {thread->pid, thread->tid, time_ns};
	struct weighted_stacks_rest rest = weighted_stacks_take_rest(export->stacks, index);
	write_gap(export, &task, 0, PROFILE_GAP_KERNEL, rest.kernel_ns);
	write_gap(export, &task, 0, PROFILE_GAP_NO_SAMPLE, rest.unseen_ns);
}

static void write_process(struct perf_export *export, const struct perf_life *life)
{
	const struct profile_process_info *process =
		profile_reader_process(export->reader, life->index);
	const struct perf_task task = {process->pid, process->pid, life->time_ns};
	struct perf_writer *writer = &export->file.writer;
	if (life->kind == PERF_LIFE_START && life->time_ns > 0)
		perf_write_fork(writer, &task, 0);
	perf_write_comm(writer, &task, process->name, life->kind == PERF_LIFE_EXEC);
}

static void write_thread(struct perf_export *export, const struct perf_life *life)
{
	const struct profile_thread_info *thread =
		profile_reader_thread(export->reader, life->index);
	const struct perf_task task = {thread->pid, thread->tid, life->time_ns};
	struct perf_writer *writer = &export->file.writer;
	if (life->kind == PERF_LIFE_EXIT) {
		write_rest(export, life->index, life->time_ns);
		perf_write_exit(writer, &task);
		return;
	}
	if (life->time_ns > 0)
		perf_write_fork(writer, &task, thread->pid);
	perf_write_comm(writer, &task, thread->name, false);
}

/* The name of a mapping to perf, which finds the names of anonymous code in the process's perf map.
 * "": no user code. */
static const char *mapping_path(const struct profile_module_info *module,
				const struct profile_image *image)
{
	switch (image->kind) {
	case PROFILE_IMAGE_VDSO:
		return "[vdso]";
	case PROFILE_IMAGE_JIT:
		return "//anon";
	case PROFILE_IMAGE_KERNEL:
		return "";
	default:
		return module->is_global ? "" : module->path;
	}
}

static void write_module(struct perf_export *export, const struct perf_life *life)
{
	const struct profile_module_info *module =
		profile_reader_module(export->reader, life->index);
	const struct profile_image *image =
		profile_reader_image(export->reader,
				     module->image == PROFILE_NONE ? 0 : module->image);
	const struct perf_task task = {module->pid, module->pid, life->time_ns};
	const struct perf_mapping mapping = {
		.start = module->start,
		.length = module->length,
		.pgoff = image->kind == PROFILE_IMAGE_JIT ? 0 : module->pgoff,
		.path = mapping_path(module, image),
		.inode = image->inode,
		.device_major = image->device_major,
		.device_minor = image->device_minor,
		.build_id = image->build_id,
		.build_id_size = image->build_id_size,
	};
	perf_space_map(export->space, life->index);
	if (mapping.path[0])
		perf_write_mapping(&export->file.writer, &task, &mapping);
}

/* Whether it happened before a sample of the time: threads may have one as they end. */
static bool is_before(const struct perf_life *life, uint64_t time_ns)
{
	return life->kind == PERF_LIFE_EXIT ? life->time_ns < time_ns : life->time_ns <= time_ns;
}

static void write_lives(struct perf_export *export, uint64_t time_ns)
{
	while (export->next_life < export->life_count &&
	       is_before(&export->lives[export->next_life], time_ns)) {
		const struct perf_life *life = &export->lives[export->next_life++];
		if (life->kind == PERF_LIFE_MAP)
			write_module(export, life);
		else if (life->kind == PERF_LIFE_START || life->kind == PERF_LIFE_EXEC)
			write_process(export, life);
		else
			write_thread(export, life);
	}
}

static void write_wait(struct perf_export *export, const struct perf_moment *moment,
		       const struct perf_task *task)
{
	const struct profile_sample_info waiting = {
		.pid = moment->pid,
		.tid = moment->tid,
		.stack = {.node = moment->node, .state = moment->state},
	};
	perf_chain_set_stack(&export->chain, export->space, &waiting);
	write_sample(export, PERF_EVENT_WAITS, task, 0, moment->wait_ns);
}

static void write_switch(struct perf_export *export, const struct perf_moment *moment,
			 const struct perf_task *task)
{
	enum perf_switch_kind kind = moment->kind == PERF_MOMENT_RUNS ? PERF_SWITCH_IN
				     : moment->kind == PERF_MOMENT_LEAVES
					     ? PERF_SWITCH_OUT
					     : PERF_SWITCH_OUT_PREEMPTED;
	const struct perf_task at = {task->pid, task->tid, order_time(export, task->time_ns)};
	perf_write_switch(&export->file.writer, &at, moment->cpu, kind);
	count_record(export);
}

/* What happened up to a sample of the time. */
static void write_moments(struct perf_export *export, uint64_t time_ns)
{
	struct perf_moment moment;
	while (perf_moments_next(export->moments, time_ns, &moment)) {
		const struct perf_task task = {moment.pid, moment.tid, moment.time_ns};
		write_lives(export, moment.time_ns);
		if (moment.kind == PERF_MOMENT_WAITED)
			write_wait(export, &moment, &task);
		else
			write_switch(export, &moment, &task);
	}
	write_lives(export, time_ns);
}

static void write_stack(struct perf_export *export, const struct tally_sample *sample,
			const struct perf_task *task)
{
	const struct profile_sample_info *info = sample->info;
	if (info->stack.kernel_us != PROFILE_KERNEL_ALL)
		perf_chain_set_stack(&export->chain, export->space, info);
	else
		perf_chain_set_gap(&export->chain, PROFILE_GAP_KERNEL);
	write_sample(export, PERF_EVENT_SAMPLES, task, info->cpu, sample->cpu_ns);
}

static void write_next(struct perf_export *export)
{
	const struct tally_sample *sample = &export->ahead[export->written++ % AHEAD].sample;
	const struct profile_sample_info *info = sample->info;
	const struct perf_task task = {info->pid, info->tid, sample->raw_ns};
	write_moments(export, task.time_ns);
	if (!sample->is_kernel_only)
		write_stack(export, sample, &task);
	/* An interval's worth is a sample: shares of counts are shares of time. */
	write_gap(export, &task, info->cpu, PROFILE_GAP_KERNEL, sample->kernel_ns);
}

static bool take_sample(const struct tally_sample *sample, void *user)
{
	struct perf_export *export = user;
	if (export->taken - export->written == AHEAD)
		write_next(export);
	struct sample_ahead *ahead = &export->ahead[export->taken++ % AHEAD];
	*ahead = (struct sample_ahead){.sample = *sample, .info = *sample->info};
	ahead->sample.info = &ahead->info;
	perf_chain_expect(&export->chain, export->space, &ahead->info);
	if (export->taken >= AHEAD / 2)
		perf_chain_expect_soon(&export->chain, export->space,
				       &export->ahead[(export->taken - AHEAD / 2) % AHEAD].info);
	return !ferror_unlocked(export->file.writer.stream);
}

/* What lies behind the last sample. Threads that live on, or had a late sample, have the last
 * record's time. */
static void write_end(struct perf_export *export)
{
	write_moments(export, UINT64_MAX);
	for (uint32_t i = 0; i < profile_reader_thread_count(export->reader); i++)
		write_rest(export, i, export->last_ns);
}

static TBRW_U32 write_records(struct perf_export *export)
{
	perf_chain_write_symbols(export->reader, export->space, &export->file.writer);
	TBRW_U32 code = perf_moments_create(export->stacks, &export->moments);
	if (code == VT_SUCCESS)
		code = weighted_stacks_each_sample(export->stacks, take_sample, export);
	while (code == VT_SUCCESS && export->written < export->taken)
		write_next(export);
	if (code == VT_SUCCESS)
		write_end(export);
	weighted_stacks_finish(export->stacks);
	if (code == VT_SUCCESS)
		code = perf_moments_code(export->moments);
	perf_moments_destroy(export->moments);
	return code;
}

static TBRW_U32 write_file(struct perf_export *export, const char *event, FILE *stream)
{
	struct perf_header header;
	perf_header_make(&header, export->reader, event);
	export->lives = perf_lives_collect(export->reader, &export->life_count);
	perf_file_begin(&export->file, &header.info, stream);
	TBRW_U32 code = write_records(export);
	perf_file_finish(&export->file, export->first_ns, export->last_ns);
	perf_chain_finish(&export->chain);
	free(export->lives);
	perf_header_finish(&header);
	return code;
}

TBRW_U32 export_perf_write(struct weighted_stacks *stacks, const struct export_options *options,
			   FILE *stream)
{
	struct perf_export export = {.stacks = stacks,
				     .reader = stacks->reader,
				     .chain.reader = stacks->reader};
	TBRW_U32 code = perf_space_create(stacks->reader, &export.space);
	if (code == VT_SUCCESS)
		code = write_file(&export, options->event, stream);
	perf_space_destroy(export.space);
	return code;
}
