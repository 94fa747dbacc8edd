/*
 * The images of a collection: the files (and other sources of code) that its processes map. Each
 * distinct one is opened when it is first mapped, written to the result once, and named by the
 * index it has there. Files that no walk uses are closed where many are open, and opened again when
 * one does; but not those without a build-id, which only their inode tells apart: it is not another
 * file's as long as the file is open.
 */
#ifndef COLLECTOR_IMAGE_IMAGE_H
#define COLLECTOR_IMAGE_IMAGE_H

#include "collector/proc/asker.h"
#include "collector/result/emit.h"
#include "unwind/unwind.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_table;

enum {
	IMAGE_OPEN_MAX = 128,   /* files with a build-id that are kept open for nobody */
	IMAGE_BUILD_ID_MAX = 20 /* bytes: what the kernel tells, and a record holds */
};

/* emit and asker, through which processes are asked (NULL: by us), are borrowed. NULL: out of
 * memory. */
struct image_table *image_table_create(struct emit *emit, struct asker *asker);
void image_table_destroy(struct image_table *table); /* accepts NULL */

/* What the kernel says of an executable mapping. */
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
	/* Whose the process was when it was last seen; counts if it is gone by now. */
	bool has_owner;
	uint32_t owner;
};

/* Whether it is code that no file holds, which one image stands for in each process. */
bool image_is_anonymous(const struct image_source *source);

/* The image behind a mapping; opened through the process when it is new: a file that was deleted or
 * replaced, or that lives in another mount namespace, is opened as it is mapped. A file that is not
 * the mapped one is not taken for it: their build-ids differ, or else their inodes, which stay with
 * files that could be opened (above); and without a build-id it was not changed since it
 * was mapped. A file that was written to since it was opened is another image from then on. One
 * that was changed before stays unread for all but those known to have mapped it later. Never
 * fails: what cannot be opened is an image without a module. Returns 0 (unknown) only when out of
 * memory. */
uint32_t image_table_get(struct image_table *table, const struct image_source *source);

/* Where a process has an image mapped. */
struct image_place {
	uint32_t pid;
	uint64_t start;
	uint64_t end;
	uint64_t mapped_ns; /* as the source's */
};

/* Makes the image's module ready for walks: opens its file where that was closed meanwhile, or
 * could not be opened (once for each process), and adds its debug file. Returns the image's index,
 * which is another one where a file could be opened only now, and from then on: what was written of
 * the old one is not that of a file that was read. */
uint32_t image_table_open(struct image_table *table, uint32_t image,
			  const struct image_place *place);

/* The module to unwind through, NULL where there is none or it is closed. Borrowed until the next
 * call that may open one: who keeps it takes a reference. */
struct uw_module *image_module(const struct image_table *table, uint32_t image);

/* Whether the image is a file that could not be opened. */
bool image_is_unread(const struct image_table *table, uint32_t image);

/* Whether the image is known to hold 32-bit code. */
bool image_is_32bit(const struct image_table *table, uint32_t image);

/* The path as the target's maps name it. "" for unknown. */
const char *image_path(const struct image_table *table, uint32_t image);

#endif
