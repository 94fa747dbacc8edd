/* Makes libtbrw calls in any order, legal or not, on two handles and two files. The input is a list
 * of steps: which call, and small numbers for its arguments. Besides what the sanitizers see, a
 * model of chapter 5 and 9.1 of the guide is held against what the calls return: nothing succeeds
 * in a section that is not open for it, nothing is written twice, and what was closed is whole. */
#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HANDLES         2
#define FILES           2
#define STREAMS         16
#define GLOBAL_SECTIONS 6
#define STREAM_SECTIONS 5
#define STEPS_MAX       400

static char folder[] = "/tmp/fuzz-tbrw-XXXXXX";

enum use { CLOSED, READING, WRITING };

/* What the model knows of a handle. */
struct handle {
	TBRW_PTR ptr;
	unsigned file;
	bool writable;
	enum use sections[GLOBAL_SECTIONS];
	bool written[GLOBAL_SECTIONS]; /* by this handle */
	enum use streams[STREAMS];
	enum use stream_sections[STREAMS][STREAM_SECTIONS];
	bool stream_written[STREAMS][STREAM_SECTIONS];
};

struct machine {
	const uint8_t *data;
	size_t size;
	struct handle handles[HANDLES];
	struct handle *h;  /* of this step */
	unsigned section;  /* of this step */
	TBRW_U32 stream;   /* of this step */
	unsigned argument; /* of this step */
};

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "model: %s\n", what);
	abort();
}

static const wchar_t *path_of(unsigned file)
{
	static wchar_t path[64];

	swprintf(path, 64, L"%s/%u.tb5", folder, file);
	return path;
}

/* ---- Opening and closing ---- */

static void step_open(struct machine *m)
{
	static const TBRW_U32 modes[] = {TBRW_FILE_READ,
					 TBRW_FILE_READ | TBRW_FILE_WRITE,
					 TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS,
					 TBRW_FILE_READ | TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS,
					 TBRW_FILE_CREATE_ALWAYS,
					 TBRW_FILE_WRITE};
	TBRW_U32 mode = modes[m->argument % 6];
	unsigned file = m->section % FILES;
	TBRW_PTR ptr = NULL;

	if (m->h->ptr)
		return;
	if (TBRW_open(&ptr, path_of(file), mode) != VT_SUCCESS) {
		must(!ptr, "a failed open gave a handle");
		return;
	}
	for (unsigned i = 0; i < HANDLES; i++)
		must(!m->handles[i].ptr || !m->handles[i].writable || m->handles[i].file != file ||
			     !(mode & TBRW_FILE_WRITE),
		     "two writers of one file");
	*m->h = (struct handle){.ptr = ptr, .file = file, .writable = mode & TBRW_FILE_WRITE};
}

static bool anything_in_use(const struct handle *h)
{
	for (unsigned s = 0; s < GLOBAL_SECTIONS; s++)
		if (h->sections[s] != CLOSED)
			return true;
	for (unsigned n = 0; n < STREAMS; n++) {
		if (h->streams[n] != CLOSED)
			return true;
		for (unsigned s = 0; s < STREAM_SECTIONS; s++)
			if (h->stream_sections[n][s] != CLOSED)
				return true;
	}
	return false;
}

static void step_close(struct machine *m)
{
	TBRW_U32 before, after;
	TBRW_PTR ptr;

	if (!m->h->ptr || TBRW_get_number_data_streams(m->h->ptr, &before) != VT_SUCCESS ||
	    TBRW_close(m->h->ptr) != VT_SUCCESS)
		return;
	must(!anything_in_use(m->h), "closed with something open");
	m->h->ptr = NULL;
	if (!m->h->writable)
		return;
	/* The other handle may have replaced the file, but only if it is its own now. */
	for (unsigned i = 0; i < HANDLES; i++)
		if (m->handles[i].ptr && m->handles[i].file == m->h->file)
			return;
	must(TBRW_open(&ptr, path_of(m->h->file), TBRW_FILE_READ) == VT_SUCCESS,
	     "closed, unreadable");
	must(TBRW_verify(ptr) == VT_SUCCESS, "closed, but not whole");
	must(TBRW_get_number_data_streams(ptr, &after) == VT_SUCCESS && after == before,
	     "closed, but streams are missing");
	must(TBRW_close(ptr) == VT_SUCCESS, "cannot close what was only opened");
}

