/* Results made to measure, in a directory that goes away with the test. */
#ifndef TESTS_PROFILE_FIXTURE_H
#define TESTS_PROFILE_FIXTURE_H

#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include <check.h>

/* First sync point of every result: 3 GHz, and easy to tell apart. */
#define FIXTURE_TSC      1000000000000u
#define FIXTURE_RAW_NS   5000000000u
#define FIXTURE_REAL_NS  1700000000000000000u
#define FIXTURE_RATE_Q32 (UINT64_C(3) << 32)

#define assert_success(call) ck_assert_uint_eq((call), VT_SUCCESS)

/* The one case of a suite: its tests run in the fixture, 300 s each at most. */
TCase *fixture_case(Suite *suite);
/* For programs that are no tests. */
void fixture_setup(void);
void fixture_teardown(void);

/* Path of the test's result; valid until the teardown. */
const char *fixture_path(void);

/* Milliseconds after the first sync point as CLOCK_MONOTONIC_RAW, and the TSC of that time. */
uint64_t fixture_ms(uint64_t ms);
uint64_t fixture_tsc(uint64_t ms);

struct profile_writer *fixture_create(void);
void fixture_finish(struct profile_writer *writer); /* 10 s after the start */
/* As if the writer had been killed at the end: all records are there, but no bind and no index. */
void fixture_kill(struct profile_writer *writer);
struct profile_reader *fixture_open(void);

/* Writes the records of a small result: process 100 "app" (threads 100, 101), image 1, frames and
 * a three-deep stack (node 3), and `samples` samples 1 ms apart from time 1 ms on. */
void fixture_fill(struct profile_writer *writer, uint32_t samples);

void fixture_add_sample(struct profile_writer *writer, uint64_t ms, uint32_t pid, uint32_t tid,
			uint64_t ip);
void fixture_add_module(struct profile_writer *writer, uint32_t pid, uint64_t start,
			uint64_t length, uint64_t load_ns, const char *path, bool is_executable);
void fixture_add_process(struct profile_writer *writer, uint32_t pid, uint64_t start_ns,
			 uint64_t end_ns, const char *path);
void fixture_add_thread(struct profile_writer *writer, uint32_t pid, uint32_t tid,
			uint64_t start_ns, uint64_t end_ns, uint32_t samples, const char *name);

/* A plain tb5 file, as another program writes it with the TBRW API. */
struct fixture_plain {
	uint32_t interval_us;   /* of the stream */
	const wchar_t *command; /* NULL: none */
	const TBRW_EVENT *events;
	uint32_t event_count;
	const TBRW_MODULE *modules; /* strings by soi_ptr */
	uint32_t module_count;
	const TBRW_PID *processes; /* likewise */
	uint32_t process_count;
	const TBRW_SAMPREC_DESC_ENTRY *fields; /* offset, type, subtype and size count */
	uint32_t field_count;
	const void *samples;
	size_t size; /* of all samples, bytes */
};
/* The fields of a sample record and a TSC behind it. */
extern const TBRW_SAMPREC_DESC_ENTRY fixture_plain_fields[2];
void fixture_write_plain(const struct fixture_plain *plain);

/* All samples of a result, in memory that the caller frees. */
struct profile_sample_info *fixture_samples(struct profile_reader *reader, uint64_t *count);

/* Reads everything that a reader offers and checks what reader.h promises of any file. */
void fixture_check_promises(struct profile_reader *reader);

#endif
