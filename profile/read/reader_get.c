/* The getters of loaded and checked records. */
#include "profile/base/tsc.h"
#include "profile/read/reader_private.h"
#include <assert.h>

bool profile_reader_complete(const struct profile_reader *reader)
{
	return reader->is_complete;
}

uint64_t profile_reader_sample_count(const struct profile_reader *reader)
{
	return reader->sample_count;
}

uint32_t profile_reader_image_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_IMAGES].count;
}

uint32_t profile_reader_frame_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_FRAMES].count;
}

uint32_t profile_reader_node_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_NODES].count;
}

uint32_t profile_reader_thread_count(const struct profile_reader *reader)
{
	return reader->thread_count;
}

uint32_t profile_reader_clock_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_CLOCK].count;
}

uint32_t profile_reader_note_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_NOTES].count;
}

uint32_t profile_reader_unwinding_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_UNWINDING].count;
}

uint32_t profile_reader_symbol_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_SYMBOLS].count;
}

uint32_t profile_reader_process_count(const struct profile_reader *reader)
{
	return reader->process_count;
}

uint32_t profile_reader_module_count(const struct profile_reader *reader)
{
	return reader->module_count;
}

const void *profile_reader_records(const struct profile_reader *reader, enum profile_stream stream,
				   uint32_t *count)
{
	assert(stream < PROFILE_STREAM_COUNT);
	*count = reader->records[stream].count;
	return reader->records[stream].items;
}

/* The records of a stream that has one of this index. */
static const void *records_of(const struct profile_reader *r, enum profile_stream stream,
			      uint32_t index)
{
	assert(index < r->records[stream].count);
	(void)index; /* used by the assertion alone */
	return r->records[stream].items;
}

const struct profile_image *profile_reader_image(const struct profile_reader *r, uint32_t index)
{
	const struct profile_image *images = records_of(r, PROFILE_STREAM_IMAGES, index);
	return images + index;
}

const struct profile_frame *profile_reader_frame(const struct profile_reader *r, uint32_t index)
{
	const struct profile_frame *frames = records_of(r, PROFILE_STREAM_FRAMES, index);
	return frames + index;
}

const struct profile_node *profile_reader_node(const struct profile_reader *r, uint32_t index)
{
	const struct profile_node *nodes = records_of(r, PROFILE_STREAM_NODES, index);
	return nodes + index;
}

const struct profile_clock *profile_reader_clock(const struct profile_reader *r, uint32_t index)
{
	const struct profile_clock *clocks = records_of(r, PROFILE_STREAM_CLOCK, index);
	return clocks + index;
}

const struct profile_note *profile_reader_note(const struct profile_reader *r, uint32_t index)
{
	const struct profile_note *notes = records_of(r, PROFILE_STREAM_NOTES, index);
	return notes + index;
}

const struct profile_unwinding *profile_reader_unwinding(const struct profile_reader *r,
							 uint32_t index)
{
	const struct profile_unwinding *unwindings = records_of(r, PROFILE_STREAM_UNWINDING, index);
	return unwindings + index;
}

const struct profile_process_info *profile_reader_process(const struct profile_reader *r,
							  uint32_t i)
{
	assert(i < r->process_count);
	return &r->processes[i];
}

const struct profile_thread_info *profile_reader_thread(const struct profile_reader *r, uint32_t i)
{
	assert(i < r->thread_count);
	return &r->threads[i];
}

const struct profile_module_info *profile_reader_module(const struct profile_reader *r, uint32_t i)
{
	assert(i < r->module_count);
	return &r->modules[i];
}

const char *profile_reader_text(const struct profile_reader *reader, struct profile_text text)
{
	return profile_texts_get(&reader->texts[PROFILE_STREAM_STRINGS], text);
}

const char *profile_reader_symtext(const struct profile_reader *reader, struct profile_text text)
{
	return profile_texts_get(&reader->texts[PROFILE_STREAM_SYMTEXT], text);
}

const struct profile_symbol *profile_reader_symbols(const struct profile_reader *reader,
						    uint32_t frame, uint32_t *count)
{
	assert(frame < profile_reader_frame_count(reader));
	uint32_t first = reader->symbol_first[frame];

	*count = reader->symbol_first[frame + 1] - first;
	const struct profile_symbol *symbols = reader->records[PROFILE_STREAM_SYMBOLS].items;
	return *count ? &symbols[first] : NULL;
}

void profile_reader_host(const struct profile_reader *reader, struct profile_host_info *host)
{
	*host = reader->host;
}

uint64_t profile_reader_raw_ns(const struct profile_reader *reader, uint64_t tsc)
{
	static const struct profile_clock unknown;
	const struct profile_records *clocks = &reader->records[PROFILE_STREAM_CLOCK];

	return profile_raw_from_tsc(clocks->count ? clocks->items : &unknown, tsc);
}

uint64_t profile_reader_start_ns(const struct profile_reader *reader)
{
	return reader->start_ns;
}

uint64_t profile_reader_start_date_ns(const struct profile_reader *reader)
{
	if (profile_reader_clock_count(reader) == 0)
		return 0;
	const struct profile_clock *first = profile_reader_clock(reader, 0);
	return first->real_ns == 0 ? 0 : first->real_ns + (reader->start_ns - first->raw_ns);
}

uint64_t profile_reader_since_start(const struct profile_reader *reader, uint64_t raw_ns)
{
	return raw_ns > reader->start_ns ? raw_ns - reader->start_ns : 0;
}