static void step_abort(struct machine *m)
{
	if (m->h->ptr)
		must(TBRW_abort_cleanup_and_close(m->h->ptr) == VT_SUCCESS, "abort failed");
	m->h->ptr = NULL;
}

/* ---- Sections and streams ---- */

static TBRW_SECTION_IDENTIFIER global_id(const struct machine *m)
{
	return (TBRW_SECTION_IDENTIFIER)m->section;
}

static TBRW_STREAM_SECTION_IDENTIFIER stream_id(const struct machine *m)
{
	return (TBRW_STREAM_SECTION_IDENTIFIER)m->section;
}

static void step_read_section(struct machine *m)
{
	if (TBRW_reading_section(m->h->ptr, global_id(m)) != VT_SUCCESS)
		return;
	must(m->section < GLOBAL_SECTIONS && m->h->sections[m->section] == CLOSED,
	     "reading a section in use");
	m->h->sections[m->section] = READING;
}

static void step_write_section(struct machine *m)
{
	if (TBRW_writing_section(m->h->ptr, global_id(m)) != VT_SUCCESS)
		return;
	must(m->section < GLOBAL_SECTIONS && m->h->sections[m->section] == CLOSED &&
		     !m->h->written[m->section] && m->h->writable,
	     "writing a section again");
	m->h->sections[m->section] = WRITING;
	m->h->written[m->section] = true;
}

static void step_done_section(struct machine *m)
{
	if (TBRW_done_section(m->h->ptr, global_id(m)) != VT_SUCCESS)
		return;
	must(m->section < GLOBAL_SECTIONS && m->h->sections[m->section] != CLOSED,
	     "done with a section not open");
	m->h->sections[m->section] = CLOSED;
}

static void step_read_stream(struct machine *m)
{
	if (TBRW_reading_stream(m->h->ptr, m->stream) != VT_SUCCESS)
		return;
	must(m->h->streams[m->stream] == CLOSED, "reading a stream in use");
	m->h->streams[m->stream] = READING;
}

static void step_write_stream(struct machine *m)
{
	TBRW_U32 count = 0;

	/* The next number, mostly. */
	TBRW_get_number_data_streams(m->h->ptr, &count);
	if (m->argument & 1)
		m->stream = count;
	if (m->stream >= STREAMS || TBRW_writing_stream(m->h->ptr, m->stream) != VT_SUCCESS)
		return;
	must(m->stream == count && m->h->writable, "a stream out of order");
	memset(m->h->stream_written[m->stream], 0, sizeof(m->h->stream_written[m->stream]));
	m->h->streams[m->stream] = WRITING;
}

static void step_done_stream(struct machine *m)
{
	if (TBRW_done_stream(m->h->ptr, m->stream) != VT_SUCCESS)
		return;
	must(m->h->streams[m->stream] != CLOSED, "done with a stream not open");
	for (unsigned s = 0; s < STREAM_SECTIONS; s++)
		must(m->h->stream_sections[m->stream][s] == CLOSED,
		     "done with a stream whose section is open");
	m->h->streams[m->stream] = CLOSED;
}

static void step_read_stream_section(struct machine *m)
{
	if (TBRW_reading_stream_section(m->h->ptr, m->stream, stream_id(m)) != VT_SUCCESS)
		return;
	must(m->section < STREAM_SECTIONS && m->h->streams[m->stream] == READING &&
		     m->h->stream_sections[m->stream][m->section] == CLOSED,
	     "reading a stream section in use");
	m->h->stream_sections[m->stream][m->section] = READING;
}

