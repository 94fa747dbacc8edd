#include "tools/debuginfo/split_units.h"

#include "program/regular_file.h"
#include "tools/debuginfo/small_elf.h"
#include "tools/debuginfo/snapshot.h"
#include "tools/debuginfo/symbol_file.h"
#include "tools/memory/xalloc.h"
#include <assert.h>
#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	UNIT_MAX = 16384,   /* bytes; a unit of two names and a few numbers */
	TABLE_MAX = 2 << 20 /* bytes of .debug_addr and of .debug_ranges, from the unit's part on */
};

const char *split_units_path(Dwfl_Module *module)
{
	const char *file = NULL;
	const char *debug = NULL;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, &debug);
	return debug ? debug : file;
}

/* The contents of a skeleton unit. */
struct skeleton {
	Dwarf_Half version;
	uint64_t id;
	uint8_t address_size;
	const char *directory; /* "": none */
	uint64_t low;
	uint64_t addresses; /* start of the unit's part of .debug_addr */
	uint64_t ranges;    /* likewise of .debug_ranges, before DWARF 5 */
};

static const char *text_of(Dwarf_Die *die, unsigned attribute, unsigned gnu)
{
	Dwarf_Attribute memory;
	const char *text = dwarf_formstring(dwarf_attr(die, attribute, &memory));
	return text || !gnu ? text : dwarf_formstring(dwarf_attr(die, gnu, &memory));
}

static uint64_t number_of(Dwarf_Die *die, unsigned attribute, unsigned gnu)
{
	Dwarf_Attribute memory;
	Dwarf_Word value;
	if (dwarf_formudata(dwarf_attr(die, attribute, &memory), &value) == 0 ||
	    dwarf_formudata(dwarf_attr(die, gnu, &memory), &value) == 0)
		return value;
	return 0;
}

