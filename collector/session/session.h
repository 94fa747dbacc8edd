/* One collection from start to end: launch or attach, sample, write, finish. */
#ifndef COLLECTOR_SESSION_SESSION_H
#define COLLECTOR_SESSION_SESSION_H

#include "collector/message/failure.h"
#include "collector/options/options.h"

/* Runs a session. *exit_status: the program's at launch, 0 after attaching. -1: failure is set; a
 * started program has run to its end all the same, and the data written so far is readable. */
int session_run(const struct options *options, int *exit_status, struct failure *failure);

#endif
