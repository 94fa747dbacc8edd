#include "tests/tools/debuginfo/scratch.h"

#include "tools/memory/xalloc.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder;

void scratch_run(char *command)
{
	ck_assert_int_eq(system(command), 0);
	free(command);
}

void scratch_begin(void)
{
	char template[] = "/tmp/test_image.XXXXXX";
	ck_assert_ptr_nonnull(mkdtemp(template));
	folder = xalloc_text(template);
}

void scratch_end(void)
{
	scratch_run(xalloc_printf("rm -rf '%s'", folder));
	free(folder);
}

const char *scratch_folder(void)
{
	return folder;
}

char *scratch_path(const char *name)
{
	return xalloc_printf("%s/%s", folder, name);
}

char *scratch_debug_file(const char *subject, const char *name, const char *compression)
{
	char *path = scratch_path(name);
	scratch_run(xalloc_printf("objcopy --only-keep-debug %s '%s' '%s'", compression, subject,
				  path));
	return path;
}

uint64_t scratch_rva(const char *function)
{
	char name[64];
	unsigned long rva;
	uint64_t found = 0;
	FILE *pipe = popen("'" SUBJECT_PIE "'", "r");
	ck_assert_ptr_nonnull(pipe);
	while (fscanf(pipe, "%63s %lx", name, &rva) == 2)
		if (strcmp(name, function) == 0)
			found = rva;
	pclose(pipe);
	ck_assert_uint_ne(found, 0);
	return found;
}

const char *scratch_section_name(Elf *elf, const GElf_Shdr *header)
{
	size_t names;
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	return elf_strptr(elf, names, header->sh_name);
}

off_t scratch_compressed(const char *path, const char *name)
{
	off_t found = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		gelf_getshdr(section, &header);
		if (strcmp(scratch_section_name(elf, &header), name) == 0) {
			ck_assert_uint_ne(header.sh_flags & SHF_COMPRESSED, 0);
			found = (off_t)header.sh_offset;
		}
	}
	elf_end(elf);
	close(fd);
	ck_assert_int_gt(found, 0);
	return found;
}

void scratch_write(const char *path, off_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(pwrite(fd, bytes, size, offset), (ssize_t)size);
	close(fd);
}
