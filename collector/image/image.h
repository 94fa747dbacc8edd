/*
 * The images of a collection: the files (and other sources of code) mapped by its processes. Each
 * image is opened at its first mapping, written to the result once, and named by its index there.
 * When many files are open, those without a walk are closed, and opened again for the next one. A
 * file without a build-id stays open: only its inode identifies it, and no other file gets the
 * inode of an open one.
 */
#ifndef COLLECTOR_IMAGE_IMAGE_H
#define COLLECTOR_IMAGE_IMAGE_H

#include "collector/result/emit.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;
struct image_table;

enum {
	IMAGE_OPEN_MAX = 128,   /* files with a build-id that are kept open for nobody */
	IMAGE_BUILD_ID_MAX = 20 /* bytes: the most of the kernel, and of a record */
};

/* emit and asker, through which processes are asked (NULL: by us), are borrowed. NULL: out of
 * memory. */
struct image_table *image_table_create(struct emit *emit, struct asker *asker);

/* The processes are those of a recording: their files are found here by name and build-id, and the
 * kernel is not asked about them. owner: their user. Before the first image. */
void image_table_set_recorded(struct image_table *table, uint32_t owner);
void image_table_destroy(struct image_table *table); /* accepts NULL */

/* An executable mapping as the kernel describes it. */
struct image_source {
	uint32_t pid;
	uint64_t start;
	uint64_t end;
	uint64_t mapped_ns; /* CLOCK_MONOTONIC_RAW; 0: not known */
	const char *path;
	uint64_t inode; /* 0: not known */
	uint32_t device_major;
	uint32_t device_minor;
	const uint8_t *build_id;
	uint32_t build_id_size; /* up to IMAGE_BUILD_ID_MAX; 0: not known */
	/* The process's owner when last seen; counts if the process is gone by now. */
	bool has_owner;
	uint32_t owner;
};

/* Whether the code comes from no file; one image in each process stands for all such code. */
bool image_is_anonymous(const struct image_source *source);

/* The image behind a mapping. A new image is opened through the process, which leads to deleted and
 * replaced files and into other mount namespaces. Only the mapped file is accepted, recognized by
 * its build-id. Without a build-id the inode must be the same, which files that could be opened
 * keep (above), and the file must be unchanged since it was mapped. A file written to after it was
 * opened is another image from then on. A file changed before stays unread, except for processes
 * known to have mapped it later. Never fails: an image that cannot be opened has no module. Returns
 * 0 (unknown) only when out of memory. */
uint32_t image_table_get(struct image_table *table, const struct image_source *source);

/* A process's mapping of an image. */
struct image_place {
	uint32_t pid;
	uint64_t start;
	uint64_t end;
	uint64_t mapped_ns; /* as the source's */
};

/* Makes the image's module ready for walks: opens a file that was closed meanwhile or could not be
 * opened (one attempt for each process), and adds its debug file. Returns the image's index. A file
 * opened only now gets another index from then on: the record of the old one says that the file was
 * not read. */
uint32_t image_table_open(struct image_table *table, uint32_t image,
			  const struct image_place *place);

/* The module to unwind through; NULL: none, or closed. Borrowed until the next call that may open
 * one: take a reference to keep it. */
struct uw_module *image_module(const struct image_table *table, uint32_t image);

/* Whether the image is a file that could not be opened. */
bool image_is_unread(const struct image_table *table, uint32_t image);

/* Whether the image is known to hold 32-bit code. */
bool image_is_32bit(const struct image_table *table, uint32_t image);

/* The path in the target's maps. "" for unknown. */
const char *image_path(const struct image_table *table, uint32_t image);

#endif
