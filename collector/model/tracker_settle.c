/* At the end: gives CPU time counted by the events, but in no tick or final count, to the one
 * thread it can belong to. */
#include "collector/model/tracker_private.h"

enum { ANY_FAMILY = -1 };

static bool is_of(const struct thread *thread, int64_t family)
{
	return family == ANY_FAMILY || thread->family == family;
}

/* The only thread of a family, or of all, whose account is open; NULL: there is none, or more. */
static struct thread *find_open_account(struct tracker *tracker, int64_t family)
{
	struct thread *found = NULL;
	size_t position = 0;
	size_t count = 0;
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position));) {
		if (is_of(t, family) && tracker_has_open_account(tracker, t)) {
			found = t;
			count++;
		}
	}
	for (struct thread *t = tracker->open_accounts; t; t = t->next_ended) {
		if (is_of(t, family)) {
			found = t;
			count++;
		}
	}
	return count == 1 ? found : NULL;
}

/* The part in the kernel of a thread's time after its last ticks, over all rings: the excess over
 * the time possible between ticks. */
static uint64_t kernel_part_of_rest(const struct tracker *tracker, const struct thread *thread,
				    uint64_t rest_ns)
{
	uint64_t tick_ns = tracker->events->sampling.tick_ns;
	uint64_t rings = 0;
	for (size_t i = 0; i < thread->count_size; i++)
		rings += thread->counts[i].tick_ns != 0;
	rings = rings > 0 ? rings : 1;
	return tracker_has_unseen(tracker) && rest_ns > rings * tick_ns
		       ? rest_ns - rings * tick_ns / 2
		       : 0;
}

/* Gives the events' time beyond all ticks to its thread. */
static void settle_thread(struct tracker *tracker, struct thread *thread, uint64_t rest_ns)
{
	thread->cpu_ns += rest_ns;
	thread->rest_ns += tracker_is_random(tracker)
				   ? kernel_part_of_rest(tracker, thread, rest_ns)
				   : rest_ns;
	thread->is_exact = true;
	tracker->counts.cpu_ns += rest_ns;
}

/* Of the threads that are still there, and of those that ended. */
static void count_all_runs(struct tracker *tracker, uint32_t family)
{
	size_t position = 0;
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position));)
		if (is_of(t, family) && !t->is_exact)
			tracker_count_runs(tracker, t);
	for (struct thread *t = tracker->open_accounts; t; t = t->next_ended)
		if (is_of(t, family) && !t->is_exact)
			tracker_count_runs(tracker, t);
}

void tracker_settle(struct tracker *tracker, uint32_t family, uint64_t total_ns)
{
	if (tracker_has_runs(tracker) && family < tracker->family_count)
		count_all_runs(tracker, family);
	if (family >= tracker->family_count || total_ns < tracker->families[family].cpu_ns)
		return;
	uint64_t rest_ns = total_ns - tracker->families[family].cpu_ns;
	bool is_clear =
		tracker_has_final_counts(tracker) || !tracker->families[family].has_descendants;
	struct thread *thread = is_clear ? find_open_account(tracker, family) : NULL;
	tracker->families[family].cpu_ns = total_ns;
	if (thread) {
		settle_thread(tracker, thread, rest_ns);
		return;
	}
	tracker->open_ns += rest_ns;
	tracker->counts.unattributed_ns += rest_ns;
}

void tracker_add_unattributed(struct tracker *tracker, uint64_t cpu_ns, uint64_t total_ns)
{
	uint64_t known = tracker->counts.cpu_ns + tracker->counts.unattributed_ns;
	uint64_t missing_ns = total_ns > known ? total_ns - known : 0;
	/* Without losses, unknown accounts are of threads from before or after the collection. */
	cpu_ns += tracker->counts.lost > 0 ? tracker->unknown_ns : 0;
	tracker->unknown_ns = 0;
	tracker->counts.unattributed_ns += cpu_ns < missing_ns ? cpu_ns : missing_ns;
}

void tracker_settle_all(struct tracker *tracker, uint64_t total_ns)
{
	uint64_t known = tracker->counts.cpu_ns + tracker->counts.unattributed_ns;
	struct thread *thread =
		tracker_is_exact(tracker) ? find_open_account(tracker, ANY_FAMILY) : NULL;
	if (total_ns <= known) {
		tracker->counts.beyond_ns = tracker_is_exact(tracker) ? 0 : known - total_ns;
		return;
	}
	if (thread)
		settle_thread(tracker, thread, total_ns - known);
	else
		tracker->counts.unattributed_ns += total_ns - known;
}
