#include "collector/stream/source.h"

#include "collector/perf/sampler.h"

static void refresh_ring(const struct source *source)
{
	ring_refresh(source->state);
}

static bool peek_ring(const struct source *source, const void **bytes, size_t *size)
{
	return ring_peek(source->state, bytes, size);
}

static void consume_ring(const struct source *source, size_t size)
{
	ring_consume(source->state, size);
}

static bool decode_record(const struct source *source, const void *bytes, size_t size,
			  struct record *record)
{
	return record_decode(source->format, bytes, size, record);
}

static bool find_time(const struct source *source, const void *bytes, size_t size,
		      uint64_t *time_ns)
{
	return record_time(source->format, bytes, size, time_ns);
}

const struct source_kind source_ring = {refresh_ring, peek_ring,     consume_ring,
					find_time,    decode_record, NULL};
