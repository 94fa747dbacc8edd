#include "tests/unwind/module/self_image.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct self_image self_image;

struct self_image self_image_read(const char *path)
{
	struct self_image image;
	struct stat status;
	FILE *file = fopen(path, "re");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &status), 0);
	image.size = (size_t)status.st_size;
	image.bytes = malloc(image.size);
	ck_assert_ptr_nonnull(image.bytes);
	ck_assert_uint_eq(fread(image.bytes, 1, image.size, file), image.size);
	fclose(file);
	return image;
}

void self_image_setup(void)
{
	self_image = self_image_read("/proc/self/exe");
}

void self_image_teardown(void)
{
	free(self_image.bytes);
}

int self_image_file(const void *bytes, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

struct uw_module *self_image_module(const struct self_image *image)
{
	struct uw_module *module = NULL;

	ck_assert_int_eq(uw_module_from_memory(image->bytes, image->size, &module), 0);
	ck_assert_ptr_nonnull(module);
	uw_module_load(module);
	return module;
}

Elf64_Ehdr *self_image_ehdr(struct self_image *image)
{
	void *bytes = image->bytes;

	return bytes;
}

Elf64_Phdr *self_image_phdr(struct self_image *image, uint32_t type)
{
	void *bytes = image->bytes + self_image_ehdr(image)->e_phoff;
	Elf64_Phdr *phdr = bytes;

	while (phdr->p_type != type)
		phdr++;
	return phdr;
}

size_t self_image_blocks_read(const struct uw_module *module)
{
	size_t count = 0;

	for (size_t at = 0; at < module->cfi.section.size;
	     at += (size_t)1 << UW_LAZY_SECTION_LOG_BLOCK)
		count += module->cfi.section.is_read[at >> UW_LAZY_SECTION_LOG_BLOCK];
	return count;
}
