#include "tbrw/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "tbrw/crc32c.h"

#define END_SPACE (sizeof(struct tb5_chunk_header) + sizeof(struct tb5_end))

static TBRW_U32 apply_bytes(struct tb5_file *file, const struct tb5_index_entry *e)
{
	struct tb5_extent extent = {e->offset + sizeof(struct tb5_chunk_header), e->start,
				    e->length, e->payload_crc};
	struct tb5_section *section;
	struct tb5_seq *seq;
	TBRW_U32 ret;

	/* An entry of the index is as little to be trusted as a chunk header. */
	if (e->length > TB5_PAYLOAD_MAX || e->offset > file->store.end ||
	    tb5_chunk_space(e->length) > file->store.end - e->offset)
		return VT_INVALID_SAMPLE_FILE;
	if (e->content == TB5_STRINGS)
		return tb5_seq_add_extent(&file->strings.seq, &extent);
	if (e->content >= TB5_GLOBAL_FIRST && e->content < TB5_GLOBAL_END) {
		seq = tb5_file_seq(file, e->content);
		section = &file->sections[tb5_content_section(e->content)];
	} else if (e->content >= TB5_STREAM_FIRST && e->content < TB5_STREAM_END) {
		if (e->stream >= file->stream_count || file->streams[e->stream]->dropped)
			return VT_INVALID_SAMPLE_FILE;
		seq = tb5_stream_seq(file->streams[e->stream], e->content);
		section = &file->streams[e->stream]->sections[tb5_content_section(e->content)];
	} else {
		return VT_SUCCESS;
	}
	if (section->state == TB5_DONE)
		return VT_INVALID_SAMPLE_FILE;
	ret = tb5_seq_add_extent(seq, &extent);
	if (ret == VT_SUCCESS)
		section->state = TB5_PARTIAL;
	return ret;
}

static TBRW_U32 apply_section_done(struct tb5_file *file, const struct tb5_index_entry *e)
{
	struct tb5_section *section;

	if (e->stream == TB5_NO_STREAM) {
		if (e->content >= TB5_GLOBAL_SECTIONS)
			return VT_INVALID_SAMPLE_FILE;
		section = &file->sections[e->content];
	} else {
		if (e->stream >= file->stream_count || e->content >= TB5_STREAM_SECTIONS)
			return VT_INVALID_SAMPLE_FILE;
		section = &file->streams[e->stream]->sections[e->content];
	}
	if (section->state == TB5_DONE)
		return VT_INVALID_SAMPLE_FILE;
	section->state = TB5_DONE;
	return VT_SUCCESS;
}

static TBRW_U32 apply_stream(struct tb5_file *file, const struct tb5_index_entry *e)
{
	struct tb5_stream *stream;
	TBRW_U32 ret;

	if (e->kind == TB5_KIND_STREAM_OPEN) {
		if (e->stream != file->stream_count)
			return VT_INVALID_SAMPLE_FILE;
		ret = tb5_file_add_stream(file, &file->store, &stream);
		if (ret == VT_SUCCESS)
			stream->whole.state = TB5_PARTIAL;
		return ret == VT_INVALID_STREAM ? VT_INVALID_SAMPLE_FILE : ret;
	}
	if (e->stream >= file->stream_count || file->streams[e->stream]->dropped)
		return VT_INVALID_SAMPLE_FILE;
	if (e->kind == TB5_KIND_STREAM_DROPPED)
		file->streams[e->stream]->dropped = true;
	else if (file->streams[e->stream]->whole.state == TB5_DONE)
		return VT_INVALID_SAMPLE_FILE;
	else
		file->streams[e->stream]->whole.state = TB5_DONE;
	return VT_SUCCESS;
}

static TBRW_U32 apply(struct tb5_file *file, const struct tb5_index_entry *e)
{
	switch (e->kind) {
	case TB5_KIND_BYTES:
		return apply_bytes(file, e);
	case TB5_KIND_SECTION_DONE:
		return apply_section_done(file, e);
	case TB5_KIND_STREAM_OPEN:
	case TB5_KIND_STREAM_DONE:
	case TB5_KIND_STREAM_DROPPED:
		return apply_stream(file, e);
	default:
		return VT_SUCCESS;
	}
}

/* Empties what a failed attempt to load has filled. */
static void catalog_reset(struct tb5_file *file)
{
	tb5_file_remove_streams(file, 0);
	memset(file->sections, 0, sizeof file->sections);
	tb5_strings_finish(&file->strings);
	tb5_strings_init(&file->strings, &file->store);
	for (unsigned c = TB5_GLOBAL_FIRST; c < TB5_GLOBAL_END; c++) {
		tb5_seq_finish(tb5_file_seq(file, c));
		tb5_seq_init(tb5_file_seq(file, c), (uint16_t)c, TB5_NO_STREAM, &file->store);
	}
}

/* A buffer for payloads, as large as the largest so far. */
struct payload {
	void *bytes;
	uint32_t capacity;
};

