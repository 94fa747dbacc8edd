/*
 * Symbols of an earlier finalization, better than those found now: the program was built anew
 * meanwhile, or its debug file is gone.
 */
#ifndef TOOLS_SYMBOLIZATION_KEPT_SYMBOLS_H
#define TOOLS_SYMBOLIZATION_KEPT_SYMBOLS_H

#include "profile/read/reader.h"
#include "tools/symbols/address.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether the reader knows more of the address's frame: a name instead of a function's start or a
 * module, source lines besides a name, or inlined functions. */
bool kept_symbols_are_better(const struct profile_reader *reader,
			     const struct symbol_address *address);

/* Gives the reader's symbols of the frame, as frame_symbols_each. */
TBRW_U32 kept_symbols_give(const struct profile_reader *reader, uint32_t frame,
			   TBRW_U32 (*callback)(const struct profile_symbol *symbol,
						const struct profile_symbol_text *text, void *user),
			   void *user);

#endif
