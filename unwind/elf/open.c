/* Opening an ELF file: its headers are read. */
#include "unwind/elf/elf.h"
#include "unwind/elf/headers.h"
#include "unwind/elf/window.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SEGMENTS_MAX = 4096, /* program headers read at most */
	SECTION_NAME_MAX = 24,
	NOTES_SIZE_MAX = 256 * 1024, /* of all notes of a file; build-ids stand among the first */
	NOTES_SIZE_MIN = 1024        /* counted for a place with notes, at least */
};

static_assert(sizeof(".data.rel.ro.gopclntab") <= SECTION_NAME_MAX,
	      "the longest name of take_section");

/* State of reading one file's headers, which are read in up to three places at a time. */
struct parse {
	struct uw_elf *elf;
	struct uw_window headers, notes, names;
	uint64_t notes_left; /* bytes that may still be read */
};

/* Takes the note, with its name at offset, if it is the build-id or by Go's linker. */
static void take_note(struct parse *parse, const Elf64_Nhdr *note, uint64_t offset)
{
	struct uw_elf *elf = parse->elf;
	char name[4];

	if (note->n_namesz != sizeof(name) ||
	    !uw_window_read(elf, &parse->notes, offset, name, sizeof(name)))
		return;
	if (memcmp(name, "Go\0", sizeof(name)) == 0)
		elf->is_go = true;
	if (note->n_type != NT_GNU_BUILD_ID || note->n_descsz == 0 ||
	    note->n_descsz > UW_BUILD_ID_MAX || elf->build_id_size != 0 ||
	    memcmp(name, ELF_NOTE_GNU, sizeof(name)) != 0)
		return;
	if (uw_window_read(elf, &parse->notes, offset + sizeof(name), elf->build_id,
			   note->n_descsz))
		elf->build_id_size = note->n_descsz;
}

/* Takes what is known of the notes in [offset, offset + size); notes are 4-byte aligned, and those
 * with other alignment (8: .note.gnu.property) stand in segments of their own. */
static void read_notes(struct parse *parse, uint64_t offset, uint64_t size)
{
	Elf64_Nhdr note;

	if (size > parse->notes_left)
		size = parse->notes_left;
	uint64_t cost = size > NOTES_SIZE_MIN ? size : NOTES_SIZE_MIN;
	parse->notes_left -= cost < parse->notes_left ? cost : parse->notes_left;
	while (size >= sizeof(note)) {
		uint64_t total = sizeof(note);

		if (!uw_window_read(parse->elf, &parse->notes, offset, &note, sizeof(note)))
			return;
		total += ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
		total += ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
		if (total > size)
			return;
		take_note(parse, &note, offset + sizeof(note));
		offset += total;
		size -= total;
	}
}

static int set_error(int error)
{
	errno = error;
	return -1;
}

static int read_header(struct parse *parse)
{
	/* The machine and the class go together: x86-64 code in a 32-bit file (x32) has words of
	 * two sizes, and is not supported. */
	static const struct {
		uint16_t machine;
		uint8_t class;
		enum uw_arch arch;
	} supported[] = {
		{EM_X86_64, ELFCLASS64, UW_ARCH_X86_64},
		{EM_AARCH64, ELFCLASS64, UW_ARCH_AARCH64},
		{EM_386, ELFCLASS32, UW_ARCH_I386},
	};

	struct uw_elf *elf = parse->elf;
	const Elf64_Ehdr *ehdr = &elf->header;

	if (uw_ehdr_read(elf, &parse->headers, &elf->header) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++) {
		if (ehdr->e_machine != supported[i].machine ||
		    ehdr->e_ident[EI_CLASS] != supported[i].class)
			continue;
		elf->arch = supported[i].arch;
		elf->entry = ehdr->e_entry;
		return 0;
	}
	return set_error(ENOEXEC);
}

