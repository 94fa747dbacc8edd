/*
 * All formats that results are exported to.
 */
#ifndef TOOLS_FORMATS_EXPORT_FORMAT_H
#define TOOLS_FORMATS_EXPORT_FORMAT_H

#include "tools/export/export.h"
#include <stddef.h>

/* NULL behind the last one. */
const struct export_format *export_format_at(size_t index);
const struct export_format *export_format_find(const char *name);

/* The names, NULL behind the last one. The caller frees the array. */
const char **export_format_names(void);

#endif
