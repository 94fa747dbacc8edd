/* Running `tbconvert finalize` on a result: symbols are not the collector's business. */
#ifndef COLLECTOR_FINALIZE_H
#define COLLECTOR_FINALIZE_H

/* Runs the tbconvert that lies beside this program (or in ../tools of a build tree, or in PATH)
 * and waits for it. Its exit status; -1 when it could not be run. */
int finalize_run(const char *result);

#endif
