/*
 * An open result, its samples added up and its functions named.
 */
#ifndef TOOLS_STACKS_SAMPLED_RESULT_H
#define TOOLS_STACKS_SAMPLED_RESULT_H

#include "profile/read/reader.h"
#include "tools/functions/functions.h"
#include "tools/samples/tally.h"
#include <stdbool.h>

struct sampled_result {
	struct profile_reader *reader;
	struct functions *functions;
	struct tally tally;
};

/* path: of the tb5 file; filter, by: as for tally_collect; with_inlined: as for functions_create.
 * Returns 0, or the exit status after a message. */
int sampled_result_open(struct sampled_result *result, const char *path,
			const struct filter *filter, unsigned by, bool with_inlined);
/* The same for an open reader, which is the result's from now on: closed also on failure. */
int sampled_result_collect(struct sampled_result *result, struct profile_reader *reader,
			   const char *path, const struct filter *filter, unsigned by,
			   bool with_inlined);
void sampled_result_close(struct sampled_result *result);

/* Has the reader give the samples of the event of that name, before they are read. NULL: those of
 * CPU time, or where the result has nothing of time, of its first event. path: of the result, for
 * messages. Returns 0, or the exit status after a message. */
int sampled_result_choose_event(struct profile_reader *reader, const char *path, const char *name);

/* Says that the samples cannot be read. Returns the exit status. */
int sampled_result_explain(const char *path, TBRW_U32 code);

#endif
