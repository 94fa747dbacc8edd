/* The records bounded by modules and distinct stacks: loaded at once, with every index and text
 * reference in them checked. Nobody behind the reader has to check again. */
#include "containers/compare.h"
#include "profile/read/reader_private.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Adds one zeroed record at the end. NULL: out of memory. */
static void *grow_by_one(struct profile_records *records, size_t size)
{
	char *grown = reallocarray(records->items, (size_t)records->count + 1, size);

	if (!grown)
		return NULL;
	records->items = grown;
	return memset(grown + records->count++ * size, 0, size);
}

bool profile_reader_check(const struct profile_reader *reader, enum profile_stream stream,
			  uint64_t fields, uint32_t index, void *record)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);

	while (fields) {
		const struct profile_stream_field *field = profile_take_field(spec, &fields);
		enum profile_stream target = profile_field_target(field, record);
		uint32_t value, count = 0;
		if (target != PROFILE_STREAM_COUNT)
			count = target == stream ? index : reader->records[target].count;
		memcpy(&value, (char *)record + field->offset, sizeof(value));
		if (value < count)
			continue;
		if (field->lost == PROFILE_LOST_RECORD)
			return false;
		value = field->lost == PROFILE_LOST_TO_UNKNOWN ? 0 : PROFILE_NONE;
		memcpy((char *)record + field->offset, &value, sizeof(value));
	}
	return true;
}

/* Makes the texts of a record known. false: out of memory. */
static bool add_texts(struct profile_reader *reader, const struct profile_stream_spec *spec,
		      uint64_t fields, char *record)
{
	while (fields) {
		const struct profile_stream_field *field = profile_take_field(spec, &fields);
		const struct profile_records *bytes = &reader->records[field->refers_to];
		struct profile_text text;
		memcpy(&text, record + field->offset, sizeof(text));
		if (!profile_texts_add(&reader->texts[field->refers_to], bytes->items, bytes->count,
				       &text))
			return false;
		memcpy(record + field->offset, &text, sizeof(text));
	}
	return true;
}

/* The checks beyond the table of streams. false: the record is not used. */
static bool mend(enum profile_stream stream, void *record)
{
	struct profile_image *image = record;
	struct profile_thread *thread = record;
	struct profile_object *object = record;
	const struct profile_symbol *symbol = record;

	switch (stream) {
	case PROFILE_STREAM_IMAGES:
		if (image->build_id_size > sizeof(image->build_id))
			image->build_id_size = 0;
		if (image->kind > PROFILE_IMAGE_KERNEL)
			image->kind = PROFILE_IMAGE_UNKNOWN;
		return true;
	case PROFILE_STREAM_THREADS:
		if (thread->end_tsc < thread->start_tsc)
			thread->end_tsc = thread->start_tsc;
		return true;
	case PROFILE_STREAM_SYMBOLS:
		return symbol->name.length > 0;
	case PROFILE_STREAM_OBJECTS:
		if (object->kind > PROFILE_OBJECT_UNSEEN)
			object->kind = PROFILE_OBJECT_UNKNOWN;
		if (object->type > PROFILE_SYNC_ONCE)
			object->type = PROFILE_SYNC_UNKNOWN;
		return true;
	default:
		return true;
	}
}

/* Drops the lost records. */
static TBRW_U32 check_stream(struct profile_reader *reader, enum profile_stream stream)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	const struct profile_references fields = profile_stream_references(stream);
	struct profile_records *records = &reader->records[stream];
	size_t size = spec->record_size;
	char *items = records->items;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < records->count; i++) {
		char *record = items + i * size;
		if (!add_texts(reader, spec, fields.texts, record))
			return VT_NO_MEMORY;
		if (!profile_reader_check(reader, stream, fields.indices, i, record) ||
		    !mend(stream, record))
			continue;
		if (kept != i)
			memmove(items + kept * size, record, size);
		kept++;
	}
	records->count = kept;
	while (records->count < spec->preset_count)
		if (!grow_by_one(records, size))
			return VT_NO_MEMORY;
	return VT_SUCCESS;
}

/* Hangs a node whose references lead nowhere below the root, as an unknown frame if need be, and
 * marks it and all below it: their stacks are not whole. */
static TBRW_U32 repair_nodes(struct profile_reader *reader)
{
	const struct profile_records *records = &reader->records[PROFILE_STREAM_NODES];
	struct profile_records *frames = &reader->records[PROFILE_STREAM_FRAMES];
	struct profile_node *nodes = records->items;
	uint32_t unknown_frame = PROFILE_NONE;

	reader->node_damaged = calloc(records->count, 1);
	if (!reader->node_damaged)
		return VT_NO_MEMORY;
	for (uint32_t i = 1; i < records->count; i++) {
		struct profile_node *node = &nodes[i];
		bool is_broken = node->parent == PROFILE_NONE || node->frame == PROFILE_NONE;
		if (node->parent == PROFILE_NONE)
			node->parent = 0;
		reader->node_damaged[i] = is_broken || reader->node_damaged[node->parent];
		if (node->frame != PROFILE_NONE)
			continue;
		if (unknown_frame == PROFILE_NONE) {
			unknown_frame = frames->count;
			if (!grow_by_one(frames, sizeof(struct profile_frame)))
				return VT_NO_MEMORY;
		}
		node->frame = unknown_frame;
	}
	return VT_SUCCESS;
}

