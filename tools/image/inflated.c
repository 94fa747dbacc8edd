#include "tools/image/inflated.h"

#include "tools/image/snapshot.h"
#include <gelf.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOTAL_MAX (512u * 1024u * 1024u)
/* No deflate stream is larger than this many times its input (RFC 1951: 258 bytes in 2 bits). */
#define RATIO_MAX 1032u

struct copy {
	Elf *from;
	Elf *to;
	size_t names; /* section with the sections' names */
	struct libdeflate_decompressor *decompressor;
	uint64_t total; /* bytes inflated */
	uint64_t plain; /* bytes read; sections may overlap */
	bool inflated;  /* anything at all */
	void **buffers; /* one a section, NULL or to free */
};

static bool copy_headers(struct copy *copy)
{
	GElf_Ehdr header;
	size_t count;
	if (!gelf_getehdr(copy->from, &header) || elf_getphdrnum(copy->from, &count) != 0 ||
	    elf_getshdrstrndx(copy->from, &copy->names) != 0 ||
	    !gelf_newehdr(copy->to, gelf_getclass(copy->from)) ||
	    !gelf_update_ehdr(copy->to, &header) || (count > 0 && !gelf_newphdr(copy->to, count)))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(copy->from, (int)i, &segment) ||
		    !gelf_update_phdr(copy->to, (int)i, &segment))
			return false;
	}
	return true;
}

/* The section's bytes in *data and its header changed to them; the buffer belongs to the copy. */
static bool inflate_section(struct copy *copy, Elf_Scn *section, GElf_Shdr *header, Elf_Data *data)
{
	GElf_Chdr chdr;
	size_t skip = gelf_fsize(copy->from, ELF_T_CHDR, 1, EV_CURRENT);
	if (!gelf_getchdr(section, &chdr) || chdr.ch_type != ELFCOMPRESS_ZLIB ||
	    data->d_size < skip || chdr.ch_size == 0 || chdr.ch_size > TOTAL_MAX - copy->total ||
	    chdr.ch_size / RATIO_MAX > data->d_size)
		return false;
	void *bytes = malloc(chdr.ch_size);
	if (!bytes)
		return false;
	copy->buffers[elf_ndxscn(section)] = bytes;
	if (libdeflate_zlib_decompress(copy->decompressor, (const char *)data->d_buf + skip,
				       data->d_size - skip, bytes, chdr.ch_size,
				       NULL) != LIBDEFLATE_SUCCESS)
		return false;
	copy->total += chdr.ch_size;
	copy->inflated = true;
	data->d_buf = bytes;
	data->d_size = chdr.ch_size;
	header->sh_size = chdr.ch_size;
	header->sh_addralign = chdr.ch_addralign;
	header->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	return true;
}

static bool copy_section(struct copy *copy, Elf_Scn *section)
{
	GElf_Shdr header;
	Elf_Scn *target = elf_newscn(copy->to);
	if (!target || !gelf_getshdr(section, &header))
		return false;
	if (header.sh_type != SHT_NOBITS &&
	    __builtin_add_overflow(copy->plain, header.sh_size, &copy->plain))
		return false;
	Elf_Data *bytes = copy->plain <= TOTAL_MAX ? elf_rawdata(section, NULL) : NULL;
	if (!bytes)
		return false;
	Elf_Data *data = elf_newdata(target);
	if (!data)
		return false;
	*data = *bytes;
	data->d_type = ELF_T_BYTE;
	data->d_off = 0;
	if (snapshot_is_unread(elf_strptr(copy->from, copy->names, header.sh_name))) {
		header.sh_type = SHT_NOBITS;
		header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	} else if ((header.sh_flags & SHF_COMPRESSED) != 0 &&
		   !inflate_section(copy, section, &header, data)) {
		return false;
	}
	data->d_align = header.sh_addralign;
	return gelf_update_shdr(target, &header) != 0;
}

static bool copy_sections(struct copy *copy)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(copy->from, section));)
		if (!copy_section(copy, section))
			return false;
	return copy->inflated && elf_update(copy->to, ELF_C_WRITE) > 0;
}

/* Whether to has the copy. */
static bool write_copy(Elf *from, int to)
{
	size_t count;
	if (elf_kind(from) != ELF_K_ELF || elf_getshdrnum(from, &count) != 0)
		return false;
	struct copy copy = {
		.from = from,
		.to = elf_begin(to, ELF_C_WRITE, NULL),
		.decompressor = libdeflate_alloc_decompressor(),
		.buffers = calloc(count + 1, sizeof(*copy.buffers)),
	};
	bool written = copy.to && copy.decompressor && copy.buffers && copy_headers(&copy) &&
		       copy_sections(&copy);
	elf_end(copy.to);
	for (size_t i = 0; copy.buffers && i < count; i++)
		free(copy.buffers[i]);
	free(copy.buffers);
	libdeflate_free_decompressor(copy.decompressor);
	return written;
}

int inflated_copy(int fd)
{
	/* By pread: another's file is not mapped. */
	elf_version(EV_CURRENT);
	Elf *from = elf_begin(fd, ELF_C_READ, NULL);
	if (!from)
		return -1;
	int to = memfd_create("debug file", MFD_CLOEXEC);
	if (to >= 0 && !write_copy(from, to)) {
		close(to);
		to = -1;
	}
	elf_end(from);
	return to;
}