static void step_write_stream_section(struct machine *m)
{
	if (TBRW_writing_stream_section(m->h->ptr, m->stream, stream_id(m)) != VT_SUCCESS)
		return;
	must(m->section < STREAM_SECTIONS && m->h->streams[m->stream] == WRITING &&
		     !m->h->stream_written[m->stream][m->section],
	     "writing a stream section again");
	m->h->stream_sections[m->stream][m->section] = WRITING;
	m->h->stream_written[m->stream][m->section] = true;
}

static void step_done_stream_section(struct machine *m)
{
	if (TBRW_done_stream_section(m->h->ptr, m->stream, stream_id(m)) != VT_SUCCESS)
		return;
	must(m->section < STREAM_SECTIONS && m->h->stream_sections[m->stream][m->section] != CLOSED,
	     "done with a stream section not open");
	m->h->stream_sections[m->stream][m->section] = CLOSED;
}

/* ---- Writing ---- */

static TBRW_STRING_OR_ID text(unsigned argument)
{
	static wchar_t texts[][8] = {L"", L"a", L"name", L"\U0001F600", L"\xd800"};
	TBRW_STRING_OR_ID string = {.soi_uniqueid = 0};

	if (argument % 6 < 5)
		string.soi_ptr = texts[argument % 6];
	return string;
}

static void wrote(struct machine *m, unsigned section, TBRW_U32 code)
{
	must(code != VT_SUCCESS || m->h->sections[section] == WRITING,
	     "wrote to a section not open for it");
}

static void wrote_stream(struct machine *m, unsigned section, TBRW_U32 code)
{
	must(code != VT_SUCCESS || m->h->stream_sections[m->stream][section] == WRITING,
	     "wrote to a stream section not open for it");
}

static void step_set_software(struct machine *m)
{
	TBRW_HOST host = {.host_size = sizeof(host), .host_name = text(m->argument)};
	TBRW_OS os = {.os_size = sizeof(os), .os_name = text(m->argument)};
	TBRW_APPLICATION app = {.app_size = sizeof(app)};
	TBRW_VERSION_INFO version = {.version_info_size = sizeof(version)};

	wrote(m, TBRW_SOFTWARE_SECTION, TBRW_set_host(m->h->ptr, &host));
	wrote(m, TBRW_SOFTWARE_SECTION, TBRW_set_os(m->h->ptr, &os));
	wrote(m, TBRW_SOFTWARE_SECTION, TBRW_set_application(m->h->ptr, &app));
	wrote(m, TBRW_VERSION_INFO_SECTION, TBRW_set_version_info(m->h->ptr, &version));
}

static void step_set_system(struct machine *m)
{
	TBRW_CPUID_IA64 leaves[3] = {{0, 0, 0}};
	TBRW_CPU_ARCH arch = {sizeof(arch), (TBRW_U16)(m->argument % 4), 3, {NULL}};
	TBRW_CPU cpu = {.cpu_size = sizeof(cpu), .num_cpu_arch_array = 1, .cpu_arch_array = &arch};
	TBRW_NODE node = {.node_size = sizeof(node), .node_num_available = 1, .cpu_array = &cpu};
	TBRW_SYSTEM system = {sizeof(system), 1, &node};

	arch.cpuid_ia64_array = leaves;
	wrote(m, TBRW_HARDWARE_SECTION, TBRW_set_system(m->h->ptr, &system));
}