static TBRW_U32 check_nodes(struct profile_reader *reader)
{
	const struct profile_records *records = &reader->records[PROFILE_STREAM_NODES];
	struct profile_node *nodes = records->items;

	assert(records->count >= profile_stream_spec(PROFILE_STREAM_NODES)->preset_count);
	nodes[0] = (struct profile_node){.parent = PROFILE_NONE, .frame = PROFILE_NONE};
	for (uint32_t i = 1; i < records->count; i++)
		if (nodes[i].parent == PROFILE_NONE || nodes[i].frame == PROFILE_NONE)
			return repair_nodes(reader);
	return VT_SUCCESS;
}

static void take_thread(struct profile_reader *reader, const struct profile_thread *record)
{
	reader->threads[reader->thread_count++] = (struct profile_thread_info){
		.pid = record->pid,
		.tid = record->tid,
		.process = PROFILE_NONE,
		.samples = record->samples,
		.flags = record->flags,
		.start_tsc = record->start_tsc,
		.end_tsc = record->end_tsc,
		.cpu_ns = record->cpu_ns,
		.rest_ns = record->rest_ns,
		.sampled_ns = record->sampled_ns,
		.kernel_ns = record->kernel_ns,
		.unseen_ns = record->unseen_ns,
		.name = profile_reader_text(reader, record->name),
	};
}

static TBRW_U32 take_threads(struct profile_reader *reader)
{
	const struct profile_records *records = &reader->records[PROFILE_STREAM_THREADS];
	const struct profile_thread *items = records->items;

	reader->threads = calloc(records->count ? records->count : 1, sizeof(*reader->threads));
	if (!reader->threads)
		return VT_NO_MEMORY;
	for (uint32_t i = 0; i < records->count; i++)
		take_thread(reader, &items[i]);
	return VT_SUCCESS;
}

static TBRW_U32 check_and_take(struct profile_reader *reader, enum profile_stream stream)
{
	TBRW_U32 code = check_stream(reader, stream);

	if (code == VT_SUCCESS && stream == PROFILE_STREAM_NODES)
		code = check_nodes(reader);
	if (code == VT_SUCCESS && stream == PROFILE_STREAM_THREADS)
		code = take_threads(reader);
	return code;
}

TBRW_U32 profile_reader_load_records(struct profile_reader *reader, enum profile_stream first,
				     enum profile_stream end)
{
	TBRW_U32 code = VT_SUCCESS;

	for (unsigned id = first; id < end && code == VT_SUCCESS; id++) {
		enum profile_written written = profile_stream_spec(id)->written;
		if (written != PROFILE_WRITTEN_WITH_SAMPLE && written != PROFILE_WRITTEN_STREAMED)
			code = profile_reader_load(reader, id);
		if (profile_stream_is_text(id))
			profile_texts_init(&reader->texts[id], reader->records[id].count);
	}
	for (unsigned id = first; id < end && code == VT_SUCCESS; id++)
		if (!profile_stream_is_text(id))
			code = check_and_take(reader, id);
	for (unsigned id = first; id < end; id++) {
		if (!profile_stream_is_text(id))
			continue;
		free(reader->records[id].items);
		reader->records[id] = (struct profile_records){0};
	}
	return code;
}

/* By frame; those of one frame inner to outer. */
static int compare_symbols(const void *left, const void *right)
{
	const struct profile_symbol *a = left, *b = right;
	int order = compare_numbers(a->frame, b->frame);

	return order ? order : compare_numbers(a->depth, b->depth);
}

TBRW_U32 profile_reader_index_symbols(struct profile_reader *reader)
{
	struct profile_records *records = &reader->records[PROFILE_STREAM_SYMBOLS];
	struct profile_symbol *symbols = records->items;
	size_t size = (size_t)reader->records[PROFILE_STREAM_FRAMES].count + 1;
	bool is_sorted = true;
	uint32_t *first = calloc(size, sizeof(*first));

	if (!first)
		return VT_NO_MEMORY;
	reader->symbol_first = first;
	for (uint32_t i = 0; i < records->count; i++) {
		assert(symbols[i].frame < size - 1);
		first[symbols[i].frame + 1]++;
		is_sorted = is_sorted && (i == 0 || symbols[i - 1].frame <= symbols[i].frame);
	}
	for (size_t i = 1; i < size; i++)
		first[i] += first[i - 1];
	if (!is_sorted)
		qsort(symbols, records->count, sizeof(*symbols), compare_symbols);
	return VT_SUCCESS;
}
