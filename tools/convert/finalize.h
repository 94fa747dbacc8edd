/*
 * Finalization: symbols for the frames of a result, and only for them.
 */
#ifndef TOOLS_CONVERT_FINALIZE_H
#define TOOLS_CONVERT_FINALIZE_H

#include "profile/read/reader.h"
#include "tools/cli/progress.h"
#include "tools/convert/kept_symbols.h"
#include "tools/image/image.h"
#include "tools/symbols/address.h"
#include "tools/symbols/perf_map.h"
#include <stddef.h>
#include <stdint.h>

/* A file that symbols could not be read from. */
struct finalize_miss {
	char *path;
	enum symbol_image_status status;
};

/* A just-in-time compiler's file of names that was not read. */
struct finalize_map_miss {
	char *path;
	enum perf_map_status status;
};

/* What was found; independent of the reader. */
struct finalized {
	struct symbol_address *addresses; /* in order of frames */
	size_t count;
	struct kept_symbols kept; /* what the result has already and is better */
	struct finalize_miss *misses;
	size_t miss_count;
	struct finalize_map_miss *map_misses;
	size_t map_miss_count;
};

/* Reads the files that the result names. debug_path as for symbol_image_open. What is found at an
 * address takes the place of what the result has there, unless it says less (kept_symbols.h). */
void finalize_collect(const struct profile_reader *reader, const char *debug_path,
		      struct progress *progress, struct finalized *finalized);

/* Appends the symbols to a complete result. Returns a TBRW code. */
TBRW_U32 finalize_write(const char *path, struct finalized *finalized);

void finalize_finish(struct finalized *finalized);

#endif
