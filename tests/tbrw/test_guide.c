/* The code of the TBRW User Guide's chapters 6 and 10, compiled against the headers and run. Its
 * statements stand as printed; around them are the declarations that the guide leaves to the
 * reader. Where a name in its prose differs from the one it declared (node, application, Tsc), a
 * variable of that name is declared here. */
#include "tests/tbrw/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* The guide's examples are for Windows; this is its name for wcsdup. The copies are not freed: the
 * guide does not either. They are kept reachable, for the leak checker. */
static wchar_t *copies[64];
static size_t copy_count;

static wchar_t *_wcsdup(const wchar_t *text)
{
	return copies[copy_count++ % 64] = wcsdup(text);
}

static void free_copies(void)
{
	for (size_t i = 0; i < 64; i++) {
		free(copies[i]);
		copies[i] = NULL;
	}
	copy_count = 0;
}

/* 6.3 */
static TBRW_U32 guide_hardware(TBRW_PTR tbrw_ptr)
{
	TBRW_CPUID_IA32 ia32_cpuid;
	// all are example values
	ia32_cpuid.cpuid_eax_input = 0x0;
	ia32_cpuid.cpuid_eax = 0xa;
	ia32_cpuid.cpuid_ebx = 0x756e6547;
	ia32_cpuid.cpuid_ecx = 0x6c65746e;
	ia32_cpuid.cpuid_edx = 0x49656e69;
	ia32_cpuid.reserved = 0;

	TBRW_CPU_ARCH cpu_arch;
	cpu_arch.arch_size = sizeof(TBRW_CPU_ARCH);
	cpu_arch.arch_type = TBRW_GST_X86;
	cpu_arch.arch_num_cpuid = 1; // example value
	cpu_arch.cpuid_ia32_array = (TBRW_CPUID_IA32 *)&ia32_cpuid;

	TBRW_CPU cpu_info;
	cpu_info.cpu_size = sizeof(TBRW_CPU);
	cpu_info.cpu_number = 0;
	cpu_info.cpu_native_arch_type = CPU_ARCHITECTURE_IA32;
	cpu_info.cpu_intel_processor_number = 8086;
	cpu_info.cpu_speed_mhz = 3000; // example value 3GHz
	cpu_info.cpu_fsb_mhz = 1333;   // example value
	cpu_info.cpu_cache_L2 = 4096;  // example value
	cpu_info.cpu_cache_L3 = 128;   // example value
	cpu_info.cpu_tsc_offset = 0;
	cpu_info.cpu_package_num = 0;
	cpu_info.cpu_core_num = 0;
	cpu_info.cpu_hardware_thread_num = 0;
	cpu_info.cpu_threads_per_core = 1;
	cpu_info.num_cpu_arch_array = 1;
	cpu_info.cpu_arch_array = &cpu_arch;

	TBRW_NODE node;
	TBRW_NODE node_info;
	node_info.node_size = sizeof(TBRW_NODE);
	node_info.node_type_from_shell = 0; // set it to 0
	node_info.node_id = 1;              // node id
	node_info.node_num_available = 1;
	node_info.node_num_used = 1;
	node_info.node_physical_memory = 1024;
	node_info.cpu_array = &cpu_info;
	node = node_info;

	TBRW_SYSTEM sys_info;
	sys_info.system_size = sizeof(TBRW_SYSTEM);
	sys_info.system_num_nodes = 1;
	sys_info.node_array = &node;
	return TBRW_set_system(tbrw_ptr, &sys_info);
}

