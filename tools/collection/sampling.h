/*
 * What the samples of a result cannot show, as there are none, or none of where the time went.
 */
#ifndef TOOLS_COLLECTION_SAMPLING_H
#define TOOLS_COLLECTION_SAMPLING_H

#include "tools/collection/overview.h"
#include <stdint.h>

struct report_input;

/* Share of the CPU time, in 10^-6, that went to the kernel, where no samples were taken: as far as
 * it is known by thread, if that is a tenth; else what is missing for one sample an interval, if
 * that is half and no filter is set. 0: neither, or kernel mode was sampled. */
uint64_t sampling_unseen_share(const struct report_input *input, const struct overview *overview);

/* What to do about it, or about a report without samples, in one sentence for the caller to free;
 * NULL: nothing. samples: that the report counts. */
char *sampling_advise(const struct report_input *input, const struct overview *overview,
		      uint64_t samples);

#endif
