#include "tools/convert/recover.h"
#include "tbrw/profile/writer.h"
#include "tools/analysis/index_map.h"
#include "tools/cli/xalloc.h"
#include "tools/convert/recover_system.h"
#include <stdbool.h>
#include <stdlib.h>

/* What a collector killed before its first note leaves unknown. */
#define DEFAULT_INTERVAL_NS 10000000u

struct recovery {
	struct profile_reader *reader;
	struct profile_writer *writer;
	struct progress *progress;
	TBRW_U32 code; /* of the writer: first failure */
};

static TBRW_U32 copy_images(const struct recovery *recovery)
{
	/* record 0, code in no known module, is in every result from the start */
	for (uint32_t i = 1; i < profile_reader_image_count(recovery->reader); i++) {
		const struct profile_image *image = profile_reader_image(recovery->reader, i);
		uint32_t index;
		TBRW_U32 code =
			profile_writer_add_image(recovery->writer, image,
						 profile_reader_text(recovery->reader, image->path),
						 &index);
		if (code != VT_SUCCESS)
			return code;
	}
	return VT_SUCCESS;
}

static TBRW_U32 copy_tree(const struct recovery *recovery)
{
	TBRW_U32 code = VT_SUCCESS;
	uint32_t frames = profile_reader_frame_count(recovery->reader);
	uint32_t nodes = profile_reader_node_count(recovery->reader);
	for (uint32_t i = 0; i < frames && code == VT_SUCCESS; i++)
		code = profile_writer_add_frame(recovery->writer,
						profile_reader_frame(recovery->reader, i));
	for (uint32_t i = 1; i < nodes && code == VT_SUCCESS; i++)
		code = profile_writer_add_node(recovery->writer,
					       profile_reader_node(recovery->reader, i));
	return code;
}

static bool copy_sample(const struct profile_sample_info *info, void *user)
{
	struct recovery *recovery = user;
	struct profile_sample sample = {
		.time_ns = profile_reader_raw_ns(recovery->reader, info->tsc),
		.ip = info->ip,
		.pid = info->pid,
		.tid = info->tid,
		.cpu = (uint16_t)info->cpu,
		.flags = info->flags,
		.cs = info->cs,
		.is_32bit = info->is_32bit,
		.stack = info->stack,
	};
	recovery->code = profile_writer_add_sample(recovery->writer, &sample);
	progress_update(recovery->progress, info->index + 1);
	return recovery->code == VT_SUCCESS;
}

static TBRW_U32 copy_samples(struct recovery *recovery)
{
	TBRW_U32 code = profile_reader_each_sample(recovery->reader, copy_sample, recovery);
	return code != VT_SUCCESS ? code : recovery->code;
}

static TBRW_U32 copy_module(const struct recovery *recovery, const struct profile_module_info *info,
			    bool is_first)
{
	struct profile_module module = {
		.pid = info->pid,
		.image = info->image == PROFILE_NONE ? 0 : info->image,
		.start = info->start,
		.length = info->length,
		.pgoff = info->pgoff,
		.load_ns = profile_reader_raw_ns(recovery->reader, info->load_tsc),
		.unload_ns = profile_reader_raw_ns(recovery->reader, info->unload_tsc),
		.path = info->path,
		.cs = info->cs,
		.is_32bit = info->is_32bit,
		.is_executable = info->is_executable,
		.is_first = is_first,
		.is_global = info->is_global,
	};
	TBRW_U32 code = profile_writer_add_module(recovery->writer, &module);
	if (code == VT_SUCCESS && info->unload_tsc != UINT64_MAX)
		code = profile_writer_end_module(recovery->writer, &module);
	return code;
}

static bool is_pid_of_module(const void *user, uint32_t index, const void *key)
{
	return profile_reader_module(user, index)->pid == *(const uint32_t *)key;
}

static TBRW_U32 copy_modules(const struct recovery *recovery)
{
	const struct profile_reader *reader = recovery->reader;
	struct index_map pids = {0};
	uint32_t count = profile_reader_module_count(reader);
	TBRW_U32 code = VT_SUCCESS;
	for (uint32_t i = 0; i < count && code == VT_SUCCESS; i++) {
		const struct profile_module_info *info = profile_reader_module(reader, i);
		bool is_first;
		index_map_intern(&pids, &info->pid, index_map_hash(&info->pid, sizeof(info->pid)),
				 is_pid_of_module, reader, i, &is_first);
		code = copy_module(recovery, info, is_first);
	}
	index_map_finish(&pids);
	return code;
}

