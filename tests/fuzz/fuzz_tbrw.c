/* Feeds libtbrw's reader with hostile files, and binds them.
 *
 * Random bytes would never get past the checksums, so the input is a script: each step names a
 * chunk's kind, content, stream and size and is followed by its payload, and the harness writes the
 * chunks with right checksums and starts. An input that begins with 'R' is the file itself. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#include "tbrw/crc32c.h"
#include "tbrw/format.h"
#include "tbrw/tbrw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- Writing the file ---- */

struct step {
	uint8_t kind;
	uint8_t content;
	uint8_t stream;
	uint8_t size_high;
	uint8_t size_low;
};

static void put(int fd, const void *data, size_t size)
{
	if (write(fd, data, size) != (ssize_t)size)
		abort();
}

static void put_file_header(int fd)
{
	struct tb5_file_header h = {.version = TB5_FORMAT_VERSION, .header_size = sizeof h};

	memcpy(h.magic, TB5_FILE_MAGIC, sizeof h.magic);
	h.crc = tb5_crc32c(0, &h, offsetof(struct tb5_file_header, crc));
	put(fd, &h, sizeof h);
}

static void put_chunk(int fd, const struct step *step, const uint8_t *payload, uint32_t length,
		      uint64_t start)
{
	static const char zeros[8];
	struct tb5_chunk_header h = {.magic = TB5_CHUNK_MAGIC,
				     .kind = step->kind,
				     .content = step->content,
				     .stream = step->stream == 0xff ? TB5_NO_STREAM : step->stream,
				     .length = length,
				     .start = start,
				     .payload_crc = tb5_crc32c(0, payload, length)};

	h.header_crc = tb5_crc32c(0, &h, offsetof(struct tb5_chunk_header, header_crc));
	put(fd, &h, sizeof h);
	put(fd, payload, length);
	put(fd, zeros, (size_t)(tb5_chunk_space(length) - sizeof h - length));
}

/* Makes the checksums that lists hold of chunks right. */
static void put_lists(int fd, const struct step *step, const uint8_t *payload, uint32_t length)
{
	static uint8_t mended[UINT16_MAX];

	if (length)
		memcpy(mended, payload, length);
	for (uint32_t at = 0; at + sizeof(struct tb5_list_record) <= length;
	     at += (uint32_t)sizeof(struct tb5_list_record)) {
		struct tb5_list_record record;
		struct tb5_chunk_header h;

		memcpy(&record, mended + at, sizeof record);
		if (pread(fd, &h, sizeof h, (off_t)record.offset) != (ssize_t)sizeof h)
			continue;
		record.crc = h.payload_crc;
		memcpy(mended + at, &record, sizeof record);
	}
	put_chunk(fd, step, mended, length, 0);
}

/* Makes the checksums of the lists that an index names right. */
static void put_index(int fd, const struct step *step, const uint8_t *payload, uint32_t length)
{
	static uint8_t mended[UINT16_MAX];
	static uint8_t list[UINT16_MAX];

	if (length)
		memcpy(mended, payload, length);
	for (uint32_t at = 0; at + sizeof(struct tb5_index_entry) <= length;
	     at += (uint32_t)sizeof(struct tb5_index_entry)) {
		struct tb5_index_entry entry;

		memcpy(&entry, mended + at, sizeof entry);
		if (entry.kind != TB5_KIND_LISTS || entry.size > sizeof list ||
		    pread(fd, list, entry.size, (off_t)entry.offset) != (ssize_t)entry.size)
			continue;
		entry.crc = tb5_crc32c(0, list, entry.size);
		memcpy(mended + at, &entry, sizeof entry);
	}
	put_chunk(fd, step, mended, length, 0);
}

static void put_script(int fd, const uint8_t *data, size_t size)
{
	static uint64_t starts[256][64];

	memset(starts, 0, sizeof starts);
	put_file_header(fd);
	while (size >= sizeof(struct step)) {
		struct step step;
		size_t length;
		uint64_t *start;

		memcpy(&step, data, sizeof step);
		data += sizeof step;
		size -= sizeof step;
		length = (size_t)step.size_high << 8 | step.size_low;
		if (length > size)
			length = size;
		start = &starts[step.stream][step.content % 64];
		if (step.kind == TB5_KIND_INDEX)
			put_index(fd, &step, data, (uint32_t)length);
		else if (step.kind == TB5_KIND_LISTS)
			put_lists(fd, &step, data, (uint32_t)length);
		else
			put_chunk(fd, &step, data, (uint32_t)length,
				  step.kind == TB5_KIND_BYTES ? *start : 0);
		if (step.kind == TB5_KIND_BYTES)
			*start += length;
		data += length;
		size -= length;
	}
}

/* ---- Reading it ---- */

static void read_string(TBRW_PTR ptr, TBRW_STRING_OR_ID id)
{
	wchar_t text[32];
	TBRW_U32 size;

	TBRW_convert_uniqueid_to_string(ptr, sizeof text, &id, text, &size);
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
	TBRW_SYSTEM *system;

	if (TBRW_get_system(ptr, 0, NULL, &size) != VT_BUFFER_TOO_SMALL)
		return;
	/* Exactly as large as asked for, so that the address sanitizer sees a byte too many. */
	system = malloc(size);
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
	TBRW_get_host(ptr, sizeof buffer, buffer, &size);
	TBRW_get_os(ptr, sizeof buffer, buffer, &size);
	TBRW_get_application(ptr, sizeof buffer, buffer, &size);
	TBRW_get_version_info(ptr, sizeof buffer, buffer, &size);
	TBRW_get_user_defined_global(ptr, sizeof buffer, buffer, &size);
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
	TBRW_get_stream_info(ptr, stream, sizeof buffer, buffer, &size);
	TBRW_get_user_defined_stream(ptr, stream, sizeof buffer, buffer, &size);
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
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	if (size && *data == 'R')
		put(fd, data + 1, size - 1);
	else
		put_script(fd, data, size);
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
