#include "tools/waits/wall.h"

#include "profile/read/reader.h"
#include "profile/read/states.h"
#include "tools/memory/xalloc.h"
#include "tools/states/thread_states.h"
#include <stdlib.h>
#include <string.h>

/* Between two readings of a clock: that of a slice's boundary and that of a wait's. */
#define READINGS_NS 1000u

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static void add_lane(struct wall_thread *account, const struct thread_state_lane *lane)
{
	account->life_ns += thread_states_life_ns(lane);
	account->running_ns += lane->ns[PROFILE_STATE_RUNNING];
	account->ready_ns += lane->ns[PROFILE_STATE_READY];
	account->short_ns += lane->ns[PROFILE_STATE_BLOCKED];
	account->stopped_ns += lane->ns[PROFILE_STATE_STOPPED];
	account->unknown_ns += lane->ns[PROFILE_STATE_UNKNOWN];
	account->short_count += lane->waits;
	account->has_states |= lane->slices > 0;
}

/* What waits account for is no longer short, or unknown. */
static void take_waits(struct wall_thread *account, const struct waits_thread *waits,
		       bool knows_wakes)
{
	uint64_t *blocked_ns = account->has_states ? &account->short_ns : &account->unknown_ns;
	account->wait_ns = at_most(waits->wait_ns, *blocked_ns);
	*blocked_ns -= account->wait_ns;
	account->excess_ns = waits->wait_ns - account->wait_ns;
	account->short_count = less(account->short_count, waits->blocks);
	if (!knows_wakes) {
		uint64_t ready_ns = at_most(waits->ready_ns, *blocked_ns);
		*blocked_ns -= ready_ns;
		account->ready_ns += ready_ns;
	}
	/* No time of short waits where there is none. Each block has two boundaries. */
	if (account->has_states && account->short_count == 0 && waits->wait_ns > 0 &&
	    account->short_ns <= 2 * READINGS_NS * waits->blocks) {
		account->lack_ns = account->short_ns;
		account->wait_ns += account->short_ns;
		account->short_ns = 0;
	}
}

static void add_account(struct wall_thread *sum, const struct wall_thread *more)
{
	sum->life_ns += more->life_ns;
	sum->running_ns += more->running_ns;
	sum->ready_ns += more->ready_ns;
	sum->wait_ns += more->wait_ns;
	sum->short_ns += more->short_ns;
	sum->stopped_ns += more->stopped_ns;
	sum->unknown_ns += more->unknown_ns;
	sum->short_count += more->short_count;
	sum->excess_ns += more->excess_ns;
	sum->lack_ns += more->lack_ns;
	sum->has_states |= more->has_states;
}

static uint64_t part_of(uint64_t value, uint64_t part, uint64_t whole)
{
	return whole > 0 ? (uint64_t)((unsigned __int128)value * part / whole) : 0;
}

/* Of a whole that is given out in pieces, one after the other: what the pieces so far stand for. */
struct dividing {
	uint64_t given;
	uint64_t part_given;
};

/* Each entry's part of its thread's wait_ns: all of it, but where records say more than the slices,
 * or, within the clocks' readings, less.
 * The parts of all entries of a thread add up exactly. */
static void divide_waits(struct wall *wall)
{
	const struct waits *waits = &wall->waits;
	struct dividing *threads = xalloc_zeroed((size_t)wall->thread_count + 1, sizeof(*threads));
	wall->wait_ns = xalloc_zeroed(waits->count, sizeof(*wall->wait_ns));
	for (size_t i = 0; i < waits->count; i++) {
		const struct waits_entry *entry = &waits->entries[i];
		uint32_t index = entry->thread == PROFILE_NONE ? wall->thread_count : entry->thread;
		struct dividing *thread = &threads[index];
		thread->given += entry->sum.wait_ns;
		uint64_t part_ns = part_of(thread->given, wall->threads[index].wait_ns,
					   waits->threads[index].wait_ns);
		wall->wait_ns[i] = part_ns - thread->part_given;
		thread->part_given = part_ns;
	}
	free(threads);
}

/* The lanes of threads with a record are those of the reader, by index. */
static void account_lanes(struct wall *wall, const struct thread_states *states, bool knows_wakes)
{
	wall->threads = xalloc_zeroed((size_t)wall->thread_count + 1, sizeof(*wall->threads));
	for (size_t i = 0; i < states->lane_count; i++) {
		size_t index = i < wall->thread_count ? i : wall->thread_count;
		if (states->lanes[i].is_taken)
			add_lane(&wall->threads[index], &states->lanes[i]);
	}
	for (uint32_t i = 0; i <= wall->thread_count; i++) {
		take_waits(&wall->threads[i], &wall->waits.threads[i], knows_wakes);
		add_account(&wall->sum, &wall->threads[i]);
	}
}

/* Longer waits may be among the short ones where waits were lost, nobody might look at a process,
 * or nobody looked. */
static const char *choose_short_label(const struct profile_reader *reader)
{
	bool is_all_seen = profile_reader_wait_sources(reader) != 0;
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		uint32_t kind = profile_reader_note(reader, i)->kind;
		if (kind == PROFILE_NOTE_WAITS_LOST || kind == PROFILE_NOTE_WAITS_HIDDEN)
			is_all_seen = false;
	}
	return is_all_seen ? "[Short waits]" : "[Short and unseen waits]";
}

TBRW_U32 wall_collect(struct wall *wall, struct profile_reader *reader,
		      const struct functions *functions, const struct filter *filter,
		      uint32_t target)
{
	struct thread_states states;
	*wall = (struct wall){.thread_count = profile_reader_thread_count(reader),
			      .short_label = choose_short_label(reader)};
	TBRW_U32 code = result_waits_collect(&wall->waits, reader, functions, filter, target);
	if (code != VT_SUCCESS)
		return code;
	thread_states_init(&states, reader, filter);
	code = thread_states_read_all(&states, NULL, NULL);
	if (code == VT_SUCCESS) {
		account_lanes(wall, &states, profile_reader_states(reader) & PROFILE_STATES_WAKES);
		divide_waits(wall);
	}
	thread_states_finish(&states);
	if (code != VT_SUCCESS)
		wall_finish(wall);
	return code;
}

void wall_finish(struct wall *wall)
{
	result_waits_finish(&wall->waits);
	free(wall->wait_ns);
	free(wall->threads);
	memset(wall, 0, sizeof(*wall));
}
