/*
 * Compressed sections of a file. libdw and libdwfl inflate them to whatever they say: some hundred
 * KB can become a GB, with LZMA much more; and those of zlib's format with zlib, which was three
 * quarters of what finalization cost.
 */
#ifndef TOOLS_IMAGE_EXPANSION_H
#define TOOLS_IMAGE_EXPANSION_H

#include <stdint.h>

/* Of .gnu_debugdata: what it holds is a symbol table, some MB in the largest programs. */
#define EXPANSION_SYMBOLS_MAX ((uint64_t)64 << 20)
/* Of all compressed sections together: this, or so many times what the file's data are. Debug
 * information shrinks to a third or a fourth. */
#define EXPANSION_DEBUG_MAX   ((uint64_t)512 << 20)
#define EXPANSION_DEBUG_RATIO 8u

/*
 * Inflates sections of a copy of an ELF file that belongs to the caller (a memfd, open for
 * writing), within these bounds; used: bytes of the file's data.
 * - SHF_COMPRESSED sections of zlib's format are inflated to the copy's end, and the section's
 * header says so. Others (Zstandard, .zdebug, what does not inflate to what it says) are left to
 * libdw.
 * - Those that would inflate to more are made zeros, which are no compressed data: whoever reads
 * the section finds it damaged. SHF_COMPRESSED and .zdebug sections are judged by the size in their
 *   headers, beyond which libelf does not inflate them (gABI, compression header), .gnu_debugdata
 * by what comes out, as its xz index need not be true.
 * - Sections of debug information that nobody reads here are made zeros as well.
 */
void expansion_make(int copy, uint64_t used);

#endif
