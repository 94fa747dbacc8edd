/*
 * What a page says about the collection: times, samples, stacks, cost, host, warnings, advice.
 */
#ifndef TOOLS_PAGE_PAGE_FACTS_H
#define TOOLS_PAGE_PAGE_FACTS_H

#include "tools/json/json_writer.h"
#include <stdint.h>

struct report_input;

/* Writes them as a member of the open object. */
void page_facts_write(const struct report_input *input, struct json_writer *json);

/* ns from start to end; 0: not known. */
uint64_t page_facts_elapsed_ns(const struct report_input *input);

#endif
