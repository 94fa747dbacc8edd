/* Names that files and functions keep from one build to the next. */
#ifndef TESTS_UNWIND_ANALYSIS_NAMES_H
#define TESTS_UNWIND_ANALYSIS_NAMES_H

#include "unwind/module/module.h"
#include <libelf.h>

enum { NAME_SIZE = 1024 };

/* A file's name in the table of shared objects (DT_SONAME); else the one in its folder. Valid as
 * long as elf and path. */
const char *name_file(Elf *elf, const char *path);

/* The symbol of the function at an address, as it is mangled; NULL: there is none. Valid as long as
 * elf. */
const char *name_symbol(Elf *elf, uint64_t start);

/* shape-NUMBER: a checksum of an FDE's instructions and of the sizes and first bytes of the code's.
 * It does not depend on where the function lies, nor on distances to other code and data. */
void name_shape(const struct uw_module *module, const struct uw_fde *fde,
		char name[static NAME_SIZE]);

#endif
