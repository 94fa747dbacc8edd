/* Opening a result, and its getters. */
#include "tbrw/profile/reader_private.h"

#include "tbrw/profile/tsc.h"
#include "tbrw/profile/wide.h"
#include <stdlib.h>

static TBRW_U32 verify(struct profile_reader *reader)
{
	TBRW_U32 code = TBRW_verify(reader->file);
	TBRW_U32 is_bound = 0;

	if (code != VT_SUCCESS && code != VT_INCOMPLETE_TB5_ENCOUNTERED)
		return code;
	reader->is_complete = code == VT_SUCCESS;
	code = TBRW_is_bound(reader->file, 0, &is_bound);
	reader->is_bound = code == VT_SUCCESS && is_bound;
	return code == VT_NO_MEMORY ? code : VT_SUCCESS;
}

static TBRW_U32 load(struct profile_reader *reader)
{
	TBRW_U32 code = verify(reader);

	if (code == VT_SUCCESS)
		code = profile_reader_find_streams(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_records(reader, 0, PROFILE_STREAM_COLLECTED);
	if (code == VT_SUCCESS)
		profile_reader_divide_accounts(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_host(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_modules(reader);
	if (code == VT_SUCCESS && reader->is_plain)
		code = profile_plain_load(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_open_samples(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_lives(reader);
	if (code == VT_SUCCESS && reader->is_plain)
		code = profile_plain_make_frames(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_records(reader, PROFILE_STREAM_COLLECTED,
						   PROFILE_STREAM_COUNT);
	if (code == VT_SUCCESS)
		code = profile_reader_index_symbols(reader);
	return code;
}

TBRW_U32 profile_reader_open(const char *path, struct profile_reader **reader)
{
	if (!path || !reader)
		return VT_UNEXPECTED_NULL_PTR;
	struct profile_reader *made = calloc(1, sizeof(*made));
	if (!made)
		return VT_NO_MEMORY;
	TBRW_U32 code = profile_file_open(&made->file, path, TBRW_FILE_READ);
	if (code != VT_SUCCESS) {
		free(made);
		return code;
	}
	code = load(made);
	if (code != VT_SUCCESS) {
		profile_reader_close(made);
		return code;
	}
	*reader = made;
	return VT_SUCCESS;
}

void profile_reader_close(struct profile_reader *reader)
{
	if (!reader)
		return;
	profile_reader_close_samples(reader);
	TBRW_abort_cleanup_and_close(reader->file);
	profile_reader_free_module_maps(reader);
	free(reader->modules);
	free(reader->module_of_record);
	free(reader->programs);
	for (unsigned id = 0; id < PROFILE_STREAM_COUNT; id++) {
		free(reader->records[id].items);
		profile_texts_finish(&reader->texts[id]);
	}
	free(reader->node_damaged);
	free(reader->symbol_first);
	free(reader->processes);
	free(reader->process_of_record);
	free(reader->threads);
	profile_lives_finish(&reader->process_lives);
	profile_lives_finish(&reader->thread_lives);
	profile_strings_finish(&reader->names);
	profile_strpool_finish(&reader->made_names);
	free(reader);
}

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
	*count = reader->records[stream].count;
	return reader->records[stream].items;
}

const struct profile_image *profile_reader_image(const struct profile_reader *r, uint32_t index)
{
	return (const struct profile_image *)r->records[PROFILE_STREAM_IMAGES].items + index;
}

const struct profile_frame *profile_reader_frame(const struct profile_reader *r, uint32_t index)
{
	return (const struct profile_frame *)r->records[PROFILE_STREAM_FRAMES].items + index;
}

const struct profile_node *profile_reader_node(const struct profile_reader *r, uint32_t index)
{
	return (const struct profile_node *)r->records[PROFILE_STREAM_NODES].items + index;
}

const struct profile_clock *profile_reader_clock(const struct profile_reader *r, uint32_t index)
{
	return (const struct profile_clock *)r->records[PROFILE_STREAM_CLOCK].items + index;
}

const struct profile_note *profile_reader_note(const struct profile_reader *r, uint32_t index)
{
	return (const struct profile_note *)r->records[PROFILE_STREAM_NOTES].items + index;
}

const struct profile_unwinding *profile_reader_unwinding(const struct profile_reader *r,
							 uint32_t index)
{
	return (const struct profile_unwinding *)r->records[PROFILE_STREAM_UNWINDING].items + index;
}

const struct profile_process_info *profile_reader_process(const struct profile_reader *r,
							  uint32_t i)
{
	return &r->processes[i];
}

const struct profile_thread_info *profile_reader_thread(const struct profile_reader *r, uint32_t i)
{
	return &r->threads[i];
}

const struct profile_module_info *profile_reader_module(const struct profile_reader *r, uint32_t i)
{
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
