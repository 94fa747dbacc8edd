/* The records that are bounded by modules and distinct stacks: loaded at once, and every index and
 * text reference in them checked, so that nobody behind the reader has to. */
#include "tbrw/profile/reader_private.h"

#include <stdlib.h>
#include <string.h>

/* A text stream while references to it are resolved. */
struct blob {
	void *bytes;
	uint32_t size;
};

/* Adds one zeroed record at the end. */
static void *grow_by_one(void *records, uint32_t *count, size_t size)
{
	char *grown = reallocarray(records, (size_t)*count + 1, size);

	if (grown)
		memset(grown + (*count)++ * size, 0, size);
	return grown;
}

static TBRW_U32 load_images(struct profile_reader *reader, const struct blob *blob)
{
	void *records;
	TBRW_U32 code = profile_reader_load(reader, PROFILE_STREAM_ID_IMAGES, &records,
					    &reader->image_count);

	reader->images = records;
	if (code != VT_SUCCESS)
		return code;
	if (reader->image_count == 0) {
		reader->images = grow_by_one(NULL, &reader->image_count, sizeof(*reader->images));
		return reader->images ? VT_SUCCESS : VT_NO_MEMORY;
	}
	for (uint32_t i = 0; i < reader->image_count; i++) {
		struct profile_image *image = &reader->images[i];
		if (image->build_id_size > sizeof(image->build_id))
			image->build_id_size = 0;
		if (image->kind > PROFILE_IMAGE_KERNEL)
			image->kind = PROFILE_IMAGE_UNKNOWN;
		if (!profile_texts_add(&reader->texts, blob->bytes, blob->size, &image->path))
			return VT_NO_MEMORY;
	}
	return VT_SUCCESS;
}

static TBRW_U32 load_frames(struct profile_reader *reader)
{
	void *records;
	TBRW_U32 code = profile_reader_load(reader, PROFILE_STREAM_ID_FRAMES, &records,
					    &reader->frame_count);

	reader->frames = records;
	for (uint32_t i = 0; i < reader->frame_count; i++)
		if (reader->frames[i].image >= reader->image_count)
			reader->frames[i].image = 0;
	return code;
}

static bool node_is_sound(const struct profile_reader *reader, uint32_t index)
{
	return reader->nodes[index].parent < index &&
	       reader->nodes[index].frame < reader->frame_count;
}

/* Hangs a node whose references lead nowhere below the root, as an unknown frame if need be, and
 * marks it and all below it: their stacks are not whole. */
static TBRW_U32 repair_nodes(struct profile_reader *reader)
{
	uint32_t unknown_frame = PROFILE_NONE;

	reader->node_damaged = calloc(reader->node_count, 1);
	if (!reader->node_damaged)
		return VT_NO_MEMORY;
	for (uint32_t i = 1; i < reader->node_count; i++) {
		struct profile_node *node = &reader->nodes[i];
		if (node->parent >= i) {
			node->parent = 0;
			reader->node_damaged[i] = 1;
		}
		if (reader->node_damaged[node->parent])
			reader->node_damaged[i] = 1;
		if (node->frame < reader->frame_count && node->frame != unknown_frame)
			continue;
		reader->node_damaged[i] = 1;
		if (unknown_frame == PROFILE_NONE) {
			struct profile_frame *frames =
				grow_by_one(reader->frames, &reader->frame_count, sizeof(*frames));
			if (!frames)
				return VT_NO_MEMORY;
			reader->frames = frames;
			unknown_frame = reader->frame_count - 1;
		}
		node->frame = unknown_frame;
	}
	return VT_SUCCESS;
}

