/*
 * Opening images through processes that may keep us waiting (collector/proc/asker.h): those of
 * others are asked for their files or memory in the asker's thread.
 */
#ifndef COLLECTOR_IMAGE_IMAGE_ASK_H
#define COLLECTOR_IMAGE_IMAGE_ASK_H

#include "collector/image/image_file.h"

/* image_file_open, image_memory_open or image_memory_open_vdso. */
typedef void image_opener(const struct image_source *source, struct image_opened *opened);

/* Has the opener open the image. ETIMEDOUT: the asker gave up; only module and error are set. */
void image_ask(struct asker *asker, image_opener *opener, const struct image_source *source,
	       struct image_opened *opened);

#endif
