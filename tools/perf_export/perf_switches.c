#include "tools/perf_export/perf_switches.h"

#include "profile/read/reader.h"
#include "tools/memory/xalloc.h"
#include "tools/states/thread_states.h"
#include <stdlib.h>

/* What follows a stretch on a CPU: 2 bits each. */
enum following {
	FOLLOWED_BY_NOTHING, /* the thread's end, or the collection's */
	FOLLOWED_BY_RUNNING, /* the same stretch, in another record */
	FOLLOWED_BY_READY,
	FOLLOWED_BY_WAITING, /* or stopped, or nobody knows */
};

enum { BITS = 2, STRETCHES_OF_BYTE = 8 / BITS };

struct lane {
	uint64_t stretch; /* 1 + the number of that at hand; 0: it does not run */
	bool is_seen;
};

struct perf_switches {
	struct profile_reader *reader;
	const struct filter *filter;
	struct moment_queue *queue;
	struct thread_states states;
	struct lane *lanes;
	size_t lane_count;
	size_t lane_capacity;
	uint8_t *following;
	size_t following_capacity;
	uint64_t stretches; /* so far */
	bool is_done;
};

static struct lane *find_lane(struct perf_switches *switches, uint32_t index)
{
	xalloc_room(&switches->lanes, &switches->lane_capacity, (size_t)index + 1,
		    sizeof(*switches->lanes));
	while (switches->lane_count <= index)
		switches->lanes[switches->lane_count++] = (struct lane){0};
	return &switches->lanes[index];
}

static void begin_reading(struct perf_switches *switches)
{
	thread_states_init(&switches->states, switches->reader, switches->filter);
	switches->lane_count = 0;
	switches->stretches = 0;
}

static struct perf_moment describe(const struct perf_switches *switches,
				   const struct thread_state_piece *piece, uint64_t time_ns,
				   enum perf_moment_kind kind)
{
	const struct thread_state_lane *lane = &switches->states.lanes[piece->lane];
	struct perf_moment moment = {.time_ns = time_ns,
				     .pid = lane->tid,
				     .tid = lane->tid,
				     .cpu = (uint16_t)piece->cpu,
				     .kind = (uint8_t)kind};
	if (lane->thread != PROFILE_NONE)
		moment.pid = profile_reader_thread(switches->reader, lane->thread)->pid;
	return moment;
}

/* ---- What follows ---- */

static void set_following(struct perf_switches *switches, uint64_t stretch,
			  enum following following)
{
	unsigned shift = BITS * (unsigned)(stretch % STRETCHES_OF_BYTE);
	switches->following[stretch / STRETCHES_OF_BYTE] |= (uint8_t)(following << shift);
}

static enum following get_following(const struct perf_switches *switches, uint64_t stretch)
{
	unsigned shift = BITS * (unsigned)(stretch % STRETCHES_OF_BYTE);
	uint8_t byte = switches->following[stretch / STRETCHES_OF_BYTE];
	return (enum following)(byte >> shift & ((1 << BITS) - 1));
}

static enum following follow(enum profile_state state)
{
	switch (state) {
	case PROFILE_STATE_RUNNING:
		return FOLLOWED_BY_RUNNING;
	case PROFILE_STATE_READY:
		return FOLLOWED_BY_READY;
	default:
		return FOLLOWED_BY_WAITING;
	}
}

static void add_stretch(struct perf_switches *switches)
{
	size_t byte = (size_t)(switches->stretches / STRETCHES_OF_BYTE);
	xalloc_room(&switches->following, &switches->following_capacity, byte + 1, 1);
	if (switches->stretches % STRETCHES_OF_BYTE == 0)
		switches->following[byte] = 0;
	switches->stretches++;
}

/* A launched program's thread waits for its exec, before which there is no process. */
static uint64_t start_of_process(const struct perf_switches *switches,
				 const struct thread_state_piece *piece)
{
	const struct profile_reader *reader = switches->reader;
	uint32_t thread = switches->states.lanes[piece->lane].thread;
	uint32_t process = thread == PROFILE_NONE ? PROFILE_NONE
						  : profile_reader_thread(reader, thread)->process;
	if (process == PROFILE_NONE)
		return 0;
	return profile_reader_raw_ns(reader, profile_reader_process(reader, process)->start_tsc);
}

