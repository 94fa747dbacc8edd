/* Bytes of perf_event records as the kernel writes them, so that a test can make any record. */
#ifndef TESTS_COLLECTOR_RECORD_ENCODE_H
#define TESTS_COLLECTOR_RECORD_ENCODE_H

#include "collector/perf/record.h"

/* Encodes record into bytes of the given capacity; the record's size, 0 when it does not fit. */
size_t record_encode(const struct record_format *format, const struct record *record, void *bytes,
		     size_t capacity);

#endif