static TBRW_U32 copy_processes(const struct recovery *recovery)
{
	struct profile_reader *reader = recovery->reader;
	TBRW_U32 code = VT_SUCCESS;
	uint32_t processes = profile_reader_process_count(reader);
	for (uint32_t i = 0; i < processes && code == VT_SUCCESS; i++) {
		const struct profile_process_info *info = profile_reader_process(reader, i);
		struct profile_process process = {
			.pid = info->pid,
			.start_ns = profile_reader_raw_ns(reader, info->start_tsc),
			.end_ns = profile_reader_raw_ns(reader, info->end_tsc),
			.path = info->path,
			.name = info->name,
		};
		code = profile_writer_add_process(recovery->writer, &process);
	}
	return code;
}

static TBRW_U32 copy_threads(const struct recovery *recovery,
			     const struct profile_unwinding *const *unwindings)
{
	struct profile_reader *reader = recovery->reader;
	TBRW_U32 code = VT_SUCCESS;
	uint32_t threads = profile_reader_thread_count(reader);
	for (uint32_t i = 0; i < threads && code == VT_SUCCESS; i++) {
		const struct profile_thread_info *info = profile_reader_thread(reader, i);
		struct profile_thread_life thread = {
			.pid = info->pid,
			.tid = info->tid,
			.start_ns = profile_reader_raw_ns(reader, info->start_tsc),
			.end_ns = profile_reader_raw_ns(reader, info->end_tsc),
			.cpu_ns = info->cpu_ns - info->estimated_ns,
			.rest_ns = info->rest_ns - info->estimated_rest_ns,
			.sampled_ns = info->sampled_ns,
			.kernel_ns = info->kernel_ns,
			.unseen_ns = info->unseen_ns,
			.samples = info->samples,
			.flags = info->flags,
			.name = info->name,
			.unwinding = unwindings[i],
		};
		code = profile_writer_add_thread(recovery->writer, &thread);
	}
	return code;
}

/* What unwinding took is written with its thread. */
static TBRW_U32 copy_threads_unwound(const struct recovery *recovery)
{
	struct profile_reader *reader = recovery->reader;
	const struct profile_unwinding **of_threads =
		xalloc_zeroed((size_t)profile_reader_thread_count(reader) + 1, sizeof(*of_threads));
	TBRW_U32 code = VT_SUCCESS;
	uint32_t count = profile_reader_unwinding_count(reader);
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_unwinding *unwinding = profile_reader_unwinding(reader, i);
		if (unwinding->kind == PROFILE_UNWINDING_THREAD)
			of_threads[unwinding->subject] = unwinding;
	}
	code = copy_threads(recovery, of_threads);
	free(of_threads);
	for (uint32_t i = 0; i < count && code == VT_SUCCESS; i++) {
		const struct profile_unwinding *unwinding = profile_reader_unwinding(reader, i);
		if (unwinding->kind == PROFILE_UNWINDING_IMAGE)
			code = profile_writer_add_image_unwinding(recovery->writer,
								  unwinding->subject, unwinding);
	}
	return code;
}

static TBRW_U32 add_symbol(const struct profile_reader *reader,
			   struct profile_symbol_writer *writer,
			   const struct profile_symbol *symbol)
{
	struct profile_symbol_text text = {
		.name = profile_reader_symtext(reader, symbol->name),
		.full = profile_reader_symtext(reader, symbol->full),
		.file = profile_reader_symtext(reader, symbol->file),
	};
	return profile_symbol_writer_add(writer, symbol, &text);
}

