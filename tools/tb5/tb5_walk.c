#include "tools/tb5/tb5_walk.h"

#include <stdbool.h>
#include <stdlib.h>

static const struct tb5_walk_section global_sections[] = {
	{"version information", TBRW_VERSION_INFO_SECTION, {DAT_VERSION_INFO}},
	{"hardware", TBRW_HARDWARE_SECTION, {DAT_SYSTEM}},
	{"software", TBRW_SOFTWARE_SECTION, {DAT_HOST, DAT_OS, DAT_APPLICATION}},
	{"processes and threads", TBRW_PROCESS_THREAD_SECTION, {DAT_PROCESS, DAT_THREAD}},
	{"modules", TBRW_MODULE_SECTION, {DAT_MODULE}},
	{"user-defined", TBRW_USER_DEFINED_GLOBAL_SECTION, {DAT_USER_GLOBAL}},
};

/* Descriptors come before the data: the data is shown and written by them. */
static const struct tb5_walk_section stream_sections[] = {
	{NULL, TBRW_STREAM_INFO_SECTION, {DAT_STREAM_INFO}},
	{"events", TBRW_EVENT_DESCRIPTION_SECTION, {DAT_EVENT}},
	{NULL, TBRW_DATA_DESCRIPTION_SECTION, {DAT_DESCRIPTOR}},
	{"data", TBRW_DATA_SECTION, {DAT_DATA}},
	{"user-defined", TBRW_USER_DEFINED_STREAM_SECTION, {DAT_USER_STREAM}},
};

static TBRW_U32 give_run(struct tb5_walk *walk, enum dat_kind kind, const void *records,
			 TBRW_U32 count)
{
	const unsigned char *record = records;
	TBRW_U32 go = TRUE;
	for (TBRW_U32 i = 0; i < count && go == TRUE; i++, record += dat_record_of(kind)->size)
		go = walk->record(walk, kind, record);
	return go;
}

static TBRW_U32 see_processes(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *walk)
{
	(void)size;
	return give_run(walk, DAT_PROCESS, pids, count);
}

static TBRW_U32 see_threads(TBRW_TID *tids, TBRW_U32 size, TBRW_U32 count, void *walk)
{
	(void)size;
	return give_run(walk, DAT_THREAD, tids, count);
}

static TBRW_U32 see_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *walk)
{
	(void)size;
	return give_run(walk, DAT_MODULE, modules, count);
}

static TBRW_U32 see_event(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *walk)
{
	(void)size;
	return give_run(walk, DAT_EVENT, event, count);
}

static TBRW_U32 see_descriptors(TBRW_SAMPREC_DESC_ENTRY *descriptors, TBRW_U32 size, TBRW_U32 count,
				void *walk)
{
	(void)size;
	return give_run(walk, DAT_DESCRIPTOR, descriptors, count);
}

/* Reads one structure into `room` bytes, or stores the bytes needed in *size. */
static TBRW_U32 get(struct tb5_walk *walk, enum dat_kind kind, TBRW_U32 room, void *buffer,
		    TBRW_U32 *size)
{
	switch (kind) {
	case DAT_VERSION_INFO:
		return TBRW_get_version_info(walk->file, room, buffer, size);
	case DAT_SYSTEM:
		return TBRW_get_system(walk->file, room, buffer, size);
	case DAT_HOST:
		return TBRW_get_host(walk->file, room, buffer, size);
	case DAT_OS:
		return TBRW_get_os(walk->file, room, buffer, size);
	case DAT_APPLICATION:
		return TBRW_get_application(walk->file, room, buffer, size);
	case DAT_USER_GLOBAL:
		return TBRW_get_user_defined_global(walk->file, room, buffer, size);
	case DAT_STREAM_INFO:
		return TBRW_get_stream_info(walk->file, walk->stream, room, buffer, size);
	default:
		return TBRW_get_user_defined_stream(walk->file, walk->stream, room, buffer, size);
	}
}

