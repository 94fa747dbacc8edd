#include "tools/symbols/plt.h"
#include "tools/xalloc.h"
#include <stdlib.h>
#include <string.h>

/* Stubs are 16 bytes on x86-64 and aarch64 (8 in .plt.got of x86-64, which says so itself). */
#define STUB_SIZE           16u
#define AARCH64_HEADER_SIZE 32u
#define SLOTS_MAX           (1u << 20)

/* A slot of the global offset table that the loader fills with an imported function's address. */
struct slot {
	uint64_t rva;
	const char *name; /* "" where the relocation names no symbol; the image's */
};

struct slots {
	struct slot *by_order; /* in order of .rela.plt, as the stubs' push instructions count */
	size_t jump_count;
	struct slot *by_rva;
	size_t count;
	size_t capacity; /* of both */
};

static bool is_jump_slot(GElf_Half machine, GElf_Xword info)
{
	GElf_Xword type = GELF_R_TYPE(info);
	if (machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_IRELATIVE;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_IRELATIVE;
}

static bool is_data_slot(GElf_Half machine, GElf_Xword info)
{
	GElf_Xword type = GELF_R_TYPE(info);
	return type == (machine == EM_AARCH64 ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT);
}

static const char *symbol_name(Elf *elf, GElf_Word table_index, GElf_Xword info)
{
	Elf_Scn *table = elf_getscn(elf, table_index);
	GElf_Shdr header;
	Elf_Data *data = table ? elf_getdata(table, NULL) : NULL;
	GElf_Sym symbol;
	GElf_Xword index = GELF_R_SYM(info);
	if (!data || !gelf_getshdr(table, &header) || index == 0 || index > INT32_MAX ||
	    !gelf_getsym(data, (int)index, &symbol))
		return "";
	const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
	return name ? name : "";
}

static void add_slot(struct slots *slots, struct slot slot, bool is_jump)
{
	if (slots->count >= SLOTS_MAX)
		return;
	if (slots->count == slots->capacity) {
		slots->capacity = xalloc_grown(slots->capacity, slots->count + 1);
		slots->by_rva = xalloc_resize(slots->by_rva, slots->capacity, sizeof(slot));
		slots->by_order = xalloc_resize(slots->by_order, slots->capacity, sizeof(slot));
	}
	slots->by_rva[slots->count++] = slot;
	if (is_jump)
		slots->by_order[slots->jump_count++] = slot;
}

static int compare_slots(const void *a, const void *b)
{
	const struct slot *left = a;
	const struct slot *right = b;
	return (left->rva > right->rva) - (left->rva < right->rva);
}

static void collect_slots(Elf *elf, GElf_Half machine, struct slots *slots)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Rela relocation;
		for (int i = 0; data && gelf_getrela(data, i, &relocation); i++) {
			bool is_jump = is_jump_slot(machine, relocation.r_info);
			if (!is_jump && !is_data_slot(machine, relocation.r_info))
				continue;
			struct slot slot = {relocation.r_offset,
					    symbol_name(elf, header.sh_link, relocation.r_info)};
			add_slot(slots, slot, is_jump);
		}
	}
	if (slots->count > 1)
		qsort(slots->by_rva, slots->count, sizeof(*slots->by_rva), compare_slots);
}

static const char *name_of_slot(const struct slots *slots, uint64_t rva)
{
	struct slot key = {rva, NULL};
	const struct slot *slot = slots->count ? bsearch(&key, slots->by_rva, slots->count,
							 sizeof(key), compare_slots)
					       : NULL;
	return slot ? slot->name : "";
}

/* The stubs that linkers write: [endbr64] [bnd] jmp *slot(%rip), or for lazy binding with
 * indirect branch tracking endbr64; push $number; [bnd] jmp. */
static const char *x86_target(const struct slots *slots, uint64_t stub, const uint8_t *code,
			      size_t size)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;
	if (size >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 <= size && code[at] == 0xff && code[at + 1] == 0x25) {
		int32_t displacement;
		memcpy(&displacement, code + at + 2, sizeof(displacement));
		return name_of_slot(slots, stub + at + 6 + (uint64_t)(int64_t)displacement);
	}
	if (at + 5 <= size && code[at] == 0x68) {
		uint32_t number;
		memcpy(&number, code + at + 1, sizeof(number));
		return number < slots->jump_count ? slots->by_order[number].name : "";
	}
	return "";
}

static const char *stub_target(const struct symbol_image *image, GElf_Half machine,
			       const struct slots *slots, const GElf_Shdr *section, uint64_t stub)
{
	if (machine == EM_AARCH64) {
		uint64_t number = (stub - section->sh_addr - AARCH64_HEADER_SIZE) / STUB_SIZE;
		return stub - section->sh_addr >= AARCH64_HEADER_SIZE && number < slots->jump_count
			       ? slots->by_order[number].name
			       : "";
	}
	size_t available = 0;
	const uint8_t *code = symbol_image_bytes(image, stub, &available);
	return code ? x86_target(slots, stub, code, available < STUB_SIZE ? available : STUB_SIZE)
		    : "";
}

static void resolve_section(struct symbol_image *image, GElf_Half machine,
			    const struct slots *slots, const GElf_Shdr *section,
			    struct symbol_address *addresses, size_t count)
{
	uint64_t stub_size = section->sh_entsize == 8 ? 8 : STUB_SIZE;
	for (size_t i = symbol_addresses_from(addresses, count, section->sh_addr);
	     i < count && addresses[i].rva - section->sh_addr < section->sh_size; i++) {
		struct symbol_entry *function = &addresses[i].function;
		if (function->name)
			continue;
		uint64_t offset = addresses[i].rva - section->sh_addr;
		function->start = section->sh_addr + offset / stub_size * stub_size;
		function->size = stub_size;
		function->is_plt = true;
		function->name =
			xalloc_text(stub_target(image, machine, slots, section, function->start));
	}
}

void plt_resolve(struct symbol_image *image, struct symbol_address *addresses, size_t count)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct slots slots = {0};
	bool is_collected = false;
	GElf_Ehdr elf_header;
	if (!gelf_getehdr(image->elf, &elf_header))
		return;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		GElf_Shdr header;
		if (!symbol_image_section(image, sections[i], &header))
			continue;
		size_t first = symbol_addresses_from(addresses, count, header.sh_addr);
		if (first == count || addresses[first].rva - header.sh_addr >= header.sh_size)
			continue;
		if (!is_collected)
			collect_slots(image->elf, elf_header.e_machine, &slots);
		is_collected = true;
		resolve_section(image, elf_header.e_machine, &slots, &header, addresses, count);
	}
	free(slots.by_order);
	free(slots.by_rva);
}
