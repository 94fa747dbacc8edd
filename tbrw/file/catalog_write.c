#include "tbrw/file/catalog.h"
#include "tbrw/file/file.h"
#include <assert.h>
#include <stdlib.h>

#define RECORDS_EACH (TB5_BUFFER_SIZE / (uint32_t)sizeof(struct tb5_list_record))
#define INDEX_PIECE  (TB5_BUFFER_SIZE / (uint32_t)sizeof(struct tb5_index_entry))

/* The index grows in memory while its lists are written. */
struct index_writer {
	struct tb5_file *file;
	struct tb5_index_entry *entries;
	size_t count;
	size_t capacity;
	struct tb5_list_record *records; /* of the chunk of lists to come */
	uint32_t record_count;
	uint64_t lists_stored;
};

static TBRW_U32 flush_records(struct index_writer *w)
{
	struct tb5_chunk_header header = {.kind = TB5_KIND_LISTS,
					  .stream = TB5_NO_STREAM,
					  .length = w->record_count * (uint32_t)sizeof(*w->records),
					  .start = w->lists_stored};
	uint64_t offset;

	if (!w->record_count)
		return VT_SUCCESS;
	TBRW_U32 code = tb5_store_append(&w->file->store, &header, w->records, &offset);
	w->lists_stored += header.length;
	w->record_count = 0;
	return code;
}

static TBRW_U32 add_entry(struct index_writer *w, struct tb5_index_entry entry)
{
	if (!array_reserve(&w->entries, &w->capacity, w->count + 1, sizeof(*w->entries)))
		return VT_NO_MEMORY;
	w->entries[w->count++] = entry;
	return VT_SUCCESS;
}

static TBRW_U32 add_mark(struct index_writer *w, enum tb5_kind kind, unsigned content,
			 uint32_t stream)
{
	return add_entry(w, (struct tb5_index_entry){.kind = (uint16_t)kind,
						     .content = (uint16_t)content,
						     .stream = stream});
}

static TBRW_U32 add_list(struct index_writer *w, const struct tb5_seq *seq,
			 const struct tb5_list *list)
{
	return add_entry(w,
			 (struct tb5_index_entry){list->offset, TB5_KIND_LISTS, seq->content,
						  seq->stream, list->end, list->size, list->crc});
}

/* A list of as many extents from `first` on as fit into the chunk of lists. This chunk comes next
 * in the file: nothing else may be appended before its flush. */
static TBRW_U32 list_some(struct index_writer *w, const struct tb5_seq *seq, size_t first,
			  size_t *listed)
{
	size_t left = seq->extents.count - first;
	uint32_t room = RECORDS_EACH - w->record_count;
	uint32_t n = left < room ? (uint32_t)left : room;
	uint64_t offset = w->file->store.end + sizeof(struct tb5_chunk_header) +
			  w->record_count * sizeof(*w->records);
	struct tb5_list list =
		tb5_extents_list(&seq->extents, first, n, offset, w->records + w->record_count);

	w->record_count += n;
	assert(w->record_count <= RECORDS_EACH);
	*listed = n;
	return add_list(w, seq, &list);
}

/* The old lists of a file with additions stay in use. */
static TBRW_U32 add_seq(struct index_writer *w, const struct tb5_seq *seq)
{
	const struct tb5_extents *extents = &seq->extents;
	TBRW_U32 code = VT_SUCCESS;
	size_t listed;

	for (size_t i = 0; code == VT_SUCCESS && i < extents->list_count; i++)
		code = add_list(w, seq, &extents->lists[i]);
	for (size_t i = extents->listed; code == VT_SUCCESS && i < extents->count; i += listed) {
		if (w->record_count == RECORDS_EACH)
			code = flush_records(w);
		listed = 0;
		if (code == VT_SUCCESS)
			code = list_some(w, seq, i, &listed);
	}
	return code;
}

