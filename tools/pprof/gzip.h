/*
 * A gzip file (RFC 1952) written piece by piece. Equal content gives equal bytes: the header has no
 * time and no name. Without memory the program ends (tools/memory/xalloc.h).
 */
#ifndef TOOLS_PPROF_GZIP_H
#define TOOLS_PPROF_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

/* Errors of the stream show in its ferror. */
struct gzip *gzip_create(FILE *stream);
void gzip_write(struct gzip *gzip, const void *bytes, size_t size);
/* Writes the end, and frees; the stream stays open. */
void gzip_finish(struct gzip *gzip);

#endif