/* 6.4 */
static TBRW_U32 guide_software(TBRW_PTR tbrw_ptr)
{
	TBRW_HOST host_info;
	host_info.host_size = sizeof(TBRW_HOST);
	host_info.host_ip_address.soi_ptr = (TBRW_CHAR *)_wcsdup(L"10.10.10.10");
	host_info.host_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"testhost.intel.com");
	host_info.reserved = 0;
	TBRW_U32 code = TBRW_set_host(tbrw_ptr, &host_info);
	if (code != VT_SUCCESS)
		return code;

	TBRW_OS os_info;
	os_info.os_size = sizeof(TBRW_OS);
	os_info.os_platform = TBRW_OSFAMILY_WIN32;
	os_info.os_major = 0x5;   // example value
	os_info.os_minor = 0x1;   // example value
	os_info.os_build = 0xa28; // example value
	os_info.os_extra = 0;
	os_info.os_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"Windows XP");
	os_info.os_name_extra.soi_ptr = (TBRW_CHAR *)_wcsdup(L"32-bit");
	code = TBRW_set_os(tbrw_ptr, &os_info);
	if (code != VT_SUCCESS)
		return code;

	TBRW_APPLICATION application;
	TBRW_APPLICATION app_info;
	app_info.app_size = sizeof(TBRW_APPLICATION);
	app_info.app_reserved = 0;
	app_info.app_page_size = 1024;          // example value
	app_info.app_alloc_granularity = 2048;  // example value
	app_info.app_min_app_addr = 0xffff;     // example value
	app_info.app_max_app_addr = 0xffffffff; // example value
	application = app_info;
	code = TBRW_set_application(tbrw_ptr, &application);
	return code;
}

/* 6.5 */
static TBRW_U32 guide_version(TBRW_PTR tbrw_ptr)
{
	TBRW_VERSION_INFO version_info;
	version_info.version_info_size = sizeof(TBRW_VERSION_INFO);
	version_info.sampling_driver_version = 0xffffffff;
	version_info.bind_version = 0;
	version_info.sample_file_version = 0x10; // example value
	TBRW_U32 code = TBRW_set_version_info(tbrw_ptr, &version_info);
	return code;
}

/* 6.6 */
static TBRW_U32 guide_module(TBRW_PTR tbrw_ptr)
{
	TBRW_MODULE module_info;
	module_info.module_size = sizeof(TBRW_MODULE);
	module_info.module_reserved = 0;
	module_info.reserved1 = 0;

	module_info.module_load_address = 0x400000;        // example value
	module_info.module_length = 0x2000;                // example value
	module_info.module_associated_pid = 0x1000;        // example value
	module_info.module_code_selector = 0x8;            // example value
	module_info.module_event_when = (TBRW_U64)0x0000;  // example value
	module_info.module_unload_tsc = (TBRW_U64)-1;      // example value
	module_info.module_segment_type = TBRW_MODE_32BIT; // 32-bit
	module_info.module_segment_number = 0;
	module_info.module_flags = TBRW_MODULE_TSC_USED | TBRW_MODULE_LOADED | TBRW_MODULE_IS_EXE |
				   TBRW_MODULE_1ST_MODULE_REC_IN_PROCESS;
	module_info.module_path.soi_ptr = (TBRW_CHAR *)_wcsdup(L"C:\\sample\\sample.exe");
	module_info.module_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"sample.exe");
	module_info.module_segment_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"");
	module_info.reserved_for_legacy = 0;
	module_info.reserved_for_legacy2 = 0;
	module_info.reserved_for_legacy_flags = 0;
	TBRW_U32 code = TBRW_add_module(tbrw_ptr, &module_info);
	return code;
}

/* 6.7 */
static TBRW_U32 guide_event(TBRW_PTR tbrw_ptr)
{
	TBRW_EVENT_DETAIL event_det;
	event_det.detail_size = sizeof(TBRW_EVENT_DETAIL);
	event_det.detail_access = 1;
	event_det.detail_access_size = 32;
	event_det.detail_method = TBRW_MSR;
	event_det.detail_address = 0x21;     // example value
	event_det.detail_value = 0xffe17b80; // example value
	event_det.legacy_command = 0;
	event_det.reserved1 = 0;
	event_det.reserved2 = 0;
	event_det.reserved3 = 0;

	TBRW_EVENT event_info;
	event_info.event_size = sizeof(TBRW_EVENT);
	event_info.event_id = 0;          // event sequence index
	event_info.event_num_details = 1; // e.g. only one event
	event_info.event_flags = TBRW_EVENT_EBS;
	event_info.event_sav = 20000000; // example sav value
	event_info.event_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"SampleEvent");
	event_info.event_arch_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"Core 2");
	event_info.event_detail_array = &event_det;
	TBRW_U32 code = TBRW_add_event(tbrw_ptr, 0, &event_info);
	return code;
}

