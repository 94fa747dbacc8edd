/* What the stand-in for collector/image/image.c was asked. */
#ifndef TESTS_COLLECTOR_FAKE_IMAGE_H
#define TESTS_COLLECTOR_FAKE_IMAGE_H

#include "collector/image/image.h"

/* How often image_table_get was called. */
uint32_t fake_image_asked(const struct image_table *table);

#endif
