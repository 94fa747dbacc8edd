#include "profile/base/streams.h"

#include <stddef.h>

/* Parentheses around a type or a member are no C. NOLINTBEGIN(bugprone-macro-parentheses) */
#define FIELD_SIZE(record, member)  sizeof(((struct record *)0)->member)
#define FIELD_PLACE(record, member) offsetof(struct record, member), FIELD_SIZE(record, member)
#define FIELD_IN_FULL(record, member, type, subtype, stream, lost, by_kind)                \
	{                                                                                  \
#member, FIELD_PLACE(record, member), (type), (subtype), (stream), (lost), \
			(by_kind)                                                          \
	}
#define FIELD_TYPED(record, member, type, subtype) \
	FIELD_IN_FULL(record, member, type, subtype, PROFILE_STREAM_COUNT, 0, NULL)
#define FIELD(record, member)     FIELD_TYPED(record, member, ST_NONE, SST_NONE)
#define FIELD_TSC(record, member) FIELD_TYPED(record, member, ST_TIME_STAMP, SST_TSC)
#define FIELD_TO(record, member, stream, lost) \
	FIELD_IN_FULL(record, member, ST_NONE, SST_NONE, stream, lost, NULL)
#define FIELD_BY_KIND(record, member, streams)                                   \
	FIELD_IN_FULL(record, member, ST_NONE, SST_NONE, PROFILE_STREAM_BY_KIND, \
		      PROFILE_LOST_RECORD, streams)
#define FIELD_TEXT_IN(record, member, stream) \
	FIELD_TO(record, member.offset, stream, 0), FIELD(record, member.length)
