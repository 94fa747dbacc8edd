/*
 * Call frame information: .eh_frame and .eh_frame_hdr (Linux Standard Base Core 5.0, section 10.6),
 * .debug_frame (DWARF 5, section 6.4.1), and the search for an address's FDE.
 *
 * All functions are pure readers of struct uw_cfi and safe to run on any bytes.
 */
#ifndef UNWIND_CFI_FIND_H
#define UNWIND_CFI_FIND_H

#include "unwind/elf/elf.h"
#include "unwind/unwind.h"

/* An FDE by the address of its code: an index for modules without a usable search table. */
struct uw_cfi_entry {
	uint64_t start;  /* ELF virtual address */
	uint64_t offset; /* of the FDE in .eh_frame */
};

struct uw_cfi {
	enum uw_arch arch;
	struct uw_span frame;           /* .eh_frame or .debug_frame; size 0: there is none */
	struct uw_lazy_section section; /* owned: reads the frame as needed; empty: all is read */
	bool is_debug;                  /* frame is .debug_frame (DWARF 5, section 6.4.1) */
	struct uw_span table;       /* entries of .eh_frame_hdr, 8 bytes each; size 0: use index */
	uint64_t hdr_rva;           /* base of the table's offsets */
	struct uw_cfi_entry *index; /* owned; sorted by start */
	size_t index_count;
};

/*
 * Opens an .eh_frame, a piece of elf that is read on demand, which may be empty. Takes the search
 * table from .eh_frame_hdr if the table has the common form (datarel | sdata4) and is sorted, else
 * builds the index. elf and hdr must outlive cfi. Returns 0, or -1 with ENOMEM; uw_cfi_finish cfi
 * then too.
 */
int uw_cfi_open(struct uw_cfi *cfi, const struct uw_elf *elf, const struct uw_piece *frame,
		const struct uw_span *hdr);

/* As uw_cfi_open, for the bytes of a .debug_frame, which must outlive cfi. */
int uw_cfi_open_debug(struct uw_cfi *cfi, enum uw_arch arch, const struct uw_span *frame);
void uw_cfi_finish(struct uw_cfi *cfi);

/* The number of FDEs, and of the bytes of code they describe. */
size_t uw_cfi_count(const struct uw_cfi *cfi);
uint64_t uw_cfi_covered(const struct uw_cfi *cfi);

/* The number of FDEs in the search table according to .eh_frame_hdr; hdr may be just its start. 0:
 * no table of the common form. */
uint64_t uw_cfi_hdr_count(const struct uw_span *hdr);

/* The start of .eh_frame according to .eh_frame_hdr; false: the header does not tell. */
bool uw_cfi_hdr_frame(const struct uw_span *hdr, uint64_t *frame_rva);

/* An FDE with the fields of its CIE. */
struct uw_fde {
	const struct uw_cfi *cfi; /* holds the FDE */
	uint64_t start, end;      /* described code: ELF virtual addresses [start, end) */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of code addresses */
	bool signal;      /* augmentation 'S': the frame of a signal handler's caller */
	struct uw_cursor cie_code, code;
};

enum uw_cfi_result {
	UW_CFI_OK,
	UW_CFI_NONE, /* no FDE describes the address */
	UW_CFI_BAD   /* an FDE does, but is malformed or uses unsupported features */
};

/* Code without an FDE around an address: [start, end). */
struct uw_cfi_gap {
	uint64_t start, end;
};

/* Where an entry of the search table or the index starts. Entries are numbered from 0 and sorted by
 * their start; the FDE itself may tell another start. */
uint64_t uw_cfi_entry_start(const struct uw_cfi *cfi, size_t entry);

/* Finds the FDE of rva. On UW_CFI_NONE *gap is filled. */
enum uw_cfi_result uw_cfi_find(const struct uw_cfi *cfi, uint64_t rva, struct uw_fde *fde,
			       struct uw_cfi_gap *gap);

/* As uw_cfi_find in one, then, if the other is not empty, in that. */
enum uw_cfi_result uw_cfi_find_either(const struct uw_cfi *one, const struct uw_cfi *other,
				      uint64_t rva, struct uw_fde *fde, struct uw_cfi_gap *gap);

#endif
