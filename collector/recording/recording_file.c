#include "collector/recording/recording_file.h"

#include "collector/recording/recording.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* perf.data-file-format.txt: the header of a file, and the one of a pipe. */
enum { HEADER_SIZE = 104, PIPE_HEADER_SIZE = 16, SECTION_SIZE = 16, FEATURE_WORDS = 4 };

/* Of what is read at once. */
enum { SECTION_MAX = 64 << 20 };

static const char magic[8] = "PERFILE2";
static const char magic_1[8] = "PERFFILE";
static const char magic_swapped[8] = "2ELIFREP";

struct section {
	uint64_t from;
	uint64_t size;
};

bool recording_is_recognized(const uint8_t *head, size_t size)
{
	return size >= sizeof(magic) && (memcmp(head, magic, sizeof(magic)) == 0 ||
					 memcmp(head, magic_1, sizeof(magic_1)) == 0 ||
					 memcmp(head, magic_swapped, sizeof(magic_swapped)) == 0);
}

static struct section take_section(struct recording_cursor *cursor)
{
	struct section section;
	section.from = recording_take_u64(cursor);
	section.size = recording_take_u64(cursor);
	return section;
}

static bool is_inside(const struct recording_file *file, const struct section *section)
{
	return section->from <= file->size && section->size <= file->size - section->from;
}

/* The bytes of a section, for the caller to free; NULL: they cannot be read, or are too many. */
static uint8_t *read_section(const struct recording_file *file, const struct section *section)
{
	if (!is_inside(file, section) || section->size > SECTION_MAX || section->size == 0)
		return NULL;
	uint8_t *bytes = malloc((size_t)section->size);
	if (bytes && pread(file->fd, bytes, (size_t)section->size, (off_t)section->from) !=
			     (ssize_t)section->size) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static void add_ids(struct recording_events *events, struct recording_cursor *cursor)
{
	while (cursor->left >= sizeof(uint64_t))
		if (!recording_events_add_id(events, recording_take_u64(cursor)))
			return;
}

/* Each entry is attributes and the section of the event's ids. Sections of several may be the same
 * bytes: they have a limit together. */
static void take_attributes(struct recording_file *file, const struct section *section,
			    uint64_t entry_size)
{
	uint8_t *bytes = read_section(file, section);
	uint64_t left = RECORDING_IDS_MAX * sizeof(uint64_t);
	if (!bytes)
		return;
	for (uint64_t at = 0; entry_size > SECTION_SIZE && section->size - at >= entry_size;
	     at += entry_size) {
		struct recording_cursor cursor = recording_cursor_of(bytes + at, entry_size);
		struct recording_cursor last =
			recording_cursor_of(bytes + at + entry_size - SECTION_SIZE, SECTION_SIZE);
		const struct section ids = take_section(&last);
		if (!recording_events_add(&file->events, &cursor))
			break;
		uint8_t *list = ids.size <= left ? read_section(file, &ids) : NULL;
		left -= list ? ids.size : 0;
		struct recording_cursor id_cursor =
			recording_cursor_of(list, list ? (size_t)ids.size : 0);
		add_ids(&file->events, &id_cursor);
		free(list);
	}
	free(bytes);
}

/* The features' sections are listed behind the data, in the order of their bits. */
static void take_features(struct recording_file *file, const uint8_t *bits)
{
	uint64_t at = file->data_to;
	for (unsigned i = 0; i < RECORDING_FEATURES; i++) {
		uint8_t entry[SECTION_SIZE];
		if (!(recording_u64_at(bits, i / 64) >> i % 64 & 1))
			continue;
		if (pread(file->fd, entry, sizeof(entry), (off_t)at) != sizeof(entry))
			return;
		at += sizeof(entry);
		struct recording_cursor place = recording_cursor_of(entry, sizeof(entry));
		const struct section section = take_section(&place);
		uint8_t *bytes = read_section(file, &section);
		struct recording_cursor cursor =
			recording_cursor_of(bytes, bytes ? (size_t)section.size : 0);
		if (bytes && i == RECORDING_FEATURE_TRACING)
			sched_trace_learn(&file->sched, bytes, cursor.left);
		else if (bytes)
			recording_facts_take(&file->facts, i, &cursor, &file->events);
		free(bytes);
	}
}

static int read_header(struct recording_file *file, const char *name, struct failure *failure)
{
	uint8_t bytes[HEADER_SIZE] = {0};
	ssize_t got = pread(file->fd, bytes, sizeof(bytes), 0);
	if (got < PIPE_HEADER_SIZE)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot import %s: its header is cut; record anew", name);
	if (memcmp(bytes, magic, sizeof(magic)) != 0)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot import %s: it is %s; convert it there with perf script",
				   name,
				   memcmp(bytes, magic_swapped, sizeof(magic)) == 0
					   ? "of a machine with the other order of bytes"
					   : "of a perf older than Linux 2.6.37");
	struct recording_cursor cursor =
		recording_cursor_of(bytes + sizeof(magic), (size_t)got - sizeof(magic));
	uint64_t size = recording_take_u64(&cursor);
	file->is_pipe = size == PIPE_HEADER_SIZE;
	if (file->is_pipe) {
		file->data_from = PIPE_HEADER_SIZE;
		file->data_to = file->size;
		return 0;
	}
	uint64_t entry_size = recording_take_u64(&cursor);
	const struct section attributes = take_section(&cursor);
	const struct section data = take_section(&cursor);
	take_section(&cursor); /* types, of older files */
	const uint8_t *bits = recording_take(&cursor, FEATURE_WORDS * sizeof(uint64_t));
	if (!bits || size < HEADER_SIZE || data.from > file->size)
		return failure_set(failure, FAILURE_EXIT,
				   "cannot import %s: its header is damaged; record anew", name);
	file->data_from = data.from;
	/* The file was cut, or perf did not end: it writes the size last. */
	bool is_whole = is_inside(file, &data) && data.size > 0;
	file->data_to = is_whole ? data.from + data.size : file->size;
	file->is_cut = !is_whole;
	take_attributes(file, &attributes, entry_size);
	if (file->data_to < file->size)
		take_features(file, bits);
	return 0;
}

