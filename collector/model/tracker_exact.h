/* The accounts that the kernel keeps and BPF sends (tracker_is_exact). */
#ifndef COLLECTOR_MODEL_TRACKER_EXACT_H
#define COLLECTOR_MODEL_TRACKER_EXACT_H

#include "collector/model/thread.h"
#include "collector/model/tracker.h"

/* Has what a thread used before now be no part of its account. attach: it lacks the account if that
 * cannot be read any more. */
void tracker_begin_account(const struct tracker *tracker, struct thread *thread, bool attach);

void tracker_apply_account(struct tracker *tracker, const struct record *record);

/* The thread that an account, or a sample of its end, is of; NULL: it is not known, or its account
 * was read before. */
struct thread *tracker_waiting(const struct tracker *tracker, const struct record *record);

/* By an exec, thread before got the id of the first thread of process pid, which ended, and the
 * kernel gave that one its. */
void tracker_rename_account(struct tracker *tracker, struct thread *before, uint32_t pid);

#endif