/* 6.8 */
static TBRW_U32 guide_stream_info(TBRW_PTR tbrw_ptr)
{
	TBRW_STREAM_INFO stream_info;
	stream_info.stream_info_size = sizeof(TBRW_STREAM_INFO);
	stream_info.sampling_duration = 20000; // example value
	stream_info.stream_type = TBRW_SAMPLING_STREAM;
	stream_info.command_line.soi_ptr = (TBRW_CHAR *)_wcsdup(L"unknown");
	stream_info.comment.soi_ptr = (TBRW_CHAR *)_wcsdup(L"sample_comment");
	stream_info.cpu_mask.soi_ptr = (TBRW_CHAR *)_wcsdup(L"none");
	stream_info.sampling_interval = 1000; // example value
	stream_info.sampling_start_time.dwLowDateTime = 1526932352;
	stream_info.sampling_start_time.dwHighDateTime = 29849313;
	stream_info.sampling_end_time.dwLowDateTime = 1566932352;
	stream_info.sampling_end_time.dwHighDateTime = 29849313;
	TBRW_U32 code = TBRW_set_stream_info(tbrw_ptr, 0, &stream_info);
	return code;
}

/* 6.9 */
static TBRW_U32 guide_descriptors(TBRW_PTR tbrw_ptr)
{
	TBRW_SAMPREC_DESC_ENTRY desc_entry1;
	memset(&desc_entry1, 0, sizeof(desc_entry1));
	desc_entry1.desc_size = sizeof(TBRW_SAMPREC_DESC_ENTRY);
	desc_entry1.desc_data_size = sizeof(TBRW_SampleRecordPC);
	desc_entry1.desc_offset = 0;
	desc_entry1.desc_type = ST_LEGACY_SAMPLE_RECORD;
	desc_entry1.desc_sub_type = SST_NONE;
	desc_entry1.desc_sample_flag = 0;
	desc_entry1.desc_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"SampleRecord");
	TBRW_U32 code = TBRW_add_data_descriptor_entry(tbrw_ptr, 0, &desc_entry1);
	if (code != VT_SUCCESS)
		return code;

	TBRW_SAMPREC_DESC_ENTRY desc_entry2;
	memset(&desc_entry2, 0, sizeof(desc_entry2));
	desc_entry2.desc_size = sizeof(TBRW_SAMPREC_DESC_ENTRY);
	desc_entry2.desc_data_size = sizeof(TBRW_SampleRecordTSC);
	desc_entry2.desc_offset = 0;
	desc_entry2.desc_type = ST_TIMESTAMP;
	desc_entry2.desc_sub_type = SST_TSC;
	desc_entry2.desc_sample_flag = 0;
	desc_entry2.desc_name.soi_ptr = (TBRW_CHAR *)_wcsdup(L"TimeStamp");
	code = TBRW_add_data_descriptor_entry(tbrw_ptr, 0, &desc_entry2);
	return code;
}

/* 6.10 */
static TBRW_U32 guide_sample(TBRW_PTR tbrw_ptr)
{
	TBRW_SampleRecordPC sample;
	memset(&sample, 0, sizeof(sample));
	sample.codeMode = TBRW_MODE_32BIT; // 32-bit
	sample.eip = 0x617000;             // example value
	sample.eflags = 0x246;             // example value
	sample.csd.lowWord = 0xffff;       // example value
	sample.csd.highWord = 0xcf9b00;    // example value
	sample.cs = 0x1B;
	sample.mrIndex = 0;
	sample.eventIndex = 0; // In this case event 0
	sample.tidIsRaw = 1;
	sample.IA64PC = 0;
	sample.pidRecIndexRaw = 1;
	sample.pidRecIndex = 0x1000; // example value
	sample.cpuNum = 0;
	sample.tid = 0;
	sample.mrIndexNone = 0;
	TBRW_U32 code = TBRW_add_data(tbrw_ptr, 0, sizeof(TBRW_SampleRecordPC), (void *)&sample);
	if (code != VT_SUCCESS)
		return code;

	TBRW_SampleRecordTSC tsc;
	TBRW_SampleRecordTSC Tsc;
	Tsc.tsc = 0x00001972178D8F5E;
	tsc = Tsc;
	code = TBRW_add_data(tbrw_ptr, 0, sizeof(TBRW_SampleRecordTSC), (void *)&tsc);
	return code;
}

