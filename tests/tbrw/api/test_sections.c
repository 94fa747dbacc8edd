/* Each section: what is written is read back, and what the state does not allow is refused. */
#include "tests/tbrw/support.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool same_text(TBRW_PTR ptr, TBRW_STRING_OR_ID id, const wchar_t *text)
{
	return wcscmp(text_of(ptr, id), text) == 0;
}

/* ---- Hardware ---- */

/* Two nodes: the first with two CPUs of which one has two architectures, the second without any. */
static void write_hardware(TBRW_PTR ptr)
{
	TBRW_CPUID_IA32 leaves[2] = {{0, 1, 2, 3, 4, 0}, {1, 5, 6, 7, 8, 0}};
	TBRW_CPUID_IA64 leaves64[1] = {{9, 10, 0}};
	TBRW_CPU_ARCH archs[2] = {{sizeof(TBRW_CPU_ARCH), TBRW_GST_EM64T, 2, {leaves}},
				  {sizeof(TBRW_CPU_ARCH), TBRW_GST_ITANIUM, 1, {NULL}}};
	TBRW_CPU cpus[2];
	TBRW_NODE nodes[2];
	TBRW_SYSTEM system = {sizeof(system), 2, nodes};

	archs[1].cpuid_ia64_array = leaves64;
	memset(cpus, 0, sizeof(cpus));
	memset(nodes, 0, sizeof(nodes));
	for (unsigned i = 0; i < 2; i++) {
		cpus[i].cpu_size = sizeof(cpus[i]);
		cpus[i].cpu_number = i;
		nodes[i].node_size = sizeof(nodes[i]);
		nodes[i].node_id = i;
	}
	cpus[0].cpu_tsc_offset = -5;
	cpus[0].num_cpu_arch_array = 2;
	cpus[0].cpu_arch_array = archs;
	nodes[0].node_num_available = 2;
	nodes[0].cpu_array = cpus;
	nodes[1].node_num_available = 4;
	nodes[1].node_physical_memory = 1ull << 40;
	OK(TBRW_writing_section(ptr, TBRW_HARDWARE_SECTION));
	FAILS(TBRW_done_section(ptr, TBRW_HARDWARE_SECTION), VT_NO_DATA_TO_WRITE);
	cpus[1].cpu_size = 1;
	FAILS(TBRW_set_system(ptr, &system), VT_UNSUPPORTED_DATA_SIZE);
	cpus[1].cpu_size = sizeof(cpus[1]);
	archs[1].arch_size = 0;
	FAILS(TBRW_set_system(ptr, &system), VT_UNSUPPORTED_DATA_SIZE);
	archs[1].arch_size = sizeof(archs[1]);
	FAILS(TBRW_set_system(ptr, NULL), VT_UNEXPECTED_NULL_PTR);
	OK(TBRW_set_system(ptr, &system));
	FAILS(TBRW_set_system(ptr, &system), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_done_section(ptr, TBRW_HARDWARE_SECTION));
}

START_TEST(hardware)
{
	const TBRW_U32 expected = sizeof(TBRW_SYSTEM) + 2 * sizeof(TBRW_NODE) +
				  2 * sizeof(TBRW_CPU) + 2 * sizeof(TBRW_CPU_ARCH) +
				  2 * sizeof(TBRW_CPUID_IA32) + sizeof(TBRW_CPUID_IA64);
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_SYSTEM *system = malloc(expected);
	TBRW_U32 size = 0;

	ck_assert_ptr_nonnull(system);
	write_hardware(ptr);
	OK(TBRW_close(ptr));
	ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_section(ptr, TBRW_HARDWARE_SECTION));
	FAILS(TBRW_get_system(ptr, 0, NULL, &size), VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, expected);
	FAILS(TBRW_get_system(ptr, size - 1, system, NULL), VT_BUFFER_TOO_SMALL);
	FAILS(TBRW_get_system(ptr, size, NULL, NULL), VT_BUFFER_NULL);
	OK(TBRW_get_system(ptr, size, system, &size));
	ck_assert_uint_eq(size, expected);
	ck_assert_uint_eq(system->system_num_nodes, 2);
	ck_assert_uint_eq(system->node_array[1].node_physical_memory, 1ull << 40);
	ck_assert_uint_eq(system->node_array[1].node_num_available, 4);
	ck_assert_ptr_null(system->node_array[1].cpu_array);
	const TBRW_CPU *cpu = system->node_array[0].cpu_array;
	ck_assert_int_eq(cpu[0].cpu_tsc_offset, -5);
	ck_assert_uint_eq(cpu[1].cpu_number, 1);
	ck_assert_ptr_null(cpu[1].cpu_arch_array);
	ck_assert_uint_eq(cpu[0].cpu_arch_array[0].cpuid_ia32_array[1].cpuid_edx, 8);
	ck_assert_uint_eq(cpu[0].cpu_arch_array[1].cpuid_ia64_array[0].cpuid_val, 10);
	OK(TBRW_done_section(ptr, TBRW_HARDWARE_SECTION));
	FAILS(TBRW_get_system(ptr, size, system, NULL), VT_SECTION_NOT_READABLE);
	OK(TBRW_close(ptr));
	free(system);
}
END_TEST

