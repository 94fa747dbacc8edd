/*
 * Symbols of an earlier finalization, better than those found now: the program was built anew
 * meanwhile, or its debug file is gone.
 */
#ifndef TOOLS_CONVERT_KEPT_SYMBOLS_H
#define TOOLS_CONVERT_KEPT_SYMBOLS_H

#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tools/symbols/address.h"
#include <stdbool.h>
#include <stdint.h>

/* Whether the reader knows more of the address's frame: a name instead of a function's start or a
 * module, source lines besides a name, or inlined functions. */
bool kept_symbols_are_better(const struct profile_reader *reader,
			     const struct symbol_address *address);

/* Writes the reader's symbols of the frame. Returns a TBRW code. */
TBRW_U32 kept_symbols_write(const struct profile_reader *reader, uint32_t frame,
			    struct profile_writer *writer);

#endif
