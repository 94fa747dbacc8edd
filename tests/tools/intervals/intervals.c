#include "tests/tools/intervals/intervals.h"

#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tests/tools/build_result.h"
#include <check.h>

static const struct build_sample samples[] = {{.stack = "app:main", .count = 1, .cpu_ms = 10}};
static const struct build_result result = {.samples = samples, .count = 1};

void intervals_set_up(void)
{
	build_set_up();
	build_result_write(build_path, &result);
}

struct profile_reader *intervals_write(const struct profile_interval *intervals, size_t count)
{
	const char *const texts[] = {"a", NULL};
	const struct profile_series series = {.kind = PROFILE_SERIES_TASK};
	const struct profile_source source = {0};
	struct profile_writer *writer;
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_external_writer_begin(build_path, &writer), 0);
	ck_assert_uint_eq(profile_writer_add(writer, PROFILE_STREAM_SERIES, &series, texts, NULL),
			  0);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(profile_writer_add(writer, PROFILE_STREAM_INTERVALS,
						     &intervals[i], NULL, NULL),
				  0);
	ck_assert_uint_eq(profile_writer_add(writer, PROFILE_STREAM_SOURCES, &source, texts, NULL),
			  0);
	ck_assert_uint_eq(profile_external_writer_finish(writer), 0);
	ck_assert_uint_eq(profile_reader_open(build_path, &reader), 0);
	return reader;
}

bool intervals_hold(const struct profile_interval *interval, uint32_t pid, uint32_t tid,
		    uint64_t tsc)
{
	return (interval->pid == 0 || interval->pid == pid) &&
	       (interval->tid == 0 || interval->tid == tid) && interval->start_tsc <= tsc &&
	       tsc < interval->end_tsc;
}

unsigned intervals_draw(unsigned *seed, unsigned limit)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % limit;
}
