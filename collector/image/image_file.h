/* Finding and opening the file behind a mapping of another process. */
#ifndef COLLECTOR_IMAGE_IMAGE_FILE_H
#define COLLECTOR_IMAGE_IMAGE_FILE_H

#include "collector/image/image.h"

/* Whether a path from a process's maps names a file (not [heap], //anon, anon_inode:, "" ...). */
bool image_file_is_path(const char *path);

/* The result of opening an image. */
struct image_opened {
	struct uw_module *module; /* NULL: opening failed */
	int error;                /* of a file, why: as mapped_file_open's */
	uint64_t inode;           /* of the opened file */
	uint32_t device_major;
	uint32_t device_minor;
	uint32_t owner;
	int64_t changed_ns; /* ESTALE: when the file was changed, ns since 1970 (CLOCK_REALTIME) */
	uint64_t budget;    /* bytes left to copy from processes' memory */
};

/* Opens the mapped file in the process's places or here (program/mapped_file.h). */
void image_file_open(const struct image_source *source, struct image_opened *opened);

/* A time of CLOCK_MONOTONIC_RAW as CLOCK_REALTIME, ns; 0 for 0. */
int64_t image_file_date(uint64_t time_ns);

/* Copies the module's build-id and returns its length; 0: none, or one too long for a record. The
 * kernel passes those over too (lib/buildid.c, BUILD_ID_SIZE_MAX). */
uint32_t image_file_build_id(const struct uw_module *module, uint8_t id[static IMAGE_BUILD_ID_MAX]);

/* Whether the module has the source's build-id; true if the source has none. */
bool image_file_has_build_id(const struct uw_module *module, const struct image_source *source);

#endif