/* ---- Software, version, user-defined ---- */

START_TEST(software)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_HOST host = {sizeof(host), string_of(L"127.0.0.1"), string_of(L"hôst"), 0};
	TBRW_OS os = {sizeof(os),          TBRW_OSFAMILY_LINUX64, 6, 1, 2, 3,
		      string_of(L"Linux"), string_of(NULL)};
	TBRW_APPLICATION app = {sizeof(app), 0, 4096, 4096, 0x10000, 0x7fffffffffff};
	TBRW_U32 size;

	OK(TBRW_writing_section(ptr, TBRW_SOFTWARE_SECTION));
	FAILS(TBRW_done_section(ptr, TBRW_SOFTWARE_SECTION), VT_NO_DATA_TO_WRITE);
	OK(TBRW_set_host(ptr, &host));
	FAILS(TBRW_set_host(ptr, &host), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_set_os(ptr, &os));
	FAILS(TBRW_set_os(ptr, &os), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_done_section(ptr, TBRW_SOFTWARE_SECTION));
	/* Readable through the handle that wrote it. */
	OK(TBRW_reading_section(ptr, TBRW_SOFTWARE_SECTION));
	memset(&host, 0, sizeof(host));
	OK(TBRW_get_host(ptr, sizeof(host), &host, &size));
	ck_assert_uint_eq(size, sizeof(host));
	ck_assert(same_text(ptr, host.host_name, L"hôst"));
	ck_assert(same_text(ptr, host.host_ip_address, L"127.0.0.1"));
	FAILS(TBRW_get_application(ptr, sizeof(app), &app, NULL), VT_ENTRY_NOT_FOUND);
	OK(TBRW_done_section(ptr, TBRW_SOFTWARE_SECTION));
	OK(TBRW_close(ptr));

	ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_section(ptr, TBRW_SOFTWARE_SECTION));
	memset(&os, 0, sizeof(os));
	FAILS(TBRW_get_os(ptr, sizeof(os) - 1, &os, &size), VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, sizeof(os));
	ck_assert_uint_eq(os.os_size, 0);
	OK(TBRW_get_os(ptr, sizeof(os), &os, NULL));
	ck_assert_uint_eq(os.os_build, 2);
	ck_assert(same_text(ptr, os.os_name, L"Linux"));
	ck_assert_uint_eq(os.os_name_extra.soi_uniqueid, 0);
	OK(TBRW_done_section(ptr, TBRW_SOFTWARE_SECTION));
	OK(TBRW_close(ptr));
}
END_TEST

