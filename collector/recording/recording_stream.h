/*
 * The records of a recording, one by one, compressed ones unpacked. Source: Linux,
 * tools/perf/Documentation/perf.data-file-format.txt, and util/event.h for the records of perf's
 * own.
 */
#ifndef COLLECTOR_RECORDING_RECORDING_STREAM_H
#define COLLECTOR_RECORDING_RECORDING_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a kernel newer than its header, and of perf's own behind the kernel's numbers. */
enum recording_type {
	RECORDING_CALLCHAIN_DEFERRED = 22,
	RECORDING_ATTR = 64,
	RECORDING_TRACING_DATA = 66,
	RECORDING_BUILD_ID = 67,
	RECORDING_FINISHED_ROUND = 68,
	RECORDING_AUXTRACE = 71,
	RECORDING_EVENT_UPDATE = 78,
	RECORDING_FEATURE = 80,
	RECORDING_COMPRESSED = 81,
	RECORDING_COMPRESSED2 = 83,
	RECORDING_KNOWN_END = 85, /* behind the last known one, BPF_METADATA */
	RECORDING_TYPES_MAX = 256
};

struct recording_record {
	uint32_t type;
	uint16_t misc;
	const uint8_t *bytes; /* with the header, unaligned; until the next record */
	size_t size;
};

struct recording_lacks {
	uint64_t bytes;     /* behind a damaged record, or of one that does not end */
	uint64_t unpacked;  /* compressed bytes that could not be unpacked */
	uint64_t traced;    /* bytes of processor traces */
	bool is_compressed; /* some records were */
};

struct recording_stream;

/* Sees how far a reading is, every few hundred kilobytes: bytes that are left. */
struct recording_watch {
	void (*see)(uint64_t left, void *user); /* NULL: nobody looks */
	void *user;
};

/* Of the bytes from..to of the file, borrowed; the watch's content is copied. NULL: out of memory.
 */
struct recording_stream *recording_stream_create(int fd, uint64_t from, uint64_t to,
						 const struct recording_watch *watch);
void recording_stream_destroy(struct recording_stream *stream); /* accepts NULL */

/* false: the end, or nothing behind is a record. */
bool recording_stream_next(struct recording_stream *stream, struct recording_record *record);

/* What was not read so far. */
const struct recording_lacks *recording_stream_lacks(const struct recording_stream *stream);

#endif
