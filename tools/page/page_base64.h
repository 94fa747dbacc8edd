/*
 * Base64 (RFC 4648, section 4), written to a stream. Errors show in its ferror.
 */
#ifndef TOOLS_PAGE_PAGE_BASE64_H
#define TOOLS_PAGE_PAGE_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void page_base64_write(const uint8_t *bytes, size_t size, FILE *stream);

#endif
