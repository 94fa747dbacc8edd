#include "tbrw/profile/streams.h"

#include "tbrw/profile/profile.h"
#include "tbrw/profile/wide.h"
#include <stddef.h>
#include <string.h>

/* Parentheses around a type or a member are no C. NOLINTBEGIN(bugprone-macro-parentheses) */
#define FIELD_SIZE(record, member)  sizeof(((struct record *)0)->member)
#define FIELD_PLACE(record, member) offsetof(struct record, member), FIELD_SIZE(record, member)
#define FIELD_TEXT(record, member)  FIELD(record, member.offset), FIELD(record, member.length)
/* NOLINTEND(bugprone-macro-parentheses) */
#define FIELD_TYPED(record, member, type, subtype)                      \
	{                                                               \
#member, FIELD_PLACE(record, member), (type), (subtype) \
	}
#define FIELD(record, member)     FIELD_TYPED(record, member, ST_NONE, SST_NONE)
#define FIELD_TSC(record, member) FIELD_TYPED(record, member, ST_TIME_STAMP, SST_TSC)

static const struct profile_stream_field text_fields[] = {
	{"text", 0, 1, ST_NONE, SST_NONE},
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
	FIELD(profile_frame, image),
	FIELD(profile_frame, flags),
	FIELD(profile_frame, rva),
};
static const struct profile_stream_field node_fields[] = {
	FIELD(profile_node, parent),
	FIELD(profile_node, frame),
};
static const struct profile_stream_field stack_fields[] = {
	FIELD(profile_stack, cpu_ns),      FIELD(profile_stack, node),
	FIELD(profile_stack, state),       FIELD(profile_stack, reason),
	FIELD(profile_stack, collapsed),   FIELD(profile_stack, verified),
	FIELD(profile_stack, guess_level), FIELD(profile_stack, guess_hits),
	FIELD(profile_stack, kernel_us),
};
enum { STACK_FIELDS_FIRST = 5 }; /* up to collapsed */
static const struct profile_stream_field mapping_fields[] = {
	FIELD(profile_mapping, module_index), FIELD(profile_mapping, image),
	FIELD(profile_mapping, pgoff),        FIELD_TYPED(profile_mapping, pid, ST_PID, SST_NONE),
	FIELD(profile_mapping, reserved),
};
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
};
static const struct profile_stream_field note_fields[] = {
	FIELD_TSC(profile_note, tsc),
	FIELD(profile_note, value),
	FIELD(profile_note, kind),
	FIELD_TYPED(profile_note, pid, ST_PID, SST_NONE),
	FIELD_TYPED(profile_note, tid, ST_TID, SST_NONE),
	FIELD_TEXT(profile_note, text),
	FIELD(profile_note, reserved),
};
static const struct profile_stream_field unwinding_fields[] = {
	FIELD(profile_unwinding, kind),
	FIELD(profile_unwinding, subject),
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
};
static const struct profile_stream_field symbol_fields[] = {
	FIELD(profile_symbol, frame),     FIELD(profile_symbol, depth),
	FIELD(profile_symbol, flags),     FIELD_TEXT(profile_symbol, name),
	FIELD_TEXT(profile_symbol, full), FIELD_TEXT(profile_symbol, file),
	FIELD(profile_symbol, line),      FIELD(profile_symbol, reserved),
	FIELD(profile_symbol, start),     FIELD(profile_symbol, size),
};

#define FIELD_COUNT(fields) (sizeof(fields) / sizeof((fields)[0]))
#define SPEC_GROWN(name, size, fields, first)                  \
	{                                                      \
		name, size, FIELD_COUNT(fields), first, fields \
	}
#define SPEC(name, size, fields) SPEC_GROWN(name, size, fields, FIELD_COUNT(fields))

