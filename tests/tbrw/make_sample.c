/* Writes the files that the tests of the example programs read: sample.tb5, with something in every
 * section, and what becomes of it. Usage: make_sample FOLDER */
#include "tests/tbrw/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_hardware(TBRW_PTR ptr)
{
	TBRW_CPUID_IA32 leaves[] = {{0, 0xd, 0x756e6547, 0x6c65746e, 0x49656e69, 0},
				    {1, 0x906a3, 0x100800, 0x7ffafbff, 0xbfebfbff, 0}};
	TBRW_CPUID_IA64 registers[] = {{3, 0x1f010504, 0}};
	TBRW_CPU_ARCH archs[] = {{sizeof(TBRW_CPU_ARCH), TBRW_GST_EM64T, 2, {leaves}},
				 {sizeof(TBRW_CPU_ARCH), TBRW_GST_ITANIUM, 1, {NULL}},
				 {sizeof(TBRW_CPU_ARCH), TBRW_GST_SA, 0, {NULL}}};
	TBRW_CPU cpus[3];
	TBRW_NODE nodes[] = {{sizeof(TBRW_NODE), 0, 1, 2, 2, 65536, cpus},
			     {sizeof(TBRW_NODE), 0, 2, 1, 1, 32768, cpus + 2},
			     {sizeof(TBRW_NODE), 0, 3, 0, 0, 0, NULL}};
	TBRW_SYSTEM system = {sizeof(system), 3, nodes};

	archs[1].cpuid_ia64_array = registers;
	memset(cpus, 0, sizeof(cpus));
	for (TBRW_U32 i = 0; i < 3; i++) {
		cpus[i].cpu_size = sizeof(cpus[i]);
		cpus[i].cpu_number = i;
		cpus[i].cpu_native_arch_type = CPU_ARCHITECTURE_INTEL64;
		cpus[i].cpu_speed_mhz = 2400 + i;
		cpus[i].cpu_tsc_offset = -7LL * i;
		cpus[i].cpu_core_num = (TBRW_U16)i;
		cpus[i].num_cpu_arch_array = i < 2 ? 3 - i : 0;
		cpus[i].cpu_arch_array = i < 2 ? archs + i : NULL;
	}
	OK(TBRW_writing_section(ptr, TBRW_HARDWARE_SECTION));
	OK(TBRW_set_system(ptr, &system));
	OK(TBRW_done_section(ptr, TBRW_HARDWARE_SECTION));
}

static void write_software(TBRW_PTR ptr)
{
	TBRW_HOST host = {.host_size = sizeof(host),
			  .host_name = string_of(L"höst \"quoted\"\n\u202e")};
	TBRW_OS os = {.os_size = sizeof(os),
		      .os_platform = TBRW_OSFAMILY_LINUX64,
		      .os_major = 6,
		      .os_minor = 1,
		      .os_name = string_of(L"Linux"),
		      .os_name_extra = string_of(L"")};
	TBRW_APPLICATION app = {sizeof(app), 0, 4096, 65536, 0x1000, 0x7fffffffffff};
	TBRW_VERSION_INFO version = {sizeof(version), 0xffffffff, 1, 16};
	char bytes[] = "user-defined \0 global bytes";

	OK(TBRW_writing_section(ptr, TBRW_SOFTWARE_SECTION));
	OK(TBRW_set_host(ptr, &host));
	OK(TBRW_set_os(ptr, &os));
	OK(TBRW_set_application(ptr, &app));
	OK(TBRW_done_section(ptr, TBRW_SOFTWARE_SECTION));
	OK(TBRW_writing_section(ptr, TBRW_VERSION_INFO_SECTION));
	OK(TBRW_set_version_info(ptr, &version));
	OK(TBRW_done_section(ptr, TBRW_VERSION_INFO_SECTION));
	OK(TBRW_writing_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	OK(TBRW_set_user_defined_global(ptr, sizeof(bytes), bytes));
	OK(TBRW_done_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
}

static void write_processes(TBRW_PTR ptr)
{
	TBRW_PID process = process_of(100, TBRW_PID_CREATE, 5, L"sh");
	TBRW_TID thread = thread_of(100, 101, TBRW_TID_CREATE, 6, L"worker \U0001F600");
	TBRW_MODULE exe = module_of(100, 0x400000, 0x1000, 5, L"/bin/sh");
	TBRW_MODULE lib = module_of(100, 0x7f0000, 0x2000, 7, L"/lib/libc.so.6");

	exe.module_flags |= TBRW_MODULE_IS_EXE;
	lib.module_unload_tsc = 50;
	OK(TBRW_writing_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_add_process(ptr, &process));
	OK(TBRW_add_thread(ptr, &thread));
	OK(TBRW_done_section(ptr, TBRW_PROCESS_THREAD_SECTION));
	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_add_module(ptr, &exe));
	OK(TBRW_add_module(ptr, &lib));
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
}

static void write_events(TBRW_PTR ptr)
{
	TBRW_EVENT_DETAIL details[] = {{sizeof(*details), 64, TBRW_MSR, 1, 0x186, 0x4300c0, 3, 0, 0,
					0},
				       {sizeof(*details), 32, TBRW_PCI, 0, 0x10, 1, 0, 0, 0, 0}};
	TBRW_EVENT clock = {.event_size = sizeof(clock),
			    .event_id = 1,
			    .event_flags = TBRW_EVENT_TBS,
			    .event_sav = 10000,
			    .event_name = string_of(L"Clock")};
	TBRW_EVENT counter = {.event_size = sizeof(counter),
			      .event_id = 2,
			      .event_num_details = 2,
			      .event_flags = TBRW_EVENT_EBS,
			      .event_sav = 2000003,
			      .event_name = string_of(L"INST_RETIRED.ANY"),
			      .event_arch_name = string_of(L"arch"),
			      .event_detail_array = details};

	OK(TBRW_writing_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
	OK(TBRW_add_event(ptr, 0, &counter));
	OK(TBRW_add_event(ptr, 0, &clock));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_EVENT_DESCRIPTION_SECTION));
}