/* The size of the part of [offset, offset + size) inside the file. */
static uint64_t clip_to_file(const struct uw_elf *elf, uint64_t offset, uint64_t size)
{
	if (offset >= elf->size)
		return 0;
	return size < elf->size - offset ? size : elf->size - offset;
}

static void add_segment(struct uw_elf *elf, const Elf64_Phdr *phdr)
{
	assert(elf->segment_count < elf->header.e_phnum);
	struct uw_segment *segment = &elf->segments[elf->segment_count];

	if (phdr->p_vaddr + phdr->p_filesz < phdr->p_vaddr)
		return;
	segment->offset = phdr->p_offset;
	segment->file_size = clip_to_file(elf, phdr->p_offset, phdr->p_filesz);
	segment->rva = phdr->p_vaddr;
	segment->memory_size = phdr->p_memsz;
	segment->executable = phdr->p_flags & PF_X;
	segment->writable = phdr->p_flags & PF_W;
	elf->segment_count++;
}

static void take_phdr(struct parse *parse, const Elf64_Phdr *phdr)
{
	struct uw_elf *elf = parse->elf;
	struct uw_piece piece = {.offset = phdr->p_offset,
				 .size = clip_to_file(elf, phdr->p_offset, phdr->p_filesz),
				 .rva = phdr->p_vaddr};

	if (phdr->p_type == PT_LOAD)
		add_segment(elf, phdr);
	else if (phdr->p_type == PT_NOTE)
		read_notes(parse, phdr->p_offset, phdr->p_filesz);
	else if (phdr->p_type == PT_GNU_EH_FRAME)
		elf->eh_frame_hdr = piece;
	else if (phdr->p_type == PT_GNU_RELRO)
		elf->relro = piece;
}

static int read_segments(struct parse *parse)
{
	struct uw_elf *elf = parse->elf;
	unsigned count = elf->header.e_phnum;

	if (count == 0 || count > SEGMENTS_MAX)
		return set_error(EINVAL);
	elf->segments = calloc(count, sizeof(*elf->segments));
	if (!elf->segments)
		return -1;
	for (unsigned i = 0; i < count; i++) {
		Elf64_Phdr phdr;

		if (!uw_phdr_read(elf, &parse->headers, &elf->header, i, &phdr))
			return set_error(EINVAL);
		take_phdr(parse, &phdr);
	}
	return elf->segment_count ? 0 : set_error(EINVAL);
}

/* Takes a section that has one of our names. */
static void take_section(struct uw_elf *elf, const Elf64_Shdr *shdr, const char *name)
{
	struct uw_piece piece = {.offset = shdr->sh_offset,
				 .size = clip_to_file(elf, shdr->sh_offset, shdr->sh_size),
				 .rva = shdr->sh_addr};

	if (strcmp(name, ".eh_frame") == 0)
		elf->eh_frame = piece;
	if (strcmp(name, ".gnu_debuglink") == 0)
		elf->debug_link = piece;
	if (strcmp(name, ".gopclntab") == 0 || strcmp(name, ".data.rel.ro.gopclntab") == 0)
		elf->go_table = piece;
	if (strcmp(name, ".debug_frame") == 0) {
		elf->debug_frame = piece;
		elf->debug_frame_packed =
			shdr->sh_flags & SHF_COMPRESSED ? UW_COMPRESSION_ELF : UW_COMPRESSION_NONE;
	}
	if (strcmp(name, ".zdebug_frame") == 0) {
		elf->debug_frame = piece;
		elf->debug_frame_packed = UW_COMPRESSION_GNU;
	}
}

/* Takes a table of symbols; that of all symbols with the section of their names. */
static void take_symbols(struct parse *parse, const Elf64_Shdr *shdr)
{
	struct uw_elf *elf = parse->elf;
	Elf64_Shdr names;

	elf->symbols[shdr->sh_type == SHT_DYNSYM] =
		(struct uw_piece){.offset = shdr->sh_offset,
				  .size = clip_to_file(elf, shdr->sh_offset, shdr->sh_size)};
	if (shdr->sh_type == SHT_SYMTAB &&
	    uw_shdr_read(elf, &parse->names, &elf->header, shdr->sh_link, &names))
		elf->symbol_names = (struct uw_piece){.offset = names.sh_offset,
						      .size = clip_to_file(elf, names.sh_offset,
									   names.sh_size)};
}

