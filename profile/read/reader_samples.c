/* Samples: stream 0 and tbcollect.stacks side by side, some thousand at a time. In a plain file the
 * stack of a sample is its leaf, and is made here. */
#include "profile/read/reader_private.h"
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_SIZE 4096u

struct profile_sample_batch {
	const struct profile_sample_layout *layout;
	uint32_t wanted;
	uint32_t sample_count;
	uint32_t stack_count;
	struct profile_sample_record samples[BATCH_SIZE];
	DATA_BIND_STRUCT binds[BATCH_SIZE];
	struct profile_stack stacks[BATCH_SIZE];
};

/* Takes the batch's missing entries from a run, of each its first known_size bytes: the rest of the
 * record is 0. Returns an enumeration callback's result. */
static TBRW_U32 take_run(void *to, uint32_t *taken, uint32_t wanted, const void *run, uint64_t size,
			 uint64_t count, size_t record_size, size_t known_size)
{
	if (count == 0)
		return TRUE;
	if (size / count < known_size)
		return VT_UNSUPPORTED_DATA_SIZE;
	uint32_t more = wanted - *taken < count ? wanted - *taken : (uint32_t)count;
	size_t stride = size / count;
	char *first = (char *)to + *taken * record_size;
	if (stride == record_size && known_size == record_size) {
		memcpy(first, run, more * record_size);
	} else {
		memset(first, 0, more * record_size);
		for (uint32_t i = 0; i < more; i++)
			memcpy(first + i * record_size, (const char *)run + i * stride, known_size);
	}
	*taken += more;
	return *taken < wanted ? TRUE : FALSE;
}

/* Samples without a time count as the latest: only modules never unloaded hold them. */
static void take_sample_fields(const struct profile_sample_layout *layout, const char *entry,
			       struct profile_sample_record *sample)
{
	memcpy(&sample->pc, entry + layout->pc_offset, sizeof(sample->pc));
	sample->tsc.tsc = UINT64_MAX - 1;
	if (layout->tsc_offset != PROFILE_NONE)
		memcpy(&sample->tsc, entry + layout->tsc_offset, sizeof(sample->tsc));
}

static TBRW_U32 take_sample_run(struct profile_sample_batch *batch, const void *run, uint64_t size,
				uint64_t count)
{
	if (count == 0)
		return TRUE;
	size_t stride = size / count;
	uint32_t left = batch->wanted - batch->sample_count;
	uint32_t more = left < count ? left : (uint32_t)count;
	if (stride < batch->layout->entry_size)
		return VT_UNSUPPORTED_DATA_SIZE;
	for (uint32_t i = 0; i < more; i++)
		take_sample_fields(batch->layout, (const char *)run + i * stride,
				   &batch->samples[batch->sample_count + i]);
	batch->sample_count += more;
	assert(batch->sample_count <= batch->wanted);
	return batch->sample_count < batch->wanted ? TRUE : FALSE;
}

static TBRW_U32 take_samples(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	return take_sample_run(user, data, size, count);
}

static TBRW_U32 take_stacks(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct profile_sample_batch *batch = user;

	return take_run(batch->stacks, &batch->stack_count, batch->wanted, data, size, count,
			sizeof(batch->stacks[0]), batch->layout->stack_size);
}

static TBRW_U32 take_bound(const void *data, TBRW_U32 size, TBRW_U64 count,
			   const DATA_BIND_STRUCT *bind, TBRW_U32 bind_size, void *user)
{
	struct profile_sample_batch *batch = user;
	uint32_t bind_count = batch->sample_count;
	TBRW_U32 code = take_run(batch->binds, &bind_count, batch->wanted, bind, bind_size, count,
				 sizeof(*bind), sizeof(*bind));

	if (code != TRUE && code != FALSE)
		return code;
	return take_sample_run(batch, data, size, count);
}

/* The leaf's node is found with its module. */
static void make_stacks(const struct profile_reader *reader, struct profile_sample_batch *batch)
{
	for (; batch->stack_count < batch->sample_count; batch->stack_count++)
		batch->stacks[batch->stack_count] = (struct profile_stack){
			.cpu_ns =
				reader->weight_ns[batch->samples[batch->stack_count].pc.eventIndex],
			.state = PROFILE_STACK_NONE,
		};
}

