/* Finding and opening the file behind a mapping of another process. */
#ifndef COLLECTOR_IMAGE_IMAGE_FILE_H
#define COLLECTOR_IMAGE_IMAGE_FILE_H

#include "collector/image/image.h"

/* Whether a path from a process's maps names a file (not [heap], //anon, anon_inode:, "" ...). */
bool image_file_is_path(const char *path);

/* What opening a file told, or trying to. */
struct image_file_found {
	uint32_t owner;      /* of the opened file */
	uint64_t changed_ns; /* ESTALE: when the file was changed, CLOCK_MONOTONIC_RAW */
};

/*
 * Opens the mapped file: by /proc/PID/map_files (exactly the mapping; needs privileges), else by
 * name through the process's root and its executable link, else by name here, each only if the
 * build-id, or the inode, is the mapped one's. Fills in record's inode and device where the kernel
 * gave a build-id instead. NULL with errno: ENOENT where there is none any more, EEXIST where
 * another lies in its place, EACCES where that is not known for lack of rights, EMFILE for lack of
 * descriptors, ENOEXEC where it is no ELF file of use, ESTALE where it has no build-id and was
 * changed since it was mapped, or as opening it failed.
 */
struct uw_module *image_file_open(const struct image_source *source, struct profile_image *record,
				  struct image_file_found *found);

/* Copies the module's build-id as far as a record has room for one: returns its length, 0 where it
 * has none or a longer one. The kernel passes those over too (lib/buildid.c, BUILD_ID_SIZE_MAX). */
uint32_t image_file_build_id(const struct uw_module *module, uint8_t id[static IMAGE_BUILD_ID_MAX]);

/* Whether the module is of the file that source names, as far as its build-id says: always where
 * source has none. */
bool image_file_has_build_id(const struct uw_module *module, const struct image_source *source);

#endif
