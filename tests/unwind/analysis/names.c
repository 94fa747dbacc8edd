#include "tests/unwind/analysis/names.h"

#include "unwind/analysis/effect.h"
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *find_soname(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag == DT_SONAME)
			return elf_strptr(elf, header->sh_link, entry.d_un.d_val);
	return NULL;
}

const char *name_file(Elf *elf, const char *path)
{
	const char *name = NULL;
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; !name && (section = elf_nextscn(elf, section));)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			name = find_soname(elf, section, &header);
	return name ? name : strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
}

static const char *find_symbol(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint64_t start)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++)
		if (symbol.st_value == start && GELF_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    symbol.st_shndx != SHN_UNDEF)
			return elf_strptr(elf, header->sh_link, symbol.st_name);
	return NULL;
}

const char *name_symbol(Elf *elf, uint64_t start)
{
	const char *name = NULL;
	GElf_Shdr header;

	for (Elf_Scn *section = NULL; !name && (section = elf_nextscn(elf, section));)
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			name = find_symbol(elf, section, &header, start);
	return name;
}

/* FNV-1a, 64 bits. */
static uint64_t add_bytes(uint64_t sum, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
	return sum;
}

void name_shape(const struct uw_module *module, const struct uw_fde *fde,
		char name[static NAME_SIZE])
{
	uint64_t sum =
		add_bytes(UINT64_C(0xcbf29ce484222325), fde->code.at, uw_cursor_left(&fde->code));
	struct uw_flow_state scratch = {0};
	uint8_t bytes[UW_INSTRUCTION_SIZE_MAX];
	struct uw_effect effect;

	for (uint64_t at = fde->start; at < fde->end; at += effect.size) {
		uint64_t size = fde->end - at < sizeof(bytes) ? fde->end - at : sizeof(bytes);
		if (!uw_elf_read_constant(&module->elf, at, bytes, size) ||
		    !uw_effect_apply(&scratch, at, bytes, size, &effect))
			break;
		sum = add_bytes(sum, (const uint8_t[]){effect.size, bytes[0]}, 2);
	}
	snprintf(name, NAME_SIZE, "shape-%016" PRIx64, sum);
}