START_TEST(version_and_user_defined)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_VERSION_INFO info = {sizeof(info), 0xffffffff, 1, 0x10};
	TBRW_U32 size = 0;
	char data[8] = "abcdefg";

	OK(TBRW_writing_section(ptr, TBRW_VERSION_INFO_SECTION));
	OK(TBRW_set_version_info(ptr, &info));
	FAILS(TBRW_set_version_info(ptr, &info), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_done_section(ptr, TBRW_VERSION_INFO_SECTION));
	OK(TBRW_writing_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	FAILS(TBRW_set_user_defined_global(ptr, 3, NULL), VT_BUFFER_NULL);
	FAILS(TBRW_done_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION), VT_NO_DATA_TO_WRITE);
	OK(TBRW_set_user_defined_global(ptr, 3, data));
	OK(TBRW_set_user_defined_global(ptr, 5, data + 3));
	OK(TBRW_done_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	OK(TBRW_close(ptr));

	ptr = open_file("a.tb5", READ);
	memset(&info, 0, sizeof(info));
	memset(data, 0, sizeof(data));
	OK(TBRW_reading_section(ptr, TBRW_VERSION_INFO_SECTION));
	OK(TBRW_get_version_info(ptr, sizeof(info), &info, NULL));
	ck_assert_uint_eq(info.sample_file_version, 0x10);
	OK(TBRW_read_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	FAILS(TBRW_get_user_defined_global(ptr, 0, NULL, &size), VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, 8);
	OK(TBRW_get_user_defined_global(ptr, 8, data, NULL));
	ck_assert_str_eq(data, "abcdefg");
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* ---- Processes, threads, modules ---- */

struct seen {
	TBRW_U32 calls;
	TBRW_U32 entries;
	TBRW_U32 answer;
	TBRW_U64 first;
};

static TBRW_U32 see_modules(TBRW_MODULE *modules, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct seen *seen = user;

	ck_assert_uint_eq(size, count * sizeof(*modules));
	if (!seen->calls++)
		seen->first = modules[0].module_load_address;
	for (TBRW_U32 i = 0; i < count; i++)
		ck_assert_uint_eq(modules[i].module_load_address,
				  (seen->first / 0x1000 + seen->entries + i) * 0x1000);
	seen->entries += count;
	return seen->answer;
}

START_TEST(modules)
{
	enum { COUNT = 6000 };
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	struct seen seen = {0, 0, TRUE, 0};
	const TBRW_MODULE *one;

	FAILS(TBRW_add_module(ptr, NULL), VT_SECTION_NOT_WRITEABLE);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_add_module(ptr, NULL), VT_UNEXPECTED_NULL_PTR);
	for (uint32_t i = 0; i < COUNT; i++) {
		TBRW_MODULE m = module_of(1, i * 0x1000ull, 0x1000, i, i % 2 ? L"/odd" : L"/even");

		m.module_segment_number = i;
		m.reserved_for_legacy_flags = i;
		m.module_segment_name = string_of(L"segment");
		OK(TBRW_add_module(ptr, &m));
		m.module_size--;
		FAILS(TBRW_add_module(ptr, &m), VT_UNSUPPORTED_DATA_SIZE);
	}
	FAILS(TBRW_get_one_module(ptr, 0, &one), VT_SECTION_NOT_READABLE);
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_close(ptr));

	ptr = open_file("a.tb5", READ);
	FAILS(TBRW_enumerate_modules(ptr, see_modules, &seen, 0), VT_SECTION_NOT_READABLE);
	OK(TBRW_reading_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_enumerate_modules(ptr, NULL, &seen, 0), VT_UNEXPECTED_NULL_PTR);
	OK(TBRW_enumerate_modules(ptr, see_modules, &seen, 0));
	ck_assert_uint_eq(seen.entries, COUNT);
	ck_assert_uint_gt(seen.calls, 1);
	seen = (struct seen){0, 0, TRUE, 0};
	OK(TBRW_enumerate_modules(ptr, see_modules, &seen, 4000));
	ck_assert_uint_eq(seen.entries, COUNT - 4000);
	ck_assert_uint_eq(seen.first, 4000 * 0x1000);
	seen = (struct seen){0, 0, FALSE, 0};
	OK(TBRW_enumerate_modules(ptr, see_modules, &seen, 0));
	ck_assert_uint_eq(seen.calls, 1);
	seen = (struct seen){0, 0, 77, 0};
	FAILS(TBRW_enumerate_modules(ptr, see_modules, &seen, 0), 77);
	ck_assert_uint_eq(seen.calls, 1);
	FAILS(TBRW_enumerate_modules(ptr, see_modules, &seen, COUNT + 1), VT_INVALID_READ_START);
	OK(TBRW_get_one_module(ptr, 4321, &one));
	ck_assert_uint_eq(one->module_segment_number, 4321);
	ck_assert_uint_eq(one->reserved_for_legacy_flags, 4321);
	ck_assert_uint_eq(one->module_segment_type, TBRW_MODE_64BIT);
	ck_assert(same_text(ptr, one->module_path, L"/odd"));
	ck_assert(same_text(ptr, one->module_segment_name, L"segment"));
	FAILS(TBRW_get_one_module(ptr, COUNT, &one), VT_ENTRY_NOT_FOUND);
	FAILS(TBRW_get_one_module(ptr, UINT64_MAX, &one), VT_ENTRY_NOT_FOUND);
	FAILS(TBRW_get_one_module(ptr, 0, NULL), VT_UNEXPECTED_NULL_PTR);
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_close(ptr));
}
END_TEST

