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
#include <stdint.h>

/* Whether the reader has more at the address's frame: a name where only a function's start or its
 * module is known now, source lines where there is only a name, inlined functions where there are
 * none. */
bool kept_symbols_are_better(const struct profile_reader *reader,
			     const struct symbol_address *address);

/* Writes what the reader has at the frame. Returns a TBRW code. */
TBRW_U32 kept_symbols_write(const struct profile_reader *reader, uint32_t frame,
			    struct profile_writer *writer);

#endif