/* Reads the payload of a chunk whose header is known, and checks its CRC. */
static TBRW_U32 read_payload(const struct tb5_store *store, uint64_t offset,
			     const struct tb5_chunk_header *header, struct payload *payload)
{
	TBRW_U32 ret;

	if (header->length > payload->capacity) {
		void *grown = realloc(payload->bytes, header->length);

		if (!grown)
			return VT_NO_MEMORY;
		payload->bytes = grown;
		payload->capacity = header->length;
	}
	ret = tb5_store_read(store, offset + sizeof *header, payload->bytes, header->length);
	if (ret == VT_SUCCESS &&
	    tb5_crc32c(0, payload->bytes, header->length) != header->payload_crc)
		ret = VT_INVALID_SAMPLE_FILE;
	return ret;
}

/* Reads the end chunk that ends at `end`. */
static TBRW_U32 read_end(const struct tb5_store *store, uint64_t end, struct payload *payload,
			 struct tb5_end *info)
{
	struct tb5_chunk_header header;
	TBRW_U32 ret;

	if (end < sizeof(struct tb5_file_header) + END_SPACE)
		return VT_INVALID_SAMPLE_FILE;
	ret = tb5_store_read_header(store, end - END_SPACE, &header);
	if (ret != VT_SUCCESS)
		return ret;
	if (header.kind != TB5_KIND_END || header.length != sizeof *info)
		return VT_INVALID_SAMPLE_FILE;
	ret = read_payload(store, end - END_SPACE, &header, payload);
	if (ret != VT_SUCCESS)
		return ret;
	memcpy(info, payload->bytes, sizeof *info);
	return info->file_size == end ? VT_SUCCESS : VT_INVALID_SAMPLE_FILE;
}

/* Applies the entries of one index chunk, which has to continue the index at `loaded`. */
static TBRW_U32 apply_index_chunk(struct tb5_file *file, const struct tb5_chunk_header *header,
				  const struct payload *payload, uint64_t loaded)
{
	const struct tb5_index_entry *entries = payload->bytes;
	TBRW_U32 ret = VT_SUCCESS;

	if (header->kind != TB5_KIND_INDEX || header->start != loaded || !header->length ||
	    header->length % sizeof *entries)
		return VT_INVALID_SAMPLE_FILE;
	for (size_t i = 0; ret == VT_SUCCESS && i < header->length / sizeof *entries; i++)
		ret = apply(file, &entries[i]);
	return ret;
}

/* Applies the index of the file that ends at `end`, where an end chunk has to be. */
static TBRW_U32 catalog_load_index(struct tb5_file *file, uint64_t end)
{
	struct tb5_store store = {file->store.fd, end};
	struct payload payload = {NULL, 0};
	struct tb5_chunk_header header;
	struct tb5_end info = {0, 0, 0, 0};
	uint64_t at, loaded = 0;
	TBRW_U32 ret = read_end(&store, end, &payload, &info);

	at = info.index_offset;
	while (ret == VT_SUCCESS && loaded < info.index_size) {
		ret = tb5_store_read_header(&store, at, &header);
		if (ret == VT_SUCCESS)
			ret = read_payload(&store, at, &header, &payload);
		if (ret == VT_SUCCESS)
			ret = apply_index_chunk(file, &header, &payload, loaded);
		if (ret != VT_SUCCESS)
			break;
		at += tb5_chunk_space(header.length);
		loaded += header.length;
	}
	free(payload.bytes);
	return ret == VT_SUCCESS && loaded != info.index_size ? VT_INVALID_SAMPLE_FILE : ret;
}

/* Applies the whole chunks from the file's start up to the first that is not. *last_end is where
 * the last end chunk among them ends, 0 if there is none. */
static TBRW_U32 catalog_scan(struct tb5_file *file, uint64_t *last_end)
{
	uint64_t at = sizeof(struct tb5_file_header);
	struct payload payload = {NULL, 0};
	struct tb5_chunk_header h;
	TBRW_U32 ret = VT_SUCCESS;

	*last_end = 0;
	while (ret == VT_SUCCESS && at < file->store.end) {
		ret = tb5_store_read_header(&file->store, at, &h);
		if (ret == VT_SUCCESS)
			ret = read_payload(&file->store, at, &h, &payload);
		if (ret == VT_SUCCESS)
			ret = apply(file,
				    &(struct tb5_index_entry){at, h.kind, h.content, h.stream,
							      h.start, h.length, h.payload_crc});
		if (ret == VT_SUCCESS) {
			at += tb5_chunk_space(h.length);
			if (h.kind == TB5_KIND_END)
				*last_end = at;
		}
	}
	free(payload.bytes);
	return ret == VT_INVALID_SAMPLE_FILE ? VT_SUCCESS : ret;
}

TBRW_U32 tb5_catalog_load(struct tb5_file *file)
{
	uint64_t size = file->store.end;
	uint64_t last_end;
	TBRW_U32 ret = catalog_load_index(file, size);

	if (ret != VT_INVALID_SAMPLE_FILE)
		return ret;
	catalog_reset(file);
	ret = catalog_scan(file, &last_end);
	if (ret != VT_SUCCESS)
		return ret;
	if (last_end) {
		catalog_reset(file);
		file->store.end = last_end;
		ret = catalog_load_index(file, last_end);
		if (ret != VT_INVALID_SAMPLE_FILE)
			return ret;
		catalog_reset(file);
		file->store.end = size;
		ret = catalog_scan(file, &last_end);
	}
	file->incomplete = true;
	return ret;
}