static TBRW_U32 load_nodes(struct profile_reader *reader)
{
	void *records;
	TBRW_U32 code =
		profile_reader_load(reader, PROFILE_STREAM_ID_NODES, &records, &reader->node_count);
	bool is_sound = true;

	reader->nodes = records;
	if (code != VT_SUCCESS)
		return code;
	if (reader->node_count == 0)
		reader->nodes = grow_by_one(NULL, &reader->node_count, sizeof(*reader->nodes));
	if (!reader->nodes)
		return VT_NO_MEMORY;
	reader->nodes[0] = (struct profile_node){.parent = PROFILE_NONE, .frame = PROFILE_NONE};
	for (uint32_t i = 1; i < reader->node_count && is_sound; i++)
		is_sound = node_is_sound(reader, i);
	return is_sound ? VT_SUCCESS : repair_nodes(reader);
}

static TBRW_U32 load_clocks(struct profile_reader *reader)
{
	void *records;
	TBRW_U32 code = profile_reader_load(reader, PROFILE_STREAM_ID_CLOCK, &records,
					    &reader->clock_count);

	reader->clocks = records;
	return code;
}

static TBRW_U32 load_notes(struct profile_reader *reader, const struct blob *blob)
{
	void *records;
	TBRW_U32 code =
		profile_reader_load(reader, PROFILE_STREAM_ID_NOTES, &records, &reader->note_count);

	reader->notes = records;
	for (uint32_t i = 0; i < reader->note_count; i++)
		if (!profile_texts_add(&reader->texts, blob->bytes, blob->size,
				       &reader->notes[i].text))
			return VT_NO_MEMORY;
	return code;
}

static void take_thread(struct profile_reader *reader, const struct profile_thread *record,
			struct profile_text name)
{
	reader->threads[reader->thread_count++] = (struct profile_thread_info){
		.pid = record->pid,
		.tid = record->tid,
		.process = PROFILE_NONE,
		.samples = record->samples,
		.flags = record->flags,
		.start_tsc = record->start_tsc,
		.end_tsc =
			record->end_tsc < record->start_tsc ? record->start_tsc : record->end_tsc,
		.cpu_ns = record->cpu_ns,
		.rest_ns = record->rest_ns,
		.sampled_ns = record->sampled_ns,
		.kernel_ns = record->kernel_ns,
		.unseen_ns = record->unseen_ns,
		.name = profile_texts_get(&reader->texts, name),
	};
}

static TBRW_U32 load_threads(struct profile_reader *reader, const struct blob *blob)
{
	void *loaded;
	uint32_t count;
	TBRW_U32 code = profile_reader_load(reader, PROFILE_STREAM_ID_THREADS, &loaded, &count);

	if (code != VT_SUCCESS)
		return code;
	const struct profile_thread *records = loaded;
	reader->threads = calloc(count ? count : 1, sizeof(*reader->threads));
	if (!reader->threads)
		code = VT_NO_MEMORY;
	for (uint32_t i = 0; code == VT_SUCCESS && i < count; i++) {
		struct profile_text name = records[i].name;
		if (!profile_texts_add(&reader->texts, blob->bytes, blob->size, &name))
			code = VT_NO_MEMORY;
		else
			take_thread(reader, &records[i], name);
	}
	free(loaded);
	return code;
}

static bool unwinding_is_sound(const struct profile_reader *reader,
			       const struct profile_unwinding *unwinding)
{
	switch (unwinding->kind) {
	case PROFILE_UNWINDING_THREAD:
		return unwinding->subject < reader->thread_count;
	case PROFILE_UNWINDING_IMAGE:
		return unwinding->subject < reader->image_count;
	default:
		return false;
	}
}

/* Drops those of threads and images that are not there, and of kinds that came later. */
static TBRW_U32 load_unwindings(struct profile_reader *reader)
{
	void *records;
	uint32_t count;
	TBRW_U32 code = profile_reader_load(reader, PROFILE_STREAM_ID_UNWINDING, &records, &count);

	reader->unwindings = records;
	for (uint32_t i = 0; i < count; i++)
		if (unwinding_is_sound(reader, &reader->unwindings[i]))
			reader->unwindings[reader->unwinding_count++] = reader->unwindings[i];
	return code;
}

