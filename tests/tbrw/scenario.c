#include "tests/tbrw/scenario.h"

#include "tests/tbrw/support.h"
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Leaves the function with the first error. */
#define TRY(call)                       \
	do {                            \
		TBRW_U32 ret_ = (call); \
		if (ret_ != VT_SUCCESS) \
			return ret_;    \
	} while (0)

/* ---- Writing ---- */

static TBRW_U32 write_hardware(TBRW_PTR ptr)
{
	TBRW_CPUID_IA32 leaf = {0, 1, 2, 3, 4, 0};
	TBRW_CPU_ARCH arch = {sizeof(arch), TBRW_GST_EM64T, 1, {&leaf}};
	TBRW_CPU cpus[40];
	TBRW_NODE node = {sizeof(node), 0, 0, 40, 40, 1024, cpus};
	TBRW_SYSTEM system = {sizeof(system), 1, &node};

	memset(cpus, 0, sizeof(cpus));
	for (TBRW_U32 i = 0; i < 40; i++) {
		cpus[i].cpu_size = sizeof(*cpus);
		cpus[i].cpu_number = i;
		cpus[i].num_cpu_arch_array = 1;
		cpus[i].cpu_arch_array = &arch;
	}
	TRY(TBRW_writing_section(ptr, TBRW_HARDWARE_SECTION));
	TRY(TBRW_set_system(ptr, &system));
	return TBRW_done_section(ptr, TBRW_HARDWARE_SECTION);
}

static TBRW_U32 write_software(TBRW_PTR ptr)
{
	TBRW_HOST host = {.host_size = sizeof(host), .host_name = string_of(L"host")};
	TBRW_OS os = {.os_size = sizeof(os), .os_name = string_of(L"Linux")};
	TBRW_VERSION_INFO version = {sizeof(version), 1, 2, 3};
	char bytes[100] = "bytes";

	TRY(TBRW_writing_section(ptr, TBRW_SOFTWARE_SECTION));
	TRY(TBRW_set_host(ptr, &host));
	TRY(TBRW_set_os(ptr, &os));
	TRY(TBRW_done_section(ptr, TBRW_SOFTWARE_SECTION));
	TRY(TBRW_writing_section(ptr, TBRW_VERSION_INFO_SECTION));
	TRY(TBRW_set_version_info(ptr, &version));
	TRY(TBRW_done_section(ptr, TBRW_VERSION_INFO_SECTION));
	TRY(TBRW_writing_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	TRY(TBRW_set_user_defined_global(ptr, sizeof(bytes), bytes));
	return TBRW_done_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION);
}

