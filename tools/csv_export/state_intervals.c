#include "tools/csv_export/state_intervals.h"

#include "profile/read/reader.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/stacks/weighted_stacks.h"
#include "tools/states/thread_states.h"
#include <stdlib.h>

/* The interval at hand of a thread; its end is not behind its start: there is none. */
struct open_interval {
	uint64_t start_ns;
	uint64_t end_ns;
	enum profile_state state;
};

struct state_intervals {
	struct thread_states states;
	const struct profile_reader *reader;
	struct open_interval *lanes;
	size_t count;
	size_t capacity;
	unsigned wanted;
	state_interval_callback *take;
	void *user;
};

bool state_intervals_are_known(const struct weighted_stacks *stacks)
{
	return profile_reader_states(stacks->reader) != 0 &&
	       !filter_needs_function(stacks->filter) && !filter_has_tasks(stacks->filter);
}

static void end_interval(const struct state_intervals *intervals, size_t index)
{
	const struct open_interval *open = &intervals->lanes[index];
	const struct thread_state_lane *lane = &intervals->states.lanes[index];
	if (open->start_ns >= open->end_ns)
		return;
	struct running_interval interval = {open->start_ns, open->end_ns, 0, lane->tid};
	if (lane->thread != PROFILE_NONE)
		interval.pid = profile_reader_thread(intervals->reader, lane->thread)->pid;
	intervals->take(&interval, open->state, intervals->user);
}

static void take_piece(const struct thread_state_piece *piece, void *user)
{
	struct state_intervals *intervals = user;
	xalloc_room(&intervals->lanes, &intervals->capacity, (size_t)piece->lane + 1,
		    sizeof(*intervals->lanes));
	while (intervals->count <= piece->lane)
		intervals->lanes[intervals->count++] = (struct open_interval){0};
	struct open_interval *open = &intervals->lanes[piece->lane];
	if (open->end_ns == piece->start_ns && open->state == piece->state &&
	    open->start_ns < open->end_ns) {
		open->end_ns = piece->end_ns;
		return;
	}
	end_interval(intervals, piece->lane);
	*open = (struct open_interval){piece->start_ns, piece->end_ns, piece->state};
	if (!(intervals->wanted & 1u << piece->state))
		open->start_ns = open->end_ns;
}

TBRW_U32 state_intervals_each(struct weighted_stacks *stacks, unsigned states,
			      state_interval_callback *take, void *user)
{
	struct state_intervals intervals = {.reader = stacks->reader,
					    .wanted = states,
					    .take = take,
					    .user = user};
	thread_states_init(&intervals.states, stacks->reader, stacks->filter);
	TBRW_U32 code = thread_states_read_all(&intervals.states, take_piece, &intervals);
	for (size_t i = 0; i < intervals.count; i++)
		end_interval(&intervals, i);
	thread_states_finish(&intervals.states);
	free(intervals.lanes);
	return code;
}