TBRW_U32 profile_reader_load_records(struct profile_reader *reader)
{
	struct blob blob;
	TBRW_U32 code =
		profile_reader_load(reader, PROFILE_STREAM_ID_STRINGS, &blob.bytes, &blob.size);

	profile_texts_init(&reader->texts, blob.size);
	if (code == VT_SUCCESS)
		code = load_images(reader, &blob);
	if (code == VT_SUCCESS)
		code = load_frames(reader);
	if (code == VT_SUCCESS)
		code = load_nodes(reader);
	if (code == VT_SUCCESS)
		code = load_clocks(reader);
	if (code == VT_SUCCESS)
		code = load_notes(reader, &blob);
	if (code == VT_SUCCESS)
		code = load_threads(reader, &blob);
	if (code == VT_SUCCESS)
		code = load_unwindings(reader);
	free(blob.bytes);
	return code;
}

/* Keeps the symbols that belong to a frame and have a name, and resolves their texts. */
static TBRW_U32 check_symbols(struct profile_reader *reader, const struct blob *blob,
			      bool *is_sorted)
{
	uint32_t kept = 0;

	*is_sorted = true;
	for (uint32_t i = 0; i < reader->symbol_count; i++) {
		struct profile_symbol *symbol = &reader->symbols[i];
		if (!profile_texts_add(&reader->symtexts, blob->bytes, blob->size, &symbol->name) ||
		    !profile_texts_add(&reader->symtexts, blob->bytes, blob->size, &symbol->full) ||
		    !profile_texts_add(&reader->symtexts, blob->bytes, blob->size, &symbol->file))
			return VT_NO_MEMORY;
		if (symbol->frame >= reader->frame_count || symbol->name.length == 0)
			continue;
		if (kept > 0 && reader->symbols[kept - 1].frame > symbol->frame)
			*is_sorted = false;
		reader->symbols[kept++] = *symbol;
	}
	reader->symbol_count = kept;
	return VT_SUCCESS;
}

/* Counting sort by frame: the order of a frame's symbols, inner to outer, stays. */
static TBRW_U32 index_symbols(struct profile_reader *reader, bool is_sorted)
{
	size_t size = (size_t)reader->frame_count + 1;
	uint32_t *first = calloc(size, sizeof(*first));

	if (!first)
		return VT_NO_MEMORY;
	reader->symbol_first = first;
	for (uint32_t i = 0; i < reader->symbol_count; i++)
		first[reader->symbols[i].frame + 1]++;
	for (size_t i = 1; i < size; i++)
		first[i] += first[i - 1];
	if (is_sorted)
		return VT_SUCCESS;
	struct profile_symbol *sorted =
		reallocarray(NULL, reader->symbol_count, sizeof(*reader->symbols));
	uint32_t *next = reallocarray(NULL, size, sizeof(*next));
	if (!sorted || !next) {
		free(sorted);
		free(next);
		return VT_NO_MEMORY;
	}
	memcpy(next, first, size * sizeof(*next));
	for (uint32_t i = 0; i < reader->symbol_count; i++)
		sorted[next[reader->symbols[i].frame]++] = reader->symbols[i];
	free(next);
	free(reader->symbols);
	reader->symbols = sorted;
	return VT_SUCCESS;
}

TBRW_U32 profile_reader_load_symbols(struct profile_reader *reader)
{
	struct blob blob;
	void *records;
	bool is_sorted = true;
	TBRW_U32 code =
		profile_reader_load(reader, PROFILE_STREAM_ID_SYMTEXT, &blob.bytes, &blob.size);

	profile_texts_init(&reader->symtexts, blob.size);
	if (code == VT_SUCCESS) {
		code = profile_reader_load(reader, PROFILE_STREAM_ID_SYMBOLS, &records,
					   &reader->symbol_count);
		reader->symbols = records;
	}
	if (code == VT_SUCCESS)
		code = check_symbols(reader, &blob, &is_sorted);
	free(blob.bytes);
	return code == VT_SUCCESS ? index_symbols(reader, is_sorted) : code;
}
