/*
 * What finds the file of a result's image again.
 */
#ifndef TOOLS_MODULES_IMAGE_IDENTITY_H
#define TOOLS_MODULES_IMAGE_IDENTITY_H

#include "profile/read/reader.h"
#include "program/mapped_file.h"
#include <stdbool.h>
#include <stdint.h>

/* The date of each image's first known mapping, no earlier than the collection, ns since
 * 1970, wrong by MAPPED_FILE_SLACK_NS at most; 0: not known. The caller frees the array. */
int64_t *image_identity_dates(const struct profile_reader *reader);

/* The identity of an image of kind PROFILE_IMAGE_FILE or PROFILE_IMAGE_VDSO; its texts are the
 * reader's. dates: all images', as above. false: the collector saw the file changed while it ran,
 * and no build-id identifies it. */
bool image_identity_make(const struct profile_reader *reader, const int64_t *dates, uint32_t image,
			 struct mapped_file *identity);

#endif
