/*
 * The page without data, made by tools/viewer/build.mjs. The data goes between both parts.
 */
#ifndef TOOLS_PAGE_PAGE_TEMPLATE_H
#define TOOLS_PAGE_PAGE_TEMPLATE_H

#include <stddef.h>

struct page_template {
	const unsigned char *before; /* NULL: not built */
	size_t before_size;
	const unsigned char *after;
	size_t after_size;
};

struct page_template page_template_get(void);

#endif
