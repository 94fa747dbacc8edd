/* What is left of a file that was cut, damaged, or never closed. */
#include "tests/tbrw/support.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Everything that can be read of a file, with all errors allowed: must not crash. */
static void read_everything(TBRW_PTR ptr)
{
	TBRW_U32 streams = 0, size, ret;
	const TBRW_MODULE *module;
	wchar_t text[64];
	char buffer[4096];

	TBRW_verify(ptr);
	TBRW_get_number_data_streams(ptr, &streams);
	if (TBRW_get_one_module(ptr, 0, &module) == VT_SUCCESS) {
		TBRW_STRING_OR_ID id = module->module_path;

		TBRW_convert_uniqueid_to_string(ptr, sizeof(text), &id, text, &size);
	}
	if (TBRW_reading_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION) == VT_SUCCESS)
		TBRW_get_user_defined_global(ptr, sizeof(buffer), buffer, &size);
	TBRW_dobind(ptr, 0);
	for (TBRW_U32 n = 1; n < streams && n < 100; n++)
		sum_of(ptr, n, &ret);
}

static void write_mixed(const char *name)
{
	TBRW_PTR ptr = open_file(name, CREATE);
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 1), sample_of(1, 2, 0x9000, 2)};
	TBRW_MODULE module = module_of(1, 0x1000, 0x1000, 0, L"/bin/módulo");
	uint32_t values[] = {1, 2, 3};
	char user[] = "user";

	OK(TBRW_writing_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_add_module(ptr, &module));
	OK(TBRW_done_section(ptr, TBRW_MODULE_SECTION));
	OK(TBRW_writing_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	OK(TBRW_set_user_defined_global(ptr, sizeof(user), user));
	OK(TBRW_done_section(ptr, TBRW_USER_DEFINED_GLOBAL_SECTION));
	write_samples(ptr, samples, 2);
	write_custom_stream(ptr, 1, L"values", 4, values, sizeof(values));
	OK(TBRW_close(ptr));
}

START_TEST(every_truncation)
{
	size_t size, opened = 0;

	write_mixed("a.tb5");
	unsigned char *data = read_bytes("a.tb5", &size);
	for (size_t n = 0; n < size; n++) {
		TBRW_PTR ptr;

		write_bytes("cut.tb5", data, n);
		TBRW_U32 code = TBRW_open(&ptr, wide_path_of("cut.tb5"), READ);
		if (code != VT_SUCCESS) {
			FAILS(code, VT_INVALID_SAMPLE_FILE);
			ck_assert_uint_lt(n, 64);
			continue;
		}
		opened++;
		FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
		read_everything(ptr);
		OK(TBRW_abort_cleanup_and_close(ptr));
	}
	ck_assert_uint_eq(opened, size - 64);
	free(data);
}
END_TEST

/* A flipped byte never makes the library crash, and never changes what is read unnoticed. */
START_TEST(every_flipped_byte)
{
	size_t size;

	write_mixed("a.tb5");
	unsigned char *data = read_bytes("a.tb5", &size);
	for (size_t n = 0; n < size; n++) {
		TBRW_PTR ptr;
		TBRW_U32 code;

		data[n] ^= 0x41;
		write_bytes("bad.tb5", data, size);
		data[n] ^= 0x41;
		if (TBRW_open(&ptr, wide_path_of("bad.tb5"), READ) != VT_SUCCESS)
			continue;
		read_everything(ptr);
		if (TBRW_verify(ptr) == VT_SUCCESS) {
			uint64_t sum = sum_of(ptr, 1, &code);

			ck_assert(code != VT_SUCCESS || sum == 6);
		}
		OK(TBRW_abort_cleanup_and_close(ptr));
	}
	free(data);
}
END_TEST

static TBRW_U32 count_entries(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	ck_assert_ptr_nonnull(data);
	ck_assert_uint_eq(size % count, 0);
	*(size_t *)user += count;
	return TRUE;
}

/* A writer that is killed loses at most the last second. */
START_TEST(killed_writer)
{
	enum { FIRST = 1000 };
	size_t samples = 0;
	TBRW_PTR ptr;
	TBRW_U32 code;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct sample s = sample_of(1, 1, 0x1000, 1);
		uint32_t one = 1;

		ptr = open_file("killed.tb5", CREATE);
		begin_samples(ptr);
		write_custom_stream(ptr, 1, L"whole", 4, &one, 4);
		for (int i = 0; i < FIRST; i++)
			TBRW_add_data(ptr, 0, sizeof(s), &s);
		usleep(1100000);
		/* The first write after a second flushes what came before it. */
		TBRW_add_data(ptr, 0, sizeof(s.pc), &s.pc);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ptr = open_file("killed.tb5", READ);
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	ck_assert_uint_eq(sum_of(ptr, 1, &code), 1);
	OK(code);
	OK(TBRW_reading_stream(ptr, 0));
	OK(TBRW_reading_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_enumerate_data(ptr, 0, count_entries, &samples, 0));
	ck_assert_uint_eq(samples, FIRST);
	OK(TBRW_done_stream_section(ptr, 0, TBRW_DATA_SECTION));
	OK(TBRW_done_stream(ptr, 0));
	OK(TBRW_dobind(ptr, 0));
	FAILS(TBRW_verify(ptr), VT_INCOMPLETE_TB5_ENCOUNTERED);
	OK(TBRW_close(ptr));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {every_truncation, every_flipped_byte, killed_writer};

	return run_suite(suite_of("torn", tests, sizeof(tests) / sizeof(*tests)));
}
