#include "profile/copy.h"

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/base/tsc.h"
#include "profile/read/reader_private.h"
#include "profile/write/writer_private.h"
#include <assert.h>
#include <stdlib.h>

static uint64_t convert_tsc(const struct profile_copy *copy, uint64_t tsc)
{
	return profile_tsc_from_raw(&copy->first, profile_reader_raw_ns(copy->reader, tsc));
}

/* false: the record or text referred to is not copied. */
static bool convert_reference(const struct profile_copy *copy, enum profile_stream target,
			      void *field)
{
	uint32_t index;

	memcpy(&index, field, sizeof(index));
	assert(index == PROFILE_NONE || index < copy->reader->records[target].count);
	if (index == PROFILE_NONE || !copy->ids[target] || copy->ids[target][index] == PROFILE_NONE)
		return false;
	memcpy(field, &copy->ids[target][index], sizeof(index));
	return true;
}

/* Makes a record of the reader one of the writer, and lists its texts. false: it refers to an
 * uncopied record. */
static bool convert(const struct profile_copy *copy, enum profile_stream stream,
		    union profile_record *record, const char *texts[PROFILE_TEXTS_MAX])
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);

	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct profile_stream_field *field = &spec->fields[i];
		enum profile_stream target = profile_field_target(field, record->bytes);
		unsigned char *at = record->bytes + field->offset;
		if (profile_stream_is_text(target)) {
			struct profile_text text;
			memcpy(&text, at, sizeof(text));
			*texts++ = profile_texts_get(&copy->reader->texts[target], text);
		} else if (field->type == ST_TIME_STAMP && field->subtype == SST_TSC) {
			uint64_t tsc;
			memcpy(&tsc, at, sizeof(tsc));
			tsc = convert_tsc(copy, tsc);
			memcpy(at, &tsc, sizeof(tsc));
		} else if (profile_field_refers(field) && !convert_reference(copy, target, at)) {
			return false;
		}
	}
	return true;
}

/* The time of a wait's end, by the reader's TSC values. */
static uint64_t end_of(const struct profile_reader *reader, const struct profile_wait *wait)
{
	const struct profile_records *clocks = &reader->records[PROFILE_STREAM_CLOCK];
	const struct profile_clock *first = clocks->items;
	uint64_t start_ns = profile_reader_raw_ns(reader, wait->start_tsc), end_ns;

	if (__builtin_add_overflow(start_ns, wait->wait_ns, &end_ns))
		end_ns = UINT64_MAX - 1;
	return clocks->count && first->tsc_per_ns_q32 ? profile_tsc_from_raw(first, end_ns)
						      : end_ns;
}

static TBRW_U32 place_wait(const struct profile_copy *copy, const void *item,
			   struct profile_wait *placed)
{
	struct profile_wait wait;
	TBRW_U32 code = VT_SUCCESS;

	if (!copy->place)
		return VT_SUCCESS;
	memcpy(&wait, item, sizeof(wait));
	if (wait.node != 0)
		code = copy->place(copy, wait.node, wait.start_tsc, &placed->node);
	if (code == VT_SUCCESS && wait.waker_node != 0)
		code = copy->place(copy, wait.waker_node, end_of(copy->reader, &wait),
				   &placed->waker_node);
	return code;
}

static TBRW_U32 copy_record(const struct profile_copy *copy, struct profile_writer *writer,
			    enum profile_stream stream, const void *item, uint32_t *id)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	union profile_record record;
	const char *texts[PROFILE_TEXTS_MAX] = {0};

	*id = PROFILE_NONE;
	assert(spec->record_size <= sizeof(record.bytes));
	memcpy(record.bytes, item, spec->record_size);
	if (!convert(copy, stream, &record, texts))
		return VT_SUCCESS;
	TBRW_U32 code = VT_SUCCESS;
	if (stream == PROFILE_STREAM_WAITS)
		code = place_wait(copy, item, &record.wait);
	if (code != VT_SUCCESS)
		return code;
	if (spec->written == PROFILE_WRITTEN_WITH_THREAD)
		return profile_writer_put_thread(writer, &record.thread, texts[0], id);
	return profile_writer_add(writer, stream, record.bytes, texts, id);
}

