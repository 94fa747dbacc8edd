/*
 * Compressed sections of a file, which libdw and libdwfl inflate to whatever they say: some hundred
 * KB can become a GB, with LZMA much more.
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
 * Makes those sections zeros that would inflate to more, in a copy of an ELF file that belongs to
 * the caller (a memfd, open for writing): SHF_COMPRESSED and .zdebug sections by the size in their
 * headers, beyond which libelf does not inflate them (gABI, compression header), .gnu_debugdata by
 * what comes out, as its xz index need not be true. Zeros are no compressed data: whoever reads the
 * section finds it damaged. used: bytes of the file's data.
 */
void expansion_limit(int copy, uint64_t used);

#endif