/* What stands in records in the form of pipes. */
static void take_record(struct recording_file *file, const struct recording_record *record)
{
	struct recording_cursor cursor = recording_cursor_of(record->bytes, record->size);
	recording_take(&cursor, sizeof(struct perf_event_header));
	switch (record->type) {
	case RECORDING_ATTR:
		if (recording_events_add(&file->events, &cursor))
			add_ids(&file->events, &cursor);
		break;
	case RECORDING_FEATURE: {
		uint64_t feature = recording_take_u64(&cursor);
		if (feature < RECORDING_FEATURES)
			recording_facts_take(&file->facts, (unsigned)feature, &cursor,
					     &file->events);
		break;
	}
	case RECORDING_EVENT_UPDATE: {
		const uint64_t is_name = 2; /* util/event.h, PERF_EVENT_UPDATE__NAME */
		uint64_t kind = recording_take_u64(&cursor);
		struct recording_event *event =
			recording_events_find(&file->events, recording_take_u64(&cursor));
		if (kind == is_name && event && memchr(cursor.at, '\0', cursor.left))
			recording_event_rename(event, (const char *)cursor.at);
		break;
	}
	case RECORDING_BUILD_ID:
		recording_facts_take_build_id(&file->facts, record->bytes, record->size);
		break;
	default:
		break;
	}
}

static void note_time(struct recording_facts *facts, uint64_t time_ns)
{
	if (time_ns == 0)
		return;
	if (facts->first_ns == 0 || time_ns < facts->first_ns)
		facts->first_ns = time_ns;
	if (time_ns > facts->last_ns)
		facts->last_ns = time_ns;
}

/* Of a group, each member has a sample where it counted something. */
static void count_samples(struct recording_file *file, struct recording_counts *counts,
			  const struct recording_sample *sample)
{
	struct recording_event *event;
	uint64_t since;
	sample->event->samples += sample->counts_read == 0;
	for (uint64_t i = 0; i < sample->counts_read; i++)
		if (recording_counts_take(counts, &file->events, sample, i, &event, &since))
			event->samples++;
}

static void look_at(struct recording_file *file, struct recording_counts *counts,
		    const struct recording_record *record)
{
	struct recording_sample sample;
	struct recording_trailer trailer;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		if (recording_sample_read(&file->events, record->bytes, record->size, &sample)) {
			count_samples(file, counts, &sample);
			note_time(&file->facts, sample.time_ns);
		}
		break;
	case PERF_RECORD_KSYMBOL:
		recording_symbols_take(&file->symbols, record->bytes, record->size);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		file->has_switches = true;
		if (recording_trailer_read(&file->events, record->bytes, record->size, &trailer))
			note_time(&file->facts, trailer.time_ns);
		break;
	case RECORDING_CALLCHAIN_DEFERRED:
		recording_deferred_take(&file->deferred, &file->events, record->bytes,
					record->size);
		break;
	default:
		take_record(file, record);
		break;
	}
}

/* Reads all records once: samples by event, their times, what pipes have in records, and what
 * belongs to samples that come before it. */
static int look_through(struct recording_file *file, const struct recording_watch *watch,
			struct failure *failure)
{
	struct recording_stream *stream =
		recording_stream_create(file->fd, file->data_from, file->data_to, watch);
	struct recording_counts counts = {0};
	struct recording_record record;
	if (!stream)
		return failure_set_error(failure, ENOMEM, "cannot read the recording");
	while (recording_stream_next(stream, &record))
		look_at(file, &counts, &record);
	recording_counts_finish(&counts);
	recording_stream_destroy(stream);
	return 0;
}

int recording_file_open(struct recording_file *file, int fd, const char *name,
			const struct recording_watch *watch, struct failure *failure)
{
	struct stat status;
	*file = (struct recording_file){.fd = fd};
	sched_trace_init(&file->sched);
	if (fstat(fd, &status) != 0)
		return failure_set_error(failure, errno, "cannot read %s", name);
	file->size = (uint64_t)status.st_size;
	file->owner = status.st_uid;
	file->changed_ns = (uint64_t)status.st_mtim.tv_sec * UINT64_C(1000000000) +
			   (uint64_t)status.st_mtim.tv_nsec;
	if (read_header(file, name, failure) < 0 || look_through(file, watch, failure) < 0)
		return -1;
	if (file->events.count > 0)
		return 0;
	return failure_set(failure, FAILURE_EXIT, "cannot import %s: it has no events; record anew",
			   name);
}

void recording_file_finish(struct recording_file *file)
{
	recording_events_finish(&file->events);
	recording_facts_finish(&file->facts);
	recording_symbols_finish(&file->symbols);
	recording_deferred_finish(&file->deferred);
}