static TBRW_U32 copy_records(struct profile_copy *copy, struct profile_writer *writer,
			     enum profile_stream stream)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	const struct profile_records *records = &copy->reader->records[stream];
	uint32_t *ids = reallocarray(NULL, (size_t)records->count + 1, sizeof(*ids));
	TBRW_U32 code = VT_SUCCESS;

	if (!ids)
		return VT_NO_MEMORY;
	assert(!copy->ids[stream]); /* each stream is copied once */
	copy->ids[stream] = ids;
	for (uint32_t i = 0; i < spec->preset_count && i < records->count; i++)
		ids[i] = i;
	for (uint32_t i = spec->preset_count; i < records->count && code == VT_SUCCESS; i++)
		code = copy_record(copy, writer, stream,
				   (const char *)records->items + (size_t)i * spec->record_size,
				   &ids[i]);
	return code;
}

struct streamed_copy {
	const struct profile_copy *copy;
	struct profile_references fields;
	enum profile_stream stream;
	TBRW_U32 code;
};

static bool copy_streamed_record(union profile_record *record, void *user)
{
	struct streamed_copy *streamed = user;
	const struct profile_copy *copy = streamed->copy;
	uint32_t id;

	if (profile_reader_check(copy->reader, streamed->stream, streamed->fields.indices, 0,
				 record))
		streamed->code =
			copy_record(copy, copy->writer, streamed->stream, record->bytes, &id);
	return streamed->code == VT_SUCCESS;
}

/* Of a stream without texts, to whose records nothing refers. */
static TBRW_U32 copy_streamed(const struct profile_copy *copy, enum profile_stream stream)
{
	struct streamed_copy streamed = {.copy = copy,
					 .stream = stream,
					 .fields = profile_stream_references(stream)};
	uint32_t number = copy->reader->streams[stream];

	assert(streamed.fields.texts == 0);
	if (number == PROFILE_NONE)
		return VT_SUCCESS;
	TBRW_U32 code = profile_reader_each_record(copy->reader, stream, number,
						   copy_streamed_record, &streamed);
	return code == VT_SUCCESS ? streamed.code : code;
}

static bool copy_sample(const struct profile_sample_info *info, void *user)
{
	struct profile_copy *copy = user;
	const char *texts[PROFILE_TEXTS_MAX];
	union profile_record stack;
	struct profile_sample sample = {
		.time_ns = profile_reader_raw_ns(copy->reader, info->tsc),
		.ip = info->ip,
		.flags = info->flags,
		.pid = info->pid,
		.tid = info->tid,
		.cpu = (uint16_t)info->cpu,
		.cs = info->cs,
		.is_32bit = info->is_32bit,
		.event = info->event <= copy->reader->event_count ? info->event : 0,
	};

	memcpy(stack.bytes, &info->stack, sizeof(info->stack));
	if (convert(copy, PROFILE_STREAM_STACKS, &stack, texts)) {
		memcpy(&sample.stack, stack.bytes, sizeof(sample.stack));
		if (copy->place && info->stack.node != 0)
			copy->error =
				copy->place(copy, info->stack.node, info->tsc, &sample.stack.node);
		if (copy->error == VT_SUCCESS)
			copy->error = profile_writer_add_sample(copy->writer, &sample);
	}
	if (copy->on_sample)
		copy->on_sample(info->index + 1, copy->user);
	return copy->error == VT_SUCCESS;
}

static TBRW_U32 copy_samples(struct profile_copy *copy)
{
	TBRW_U32 code = profile_reader_each_of_all(copy->reader, copy_sample, copy);

	return code == VT_SUCCESS ? copy->error : code;
}

static TBRW_U32 copy_module(const struct profile_copy *copy, const struct profile_module_info *info,
			    bool is_first)
{
	uint32_t image = info->image;
	struct profile_module module = {
		.pid = info->pid,
		.start = info->start,
		.length = info->length,
		.pgoff = info->pgoff,
		.rva = info->rva,
		.load_ns = profile_reader_raw_ns(copy->reader, info->load_tsc),
		.unload_ns = profile_reader_raw_ns(copy->reader, info->unload_tsc),
		.path = info->path,
		.cs = info->cs,
		.is_32bit = info->is_32bit,
		.is_executable = info->is_executable,
		.is_first = is_first,
		.is_global = info->is_global,
	};

	if (convert_reference(copy, PROFILE_STREAM_IMAGES, &image))
		module.image = image;
	TBRW_U32 code = profile_writer_add_module(copy->writer, &module);
	if (code == VT_SUCCESS && info->unload_tsc != UINT64_MAX)
		code = profile_writer_end_module(copy->writer, &module);
	return code;
}

