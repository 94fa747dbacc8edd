/* Stream 0 and the stacks beside it: one record each per sample. */
#include "profile/base/tsc.h"
#include "profile/write/writer_private.h"
#include <assert.h>
#include <stddef.h>

#define SAMPLE_EVENT_ID     0u
#define CPU_NUMBER_MAX      4095u               /* cpuNum has 12 bits */
#define FILETIME_UNIX_100NS 116444736000000000u /* 1601-01-01 to 1970-01-01 */

/* Nearest whole microseconds, the unit of time-based events; PROFILE_NOTE_INTERVAL has the ns. */
static uint64_t interval_us(const struct profile_writer *writer)
{
	uint64_t us = writer->interval_ns / 1000 + (writer->interval_ns % 1000 >= 500);

	return us ? us : 1;
}

static TBRW_U32 add_event(struct profile_writer *writer, TBRW_U32 id, const char *name)
{
	bool is_time = id == SAMPLE_EVENT_ID;

	if (!profile_wide_set(&writer->name, name))
		return VT_NO_MEMORY;
	TBRW_EVENT event = {
		.event_size = sizeof(event),
		.event_id = id,
		.event_flags = is_time ? TBRW_EVENT_TBS : TBRW_EVENT_EBS,
		.event_sav = is_time ? interval_us(writer) : 1,
		.event_name.soi_ptr = writer->name.text,
	};
	return TBRW_add_event(writer->file, 0, &event);
}

static TBRW_U32 write_events(struct profile_writer *writer, const struct profile_run *run)
{
	const char *const *added = run->added_events;
	TBRW_U32 code =
		TBRW_writing_stream_section(writer->file, 0, TBRW_EVENT_DESCRIPTION_SECTION);

	if (code == VT_SUCCESS)
		code = add_event(writer, SAMPLE_EVENT_ID, run->event_name);
	for (TBRW_U32 i = 0; added && added[i] && code == VT_SUCCESS; i++)
		code = add_event(writer, SAMPLE_EVENT_ID + 1 + i, added[i]);
	if (code == VT_SUCCESS)
		code = TBRW_done_stream_section(writer->file, 0, TBRW_EVENT_DESCRIPTION_SECTION);
	return code;
}

TBRW_U32 profile_writer_open_samples(struct profile_writer *writer, const struct profile_run *run)
{
	TBRW_U32 code = TBRW_writing_stream(writer->file, 0);

	if (code == VT_SUCCESS)
		code = write_events(writer, run);
	if (code == VT_SUCCESS)
		code = profile_stream_describe(writer->file, 0, profile_stream_sample_spec());
	if (code == VT_SUCCESS)
		code = TBRW_writing_stream_section(writer->file, 0, TBRW_DATA_SECTION);
	return code;
}

/* The 64-bit form also for 32-bit code: an address fits, and Linux does not tell us csd, which the
 * 32-bit form has in place of ipsr. The code mode has the code's width. */
static void encode_sample(const struct profile_writer *writer, const struct profile_sample *sample,
			  struct profile_sample_record *record)
{
	*record = (struct profile_sample_record){
		.pc =
			{
				.iip = sample->ip,
				.ipsr = sample->flags,
				.cs = sample->cs,
				.cpuNum = sample->cpu & CPU_NUMBER_MAX,
				.codeMode = sample->is_32bit ? TBRW_MODE_32BIT : TBRW_MODE_64BIT,
				.tid = sample->tid,
				.pidRecIndex = sample->pid,
				.eventIndex = sample->event,
				.tidIsRaw = 1,
				.IA64PC = 1,
				.pidRecIndexRaw = 1,
			},
		.tsc.tsc = profile_tsc_from_raw(&writer->first, sample->time_ns),
	};
}

TBRW_U32 profile_writer_add_sample(struct profile_writer *writer,
				   const struct profile_sample *sample)
{
	struct profile_sample_record record;

	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (!profile_writer_accepts(writer, PROFILE_STREAM_STACKS, &sample->stack))
		return VT_BAD_PARAMETER;
	/* Stack i belongs to sample i. */
	assert(writer->counts[PROFILE_STREAM_STACKS] == writer->sample_count);
	encode_sample(writer, sample, &record);
	TBRW_U32 code = TBRW_add_data(writer->file, 0, sizeof(record), &record);
	if (code != VT_SUCCESS)
		return profile_writer_keep(writer, code);
	writer->sample_count++;
	return profile_writer_add_accepted(writer, PROFILE_STREAM_STACKS, &sample->stack, NULL,
					   NULL);
}

static VTUNE_ANALYZER_FILETIME filetime(uint64_t real_ns)
{
	uint64_t value = real_ns / 100 + FILETIME_UNIX_100NS;

	return (VTUNE_ANALYZER_FILETIME){
		.dwLowDateTime = (TBRW_U32)value,
		.dwHighDateTime = (TBRW_U32)(value >> 32),
	};
}

static TBRW_U32 saturate(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (TBRW_U32)value;
}

static TBRW_U32 write_info(struct profile_writer *writer, const struct profile_run_end *end)
{
	if (!profile_wide_set(&writer->path, end->command_line) ||
	    !profile_wide_set(&writer->name, end->comment))
		return VT_NO_MEMORY;
	uint64_t elapsed_ns = end->clock.raw_ns > writer->first.raw_ns
				      ? end->clock.raw_ns - writer->first.raw_ns
				      : 0;
	TBRW_STREAM_INFO info = {
		.sampling_duration = saturate(elapsed_ns / 1000000),
		.stream_type = TBRW_SAMPLING_STREAM,
		.sampling_interval = saturate(interval_us(writer)),
		.sampling_start_time = filetime(writer->first.real_ns),
		.sampling_end_time = filetime(end->clock.real_ns),
		.command_line.soi_ptr = writer->path.text,
		.comment.soi_ptr = writer->name.text,
	};
	return profile_stream_write_info(writer->file, 0, &info);
}

TBRW_U32 profile_writer_close_samples(struct profile_writer *writer,
				      const struct profile_run_end *end)
{
	TBRW_U32 code = write_info(writer, end);

	return code == VT_SUCCESS ? profile_stream_done(writer->file, 0) : code;
}
