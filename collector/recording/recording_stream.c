#include "collector/recording/recording_stream.h"

#include "collector/recording/recording_cursor.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* A record has a size of 16 bits. */
enum { RECORD_MAX = 65536, READ_SIZE = 4 * RECORD_MAX, UNPACKED_SIZE = 4 * RECORD_MAX };

/* Bytes with the next record somewhere inside. */
struct window {
	uint8_t *bytes;
	size_t size;
	size_t used;
};

struct recording_stream {
	int fd;
	uint64_t at; /* of the file, behind the window's bytes */
	uint64_t end;
	struct window read;
	struct window unpacked;
	ZSTD_DCtx *unpacker;
	ZSTD_inBuffer packed; /* in the window read: of the present compressed record */
	bool is_full;         /* the unpacker had more than there was room for */
	struct recording_lacks lacks;
	struct recording_watch watch;
};

struct recording_stream *recording_stream_create(int fd, uint64_t from, uint64_t to,
						 const struct recording_watch *watch)
{
	struct recording_stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->fd = fd;
	stream->at = from;
	stream->end = to;
	stream->watch = *watch;
	stream->read.bytes = malloc(READ_SIZE);
	stream->unpacked.bytes = malloc(UNPACKED_SIZE);
	stream->unpacker = ZSTD_createDCtx();
	if (stream->read.bytes && stream->unpacked.bytes && stream->unpacker)
		return stream;
	recording_stream_destroy(stream);
	return NULL;
}

void recording_stream_destroy(struct recording_stream *stream)
{
	if (!stream)
		return;
	ZSTD_freeDCtx(stream->unpacker);
	free(stream->read.bytes);
	free(stream->unpacked.bytes);
	free(stream);
}

static size_t left_in(const struct window *window)
{
	return window->size - window->used;
}

/* Moves what is left to the front. */
static void compact(struct window *window)
{
	memmove(window->bytes, window->bytes + window->used, left_in(window));
	window->size = left_in(window);
	window->used = 0;
}

/* Has a whole record in the window, if the file has. */
static void fill(struct recording_stream *stream)
{
	struct window *window = &stream->read;
	if (left_in(window) >= RECORD_MAX || stream->at >= stream->end)
		return;
	if (stream->watch.see)
		stream->watch.see(stream->end - stream->at, stream->watch.user);
	compact(window);
	while (window->size < READ_SIZE && stream->at < stream->end) {
		uint64_t want = READ_SIZE - window->size;
		if (want > stream->end - stream->at)
			want = stream->end - stream->at;
		ssize_t got = pread(stream->fd, window->bytes + window->size, (size_t)want,
				    (off_t)stream->at);
		if (got <= 0) {
			stream->lacks.bytes += stream->end - stream->at;
			stream->end = stream->at; /* the file was cut meanwhile */
			return;
		}
		window->size += (size_t)got;
		stream->at += (uint64_t)got;
	}
}

/* Takes a whole record from the window. 1, 0: none is whole; -1: what is there is no record. */
static int take_record(struct window *window, struct recording_record *record)
{
	struct perf_event_header header;
	if (left_in(window) < sizeof(header))
		return 0;
	memcpy(&header, window->bytes + window->used, sizeof(header));
	if (header.size < sizeof(header))
		return -1;
	if (header.size > left_in(window))
		return 0;
	*record = (struct recording_record){.type = header.type,
					    .misc = header.misc,
					    .bytes = window->bytes + window->used,
					    .size = header.size};
	window->used += header.size;
	return 1;
}

/* Nothing behind is a record. */
static void give_up(struct recording_stream *stream)
{
	stream->lacks.bytes += left_in(&stream->read) + (stream->end - stream->at);
	stream->lacks.bytes += left_in(&stream->unpacked); /* of a record that never ends */
	stream->at = stream->end;
	stream->read.size = stream->read.used = 0;
	stream->unpacked.size = stream->unpacked.used = 0;
}