struct pid_slot {
	struct hash_slot head;
	uint32_t pid;
};

static bool is_pid(const void *slot, const void *key)
{
	const uint32_t *pid = key;
	return ((const struct pid_slot *)slot)->pid == *pid;
}

static TBRW_U32 copy_modules(const struct profile_copy *copy)
{
	struct hash_key key = hash_key_draw();
	struct hash_table pids = {0};
	TBRW_U32 code = VT_SUCCESS;

	for (uint32_t i = 0; i < copy->reader->module_count && code == VT_SUCCESS; i++) {
		const struct profile_module_info *info = &copy->reader->modules[i];
		uint64_t hash = hash_number(&key, info->pid);
		struct pid_slot *slot =
			hash_table_find(&pids, sizeof(*slot), hash, is_pid, &info->pid);
		bool is_first = !slot;
		if (is_first)
			slot = hash_table_add(&pids, sizeof(*slot), hash);
		if (!slot) {
			code = VT_NO_MEMORY;
			break;
		}
		slot->pid = info->pid;
		code = copy_module(copy, info, is_first);
	}
	hash_table_finish(&pids);
	return code;
}

static TBRW_U32 copy_process(const struct profile_copy *copy,
			     const struct profile_process_info *info)
{
	struct profile_process process = {
		.pid = info->pid,
		.start_ns = profile_reader_raw_ns(copy->reader, info->start_tsc),
		.end_ns = profile_reader_raw_ns(copy->reader, info->end_tsc),
		.path = info->path,
		.name = info->name,
	};

	return profile_writer_add_process(copy->writer, &process);
}

/* A thread deduced by the reader: its account is its samples. */
static TBRW_U32 copy_deduced(const struct profile_copy *copy,
			     const struct profile_thread_info *info)
{
	struct profile_thread thread = {
		.pid = info->pid,
		.tid = info->tid,
		.start_tsc = convert_tsc(copy, info->start_tsc),
		.end_tsc = convert_tsc(copy, info->end_tsc),
		.cpu_ns = info->cpu_ns,
		.rest_ns = info->rest_ns,
		.flags = info->flags,
		.samples = info->samples,
		.sampled_ns = info->sampled_ns,
		.kernel_ns = info->kernel_ns,
		.unseen_ns = info->unseen_ns,
	};

	return profile_writer_put_thread(copy->writer, &thread, info->name, NULL);
}

static TBRW_U32 copy_lives(struct profile_copy *copy)
{
	const struct profile_reader *reader = copy->reader;
	TBRW_U32 code = VT_SUCCESS;

	for (uint32_t i = 0; i < reader->process_count && code == VT_SUCCESS; i++)
		code = copy_process(copy, &reader->processes[i]);
	if (code == VT_SUCCESS)
		code = copy_records(copy, copy->writer, PROFILE_STREAM_THREADS);
	/* The recorded threads come first. */
	for (uint32_t i = reader->records[PROFILE_STREAM_THREADS].count;
	     i < reader->thread_count && code == VT_SUCCESS; i++)
		code = copy_deduced(copy, &reader->threads[i]);
	return code;
}

static TBRW_U32 copy_stream(struct profile_copy *copy, enum profile_stream stream)
{
	switch (profile_stream_spec(stream)->written) {
	case PROFILE_WRITTEN_ALONE:
		return copy_records(copy, copy->writer, stream);
	case PROFILE_WRITTEN_STREAMED:
		return copy_streamed(copy, stream);
	case PROFILE_WRITTEN_WITH_SAMPLE:
		return copy_samples(copy);
	case PROFILE_WRITTEN_WITH_MODULE:
		return copy_modules(copy);
	case PROFILE_WRITTEN_WITH_THREAD:
		return copy_lives(copy);
	case PROFILE_WRITTEN_AS_TEXT:
	case PROFILE_WRITTEN_WITH_CLOCK:
	case PROFILE_WRITTEN_BY_IMPORT:
		break;
	}
	return VT_SUCCESS;
}

