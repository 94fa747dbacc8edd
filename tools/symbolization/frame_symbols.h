/*
 * Symbols for the frames of a result, and only for them: of a finalization, and of reports on a
 * collection that goes on.
 */
#ifndef TOOLS_SYMBOLIZATION_FRAME_SYMBOLS_H
#define TOOLS_SYMBOLIZATION_FRAME_SYMBOLS_H

#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tools/symbols/address.h"
#include "tools/symbols/resolve.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_lives;

/* A file without readable symbols; with is_map, an unread map or dump of a just-in-time compiler.
 */
struct frame_symbols_miss {
	char *path;
	bool is_map;
	bool is_dump;
	enum symbol_file_status status;
	enum perf_map_status map_status;
};

struct frame_symbols {
	const struct profile_reader *reader;
	struct symbol_address *addresses; /* of the wanted frames, in their order */
	size_t count;
	size_t kept_count; /* of these, the result's own symbols are better */
	struct frame_symbols_miss *misses;
	size_t miss_count;
};

/* Frames whose symbols are wanted. */
struct frame_symbols_source {
	const struct profile_reader *reader; /* must live until frame_symbols_finish */
	struct code_lives *lives;            /* of the reader's generated code */
	const char *debug_path;              /* as for symbol_file_open */
	const bool *is_known;                /* by frame: to leave out; NULL: none */
	/* Told of frames that are done, of all that are wanted; NULL: nobody is told. */
	void (*tell)(uint64_t done, void *user);
	void *user;
};

/* Reads the files named in the result. Symbols found for an address replace the result's own,
 * unless these say more (kept_symbols.h). */
void frame_symbols_collect(const struct frame_symbols_source *source,
			   struct frame_symbols *symbols);

/* Symbols of the addresses, frame by frame, innermost first; each time the symbol without its
 * texts, which live until the callback returns. Anything but VT_SUCCESS ends it and is returned. */
typedef TBRW_U32 frame_symbols_callback(const struct profile_symbol *symbol,
					const struct profile_symbol_text *text, void *user);
TBRW_U32 frame_symbols_each(struct frame_symbols *symbols, frame_symbols_callback *callback,
			    void *user);

/* Appends the symbols to a complete result. Returns a TBRW code. */
TBRW_U32 frame_symbols_write(const char *path, struct frame_symbols *symbols);

void frame_symbols_finish(struct frame_symbols *symbols);

#endif
