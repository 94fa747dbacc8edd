/*
 * Functions at the addresses of one image, sorted by rva, from everything there is: a file's symbol
 * tables, import stubs, unwind tables and DWARF; the running kernel's list; perf maps of generated
 * code.
 */
#ifndef TOOLS_SYMBOLS_RESOLVE_H
#define TOOLS_SYMBOLS_RESOLVE_H

#include "tools/debuginfo/symbol_file.h"
#include "tools/symbols/address.h"

/* After SYMBOL_FILE_OPEN every address has a function: with a name, or
 * is_pseudo with the start of the function or of the address itself. After anything else the
 * addresses are as they were. A path in brackets is the vdso's. debug_path as for
 * symbol_file_open. */
enum symbol_file_status resolve_file(const struct mapped_file *mapped, const char *debug_path,
				     struct symbol_address *addresses, size_t count);

/* The same in two steps, for a caller who wants more of the file; close it in any case. */
enum symbol_file_status resolve_open(struct symbol_file *file, const struct mapped_file *mapped,
				     const char *debug_path);
void resolve_in_file(struct symbol_file *file, struct symbol_address *addresses, size_t count);

struct code_range {
	uint64_t start; /* rva */
	uint64_t size;  /* bytes; 0: not known, start is some address in the code */
};

/* Completes ranges of unknown size (cold parts of functions, functions without a size) by the
 * file's unwind information; without any they stay as they are. */
void resolve_code_ranges(struct symbol_file *file, struct code_range *ranges, size_t count);

/* Variables around addresses of data, by the symbol tables; an address in none has no function
 * afterwards. */
enum symbol_file_status resolve_file_data(const struct mapped_file *mapped, const char *debug_path,
					  struct symbol_address *addresses, size_t count);

/* The running kernel's functions, from /proc/kallsyms; false if that is not readable. */
bool resolve_kernel(struct symbol_address *addresses, size_t count);

enum perf_map_status {
	PERF_MAP_READ,
	PERF_MAP_MISSING,       /* nothing there */
	PERF_MAP_NO_NAMES,      /* not a regular file, not readable, or no name in it */
	PERF_MAP_OTHER_OWNER,   /* of another user than the process */
	PERF_MAP_UNKNOWN_OWNER, /* nobody saw who owned the process */
	PERF_MAP_OLDER,         /* left by an earlier process with the same id */
	PERF_MAP_REPLACED,      /* a jitdump: not the file that the process mapped */
};

#define PERF_MAP_NO_OWNER UINT32_MAX

/* The expected owner and age of the file. */
struct perf_map_process {
	uint32_t owner_uid; /* PERF_MAP_NO_OWNER: not known */
	int64_t started_ns; /* the file must be later than this date, in ns since 1970
			     * (CLOCK_REALTIME); 0: not known */
};

/* Reads the perf map of generated code, if a regular file (no symbolic link) of this process. */
enum perf_map_status resolve_generated(const char *path, const struct perf_map_process *process,
				       struct symbol_address *addresses, size_t count);

#endif
