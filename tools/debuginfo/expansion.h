/*
 * Compressed sections of a file. libdw and libdwfl inflate them to any size named in the file: some
 * hundred KB can become a GB, with LZMA much more. For zlib's format they use zlib, which was three
 * quarters of the cost of finalization.
 */
#ifndef TOOLS_DEBUGINFO_EXPANSION_H
#define TOOLS_DEBUGINFO_EXPANSION_H

#include <stdint.h>

/* Limit of .gnu_debugdata, a symbol table: some MB in the largest programs. */
#define EXPANSION_SYMBOLS_MAX ((uint64_t)64 << 20)
/* Limit of all compressed sections together: DEBUG_MAX, or DEBUG_RATIO times the file's data. Debug
 * information shrinks to a third or a fourth. */
#define EXPANSION_DEBUG_MAX   ((uint64_t)512 << 20)
#define EXPANSION_DEBUG_RATIO 8u

/*
 * Inflates sections of the caller's copy of an ELF file (a memfd, open for writing) within these
 * bounds; used: bytes of the file's data.
 * - SHF_COMPRESSED sections of zlib's format are inflated to the copy's end, and their headers say
 *   so. Others (Zstandard, .zdebug, sections with a wrong size in their headers) are left to libdw.
 * - Sections that would exceed the bounds are made zeros, which are no compressed data: readers
 *   find the section damaged. SHF_COMPRESSED and .zdebug sections are judged by the size in their
 *   headers, beyond which libelf does not inflate them (gABI, compression header), .gnu_debugdata
 *   by inflating, as its xz index need not be true.
 * - Sections of debug information that nobody reads here are made zeros as well.
 */
void expansion_make(int copy, uint64_t used);

#endif
