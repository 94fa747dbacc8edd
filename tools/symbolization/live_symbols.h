/*
 * Names for a result that is still written: finalization comes after the end. A result is read
 * again and again, each time with more frames; the symbols of a frame are looked for once, as
 * finalization does it, but those of generated code until they are found: compilers tell of code
 * late.
 */
#ifndef TOOLS_SYMBOLIZATION_LIVE_SYMBOLS_H
#define TOOLS_SYMBOLIZATION_LIVE_SYMBOLS_H

#include "profile/read/reader.h"

struct live_symbols;

struct live_symbols *live_symbols_create(void);
void live_symbols_destroy(struct live_symbols *live); /* accepts NULL */

/* Gives the reader's frames symbols (profile_reader_name_frames), if it has none. The reader is of
 * the same result as in earlier calls; of another one, all is looked for anew. Returns a TBRW
 * code. */
TBRW_U32 live_symbols_name(struct live_symbols *live, struct profile_reader *reader);

#endif
