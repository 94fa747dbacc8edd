/*
 * External data of a result as trace events: tasks and frames, and values of counters.
 */
#ifndef TOOLS_CHROME_CHROME_EXTERNAL_H
#define TOOLS_CHROME_CHROME_EXTERNAL_H

#include "tbrw/tbrw.h"
#include "tools/json/json_writer.h"

struct weighted_stacks;

/* Those in the filter's time. Returns the reader's code. */
TBRW_U32 chrome_external_write(const struct weighted_stacks *stacks, struct json_writer *json);

#endif