static TBRW_U32 read_structure(struct tb5_walk *walk, enum dat_kind kind)
{
	union {
		TBRW_VERSION_INFO version_info;
		TBRW_HOST host;
		TBRW_OS os;
		TBRW_APPLICATION application;
		TBRW_STREAM_INFO stream_info;
	} record;
	TBRW_U32 code = get(walk, kind, (TBRW_U32)dat_record_of(kind)->size, &record, NULL);
	bool is_optional = kind == DAT_HOST || kind == DAT_OS || kind == DAT_APPLICATION;
	if (code != VT_SUCCESS)
		return is_optional && code == VT_ENTRY_NOT_FOUND ? VT_SUCCESS : code;
	TBRW_U32 go = walk->record(walk, kind, &record);
	return go == TRUE || go == FALSE ? VT_SUCCESS : go;
}

static TBRW_U32 read_bytes(struct tb5_walk *walk, enum dat_kind kind)
{
	TBRW_U32 size = 0;
	TBRW_U32 code = get(walk, kind, 0, NULL, &size);
	if (code == VT_BUFFER_NULL && size == 0) {
		walk->bytes(walk, kind, NULL, 0);
		return VT_SUCCESS;
	}
	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	unsigned char *bytes = malloc(size);
	if (!bytes)
		return VT_NO_MEMORY;
	code = get(walk, kind, size, bytes, NULL);
	if (code == VT_SUCCESS)
		walk->bytes(walk, kind, bytes, size);
	free(bytes);
	return code;
}

static TBRW_U32 read_kind(struct tb5_walk *walk, enum dat_kind kind)
{
	switch (kind) {
	case DAT_PROCESS:
		return TBRW_enumerate_processes(walk->file, see_processes, walk, 0);
	case DAT_THREAD:
		return TBRW_enumerate_threads(walk->file, see_threads, walk, 0);
	case DAT_MODULE:
		return TBRW_enumerate_modules(walk->file, see_modules, walk, 0);
	case DAT_EVENT:
		return TBRW_enumerate_events(walk->file, walk->stream, see_event, walk, 0);
	case DAT_DESCRIPTOR:
		return TBRW_enumerate_data_descriptor_entries(walk->file, walk->stream,
							      see_descriptors, walk);
	case DAT_DATA:
		return walk->data(walk);
	case DAT_SYSTEM:
	case DAT_USER_GLOBAL:
	case DAT_USER_STREAM:
		return read_bytes(walk, kind);
	default:
		return read_structure(walk, kind);
	}
}

static TBRW_U32 walk_section(struct tb5_walk *walk, const struct tb5_walk_section *section)
{
	bool is_global = walk->stream == DAT_NO_STREAM;
	TBRW_SECTION_IDENTIFIER global = (TBRW_SECTION_IDENTIFIER)section->id;
	TBRW_STREAM_SECTION_IDENTIFIER own = (TBRW_STREAM_SECTION_IDENTIFIER)section->id;
	TBRW_U32 code = is_global ? TBRW_reading_section(walk->file, global)
				  : TBRW_reading_stream_section(walk->file, walk->stream, own);
	walk->begin(walk, section, code);
	if (code == VT_SECTION_NOT_EXIST)
		return VT_SUCCESS;
	for (size_t i = 0; i < TB5_WALK_SECTION_KINDS && section->kinds[i] && code == VT_SUCCESS;
	     i++)
		code = read_kind(walk, section->kinds[i]);
	TBRW_U32 done = is_global ? TBRW_done_section(walk->file, global)
				  : TBRW_done_stream_section(walk->file, walk->stream, own);
	return walk->end(walk, section, code == VT_SUCCESS ? done : code);
}

TBRW_U32 tb5_walk_sections(struct tb5_walk *walk)
{
	bool is_global = walk->stream == DAT_NO_STREAM;
	const struct tb5_walk_section *sections = is_global ? global_sections : stream_sections;
	size_t count = is_global ? sizeof(global_sections) / sizeof(global_sections[0])
				 : sizeof(stream_sections) / sizeof(stream_sections[0]);
	TBRW_U32 code = VT_SUCCESS;
	for (size_t i = 0; i < count && code == VT_SUCCESS; i++)
		code = walk_section(walk, &sections[i]);
	return code;
}
