/* A part of an ELF file read at once, for many small reads close together. */
#ifndef UNWIND_ELF_WINDOW_H
#define UNWIND_ELF_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uw_elf;

enum { UW_WINDOW_SIZE = 4096 };

/* Empty while size is 0; the bytes need no initial value. For one file only. */
struct uw_window {
	uint64_t offset; /* in the file */
	size_t size;
	uint8_t bytes[UW_WINDOW_SIZE];
};

/* As uw_elf_read, through the window, which moves to bytes outside it. */
bool uw_window_read(const struct uw_elf *elf, struct uw_window *window, uint64_t offset,
		    void *bytes, uint64_t size);

#endif