/* A thread waits when the collection starts. */
static void queue_first(struct perf_switches *switches, const struct thread_state_piece *piece)
{
	uint64_t start_ns = start_of_process(switches, piece);
	if (piece->state != PROFILE_STATE_BLOCKED && piece->state != PROFILE_STATE_STOPPED)
		return;
	if (start_ns < piece->start_ns)
		start_ns = piece->start_ns;
	struct perf_moment moment = describe(switches, piece, start_ns, PERF_MOMENT_LEAVES);
	if (start_ns < piece->end_ns)
		moment_queue_put(switches->queue, &moment);
}

static void look_at(const struct thread_state_piece *piece, void *user)
{
	struct perf_switches *switches = user;
	struct lane *lane = find_lane(switches, piece->lane);
	if (!lane->is_seen)
		queue_first(switches, piece);
	lane->is_seen = true;
	if (lane->stretch > 0)
		set_following(switches, lane->stretch - 1, follow(piece->state));
	lane->stretch = 0;
	if (piece->state == PROFILE_STATE_RUNNING) {
		add_stretch(switches);
		lane->stretch = switches->stretches;
	}
}

/* ---- The switches ---- */

/* Of a thread that ends, there is none: the kernel has no record of it either. */
static bool is_end_of_thread(const struct perf_switches *switches,
			     const struct thread_state_piece *piece)
{
	const struct profile_reader *reader = switches->reader;
	uint32_t thread = switches->states.lanes[piece->lane].thread;
	return thread != PROFILE_NONE &&
	       piece->end_ns >=
		       profile_reader_raw_ns(reader,
					     profile_reader_thread(reader, thread)->end_tsc);
}

static void queue_stretch(const struct thread_state_piece *piece, void *user)
{
	struct perf_switches *switches = user;
	struct lane *lane = find_lane(switches, piece->lane);
	bool goes_on = lane->stretch > 0;
	lane->stretch = 0;
	if (piece->state != PROFILE_STATE_RUNNING)
		return;
	enum following following = get_following(switches, switches->stretches++);
	if (!goes_on) {
		struct perf_moment moment =
			describe(switches, piece, piece->start_ns, PERF_MOMENT_RUNS);
		moment_queue_put(switches->queue, &moment);
	}
	if (following == FOLLOWED_BY_RUNNING) {
		lane->stretch = switches->stretches;
		return;
	}
	if (following == FOLLOWED_BY_NOTHING && is_end_of_thread(switches, piece))
		return;
	struct perf_moment moment =
		describe(switches, piece, piece->end_ns,
			 following == FOLLOWED_BY_WAITING ? PERF_MOMENT_LEAVES
							  : PERF_MOMENT_PREEMPTED);
	moment_queue_put(switches->queue, &moment);
}

TBRW_U32 perf_switches_create(struct profile_reader *reader, const struct filter *filter,
			      struct moment_queue *queue, struct perf_switches **created)
{
	struct perf_switches *switches = xalloc_zeroed(1, sizeof(*switches));
	*switches = (struct perf_switches){.reader = reader, .filter = filter, .queue = queue};
	*created = switches;
	begin_reading(switches);
	TBRW_U32 code = thread_states_read_all(&switches->states, look_at, switches);
	thread_states_finish(&switches->states);
	begin_reading(switches);
	return code;
}

void perf_switches_destroy(struct perf_switches *switches)
{
	if (!switches)
		return;
	thread_states_finish(&switches->states);
	free(switches->lanes);
	free(switches->following);
	free(switches);
}

TBRW_U32 perf_switches_read(struct perf_switches *switches)
{
	TBRW_U32 code;
	switches->is_done = !thread_states_read(&switches->states, queue_stretch, switches, &code);
	return code;
}

uint64_t perf_switches_known_ns(const struct perf_switches *switches)
{
	uint64_t end_ns = switches->states.last_end_ns;
	if (switches->is_done)
		return UINT64_MAX;
	return end_ns > PROFILE_SLICE_NS_MAX ? end_ns - PROFILE_SLICE_NS_MAX : 0;
}