/* Those of a result that was finalized before it was damaged: its files may be gone by now. */
static TBRW_U32 copy_symbols(const struct profile_reader *reader, const char *path)
{
	struct profile_symbol_writer *writer;
	uint32_t frames = profile_reader_frame_count(reader);
	if (profile_reader_symbol_count(reader) == 0)
		return VT_SUCCESS;
	TBRW_U32 code = profile_symbol_writer_begin(path, &writer);
	if (code != VT_SUCCESS)
		return code;
	for (uint32_t frame = 0; frame < frames && code == VT_SUCCESS; frame++) {
		uint32_t count;
		const struct profile_symbol *symbols =
			profile_reader_symbols(reader, frame, &count);
		for (uint32_t i = 0; i < count && code == VT_SUCCESS; i++)
			code = add_symbol(reader, writer, &symbols[i]);
	}
	if (code == VT_SUCCESS)
		return profile_symbol_writer_finish(writer);
	profile_symbol_writer_abandon(writer);
	return code;
}

static TBRW_U32 copy_notes(const struct recovery *recovery, const char **command)
{
	struct profile_reader *reader = recovery->reader;
	TBRW_U32 code = VT_SUCCESS;
	uint32_t notes = profile_reader_note_count(reader);
	for (uint32_t i = 0; i < notes && code == VT_SUCCESS; i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		const char *text = profile_reader_text(reader, note->text);
		if (note->kind == PROFILE_NOTE_COMMAND)
			*command = text;
		code = profile_writer_add_note(recovery->writer, note->kind,
					       profile_reader_raw_ns(reader, note->tsc),
					       note->value, note->pid, note->tid, text);
	}
	/* Stays with the result: it was not there to see the end. */
	if (code == VT_SUCCESS && !profile_reader_complete(reader))
		code = profile_writer_add_note(recovery->writer, PROFILE_NOTE_WARNING,
					       PROFILE_TIME_BEFORE, 0, 0, 0,
					       "recovered from a collection that did not end; its "
					       "last moments are "
					       "missing");
	return code;
}

static struct profile_run describe_run(const struct profile_reader *reader)
{
	/* Without a sync point the reader gives times as they are, and this map keeps them so. */
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = DEFAULT_INTERVAL_NS,
		.event_name = "CPU Time",
	};
	if (profile_reader_clock_count(reader) > 0)
		run.clock = *profile_reader_clock(reader, 0);
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == PROFILE_NOTE_INTERVAL && note->value > 0)
			run.interval_ns = note->value;
	}
	return run;
}

static TBRW_U32 finish(struct recovery *recovery, const char *command)
{
	struct profile_reader *reader = recovery->reader;
	uint32_t clocks = profile_reader_clock_count(reader);
	struct profile_run_end end = {.command_line = command, .comment = "recovered"};
	TBRW_U32 code = VT_SUCCESS;
	/* The first comes from the creation, the last from the end. */
	for (uint32_t i = 1; i + 1 < clocks && code == VT_SUCCESS; i++)
		code = profile_writer_add_clock(recovery->writer, profile_reader_clock(reader, i));
	if (clocks > 0)
		end.clock = *profile_reader_clock(reader, clocks - 1);
	if (code != VT_SUCCESS) {
		profile_writer_abandon(recovery->writer);
		return code;
	}
	return profile_writer_finish(recovery->writer, &end);
}

TBRW_U32 recover_write(struct profile_reader *reader, const char *source, const char *path,
		       struct progress *progress)
{
	struct recovery recovery = {.reader = reader, .progress = progress};
	struct profile_run run = describe_run(reader);
	const char *command = "";
	TBRW_U32 code = profile_writer_create(path, &run, &recovery.writer);
	if (code != VT_SUCCESS)
		return code;
	code = recover_system(source, recovery.writer);
	if (code == VT_SUCCESS)
		code = copy_images(&recovery);
	if (code == VT_SUCCESS)
		code = copy_tree(&recovery);
	if (code == VT_SUCCESS)
		code = copy_samples(&recovery);
	if (code == VT_SUCCESS)
		code = copy_modules(&recovery);
	if (code == VT_SUCCESS)
		code = copy_processes(&recovery);
	if (code == VT_SUCCESS)
		code = copy_threads_unwound(&recovery);
	if (code == VT_SUCCESS)
		code = copy_notes(&recovery, &command);
	if (code != VT_SUCCESS) {
		profile_writer_abandon(recovery.writer);
		return code;
	}
	code = finish(&recovery, command);
	return code == VT_SUCCESS ? copy_symbols(reader, path) : code;
}
