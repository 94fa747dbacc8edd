/* One collection from start to end: launch or attach, sample, write, finish. */
#ifndef COLLECTOR_SESSION_SESSION_H
#define COLLECTOR_SESSION_SESSION_H

#include "collector/machine/failure.h"
#include "collector/session/options.h"

/* Runs it. *exit_status: the program's at launch, 0 after attaching. -1: failure is set; a program
 * that was started has run to its end all the same, and what was written of the result is
 * readable. */
int session_run(const struct options *options, int *exit_status, struct failure *failure);

#endif
