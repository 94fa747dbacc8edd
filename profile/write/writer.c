/* The life of a result being written: create and finish. */
#include "profile/write/writer_private.h"
#include <assert.h>
#include <stdlib.h>

/* The guide's example (6.5); versions 16 and up are its TSC-based records. */
#define SAMPLE_FILE_VERSION 0x10u
/* Guide 7.4: a sampling driver that is not one of Intel's. */
#define DRIVER_VERSION_UNKNOWN 0xFFFFFFFFu

static TBRW_U32 write_version(TBRW_PTR file)
{
	TBRW_VERSION_INFO version = {
		.version_info_size = sizeof(version),
		.sampling_driver_version = DRIVER_VERSION_UNKNOWN,
		.sample_file_version = SAMPLE_FILE_VERSION,
	};
	TBRW_U32 code = TBRW_writing_section(file, TBRW_VERSION_INFO_SECTION);

	if (code == VT_SUCCESS)
		code = TBRW_set_version_info(file, &version);
	return code == VT_SUCCESS ? TBRW_done_section(file, TBRW_VERSION_INFO_SECTION) : code;
}

static TBRW_U32 open_sections(TBRW_PTR file)
{
	TBRW_U32 code = TBRW_writing_section(file, TBRW_MODULE_SECTION);

	return code == VT_SUCCESS ? TBRW_writing_section(file, TBRW_PROCESS_THREAD_SECTION) : code;
}

/* The first records of every result (preset_count), and the first sync point. */
static TBRW_U32 write_first_records(struct profile_writer *writer)
{
	static const struct profile_image unknown = {.kind = PROFILE_IMAGE_UNKNOWN};
	static const struct profile_object nothing = {.kind = PROFILE_OBJECT_UNKNOWN};
	static const struct profile_node root = {.parent = PROFILE_NONE, .frame = PROFILE_NONE};
	TBRW_U32 code = profile_writer_add(writer, PROFILE_STREAM_IMAGES, &unknown, NULL, NULL);

	/* The root: the one node without a parent. */
	if (code == VT_SUCCESS)
		code = profile_writer_append(writer, PROFILE_STREAM_NODES, &root, sizeof(root));
	writer->counts[PROFILE_STREAM_NODES] = 1;
	if (code == VT_SUCCESS)
		code = profile_writer_add(writer, PROFILE_STREAM_OBJECTS, &nothing, NULL, NULL);
	for (unsigned id = 0; id < PROFILE_STREAM_COLLECTED; id++)
		assert(code != VT_SUCCESS ||
		       writer->counts[id] == profile_stream_spec(id)->preset_count);
	if (code == VT_SUCCESS && !writer->is_timeless)
		code = profile_writer_add_clock(writer, &writer->first);
	return code;
}

static void writer_free(struct profile_writer *writer)
{
	text_set_finish(&writer->texts);
	profile_wide_finish(&writer->path);
	profile_wide_finish(&writer->name);
	free(writer);
}

TBRW_U32 profile_writer_create(const char *path, const struct profile_run *run,
			       struct profile_writer **writer)
{
	if (!path || !run || !writer)
		return VT_UNEXPECTED_NULL_PTR;
	if ((run->clock.tsc_per_ns_q32 == 0 && !run->is_timeless) || run->interval_ns == 0)
		return VT_BAD_PARAMETER;
	struct profile_writer *made = calloc(1, sizeof(*made));
	if (!made)
		return VT_NO_MEMORY;
	made->first = run->clock;
	made->is_timeless = run->is_timeless;
	if (run->is_timeless)
		made->first = (struct profile_clock){.real_ns = run->clock.real_ns,
						     .tsc_per_ns_q32 = UINT64_C(1) << 32};
	made->interval_ns = run->interval_ns;
	made->first_stream = 1; /* 0 is the guide's */
	TBRW_U32 code = tb5_utf8_open(&made->file, path,
				      TBRW_FILE_WRITE | TBRW_FILE_READ | TBRW_FILE_CREATE_ALWAYS);
	if (code != VT_SUCCESS) {
		writer_free(made);
		return code;
	}
	code = write_version(made->file);
	if (code == VT_SUCCESS)
		code = open_sections(made->file);
	if (code == VT_SUCCESS)
		code = profile_writer_open_samples(made, run);
	if (code == VT_SUCCESS)
		code = profile_writer_open_streams(made, 0, PROFILE_STREAM_COLLECTED);
	if (code == VT_SUCCESS)
		code = write_first_records(made);
	if (code != VT_SUCCESS) {
		profile_writer_abandon(made);
		return code;
	}
	*writer = made;
	return VT_SUCCESS;
}