static void write_global(TBRW_PTR ptr, TBRW_SECTION_IDENTIFIER section,
			 TBRW_U32 (*write)(TBRW_PTR tbrw_ptr))
{
	OK(TBRW_writing_section(ptr, section));
	OK(write(ptr));
	OK(TBRW_done_section(ptr, section));
}

static void write_stream(TBRW_PTR ptr, TBRW_STREAM_SECTION_IDENTIFIER section,
			 TBRW_U32 (*write)(TBRW_PTR tbrw_ptr))
{
	OK(TBRW_writing_stream_section(ptr, 0, section));
	OK(write(ptr));
	OK(TBRW_done_stream_section(ptr, 0, section));
}

static TBRW_U32 see_bound(const void *data, TBRW_U32 size, TBRW_U64 count,
			  const DATA_BIND_STRUCT *table, TBRW_U32 table_size, void *user)
{
	const struct sample *s = data;

	ck_assert_uint_eq(size, 40);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(table_size, 24);
	ck_assert_uint_eq(s->pc.eip, 0x617000);
	ck_assert_uint_eq(s->pc.csd.granularity, 1);
	ck_assert_uint_eq(s->tsc.tsc, 0x00001972178D8F5E);
	ck_assert_uint_eq(table->module_index, TBRW_INDEX_NONE);
	ck_assert_uint_eq(table->pid_index, 0);
	++*(int *)user;
	return TRUE;
}

START_TEST(chapter_6)
{
	TBRW_PTR ptr = open_file("guide.tb5", CREATE);
	const TBRW_PID *pid;
	int seen = 0;

	write_global(ptr, TBRW_HARDWARE_SECTION, guide_hardware);
	write_global(ptr, TBRW_SOFTWARE_SECTION, guide_software);
	write_global(ptr, TBRW_VERSION_INFO_SECTION, guide_version);
	write_global(ptr, TBRW_MODULE_SECTION, guide_module);
	OK(TBRW_writing_stream(ptr, 0));
	write_stream(ptr, TBRW_EVENT_DESCRIPTION_SECTION, guide_event);
	write_stream(ptr, TBRW_STREAM_INFO_SECTION, guide_stream_info);
	write_stream(ptr, TBRW_DATA_DESCRIPTION_SECTION, guide_descriptors);
	write_stream(ptr, TBRW_DATA_SECTION, guide_sample);
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_verify(ptr));
	OK(TBRW_close(ptr));
	free_copies();

	ptr = open_file("guide.tb5", READ);
	OK(TBRW_verify(ptr));
	OK(TBRW_dobind(ptr, 0));
	OK(TBRW_bind_enumerate_data(ptr, 0, see_bound, &seen, 0));
	ck_assert_int_eq(seen, 1);
	OK(TBRW_get_one_pid(ptr, 0, &pid));
	ck_assert(wcscmp(text_of(ptr, pid->pid_name), L"sample.exe") == 0);
	OK(TBRW_close(ptr));
}
END_TEST

/* 10.1, as a function. */
static int guide_main(const TBRW_CHAR *file_name, TBRW_U32 access_mode)
{
	void *tbrw_ptr;
	int stream = 0;
	wchar_t *err_text = NULL;
	// fill in stream_info
	TBRW_STREAM_INFO stream_info = stream_info_of(TBRW_SAMPLING_STREAM, L"example");

	TBRW_U32 ret_val = TBRW_open(&tbrw_ptr, file_name, access_mode);
	if (ret_val != VT_SUCCESS) {
		printf("TBRW_open failed\n");
		return 1;
	}

	ret_val = TBRW_writing_stream(tbrw_ptr, stream);
	if (ret_val != VT_SUCCESS) {
		ret_val = TBRW_error_string(ret_val, &err_text);
		printf("TBRW_writing_stream number %d returned error \"%ls\"\n", stream, err_text);
		ret_val = TBRW_abort_cleanup_and_close(tbrw_ptr);
		return 1;
	}

	ret_val = TBRW_writing_stream_section(tbrw_ptr, stream, TBRW_STREAM_INFO_SECTION);
	// if error, handle as above
	ret_val = TBRW_set_stream_info(tbrw_ptr, stream, &stream_info);
	// if error, handle as above

	ret_val = TBRW_done_stream_section(tbrw_ptr, stream, TBRW_STREAM_INFO_SECTION);
	// if error, handle as above

	ret_val = TBRW_done_stream(tbrw_ptr, stream);
	// if error, handle as above

	ret_val = TBRW_close(tbrw_ptr);
	if (ret_val != VT_SUCCESS) {
		printf("TBRW_close failed\n");
		/* The guide's example leaks here: 5.2 requires a data descriptor that it leaves
		 * out. */
		TBRW_abort_cleanup_and_close(tbrw_ptr);
	}
	return 0;
}

