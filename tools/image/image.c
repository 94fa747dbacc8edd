#include "tools/image/image.h"

#include "program/regular_file.h"
#include "tools/cli/xalloc.h"
#include "tools/image/deleted_file.h"
#include "tools/image/snapshot.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

/* No vdso is near this; the kernel maps one or two pages. */
#define VDSO_SIZE_MAX 65536u

/* As libdwfl has them. */
#define DEBUG_DIRECTORIES ":.debug:/usr/lib/debug"

static bool build_id_matches(const struct symbol_image *image,
			     const struct symbol_image_identity *identity)
{
	const unsigned char *bits = NULL;
	GElf_Addr address;
	int size = dwfl_module_build_id(image->module, &bits, &address);
	return size > 0 && (size_t)size >= identity->build_id_size &&
	       memcmp(bits, identity->build_id, identity->build_id_size) == 0;
}

/* Takes the descriptor. */
static enum symbol_image_status open_descriptor(struct symbol_image *image, int fd,
						const char *path, const char *debug_path)
{
	/* Directories are looked in by debug_file_find. */
	image->debug_path = xalloc_text("");
	image->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = debug_file_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &image->debug_path,
	};
	image->directories = xalloc_text(debug_path ? debug_path : DEBUG_DIRECTORIES);
	image->search.directories = image->directories;
	image->dwfl = dwfl_begin(&image->callbacks);
	if (!image->dwfl) {
		close(fd);
		return SYMBOL_IMAGE_INVALID;
	}
	dwfl_report_begin(image->dwfl);
	image->module = dwfl_report_elf(image->dwfl, path, path, fd, 0, true);
	if (!image->module)
		close(fd);
	dwfl_report_end(image->dwfl, NULL, NULL);
	void **user = NULL;
	if (image->module &&
	    dwfl_module_info(image->module, &user, NULL, NULL, NULL, NULL, NULL, NULL))
		*user = &image->search;
	GElf_Addr bias = 0;
	image->elf = image->module ? dwfl_module_getelf(image->module, &bias) : NULL;
	GElf_Ehdr header;
	if (!image->elf || !gelf_getehdr(image->elf, &header) ||
	    header.e_ident[EI_CLASS] == ELFCLASSNONE || bias != 0)
		return SYMBOL_IMAGE_INVALID;
	return SYMBOL_IMAGE_OPEN;
}

/* Clocks are known to this; dates of files are more exact, or earlier by up to a tick. */
#define CLOCK_SLACK_NS 2000000

/* Whether a file without a build-id is the mapped one, as far as can be known. The time of the last
 * change cannot be set, as that of modification can; but deleting a file is a change too. */
static bool is_mapped_file(const struct symbol_image_identity *identity, const struct stat *status)
{
	const struct timespec *changed = status->st_nlink > 0 ? &status->st_ctim : &status->st_mtim;
	int64_t latest = (int64_t)((uint64_t)identity->mapped_ns + CLOCK_SLACK_NS);
	if (identity->inode != 0 && identity->inode != status->st_ino)
		return false;
	return identity->mapped_ns == 0 || changed->tv_sec < latest / 1000000000 ||
	       (changed->tv_sec == latest / 1000000000 && changed->tv_nsec <= latest % 1000000000);
}

/* Sets *copy to a descriptor of the file's bytes as they are. */
static enum symbol_image_status copy_file(const char *path,
					  const struct symbol_image_identity *identity, int *copy)
{
	struct stat status;
	if (path_leads_up(path))
		return SYMBOL_IMAGE_MISSING;
	int fd = regular_file_open(path, 0, &status);
	if (fd < 0)
		return SYMBOL_IMAGE_MISSING;
	bool is_mapped = identity->build_id_size > 0 || is_mapped_file(identity, &status);
	*copy = is_mapped ? snapshot_of(fd, &status) : -1;
	int error = errno;
	close(fd);
	if (*copy >= 0)
		return SYMBOL_IMAGE_OPEN;
	if (!is_mapped || error == ESTALE)
		return SYMBOL_IMAGE_REPLACED;
	return error == ENOEXEC ? SYMBOL_IMAGE_INVALID : SYMBOL_IMAGE_MISSING;
}