TBRW_U32 profile_writer_set_system(struct profile_writer *writer, TBRW_SYSTEM *system)
{
	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (!system || writer->has_system)
		return VT_BAD_PARAMETER;
	writer->has_system = true;
	TBRW_U32 code = TBRW_writing_section(writer->file, TBRW_HARDWARE_SECTION);
	if (code == VT_SUCCESS)
		code = TBRW_set_system(writer->file, system);
	if (code == VT_SUCCESS)
		code = TBRW_done_section(writer->file, TBRW_HARDWARE_SECTION);
	return profile_writer_keep(writer, code);
}

TBRW_U32 profile_writer_set_software(struct profile_writer *writer, TBRW_HOST *host, TBRW_OS *os,
				     TBRW_APPLICATION *application)
{
	if (writer->error != VT_SUCCESS)
		return writer->error;
	if (!(host || os || application) || writer->has_software)
		return VT_BAD_PARAMETER;
	writer->has_software = true;
	TBRW_U32 code = TBRW_writing_section(writer->file, TBRW_SOFTWARE_SECTION);
	if (code == VT_SUCCESS && host)
		code = TBRW_set_host(writer->file, host);
	if (code == VT_SUCCESS && os)
		code = TBRW_set_os(writer->file, os);
	if (code == VT_SUCCESS && application)
		code = TBRW_set_application(writer->file, application);
	if (code == VT_SUCCESS)
		code = TBRW_done_section(writer->file, TBRW_SOFTWARE_SECTION);
	return profile_writer_keep(writer, code);
}

static TBRW_U32 close_parts(struct profile_writer *writer, const struct profile_run_end *end)
{
	TBRW_U32 code = TBRW_done_section(writer->file, TBRW_MODULE_SECTION);

	if (code == VT_SUCCESS)
		code = TBRW_done_section(writer->file, TBRW_PROCESS_THREAD_SECTION);
	if (code == VT_SUCCESS)
		code = profile_writer_close_samples(writer, end);
	if (code == VT_SUCCESS)
		code = profile_writer_close_streams(writer, 0, PROFILE_STREAM_COLLECTED);
	/* A run without samples has nothing to bind. */
	if (code == VT_SUCCESS && writer->sample_count > 0)
		code = TBRW_dobind(writer->file, 0);
	return code;
}

TBRW_U32 profile_writer_close(struct profile_writer *writer, TBRW_U32 code)
{
	if (code == VT_SUCCESS)
		code = TBRW_close(writer->file);
	if (code == VT_SUCCESS)
		writer_free(writer);
	else
		profile_writer_abandon(writer);
	return code;
}

TBRW_U32 profile_writer_finish(struct profile_writer *writer, const struct profile_run_end *end)
{
	TBRW_U32 code = end ? writer->error : VT_UNEXPECTED_NULL_PTR;

	if (code == VT_SUCCESS && !writer->is_timeless)
		code = profile_writer_add_clock(writer, &end->clock);
	if (code == VT_SUCCESS)
		code = close_parts(writer, end);
	return profile_writer_close(writer, code);
}

void profile_writer_abandon(struct profile_writer *writer)
{
	if (!writer)
		return;
	TBRW_abort_cleanup_and_close(writer->file);
	writer_free(writer);
}
