/*
 * The perf map of a just-in-time compiler: text lines "START SIZE NAME", hexadecimal, left by the
 * program in /tmp/perf-PID.map (Linux tools/perf/Documentation/jit-interface.txt). Anyone may put a
 * file of this name there: only a file of the program's owner is read.
 */
#ifndef TOOLS_SYMBOLS_PERF_MAP_SYMBOLS_H
#define TOOLS_SYMBOLS_PERF_MAP_SYMBOLS_H

#include "tools/symbols/address.h"
#include <stdio.h>

#define PERF_MAP_LINE_MAX  4096u                 /* bytes; the rest of a longer line is left out */
#define PERF_MAP_BYTES_MAX (512u << 20)          /* the rest of a longer file is left out */
#define PERF_MAP_WORK_MAX  (20u * 1000u * 1000u) /* lines, and addresses they cover */

/* Reads lines, and sets the function of each address they cover; a later line wins over an earlier
 * one, as code is compiled again. Addresses sorted by rva. Returns the number of well-formed
 * lines. */
size_t perf_map_symbols_read(FILE *stream, struct symbol_address *addresses, size_t count);

enum perf_map_status {
	PERF_MAP_READ,
	PERF_MAP_MISSING,       /* nothing there */
	PERF_MAP_NO_NAMES,      /* not a regular file, not readable, or no name in it */
	PERF_MAP_OTHER_OWNER,   /* of another user than the process */
	PERF_MAP_UNKNOWN_OWNER, /* nobody saw who owned the process */
	PERF_MAP_OLDER,         /* left by an earlier process with the same id */
};

#define PERF_MAP_NO_OWNER UINT32_MAX

/* The expected owner and age of the file. */
struct perf_map_process {
	uint32_t owner_uid; /* PERF_MAP_NO_OWNER: not known */
	int64_t started_ns; /* the file must be later than this date, in ns since 1970
			     * (CLOCK_REALTIME); 0: not known */
};

/* Reads the file if regular (no symbolic link) and of this process. */
enum perf_map_status perf_map_symbols_resolve(const char *path,
					      const struct perf_map_process *process,
					      struct symbol_address *addresses, size_t count);

#endif