static void step_add_processes(struct machine *m)
{
	TBRW_PID pid = {.pid_size = sizeof(pid),
			.pid_id = m->argument % 3,
			.pid_flags = m->argument % 8,
			.pid_event_when = m->argument,
			.pid_name = text(m->argument)};
	TBRW_TID tid = {.tid_size = sizeof(tid),
			.tid_associated_pid = m->argument % 3,
			.tid_id = m->argument % 5,
			.tid_flags = m->argument % 8,
			.tid_event_when = m->argument};
	TBRW_MODULE module = {.module_size = sizeof(module),
			      .module_associated_pid = m->argument % 3,
			      .module_flags = m->argument % 64,
			      .module_event_when = m->argument,
			      .module_length = m->argument * 16,
			      .module_load_address = m->argument % 7 * 16,
			      .module_unload_tsc = m->argument * 2,
			      .module_path = text(m->argument)};

	wrote(m, TBRW_PROCESS_THREAD_SECTION, TBRW_add_process(m->h->ptr, &pid));
	wrote(m, TBRW_PROCESS_THREAD_SECTION, TBRW_add_thread(m->h->ptr, &tid));
	wrote(m, TBRW_MODULE_SECTION, TBRW_add_module(m->h->ptr, &module));
}

static void step_set_stream(struct machine *m)
{
	TBRW_STREAM_INFO info = {.stream_info_size = sizeof(info),
				 .stream_type = m->argument % 10,
				 .comment = text(m->argument)};
	TBRW_EVENT_DETAIL detail = {.detail_size = sizeof(detail)};
	TBRW_EVENT event = {.event_size = sizeof(event),
			    .event_num_details = m->argument % 2,
			    .event_detail_array = &detail};

	wrote_stream(m, TBRW_STREAM_INFO_SECTION,
		     TBRW_set_stream_info(m->h->ptr, m->stream, &info));
	wrote_stream(m, TBRW_EVENT_DESCRIPTION_SECTION,
		     TBRW_add_event(m->h->ptr, m->stream, &event));
}

static void step_add_descriptor(struct machine *m)
{
	static const struct {
		TBRW_U16 type;
		TBRW_U16 subtype;
		TBRW_U32 size;
	} kinds[] = {{ST_LEGACY_SAMPLE_RECORD, SST_NONE, sizeof(TBRW_SampleRecordPC)},
		     {ST_TIMESTAMP, SST_TSC, sizeof(TBRW_SampleRecordTSC)},
		     {ST_NONE, SST_NONE, 1},
		     {ST_EVENT_ID, SST_NONE, 4},
		     {ST_RESERVED_START, SST_NONE, 4},
		     {ST_NONE, SST_NONE, 0}};
	TBRW_SAMPREC_DESC_ENTRY d;

	memset(&d, 0, sizeof(d));
	d.desc_size = sizeof(d);
	d.desc_type = kinds[m->argument % 6].type;
	d.desc_subtype = kinds[m->argument % 6].subtype;
	d.desc_data_size = kinds[m->argument % 6].size;
	d.desc_name = text(m->argument);
	wrote_stream(m, TBRW_DATA_DESCRIPTION_SECTION,
		     TBRW_add_data_descriptor_entry(m->h->ptr, m->stream, &d));
}

static void step_add_data(struct machine *m)
{
	unsigned char bytes[256];

	memset(bytes, (int)(m->argument % 40), sizeof(bytes));
	wrote_stream(m, TBRW_DATA_SECTION, TBRW_add_data(m->h->ptr, m->stream, m->argument, bytes));
	wrote_stream(m, TBRW_USER_DEFINED_STREAM_SECTION,
		     TBRW_set_user_defined_stream(m->h->ptr, m->stream, m->argument, bytes));
	wrote(m, TBRW_USER_DEFINED_GLOBAL_SECTION,
	      TBRW_set_user_defined_global(m->h->ptr, m->argument, bytes));
}

/* ---- Reading ---- */

static TBRW_U32 see(void *entries, TBRW_U32 size, TBRW_U32 count, void *user)
{
	volatile unsigned char sum = 0;

	(void)count;
	for (TBRW_U32 i = 0; i < size; i++)
		sum = (unsigned char)(sum + ((unsigned char *)entries)[i]);
	return *(unsigned *)user;
}