static enum symbol_image_status open_path(struct symbol_image *image, const char *path,
					  const struct symbol_image_identity *identity,
					  const char *debug_path)
{
	int copy = -1;
	memset(image, 0, sizeof(*image));
	enum symbol_image_status result = copy_file(path, identity, &copy);
	if (result != SYMBOL_IMAGE_OPEN)
		return result;
	result = open_descriptor(image, copy, path, debug_path);
	if (result == SYMBOL_IMAGE_OPEN && identity->build_id_size > 0 &&
	    !build_id_matches(image, identity))
		return SYMBOL_IMAGE_REPLACED;
	return result;
}

/* Instead of what was tried before. */
static bool open_instead(struct symbol_image *image, const char *path,
			 const struct symbol_image_identity *identity, const char *debug_path)
{
	symbol_image_close(image);
	return open_path(image, path, identity, debug_path) == SYMBOL_IMAGE_OPEN;
}

enum symbol_image_status symbol_image_open(struct symbol_image *image,
					   const struct symbol_image_identity *identity,
					   const char *debug_path)
{
	enum symbol_image_status result = open_path(image, identity->path, identity, debug_path);
	if ((result != SYMBOL_IMAGE_MISSING && result != SYMBOL_IMAGE_REPLACED) ||
	    identity->pid == 0 || identity->path[0] != '/')
		return result;
	/* While the process lives, as it sees the file: another mount namespace, a container; or as
	 * it still has it, deleted. The id may be another process's by now; what identifies the
	 * file is checked again. */
	char *inside = xalloc_printf("/proc/%u/root%s", identity->pid, identity->path);
	char *deleted = NULL;
	bool is_open = open_instead(image, inside, identity, debug_path);
	if (!is_open && (identity->build_id_size > 0 || identity->inode > 0))
		deleted = symbol_deleted_file_find(identity->pid, identity->path);
	if (is_open || (deleted && open_instead(image, deleted, identity, debug_path)))
		result = SYMBOL_IMAGE_OPEN;
	free(inside);
	free(deleted);
	return result;
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

enum symbol_image_status symbol_image_open_vdso(struct symbol_image *image,
						const struct symbol_image_identity *identity)
{
	memset(image, 0, sizeof(*image));
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	size_t size = vdso ? vdso_size(vdso) : 0;
	if (size == 0)
		return SYMBOL_IMAGE_MISSING;
	int fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return SYMBOL_IMAGE_MISSING;
	if (write(fd, vdso, size) != (ssize_t)size) {
		close(fd);
		return SYMBOL_IMAGE_MISSING;
	}
	enum symbol_image_status result = open_descriptor(image, fd, "[vdso]", NULL);
	if (result == SYMBOL_IMAGE_OPEN && !build_id_matches(image, identity))
		return SYMBOL_IMAGE_REPLACED;
	return result;
}

void symbol_image_close(struct symbol_image *image)
{
	if (image->dwfl)
		dwfl_end(image->dwfl);
	free(image->debug_path);
	free(image->directories);
	memset(image, 0, sizeof(*image));
}

const uint8_t *symbol_image_bytes(const struct symbol_image *image, uint64_t rva, size_t *available)
{
	size_t count = 0;
	if (elf_getphdrnum(image->elf, &count) != 0)
		return NULL;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(image->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (rva < segment.p_vaddr || rva - segment.p_vaddr >= segment.p_filesz)
			continue;
		uint64_t skipped = rva - segment.p_vaddr;
		if (segment.p_offset > INT64_MAX)
			return NULL;
		/* Always the whole segment: libelf keeps each chunk, in a list. */
		Elf_Data *data = elf_getdata_rawchunk(image->elf, (int64_t)segment.p_offset,
						      segment.p_filesz, ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size <= skipped)
			return NULL;
		*available = data->d_size - skipped;
		return (const uint8_t *)data->d_buf + skipped;
	}
	return NULL;
}

Elf_Scn *symbol_image_section(const struct symbol_image *image, const char *name, GElf_Shdr *header)
{
	size_t names;
	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return NULL;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(image->elf, section));) {
		if (!gelf_getshdr(section, header))
			continue;
		const char *found = elf_strptr(image->elf, names, header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}
