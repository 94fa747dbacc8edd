/* Memory that runs out, at every single allocation: an error code, nothing leaked, nothing lost.
 * The linker routes the libraries' allocations through here (meson.build). */
#include "profile/copy.h"
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

static uint32_t allocations_left = UINT32_MAX; /* until one fails; UINT32_MAX: none does */

static bool allocation_fails(void)
{
	return allocations_left != UINT32_MAX && allocations_left-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return allocation_fails() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
	return allocation_fails() ? NULL : __real_reallocarray(old, count, size);
}

/* After the allocation that fails the countdown goes on from UINT32_MAX and fails no more. */
static void fail_after(uint32_t allocations)
{
	allocations_left = allocations;
}

/* Whether the failure never came: there were fewer allocations. */
static bool never_failed(void)
{
	bool is_left = allocations_left != UINT32_MAX;

	allocations_left = UINT32_MAX;
	return is_left;
}

enum { ALLOCATIONS_MAX = 20000 };

static bool count_sample(const struct profile_sample_info *sample, void *user)
{
	(void)sample;
	++*(uint64_t *)user;
	return true;
}

static void write_plain(void)
{
	struct {
		TBRW_SampleRecordPC pc;
		TBRW_SampleRecordTSC tsc;
	} samples[51] = {0};
	wchar_t path[] = L"/opt/app";
	TBRW_MODULE module = {.module_length = 10, .module_path.soi_ptr = path};
	struct fixture_plain plain = {
		.command = L"app",
		.modules = &module,
		.module_count = 1,
		.fields = fixture_plain_fields,
		.field_count = 2,
		.samples = samples,
		.size = sizeof(samples),
	};

	fixture_write_plain(&plain);
}

START_TEST(reader_without_memory)
{
	struct profile_writer *writer = fixture_create();
	uint32_t failures = 0;

	fixture_fill(writer, 50);
	fixture_add_sample(writer, 99, 300, 301, 0x1234);
	if (_i == 1)
		fixture_kill(writer);
	else
		fixture_finish(writer);
	if (_i == 2)
		write_plain();
	for (uint32_t n = 0; n < ALLOCATIONS_MAX; n++) {
		struct profile_reader *reader = NULL;
		uint64_t count = 0;
		fail_after(n);
		TBRW_U32 code = profile_reader_open(fixture_path(), &reader);
		if (code == VT_SUCCESS)
			code = profile_reader_each_sample(reader, count_sample, &count);
		bool is_done = never_failed();
		if (code == VT_SUCCESS)
			ck_assert_uint_eq(count, 51);
		else
			ck_assert_uint_eq(code, VT_NO_MEMORY);
		failures += code != VT_SUCCESS;
		profile_reader_close(reader);
		if (is_done)
			break;
		ck_assert_uint_lt(n + 1, ALLOCATIONS_MAX);
	}
	ck_assert_uint_gt(failures, 20);
}
END_TEST

/* A short run, in which each call may fail. */
static TBRW_U32 write_run(void)
{
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.clock = run.clock, .command_line = "app"};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	struct profile_module module = {.pid = 1, .start = 1, .length = 10, .path = "/opt/app"};
	struct profile_process process = {.pid = 1, .path = "/opt/app", .name = "app"};
	struct profile_thread_life thread = {.pid = 1, .tid = 1, .name = "main"};
	struct profile_sample sample = {.time_ns = 5, .ip = 5, .pid = 1, .tid = 1};
	struct profile_writer *writer;
	TBRW_U32 code = profile_writer_create(fixture_path(), &run, &writer);

	if (code != VT_SUCCESS)
		return code;
	/* Errors are final: finish returns the first one. */
	profile_writer_add_image(writer, &image, "/opt/app", &module.image);
	profile_writer_add_module(writer, &module);
	profile_writer_add_sample(writer, &sample);
	profile_writer_add_note(writer, PROFILE_NOTE_WARNING, 5, 0, 0, 0, "careful");
	profile_writer_end_module(writer, &module);
	profile_writer_add_process(writer, &process);
	profile_writer_add_thread(writer, &thread);
	return profile_writer_finish(writer, &end);
}

