/*
 * A folder of its own for each test, with files made of the subject.
 */
#ifndef TESTS_TOOLS_DEBUGINFO_SCRATCH_H
#define TESTS_TOOLS_DEBUGINFO_SCRATCH_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A checked fixture. */
void scratch_begin(void);
void scratch_end(void);

const char *scratch_folder(void);
char *scratch_path(const char *name); /* of a file in it, for the caller to free */
void scratch_run(char *command);      /* and frees it */

/* A subject's debug file, plain or compressed; its path for the caller to free. */
char *scratch_debug_file(const char *subject, const char *name, const char *compression);

/* The subject's own address of a function. */
uint64_t scratch_rva(const char *function);

const char *scratch_section_name(Elf *elf, const GElf_Shdr *header);
/* Where the compressed section's own header lies in the file. */
off_t scratch_compressed(const char *path, const char *name);
void scratch_write(const char *path, off_t offset, const void *bytes, size_t size);

#endif
