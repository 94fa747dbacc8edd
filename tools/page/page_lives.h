/*
 * What threads did over a page's time beside their samples: states, waits, and how many ran at
 * once.
 */
#ifndef TOOLS_PAGE_PAGE_LIVES_H
#define TOOLS_PAGE_PAGE_LIVES_H

#include "profile/profile.h"
#include "tools/json/json_writer.h"
#include "tools/memory/index_map.h"
#include "tools/page/page_cells.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_nodes.h"
#include "tools/page/page_time.h"
#include <stdbool.h>
#include <stdint.h>

struct lives;
struct page_wait_class;
struct profile_reader;

/* Of one thread. */
struct page_life {
	bool is_known;
	uint64_t state_ns[PROFILE_STATE_STOPPED + 1];
	uint64_t runs;  /* in the columns of states */
	uint64_t waits; /* in the columns of waits */
};

struct page_lives { /* begins with these set */
	const struct page_time *time;
	struct lives *lives;
	struct page_columns *columns;
	struct page_nodes *nodes; /* not merged yet */
	uint64_t *cell_ns;        /* scratch: by cell and state */
	struct page_cells waits;
	uint64_t wait_count;
	struct index_map class_map;
	struct page_wait_class *classes;
	struct index_texts items; /* "TYPE\nNAME" */
};

/* Of a thread of the reader. */
struct page_life page_lives_add(struct page_lives *lives, uint32_t thread);

/* Once the nodes are merged: the columns of classes. numbers: of the reader's threads in the
 * page, and 1. */
void page_lives_write(struct page_lives *lives, const uint32_t *numbers, struct json_writer *json);
void page_lives_finish(struct page_lives *lives);

/* Adds the columns of levels. Returns the reader's code. */
TBRW_U32 page_lives_add_levels(struct profile_reader *reader, const struct page_time *time,
			       struct page_columns *columns);

#endif
