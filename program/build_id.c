#include "program/build_id.h"

#include <assert.h>
#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_MAX = 64, NOTES_MAX = 4096 };

/* Offsets of a table's place and count in the file header, and of an entry's members. */
struct table {
	uint8_t offset_at;
	uint8_t count_at;
	uint8_t entry_size;
	uint8_t type_at;
	uint8_t type;
	uint8_t notes_at;
	uint8_t size_at;
};

#define AT(type, member) offsetof(type, member)
#define SEGMENTS(bits)                                                                   \
	{                                                                                \
		AT(Elf##bits##_Ehdr, e_phoff), AT(Elf##bits##_Ehdr, e_phnum),            \
			sizeof(Elf##bits##_Phdr), AT(Elf##bits##_Phdr, p_type), PT_NOTE, \
			AT(Elf##bits##_Phdr, p_offset), AT(Elf##bits##_Phdr, p_filesz)   \
	}
#define SECTIONS(bits)                                                                     \
	{                                                                                  \
		AT(Elf##bits##_Ehdr, e_shoff), AT(Elf##bits##_Ehdr, e_shnum),              \
			sizeof(Elf##bits##_Shdr), AT(Elf##bits##_Shdr, sh_type), SHT_NOTE, \
			AT(Elf##bits##_Shdr, sh_offset), AT(Elf##bits##_Shdr, sh_size)     \
	}

static_assert(sizeof(Elf64_Shdr) >= sizeof(Elf64_Phdr), "search_table has room for sections");
static_assert(sizeof(Elf64_Nhdr) == sizeof(Elf32_Nhdr), "notes are the same in both classes");

/* By the size of an address. */
static const struct table tables[2][2] = {{SEGMENTS(32), SECTIONS(32)},
					  {SEGMENTS(64), SECTIONS(64)}};

static uint64_t number_at(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;
	memcpy(&number, bytes, size);
	return number;
}

static size_t find_id(const uint8_t *notes, uint64_t size, uint8_t *id)
{
	Elf64_Nhdr note;
	for (uint64_t at = 0; at + sizeof(note) <= size;) {
		memcpy(&note, notes + at, sizeof(note));
		uint64_t name = at + sizeof(note);
		uint64_t bytes = name + ((note.n_namesz + UINT64_C(3)) & ~UINT64_C(3));
		at = bytes + ((note.n_descsz + UINT64_C(3)) & ~UINT64_C(3));
		if (bytes + note.n_descsz > size)
			break;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_descsz == 0 ||
		    note.n_namesz != sizeof("GNU") ||
		    memcmp(notes + name, "GNU", sizeof("GNU")) != 0)
			continue;
		if (note.n_descsz > BUILD_ID_MAX)
			break;
		memcpy(id, notes + bytes, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

static size_t read_notes(int fd, uint64_t offset, uint64_t size, uint8_t *id)
{
	uint8_t notes[NOTES_MAX];
	ssize_t got = offset <= INT64_MAX ? pread(fd, notes, sizeof(notes), (off_t)offset) : -1;
	return got < 0 ? 0 : find_id(notes, size < (uint64_t)got ? size : (uint64_t)got, id);
}

static size_t search_table(int fd, const uint8_t *header, const struct table *table, size_t word,
			   uint8_t *id)
{
	uint8_t entries[ENTRIES_MAX * sizeof(Elf64_Shdr)];
	uint64_t offset = number_at(header + table->offset_at, word);
	size_t count = number_at(header + table->count_at, sizeof(Elf64_Half));
	size_t size = 0;
	ssize_t got = offset <= INT64_MAX ? pread(fd, entries, sizeof(entries), (off_t)offset) : -1;
	for (size_t i = 0; size == 0 && i < count && i < ENTRIES_MAX &&
			   (ssize_t)((i + 1) * table->entry_size) <= got;
	     i++) {
		const uint8_t *entry = entries + i * table->entry_size;
		if (number_at(entry + table->type_at, sizeof(Elf64_Word)) == table->type)
			size = read_notes(fd, number_at(entry + table->notes_at, word),
					  number_at(entry + table->size_at, word), id);
	}
	return size;
}

ssize_t build_id_read(int fd, uint8_t id[static BUILD_ID_MAX])
{
	static const uint8_t order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
	uint8_t header[sizeof(Elf64_Ehdr)] = {0};
	if (pread(fd, header, sizeof(header), 0) < (ssize_t)sizeof(Elf32_Ehdr) ||
	    memcmp(header, ELFMAG, SELFMAG) != 0 || header[EI_DATA] != order ||
	    (header[EI_CLASS] != ELFCLASS32 && header[EI_CLASS] != ELFCLASS64))
		return -1;
	bool is_wide = header[EI_CLASS] == ELFCLASS64;
	size_t word = is_wide ? sizeof(Elf64_Addr) : sizeof(Elf32_Addr);
	size_t size = search_table(fd, header, &tables[is_wide][0], word, id);
	return (ssize_t)(size > 0 ? size : search_table(fd, header, &tables[is_wide][1], word, id));
}

void build_id_place(const uint8_t *id, size_t size, char place[static BUILD_ID_PLACE_SIZE])
{
	assert(size > 0 && size <= BUILD_ID_MAX);
	int length = snprintf(place, BUILD_ID_PLACE_SIZE, "%02x/", id[0]);
	for (size_t i = 1; i < size; i++)
		length += snprintf(place + length, BUILD_ID_PLACE_SIZE - (size_t)length, "%02x",
				   id[i]);
}