static bool read_skeleton(Dwarf_Die *die, struct skeleton *skeleton)
{
	Dwarf_Addr low = 0;
	if (dwarf_cu_info(die->cu, &skeleton->version, NULL, NULL, NULL, &skeleton->id,
			  &skeleton->address_size, NULL) != 0)
		return false;
	const char *directory = text_of(die, DW_AT_comp_dir, 0);
	skeleton->directory = directory ? directory : "";
	if (dwarf_lowpc(die, &low) == 0)
		skeleton->low = low;
	skeleton->addresses = number_of(die, DW_AT_addr_base, DW_AT_GNU_addr_base);
	skeleton->ranges = number_of(die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
	return (skeleton->version == 4 || skeleton->version == 5) &&
	       (skeleton->address_size == 4 || skeleton->address_size == 8);
}

/* A unit of DWARF being put together. */
struct unit {
	uint8_t bytes[UNIT_MAX];
	size_t size;
};

static void add_bytes(struct unit *unit, const void *bytes, size_t size)
{
	assert(size <= sizeof(unit->bytes) - unit->size); /* is_followed limits the texts */
	memcpy(unit->bytes + unit->size, bytes, size);
	unit->size += size;
}

/* Little-endian, as the file. */
static void add_number(struct unit *unit, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		add_bytes(unit, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

/* The declaration of a skeleton's attributes (DWARF 5, 7.5.3) in the GNU form, accepted by libdw in
 * both versions. Codes above 127 take two bytes (ULEB128, 7.6). */
#define GNU(attribute) (0x80 | ((attribute)&0x7f)), (attribute) >> 7
#define STRINGS        GNU(DW_AT_GNU_dwo_name), DW_FORM_string, DW_AT_comp_dir, DW_FORM_string
#define ADDRESSES      DW_AT_low_pc, DW_FORM_addr, GNU(DW_AT_GNU_addr_base), DW_FORM_sec_offset
#define RANGES         GNU(DW_AT_GNU_ranges_base), DW_FORM_sec_offset
#define ID             GNU(DW_AT_GNU_dwo_id), DW_FORM_data8
static const uint8_t declaration[] =
	{1, DW_TAG_compile_unit, DW_CHILDREN_no, STRINGS, ADDRESSES, RANGES, ID, 0, 0, 0};

/* The header (DWARF 5, 7.5.1.2) and attributes, as declared. The parts of the tables begin at 0. */
static void make_unit(const struct skeleton *skeleton, const char *path, struct unit *unit)
{
	add_number(unit, 0, 4); /* length */
	add_number(unit, skeleton->version, 2);
	if (skeleton->version == 5) {
		add_number(unit, DW_UT_skeleton, 1);
		add_number(unit, skeleton->address_size, 1);
	}
	add_number(unit, 0, 4); /* of the declaration */
	if (skeleton->version == 5)
		add_number(unit, skeleton->id, 8);
	else
		add_number(unit, skeleton->address_size, 1);
	add_number(unit, 1, 1);
	add_bytes(unit, path, strlen(path) + 1);
	add_bytes(unit, skeleton->directory, strlen(skeleton->directory) + 1);
	add_number(unit, skeleton->low, skeleton->address_size);
	add_number(unit, 0, 4); /* of the addresses */
	add_number(unit, 0, 4); /* of the ranges */
	add_number(unit, skeleton->id, 8);
	uint32_t length = (uint32_t)(unit->size - sizeof(length));
	memcpy(unit->bytes, &length, sizeof(length));
}

/* The section's bytes from start on; without the section, no bytes. */
static struct small_elf_section find_table(Elf *elf, const char *name, uint64_t start)
{
	struct small_elf_section table = {name, "", 0};
	GElf_Shdr header;
	Elf_Scn *section = symbol_file_section(elf, name, &header);
	const Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	if (data && data->d_buf && data->d_size > start) {
		table.bytes = (const char *)data->d_buf + start;
		table.size = data->d_size - start < TABLE_MAX ? data->d_size - start : TABLE_MAX;
	}
	return table;
}

static Dwarf *make_skeleton(Dwarf_Die *die, const struct skeleton *skeleton, const char *path)
{
	struct unit unit = {.size = 0};
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	make_unit(skeleton, path, &unit);
	const struct small_elf_section sections[] = {
		{".debug_abbrev", declaration, sizeof(declaration)},
		{".debug_info", unit.bytes, unit.size},
		find_table(elf, ".debug_addr", skeleton->addresses),
		find_table(elf, ".debug_ranges", skeleton->ranges),
	};
	int fd = small_elf(sections, sizeof(sections) / sizeof(sections[0]));
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	/* The file is mapped: its descriptor may go, as there may be many. */
	if (dwarf)
		elf_cntl(dwarf_getelf(dwarf), ELF_C_FDDONE);
	if (fd >= 0)
		close(fd);
	return dwarf;
}

/* The unit's other part, named by the copy of the skeleton. */
static bool find_body(Dwarf *skeleton, Dwarf_Die *body)
{
	Dwarf_CU *unit = NULL;
	uint8_t type;
	Dwarf_Die die;
	return dwarf_get_units(skeleton, NULL, &unit, NULL, &type, &die, body) == 0 &&
	       type == DW_UT_skeleton && body->addr;
}

static int open_copy(char *path)
{
	struct stat status;
	int copy = -1;
	int fd = path ? regular_file_open(path, 0, &status) : -1;
	if (fd >= 0) {
		copy = snapshot_of(fd, &status);
		close(fd);
	}
	free(path);
	return copy;
}

/* Takes the path; NULL: nowhere. */
static bool try_file(struct split_units *units, Dwarf_Die *die, const struct skeleton *skeleton,
		     char *path, Dwarf_Die *body)
{
	char link[64];
	int copy = open_copy(path);
	if (copy < 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", copy);
	Dwarf *dwarf = make_skeleton(die, skeleton, link);
	bool is_found = dwarf && find_body(dwarf, body);
	close(copy);
	if (!is_found) {
		dwarf_end(dwarf);
		return false;
	}
	units->skeletons = xalloc_resize(units->skeletons, units->count + 1, sizeof(Dwarf *));
	units->skeletons[units->count++] = dwarf;
	return true;
}

static bool is_followed(const char *text)
{
	return text[0] && strlen(text) < UNIT_MAX / 4 && !path_leads_up(text);
}

bool split_units_find(struct split_units *units, Dwarf_Die *die, const char *file, Dwarf_Die *body)
{
	struct skeleton skeleton = {0};
	const char *name = text_of(die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!name || !is_followed(name) || !read_skeleton(die, &skeleton))
		return false;
	const char *directory = skeleton.directory;
	if (!is_followed(directory) || directory[0] != '/')
		skeleton.directory = "";
	if (name[0] == '/')
		return try_file(units, die, &skeleton, xalloc_text(name), body);
	return (slash &&
		try_file(units, die, &skeleton,
			 xalloc_printf("%.*s/%s", (int)(slash - file), file, name), body)) ||
	       (skeleton.directory[0] &&
		try_file(units, die, &skeleton, xalloc_printf("%s/%s", directory, name), body));
}

void split_units_finish(struct split_units *units)
{
	for (size_t i = 0; i < units->count; i++)
		dwarf_end(units->skeletons[i]);
	free(units->skeletons);
	memset(units, 0, sizeof(*units));
}
