/*
 * A result as one HTML page that needs nothing else: the page that tools/viewer/ builds, with the
 * result's data in it. tools/viewer/README.md has the format of the data.
 *
 * Memory goes by the number of distinct stacks, and of samples in one 4096th of the run by thread.
 * Without memory the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_PAGE_PAGE_H
#define TOOLS_PAGE_PAGE_H

#include "tbrw/tbrw.h"
#include <stdbool.h>
#include <stdio.h>

struct report_input;

/* Whether this program was built with the page (meson's option viewer). */
bool page_is_built(void);

/* Needs page_is_built, and a tally by thread and by reason. Returns the reader's code; errors of
 * the stream show in its ferror. */
TBRW_U32 page_write(const struct report_input *input, FILE *stream);

#endif
