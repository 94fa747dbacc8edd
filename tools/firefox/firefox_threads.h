/*
 * The threads of a Firefox profile: samples, and as markers lives and external data.
 */
#ifndef TOOLS_FIREFOX_FIREFOX_THREADS_H
#define TOOLS_FIREFOX_FIREFOX_THREADS_H

#include "tools/firefox/firefox_tables.h"
#include "tools/json/json_writer.h"
#include "tools/timelines/timelines.h"

/* The member threads, the thread with the most time first, by sample (TIMELINE_BY_SAMPLE). What
 * threads share goes to the tables. Returns the reader's code. */
TBRW_U32 firefox_threads_write(const struct timelines *timelines, struct firefox_tables *tables,
			       struct json_writer *json);

/* When the collection ended, ns since its start: by its note, or else by its last sample or the
 * last end of a thread. */
uint64_t firefox_threads_end(const struct timelines *timelines);

#endif
