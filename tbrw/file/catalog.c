#include "tbrw/file/catalog.h"

#include "tbrw/file/content.h"
#include "tbrw/file/file.h"
#include <stdlib.h>
#include <string.h>

#define END_SPACE (sizeof(struct tb5_chunk_header) + sizeof(struct tb5_end))

/* A fact of the index or of a chunk. */
struct fact {
	unsigned kind;
	unsigned content;
	uint32_t stream;
	struct tb5_extent extent; /* of TB5_KIND_BYTES */
	struct tb5_list list;     /* of TB5_KIND_LISTS */
	uint64_t *room;           /* as apply_entry has it */
};

/* The least space of a list's chunks in the file. */
static uint64_t list_space(const struct tb5_list *list, uint64_t begin)
{
	uint64_t headers =
		list->size / sizeof(struct tb5_list_record) * sizeof(struct tb5_chunk_header);

	return list->end < begin ? UINT64_MAX : headers + (list->end - begin);
}

/* Adds the bytes of one chunk, or of those in a list, to their sequence. */
static TBRW_U32 add_bytes(struct tb5_seq *seq, const struct fact *f)
{
	if (f->kind == TB5_KIND_BYTES)
		return tb5_extents_add(&seq->extents, &f->extent);
	uint64_t space = list_space(&f->list, seq->extents.end);
	if (space > *f->room)
		return VT_INVALID_SAMPLE_FILE;
	*f->room -= space;
	return tb5_extents_add_list(&seq->extents, &f->list);
}

/* The stream with this number, if opened and not dropped, or NULL. */
static struct tb5_stream *find_stream(struct tb5_file *file, uint32_t number)
{
	if (number >= file->stream_count || file->streams[number]->dropped)
		return NULL;
	return file->streams[number];
}

/* The same, unless the stream is done. */
static struct tb5_stream *find_open_stream(struct tb5_file *file, uint32_t number)
{
	struct tb5_stream *stream = find_stream(file, number);

	return stream && stream->whole.state != TB5_DONE ? stream : NULL;
}

static TBRW_U32 apply_bytes(struct tb5_file *file, const struct fact *f)
{
	struct tb5_section *section;
	struct tb5_stream *stream;
	struct tb5_seq *seq;

	if (f->content == TB5_STRINGS)
		return add_bytes(&file->strings.seq, f);
	if (f->content >= TB5_GLOBAL_FIRST && f->content < TB5_GLOBAL_END) {
		seq = tb5_file_seq(file, f->content);
		section = &file->sections[tb5_content_spec(f->content)->section];
	} else if (f->content >= TB5_STREAM_FIRST && f->content < TB5_STREAM_END) {
		stream = find_open_stream(file, f->stream);
		if (!stream)
			return VT_INVALID_SAMPLE_FILE;
		seq = tb5_stream_seq(stream, f->content);
		section = &stream->sections[tb5_content_spec(f->content)->section];
	} else {
		return VT_SUCCESS;
	}
	if (section->state == TB5_DONE)
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = add_bytes(seq, f);
	if (code == VT_SUCCESS)
		section->state = TB5_PARTIAL;
	return code;
}

static TBRW_U32 apply_section_done(struct tb5_file *file, const struct fact *f)
{
	bool is_global = f->stream == TB5_NO_STREAM;
	struct tb5_stream *stream = is_global ? NULL : find_open_stream(file, f->stream);

	if (!is_global && !stream)
		return VT_INVALID_SAMPLE_FILE;
	if (f->content >= (is_global ? TB5_GLOBAL_SECTIONS : TB5_STREAM_SECTIONS))
		return VT_SUCCESS;
	struct tb5_section *section =
		is_global ? &file->sections[f->content] : &stream->sections[f->content];
	if (section->state == TB5_DONE)
		return VT_INVALID_SAMPLE_FILE;
	section->state = TB5_DONE;
	return VT_SUCCESS;
}

static TBRW_U32 apply_stream_open(struct tb5_file *file, const struct fact *f)
{
	struct tb5_stream *stream;

	if (f->stream != file->stream_count)
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = tb5_file_add_stream(file, &file->store, &stream);
	if (code == VT_SUCCESS)
		stream->whole.state = TB5_PARTIAL;
	return code == VT_INVALID_STREAM ? VT_INVALID_SAMPLE_FILE : code;
}