static const struct profile_stream_spec specs[PROFILE_STREAM_ID_COUNT] = {
	[PROFILE_STREAM_ID_STRINGS] = SPEC(PROFILE_STREAM_STRINGS, 1, text_fields),
	[PROFILE_STREAM_ID_IMAGES] =
		SPEC(PROFILE_STREAM_IMAGES, sizeof(struct profile_image), image_fields),
	[PROFILE_STREAM_ID_FRAMES] =
		SPEC(PROFILE_STREAM_FRAMES, sizeof(struct profile_frame), frame_fields),
	[PROFILE_STREAM_ID_NODES] =
		SPEC(PROFILE_STREAM_NODES, sizeof(struct profile_node), node_fields),
	[PROFILE_STREAM_ID_STACKS] = SPEC_GROWN(PROFILE_STREAM_STACKS, sizeof(struct profile_stack),
						stack_fields, STACK_FIELDS_FIRST),
	[PROFILE_STREAM_ID_MAPPINGS] =
		SPEC(PROFILE_STREAM_MAPPINGS, sizeof(struct profile_mapping), mapping_fields),
	[PROFILE_STREAM_ID_THREADS] =
		SPEC_GROWN(PROFILE_STREAM_THREADS, sizeof(struct profile_thread), thread_fields,
			   THREAD_FIELDS_FIRST),
	[PROFILE_STREAM_ID_CLOCK] =
		SPEC(PROFILE_STREAM_CLOCK, sizeof(struct profile_clock), clock_fields),
	[PROFILE_STREAM_ID_NOTES] =
		SPEC(PROFILE_STREAM_NOTES, sizeof(struct profile_note), note_fields),
	[PROFILE_STREAM_ID_UNWINDING] =
		SPEC(PROFILE_STREAM_UNWINDING, sizeof(struct profile_unwinding), unwinding_fields),
	[PROFILE_STREAM_ID_SYMTEXT] = SPEC(PROFILE_STREAM_SYMTEXT, 1, text_fields),
	[PROFILE_STREAM_ID_SYMBOLS] =
		SPEC(PROFILE_STREAM_SYMBOLS, sizeof(struct profile_symbol), symbol_fields),
};

static const struct profile_stream_field sample_fields[] = {
	{"SampleRecord", 0, sizeof(TBRW_SampleRecordPC), ST_LEGACY_SAMPLE_RECORD, SST_NONE},
	{"TimeStamp", sizeof(TBRW_SampleRecordPC), sizeof(TBRW_SampleRecordTSC), ST_TIME_STAMP,
	 SST_TSC},
};
static const struct profile_stream_spec sample_spec =
	SPEC("", sizeof(struct profile_sample_record), sample_fields);

const struct profile_stream_spec *profile_stream_sample_spec(void)
{
	return &sample_spec;
}

const struct profile_stream_spec *profile_stream_spec(enum profile_stream stream)
{
	return &specs[stream];
}

static TBRW_U32 write_info(TBRW_PTR file, TBRW_U32 number, struct profile_wide *name)
{
	TBRW_STREAM_INFO info = {
		.stream_info_size = sizeof(info),
		.stream_type = TBRW_CUSTOM_STREAM,
		.comment.soi_ptr = name->text,
	};
	TBRW_U32 code = TBRW_writing_stream_section(file, number, TBRW_STREAM_INFO_SECTION);

	if (code == VT_SUCCESS)
		code = TBRW_set_stream_info(file, number, &info);
	if (code == VT_SUCCESS)
		code = TBRW_done_stream_section(file, number, TBRW_STREAM_INFO_SECTION);
	return code;
}

static TBRW_U32 write_descriptor(TBRW_PTR file, TBRW_U32 number,
				 const struct profile_stream_field *field)
{
	struct profile_wide name = {0};

	if (!profile_wide_set(&name, field->name))
		return VT_NO_MEMORY;
	TBRW_SAMPREC_DESC_ENTRY entry = {
		.desc_size = sizeof(entry),
		.desc_offset = field->offset,
		.desc_type = field->type,
		.desc_subtype = field->subtype,
		.desc_data_size = field->size,
		.desc_name.soi_ptr = name.text,
	};
	TBRW_U32 code = TBRW_add_data_descriptor_entry(file, number, &entry);
	profile_wide_finish(&name);
	return code;
}

