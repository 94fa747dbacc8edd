#include "tools/image/split_units.h"

#include "program/regular_file.h"
#include "tools/cli/xalloc.h"
#include "tools/image/small_elf.h"
#include "tools/image/snapshot.h"
#include <dwarf.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	UNIT_MAX = 16384,   /* bytes; a unit of two names and a few numbers */
	TABLE_MAX = 2 << 20 /* of .debug_addr and of .debug_ranges, from the unit's on */
};

const char *split_units_path(Dwfl_Module *module)
{
	const char *file = NULL;
	const char *debug = NULL;
	dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, &debug);
	return debug ? debug : file;
}

/* What a skeleton says. */
struct skeleton {
	Dwarf_Half version;
	uint64_t id;
	uint8_t address_size;
	const char *directory; /* "": none */
	uint64_t low;
	uint64_t addresses; /* where the unit's part of .debug_addr begins */
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

/* Bytes of DWARF being put together. */
struct bytes {
	uint8_t data[UNIT_MAX];
	size_t size;
};

static void add(struct bytes *bytes, const void *data, size_t size)
{
	if (size > sizeof(bytes->data) - bytes->size)
		return; /* checked before: names are no longer than paths */
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

/* Little-endian, as the file. */
static void add_number(struct bytes *bytes, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		add(bytes, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

/* ULEB128: DWARF 5, 7.6. */
static void add_code(struct bytes *bytes, unsigned value)
{
	for (; value >= 0x80; value >>= 7)
		add_number(bytes, (value & 0x7f) | 0x80, 1);
	add_number(bytes, value, 1);
}

/* An attribute's declaration and its value. */
static void add_attribute(struct bytes *abbreviation, struct bytes *unit, unsigned name,
			  unsigned form, const void *value, size_t size)
{
	add_code(abbreviation, name);
	add_code(abbreviation, form);
	add(unit, value, size);
}

/* DWARF 5, 7.5.1.2, and the GNU form of it before. */
static void add_header(struct bytes *unit, const struct skeleton *skeleton)
{
	add_number(unit, 0, 4); /* length */
	add_number(unit, skeleton->version, 2);
	if (skeleton->version == 5) {
		add_number(unit, DW_UT_skeleton, 1);
		add_number(unit, skeleton->address_size, 1);
	}
	add_number(unit, 0, 4); /* of the abbreviations */
	if (skeleton->version == 5)
		add_number(unit, skeleton->id, 8);
	else
		add_number(unit, skeleton->address_size, 1);
}

static void make_unit(const struct skeleton *skeleton, const char *path, struct bytes *abbreviation,
		      struct bytes *unit)
{
	static const uint32_t start; /* of the tables: they begin with the unit's part */
	bool is_gnu = skeleton->version == 4;
	add_header(unit, skeleton);
	add_code(unit, 1);
	add_code(abbreviation, 1);
	add_code(abbreviation, is_gnu ? DW_TAG_compile_unit : DW_TAG_skeleton_unit);
	add_number(abbreviation, DW_CHILDREN_no, 1);
	add_attribute(abbreviation, unit, is_gnu ? DW_AT_GNU_dwo_name : DW_AT_dwo_name,
		      DW_FORM_string, path, strlen(path) + 1);
	add_attribute(abbreviation, unit, DW_AT_comp_dir, DW_FORM_string, skeleton->directory,
		      strlen(skeleton->directory) + 1);
	add_attribute(abbreviation, unit, DW_AT_low_pc, DW_FORM_addr, &skeleton->low,
		      skeleton->address_size);
	add_attribute(abbreviation, unit, is_gnu ? DW_AT_GNU_addr_base : DW_AT_addr_base,
		      DW_FORM_sec_offset, &start, sizeof(start));
	if (is_gnu) {
		add_attribute(abbreviation, unit, DW_AT_GNU_ranges_base, DW_FORM_sec_offset, &start,
			      sizeof(start));
		add_attribute(abbreviation, unit, DW_AT_GNU_dwo_id, DW_FORM_data8, &skeleton->id,
			      sizeof(skeleton->id));
	}
	add_number(abbreviation, 0, 3); /* of the attributes, of the abbreviations */
	uint32_t length = (uint32_t)(unit->size - sizeof(length));
	memcpy(unit->data, &length, sizeof(length));
}

/* The section's bytes from start on; none where it has none. */
static struct small_elf_section find_table(Elf *elf, const char *name, uint64_t start)
{
	struct small_elf_section table = {name, "", 0};
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return table;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		const char *found = gelf_getshdr(section, &header)
					    ? elf_strptr(elf, names, header.sh_name)
					    : NULL;
		if (!found || strcmp(found, name) != 0)
			continue;
		const Elf_Data *data = elf_getdata(section, NULL);
		if (!data || !data->d_buf || data->d_size <= start)
			break;
		table.bytes = (const char *)data->d_buf + start;
		table.size = data->d_size - start < TABLE_MAX ? data->d_size - start : TABLE_MAX;
		break;
	}
	return table;
}

static Dwarf *make_skeleton(Dwarf_Die *die, const struct skeleton *skeleton, const char *path)
{
	struct bytes *parts = xalloc_zeroed(2, sizeof(*parts));
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	make_unit(skeleton, path, &parts[0], &parts[1]);
	const struct small_elf_section sections[] = {
		{".debug_abbrev", parts[0].data, parts[0].size},
		{".debug_info", parts[1].data, parts[1].size},
		find_table(elf, ".debug_addr", skeleton->addresses),
		find_table(elf, ".debug_ranges", skeleton->ranges),
	};
	int fd = small_elf(skeleton->address_size == 4, sections,
			   sizeof(sections) / sizeof(sections[0]));
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	free(parts);
	/* It is mapped; there may be many. */
	if (dwarf)
		elf_cntl(dwarf_getelf(dwarf), ELF_C_FDDONE);
	if (fd >= 0)
		close(fd);
	return dwarf;
}

/* The unit's other part, which the copy of the skeleton names. */
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