START_TEST(writer_without_memory)
{
	uint32_t failures = 0;

	for (uint32_t n = 0; n < ALLOCATIONS_MAX; n++) {
		fail_after(n);
		TBRW_U32 code = write_run();
		bool is_done = never_failed();
		failures += code != VT_SUCCESS;
		if (code != VT_SUCCESS)
			ck_assert_uint_eq(code, VT_NO_MEMORY);
		if (is_done)
			break;
		ck_assert_uint_lt(n + 1, ALLOCATIONS_MAX);
	}
	ck_assert_uint_gt(failures, 20);
	struct profile_reader *reader = fixture_open();
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 1);
	profile_reader_close(reader);
}
END_TEST

static TBRW_U32 write_symbols(void)
{
	struct profile_writer *writer;
	struct profile_symbol symbol = {.frame = 1};
	struct profile_symbol_text text = {"name", "full", "file"};
	TBRW_U32 code = profile_symbol_writer_begin(fixture_path(), &writer);

	if (code != VT_SUCCESS)
		return code;
	profile_symbol_writer_add(writer, &symbol, &text);
	return profile_symbol_writer_finish(writer);
}

START_TEST(symbols_without_memory)
{
	struct profile_writer *writer = fixture_create();
	uint32_t failures = 0;

	fixture_fill(writer, 5);
	fixture_finish(writer);
	for (uint32_t n = 0; n < ALLOCATIONS_MAX; n++) {
		fail_after(n);
		TBRW_U32 code = write_symbols();
		bool is_done = never_failed();
		failures += code != VT_SUCCESS;
		if (code != VT_SUCCESS)
			ck_assert_uint_eq(code, VT_NO_MEMORY);
		struct profile_reader *reader = fixture_open();
		ck_assert(profile_reader_complete(reader));
		ck_assert_uint_eq(profile_reader_symbol_count(reader), code == VT_SUCCESS);
		profile_reader_close(reader);
		if (is_done || code == VT_SUCCESS)
			break;
		ck_assert_uint_lt(n + 1, ALLOCATIONS_MAX);
	}
	ck_assert_uint_gt(failures, 10);
}
END_TEST

/* A copy of a result into a new one at a path of its own. */
static TBRW_U32 copy_result(struct profile_reader *reader, const char *path)
{
	struct profile_run run = {
		.clock = *profile_reader_clock(reader, 0),
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.clock = run.clock};
	struct profile_copy copy = {.reader = reader};
	TBRW_U32 code = profile_writer_create(path, &run, &copy.writer);

	if (code != VT_SUCCESS)
		return code;
	code = profile_copy_all(&copy);
	if (code == VT_SUCCESS)
		code = profile_writer_finish(copy.writer, &end);
	else
		profile_writer_abandon(copy.writer);
	if (code == VT_SUCCESS)
		code = profile_copy_symbols(&copy, path);
	profile_copy_finish(&copy);
	return code;
}

START_TEST(copy_without_memory)
{
	struct profile_writer *writer = fixture_create();
	char path[128];
	uint32_t failures = 0;

	fixture_fill(writer, 5);
	fixture_finish(writer);
	assert_success(write_symbols());
	snprintf(path, sizeof(path), "%s.copy", fixture_path());
	struct profile_reader *reader = fixture_open();
	for (uint32_t n = 0; n < ALLOCATIONS_MAX; n++) {
		fail_after(n);
		TBRW_U32 code = copy_result(reader, path);
		bool is_done = never_failed();
		failures += code != VT_SUCCESS;
		if (code != VT_SUCCESS)
			ck_assert_uint_eq(code, VT_NO_MEMORY);
		if (is_done || code == VT_SUCCESS)
			break;
		ck_assert_uint_lt(n + 1, ALLOCATIONS_MAX);
	}
	profile_reader_close(reader);
	ck_assert_uint_gt(failures, 50);
	assert_success(profile_reader_open(path, &reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 5);
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 1);
	profile_reader_close(reader);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile memory");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, reader_without_memory, 0, 3);
	tcase_add_test(tcase, writer_without_memory);
	tcase_add_test(tcase, symbols_without_memory);
	tcase_add_test(tcase, copy_without_memory);
	return run_suite(suite);
}
