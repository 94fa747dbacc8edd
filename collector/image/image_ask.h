/*
 * Opening images of processes that may keep us waiting (collector/proc/asker.h): those of others by
 * their files or memory in the asker's thread. As the functions of image_file.h and image_memory.h;
 * NULL with ETIMEDOUT where the asker gave it up.
 */
#ifndef COLLECTOR_IMAGE_IMAGE_ASK_H
#define COLLECTOR_IMAGE_IMAGE_ASK_H

#include "collector/image/image_file.h"

struct uw_module *image_ask_file(struct asker *asker, const struct image_source *source,
				 struct profile_image *record, struct image_file_found *found);

struct uw_module *image_ask_memory(struct asker *asker, const struct image_source *source,
				   struct profile_image *record, uint64_t *budget);

struct uw_module *image_ask_vdso(struct asker *asker, const struct image_source *source);

#endif