#define FIELD_TEXT(record, member) FIELD_TEXT_IN(record, member, PROFILE_STREAM_STRINGS)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct profile_stream_field text_fields[] = {
	{"text", 0, 1, ST_NONE, SST_NONE, PROFILE_STREAM_COUNT, 0, NULL},
};
static const struct profile_stream_field image_fields[] = {
	FIELD_TEXT(profile_image, path),
	FIELD(profile_image, kind),
	FIELD(profile_image, owner_uid),
	FIELD(profile_image, inode),
	FIELD(profile_image, device_major),
	FIELD(profile_image, device_minor),
	FIELD(profile_image, build_id),
	FIELD(profile_image, build_id_size),
	FIELD_TYPED(profile_image, pid, ST_PID, SST_NONE),
	FIELD(profile_image, flags),
};
static const struct profile_stream_field frame_fields[] = {
	FIELD_TO(profile_frame, image, PROFILE_STREAM_IMAGES, PROFILE_LOST_TO_UNKNOWN),
	FIELD(profile_frame, flags),
	FIELD(profile_frame, rva),
};
static const struct profile_stream_field node_fields[] = {
	FIELD_TO(profile_node, parent, PROFILE_STREAM_NODES, PROFILE_LOST_TO_NONE),
	FIELD_TO(profile_node, frame, PROFILE_STREAM_FRAMES, PROFILE_LOST_TO_NONE),
};
static const struct profile_stream_field stack_fields[] = {
	FIELD(profile_stack, cpu_ns),
	FIELD_TO(profile_stack, node, PROFILE_STREAM_NODES, PROFILE_LOST_TO_NONE),
	FIELD(profile_stack, state),
	FIELD(profile_stack, reason),
	FIELD(profile_stack, collapsed),
	FIELD(profile_stack, verified),
	FIELD(profile_stack, guess_level),
	FIELD(profile_stack, guess_hits),
	FIELD(profile_stack, kernel_us),
};
enum { STACK_FIELDS_FIRST = 5 }; /* up to collapsed */
static const struct profile_stream_field mapping_fields[] = {
	FIELD(profile_mapping, module_index),
	FIELD_TO(profile_mapping, image, PROFILE_STREAM_IMAGES, PROFILE_LOST_TO_NONE),
	FIELD(profile_mapping, pgoff),
	FIELD_TYPED(profile_mapping, pid, ST_PID, SST_NONE),
	FIELD(profile_mapping, reserved),
	FIELD(profile_mapping, rva),
};
enum { MAPPING_FIELDS_FIRST = 5 }; /* up to reserved */
static const struct profile_stream_field thread_fields[] = {
	FIELD_TYPED(profile_thread, pid, ST_PID, SST_NONE),
	FIELD_TYPED(profile_thread, tid, ST_TID, SST_NONE),
	FIELD_TSC(profile_thread, start_tsc),
	FIELD_TSC(profile_thread, end_tsc),
	FIELD(profile_thread, cpu_ns),
	FIELD(profile_thread, rest_ns),
	FIELD_TEXT(profile_thread, name),
	FIELD(profile_thread, flags),
	FIELD(profile_thread, samples),
	FIELD(profile_thread, sampled_ns),
	FIELD(profile_thread, kernel_ns),
	FIELD(profile_thread, unseen_ns),
};
enum { THREAD_FIELDS_FIRST = 10 }; /* up to samples */
static const struct profile_stream_field clock_fields[] = {
	FIELD_TSC(profile_clock, tsc),
	FIELD_TYPED(profile_clock, raw_ns, ST_TIME_STAMP, SST_TS_NANOSECONDS),
	FIELD_TYPED(profile_clock, real_ns, ST_TIME_STAMP, SST_TS_NANOSECONDS),
	FIELD(profile_clock, tsc_per_ns_q32),
	FIELD_TYPED(profile_clock, monotonic_ns, ST_TIME_STAMP, SST_TS_NANOSECONDS),
};
enum { CLOCK_FIELDS_FIRST = 4 }; /* up to tsc_per_ns_q32 */
static const struct profile_stream_field note_fields[] = {
	FIELD_TSC(profile_note, tsc),
	FIELD(profile_note, value),
	FIELD(profile_note, kind),
	FIELD_TYPED(profile_note, pid, ST_PID, SST_NONE),
	FIELD_TYPED(profile_note, tid, ST_TID, SST_NONE),
	FIELD_TEXT(profile_note, text),
	FIELD(profile_note, reserved),
};
static const enum profile_stream unwinding_subjects[PROFILE_KINDS_MAX] = {
	PROFILE_STREAM_COUNT,
	[PROFILE_UNWINDING_THREAD] = PROFILE_STREAM_THREADS,
	[PROFILE_UNWINDING_IMAGE] = PROFILE_STREAM_IMAGES,
	/* The first image, which each result has: they refer to nothing. */
	[PROFILE_UNWINDING_RUN] = PROFILE_STREAM_IMAGES,
	[PROFILE_UNWINDING_DEEP] = PROFILE_STREAM_IMAGES,
};
static const struct profile_stream_field unwinding_fields[] = {
	FIELD(profile_unwinding, kind),
	FIELD_BY_KIND(profile_unwinding, subject, unwinding_subjects),
	FIELD(profile_unwinding, walks),
	FIELD(profile_unwinding, frames),
	FIELD(profile_unwinding, frames_by_info),
	FIELD(profile_unwinding, frames_by_pointer),
	FIELD(profile_unwinding, frames_reused),
	FIELD(profile_unwinding, lookups),
	FIELD(profile_unwinding, timed_walks),
	FIELD(profile_unwinding, timed_frames),
	FIELD(profile_unwinding, timed_ns),
	FIELD(profile_unwinding, guesses_tested),
	FIELD(profile_unwinding, guesses_covered),
	FIELD(profile_unwinding, guesses_wrong),
	FIELD(profile_unwinding, late_tested),
	FIELD(profile_unwinding, late_covered),
	FIELD(profile_unwinding, late_wrong),
};
enum { UNWINDING_FIELDS_FIRST = 14 }; /* up to guesses_wrong */
static const struct profile_stream_field object_fields[] = {
	FIELD(profile_object, address),
	FIELD(profile_object, kind),
	FIELD_TYPED(profile_object, pid, ST_PID, SST_NONE),
	FIELD_TEXT(profile_object, name),
	FIELD_TO(profile_object, variable, PROFILE_STREAM_NODES, PROFILE_LOST_TO_UNKNOWN),
	FIELD_TO(profile_object, created, PROFILE_STREAM_NODES, PROFILE_LOST_TO_UNKNOWN),
	FIELD(profile_object, number),
	FIELD(profile_object, type),
};
static const struct profile_stream_field slice_fields[] = {
	FIELD_TSC(profile_slice, start_tsc), FIELD(profile_slice, run_ns),
	FIELD(profile_slice, ready_ns),      FIELD_TYPED(profile_slice, tid, ST_TID, SST_NONE),
	FIELD(profile_slice, cpu),           FIELD(profile_slice, before),
	FIELD(profile_slice, flags),
};
static const struct profile_stream_field wait_fields[] = {
	FIELD_TSC(profile_wait, start_tsc),
	FIELD(profile_wait, wait_ns),
	FIELD(profile_wait, ready_ns),
	FIELD_TYPED(profile_wait, tid, ST_TID, SST_NONE),
	FIELD_TO(profile_wait, object, PROFILE_STREAM_OBJECTS, PROFILE_LOST_TO_UNKNOWN),
	FIELD_TO(profile_wait, node, PROFILE_STREAM_NODES, PROFILE_LOST_TO_NONE),
	FIELD_TYPED(profile_wait, waker_tid, ST_TID, SST_NONE),
	FIELD_TO(profile_wait, waker_node, PROFILE_STREAM_NODES, PROFILE_LOST_TO_NONE),
	FIELD(profile_wait, spin_ns),
	FIELD(profile_wait, syscall),
	FIELD(profile_wait, blocks),
	FIELD(profile_wait, collapsed),
	FIELD(profile_wait, state),
	FIELD(profile_wait, reason),
	FIELD(profile_wait, source),
	FIELD(profile_wait, flags),
	FIELD(profile_wait, waker_state),
	FIELD(profile_wait, waker_reason),
	FIELD(profile_wait, reserved),
};
static const struct profile_stream_field symbol_fields[] = {
	FIELD_TO(profile_symbol, frame, PROFILE_STREAM_FRAMES, PROFILE_LOST_RECORD),
	FIELD(profile_symbol, depth),
	FIELD(profile_symbol, flags),
	FIELD_TEXT_IN(profile_symbol, name, PROFILE_STREAM_SYMTEXT),
	FIELD_TEXT_IN(profile_symbol, full, PROFILE_STREAM_SYMTEXT),
	FIELD_TEXT_IN(profile_symbol, file, PROFILE_STREAM_SYMTEXT),
	FIELD(profile_symbol, line),
	FIELD(profile_symbol, reserved),
	FIELD(profile_symbol, start),
	FIELD(profile_symbol, size),
};
static const struct profile_stream_field series_fields[] = {
	FIELD(profile_series, kind),
	FIELD(profile_series, source),
	FIELD_TEXT_IN(profile_series, name, PROFILE_STREAM_EXTTEXT),
};
static const struct profile_stream_field source_fields[] = {
	FIELD_TEXT_IN(profile_source, name, PROFILE_STREAM_EXTTEXT),
	FIELD_TEXT_IN(profile_source, host, PROFILE_STREAM_EXTTEXT),
	FIELD(profile_source, size),
	FIELD(profile_source, checksum),
	FIELD(profile_source, rows),
	FIELD(profile_source, bad_rows),
	FIELD(profile_source, clock),
	FIELD(profile_source, flags),
};
static const struct profile_stream_field interval_fields[] = {
	FIELD_TSC(profile_interval, start_tsc),
	FIELD_TSC(profile_interval, end_tsc),
	FIELD_TO(profile_interval, series, PROFILE_STREAM_SERIES, PROFILE_LOST_RECORD),
	FIELD_TYPED(profile_interval, pid, ST_PID, SST_NONE),
	FIELD_TYPED(profile_interval, tid, ST_TID, SST_NONE),
	FIELD(profile_interval, reserved),
};
static const struct profile_stream_field counter_fields[] = {
	FIELD_TSC(profile_counter, tsc),
	FIELD(profile_counter, value),
	FIELD_TO(profile_counter, series, PROFILE_STREAM_SERIES, PROFILE_LOST_RECORD),
	FIELD_TYPED(profile_counter, pid, ST_PID, SST_NONE),
	FIELD_TYPED(profile_counter, tid, ST_TID, SST_NONE),
	FIELD(profile_counter, flags),
};

