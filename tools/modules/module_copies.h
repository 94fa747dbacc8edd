/*
 * Copies of the modules of a result, where VTune looks first: its user guide, "Search Order", names
 * the folder `all` of a result's directory, with the folders in it.
 */
#ifndef TOOLS_MODULES_MODULE_COPIES_H
#define TOOLS_MODULES_MODULE_COPIES_H

#include "profile/read/reader.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct module_copies_miss {
	const char *path; /* of the image */
	int error;        /* errno value, as of mapped_file_open; 0: nothing is known to recognize
			   * the file by */
};

/* Copies under way, or made. */
struct module_copies {
	const struct profile_reader *reader;
	char *path;         /* DIR/all */
	int folder;         /* descriptor of it */
	int error;          /* errno value of the first failure to write; 0: none */
	char *where;        /* what could not be written */
	char temporary[32]; /* name in the folder of what is not whole yet */
	uint32_t *images;   /* copied ones */
	size_t count;
	struct module_copies_miss *misses; /* files that were not copied */
	size_t miss_count;
	size_t anonymous_count; /* images of anonymous memory */
	bool has_vdso, has_kernel;
};

/* Opens DIR/all, made if need be, for its owner only. Neither it nor anything in it is followed if
 * it is a symbolic link. Returns 0 or an errno value, with copies->where. End it in any case. */
int module_copies_begin(struct module_copies *copies, const char *folder);

/* Copies the files of all images that the result has frames in, once recognized as the mapped ones
 * (program/mapped_file.h). A copy is DIR/all/NAME; another file of the same name is in a folder
 * DIR/all/ID, by its build-id or else its inode number. Each appears when it is whole, over an
 * older file of its name, for its owner only, executable if its original is. Returns 0 or the errno
 * value of the first failure to write, with copies->where. */
int module_copies_write(struct module_copies *copies, const struct profile_reader *reader);

/* Removes what is not whole, for a program that ends at once, from any thread. */
void module_copies_clean(const struct module_copies *copies);

/* One line: how many were copied where, and what was not. The caller frees it. */
char *module_copies_describe(const struct module_copies *copies);

void module_copies_end(struct module_copies *copies);

#endif
