/* An ELF file: its parts that unwinding needs, and reading of its bytes. */
#ifndef UNWIND_ELF_ELF_H
#define UNWIND_ELF_ELF_H

#include "unwind/elf/cursor.h"
#include "unwind/elf/lazy_section.h"
#include "unwind/unwind.h"
#include <elf.h>
#include <time.h>

enum {
	UW_BUILD_ID_MAX = 64,
	UW_FRAME_SIZE_MAX =
		256 * 1024 * 1024 /* of .eh_frame; the largest browsers have some 30 MB */
};

/* A PT_LOAD program header. */
struct uw_segment {
	uint64_t offset, file_size; /* in the file; clipped to the file's size */
	uint64_t rva;
	uint64_t memory_size; /* of the loaded segment: behind file_size it is zeros (.bss) */
	bool executable, writable;
};

/* A piece of the file; size 0: absent. */
struct uw_piece {
	uint64_t offset, size;
	uint64_t rva;
};

/* How a section is compressed. */
enum uw_compression {
	UW_COMPRESSION_NONE,
	UW_COMPRESSION_ELF, /* SHF_COMPRESSED: System V gABI, chapter 4, "Section compression" */
	UW_COMPRESSION_GNU  /* .zdebug_frame: "ZLIB", 8 bytes of size, most significant first */
};

struct uw_elf {
	int fd;         /* owned duplicate, or -1 for an image in memory */
	bool borrows;   /* the image; else it is owned */
	bool is_go;     /* a note says so */
	uint8_t *image; /* NULL for a file */
	uint64_t size;
	struct timespec modified; /* the file, as of its opening */
	Elf64_Ehdr header;        /* of a 32-bit file: widened */
	enum uw_arch arch;
	uint64_t entry;              /* e_entry: 0 for none */
	struct uw_segment *segments; /* owned */
	size_t segment_count;
	struct uw_piece eh_frame_hdr; /* PT_GNU_EH_FRAME */
	struct uw_piece relro;        /* PT_GNU_RELRO: constant once the file is relocated */
	uint8_t build_id[UW_BUILD_ID_MAX];
	size_t build_id_size;
	/* From section headers; valid if has_sections. */
	bool has_sections;
	struct uw_piece eh_frame;               /* section .eh_frame */
	struct uw_piece debug_frame;            /* section .debug_frame, as stored in the file */
	enum uw_compression debug_frame_packed; /* compression of debug_frame */
	struct uw_piece debug_link;             /* section .gnu_debuglink */
	struct uw_piece go_table; /* section .gopclntab; with relocations .data.rel.ro.gopclntab */
	struct uw_piece symbols[2];   /* sections of type SHT_SYMTAB, SHT_DYNSYM */
	struct uw_piece symbol_names; /* of symbols[0] */
};

/*
 * Fill *elf from a file or an image, which is copied. fd is duplicated (close-on-exec): a deleted
 * file stays readable. All reads are pread(2): a shrunk file costs information and never a SIGBUS.
 * Return 0, or -1 with errno as uw_module_open.
 */
int uw_elf_open(struct uw_elf *elf, int fd);
int uw_elf_from_memory(struct uw_elf *elf, const void *bytes, size_t size);
void uw_elf_finish(struct uw_elf *elf);

/* As uw_elf_from_memory, without a copy: the image must outlive elf. */
int uw_elf_borrow(struct uw_elf *elf, const void *bytes, size_t size);

/* Reads the section headers, once. Sections are optional at run time: a malformed table only means
 * less information. */
void uw_elf_take_sections(struct uw_elf *elf);

/* Whether the file was written to after opening: it may then hold another file's bytes. */
bool uw_elf_has_changed(const struct uw_elf *elf);

/* Reads exactly size bytes at a file offset; false: beyond the file's end, or the file has
 * changed. */
bool uw_elf_read(const struct uw_elf *elf, uint64_t offset, void *bytes, uint64_t size);

/* Copies a piece of the file into *bytes, which the caller frees, and *span. A short or failed read
 * gives no information: an empty span. Returns 0, or -1: out of memory. */
int uw_elf_copy(const struct uw_elf *elf, const struct uw_piece *piece, uint8_t **bytes,
		struct uw_span *span);

/* The segment with rva in its file bytes, or NULL. */
const struct uw_segment *uw_elf_segment(const struct uw_elf *elf, uint64_t rva);

/* Reads size bytes at rva from a segment that is not writable: they equal the target's; false: no
 * such segment or bytes. Does not allocate; may call pread(2). */
bool uw_elf_read_constant(const struct uw_elf *elf, uint64_t rva, void *bytes, size_t size);

/*
 * Lines of a file's code that were read before. Code around return addresses is looked at a few
 * bytes at a time, again and again: a system call for each look takes longer than all else. One
 * file's, by RVA; all zero at first. At most 16 MB.
 */
struct uw_lines {
	struct uw_line **line; /* owned, with the lines; NULL: not used yet, or out of memory */
};

void uw_lines_finish(struct uw_lines *lines);

/* As uw_elf_read_constant, but allocates lines. A line is read once: a file that changes later is
 * not seen here, but by whoever opens it again (uw_module_has_changed). */
bool uw_lines_read(struct uw_lines *lines, const struct uw_elf *elf, uint64_t rva, void *bytes,
		   size_t size);

#endif
