/*
 * The file of a page: the page without data, and its data between the two parts.
 */
#ifndef TOOLS_PAGE_PAGE_FILE_H
#define TOOLS_PAGE_PAGE_FILE_H

#include "tools/json/json_writer.h"
#include "tools/page/page_columns.h"
#include <stddef.h>
#include <stdio.h>

/* Adds members to the data's open object; columns may grow meanwhile. */
typedef void page_file_add(struct json_writer *json, void *user);

/* Needs page_is_built (page.h). Errors of the stream show in its ferror; without memory the program
 * ends. */
void page_file_write(const struct page_columns *columns, page_file_add *add, void *user,
		     FILE *stream);

#endif