static TBRW_U32 write_processes(TBRW_PTR ptr)
{
	TBRW_PID process = process_of(1, TBRW_PID_CREATE, 0, L"process");
	TBRW_TID thread = thread_of(1, 1, TBRW_TID_CREATE, 0, L"thread");
	wchar_t path[] = L"/lib/000.so";

	TRY(TBRW_writing_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	TRY(TBRW_add_process(ptr, &process));
	TRY(TBRW_add_thread(ptr, &thread));
	TRY(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	TRY(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (uint32_t i = 0; i < 200; i++) {
		TBRW_MODULE module = module_of(1 + i % 3, i * 0x1000, 0x1000, 0, path);

		path[5] = (wchar_t)(L'0' + i / 100);
		path[6] = (wchar_t)(L'0' + i / 10 % 10);
		path[7] = (wchar_t)(L'0' + i % 10);
		TRY(TBRW_add_module(ptr, &module));
	}
	return TBRW_done_section(ptr, TBRW_MODULE_SECTION);
}

static TBRW_U32 write_events(TBRW_PTR ptr)
{
	TBRW_EVENT_DETAIL details[2] = {{.detail_size = sizeof(*details)},
					{.detail_size = sizeof(*details)}};
	TBRW_EVENT event = {.event_size = sizeof(event),
			    .event_num_details = 2,
			    .event_name = string_of(L"Clock"),
			    .event_detail_array = details};

	TRY(TBRW_writing_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	TRY(TBRW_add_event(ptr, 0, &event));
	TRY(TBRW_add_event(ptr, 0, &event));
	return TBRW_done_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION);
}

static TBRW_U32 write_stream_head(TBRW_PTR ptr, TBRW_U32 stream, TBRW_STREAM_INFO info,
				  TBRW_SAMPREC_DESC_ENTRY first, TBRW_SAMPREC_DESC_ENTRY second)
{
	TRY(TBRW_writing_stream(ptr, stream));
	TRY(TBRW_writing_stream_section(ptr, stream, TBRW_STREAM_INFO_SECTION));
	TRY(TBRW_set_stream_info(ptr, stream, &info));
	TRY(TBRW_done_stream_section(ptr, stream, TBRW_STREAM_INFO_SECTION));
	TRY(TBRW_writing_stream_section(ptr, stream, TBRW_DATA_DESCRIPTION_SECTION));
	TRY(TBRW_add_data_descriptor_entry(ptr, stream, &first));
	TRY(TBRW_add_data_descriptor_entry(ptr, stream, &second));
	TRY(TBRW_done_stream_section(ptr, stream, TBRW_DATA_DESCRIPTION_SECTION));
	return TBRW_writing_stream_section(ptr, stream, TBRW_DATA_SECTION);
}

static TBRW_U32 write_samples_from(TBRW_PTR ptr, uint64_t seed, uint32_t *added)
{
	TRY(write_stream_head(ptr, 0, stream_info_of(TBRW_SAMPLING_STREAM, L"samples"),
			      descriptor_of(ST_LEGACY_SAMPLE_RECORD, SST_NONE, 0, 32,
					    L"SampleRecord"),
			      descriptor_of(ST_TIMESTAMP, SST_TSC, 0, 8, L"TimeStamp")));
	for (uint32_t i = 0; i < SCENARIO_SAMPLES; i++) {
		struct sample s = sample_of(1 + i % 4, 1 + i % 5, seed + i, i);

		TRY(TBRW_add_data(ptr, 0, sizeof(s), &s));
		++*added;
	}
	TRY(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	TRY(write_events(ptr));
	TRY(TBRW_writing_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	TRY(TBRW_set_user_defined_stream(ptr, 0, 5, (char[]){1, 2, 3, 4, 5}));
	TRY(TBRW_done_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	return TBRW_done_stream(ptr, 0);
}

static TBRW_U32 write_all(TBRW_PTR ptr, uint64_t seed, uint32_t *added)
{
	TRY(write_hardware(ptr));
	TRY(write_software(ptr));
	TRY(write_processes(ptr));
	return write_samples_from(ptr, seed, added);
}

/* Closes if all went well; what happens to the file otherwise is the library's duty. */
static TBRW_U32 close_or_abort(TBRW_PTR ptr, TBRW_U32 code)
{
	if (code == VT_SUCCESS)
		code = TBRW_close(ptr);
	if (code != VT_SUCCESS)
		TBRW_abort_cleanup_and_close(ptr);
	return code;
}

TBRW_U32 scenario_write(const wchar_t *path, uint64_t seed, uint32_t *added)
{
	TBRW_PTR ptr;

	*added = 0;
	TRY(TBRW_open(&ptr, path, CREATE));
	return close_or_abort(ptr, write_all(ptr, seed, added));
}

static TBRW_U32 add_stream(TBRW_PTR ptr)
{
	TRY(write_stream_head(ptr, 1, stream_info_of(TBRW_CUSTOM_STREAM, L"added"),
			      descriptor_of(ST_NONE, SST_NONE, 0, 4, L"first"),
			      descriptor_of(ST_NONE, SST_NONE, 4, 4, L"second")));
	TRY(TBRW_add_data(ptr, 1, 16, (char[16]){0}));
	TRY(TBRW_done_stream_section(ptr, 1, TBRW_DATA_SECTION));
	return TBRW_done_stream(ptr, 1);
}

static TBRW_U32 bind_all(TBRW_PTR ptr)
{
	TRY(add_stream(ptr));
	TRY(TBRW_dobind(ptr, 0));
	TRY(TBRW_unbind(ptr, 0));
	return TBRW_dobind(ptr, 0);
}

TBRW_U32 scenario_bind(const wchar_t *path)
{
	TBRW_PTR ptr;

	TRY(TBRW_open(&ptr, path, READ_WRITE));
	return close_or_abort(ptr, bind_all(ptr));
}

/* ---- Reading ---- */

struct seen {
	TBRW_PTR ptr;
	uint64_t seed;
	uint32_t samples;
};

static TBRW_U32 see_samples(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct seen *seen = user;
	const struct sample *samples = data;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++)
		if (samples[i].pc.iip != seen->seed + seen->samples++)
			return VT_UNEXPECTED_VALUE;
	return TRUE;
}

static TBRW_U32 see_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct seen *seen = user;
	wchar_t text[64];

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++)
		TRY(TBRW_convert_uniqueid_to_string(seen->ptr, sizeof(text),
						    &modules[i].module_path, text, NULL));
	return TRUE;
}

static TBRW_U32 see_event(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)size;
	(void)count;
	(void)user;
	return event->event_num_details == 2 ? TRUE : VT_UNEXPECTED_VALUE;
}

static TBRW_U32 see_processes(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)pids;
	(void)size;
	(void)count;
	(void)user;
	return TRUE;
}

static TBRW_U32 read_hardware(TBRW_PTR ptr)
{
	TBRW_U32 size;
	TBRW_U32 code = TBRW_get_system(ptr, 0, NULL, &size);

	if (code != VT_BUFFER_TOO_SMALL)
		return code;
	TBRW_SYSTEM *system = malloc(size);
	if (!system)
		return VT_NO_MEMORY;
	code = TBRW_get_system(ptr, size, system, NULL);
	free(system);
	return code;
}

/* Opens for reading if it is there. */
static TBRW_U32 begin(TBRW_U32 code, bool *there)
{
	*there = code == VT_SUCCESS;
	return code == VT_SECTION_NOT_EXIST ? VT_SUCCESS : code;
}

static TBRW_U32 read_sections(TBRW_PTR ptr, struct seen *seen)
{
	bool there;

	TRY(begin(TBRW_reading_section(ptr, TBRW_HARDWARE_SECTION), &there));
	if (there)
		TRY(read_hardware(ptr));
	TRY(begin(TBRW_reading_section(ptr, TBRW_MODULE_SECTION), &there));
	if (there)
		TRY(TBRW_enumerate_modules(ptr, see_modules, seen, 0));
	TRY(begin(TBRW_reading_section(ptr, TBRW_PROCESS_THREAD_SECTION), &there));
	if (there)
		TRY(TBRW_enumerate_processes(ptr, see_processes, seen, 0));
	return VT_SUCCESS;
}

static TBRW_U32 read_samples(TBRW_PTR ptr, struct seen *seen)
{
	bool there;

	TRY(TBRW_reading_stream(ptr, 0));
	TRY(begin(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION), &there));
	TRY(begin(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION), &there));
	if (there)
		TRY(TBRW_enumerate_data(ptr, 0, see_samples, seen, 0));
	TRY(begin(TBRW_reading_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION), &there));
	if (there)
		TRY(TBRW_enumerate_events(ptr, 0, see_event, seen, 0));
	return VT_SUCCESS;
}