static TBRW_U32 see_pids(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	return see(pids, size, count, user);
}

static TBRW_U32 see_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	return see(modules, size, count, user);
}

static TBRW_U32 see_bound(const void *data, TBRW_U32 size, TBRW_U64 count,
			  const DATA_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	must(table_size == count * sizeof(*table), "size of the bind table");
	(void)data;
	(void)size;
	return *(unsigned *)user;
}

static void step_read(struct machine *m)
{
	unsigned answer = m->argument % 3;
	unsigned char buffer[512];
	TBRW_U32 size;
	TBRW_U32 code = TBRW_enumerate_data(m->h->ptr, m->stream, see, &answer, m->argument % 4);

	must(code != VT_SUCCESS || m->h->stream_sections[m->stream][TBRW_DATA_SECTION] == READING,
	     "read data that is not open");
	code = TBRW_enumerate_modules(m->h->ptr, see_modules, &answer, 0);
	must(code != VT_SUCCESS || m->h->sections[TBRW_MODULE_SECTION] == READING,
	     "read modules that are not open");
	TBRW_enumerate_processes(m->h->ptr, see_pids, &answer, m->argument % 4);
	TBRW_bind_enumerate_data(m->h->ptr, m->stream, see_bound, &answer, m->argument % 4);
	TBRW_get_stream_info(m->h->ptr, m->stream, sizeof(buffer), buffer, &size);
	TBRW_get_user_defined_global(m->h->ptr, m->argument, buffer, &size);
	TBRW_get_system(m->h->ptr, m->argument, (TBRW_SYSTEM *)(void *)buffer, &size);
	TBRW_verify(m->h->ptr);
}

static TBRW_U32 see_tids(TBRW_TID *tids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	return see(tids, size, count, user);
}

static TBRW_U32 see_descriptors(TBRW_SAMPREC_DESC_ENTRY *d, TBRW_U32 size, TBRW_U32 count,
				void *user)
{
	return see(d, size, count, user);
}

static TBRW_U32 see_bound_modules(const TBRW_MODULE *modules, TBRW_U32 size, TBRW_U64 count,
				  const MODULE_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	must(size == count * sizeof(*modules) && table_size == count * sizeof(*table),
	     "sizes of bound modules");
	return *(unsigned *)user;
}

static TBRW_U32 see_bound_tids(const TBRW_TID *tids, TBRW_U32 size, TBRW_U64 count,
			       const TID_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	must(size == count * sizeof(*tids) && table_size == count * sizeof(*table),
	     "sizes of bound threads");
	return *(unsigned *)user;
}

static void step_read_more(struct machine *m)
{
	unsigned answer = m->argument % 3;
	const TBRW_MODULE *module;
	const TBRW_PID *pid;
	const TBRW_TID *tid;

	TBRW_enumerate_threads(m->h->ptr, see_tids, &answer, m->argument % 4);
	TBRW_enumerate_data_descriptor_entries(m->h->ptr, m->stream, see_descriptors, &answer);
	TBRW_bind_enumerate_modules(m->h->ptr, see_bound_modules, &answer, m->argument % 4);
	TBRW_bind_enumerate_threads(m->h->ptr, see_bound_tids, &answer, m->argument % 4);
	TBRW_get_one_module(m->h->ptr, m->argument % 4, &module);
	TBRW_get_one_pid(m->h->ptr, m->argument % 4, &pid);
	TBRW_get_one_tid(m->h->ptr, m->argument % 4, &tid);
}

static bool is_bound(TBRW_PTR ptr)
{
	TBRW_U32 bound = 0;

	return TBRW_is_bound(ptr, 0, &bound) == VT_SUCCESS && bound;
}

static void step_bind(struct machine *m)
{
	if (TBRW_dobind(m->h->ptr, m->argument % 8 ? 0 : m->stream) == VT_SUCCESS)
		must(is_bound(m->h->ptr), "bound and not bound");
}