static TBRW_U32 add_stream(struct index_writer *w, uint32_t number)
{
	struct tb5_stream *stream = w->file->streams[number];
	TBRW_U32 code = add_mark(w, TB5_KIND_STREAM_OPEN, 0, number);

	assert(stream->whole.state != TB5_WRITING);
	if (stream->dropped && code == VT_SUCCESS)
		return add_mark(w, TB5_KIND_STREAM_DROPPED, 0, number);
	for (unsigned c = TB5_STREAM_FIRST; code == VT_SUCCESS && c < TB5_STREAM_END; c++)
		code = add_seq(w, tb5_stream_seq(stream, c));
	for (unsigned s = 0; code == VT_SUCCESS && s < TB5_STREAM_SECTIONS; s++)
		if (stream->sections[s].state == TB5_DONE)
			code = add_mark(w, TB5_KIND_SECTION_DONE, s, number);
	return code == VT_SUCCESS ? add_mark(w, TB5_KIND_STREAM_DONE, 0, number) : code;
}

static TBRW_U32 add_all(struct index_writer *w)
{
	struct tb5_file *file = w->file;
	TBRW_U32 code = add_seq(w, &file->strings.seq);

	for (unsigned c = TB5_GLOBAL_FIRST; code == VT_SUCCESS && c < TB5_GLOBAL_END; c++)
		code = add_seq(w, tb5_file_seq(file, c));
	for (unsigned s = 0; code == VT_SUCCESS && s < TB5_GLOBAL_SECTIONS; s++)
		if (file->sections[s].state == TB5_DONE)
			code = add_mark(w, TB5_KIND_SECTION_DONE, s, TB5_NO_STREAM);
	for (uint32_t n = 0; code == VT_SUCCESS && n < file->stream_count; n++)
		code = add_stream(w, n);
	return code == VT_SUCCESS ? flush_records(w) : code;
}

/* Appends the index in pieces. */
static TBRW_U32 write_index(struct tb5_store *store, const struct tb5_index_entry *entries,
			    size_t count)
{
	struct tb5_chunk_header header = {.kind = TB5_KIND_INDEX, .stream = TB5_NO_STREAM};
	uint64_t offset;
	TBRW_U32 code = VT_SUCCESS;

	for (size_t i = 0; code == VT_SUCCESS && i < count; i += INDEX_PIECE) {
		size_t n = count - i < INDEX_PIECE ? count - i : INDEX_PIECE;

		header.length = (uint32_t)(n * sizeof(*entries));
		code = tb5_store_append(store, &header, entries + i, &offset);
		header.start += header.length;
	}
	return code;
}

/* Appends the end chunk, which vouches for everything before: all of it has to be on the disk
 * first, and an end chunk that fails to get there is taken back. */
static TBRW_U32 write_end(struct tb5_store *store, uint64_t index_offset, uint64_t index_size)
{
	struct tb5_chunk_header header = {.kind = TB5_KIND_END,
					  .stream = TB5_NO_STREAM,
					  .length = sizeof(struct tb5_end)};
	struct tb5_end end = {.index_offset = index_offset, .index_size = index_size};
	uint64_t offset;

	/* Before the syncs: afterwards the file system would have to wait once more. */
	tb5_store_give_back(store);
	TBRW_U32 code = tb5_store_sync(store);
	if (code != VT_SUCCESS)
		return code;
	end.file_size = store->end + tb5_chunk_space(sizeof(end));
	code = tb5_store_append(store, &header, &end, &offset);
	if (code != VT_SUCCESS)
		return code;
	assert(end.file_size == store->end);
	code = tb5_store_sync(store);
	if (code != VT_SUCCESS)
		tb5_store_truncate(store, offset);
	return code;
}

TBRW_U32 tb5_catalog_write(struct tb5_file *file)
{
	struct index_writer w = {.file = file, .records = malloc(TB5_BUFFER_SIZE)};
	TBRW_U32 code = w.records ? add_all(&w) : VT_NO_MEMORY;
	uint64_t index_offset = file->store.end;

	assert(code != VT_SUCCESS || w.record_count == 0);
	if (code == VT_SUCCESS)
		code = write_index(&file->store, w.entries, w.count);
	if (code == VT_SUCCESS)
		code = write_end(&file->store, index_offset, w.count * sizeof(*w.entries));
	free(w.records);
	free(w.entries);
	return code;
}
