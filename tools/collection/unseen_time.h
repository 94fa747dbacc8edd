/*
 * Time not seen by samples: there are no samples, or none of the code taking the time.
 */
#ifndef TOOLS_COLLECTION_UNSEEN_TIME_H
#define TOOLS_COLLECTION_UNSEEN_TIME_H

#include "tools/collection/overview.h"
#include <stdint.h>

struct report_input;

/* Share of the CPU time, in 10^-6, spent in the kernel without samples: the time known by thread,
 * if a tenth or more; else the time missing for one sample per interval, if half or more and no
 * filter is set. 0: neither, or kernel mode was sampled. */
uint64_t unseen_time_share(const struct report_input *input, const struct overview *overview);

/* Advice on this share, or on a report without samples: one sentence for the caller to free; NULL:
 * none. samples: number in the report. */
char *unseen_time_advise(const struct report_input *input, const struct overview *overview,
			 uint64_t samples);

#endif