static TBRW_U32 see_pids(TBRW_PID *pids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	ck_assert_uint_eq(size, count * sizeof(*pids));
	((struct seen *)user)->entries += count;
	return TRUE;
}

static TBRW_U32 see_tids(TBRW_TID *tids, TBRW_U32 size, TBRW_U32 count, void *user)
{
	ck_assert_uint_eq(size, count * sizeof(*tids));
	((struct seen *)user)->entries += count;
	return TRUE;
}

START_TEST(processes_and_threads)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_PID pid = process_of(7, TBRW_PID_CREATE, 5, L"seven");
	TBRW_TID tid = thread_of(7, 8, TBRW_TID_CREATE, 6, L"eight");
	struct seen seen = {0, 0, TRUE, 0};
	const TBRW_PID *one_pid;
	const TBRW_TID *one_tid;

	OK(TBRW_writing_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_add_thread(ptr, &tid));
	OK(TBRW_add_process(ptr, &pid));
	pid.pid_size = 0;
	FAILS(TBRW_add_process(ptr, &pid), VT_UNSUPPORTED_DATA_SIZE);
	tid.tid_size = 0;
	FAILS(TBRW_add_thread(ptr, &tid), VT_UNSUPPORTED_DATA_SIZE);
	FAILS(TBRW_get_one_pid(ptr, 0, &one_pid), VT_SECTION_NOT_READABLE);
	OK(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_close(ptr));
	ptr = open_file("a.tb5", READ);
	FAILS(TBRW_enumerate_processes(ptr, see_pids, &seen, 0), VT_SECTION_NOT_READABLE);
	OK(TBRW_reading_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_enumerate_processes(ptr, see_pids, &seen, 0));
	ck_assert_uint_eq(seen.entries, 1);
	OK(TBRW_enumerate_threads(ptr, see_tids, &seen, 0));
	ck_assert_uint_eq(seen.entries, 2);
	OK(TBRW_get_one_pid(ptr, 0, &one_pid));
	ck_assert(same_text(ptr, one_pid->pid_name, L"seven"));
	OK(TBRW_get_one_tid(ptr, 0, &one_tid));
	ck_assert_uint_eq(one_tid->tid_event_when, 6);
	FAILS(TBRW_get_one_pid(ptr, 1, &one_pid), VT_ENTRY_NOT_FOUND);
	FAILS(TBRW_get_one_tid(ptr, 1, &one_tid), VT_ENTRY_NOT_FOUND);
	OK(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_close(ptr));
}
END_TEST

/* ---- Global state machine ---- */

START_TEST(section_states)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	const TBRW_SECTION_IDENTIFIER unknown = (TBRW_SECTION_IDENTIFIER)6;

	FAILS(TBRW_reading_section(ptr, unknown), VT_UNKNOWN_SECTION_NUMBER);
	FAILS(TBRW_writing_section(ptr, unknown), VT_UNKNOWN_SECTION_NUMBER);
	FAILS(TBRW_done_section(ptr, unknown), VT_UNKNOWN_SECTION_NUMBER);
	FAILS(TBRW_reading_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_NOT_EXIST);
	FAILS(TBRW_done_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_NOT_EXIST);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_writing_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_reading_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_done_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_writing_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_reading_section(ptr, TBRW_MODULE_SECTION));
	FAILS(TBRW_reading_section(ptr, TBRW_MODULE_SECTION), VT_SECTION_ALREADY_IN_USE);
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_close(ptr));
}
END_TEST

/* ---- Streams ---- */

