/* The sections of a file: what is written is read back, and what the state does not allow is
 * refused. */
#include "tests/tbrw/support.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
	const TTest *const tests[] = {
		hardware,       software, version_and_user_defined, modules, processes_and_threads,
		section_states,
	};

	return run_suite(suite_of("sections", tests, sizeof(tests) / sizeof(*tests)));
}
