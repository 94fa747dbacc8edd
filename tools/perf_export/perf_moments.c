#include "tools/perf_export/perf_moments.h"

#include "profile/read/states.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/perf_export/moment_queue.h"
#include "tools/perf_export/perf_switches.h"
#include "tools/perf_export/perf_waits.h"
#include "tools/stacks/weighted_stacks.h"
#include <stdlib.h>

/* 64 MB */
enum { MOMENTS_MAX = 2 << 20 };
_Static_assert(MOMENTS_MAX * sizeof(struct perf_moment) == 64 << 20, "no padding");

struct perf_moments {
	struct moment_queue queue;
	struct perf_switches *switches; /* NULL: there are none, or they are not wanted */
	struct perf_waits *waits;       /* likewise */
	TBRW_U32 code;
};

TBRW_U32 perf_moments_create(struct weighted_stacks *stacks, struct perf_moments **created)
{
	struct perf_moments *moments = xalloc_zeroed(1, sizeof(*moments));
	const struct filter *filter = stacks->filter;
	bool is_of_states = !filter_needs_function(filter) && !filter_has_tasks(filter);
	*created = moments;
	if (is_of_states && profile_reader_states(stacks->reader) != 0)
		moments->code = perf_switches_create(stacks->reader, filter, &moments->queue,
						     &moments->switches);
	if (moments->code == VT_SUCCESS && profile_reader_wait_sources(stacks->reader) != 0)
		moments->code = perf_waits_create(stacks, &moments->queue, &moments->waits);
	return moments->code;
}

void perf_moments_destroy(struct perf_moments *moments)
{
	if (!moments)
		return;
	perf_switches_destroy(moments->switches);
	perf_waits_destroy(moments->waits);
	moment_queue_finish(&moments->queue);
	free(moments);
}

bool perf_moments_next(struct perf_moments *moments, uint64_t until_ns, struct perf_moment *moment)
{
	while (moments->code == VT_SUCCESS) {
		uint64_t switches_ns =
			moments->switches ? perf_switches_known_ns(moments->switches) : UINT64_MAX;
		uint64_t waits_ns =
			moments->waits ? perf_waits_known_ns(moments->waits) : UINT64_MAX;
		uint64_t known_ns = switches_ns < waits_ns ? switches_ns : waits_ns;
		bool is_full = moments->queue.count >= MOMENTS_MAX;
		const struct perf_moment *first = moment_queue_first(&moments->queue);
		if (first && first->time_ns <= until_ns &&
		    (first->time_ns <= known_ns || is_full)) {
			*moment = moment_queue_take(&moments->queue);
			return true;
		}
		if (is_full || known_ns >= until_ns)
			return false;
		moments->code = switches_ns <= waits_ns ? perf_switches_read(moments->switches)
							: perf_waits_read(moments->waits);
	}
	return false;
}

TBRW_U32 perf_moments_code(const struct perf_moments *moments)
{
	return moments->code;
}
