/*
 * Symbols that a result has from an earlier finalization and that are better than those found now:
 * the program was built anew meanwhile, or its debug file is gone.
 */
#ifndef TOOLS_CONVERT_KEPT_SYMBOLS_H
#define TOOLS_CONVERT_KEPT_SYMBOLS_H

#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tools/symbols/address.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kept_symbol;

struct kept_symbols {
	struct kept_frame {
		uint32_t frame;
		uint32_t symbol_count;
		struct kept_symbol *symbols; /* innermost first; owned */
	} * frames;                          /* in order; owned */
	size_t count;
};

/* Takes over what the reader has at those of the addresses, which are in order of frames, where it
 * says more: a name where only a function's start or its module is known now, source lines where
 * there is only a name, inlined functions where there are none. Independent of the reader then. */
void kept_symbols_find(struct kept_symbols *kept, const struct profile_reader *reader,
		       const struct symbol_address *addresses, size_t count);

/* Whether the frame of that index among those kept is this one. */
bool kept_symbols_has(const struct kept_symbols *kept, size_t index, uint32_t frame);
/* Writes its symbols. Returns a TBRW code. */
TBRW_U32 kept_symbols_write(const struct kept_symbols *kept, size_t index,
			    struct profile_writer *writer);

void kept_symbols_finish(struct kept_symbols *kept);

#endif
