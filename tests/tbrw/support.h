/* What the tests of libtbrw share: a folder of their own, and the usual sections of a file. */
#ifndef TESTS_TBRW_SUPPORT_H
#define TESTS_TBRW_SUPPORT_H

#include "tbrw/tbrw.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READ       TBRW_FILE_READ
#define READ_WRITE (TBRW_FILE_READ | TBRW_FILE_WRITE)
#define CREATE     (TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS)

/* Aborts the test unless the call succeeds; shows what it returned. */
#define OK(call)          ck_assert_uint_eq((call), VT_SUCCESS)
#define FAILS(call, code) ck_assert_uint_eq((call), (code))

/* Fixture: an empty folder, and the path of a file `name` in it, narrow and wide. Paths are valid
 * until the fixture's end. */
void folder_setup(void);
void folder_teardown(void);
/* For programs that are no tests: a folder that is there and stays. */
void folder_use(const char *path);
const char *path_of(const char *name);
TBRW_CHAR *wide_path_of(const char *name);

/* A suite with one test case under the fixture. */
Suite *suite_of(const char *name, const TTest *const *tests, size_t count);

TBRW_PTR open_file(const char *name, TBRW_U32 mode);

/* All bytes of a file; read ones are the caller's to free. */
void write_bytes(const char *name, const void *data, size_t size);
unsigned char *read_bytes(const char *name, size_t *size);

/* The sum of the 4-byte values of a stream, or an error in *ret; adds to a uint64_t. */
uint64_t sum_of(TBRW_PTR ptr, TBRW_U32 stream, TBRW_U32 *ret);
TBRW_DATA_CALLBACK sum_values;

TBRW_STRING_OR_ID string_of(const wchar_t *text);
/* The string behind an id, valid until the next call; L"" for id 0. */
const wchar_t *text_of(TBRW_PTR ptr, TBRW_STRING_OR_ID id);
bool same_text(TBRW_PTR ptr, TBRW_STRING_OR_ID id, const wchar_t *text);

/* A sample as the collector writes it. */
struct sample {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
};
struct sample sample_of(uint32_t pid, uint32_t tid, uint64_t ip, uint64_t tsc);

TBRW_STREAM_INFO stream_info_of(TBRW_U32 type, const wchar_t *comment);
TBRW_SAMPREC_DESC_ENTRY descriptor_of(TBRW_U16 type, TBRW_U16 subtype, TBRW_U32 offset,
				      TBRW_U32 size, const wchar_t *name);

/* A module of 64-bit code loaded at `load`, never unloaded. */
TBRW_MODULE module_of(uint32_t pid, uint64_t address, uint64_t length, uint64_t load,
		      const wchar_t *path);
TBRW_PID process_of(uint32_t pid, uint32_t flags, uint64_t when, const wchar_t *name);
TBRW_TID thread_of(uint32_t pid, uint32_t tid, uint32_t flags, uint64_t when, const wchar_t *name);

/* Opens stream 0, writes its information and descriptors and opens its data section; then closes.
 */
void begin_samples(TBRW_PTR ptr);
void end_samples(TBRW_PTR ptr);
void write_samples(TBRW_PTR ptr, const struct sample *samples, size_t count);

void write_modules(TBRW_PTR ptr, const TBRW_MODULE *modules, size_t count);

/* The results of bind, for collect_bound. */
struct bind_results {
	DATA_BIND_STRUCT *results;
	size_t count;
	size_t capacity;
};
BIND_DATA_CALLBACK collect_bound;
/* Binds and gives the results of all samples, `capacity` of them. */
void bind_samples(TBRW_PTR ptr, DATA_BIND_STRUCT *results, size_t capacity);
bool is_bound(TBRW_PTR ptr);

/* A whole stream of one unsigned field of `size` bytes. */
void write_custom_stream(TBRW_PTR ptr, TBRW_U32 stream, const wchar_t *comment, TBRW_U32 size,
			 const void *data, size_t bytes);

#endif