START_TEST(chapter_10)
{
	TBRW_STREAM_INFO info;

	ck_assert_int_eq(guide_main(wide_path_of("ten.tb5"), CREATE), 0);
	TBRW_PTR ptr = open_file("ten.tb5", READ);
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_get_stream_info(ptr, 0, sizeof(info), &info, NULL));
	ck_assert(wcscmp(text_of(ptr, info.comment), L"example") == 0);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

static TBRW_U32 see_data_of_5_9(const void *data, TBRW_U32 data_size, TBRW_U32 num_entries,
				void *user_ptr)
{
	return data && data_size && num_entries && user_ptr;
}

/* Bit fields count from the lowest bit, as the record's other users have them. */
START_TEST(bit_fields)
{
	union {
		TBRW_SampleRecordPC pc;
		TBRW_MODULE module;
		unsigned char bytes[sizeof(TBRW_MODULE)];
	} u;
	TBRW_U16 word;
	TBRW_U32 bits;

#define BITS(record, field, offset, into, value)                   \
	do {                                                       \
		memset(&u, 0, sizeof(u));                          \
		u.record.field--;                                  \
		memcpy(&(into), u.bytes + (offset), sizeof(into)); \
		ck_assert_uint_eq(into, value);                    \
		memset(u.bytes + (offset), 0, sizeof(into));       \
		for (size_t i = 0; i < sizeof(u); i++)             \
			ck_assert_uint_eq(u.bytes[i], 0);          \
	} while (0)
	BITS(pc, cpuNum, 18, word, 0x0fff);
	BITS(pc, notVmid0, 18, word, 0x1000);
	BITS(pc, codeMode, 18, word, 0x6000);
	BITS(pc, mrIndex, 28, bits, 0x000fffff);
	BITS(pc, eventIndex, 28, bits, 0x0ff00000);
	BITS(pc, tidIsRaw, 28, bits, 0x10000000);
	BITS(pc, IA64PC, 28, bits, 0x20000000);
	BITS(pc, pidRecIndexRaw, 28, bits, 0x40000000);
	BITS(pc, mrIndexNone, 28, bits, 0x80000000);
	BITS(module, module_segment_type, 28, bits, 3);
#undef BITS
}
END_TEST

/* Both spellings where the guide's chapters disagree. */
START_TEST(spellings)
{
	DATA_CALLBACK *seen_data = see_data_of_5_9;
	TBRW_SAMPREC_DESC_ENTRY d;
	TBRW_U32 major, minor;

	d.desc_sub_type = SST_TSC;
	ck_assert_uint_eq(d.desc_subtype, 32);
	ck_assert_int_eq(ST_TIMESTAMP, ST_TIME_STAMP);
	ck_assert_int_eq(ST_LEGACY_UNKNOWN, 20);
	ck_assert_int_eq(ST_POST_PROCESS_LAST, 0x2026);
	ck_assert_int_eq(SST_IFA, 36);
	ck_assert_int_eq(TBRW_BUFFER_TOO_SMALL, VT_BUFFER_TOO_SMALL);
	ck_assert_uint_eq(sizeof(TBRW_CPUD_IA32), sizeof(TBRW_CPUID_IA32));
	ck_assert_ptr_eq(TBRW_read_section, TBRW_reading_section);
	ck_assert_ptr_eq(seen_data, &see_data_of_5_9);
	OK(TBRW_get_version(&major, &minor));
	ck_assert_uint_eq(major, 2);
	ck_assert_uint_eq(minor, 3);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {chapter_6, chapter_10, bit_fields, spellings};

	return run_suite(suite_of("guide", tests, sizeof(tests) / sizeof(*tests)));
}
