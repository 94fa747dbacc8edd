/*
 * Finalization: symbols for the frames of a result, and only for them.
 */
#ifndef TOOLS_CONVERT_FINALIZE_H
#define TOOLS_CONVERT_FINALIZE_H

#include "profile/read/reader.h"
#include "tools/cli/progress.h"
#include "tools/image/image.h"
#include "tools/symbols/address.h"
#include "tools/symbols/perf_map.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that symbols could not be read from; or with is_map a just-in-time compiler's file of
 * names that was not read. */
struct finalize_miss {
	char *path;
	bool is_map;
	enum symbol_image_status status;
	enum perf_map_status map_status;
};

struct finalized {
	const struct profile_reader *reader;
	struct symbol_address *addresses; /* in order of frames */
	size_t count;
	size_t kept_count; /* of these, what the result has already is better */
	struct finalize_miss *misses;
	size_t miss_count;
};

/* Reads the files that the result names. debug_path as for symbol_image_open. What is found at an
 * address takes the place of what the result has there, unless it says less (kept_symbols.h). The
 * reader must live until finalize_finish. */
void finalize_collect(const struct profile_reader *reader, const char *debug_path,
		      struct progress *progress, struct finalized *finalized);

/* Appends the symbols to a complete result. Returns a TBRW code. */
TBRW_U32 finalize_write(const char *path, struct finalized *finalized);

void finalize_finish(struct finalized *finalized);

#endif