/* Reads the name of a section, as far as one of ours may be long. */
static bool read_section_name(struct parse *parse, const Elf64_Shdr *names, const Elf64_Shdr *shdr,
			      char name[static SECTION_NAME_MAX])
{
	uint64_t offset = names->sh_offset + shdr->sh_name;

	if (shdr->sh_name >= names->sh_size || names->sh_offset > parse->elf->size)
		return false;
	return uw_window_read(parse->elf, &parse->names, offset, name,
			      clip_to_file(parse->elf, offset, SECTION_NAME_MAX - 1));
}

static void read_sections(struct parse *parse)
{
	struct uw_elf *elf = parse->elf;
	const Elf64_Ehdr *ehdr = &elf->header;
	Elf64_Shdr names, shdr;

	elf->has_sections = true;
	if (ehdr->e_shstrndx >= ehdr->e_shnum ||
	    !uw_shdr_read(elf, &parse->headers, ehdr, ehdr->e_shstrndx, &names))
		return;
	for (unsigned i = 0; i < ehdr->e_shnum; i++) {
		char name[SECTION_NAME_MAX] = "";

		if (!uw_shdr_read(elf, &parse->headers, ehdr, i, &shdr))
			return;
		if (shdr.sh_type == SHT_NOTE)
			read_notes(parse, shdr.sh_offset, shdr.sh_size);
		else if (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM)
			take_symbols(parse, &shdr);
		else if (shdr.sh_type != SHT_NOBITS &&
			 read_section_name(parse, &names, &shdr, name))
			take_section(elf, &shdr, name);
	}
}

static void begin_parse(struct parse *parse, struct uw_elf *elf)
{
	parse->elf = elf;
	parse->headers.size = parse->notes.size = parse->names.size = 0;
	parse->notes_left = NOTES_SIZE_MAX;
}

void uw_elf_take_sections(struct uw_elf *elf)
{
	struct parse parse;

	if (elf->has_sections)
		return;
	begin_parse(&parse, elf);
	read_sections(&parse);
}

/* Sections are read on demand, or now if the segments hold no build-id. */
static int parse_elf(struct uw_elf *elf)
{
	struct parse parse;

	begin_parse(&parse, elf);
	if (read_header(&parse) < 0 || read_segments(&parse) < 0) {
		int error = errno;

		uw_elf_finish(elf);
		errno = error;
		return -1;
	}
	if (elf->build_id_size == 0)
		read_sections(&parse);
	return 0;
}

int uw_elf_open(struct uw_elf *elf, int fd)
{
	struct stat status;

	*elf = (struct uw_elf){.fd = -1};
	if (fstat(fd, &status) < 0)
		return -1;
	if (!S_ISREG(status.st_mode) || status.st_size < 0)
		return set_error(ENOEXEC);
	elf->size = (uint64_t)status.st_size;
	elf->modified = status.st_mtim;
	elf->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (elf->fd < 0)
		return -1;
	return parse_elf(elf);
}

int uw_elf_from_memory(struct uw_elf *elf, const void *bytes, size_t size)
{
	*elf = (struct uw_elf){.fd = -1, .size = size};
	elf->image = malloc(size ? size : 1);
	if (!elf->image)
		return -1;
	if (size > 0)
		memcpy(elf->image, bytes, size);
	return parse_elf(elf);
}

int uw_elf_borrow(struct uw_elf *elf, const void *bytes, size_t size)
{
	/* Read only: nothing writes to an image. */
	*elf = (struct uw_elf){.fd = -1,
			       .size = size,
			       .image = (uint8_t *)(uintptr_t)bytes,
			       .borrows = true};
	return parse_elf(elf);
}
