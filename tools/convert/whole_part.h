/*
 * The part of a damaged result that can be read.
 */
#ifndef TOOLS_CONVERT_WHOLE_PART_H
#define TOOLS_CONVERT_WHOLE_PART_H

#include <stdint.h>

/* Copies the first bytes of a file into a new one at part, for its owner only. 0, or an errno
 * value: then there is no file at part. */
int whole_part_copy(const char *path, const char *part, uint64_t bytes);

#endif
