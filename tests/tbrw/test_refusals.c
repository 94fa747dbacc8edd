/* Calls outside the section they belong to: refused, and nothing is written. */
#include "tests/tbrw/support.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static TBRW_U32 set_system(TBRW_PTR ptr)
{
	TBRW_SYSTEM system = {.system_size = sizeof(system)};

	return TBRW_set_system(ptr, &system);
}

static TBRW_U32 set_host(TBRW_PTR ptr)
{
	TBRW_HOST host = {.host_size = sizeof(host)};

	return TBRW_set_host(ptr, &host);
}

static TBRW_U32 set_os(TBRW_PTR ptr)
{
	TBRW_OS os = {.os_size = sizeof(os)};

	return TBRW_set_os(ptr, &os);
}

static TBRW_U32 set_application(TBRW_PTR ptr)
{
	TBRW_APPLICATION application = {.app_size = sizeof(application)};

	return TBRW_set_application(ptr, &application);
}

static TBRW_U32 set_version_info(TBRW_PTR ptr)
{
	TBRW_VERSION_INFO info = {.version_info_size = sizeof(info)};

	return TBRW_set_version_info(ptr, &info);
}

static TBRW_U32 set_user_defined_global(TBRW_PTR ptr)
{
	char data[] = "abc";

	return TBRW_set_user_defined_global(ptr, sizeof(data), data);
}

static TBRW_U32 add_module(TBRW_PTR ptr)
{
	TBRW_MODULE module = module_of(1, 0x1000, 0x1000, 5, L"/lib/a.so");

	return TBRW_add_module(ptr, &module);
}

static TBRW_U32 add_process(TBRW_PTR ptr)
{
	TBRW_PID process = process_of(1, 0, 5, L"a");

	return TBRW_add_process(ptr, &process);
}

static TBRW_U32 add_thread(TBRW_PTR ptr)
{
	TBRW_TID thread = thread_of(1, 1, 0, 5, L"a");

	return TBRW_add_thread(ptr, &thread);
}

typedef TBRW_U32 writing_call(TBRW_PTR ptr);

static const struct {
	writing_call *call;
	TBRW_SECTION_IDENTIFIER section;
} writers[] = {
	{set_system, TBRW_HARDWARE_SECTION},
	{set_host, TBRW_SOFTWARE_SECTION},
	{set_os, TBRW_SOFTWARE_SECTION},
	{set_application, TBRW_SOFTWARE_SECTION},
	{set_version_info, TBRW_VERSION_INFO_SECTION},
	{set_user_defined_global, TBRW_USER_DEFINED_GLOBAL_SECTION},
	{add_module, TBRW_MODULE_SECTION},
	{add_process, TBRW_PROCESS_THREAD_SECTION},
	{add_thread, TBRW_PROCESS_THREAD_SECTION},
};

START_TEST(global_section_not_open)
{
	writing_call *call = writers[_i].call;
	TBRW_SECTION_IDENTIFIER section = writers[_i].section;
	TBRW_PTR ptr = open_file("a.tb5", CREATE);

	FAILS(call(ptr), VT_SECTION_NOT_WRITEABLE);
	FAILS(TBRW_reading_section(ptr, section), VT_SECTION_NOT_EXIST);
	OK(TBRW_writing_section(ptr, section));
	OK(call(ptr));
	OK(TBRW_done_section(ptr, section));
	FAILS(call(ptr), VT_SECTION_NOT_WRITEABLE);
	OK(TBRW_close(ptr));
}
END_TEST

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static TBRW_PTR begin_data(void)
{
	TBRW_PTR ptr = open_file("a.tb5", CREATE);
	TBRW_STREAM_INFO info = stream_info_of(TBRW_CUSTOM_STREAM, L"c");
	TBRW_SAMPREC_DESC_ENTRY d = descriptor_of(ST_NONE, SST_NONE, 0, 1, L"byte");

	OK(TBRW_writing_stream(ptr, 0));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_set_stream_info(ptr, 0, &info));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_STREAM_INFO_SECTION));
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	OK(TBRW_add_data_descriptor_entry(ptr, 0, &d));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_DESCRIPTION_SECTION));
	return ptr;
}

static TBRW_U32 count_bytes(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)data;
	ck_assert_uint_eq(size, count);
	*(uint64_t *)user += count;
	return TRUE;
}

/* What a file gives is appended; what gives nothing, or an error, adds nothing. */
START_TEST(data_from_files)
{
	TBRW_PTR ptr = begin_data();
	uint64_t bytes = 0;

	write_text("some", "0123456789");
	write_text("none", "");
	ck_assert_int_eq(mkdir(path_of("folder"), 0700), 0);
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of("some")), VT_SECTION_NOT_WRITEABLE);
	OK(TBRW_writing_stream_section(ptr, 0, TBRW_DATA_SECTION));
	FAILS(TBRW_add_data_from_file(ptr, 0, NULL), VT_UNEXPECTED_NULL_PTR);
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of("absent")), VT_FILE_OPEN_FAILED);
	FAILS(TBRW_add_data_from_file(ptr, 0, wide_path_of("folder")), VT_FILE_OPEN_FAILED);
	/* Address 0 of ourselves: EIO. */
	FAILS(TBRW_add_data_from_file(ptr, 0, (TBRW_CHAR[]){L"/proc/self/mem"}),
	      VT_SAMPLE_FILE_MAPPING_ERROR);
	OK(TBRW_add_data_from_file(ptr, 0, wide_path_of("none")));
	OK(TBRW_add_data_from_file(ptr, 0, wide_path_of("some")));
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_enumerate_data(ptr, 0, count_bytes, &bytes, 0));
	ck_assert_uint_eq(bytes, 10);
	OK(TBRW_abort_cleanup_and_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {data_from_files};
	Suite *suite = suite_of("refusals", tests, sizeof(tests) / sizeof(*tests));
	TCase *tcase = tcase_create("global sections");

	tcase_add_checked_fixture(tcase, folder_setup, folder_teardown);
	tcase_add_loop_test(tcase, global_section_not_open, 0,
			    (int)(sizeof(writers) / sizeof(*writers)));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