/* More samples than one chunk holds: some of the process that was written, some of another. */
static void write_sampling(TBRW_PTR ptr)
{
	begin_samples(ptr);
	for (uint32_t i = 0; i < 9000; i++) {
		struct sample s = sample_of(i % 3 ? 100 : 200, 100 + i % 3, 0x400000 + i, 10 + i);

		s.pc.eventIndex = (1 + i % 2) & 0xff;
		s.pc.cpuNum = i % 5 & 0xfff;
		s.pc.codeMode = TBRW_MODE_64BIT;
		OK(TBRW_add_data(ptr, 0, sizeof(s), &s));
	}
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	write_events(ptr);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	OK(TBRW_set_user_defined_stream(ptr, 0, 5, (char[]){1, 2, 3, 4, 5}));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_USER_DEFINED_STREAM_SECTION));
	OK(TBRW_done_stream(ptr, 0));
}

static void write_sample(TBRW_PTR ptr)
{
	const uint32_t values[] = {1, 0, UINT32_MAX};

	write_hardware(ptr);
	write_software(ptr);
	write_processes(ptr);
	write_sampling(ptr);
	write_custom_stream(ptr, 1, L"numbers", 4, values, sizeof(values));
	write_custom_stream(ptr, 2, L"text", 1, "a \"\xe2\x80\xae\"\n\x01\xc3\xa4", 11);
	write_custom_stream(ptr, 3, L"wide entries", 12, values, sizeof(values));
	write_custom_stream(ptr, 4, L"no entries", 8, values, 0);
}

static void make(const char *name, TBRW_U32 mode, void (*fill)(TBRW_PTR ptr))
{
	TBRW_PTR ptr = open_file(name, mode);

	if (fill)
		fill(ptr);
	OK(TBRW_close(ptr));
}

static void bind(TBRW_PTR ptr)
{
	OK(TBRW_dobind(ptr, 0));
}

static void unbind(TBRW_PTR ptr)
{
	OK(TBRW_unbind(ptr, 0));
}

static void append(TBRW_PTR ptr)
{
	TBRW_U32 streams;

	OK(TBRW_get_number_data_streams(ptr, &streams));
	write_custom_stream(ptr, streams, L"added later", 8, "12345678", 8);
}

/* Never closed: the second stream stays open. */
static void make_incomplete(void)
{
	TBRW_PTR ptr = open_file("incomplete.tb5", CREATE);

	write_sample(ptr);
	OK(TBRW_writing_stream(ptr, 5));
	OK(TBRW_writing_stream_section(ptr, 5, TBRW_DATA_SECTION));
	OK(TBRW_abort_cleanup_and_close(ptr));
}

/* A test of its own, for OK needs one around it. */
START_TEST(make_all)
{
	make("empty.tb5", CREATE, NULL);
	make("sample.tb5", CREATE, write_sample);
	make("appended.tb5", CREATE, write_sample);
	make("appended.tb5", READ_WRITE, append);
	make("bound.tb5", CREATE, write_sample);
	make("bound.tb5", READ_WRITE, bind);
	make("rebound.tb5", CREATE, write_sample);
	make("rebound.tb5", READ_WRITE, bind);
	make("rebound.tb5", READ_WRITE, unbind);
	make("rebound.tb5", READ_WRITE, append);
	make("rebound.tb5", READ_WRITE, bind);
	make("unbound.tb5", CREATE, write_sample);
	make("unbound.tb5", READ_WRITE, bind);
	make("unbound.tb5", READ_WRITE, unbind);
	make_incomplete();
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("make_sample");
	TCase *tcase = tcase_create("make_sample");

	if (argc != 2) {
		fputs("usage: make_sample FOLDER\n", stderr);
		return EXIT_FAILURE;
	}
	folder_use(argv[1]);
	tcase_set_timeout(tcase, 240);
	tcase_add_test(tcase, make_all);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
