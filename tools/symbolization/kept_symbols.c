#include "tools/symbolization/kept_symbols.h"

#include <stddef.h>

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

bool kept_symbols_are_better(const struct profile_reader *reader,
			     const struct symbol_address *address)
{
	uint32_t count = 0;
	const struct profile_symbol *symbols =
		profile_reader_symbols(reader, address->frame, &count);
	return knowledge_there(reader, symbols, count) > knowledge_found(address);
}

static const char *text_of(const struct profile_reader *reader, struct profile_text text)
{
	return text.length > 0 ? profile_reader_symtext(reader, text) : NULL;
}

TBRW_U32 kept_symbols_give(const struct profile_reader *reader, uint32_t frame,
			   TBRW_U32 (*callback)(const struct profile_symbol *symbol,
						const struct profile_symbol_text *text, void *user),
			   void *user)
{
	uint32_t count = 0;
	const struct profile_symbol *symbols = profile_reader_symbols(reader, frame, &count);
	TBRW_U32 code = VT_SUCCESS;
	for (uint32_t i = 0; i < count && code == VT_SUCCESS; i++) {
		const struct profile_symbol_text texts = {text_of(reader, symbols[i].name),
							  text_of(reader, symbols[i].full),
							  text_of(reader, symbols[i].file)};
		code = callback(&symbols[i], &texts, user);
	}
	return code;
}
