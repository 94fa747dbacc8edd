/*
 * Finalization: symbols for the frames of a result, and only for them.
 */
#ifndef TOOLS_CONVERT_FRAME_SYMBOLS_H
#define TOOLS_CONVERT_FRAME_SYMBOLS_H

#include "profile/read/reader.h"
#include "tools/convert/progress.h"
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
	struct symbol_address *addresses; /* in order of frames */
	size_t count;
	size_t kept_count; /* of these, the result's own symbols are better */
	struct frame_symbols_miss *misses;
	size_t miss_count;
};

/* Reads the files named in the result; lives: of the reader's generated code. debug_path as for
 * symbol_file_open. Symbols found for an
 * address replace the result's own, unless these say more (kept_symbols.h). The reader must live
 * until frame_symbols_finish. */
void frame_symbols_collect(const struct profile_reader *reader, struct code_lives *lives,
			   const char *debug_path, struct progress *progress,
			   struct frame_symbols *symbols);

/* Appends the symbols to a complete result. Returns a TBRW code. */
TBRW_U32 frame_symbols_write(const char *path, struct frame_symbols *symbols);

void frame_symbols_finish(struct frame_symbols *symbols);

#endif
