/*
 * Call frame information: .eh_frame and .eh_frame_hdr (Linux Standard Base Core 5.0, section 10.6),
 * .debug_frame (DWARF 5, section 6.4.1), and which FDE is an address's.
 *
 * All functions are pure readers of struct uw_cfi and safe to run on any bytes.
 */
#ifndef UNWIND_CFI_FIND_H
#define UNWIND_CFI_FIND_H

#include "unwind/elf/reader.h"
#include "unwind/unwind.h"

/* An FDE by the address of its code: an index for modules without a usable search table. */
struct uw_cfi_entry {
	uint64_t start;  /* ELF virtual address */
	uint64_t offset; /* of the FDE in .eh_frame */
};

struct uw_section;

struct uw_cfi {
	enum uw_arch arch;
	struct uw_span frame; /* .eh_frame or .debug_frame; size 0: there is none */
	struct uw_section
		*section;     /* what the frame's bytes are read through; NULL: all are read */
	bool is_debug;        /* frame is .debug_frame (DWARF 5, section 6.4.1) */
	struct uw_span table; /* entries of .eh_frame_hdr, 8 bytes each; size 0: use index */
	uint64_t hdr_rva;     /* base of the table's offsets */
	struct uw_cfi_entry *index; /* owned; sorted by start */
	size_t index_count;
};

/*
 * Takes the search table from .eh_frame_hdr where it is of the common form (datarel | sdata4) and
 * sorted, else builds the index. hdr and cfi->frame must outlive cfi. Returns 0, or -1 with ENOMEM.
 */
int uw_cfi_init(struct uw_cfi *cfi, const struct uw_span *hdr);
void uw_cfi_finish(struct uw_cfi *cfi);

/* How many FDEs there are, and how much code they describe. */
size_t uw_cfi_count(const struct uw_cfi *cfi);
uint64_t uw_cfi_covered(const struct uw_cfi *cfi);

/* How many FDEs the search table has by what .eh_frame_hdr, of which hdr may be just the start,
 * says; 0: none that is of the common form. */
uint64_t uw_cfi_hdr_count(const struct uw_span *hdr);

/* Where .eh_frame starts according to .eh_frame_hdr; false when the header does not say. */
bool uw_cfi_hdr_frame(const struct uw_span *hdr, uint64_t *frame_rva);

/* An FDE with what its CIE says. */
struct uw_fde {
	const struct uw_cfi *cfi; /* that it is in */
	uint64_t start, end;      /* code that it describes: ELF virtual addresses [start, end) */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of code addresses */
	bool signal;      /* augmentation 'S': the frame of a signal handler's caller */
	struct uw_reader cie_code, code;
};

enum uw_cfi_result {
	UW_CFI_OK,
	UW_CFI_NONE, /* no FDE describes the address */
	UW_CFI_BAD   /* an FDE does, but it is malformed or uses what we do not support */
};

/* Code around an address that no FDE describes: [start, end). */
struct uw_cfi_gap {
	uint64_t start, end;
};

/* The search entry that rva's FDE has if there is one: false where none starts before it. Entries
 * are numbered from 0 and sorted by where they start; the FDE itself may say otherwise. */
bool uw_cfi_entry(const struct uw_cfi *cfi, uint64_t rva, size_t *entry);

uint64_t uw_cfi_entry_start(const struct uw_cfi *cfi, size_t entry);

/* Reads an entry's FDE; false: malformed. */
bool uw_cfi_entry_read(const struct uw_cfi *cfi, size_t entry, struct uw_fde *fde);

/* Finds the FDE of rva. On UW_CFI_NONE *gap is filled. */
enum uw_cfi_result uw_cfi_find(const struct uw_cfi *cfi, uint64_t rva, struct uw_fde *fde,
			       struct uw_cfi_gap *gap);

#endif