static TBRW_U32 apply_stream_end(struct tb5_file *file, const struct fact *f)
{
	bool is_dropped = f->kind == TB5_KIND_STREAM_DROPPED;
	struct tb5_stream *stream =
		is_dropped ? find_stream(file, f->stream) : find_open_stream(file, f->stream);

	if (!stream)
		return VT_INVALID_SAMPLE_FILE;
	if (is_dropped)
		stream->dropped = true;
	else
		stream->whole.state = TB5_DONE;
	return VT_SUCCESS;
}

static TBRW_U32 apply(struct tb5_file *file, const struct fact *f)
{
	switch (f->kind) {
	case TB5_KIND_BYTES:
	case TB5_KIND_LISTS:
		return apply_bytes(file, f);
	case TB5_KIND_SECTION_DONE:
		return apply_section_done(file, f);
	case TB5_KIND_STREAM_OPEN:
		return apply_stream_open(file, f);
	case TB5_KIND_STREAM_DONE:
	case TB5_KIND_STREAM_DROPPED:
		return apply_stream_end(file, f);
	default:
		return VT_SUCCESS;
	}
}

/* Undoes a failed attempt to load. */
static void catalog_reset(struct tb5_file *file)
{
	tb5_file_remove_streams(file, 0);
	memset(file->sections, 0, sizeof(file->sections));
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
	size_t capacity;
};

/* Reads the payload of a chunk whose header is known, and checks its CRC. */
static TBRW_U32 read_payload(const struct tb5_store *store, uint64_t offset,
			     const struct tb5_chunk_header *header, struct payload *payload)
{
	if (!array_reserve(&payload->bytes, &payload->capacity, header->length, 1))
		return VT_NO_MEMORY;
	return tb5_store_read_payload(store, offset, header, payload->bytes);
}

/* Reads the end chunk before `end`. */
static TBRW_U32 read_end(const struct tb5_store *store, uint64_t end, struct payload *payload,
			 struct tb5_end *info)
{
	struct tb5_chunk_header header;

	if (end < sizeof(struct tb5_file_header) + END_SPACE)
		return VT_INVALID_SAMPLE_FILE;
	TBRW_U32 code = tb5_store_read_header(store, end - END_SPACE, &header);
	if (code != VT_SUCCESS)
		return code;
	if (header.kind != TB5_KIND_END || header.length != sizeof(*info))
		return VT_INVALID_SAMPLE_FILE;
	code = read_payload(store, end - END_SPACE, &header, payload);
	if (code != VT_SUCCESS)
		return code;
	memcpy(info, payload->bytes, sizeof(*info));
	return info->file_size == end ? VT_SUCCESS : VT_INVALID_SAMPLE_FILE;
}

/* Applies one entry of an index. *room is the file's space not claimed by a list yet: sequences,
 * and lists in memory, cannot get larger than the file allows. */
static TBRW_U32 apply_entry(struct tb5_file *file, const struct tb5_index_entry *e, uint64_t *room)
{
	struct fact fact = {.kind = e->kind,
			    .content = e->content,
			    .stream = e->stream,
			    .list = {e->offset, e->end, e->size, e->crc}};

	/* An index names chunks of bytes by their lists only. */
	if (e->kind == TB5_KIND_BYTES)
		return VT_INVALID_SAMPLE_FILE;
	if (e->kind == TB5_KIND_LISTS &&
	    (e->offset > file->store.end || e->size > file->store.end - e->offset))
		return VT_INVALID_SAMPLE_FILE;
	fact.room = room;
	return apply(file, &fact);
}

/* Applies the entries of one index chunk; the chunk must continue the index at `loaded`. */
static TBRW_U32 apply_index_chunk(struct tb5_file *file, const struct tb5_chunk_header *header,
				  const struct payload *payload, uint64_t loaded, uint64_t *room)
{
	const struct tb5_index_entry *entries = payload->bytes;
	TBRW_U32 code = VT_SUCCESS;

	if (header->kind != TB5_KIND_INDEX || header->start != loaded || !header->length ||
	    header->length % sizeof(*entries))
		return VT_INVALID_SAMPLE_FILE;
	for (size_t i = 0; code == VT_SUCCESS && i < header->length / sizeof(*entries); i++)
		code = apply_entry(file, &entries[i], room);
	return code;
}

