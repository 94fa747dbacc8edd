/* Opens and closes a result. */
#include "profile/read/reader_private.h"
#include "tbrw/utf8.h"
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

static TBRW_U32 find_streams(struct profile_reader *reader)
{
	bool is_any;
	TBRW_U32 code = profile_reader_find_streams(reader, &is_any);

	if (code != VT_SUCCESS || is_any)
		return code;
	code = profile_plain_find(reader);
	if (code == VT_SUCCESS && reader->is_complete && !reader->is_plain)
		return VT_STREAM_NOT_EXIST;
	return code;
}

static TBRW_U32 load_collected(struct profile_reader *reader)
{
	return profile_reader_load_records(reader, 0, PROFILE_STREAM_COLLECTED);
}

static TBRW_U32 load_symbols(struct profile_reader *reader)
{
	TBRW_U32 code = profile_reader_load_records(reader, PROFILE_STREAM_COLLECTED,
						    PROFILE_STREAM_EXTERNAL);

	return code == VT_SUCCESS ? profile_reader_index_symbols(reader) : code;
}

static TBRW_U32 find_start(struct profile_reader *reader)
{
	if (profile_reader_clock_count(reader) == 0)
		return VT_SUCCESS;
	reader->start_ns = profile_reader_clock(reader, 0)->raw_ns;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		uint64_t time_ns = profile_reader_raw_ns(reader, note->tsc);
		if (note->kind != PROFILE_NOTE_ANALYSIS)
			continue;
		if (time_ns > reader->start_ns)
			reader->start_ns = time_ns;
		break;
	}
	return VT_SUCCESS;
}

/* The stages of opening, in their order. */
static const struct stage {
	TBRW_U32 (*run)(struct profile_reader *reader);
	bool is_plain; /* of plain files only */
} stages[] = {
	{verify, false},
	{find_streams, false},                   /* whether the file is complete */
	{load_collected, false},                 /* streams */
	{find_start, false},                     /* clocks, notes */
	{profile_reader_divide_accounts, false}, /* threads, notes */
	{profile_reader_find_events, false},     /* notes */
	{profile_reader_load_host, false},
	{profile_reader_load_lives, false},   /* threads */
	{profile_reader_load_modules, false}, /* lives, mappings; seals the binder */
	{profile_plain_load, true},           /* modules */
	{profile_reader_open_samples, false}, /* streams */
	{profile_reader_deduce, false},       /* modules, samples, weights */
	{profile_plain_make_frames, true},    /* modules, samples */
	{load_symbols, false},                /* frames, of plain files too */
	{profile_reader_load_external, false},
};

static TBRW_U32 load(struct profile_reader *reader)
{
	TBRW_U32 code = VT_SUCCESS;

	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages) && code == VT_SUCCESS; i++)
		if (!stages[i].is_plain || reader->is_plain)
			code = stages[i].run(reader);
	return code;
}

TBRW_U32 profile_reader_open(const char *path, struct profile_reader **reader)
{
	if (!path || !reader)
		return VT_UNEXPECTED_NULL_PTR;
	struct profile_reader *made = calloc(1, sizeof(*made));
	if (!made)
		return VT_NO_MEMORY;
	TBRW_U32 code = tb5_utf8_open(&made->file, path, TBRW_FILE_READ);
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

TBRW_U32 profile_reader_whole_size(const char *path, uint64_t *whole, uint64_t *size)
{
	TBRW_U64 whole_bytes = 0;
	TBRW_U64 all_bytes = 0;

	if (!path || !whole || !size)
		return VT_UNEXPECTED_NULL_PTR;
	TBRW_U32 code = tb5_utf8_whole_size(path, &whole_bytes, &all_bytes);
	*whole = whole_bytes;
	*size = all_bytes;
	return code;
}

void profile_reader_close(struct profile_reader *reader)
{
	if (!reader)
		return;
	profile_reader_close_samples(reader);
	profile_reader_close_external(reader);
	TBRW_abort_cleanup_and_close(reader->file);
	tb5_binder_finish(&reader->binder);
	free(reader->modules);
	free(reader->module_of_record);
	for (unsigned id = 0; id < PROFILE_STREAM_COUNT; id++) {
		free(reader->records[id].items);
		profile_texts_finish(&reader->texts[id]);
	}
	free(reader->node_damaged);
	free(reader->symbol_first);
	free(reader->thread_order);
	free(reader->processes);
	free(reader->threads);
	profile_strings_finish(&reader->names);
	profile_strpool_finish(&reader->made_names);
	free(reader);
}
