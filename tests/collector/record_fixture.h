/* A record of each kind, with a value in every field. */
#ifndef TESTS_COLLECTOR_RECORD_FIXTURE_H
#define TESTS_COLLECTOR_RECORD_FIXTURE_H

#include "collector/perf/record.h"

enum { RECORD_FIXTURE_KINDS = 10 };

/* All that can be encoded; the first one is RECORD_SAMPLE. */
extern const enum record_kind record_fixture_kinds[RECORD_FIXTURE_KINDS];

/* Nothing that varies, and everything. */
extern const struct record_format record_fixture_none;
extern const struct record_format record_fixture_all;

/* With registers and a stack unless abi is NONE. */
struct record record_fixture_sample(enum record_registers abi);

/* A mapping has its file's inode, not a build-id. */
void record_fixture_fill(struct record *record, enum record_kind kind);

/* Decodes a copy without a byte to spare, so that a sanitizer sees each read outside; the caller
 * frees it. */
bool record_fixture_decode(const struct record_format *format, const void *bytes, size_t size,
			   struct record *record, void **copy);

/* That sample b is sample a, as far as the format has its fields. */
void record_fixture_assert_same(const struct record_format *format, const struct record *a,
				const struct record *b);

#endif