/* Applies the index of the end chunk that must be right before `end`. */
static TBRW_U32 catalog_load_index(struct tb5_file *file, uint64_t end)
{
	struct tb5_store store = {.fd = file->store.fd, .end = end};
	struct payload payload = {NULL, 0};
	struct tb5_chunk_header header;
	struct tb5_end info = {0, 0, 0, 0};
	uint64_t at, loaded = 0, room = end;
	TBRW_U32 code = read_end(&store, end, &payload, &info);

	at = info.index_offset;
	while (code == VT_SUCCESS && loaded < info.index_size) {
		code = tb5_store_read_header(&store, at, &header);
		if (code == VT_SUCCESS)
			code = read_payload(&store, at, &header, &payload);
		if (code == VT_SUCCESS)
			code = apply_index_chunk(file, &header, &payload, loaded, &room);
		if (code != VT_SUCCESS)
			break;
		at += tb5_chunk_space(header.length);
		loaded += header.length;
	}
	free(payload.bytes);
	return code == VT_SUCCESS && loaded != info.index_size ? VT_INVALID_SAMPLE_FILE : code;
}

static TBRW_U32 apply_chunk(struct tb5_file *file, uint64_t at, const struct tb5_chunk_header *h)
{
	/* Lists are read by way of the index. */
	if (h->kind == TB5_KIND_LISTS)
		return VT_SUCCESS;
	return apply(file, &(struct fact){.kind = h->kind,
					  .content = h->content,
					  .stream = h->stream,
					  .extent = {at + sizeof(*h), h->start, h->length,
						     h->payload_crc}});
}

/* Applies the chunks from the file's start up to the first damaged one, at *whole. *last_end
 * becomes the end of the last end chunk among them, 0 if there is none. */
static TBRW_U32 catalog_scan(struct tb5_file *file, uint64_t *last_end, uint64_t *whole)
{
	uint64_t at = sizeof(struct tb5_file_header);
	struct payload payload = {NULL, 0};
	struct tb5_chunk_header h;
	TBRW_U32 code = VT_SUCCESS;

	*last_end = 0;
	while (code == VT_SUCCESS && at < file->store.end) {
		code = tb5_store_read_header(&file->store, at, &h);
		if (code == VT_SUCCESS)
			code = read_payload(&file->store, at, &h, &payload);
		if (code == VT_SUCCESS)
			code = apply_chunk(file, at, &h);
		if (code == VT_SUCCESS) {
			at += tb5_chunk_space(h.length);
			if (h.kind == TB5_KIND_END)
				*last_end = at;
		}
	}
	free(payload.bytes);
	*whole = at;
	return code == VT_INVALID_SAMPLE_FILE ? VT_SUCCESS : code;
}

TBRW_U32 tb5_catalog_whole(struct tb5_file *file, uint64_t *whole)
{
	uint64_t last_end;

	catalog_reset(file);
	return catalog_scan(file, &last_end, whole);
}

/* Whether the file ends in an end chunk: the chunk vouches for everything before, though the index
 * may be damaged. */
static bool ends_whole(const struct tb5_store *store)
{
	struct payload payload = {NULL, 0};
	struct tb5_end info;
	TBRW_U32 code = read_end(store, store->end, &payload, &info);

	free(payload.bytes);
	return code == VT_SUCCESS;
}

/* Loads by scanning; the file then counts as incomplete. */
static TBRW_U32 load_by_scan(struct tb5_file *file, uint64_t *last_end)
{
	uint64_t whole;

	catalog_reset(file);
	file->incomplete = true;
	return catalog_scan(file, last_end, &whole);
}

TBRW_U32 tb5_catalog_load(struct tb5_file *file)
{
	uint64_t size = file->store.end;
	uint64_t last_end;
	TBRW_U32 code = catalog_load_index(file, size);

	if (code != VT_INVALID_SAMPLE_FILE)
		return code;
	code = load_by_scan(file, &last_end);
	if (code != VT_SUCCESS || !last_end || ends_whole(&file->store))
		return code;
	catalog_reset(file);
	file->store.end = last_end;
	file->incomplete = false;
	code = catalog_load_index(file, last_end);
	if (code != VT_INVALID_SAMPLE_FILE)
		return code;
	file->store.end = size;
	return load_by_scan(file, &last_end);
}
