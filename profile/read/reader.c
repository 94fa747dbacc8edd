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

static TBRW_U32 load(struct profile_reader *reader)
{
	TBRW_U32 code = verify(reader);

	if (code == VT_SUCCESS)
		code = find_streams(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_records(reader, 0, PROFILE_STREAM_COLLECTED);
	if (code == VT_SUCCESS)
		profile_reader_divide_accounts(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_host(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_lives(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_load_modules(reader);
	if (code == VT_SUCCESS && reader->is_plain)
		code = profile_plain_load(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_open_samples(reader);
	if (code == VT_SUCCESS)
		code = profile_reader_deduce(reader);
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

void profile_reader_close(struct profile_reader *reader)
{
	if (!reader)
		return;
	profile_reader_close_samples(reader);
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
	free(reader->processes);
	free(reader->threads);
	profile_strings_finish(&reader->names);
	profile_strpool_finish(&reader->made_names);
	free(reader);
}
