#include "tools/debuginfo/symbol_file.h"

#include "tools/debuginfo/snapshot.h"
#include "tools/memory/xalloc.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* No vdso is near this; the kernel maps one or two pages. */
#define VDSO_SIZE_MAX 65536u

/* Takes the descriptor. */
static enum symbol_file_status open_descriptor(struct symbol_file *file, int fd, const char *path)
{
	/* find_debuginfo searches the directories. */
	file->debug_path = xalloc_text("");
	file->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &file->debug_path,
	};
	file->dwfl = dwfl_begin(&file->callbacks);
	if (!file->dwfl) {
		close(fd);
		return SYMBOL_FILE_INVALID;
	}
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
	if (!file->module)
		close(fd);
	dwfl_report_end(file->dwfl, NULL, NULL);
	void **user = NULL;
	if (file->module &&
	    dwfl_module_info(file->module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
		*user = &file->search;
	GElf_Addr bias = 0;
	file->elf = file->module ? dwfl_module_getelf(file->module, &bias) : NULL;
	GElf_Ehdr header;
	if (!file->elf || !gelf_getehdr(file->elf, &header) ||
	    header.e_ident[EI_CLASS] == ELFCLASSNONE || bias != 0)
		return SYMBOL_FILE_INVALID;
	return SYMBOL_FILE_OPEN;
}

static void close_dwfl(struct symbol_file *file)
{
	dwfl_end(file->dwfl);
	free(file->debug_path);
	file->dwfl = NULL;
	file->debug_path = NULL;
}

static int take_file(void *user, int fd, const struct stat *status, const char *path)
{
	struct symbol_file *file = user;
	int copy = snapshot_of(fd, status);
	if (copy < 0)
		return errno;
	if (file->search.owner != DEBUG_FILE_ANYBODY)
		file->search.owner = status->st_uid;
	if (open_descriptor(file, copy, path) == SYMBOL_FILE_OPEN)
		return 0;
	close_dwfl(file);
	return ENOEXEC;
}

enum symbol_file_status symbol_file_open(struct symbol_file *file, const struct mapped_file *mapped,
					 const char *debug_path)
{
	struct mapped_file wanted = *mapped;
	int64_t changed_ns;
	memset(file, 0, sizeof(*file));
	file->directories = xalloc_text(debug_path ? debug_path : DEBUG_FILE_DIRECTORIES);
	file->search.directories = file->directories;
	file->search.owner = debug_path ? DEBUG_FILE_ANYBODY : 0;
	if (wanted.mapped_ns != 0)
		wanted.mapped_ns = (int64_t)((uint64_t)wanted.mapped_ns + MAPPED_FILE_SLACK_NS);
	switch (mapped_file_open(&wanted, take_file, file, &changed_ns)) {
	case 0:
		return SYMBOL_FILE_OPEN;
	case ENOEXEC:
		return SYMBOL_FILE_INVALID;
	case EEXIST:
	case ESTALE:
		return SYMBOL_FILE_REPLACED;
	default:
		return SYMBOL_FILE_MISSING;
	}
}

/* The vdso's section headers lie behind everything else in it. */
static size_t vdso_size(const uint8_t *vdso)
{
	Elf64_Ehdr header;
	memcpy(&header, vdso, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff > VDSO_SIZE_MAX)
		return 0;
	size_t size = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	return size <= VDSO_SIZE_MAX ? size : 0;
}

enum symbol_file_status symbol_file_open_vdso(struct symbol_file *file,
					      const struct mapped_file *mapped)
{
	char path[64];
	struct mapped_file copy = {.path = path,
				   .build_id = mapped->build_id,
				   .build_id_size = mapped->build_id_size};
	enum symbol_file_status result = SYMBOL_FILE_MISSING;
	memset(file, 0, sizeof(*file));
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	size_t size = vdso ? vdso_size(vdso) : 0;
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && size > 0 && write(fd, vdso, size) == (ssize_t)size)
		result = symbol_file_open(file, &copy, NULL);
	if (fd >= 0)
		close(fd);
	return result;
}

void symbol_file_close(struct symbol_file *file)
{
	close_dwfl(file);
	free(file->directories);
	memset(file, 0, sizeof(*file));
}

const uint8_t *symbol_file_bytes(const struct symbol_file *file, uint64_t rva, size_t *available)
{
	size_t count = 0;
	if (elf_getphdrnum(file->elf, &count) != 0)
		return NULL;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(file->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (rva < segment.p_vaddr || rva - segment.p_vaddr >= segment.p_filesz)
			continue;
		uint64_t skipped = rva - segment.p_vaddr;
		if (segment.p_offset > INT64_MAX)
			return NULL;
		/* Always the whole segment: libelf keeps each chunk, in a list. */
		Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)segment.p_offset,
						      segment.p_filesz, ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size <= skipped)
			return NULL;
		*available = data->d_size - skipped;
		return (const uint8_t *)data->d_buf + skipped;
	}
	return NULL;
}

Elf_Scn *symbol_file_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		if (!gelf_getshdr(section, header))
			continue;
		const char *found = elf_strptr(elf, names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}