struct index_writer {
	struct tb5_file *file;
	struct tb5_index_entry *entries;
	uint32_t count;
	uint64_t stored;
	uint64_t first_offset;
};

#define INDEX_BATCH (TB5_BUFFER_SIZE / sizeof(struct tb5_index_entry))

static TBRW_U32 index_flush(struct index_writer *w)
{
	struct tb5_chunk_header header = {.kind = TB5_KIND_INDEX,
					  .stream = TB5_NO_STREAM,
					  .length = w->count *
						    (uint32_t)sizeof(struct tb5_index_entry),
					  .start = w->stored};
	uint64_t offset;
	TBRW_U32 ret;

	if (!w->count)
		return VT_SUCCESS;
	ret = tb5_store_append(&w->file->store, &header, w->entries, &offset);
	if (ret != VT_SUCCESS)
		return ret;
	if (!w->stored)
		w->first_offset = offset;
	w->stored += header.length;
	w->count = 0;
	return VT_SUCCESS;
}

static TBRW_U32 index_add(struct index_writer *w, struct tb5_index_entry entry)
{
	w->entries[w->count++] = entry;
	return w->count == INDEX_BATCH ? index_flush(w) : VT_SUCCESS;
}

static TBRW_U32 index_mark(struct index_writer *w, enum tb5_kind kind, unsigned content,
			   uint32_t stream)
{
	return index_add(w, (struct tb5_index_entry){.kind = (uint16_t)kind,
						     .content = (uint16_t)content,
						     .stream = stream});
}

static TBRW_U32 index_seq(struct index_writer *w, const struct tb5_seq *seq)
{
	TBRW_U32 ret = VT_SUCCESS;

	for (size_t i = 0; ret == VT_SUCCESS && i < seq->extent_count; i++) {
		const struct tb5_extent *e = &seq->extents[i];

		ret = index_add(w,
				(struct tb5_index_entry){e->offset -
								 sizeof(struct tb5_chunk_header),
							 TB5_KIND_BYTES, seq->content, seq->stream,
							 e->start, e->length, e->crc});
	}
	return ret;
}

static TBRW_U32 index_stream(struct index_writer *w, uint32_t number)
{
	struct tb5_stream *stream = w->file->streams[number];
	TBRW_U32 ret = index_mark(w, TB5_KIND_STREAM_OPEN, 0, number);

	if (stream->dropped && ret == VT_SUCCESS)
		return index_mark(w, TB5_KIND_STREAM_DROPPED, 0, number);
	for (unsigned c = TB5_STREAM_FIRST; ret == VT_SUCCESS && c < TB5_STREAM_END; c++)
		ret = index_seq(w, tb5_stream_seq(stream, c));
	for (unsigned s = 0; ret == VT_SUCCESS && s < TB5_STREAM_SECTIONS; s++)
		if (stream->sections[s].state == TB5_DONE)
			ret = index_mark(w, TB5_KIND_SECTION_DONE, s, number);
	return ret == VT_SUCCESS ? index_mark(w, TB5_KIND_STREAM_DONE, 0, number) : ret;
}

static TBRW_U32 index_all(struct index_writer *w)
{
	struct tb5_file *file = w->file;
	TBRW_U32 ret = index_seq(w, &file->strings.seq);

	for (unsigned c = TB5_GLOBAL_FIRST; ret == VT_SUCCESS && c < TB5_GLOBAL_END; c++)
		ret = index_seq(w, tb5_file_seq(file, c));
	for (unsigned s = 0; ret == VT_SUCCESS && s < TB5_GLOBAL_SECTIONS; s++)
		if (file->sections[s].state == TB5_DONE)
			ret = index_mark(w, TB5_KIND_SECTION_DONE, s, TB5_NO_STREAM);
	for (uint32_t n = 0; ret == VT_SUCCESS && n < file->stream_count; n++)
		ret = index_stream(w, n);
	return ret == VT_SUCCESS ? index_flush(w) : ret;
}

TBRW_U32 tb5_catalog_write(struct tb5_file *file)
{
	struct tb5_chunk_header header = {.kind = TB5_KIND_END,
					  .stream = TB5_NO_STREAM,
					  .length = sizeof(struct tb5_end)};
	struct index_writer w = {.file = file, .first_offset = file->store.end};
	struct tb5_end end;
	uint64_t offset;
	TBRW_U32 ret;

	w.entries = malloc(TB5_BUFFER_SIZE);
	if (!w.entries)
		return VT_NO_MEMORY;
	ret = index_all(&w);
	free(w.entries);
	if (ret != VT_SUCCESS)
		return ret;
	end = (struct tb5_end){w.first_offset, w.stored, file->store.end + END_SPACE, 0};
	return tb5_store_append(&file->store, &header, &end, &offset);
}
