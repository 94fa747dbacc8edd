/* What was read, as items of the first data file. */
#include "tools/tb5/tb5_text.h"
#include "tools/tb5/tbrw_reader.h"
#include <stdlib.h>
#include <string.h>

void reader_put(struct reader *r, enum dat_kind kind, const void *bytes, size_t size)
{
	struct dat_item item = {.kind = kind, .stream = r->stream_out, .size = size};

	fwrite(&item, sizeof(item), 1, r->out);
	if (size)
		fwrite(bytes, 1, size, r->out);
}

void reader_put_section(struct reader *r, enum dat_kind kind, uint32_t section)
{
	struct dat_item item = {.kind = kind, .stream = r->stream_out, .section = section};

	fwrite(&item, sizeof(item), 1, r->out);
}

TBRW_U32 reader_put_record(struct reader *r, enum dat_kind kind, const void *record,
			   const void *tail, size_t tail_size)
{
	const struct dat_record *layout = dat_record_of(kind);
	struct dat_item item = {.kind = kind, .stream = r->stream_out};
	char *texts[DAT_STRINGS_MAX] = {NULL};
	uint32_t lengths[DAT_STRINGS_MAX];
	TBRW_U32 code = VT_SUCCESS;

	item.size = layout->size + tail_size + layout->string_count * sizeof(*lengths);
	for (uint32_t i = 0; code == VT_SUCCESS && i < layout->string_count; i++) {
		TBRW_STRING_OR_ID id;

		memcpy(&id, (const char *)record + layout->strings[i], sizeof(id));
		lengths[i] = DAT_NO_STRING;
		if (!id.soi_uniqueid)
			continue;
		texts[i] = tb5_text_of(r->file, id);
		if (!texts[i]) {
			code = VT_INVALID_STRING;
			break;
		}
		lengths[i] = (uint32_t)strlen(texts[i]);
		item.size += lengths[i];
	}
	if (code == VT_SUCCESS) {
		fwrite(&item, sizeof(item), 1, r->out);
		fwrite(record, layout->size, 1, r->out);
		for (uint32_t i = 0; i < layout->string_count; i++) {
			fwrite(&lengths[i], sizeof(lengths[i]), 1, r->out);
			if (texts[i])
				fwrite(texts[i], 1, lengths[i], r->out);
		}
		if (tail_size)
			fwrite(tail, 1, tail_size, r->out);
	}
	for (uint32_t i = 0; i < DAT_STRINGS_MAX; i++)
		free(texts[i]);
	return code;
}
