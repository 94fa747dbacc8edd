#include "tests/unwind/elf_builder.h"

#include "unwind/elf/cursor.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* What comes before the code. Both classes have all in the same places. */
struct head {
	union {
		Elf64_Ehdr ehdr;
		Elf32_Ehdr ehdr_32;
	};
	union {
		Elf64_Phdr phdr[2];
		Elf32_Phdr phdr_32[2];
	};
	uint8_t hdr[ELF_BUILDER_CODE - ELF_BUILDER_HDR];
};

_Static_assert(offsetof(struct head, hdr) == ELF_BUILDER_HDR, "the header has its place");
_Static_assert(sizeof(struct head) == ELF_BUILDER_CODE, "so has the code");

static void put_headers_32(struct head *head, size_t size)
{
	head->ehdr_32.e_ident[EI_CLASS] = ELFCLASS32;
	head->ehdr_32.e_machine = EM_386;
	head->ehdr_32.e_phoff = offsetof(struct head, phdr);
	head->ehdr_32.e_phnum = 2;
	head->ehdr_32.e_phentsize = sizeof(Elf32_Phdr);
	head->phdr_32[0] = (Elf32_Phdr){.p_type = PT_LOAD,
					.p_flags = PF_R | PF_X,
					.p_filesz = (Elf32_Word)size};
	head->phdr_32[1] = (Elf32_Phdr){.p_type = PT_GNU_EH_FRAME,
					.p_offset = ELF_BUILDER_HDR,
					.p_vaddr = ELF_BUILDER_HDR,
					.p_filesz = (Elf32_Word)(size - ELF_BUILDER_HDR)};
}

static void put_headers_64(struct head *head, size_t size)
{
	head->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	head->ehdr.e_machine = EM_X86_64;
	head->ehdr.e_phoff = offsetof(struct head, phdr);
	head->ehdr.e_phnum = 2;
	head->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	head->phdr[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size};
	head->phdr[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
				     .p_offset = ELF_BUILDER_HDR,
				     .p_vaddr = ELF_BUILDER_HDR,
				     .p_filesz = size - ELF_BUILDER_HDR};
}

void elf_builder_init(struct elf_builder *builder, enum uw_arch arch, size_t code_size,
		      size_t frame_size)
{
	static const uint8_t hdr[4] = {1, UW_PE_PCREL | UW_PE_SDATA4, 0xff, 0xff};
	size_t size = sizeof(struct head) + code_size + frame_size;
	struct head head = {.ehdr = {.e_ident = ELFMAG}};
	/* From the field that says so. */
	uint32_t to_frame = (uint32_t)(sizeof(head) + code_size - ELF_BUILDER_HDR - 4);

	head.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	if (arch == UW_ARCH_I386)
		put_headers_32(&head, size);
	else
		put_headers_64(&head, size);
	memcpy(head.hdr, hdr, sizeof(hdr));
	memcpy(head.hdr + 4, &to_frame, sizeof(to_frame));
	*builder = (struct elf_builder){.arch = arch,
					.bytes = calloc(1, size),
					.size = size,
					.frame = sizeof(head) + code_size};
	if (!builder->bytes)
		abort();
	memcpy(builder->bytes, &head, sizeof(head));
}

void elf_builder_finish(struct elf_builder *builder)
{
	free(builder->bytes);
	*builder = (struct elf_builder){0};
}

void elf_builder_set_entry(struct elf_builder *builder, size_t offset)
{
	uint64_t entry = ELF_BUILDER_CODE + offset;
	bool narrow = builder->arch == UW_ARCH_I386;

	memcpy(builder->bytes +
		       (narrow ? offsetof(Elf32_Ehdr, e_entry) : offsetof(Elf64_Ehdr, e_entry)),
	       &entry, narrow ? 4 : 8);
}

void elf_builder_put(struct elf_builder *builder, const void *bytes, size_t size)
{
	if (size > builder->size - builder->frame - builder->used)
		abort();
	memcpy(builder->bytes + builder->frame + builder->used, bytes, size);
	builder->used += size;
}

static void put_u32(struct elf_builder *builder, size_t value)
{
	uint32_t word = (uint32_t)value;

	elf_builder_put(builder, &word, sizeof(word));
}

/* An address or a size, as wide as the machine's. */
static void put_word(struct elf_builder *builder, uint64_t value)
{
	elf_builder_put(builder, &value, builder->arch == UW_ARCH_I386 ? 4 : 8);
}

size_t elf_builder_begin_cie(struct elf_builder *builder)
{
	size_t place = builder->used;

	put_u32(builder, 0); /* its length, at its end */
	put_u32(builder, 0);
	return place;
}

size_t elf_builder_begin_fde(struct elf_builder *builder, size_t cie, uint8_t encoding,
			     size_t offset, uint64_t size)
{
	size_t place = builder->used;

	put_u32(builder, 0);
	put_u32(builder, builder->used - cie);
	offset += ELF_BUILDER_CODE;
	if (encoding & UW_PE_PCREL)
		offset -= builder->frame + builder->used;
	put_word(builder, offset);
	put_word(builder, size);
	return place;
}

void elf_builder_end(struct elf_builder *builder, size_t place)
{
	size_t word = builder->arch == UW_ARCH_I386 ? 4 : 8;

	while (builder->used % word != 0)
		elf_builder_put(builder, "", 1);
	uint32_t length = (uint32_t)(builder->used - place - 4);
	memcpy(builder->bytes + builder->frame + place, &length, sizeof(length));
}

struct uw_module *elf_builder_module(const struct elf_builder *builder)
{
	struct uw_module *module = NULL;

	if (uw_module_from_memory(builder->bytes, builder->size, &module) < 0)
		abort();
	return module;
}