static TBRW_U32 read_batch(struct profile_reader *reader, uint64_t start, bool with_bind)
{
	struct profile_sample_batch *batch = reader->batch;
	uint64_t left = reader->sample_count - start;
	TBRW_U32 code;

	batch->layout = &reader->layout;
	batch->wanted = left < BATCH_SIZE ? (uint32_t)left : BATCH_SIZE;
	batch->sample_count = 0;
	batch->stack_count = 0;
	if (with_bind)
		code = TBRW_bind_enumerate_data(reader->file, 0, take_bound, batch, start);
	else
		code = TBRW_enumerate_data(reader->file, 0, take_samples, batch, start);
	if (code == VT_SUCCESS && reader->is_plain)
		make_stacks(reader, batch);
	else if (code == VT_SUCCESS)
		code = TBRW_enumerate_data(reader->file, reader->streams[PROFILE_STREAM_STACKS],
					   take_stacks, batch, start);
	if (code != VT_SUCCESS)
		return code;
	if (batch->sample_count < batch->wanted || batch->stack_count < batch->wanted)
		return VT_INVALID_SAMPLE_FILE;
	return VT_SUCCESS;
}

/* Makes a stack safe to follow and honest: one whose way to the root is not all in the file, or
 * whose state no version of this program writes, is not complete. */
static void check_stack(const struct profile_reader *reader, uint64_t fields,
			struct profile_stack *stack)
{
	bool is_damaged = !profile_reader_check(reader, PROFILE_STREAM_STACKS, fields, 0, stack) ||
			  stack->node == PROFILE_NONE || stack->state > PROFILE_STACK_NONE ||
			  stack->reason >= PROFILE_SKIP_REASON_COUNT;

	if (stack->node == PROFILE_NONE)
		stack->node = 0;
	if (reader->node_damaged && reader->node_damaged[stack->node] &&
	    stack->state != PROFILE_STACK_SKIPPED)
		is_damaged = true;
	if (is_damaged) {
		stack->state = PROFILE_STACK_SKIPPED;
		stack->reason = PROFILE_SKIP_BAD_INFO;
	}
	if (stack->state != PROFILE_STACK_GUESSED ||
	    stack->guess_level >= PROFILE_GUESS_LEVEL_COUNT) {
		stack->verified = 0;
		stack->guess_level = PROFILE_GUESS_NONE;
		stack->guess_hits = 0;
	}
	if (stack->kernel_us != PROFILE_KERNEL_ALL && stack->kernel_us > stack->cpu_ns / 1000)
		stack->kernel_us = 0;
}

TBRW_U32 profile_reader_each_raw_sample(struct profile_reader *reader, bool with_bind,
					profile_raw_sample_callback *callback, void *user)
{
	uint64_t fields = profile_stream_references(PROFILE_STREAM_STACKS).indices;

	for (uint64_t start = 0; start < reader->sample_count;) {
		TBRW_U32 code = read_batch(reader, start, with_bind);
		if (code != VT_SUCCESS)
			return code;
		struct profile_sample_batch *batch = reader->batch;
		for (uint32_t i = 0; i < batch->wanted; i++) {
			check_stack(reader, fields, &batch->stacks[i]);
			code = callback(reader, start + i, &batch->samples[i], &batch->stacks[i],
					with_bind ? &batch->binds[i] : NULL, user);
			if (code != VT_SUCCESS)
				return code;
		}
		start += batch->wanted;
		if (reader->watcher)
			reader->watcher(batch->wanted, reader->watcher_user);
	}
	return VT_SUCCESS;
}

static TBRW_U32 note_entry(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	bool *is_there = user;

	(void)data, (void)size;
	*is_there = count > 0;
	return FALSE;
}

/* The API has no count of entries, and reading them all to count would cost as much as using
 * them: a bisection asks whether entry n exists. */