START_TEST(stream_states)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	const TBRW_STREAM_SECTION_IDENTIFIER unknown = (TBRW_STREAM_SECTION_IDENTIFIER)5;
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"c");
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_EVENT_ID, SST_NONE, 0, 4, L"event");
	uint32_t value = 0;

	FAILS(TBRW_reading_stream(ptr, 0), VT_STREAM_NOT_EXIST);
	FAILS(TBRW_done_stream(ptr, 0), VT_STREAM_NOT_EXIST);
	FAILS(TBRW_writing_stream(ptr, 1), VT_INVALID_STREAM);
	OK(TBRW_writing_stream(ptr, 0));
	FAILS(TBRW_writing_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_reading_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_writing_stream_section(ptr, 0, unknown), VT_UNKNOWN_SECTION_NUMBER);
	FAILS(TBRW_writing_stream_section(ptr, 1, TBRW_DATA_SECTION), VT_STREAM_NOT_EXIST);
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_SECTION_NOT_EXIST);
	FAILS(TBRW_add_data(ptr, 0, 4, &value), VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_done_stream(ptr, 0), VT_SECTION_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	FAILS(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION),
	      VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION), VT_NO_DATA_TO_WRITE);
	info.stream_type = TBRW_BIND_DATA_INFORMATION_STREAM;
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_UNEXPECTED_VALUE);
	info.stream_type = 9;
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_UNEXPECTED_VALUE);
	info.stream_type = TBRW_CUSTOM_STREAM;
	OK(TBRW_set_stream_info(ptr, 0, &info));
	FAILS(TBRW_set_stream_info(ptr, 0, &info), VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_done_stream(ptr, 0), VT_STREAM_SECTION_NOT_CLOSED);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	FAILS(TBRW_done_stream(ptr, 0), VT_DATA_DESC_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION),
	      VT_DATA_DESC_NOT_EXIST);
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &d));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	/* An event id needs the events. */
	FAILS(TBRW_done_stream(ptr, 0), VT_SECTION_NOT_EXIST);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_add_data(ptr, 0, 3, &value));
	FAILS(TBRW_add_data(ptr, 0, 3, NULL), VT_BUFFER_NULL);
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_UNSUPPORTED_DATA_SIZE);
	OK(TBRW_add_data(ptr, 0, 1, &value));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	FAILS(TBRW_done_stream(ptr, 0), VT_INVALID_STREAM);
	FAILS(TBRW_writing_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION),
	      VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_SECTION_NOT_READABLE);
	OK(TBRW_reading_stream(ptr, 0));
	FAILS(TBRW_reading_stream(ptr, 0), VT_STREAM_ALREADY_IN_USE);
	FAILS(TBRW_reading_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION),
	      VT_SECTION_NOT_EXIST);
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	FAILS(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION), VT_SECTION_ALREADY_IN_USE);
	FAILS(TBRW_done_stream(ptr, 0), VT_STREAM_SECTION_NOT_CLOSED);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_close(ptr));
}
END_TEST

static TBRW_U32 see_descriptors(TBRW_SAMPREC_DESC_ENTRY *d, TBRW_U32 size, TBRW_U32 count,
				void *user)
{
	TBRW_SAMPREC_DESC_ENTRY *out = user;

	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(size, 3 * sizeof(*d));
	memcpy(out, d, size);
	return TRUE;
}

