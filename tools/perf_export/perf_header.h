/*
 * What the header of a perf.data file says of a result.
 */
#ifndef TOOLS_PERF_EXPORT_PERF_HEADER_H
#define TOOLS_PERF_EXPORT_PERF_HEADER_H

#include "profile/read/reader.h"
#include "tools/perf_data/perf_file.h"

struct perf_header {
	struct perf_file_info info;
	struct perf_build_id *build_ids; /* of the info */
	char *release, *machine;         /* likewise */
};

/* event: the event's name, borrowed; NULL: that of the samples, or of the CPU's clock. The reader
 * must live longer. */
void perf_header_make(struct perf_header *header, const struct profile_reader *reader,
		      const char *event);
void perf_header_finish(struct perf_header *header);

#endif
