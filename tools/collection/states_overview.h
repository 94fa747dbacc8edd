/*
 * What the states of threads say of a collection as a whole, in a few lines.
 */
#ifndef TOOLS_COLLECTION_STATES_OVERVIEW_H
#define TOOLS_COLLECTION_STATES_OVERVIEW_H

#include "tbrw/tbrw.h"
#include <stdint.h>
#include <stdio.h>

struct concurrency;
struct json_object;
struct report_input;

struct states_overview {
	struct concurrency *concurrency; /* NULL: no states, or a filter on more than threads */
	uint32_t target;                 /* thousandths of a CPU */
	uint64_t cpu_ns;                 /* of the same threads, by samples and accounts */
};

/* cpu_ns: as above. Returns the reader's code; states_overview_finish goes with success. */
TBRW_U32 states_overview_collect(struct states_overview *overview, const struct report_input *input,
				 uint64_t cpu_ns);
void states_overview_finish(struct states_overview *overview);

/* Labelled lines (tools/collection/lines.h). Nothing without states. */
void states_overview_print(const struct states_overview *overview, FILE *stream);
/* Of these, the one on CPU time, and what is not known of states. */
void states_overview_print_quality(const struct states_overview *overview, FILE *stream);

/* The same for JSON, for the caller to own; NULL without states. */
struct json_object *states_overview_object(const struct states_overview *overview);

#endif