START_TEST(descriptors)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_SAMPREC_DESC_ENTRY out[3];
	TBRW_SAMPREC_DESC_ENTRY legacy =
		descriptor_of(ST_LEGACY_SAMPLE_RECORD, SST_NONE, 0, 32, NULL);
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_START_USER_DEFINED, SST_NONE, 0, 8, L"a");
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"c");

	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream(ptr, 1));
	OK(TBRW_writing_stream_section(ptr, 1, TBRW_DATA_DESCRIPTION_SECTION));
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &legacy), VT_INVALID_STREAM);
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, NULL), VT_UNEXPECTED_NULL_PTR);
	d.desc_type = ST_RESERVED_START;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNEXPECTED_VALUE);
	d.desc_type = ST_NONE;
	d.desc_subtype = SST_RESERVED_END;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNEXPECTED_VALUE);
	d.desc_subtype = SST_TSC;
	d.desc_data_size = 0;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_data_size = (1 << 20) + 1;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_data_size = 8;
	d.desc_offset = UINT32_MAX;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_offset = 0;
	d.desc_size--;
	FAILS(TBRW_add_data_descriptor_entry(ptr, 1, &d), VT_UNSUPPORTED_DATA_SIZE);
	d.desc_size++;
	d.desc_access_offset = 0x1234567890;
	OK(TBRW_add_data_descriptor_entry(ptr, 1, &d));
	d.desc_data_size = 4;
	OK(TBRW_add_data_descriptor_entry(ptr, 1, &d));
	d.desc_offset = 10;
	d.desc_data_size = 1;
	OK(TBRW_add_data_descriptor_entry(ptr, 1, &d));
	OK(TBRW_done_stream_section(ptr, 1, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 1, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 1, &info));
	OK(TBRW_done_stream_section(ptr, 1, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_done_stream(ptr, 1));
	OK(TBRW_reading_stream(ptr, 1));
	OK(TBRW_reading_stream_section(ptr, 1, TBRW_DATA_DESCRIPTION_SECTION));
	FAILS(TBRW_enumerate_data_descriptor_entries(ptr, 1, NULL, out), VT_UNEXPECTED_NULL_PTR);
	OK(TBRW_enumerate_data_descriptor_entries(ptr, 1, see_descriptors, out));
	/* The second one was given offset 0, and follows the first. */
	ck_assert_uint_eq(out[0].desc_offset, 0);
	ck_assert_uint_eq(out[1].desc_offset, 8);
	ck_assert_uint_eq(out[2].desc_offset, 10);
	ck_assert_uint_eq(out[0].desc_access_offset, 0x1234567890);
	ck_assert(same_text(ptr, out[2].desc_name, L"a"));
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

static TBRW_U32 see_events(TBRW_EVENT *event, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct seen *seen = user;

	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(size,
			  sizeof(*event) + event->event_num_details * sizeof(TBRW_EVENT_DETAIL));
	ck_assert_uint_eq(event->event_num_details, event->event_id);
	if (event->event_id)
		ck_assert_ptr_eq(event->event_detail_array, event + 1);
	for (TBRW_U32 i = 0; i < event->event_num_details; i++)
		ck_assert_uint_eq(event->event_detail_array[i].detail_address,
				  event->event_id * 100 + i);
	seen->entries++;
	return TRUE;
}

START_TEST(events)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_EVENT event = {.event_size = sizeof(event), .event_name = string_of(L"Ünicode")};
	struct seen seen = {0, 0, TRUE, 0};
	TBRW_EVENT_DETAIL details[3];
	char user[] = "user";
	TBRW_U32 size;

	memset(details, 0, sizeof(details));
	begin_samples(ptr);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	FAILS(TBRW_add_event(ptr, 0, NULL), VT_UNEXPECTED_NULL_PTR);
	for (TBRW_U32 n = 0; n < 4; n++) {
		event.event_id = n;
		event.event_num_details = n;
		event.event_detail_array = NULL;
		if (n)
			FAILS(TBRW_add_event(ptr, 0, &event), VT_UNEXPECTED_NULL_PTR);
		event.event_detail_array = details;
		for (TBRW_U32 i = 0; i < n; i++) {
			details[i].detail_size = 1;
			FAILS(TBRW_add_event(ptr, 0, &event), VT_UNSUPPORTED_DATA_SIZE);
			details[i].detail_size = sizeof(*details);
			details[i].detail_address = n * 100 + i;
		}
		OK(TBRW_add_event(ptr, 0, &event));
	}
	OK(TBRW_done_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	FAILS(TBRW_done_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION),
	      VT_NO_DATA_TO_WRITE);
	OK(TBRW_set_user_defined_stream(ptr, 0, sizeof(user), user));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	end_samples(ptr);
	OK(TBRW_close(ptr));

	ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_stream(ptr, 0));
	FAILS(TBRW_enumerate_events(ptr, 0, see_events, &seen, 0), VT_SECTION_NOT_READABLE);
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_enumerate_events(ptr, 0, see_events, &seen, 0));
	ck_assert_uint_eq(seen.entries, 4);
	OK(TBRW_enumerate_events(ptr, 0, see_events, &seen, 3));
	ck_assert_uint_eq(seen.entries, 5);
	FAILS(TBRW_enumerate_events(ptr, 0, see_events, &seen, 5), VT_INVALID_READ_START);
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	memset(user, 0, sizeof(user));
	OK(TBRW_get_user_defined_stream(ptr, 0, sizeof(user), user, &size));
	ck_assert_str_eq(user, "user");
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* ---- Strings ---- */

