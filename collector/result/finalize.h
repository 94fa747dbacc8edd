/* Running `tbconvert finalize` on a result: symbols are not the collector's business. */
#ifndef COLLECTOR_RESULT_FINALIZE_H
#define COLLECTOR_RESULT_FINALIZE_H

#include <stdbool.h>
#include <sys/types.h>

/* Runs the tbconvert that lies beside this program (or in ../tools of a build tree, or in PATH).
 * any_owner: whomever the result belongs to; else it refuses one that is not ours by now. Its
 * process, which finalize_has_ended waits for; -1 when it could not be run. */
pid_t finalize_start(const char *result, bool any_owner);

/* Whether it ended; then *status is its exit status, or 128 + number of the signal that ended it.
 */
bool finalize_has_ended(pid_t pid, int *status);

/* A signal that ends programs ends finalization at once. */
bool finalize_ends_by(int number);

#endif
