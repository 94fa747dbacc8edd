/* Symbols for the frames of a result that has none yet. */
#include "profile/read/reader_private.h"
#include <stdlib.h>

static bool make_text(struct profile_reader *reader, const char *s, struct profile_text *text)
{
	*text = (struct profile_text){0};
	return !s || profile_texts_make(&reader->texts[PROFILE_STREAM_SYMTEXT], s, text);
}

static TBRW_U32 take_symbol(struct profile_reader *reader, const struct profile_symbol_text *texts,
			    struct profile_symbol *symbol)
{
	if (symbol->frame >= profile_reader_frame_count(reader))
		return VT_BAD_PARAMETER;
	if (!make_text(reader, texts->name, &symbol->name) ||
	    !make_text(reader, texts->full, &symbol->full) ||
	    !make_text(reader, texts->file, &symbol->file))
		return VT_NO_MEMORY;
	return VT_SUCCESS;
}

TBRW_U32 profile_reader_name_frames(struct profile_reader *reader,
				    const struct profile_symbol *symbols,
				    const struct profile_symbol_text *texts, uint32_t count)
{
	struct profile_records *records = &reader->records[PROFILE_STREAM_SYMBOLS];
	TBRW_U32 code = VT_SUCCESS;

	if (records->count > 0)
		return VT_BAD_PARAMETER;
	if (count == 0)
		return VT_SUCCESS;
	struct profile_symbol *taken = reallocarray(NULL, count, sizeof(*taken));
	if (!taken)
		return VT_NO_MEMORY;
	for (uint32_t i = 0; i < count && code == VT_SUCCESS; i++) {
		taken[i] = symbols[i];
		code = take_symbol(reader, &texts[i], &taken[i]);
	}
	if (code != VT_SUCCESS) {
		free(taken);
		return code;
	}
	free(records->items);
	free(reader->symbol_first);
	reader->symbol_first = NULL;
	*records = (struct profile_records){taken, count};
	return profile_reader_index_symbols(reader);
}