TBRW_U32 profile_copy_all(struct profile_copy *copy)
{
	TBRW_U32 code = VT_SUCCESS;

	copy->first = copy->writer->first;
	for (unsigned id = 0; id < PROFILE_STREAM_COLLECTED && code == VT_SUCCESS; id++)
		code = copy_stream(copy, (enum profile_stream)id);
	return code;
}

TBRW_U32 profile_copy_symbols(struct profile_copy *copy, const char *path)
{
	struct profile_writer *symbols;

	if (profile_reader_symbol_count(copy->reader) == 0)
		return VT_SUCCESS;
	TBRW_U32 code = profile_symbol_writer_begin(path, &symbols);
	if (code != VT_SUCCESS)
		return code;
	code = copy_records(copy, symbols, PROFILE_STREAM_SYMBOLS);
	if (code == VT_SUCCESS)
		return profile_symbol_writer_finish(symbols);
	profile_writer_abandon(symbols);
	return code;
}

/* All of them, in their order: series keep their numbers and those of their sources. */
static TBRW_U32 copy_sources(const struct profile_copy *copy, struct profile_writer *writer)
{
	const struct profile_reader *reader = copy->reader;
	TBRW_U32 code = VT_SUCCESS;

	for (uint32_t i = 0; i < profile_reader_source_count(reader) && code == VT_SUCCESS; i++) {
		const char *texts[] = {profile_reader_source_name(reader, i),
				       profile_reader_source_host(reader, i)};
		code = profile_writer_add(writer, PROFILE_STREAM_SOURCES,
					  profile_reader_source(reader, i), texts, NULL);
	}
	for (uint32_t i = 0; i < profile_reader_series_count(reader) && code == VT_SUCCESS; i++) {
		const char *name = profile_reader_series_name(reader, i);
		code = profile_writer_add(writer, PROFILE_STREAM_SERIES,
					  profile_reader_series(reader, i), &name, NULL);
	}
	return code;
}

struct external_copy {
	struct profile_copy *copy;
	struct profile_writer *writer;
	TBRW_U32 code;
};

static bool copy_interval(const struct profile_interval *interval, void *user)
{
	struct external_copy *external = user;
	struct profile_interval copied = *interval;

	copied.start_tsc = convert_tsc(external->copy, interval->start_tsc);
	copied.end_tsc = convert_tsc(external->copy, interval->end_tsc);
	external->code =
		profile_writer_add(external->writer, PROFILE_STREAM_INTERVALS, &copied, NULL, NULL);
	return external->code == VT_SUCCESS;
}

static bool copy_counter(const struct profile_counter *counter, void *user)
{
	struct external_copy *external = user;
	struct profile_counter copied = *counter;

	copied.tsc = convert_tsc(external->copy, counter->tsc);
	external->code =
		profile_writer_add(external->writer, PROFILE_STREAM_COUNTERS, &copied, NULL, NULL);
	return external->code == VT_SUCCESS;
}

TBRW_U32 profile_copy_external(struct profile_copy *copy, const char *path)
{
	struct external_copy external = {.copy = copy};

	if (profile_reader_source_count(copy->reader) == 0)
		return VT_SUCCESS;
	external.code = profile_external_writer_begin(path, &external.writer);
	if (external.code != VT_SUCCESS)
		return external.code;
	TBRW_U32 code = copy_sources(copy, external.writer);
	if (code == VT_SUCCESS)
		code = profile_reader_each_interval(copy->reader, copy_interval, &external);
	if (code == VT_SUCCESS)
		code = external.code;
	if (code == VT_SUCCESS)
		code = profile_reader_each_counter(copy->reader, copy_counter, &external);
	if (code == VT_SUCCESS)
		code = external.code;
	if (code == VT_SUCCESS)
		return profile_external_writer_finish(external.writer);
	profile_writer_abandon(external.writer);
	return code;
}

void profile_copy_finish(struct profile_copy *copy)
{
	for (unsigned id = 0; id < PROFILE_STREAM_COUNT; id++)
		free(copy->ids[id]);
}
