#include "tools/convert/kept_symbols.h"

#include "tools/cli/xalloc.h"
#include <stdlib.h>
#include <string.h>

struct kept_symbol {
	struct profile_symbol record;
	char *name;
	char *full; /* NULL: no text, here and below */
	char *file;
};

/* How much is known of an address; more is better. */
enum knowledge {
	KNOWS_NOTHING,
	KNOWS_MODULE, /* [module] */
	KNOWS_START,  /* func@0x... */
	KNOWS_NAME,
	KNOWS_LINES,
	KNOWS_INLINES,
};

static enum knowledge knowledge_found(const struct symbol_address *address)
{
	const struct symbol_entry *function = &address->function;
	bool has_file = function->file != NULL;
	for (size_t i = 0; i < address->inlined_count; i++)
		has_file |= address->inlined[i].file != NULL;
	if (address->inlined_count > 0)
		return KNOWS_INLINES;
	if (function->is_pseudo)
		return function->name ? KNOWS_MODULE : KNOWS_START;
	if (!function->name)
		return KNOWS_NOTHING;
	return has_file ? KNOWS_LINES : KNOWS_NAME;
}

static enum knowledge knowledge_there(const struct profile_reader *reader,
				      const struct profile_symbol *symbols, uint32_t count)
{
	if (count == 0)
		return KNOWS_NOTHING;
	if (count > 1)
		return KNOWS_INLINES;
	if (symbols->flags & PROFILE_SYMBOL_PSEUDO)
		return profile_reader_symtext(reader, symbols->name)[0] == '[' ? KNOWS_MODULE
									       : KNOWS_START;
	return symbols->file.length > 0 ? KNOWS_LINES : KNOWS_NAME;
}

static char *text_of(const struct profile_reader *reader, struct profile_text text)
{
	return text.length > 0 ? xalloc_text(profile_reader_symtext(reader, text)) : NULL;
}

static void keep(struct kept_symbols *kept, const struct profile_reader *reader, uint32_t frame,
		 const struct profile_symbol *symbols, uint32_t count)
{
	struct kept_frame *item = &kept->frames[kept->count++];
	*item = (struct kept_frame){
		.frame = frame,
		.symbol_count = count,
		.symbols = xalloc_zeroed(count, sizeof(*item->symbols)),
	};
	for (uint32_t i = 0; i < count; i++)
		item->symbols[i] = (struct kept_symbol){
			.record = symbols[i],
			.name = text_of(reader, symbols[i].name),
			.full = text_of(reader, symbols[i].full),
			.file = text_of(reader, symbols[i].file),
		};
}

void kept_symbols_find(struct kept_symbols *kept, const struct profile_reader *reader,
		       const struct symbol_address *addresses, size_t count)
{
	size_t room = profile_reader_symbol_count(reader) > 0 ? count : 0;
	*kept = (struct kept_symbols){.frames = xalloc_zeroed(room, sizeof(*kept->frames))};
	for (size_t i = 0; i < room; i++) {
		uint32_t there = 0;
		const struct profile_symbol *symbols =
			profile_reader_symbols(reader, addresses[i].frame, &there);
		if (knowledge_there(reader, symbols, there) > knowledge_found(&addresses[i]))
			keep(kept, reader, addresses[i].frame, symbols, there);
	}
}

bool kept_symbols_has(const struct kept_symbols *kept, size_t index, uint32_t frame)
{
	return index < kept->count && kept->frames[index].frame == frame;
}

TBRW_U32 kept_symbols_write(const struct kept_symbols *kept, size_t index,
			    struct profile_writer *writer)
{
	const struct kept_frame *item = &kept->frames[index];
	TBRW_U32 code = VT_SUCCESS;
	for (uint32_t i = 0; i < item->symbol_count && code == VT_SUCCESS; i++) {
		const struct kept_symbol *symbol = &item->symbols[i];
		code = profile_symbol_writer_add(writer, &symbol->record,
						 &(struct profile_symbol_text){symbol->name,
									       symbol->full,
									       symbol->file});
	}
	return code;
}

void kept_symbols_finish(struct kept_symbols *kept)
{
	for (size_t i = 0; i < kept->count; i++) {
		for (uint32_t k = 0; k < kept->frames[i].symbol_count; k++) {
			free(kept->frames[i].symbols[k].name);
			free(kept->frames[i].symbols[k].full);
			free(kept->frames[i].symbols[k].file);
		}
		free(kept->frames[i].symbols);
	}
	free(kept->frames);
	memset(kept, 0, sizeof(*kept));
}
