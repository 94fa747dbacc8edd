/*
 * ELF files made by hand: code, and an .eh_frame that says what a test wants, at addresses that are
 * their offsets in the file. All functions but elf_builder_finish abort on any failure.
 */
#ifndef TESTS_UNWIND_ELF_BUILDER_H
#define TESTS_UNWIND_ELF_BUILDER_H

#include "unwind/unwind.h"

struct elf_builder {
	enum uw_arch arch;
	uint8_t *bytes; /* the whole file; owned */
	size_t size;
	size_t frame; /* where the .eh_frame starts */
	size_t used;  /* of the .eh_frame; the rest of it is zeros */
};

/* Where things are in each file. */
enum {
	ELF_BUILDER_HDR = 176, /* the .eh_frame_hdr; it has no search table */
	ELF_BUILDER_CODE = 192
};

/* A file whose code and .eh_frame have these sizes in bytes and hold zeros. */
void elf_builder_init(struct elf_builder *builder, enum uw_arch arch, size_t code_size,
		      size_t frame_size);
void elf_builder_finish(struct elf_builder *builder);

/* Where the file's entry point is in the code; else it has none. */
void elf_builder_set_entry(struct elf_builder *builder, size_t offset);

/* Appends to the .eh_frame. */
void elf_builder_put(struct elf_builder *builder, const void *bytes, size_t size);

/* Begins a CIE, which goes on with its version. Returns its place in the .eh_frame. */
size_t elf_builder_begin_cie(struct elf_builder *builder);

/* Begins the FDE of size bytes of code at an offset in it; its augmentation data comes next.
 * encoding: UW_PE_ABSPTR, UW_PE_PCREL or both, as its CIE says. Returns its place. */
size_t elf_builder_begin_fde(struct elf_builder *builder, size_t cie, uint8_t encoding,
			     size_t offset, uint64_t size);

/* Ends the record at a place: fills up its last word, and puts its length. */
void elf_builder_end(struct elf_builder *builder, size_t place);

/* The file as it is now; the caller's reference. */
struct uw_module *elf_builder_module(const struct elf_builder *builder);

#endif