static void give_up_unpacking(struct recording_stream *stream)
{
	stream->lacks.unpacked += stream->packed.size;
	stream->packed = (ZSTD_inBuffer){0};
	stream->is_full = false;
	stream->unpacked.size = stream->unpacked.used = 0;
	ZSTD_DCtx_reset(stream->unpacker, ZSTD_reset_session_only);
}

/* Unpacks as far as there is room. Returns whether anything came. */
static bool unpack(struct recording_stream *stream)
{
	struct window *window = &stream->unpacked;
	if (stream->packed.pos >= stream->packed.size && !stream->is_full)
		return false;
	compact(window);
	ZSTD_outBuffer out = {window->bytes, UNPACKED_SIZE, window->size};
	size_t code;
	do
		code = ZSTD_decompressStream(stream->unpacker, &out, &stream->packed);
	while (!ZSTD_isError(code) && out.pos < out.size &&
	       stream->packed.pos < stream->packed.size);
	if (ZSTD_isError(code)) {
		give_up_unpacking(stream);
		return false;
	}
	bool has_more = out.pos > window->size;
	stream->is_full = out.pos == out.size;
	window->size = out.pos;
	return has_more;
}

/* All of one perf session is one stream of zstd; a record may begin in one part and end in the
 * next. */
static void begin_unpacking(struct recording_stream *stream, const struct recording_record *record)
{
	struct recording_cursor cursor = recording_cursor_of(record->bytes, record->size);
	recording_take(&cursor, sizeof(struct perf_event_header));
	uint64_t size = cursor.left;
	if (record->type == RECORDING_COMPRESSED2)
		size = recording_take_u64(&cursor); /* the rest is padding */
	const uint8_t *bytes = recording_take(&cursor, size);
	stream->lacks.is_compressed = true;
	if (bytes)
		stream->packed = (ZSTD_inBuffer){bytes, (size_t)size, 0};
	else
		stream->lacks.unpacked += record->size;
}

/* Data that follows a record and is not counted in its size. */
static void skip_data(struct recording_stream *stream, const struct recording_record *record)
{
	struct recording_cursor cursor = recording_cursor_of(record->bytes, record->size);
	recording_take(&cursor, sizeof(struct perf_event_header));
	uint64_t size = record->type == RECORDING_AUXTRACE ? recording_take_u64(&cursor)
			: record->type == RECORDING_TRACING_DATA
				? ((uint64_t)recording_take_u32(&cursor) + 7) & ~UINT64_C(7)
				: 0;
	stream->lacks.traced += record->type == RECORDING_AUXTRACE ? size : 0;
	uint64_t here = left_in(&stream->read);
	if (size > here + (stream->end - stream->at))
		size = here + (stream->end - stream->at);
	if (size > here)
		stream->at += size - here;
	stream->read.used += size > here ? (size_t)here : (size_t)size;
}

static bool next_unpacked(struct recording_stream *stream, struct recording_record *record)
{
	int taken;
	while ((taken = take_record(&stream->unpacked, record)) == 0 && unpack(stream))
		continue;
	if (taken < 0)
		give_up_unpacking(stream);
	return taken > 0;
}

bool recording_stream_next(struct recording_stream *stream, struct recording_record *record)
{
	for (;;) {
		if (next_unpacked(stream, record))
			return true;
		fill(stream);
		if (take_record(&stream->read, record) <= 0) {
			give_up(stream);
			return false;
		}
		if (record->type != RECORDING_COMPRESSED && record->type != RECORDING_COMPRESSED2)
			break;
		begin_unpacking(stream, record);
	}
	if (record->type == RECORDING_AUXTRACE || record->type == RECORDING_TRACING_DATA)
		skip_data(stream, record);
	return true;
}

const struct recording_lacks *recording_stream_lacks(const struct recording_stream *stream)
{
	return &stream->lacks;
}
