#include "tools/symbols/plt.h"

#include "containers/compare.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Stubs are 16 bytes on x86 and aarch64 (8 in .plt.got of x86, by its sh_entsize). */
#define STUB_SIZE           16u
#define AARCH64_HEADER_SIZE 32u
#define SLOTS_MAX           (1u << 20)
#define I386_REL_SIZE       8u

/* A slot of the global offset table, filled by the loader with an imported function's address. */
struct got_slot {
	uint64_t rva;
	const char *name; /* "": the relocation names no symbol; the file's */
};

struct slots {
	GElf_Half machine;
	uint64_t got_rva; /* i386: base of position-independent stubs */
	struct got_slot
		*by_order; /* in order of .rela.plt, as the stubs' push instructions count */
	size_t jump_count;
	size_t jump_capacity;
	struct got_slot *by_rva;
	size_t count;
	size_t capacity;
};

/* The relocations of slots, by machine. */
static const struct slot_types {
	GElf_Half machine;
	uint16_t data;
	uint16_t jumps[2];
} slot_types[] = {
	{EM_X86_64, R_X86_64_GLOB_DAT, {R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE}},
	{EM_386, R_386_GLOB_DAT, {R_386_JMP_SLOT, R_386_IRELATIVE}},
	{EM_AARCH64, R_AARCH64_GLOB_DAT, {R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE}},
};

static const struct slot_types *find_slot_types(GElf_Half machine)
{
	for (size_t i = 1; i < sizeof(slot_types) / sizeof(slot_types[0]); i++)
		if (slot_types[i].machine == machine)
			return &slot_types[i];
	return &slot_types[0];
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

static void add_slot(struct slots *slots, struct got_slot slot, bool is_jump)
{
	if (slots->count >= SLOTS_MAX)
		return;
	xalloc_room(&slots->by_rva, &slots->capacity, slots->count + 1, sizeof(slot));
	slots->by_rva[slots->count++] = slot;
	if (!is_jump)
		return;
	xalloc_room(&slots->by_order, &slots->jump_capacity, slots->jump_count + 1, sizeof(slot));
	slots->by_order[slots->jump_count++] = slot;
}

static int compare_slots(const void *a, const void *b)
{
	const struct got_slot *left = a;
	const struct got_slot *right = b;
	return compare_numbers(left->rva, right->rva);
}

/* Relocation number i without its addend, if any; false: no such relocation. */
static bool get_relocation(Elf_Data *data, GElf_Word type, int i, GElf_Rel *relocation)
{
	GElf_Rela with_addend;
	if (type == SHT_REL)
		return gelf_getrel(data, i, relocation) != NULL;
	if (!gelf_getrela(data, i, &with_addend))
		return false;
	*relocation = (GElf_Rel){with_addend.r_offset, with_addend.r_info};
	return true;
}

static void collect_slots(Elf *elf, struct slots *slots)
{
	const struct slot_types *types = find_slot_types(slots->machine);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		GElf_Rel relocation;
		for (int i = 0; data && get_relocation(data, header.sh_type, i, &relocation); i++) {
			GElf_Xword type = GELF_R_TYPE(relocation.r_info);
			bool is_jump = type == types->jumps[0] || type == types->jumps[1];
			if (!is_jump && type != types->data)
				continue;
			struct got_slot slot = {relocation.r_offset,
						symbol_name(elf, header.sh_link,
							    relocation.r_info)};
			add_slot(slots, slot, is_jump);
		}
	}
	if (slots->count > 1)
		qsort(slots->by_rva, slots->count, sizeof(*slots->by_rva), compare_slots);
}

static const char *name_of_slot(const struct slots *slots, uint64_t rva)
{
	struct got_slot key = {rva, NULL};
	const struct got_slot *slot = slots->count ? bsearch(&key, slots->by_rva, slots->count,
							     sizeof(key), compare_slots)
						   : NULL;
	return slot ? slot->name : "";
}

static const char *name_of_number(const struct slots *slots, uint64_t number)
{
	return slots->by_order && number < slots->jump_count ? slots->by_order[number].name : "";
}

/* Stubs of x86 linkers: [endbr] [bnd] jmp *slot, or for lazy binding [endbr] push $number; [bnd]
 * jmp. The slot is relative to the next instruction, or for i386 an address, or relative to the
 * table in %ebx; the number counts relocations, or for i386 their bytes. */
static const char *x86_target(const struct slots *slots, uint64_t stub, const uint8_t *code,
			      size_t size)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e}; /* fa: endbr64, fb: endbr32 */
	bool is_i386 = slots->machine == EM_386;
	size_t at = size > 4 && memcmp(code, endbr, sizeof(endbr)) == 0 ? 4 : 0;
	int32_t operand;
	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 <= size && code[at] == 0xff &&
	    (code[at + 1] == 0x25 || (is_i386 && code[at + 1] == 0xa3))) {
		memcpy(&operand, code + at + 2, sizeof(operand));
		if (!is_i386)
			return name_of_slot(slots, stub + at + 6 + (uint64_t)(int64_t)operand);
		uint32_t base = code[at + 1] == 0xa3 ? (uint32_t)slots->got_rva : 0;
		return name_of_slot(slots, base + (uint32_t)operand);
	}
	if (at + 5 <= size && code[at] == 0x68) {
		memcpy(&operand, code + at + 1, sizeof(operand));
		return name_of_number(slots, (uint32_t)operand / (is_i386 ? I386_REL_SIZE : 1));
	}
	return "";
}

static const char *stub_target(const struct symbol_file *file, const struct slots *slots,
			       const GElf_Shdr *section, uint64_t stub)
{
	if (slots->machine == EM_AARCH64) {
		uint64_t offset = stub - section->sh_addr;
		return offset >= AARCH64_HEADER_SIZE
			       ? name_of_number(slots, (offset - AARCH64_HEADER_SIZE) / STUB_SIZE)
			       : "";
	}
	size_t available = 0;
	const uint8_t *code = symbol_file_bytes(file, stub, &available);
	size_t size = available < STUB_SIZE ? available : STUB_SIZE;
	if (!code)
		return "";
	return x86_target(slots, stub, code, size);
}

/* The rva of _GLOBAL_OFFSET_TABLE_, which the linker puts before the slots of the stubs. */
static uint64_t find_got(const struct symbol_file *file)
{
	GElf_Shdr header;
	if (symbol_file_section(file->elf, ".got.plt", &header) ||
	    symbol_file_section(file->elf, ".got", &header))
		return header.sh_addr;
	return 0;
}

static void resolve_section(struct symbol_file *file, const struct slots *slots,
			    const GElf_Shdr *section, struct symbol_address *addresses,
			    size_t count)
{
	assert(slots->jump_count <= slots->count);
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
		function->name = xalloc_text(stub_target(file, slots, section, function->start));
	}
}

void plt_resolve(struct symbol_file *file, struct symbol_address *addresses, size_t count)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct slots slots = {0};
	bool is_collected = false;
	GElf_Ehdr elf_header;
	if (!gelf_getehdr(file->elf, &elf_header))
		return;
	slots.machine = elf_header.e_machine;
	slots.got_rva = find_got(file);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		GElf_Shdr header;
		if (!symbol_file_section(file->elf, sections[i], &header))
			continue;
		size_t first = symbol_addresses_from(addresses, count, header.sh_addr);
		if (first == count || addresses[first].rva - header.sh_addr >= header.sh_size)
			continue;
		if (!is_collected)
			collect_slots(file->elf, &slots);
		is_collected = true;
		resolve_section(file, &slots, &header, addresses, count);
	}
	free(slots.by_order);
	free(slots.by_rva);
}