static void step_unbind(struct machine *m)
{
	if (TBRW_unbind(m->h->ptr, 0) == VT_SUCCESS)
		must(!is_bound(m->h->ptr), "unbound and bound");
}

/* ---- Driving ---- */

/* Opens all there is for reading, reads it, and is done with it again. */
static void step_read_all(struct machine *m)
{
	unsigned argument = m->argument;

	for (m->section = 0; m->section < GLOBAL_SECTIONS; m->section++)
		step_read_section(m);
	step_read_stream(m);
	for (m->section = 0; m->section < STREAM_SECTIONS; m->section++)
		step_read_stream_section(m);
	step_read(m);
	step_read_more(m);
	/* Sometimes it stays open, for the steps that follow. */
	if (argument & 1)
		return;
	for (m->section = 0; m->section < STREAM_SECTIONS; m->section++)
		if (m->h->stream_sections[m->stream][m->section] == READING)
			step_done_stream_section(m);
	if (m->h->streams[m->stream] == READING)
		step_done_stream(m);
	for (m->section = 0; m->section < GLOBAL_SECTIONS; m->section++)
		if (m->h->sections[m->section] == READING)
			step_done_section(m);
}

/* Samples from nothing to done in one step: few random orders would get there. */
static void step_samples(struct machine *m)
{
	static const TBRW_STREAM_SECTION_IDENTIFIER order[] = {TBRW_STREAM_INFO_SECTION,
							       TBRW_DATA_DESCRIPTION_SECTION,
							       TBRW_DATA_SECTION};

	m->argument = m->argument / 2 * 2 + 1;
	step_write_stream(m);
	if (m->stream >= STREAMS)
		return;
	for (unsigned i = 0; i < 3; i++) {
		m->section = order[i];
		step_write_stream_section(m);
		m->argument = i == 0 ? (m->stream ? 8 : 1) : i == 1 ? (m->stream ? 2 : 0) : 40;
		(i == 0 ? step_set_stream : i == 1 ? step_add_descriptor : step_add_data)(m);
		if (i == 1 && !m->stream) {
			m->argument = 1;
			step_add_descriptor(m);
		}
		step_done_stream_section(m);
	}
	step_done_stream(m);
}

/* run.py makes the first inputs by these numbers. */
static void (*const steps[])(struct machine *m) = {step_open,
						   step_close,
						   step_abort,
						   step_read_section,
						   step_write_section,
						   step_done_section,
						   step_read_stream,
						   step_write_stream,
						   step_done_stream,
						   step_read_stream_section,
						   step_write_stream_section,
						   step_done_stream_section,
						   step_set_software,
						   step_set_system,
						   step_add_processes,
						   step_set_stream,
						   step_add_descriptor,
						   step_add_data,
						   step_read,
						   step_bind,
						   step_unbind,
						   step_samples,
						   step_read_all,
						   step_read_more};

static bool next_step(struct machine *m)
{
	if (m->size < 3)
		return false;
	unsigned step = m->data[0] % (sizeof(steps) / sizeof(*steps));
	m->h = &m->handles[m->data[2] >= 224];
	m->section = m->data[1] % 8;
	m->stream = m->data[1] / 8 % STREAMS;
	m->argument = m->data[2];
	m->data += 3;
	m->size -= 3;
	/* A file is always open, so that few steps are lost on none. */
	if (!m->h->ptr && step > 2)
		step_open(m);
	steps[step](m);
	return true;
}

static void remove_folder(void)
{
	rmdir(folder);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine m = {.data = data, .size = size};

	for (unsigned i = 0; i < STEPS_MAX && next_step(&m); i++) {
	}
	for (unsigned i = 0; i < HANDLES; i++)
		if (m.handles[i].ptr)
			TBRW_abort_cleanup_and_close(m.handles[i].ptr);
	for (unsigned file = 0; file < FILES; file++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%u.tb5", folder, file);
		unlink(path);
	}
	return 0;
}