START_TEST(strings)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	const wchar_t surrogate[] = {L'a', 0xDC00, 0};
	TBRW_MODULE m = module_of(1, 0, 1, 0, L"");
	const TBRW_MODULE *one;
	wchar_t text[4];
	TBRW_U32 size = 0;

	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_add_module(ptr, &m));
	m.module_path = string_of(surrogate);
	FAILS(TBRW_add_module(ptr, &m), VT_INVALID_STRING);
	m.module_path.soi_uniqueid = 1ull << 63;
	FAILS(TBRW_add_module(ptr, &m), VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES);
	m.module_path = string_of(L"xyz");
	m.module_name = string_of(L"xyz");
	OK(TBRW_add_module(ptr, &m));
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_get_one_module(ptr, 0, &one));
	ck_assert_uint_ne(one->module_path.soi_uniqueid, 0);
	ck_assert(same_text(ptr, one->module_path, L""));
	OK(TBRW_get_one_module(ptr, 1, &one));
	TBRW_U64 first = one->module_path.soi_uniqueid;
	ck_assert_uint_eq(first, one->module_name.soi_uniqueid);
	TBRW_STRING_OR_ID id = one->module_path;
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text) - 1, &id, text, &size),
	      VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(size, sizeof(text));
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, NULL, NULL), VT_BUFFER_NULL);
	OK(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL));
	ck_assert(wcscmp(text, L"xyz") == 0);
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), NULL, text, NULL),
	      VT_UNEXPECTED_NULL_PTR);
	id.soi_uniqueid = 0;
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL),
	      VT_INVALID_STRING);
	id.soi_uniqueid = UINT64_MAX;
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL),
	      VT_INVALID_STRING);
	id = string_of(L"pointer");
	FAILS(TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, NULL),
	      VT_UNEXPECTED_MISMATCH_IN_STRING_TYPES);
	OK(TBRW_close(ptr));

	/* A string keeps its id when the file is opened again to add to it. */
	ptr = open_file("a.tb5", READ_WRITE);
	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	{
		TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"xyz");

		OK(TBRW_set_stream_info(ptr, 0, &info));
		OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
		OK(TBRW_abort_cleanup_and_close(ptr));
	}
	ptr = open_file("a.tb5", READ_WRITE);
	write_custom_stream(ptr, 0, L"xyz", 1, "abc", 3);
	OK(TBRW_close(ptr));
	ptr = open_file("a.tb5", READ);
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	{
		TBRW_STREAM_INFO info;

		OK(TBRW_get_stream_info(ptr, 0, sizeof(info), &info, NULL));
		ck_assert_uint_eq(info.comment.soi_uniqueid, first);
	}
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

/* Record after record names the same strings, now these, now those; some are long, all begin alike.
 */
START_TEST(strings_again)
{
	enum { STRINGS = 9, ROUNDS = 40, LONGEST = 300 };
	static const size_t lengths[STRINGS] = {0, 1, 2, 254, 255, 256, 257, LONGEST - 1, LONGEST};
	wchar_t texts[STRINGS][LONGEST + 1] = {0};
	uint64_t ids[STRINGS] = {0};
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_MODULE m = module_of(1, 0, 1, 0, L"");
	const TBRW_MODULE *one;

	for (size_t i = 0; i < STRINGS; i++)
		wmemset(texts[i], L'a', lengths[i]);
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; i < ROUNDS * STRINGS; i++) {
		m.module_path = string_of(texts[i % STRINGS]);
		m.module_name = string_of(texts[i * 7 % (i / STRINGS % STRINGS + 1)]);
		OK(TBRW_add_module(ptr, &m));
	}
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	for (size_t i = 0; i < ROUNDS * STRINGS; i++) {
		OK(TBRW_get_one_module(ptr, i, &one));
		ck_assert(same_text(ptr, one->module_path, texts[i % STRINGS]));
		ck_assert(same_text(ptr, one->module_name,
				    texts[i * 7 % (i / STRINGS % STRINGS + 1)]));
		if (i < STRINGS)
			ids[i] = one->module_path.soi_uniqueid;
		ck_assert_uint_eq(one->module_path.soi_uniqueid, ids[i % STRINGS]);
	}
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		hardware,
		software,
		version_and_user_defined,
		modules,
		processes_and_threads,
		section_states,
		stream_states,
		descriptors,
		events,
		strings,
		strings_again,
	};

	return run_suite(suite_of("sections", tests, sizeof(tests) / sizeof(*tests)));
}
