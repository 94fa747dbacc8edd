/* Running `tbconvert finalize` on a result: symbols are not the collector's business. */
#ifndef COLLECTOR_SESSION_FINALIZE_H
#define COLLECTOR_SESSION_FINALIZE_H

#include <stdbool.h>
#include <sys/types.h>

/* Runs the tbconvert beside this program (or in ../tools of a build tree, or in PATH). any_owner:
 * whoever owns the result; otherwise tbconvert refuses a result not ours by now. Returns its
 * process, for finalize_has_ended; -1 when it could not be run. */
pid_t finalize_start(const char *result, bool any_owner);

/* Whether tbconvert ended; then *status is its exit status, or 128 + its ending signal's number. */
bool finalize_has_ended(pid_t pid, int *status);

#endif