static TBRW_U32 count_entries(struct profile_reader *reader, TBRW_U32 stream, uint64_t *count)
{
	uint64_t low = 0, high = UINT64_C(1) << 48; /* entry low - 1 exists, entry high does not */

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		bool is_there = false;
		TBRW_U32 code =
			TBRW_enumerate_data(reader->file, stream, note_entry, &is_there, middle);
		if (code != VT_SUCCESS && code != VT_INVALID_READ_START)
			return code;
		if (is_there)
			low = middle + 1;
		else
			high = middle;
	}
	*count = low;
	return VT_SUCCESS;
}

static TBRW_U32 open_data(struct profile_reader *reader, TBRW_U32 stream,
			  const struct profile_stream_spec *spec, uint32_t *known_size)
{
	uint32_t entry_size;
	TBRW_U32 code = TBRW_reading_stream(reader->file, stream);

	if (code != VT_SUCCESS)
		return code;
	code = profile_stream_check(reader->file, stream, spec, known_size, &entry_size);
	if (code == VT_SUCCESS)
		code = TBRW_reading_stream_section(reader->file, stream, TBRW_DATA_SECTION);
	if (code != VT_SUCCESS)
		TBRW_done_stream(reader->file, stream);
	return code;
}

static void close_data(struct profile_reader *reader, TBRW_U32 stream)
{
	TBRW_done_stream_section(reader->file, stream, TBRW_DATA_SECTION);
	TBRW_done_stream(reader->file, stream);
}

static TBRW_U32 count_samples(struct profile_reader *reader)
{
	uint64_t samples, stacks = UINT64_MAX;
	TBRW_U32 code = count_entries(reader, 0, &samples);

	if (code == VT_SUCCESS && !reader->is_plain)
		code = count_entries(reader, reader->streams[PROFILE_STREAM_STACKS], &stacks);
	if (code == VT_SUCCESS)
		reader->sample_count = samples < stacks ? samples : stacks;
	return code;
}

static TBRW_U32 open_plain(struct profile_reader *reader)
{
	TBRW_U32 code = TBRW_reading_stream(reader->file, 0);

	if (code != VT_SUCCESS)
		return code;
	code = TBRW_reading_stream_section(reader->file, 0, TBRW_DATA_SECTION);
	if (code != VT_SUCCESS)
		TBRW_done_stream(reader->file, 0);
	return code;
}

static TBRW_U32 open_result(struct profile_reader *reader)
{
	uint32_t sample_size;
	TBRW_U32 code = open_data(reader, 0, profile_stream_sample_spec(), &sample_size);

	if (code != VT_SUCCESS)
		return code;
	reader->layout = (struct profile_sample_layout){
		.entry_size = sizeof(struct profile_sample_record),
		.pc_offset = offsetof(struct profile_sample_record, pc),
		.tsc_offset = offsetof(struct profile_sample_record, tsc),
	};
	code = open_data(reader, reader->streams[PROFILE_STREAM_STACKS],
			 profile_stream_spec(PROFILE_STREAM_STACKS), &reader->layout.stack_size);
	if (code != VT_SUCCESS)
		close_data(reader, 0);
	return code;
}

TBRW_U32 profile_reader_open_samples(struct profile_reader *reader)
{
	if (!reader->is_plain && reader->streams[PROFILE_STREAM_STACKS] == PROFILE_NONE)
		return VT_SUCCESS;
	TBRW_U32 code = reader->is_plain ? open_plain(reader) : open_result(reader);
	if (code != VT_SUCCESS)
		return profile_reader_tolerate(reader, code);
	reader->has_sample_streams = true;
	reader->batch = malloc(sizeof(*reader->batch));
	return reader->batch ? count_samples(reader) : VT_NO_MEMORY;
}

void profile_reader_close_samples(struct profile_reader *reader)
{
	if (reader->has_sample_streams) {
		close_data(reader, 0);
		if (!reader->is_plain)
			close_data(reader, reader->streams[PROFILE_STREAM_STACKS]);
	}
	free(reader->batch);
}

struct sample_pass {
	profile_sample_callback *callback;
	void *user;
	bool is_all; /* events */
};