static TBRW_U32 read_all(TBRW_PTR ptr, struct seen *seen)
{
	TBRW_U32 code = TBRW_verify(ptr);
	TBRW_U32 streams;

	if (code != VT_SUCCESS && code != VT_INCOMPLETE_TB5_ENCOUNTERED)
		return code;
	TRY(read_sections(ptr, seen));
	TRY(TBRW_get_number_data_streams(ptr, &streams));
	return streams ? read_samples(ptr, seen) : VT_SUCCESS;
}

TBRW_U32 scenario_read(const wchar_t *path, uint64_t seed, uint32_t *seen)
{
	struct seen s = {.seed = seed};

	TRY(TBRW_open(&s.ptr, path, READ));
	TBRW_U32 code = read_all(s.ptr, &s);
	TBRW_abort_cleanup_and_close(s.ptr);
	if (code == VT_SUCCESS)
		*seen = s.samples;
	return code;
}

void expect_no_more_than(const wchar_t *path, uint32_t added)
{
	uint32_t seen = 0;
	TBRW_U32 code = scenario_read(path, 7, &seen);

	ck_assert_msg(code == VT_SUCCESS || code == VT_FILE_OPEN_FAILED ||
			      code == VT_DATA_DESC_NOT_EXIST,
		      "%u", code);
	ck_assert_uint_le(seen, added);
}
