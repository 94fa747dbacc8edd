/* Feeds libtbrw's reader with hostile files (tb5_script.h), and binds them. */
#include "tbrw/tbrw.h"
#include "tests/fuzz/tb5_script.h"
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_string(TBRW_PTR ptr, TBRW_STRING_OR_ID id)
{
	wchar_t text[32];
	TBRW_U32 size;

	TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, &size);
}

static TBRW_U32 see_pids(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++)
		read_string(user, pids[i].pid_name);
	return TRUE;
}

static TBRW_U32 see_tids(TBRW_TID *tids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++)
		read_string(user, tids[i].tid_name);
	return TRUE;
}

static TBRW_U32 see_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++)
		read_string(user, modules[i].module_path);
	return TRUE;
}

static TBRW_U32 see_descriptors(TBRW_SAMPREC_DESC_ENTRY *d, TBRW_U32 size, TBRW_U32 count,
				void *user)
{
	(void)size;
	for (TBRW_U32 i = 0; i < count; i++)
		read_string(user, d[i].desc_name);
	return TRUE;
}

static TBRW_U32 see_event(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	(void)count;
	for (TBRW_U32 i = 0; i < event->event_num_details; i++)
		if (event->event_detail_array[i].detail_size == 1)
			read_string(user, event->event_name);
	return TRUE;
}

static TBRW_U32 see_data(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	volatile unsigned char sum = 0;

	(void)count;
	(void)user;
	for (TBRW_U32 i = 0; i < size; i++)
		sum = (unsigned char)(sum + ((unsigned char *)data)[i]);
	return TRUE;
}

static TBRW_U32 see_bound(const void *data, TBRW_U32 size, TBRW_U64 count,
			  const DATA_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	const TBRW_MODULE *module;
	const TBRW_PID *pid;
	const TBRW_TID *tid;

	(void)data;
	(void)size;
	(void)table_size;
	for (TBRW_U64 i = 0; i < count; i++) {
		/* What bind has just found must be there; stored results may say anything. */
		TBRW_get_one_module(user, table[i].module_index, &module);
		TBRW_get_one_pid(user, table[i].pid_index, &pid);
		TBRW_get_one_tid(user, table[i].tid_index, &tid);
	}
	return TRUE;
}

static TBRW_U32 see_bound_modules(const TBRW_MODULE *modules, TBRW_U32 size, TBRW_U64 count,
				  const MODULE_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	const TBRW_PID *pid;

	(void)modules;
	(void)size;
	(void)table_size;
	for (TBRW_U64 i = 0; i < count; i++)
		TBRW_get_one_pid(user, table[i].pid_index, &pid);
	return TRUE;
}

static TBRW_U32 see_bound_tids(const TBRW_TID *tids, TBRW_U32 size, TBRW_U64 count,
			       const TID_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	const TBRW_PID *pid;

	(void)tids;
	(void)size;
	(void)table_size;
	for (TBRW_U64 i = 0; i < count; i++)
		TBRW_get_one_pid(user, table[i].pid_index, &pid);
	return TRUE;
}

static void read_system(TBRW_PTR ptr)
{
	TBRW_U32 size = 0;

	if (TBRW_get_system(ptr, 0, NULL, &size) != VT_BUFFER_TOO_SMALL)
		return;
	/* Exactly as large as asked for, so that the address sanitizer sees a byte too many. */
	TBRW_SYSTEM *system = malloc(size);
	if (system)
		TBRW_get_system(ptr, size, system, NULL);
	free(system);
}

static void read_global(TBRW_PTR ptr)
{
	char buffer[256];
	TBRW_U32 size;

	for (int s = TBRW_HARDWARE_SECTION; s <= TBRW_VERSION_INFO_SECTION; s++)
		TBRW_reading_section(ptr, (TBRW_SECTION_IDENTIFIER)s);
	read_system(ptr);
	TBRW_get_host(ptr, sizeof(buffer), buffer, &size);
	TBRW_get_os(ptr, sizeof(buffer), buffer, &size);
	TBRW_get_application(ptr, sizeof(buffer), buffer, &size);
	TBRW_get_version_info(ptr, sizeof(buffer), buffer, &size);
	TBRW_get_user_defined_global(ptr, sizeof(buffer), buffer, &size);
	TBRW_enumerate_processes(ptr, see_pids, ptr, 0);
	TBRW_enumerate_threads(ptr, see_tids, ptr, 0);
	TBRW_enumerate_modules(ptr, see_modules, ptr, 0);
	for (int s = TBRW_HARDWARE_SECTION; s <= TBRW_VERSION_INFO_SECTION; s++)
		TBRW_done_section(ptr, (TBRW_SECTION_IDENTIFIER)s);
}

static void read_stream(TBRW_PTR ptr, TBRW_U32 stream)
{
	char buffer[256];
	TBRW_U32 size;

	TBRW_reading_stream(ptr, stream);
	for (int s = TBRW_EVENT_DESCRIPTION_SECTION; s <= TBRW_STREAM_INFO_SECTION; s++)
		TBRW_reading_stream_section(ptr, stream, (TBRW_STREAM_SECTION_IDENTIFIER)s);
	TBRW_get_stream_info(ptr, stream, sizeof(buffer), buffer, &size);
	TBRW_get_user_defined_stream(ptr, stream, sizeof(buffer), buffer, &size);
	TBRW_enumerate_events(ptr, stream, see_event, ptr, 0);
	TBRW_enumerate_data_descriptor_entries(ptr, stream, see_descriptors, ptr);
	TBRW_enumerate_data(ptr, stream, see_data, ptr, 0);
	for (int s = TBRW_EVENT_DESCRIPTION_SECTION; s <= TBRW_STREAM_INFO_SECTION; s++)
		TBRW_done_stream_section(ptr, stream, (TBRW_STREAM_SECTION_IDENTIFIER)s);
	TBRW_done_stream(ptr, stream);
}

static void read_bound(TBRW_PTR ptr)
{
	TBRW_bind_enumerate_data(ptr, 0, see_bound, ptr, 0);
	TBRW_bind_enumerate_modules(ptr, see_bound_modules, ptr, 0);
	TBRW_bind_enumerate_threads(ptr, see_bound_tids, ptr, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TBRW_PTR ptr = NULL;
	wchar_t path[32];
	TBRW_U32 streams;
	int fd = tb5_script_run(data, size);

	swprintf(path, 32, L"/proc/self/fd/%d", fd);
	if (TBRW_open(&ptr, path, TBRW_FILE_READ) == VT_SUCCESS) {
		TBRW_verify(ptr);
		TBRW_get_number_data_streams(ptr, &streams);
		read_global(ptr);
		for (TBRW_U32 n = 0; n < streams; n++)
			read_stream(ptr, n);
		read_bound(ptr);
		TBRW_unbind(ptr, 0);
		if (TBRW_dobind(ptr, 0) == VT_SUCCESS)
			read_bound(ptr);
		read_global(ptr);
		TBRW_abort_cleanup_and_close(ptr);
	}
	close(fd);
	return 0;
}