TBRW_U32 profile_stream_describe(TBRW_PTR file, TBRW_U32 number,
				 const struct profile_stream_spec *spec)
{
	TBRW_U32 code = TBRW_writing_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);

	for (uint32_t i = 0; code == VT_SUCCESS && i < spec->field_count; i++)
		code = write_descriptor(file, number, &spec->fields[i]);
	if (code == VT_SUCCESS)
		code = TBRW_done_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);
	return code;
}

TBRW_U32 profile_stream_create(TBRW_PTR file, TBRW_U32 number, enum profile_stream stream)
{
	const struct profile_stream_spec *spec = &specs[stream];
	struct profile_wide name = {0};

	if (!profile_wide_set(&name, spec->name))
		return VT_NO_MEMORY;
	TBRW_U32 code = TBRW_writing_stream(file, number);
	if (code == VT_SUCCESS)
		code = write_info(file, number, &name);
	if (code == VT_SUCCESS)
		code = profile_stream_describe(file, number, spec);
	if (code == VT_SUCCESS)
		code = TBRW_writing_stream_section(file, number, TBRW_DATA_SECTION);
	profile_wide_finish(&name);
	return code;
}

TBRW_U32 profile_stream_done(TBRW_PTR file, TBRW_U32 number)
{
	TBRW_U32 code = TBRW_done_stream_section(file, number, TBRW_DATA_SECTION);

	return code == VT_SUCCESS ? TBRW_done_stream(file, number) : code;
}

struct check {
	TBRW_PTR file;
	const struct profile_stream_spec *spec;
	uint64_t found; /* bit per field of the spec */
	uint64_t entry_size;
};

static bool field_is(const struct profile_stream_field *field, const char *name,
		     const TBRW_SAMPREC_DESC_ENTRY *entry)
{
	return field->offset == entry->desc_offset && field->size == entry->desc_data_size &&
	       strcmp(field->name, name) == 0;
}

static TBRW_U32 check_descriptors(TBRW_SAMPREC_DESC_ENTRY *entries, TBRW_U32 size, TBRW_U32 count,
				  void *user)
{
	struct check *check = user;

	if (size / sizeof(*entries) < count)
		return VT_INVALID_SAMPLE_FILE;
	for (TBRW_U32 i = 0; i < count; i++) {
		uint64_t end = (uint64_t)entries[i].desc_offset + entries[i].desc_data_size;
		if (end > check->entry_size)
			check->entry_size = end;
		char name[64];
		TBRW_U32 code =
			profile_string_short(check->file, entries[i].desc_name, name, sizeof(name));
		if (code != VT_SUCCESS)
			return code;
		for (uint32_t f = 0; f < check->spec->field_count; f++)
			if (field_is(&check->spec->fields[f], name, &entries[i]))
				check->found |= UINT64_C(1) << f;
	}
	return TRUE;
}

/* Bytes of the record, by the fields that were found: up to the first that was not. */
static uint32_t known_size_of(const struct profile_stream_spec *spec, uint64_t found)
{
	uint32_t count = 0;

	while (count < spec->field_count && found >> count & 1)
		count++;
	if (count < spec->first_count)
		return 0;
	return count < spec->field_count ? spec->fields[count].offset : spec->record_size;
}

TBRW_U32 profile_stream_check(TBRW_PTR file, TBRW_U32 number,
			      const struct profile_stream_spec *spec, uint32_t *known_size,
			      uint32_t *entry_size)
{
	struct check check = {.file = file, .spec = spec};
	TBRW_U32 code = TBRW_reading_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);

	if (code != VT_SUCCESS)
		return code;
	code = TBRW_enumerate_data_descriptor_entries(file, number, check_descriptors, &check);
	TBRW_done_stream_section(file, number, TBRW_DATA_DESCRIPTION_SECTION);
	if (code != VT_SUCCESS)
		return code;
	*known_size = check.entry_size <= UINT32_MAX ? known_size_of(spec, check.found) : 0;
	*entry_size = (uint32_t)check.entry_size;
	return VT_SUCCESS;
}
