/* This program's own file as an image to cut and damage, and modules of it. */
#ifndef TESTS_UNWIND_MODULE_SELF_IMAGE_H
#define TESTS_UNWIND_MODULE_SELF_IMAGE_H

#include "unwind/module/module.h"
#include <elf.h>

struct self_image {
	uint8_t *bytes;
	size_t size;
};

/* Between setup and teardown: a copy, read anew for each test. */
extern struct self_image self_image;

void self_image_setup(void);
void self_image_teardown(void);

struct self_image self_image_read(const char *path);

/* A file of these bytes; the caller closes it. */
int self_image_file(const void *bytes, size_t size);

/* A loaded module of the image in memory. */
struct uw_module *self_image_module(const struct self_image *image);

Elf64_Ehdr *self_image_ehdr(struct self_image *image);
Elf64_Phdr *self_image_phdr(struct self_image *image, uint32_t type);

/* The blocks of .eh_frame that the module has read. */
size_t self_image_blocks_read(const struct uw_module *module);

#endif