/* Ends a pass after the callback's stop; nobody outside sees this code. */
#define PASS_STOPPED 0xFFFFFFFEu

uint32_t profile_sample_module(struct profile_reader *reader, uint64_t index,
			       const struct profile_sample_record *sample)
{
	return profile_module_of_record(reader,
					tb5_binder_module(&reader->binder, sample->pc.pidRecIndex,
							  profile_sample_ip(&sample->pc),
							  sample->tsc.tsc, index));
}

/* The module by the bind, if the entry is possible. Frames of plain files must be the same before
 * and after a bind: symbols refer to them. */
static uint32_t bound_module(const struct profile_reader *reader, const DATA_BIND_STRUCT *bind,
			     const struct profile_sample_info *info)
{
	if (!bind || reader->is_plain)
		return PROFILE_NONE;
	uint32_t index = profile_module_of_record(reader, bind->module_index);
	if (index == PROFILE_NONE)
		return PROFILE_NONE;
	const struct profile_module_info *module = &reader->modules[index];
	bool fits = (module->pid == info->pid || module->is_global) && info->ip >= module->start &&
		    info->ip - module->start < module->length && info->tsc >= module->load_tsc &&
		    info->tsc < module->unload_tsc;
	return fits ? index : PROFILE_NONE;
}

static uint32_t index_or_none(uint64_t number)
{
	return number < PROFILE_NONE ? (uint32_t)number : PROFILE_NONE;
}

static TBRW_U32 pass_sample(struct profile_reader *reader, uint64_t index,
			    const struct profile_sample_record *sample,
			    const struct profile_stack *stack, const DATA_BIND_STRUCT *bind,
			    void *user)
{
	const struct sample_pass *pass = user;
	if (!pass->is_all && !profile_reader_is_of(reader, sample, reader->event))
		return VT_SUCCESS;
	struct profile_sample_info info = {
		.index = index,
		.tsc = sample->tsc.tsc,
		.ip = profile_sample_ip(&sample->pc),
		.flags = sample->pc.IA64PC ? sample->pc.ipsr : sample->pc.eflags,
		.pid = sample->pc.pidRecIndex,
		.tid = sample->pc.tid,
		.cpu = sample->pc.cpuNum,
		.cs = sample->pc.cs,
		.is_32bit = sample->pc.codeMode == TBRW_MODE_32BIT,
		.event = sample->pc.eventIndex,
		.stack = *stack,
	};

	uint64_t process, thread;
	if (!tb5_binder_lives(&reader->binder, info.pid, info.tid, info.tsc, false, &process,
			      &thread))
		return VT_NO_MEMORY;
	info.process = index_or_none(process);
	info.thread = index_or_none(thread);
	assert(info.process == PROFILE_NONE || info.process < reader->process_count);
	assert(info.thread == PROFILE_NONE || info.thread < reader->thread_count);
	info.module = bound_module(reader, bind, &info);
	if (info.module == PROFILE_NONE)
		info.module = profile_sample_module(reader, index, sample);
	if (reader->is_plain)
		info.stack.node = profile_plain_node(reader, info.module, info.ip);
	return pass->callback(&info, pass->user) ? VT_SUCCESS : PASS_STOPPED;
}

void profile_reader_watch(struct profile_reader *reader, profile_reader_watcher *watcher,
			  void *user)
{
	reader->watcher = watcher;
	reader->watcher_user = user;
}

static TBRW_U32 pass_all(struct profile_reader *reader, struct sample_pass *pass)
{
	TBRW_U32 code = profile_reader_each_raw_sample(reader, reader->is_bound, pass_sample, pass);

	return code == PASS_STOPPED ? VT_SUCCESS : code;
}

TBRW_U32 profile_reader_each_sample(struct profile_reader *reader,
				    profile_sample_callback *callback, void *user)
{
	return pass_all(reader, &(struct sample_pass){.callback = callback, .user = user});
}

TBRW_U32 profile_reader_each_of_all(struct profile_reader *reader,
				    profile_sample_callback *callback, void *user)
{
	return pass_all(reader, &(struct sample_pass){callback, user, true});
}
