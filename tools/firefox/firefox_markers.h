/*
 * The markers of a Firefox profile's threads: lives, external data, and states off the CPUs with
 * what was waited for.
 */
#ifndef TOOLS_FIREFOX_FIREFOX_MARKERS_H
#define TOOLS_FIREFOX_FIREFOX_MARKERS_H

#include "tools/firefox/firefox_tables.h"
#include "tools/json/json_writer.h"
#include "tools/lives/lives.h"
#include "tools/timelines/timelines.h"
#include <stdint.h>

struct firefox_external;

/* What the threads of a file are written from, and to. */
struct firefox_writing {
	const struct timelines *timelines;
	struct firefox_tables *tables;
	struct json_writer *json;
	uint64_t end_ns; /* of the collection */
	const struct firefox_external *external;
	struct lives *lives;
};

/* The member markers of a timeline's thread. */
void firefox_markers_write(const struct firefox_writing *writing, uint32_t index);

/* What markers have, for the viewer: the member markerSchema. */
void firefox_markers_write_schemas(struct json_writer *json);

#endif