#define FIELDS(array) .fields = (array), .field_count = sizeof(array) / sizeof((array)[0])
/* NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define RECORD(record, array) .record_size = sizeof(struct record), FIELDS(array)
#define TEXT                  .record_size = 1, FIELDS(text_fields), .written = PROFILE_WRITTEN_AS_TEXT

static const struct profile_stream_spec specs[PROFILE_STREAM_COUNT] = {
	[PROFILE_STREAM_STRINGS] = {"tbcollect.strings", TEXT},
	[PROFILE_STREAM_IMAGES] = {"tbcollect.images", RECORD(profile_image, image_fields),
				   .preset_count = 1},
	[PROFILE_STREAM_FRAMES] = {"tbcollect.frames", RECORD(profile_frame, frame_fields)},
	[PROFILE_STREAM_NODES] = {"tbcollect.nodes", RECORD(profile_node, node_fields),
				  .preset_count = 1},
	[PROFILE_STREAM_STACKS] = {"tbcollect.stacks", RECORD(profile_stack, stack_fields),
				   .first_count = STACK_FIELDS_FIRST,
				   .written = PROFILE_WRITTEN_WITH_SAMPLE},
	[PROFILE_STREAM_MAPPINGS] = {"tbcollect.mappings", RECORD(profile_mapping, mapping_fields),
				     .first_count = MAPPING_FIELDS_FIRST,
				     .written = PROFILE_WRITTEN_WITH_MODULE},
	[PROFILE_STREAM_THREADS] = {"tbcollect.threads", RECORD(profile_thread, thread_fields),
				    .first_count = THREAD_FIELDS_FIRST,
				    .written = PROFILE_WRITTEN_WITH_THREAD},
	[PROFILE_STREAM_CLOCK] = {"tbcollect.clock", RECORD(profile_clock, clock_fields),
				  .first_count = CLOCK_FIELDS_FIRST,
				  .written = PROFILE_WRITTEN_WITH_CLOCK},
	[PROFILE_STREAM_NOTES] = {"tbcollect.notes", RECORD(profile_note, note_fields)},
	[PROFILE_STREAM_UNWINDING] = {"tbcollect.unwinding",
				      RECORD(profile_unwinding, unwinding_fields),
				      .first_count = UNWINDING_FIELDS_FIRST},
	[PROFILE_STREAM_OBJECTS] = {"tbcollect.objects", RECORD(profile_object, object_fields),
				    .preset_count = 1},
	[PROFILE_STREAM_SLICES] = {"tbcollect.slices", RECORD(profile_slice, slice_fields),
				   .written = PROFILE_WRITTEN_STREAMED},
	[PROFILE_STREAM_WAITS] = {"tbcollect.waits", RECORD(profile_wait, wait_fields),
				  .written = PROFILE_WRITTEN_STREAMED},
	[PROFILE_STREAM_SYMTEXT] = {"tbcollect.symtext", TEXT},
	[PROFILE_STREAM_SYMBOLS] = {"tbcollect.symbols", RECORD(profile_symbol, symbol_fields)},
	[PROFILE_STREAM_EXTTEXT] = {"tbcollect.exttext", TEXT},
	[PROFILE_STREAM_SERIES] = {"tbcollect.series", RECORD(profile_series, series_fields),
				   .written = PROFILE_WRITTEN_BY_IMPORT},
	[PROFILE_STREAM_SOURCES] = {"tbcollect.sources", RECORD(profile_source, source_fields),
				    .written = PROFILE_WRITTEN_BY_IMPORT},
	[PROFILE_STREAM_INTERVALS] = {"tbcollect.intervals",
				      RECORD(profile_interval, interval_fields),
				      .written = PROFILE_WRITTEN_BY_IMPORT},
	[PROFILE_STREAM_COUNTERS] = {"tbcollect.counters", RECORD(profile_counter, counter_fields),
				     .written = PROFILE_WRITTEN_BY_IMPORT},
};

static const struct profile_stream_field sample_fields[] = {
	{"SampleRecord", 0, sizeof(TBRW_SampleRecordPC), ST_LEGACY_SAMPLE_RECORD, SST_NONE,
	 PROFILE_STREAM_COUNT, 0, NULL},
	{"TimeStamp", sizeof(TBRW_SampleRecordPC), sizeof(TBRW_SampleRecordTSC), ST_TIME_STAMP,
	 SST_TSC, PROFILE_STREAM_COUNT, 0, NULL},
};
static const struct profile_stream_spec sample_spec = {
	"",
	RECORD(profile_sample_record, sample_fields),
	.written = PROFILE_WRITTEN_WITH_SAMPLE,
};

const struct profile_stream_spec *profile_stream_sample_spec(void)
{
	return &sample_spec;
}

const struct profile_stream_spec *profile_stream_spec(enum profile_stream stream)
{
	assert(stream < PROFILE_STREAM_COUNT);
	return &specs[stream];
}

bool profile_stream_is_text(enum profile_stream stream)
{
	return stream < PROFILE_STREAM_COUNT && specs[stream].written == PROFILE_WRITTEN_AS_TEXT;
}

struct profile_references profile_stream_references(enum profile_stream stream)
{
	const struct profile_stream_spec *spec = profile_stream_spec(stream);
	struct profile_references references = {0, 0};

	assert(spec->field_count < 64);
	for (uint32_t i = 0; i < spec->field_count; i++) {
		const struct profile_stream_field *field = &spec->fields[i];
		if (profile_stream_is_text(field->refers_to))
			references.texts |= UINT64_C(1) << i;
		else if (profile_field_refers(field))
			references.indices |= UINT64_C(1) << i;
	}
	return references;
}
