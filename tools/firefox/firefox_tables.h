/*
 * What the threads of a Firefox profile share: stacks, frames, functions, libraries and texts. The
 * tables are written behind the threads, whose samples and markers fill them.
 */
#ifndef TOOLS_FIREFOX_FIREFOX_TABLES_H
#define TOOLS_FIREFOX_FIREFOX_TABLES_H

#include "tools/json/json_writer.h"
#include "tools/memory/index_map.h"
#include "tools/timelines/stack_tree.h"

/* Kinds of code, in the order of meta.categories. */
enum firefox_category {
	FIREFOX_OTHER, /* the one that the format asks for: for markers */
	FIREFOX_USER,
	FIREFOX_SYSTEM, /* libraries */
	FIREFOX_KERNEL,
	FIREFOX_GENERATED,
	FIREFOX_UNKNOWN, /* code in no known module */
	FIREFOX_MISSING, /* skipped or guessed frames */
	FIREFOX_NO_SAMPLE,
	FIREFOX_WAITING, /* these two of markers */
	FIREFOX_READY,
	FIREFOX_CATEGORY_COUNT
};

struct firefox_tables {         /* begins with the tree's first members set */
	struct stack_tree tree; /* by frame */
	struct index_texts texts;
};

void firefox_tables_finish(struct firefox_tables *tables);

void firefox_tables_write_categories(struct json_writer *json);
/* The members libs and shared; nothing is entered after that. */
void firefox_tables_write(struct firefox_tables *tables, struct json_writer *json);

#endif
