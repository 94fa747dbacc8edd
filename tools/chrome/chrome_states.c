#include "tools/chrome/chrome_states.h"

#include "profile/read/reader.h"
#include "tools/functions/functions.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include "tools/stacks/weighted_stacks.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Stacks stand with each wait: so much of them. */
#define STACK_FUNCTIONS_MAX 32u

static const char *const state_names[] = {
	[PROFILE_STATE_UNKNOWN] = "Unknown", [PROFILE_STATE_RUNNING] = "Running",
	[PROFILE_STATE_READY] = "Ready",     [PROFILE_STATE_BLOCKED] = "Blocked",
	[PROFILE_STATE_STOPPED] = "Stopped",
};

void chrome_states_finish(struct chrome_states *states)
{
	call_path_finish(&states->path);
}

/* Readers show arguments as texts of one line. */
static void write_stack(struct chrome_states *states, const char *name, uint32_t node,
			uint32_t state)
{
	const struct weighted_stacks *stacks = states->timelines->stacks;
	if (node == 0)
		return;
	call_path_of_stack(&states->path, stacks->reader, stacks->functions, node, state,
			   CALL_PATH_ALL);
	char *text = call_path_text(&states->path, stacks->functions, STACK_FUNCTIONS_MAX);
	json_write_text(states->json, name, text);
	free(text);
}

static void write_waker(struct chrome_states *states, const struct life_wait *wait)
{
	const struct profile_reader *reader = states->timelines->stacks->reader;
	if (wait->waker_thread == PROFILE_NONE)
		return;
	const struct profile_thread_info *info = profile_reader_thread(reader, wait->waker_thread);
	char *name = xalloc_printf("%s (TID %" PRIu32 ")",
				   tally_thread_name(reader, wait->waker_thread), info->tid);
	json_write_text(states->json, "woken by", name);
	free(name);
	write_stack(states, "waker's stack", wait->waker_node, wait->waker_state);
}

static void write_wait(struct chrome_states *states, const struct life_wait *wait)
{
	struct json_writer *json = states->json;
	json_open_object(json, "args");
	json_write_text(json, "type", lives_wait_type(states->lives, wait));
	write_stack(states, "stack", wait->node, wait->state);
	write_waker(states, wait);
	chrome_write_us(json, "wait_us", wait->wait_ns);
	if (wait->ready_ns > 0)
		chrome_write_us(json, "ready_us", wait->ready_ns);
	if (wait->spin_ns > 0)
		chrome_write_us(json, "spin_us", wait->spin_ns);
	if (wait->flags & PROFILE_WAIT_TIMED_OUT)
		json_write_bool(json, "timed out", true);
	json_close_object(json);
}

static void write_slice(struct chrome_states *states, const struct chrome_thread *thread,
			const struct life_piece *piece)
{
	struct json_writer *json = states->json;
	chrome_open_event(json, "X",
			  piece->wait ? lives_wait_name(states->lives, piece->wait)
				      : state_names[piece->state],
			  thread);
	json_write_text(json, "cat", piece->wait ? "wait" : "state");
	chrome_write_us(json, "ts", piece->start_ns);
	chrome_write_us(json, "dur", piece->end_ns - piece->start_ns);
	if (piece->wait)
		write_wait(states, piece->wait);
	json_close_object(json);
}

static struct chrome_thread find_waker(const struct chrome_states *states, uint32_t thread)
{
	const struct timelines *timelines = states->timelines;
	const struct profile_thread_info *info =
		profile_reader_thread(timelines->stacks->reader, thread);
	const struct timeline timeline =
		{.pid = info->pid,
		 .tid = info->tid,
		 .earlier_processes = info->process == PROFILE_NONE
					      ? 0
					      : timelines->earlier_processes[info->process],
		 .earlier_threads = timelines->earlier_threads[thread]};
	return chrome_thread_of(&timeline);
}

static void write_flow_end(struct chrome_states *states, const char *phase,
			   const struct chrome_thread *thread, uint64_t time_ns)
{
	struct json_writer *json = states->json;
	chrome_open_event(json, phase, "wakes", thread);
	json_write_text(json, "cat", "wait");
	json_write_number(json, "id", states->flows);
	/* At the slice around it, not at the next one. */
	json_write_text(json, "bp", "e");
	chrome_write_us(json, "ts", time_ns);
	json_close_object(json);
}

/* From the waker's slice to the one in which the thread waited. */
static void write_flow(struct chrome_states *states, const struct chrome_thread *thread,
		       const struct life_piece *piece)
{
	uint32_t waker_thread = piece->wait->waker_thread;
	uint64_t woken_ns = piece->wait->start_ns + piece->wait->wait_ns;
	if (!piece->ends_wait || !lives_has(states->lives, waker_thread))
		return;
	const struct chrome_thread waker = find_waker(states, waker_thread);
	if (piece->wait->blocks > 1 || woken_ns < piece->start_ns || woken_ns >= piece->end_ns)
		woken_ns = piece->end_ns - 1;
	states->flows++;
	write_flow_end(states, "s", &waker, woken_ns);
	write_flow_end(states, "f", thread, woken_ns);
}

void chrome_states_write(struct chrome_states *states, uint32_t index,
			 const struct chrome_thread *thread)
{
	struct life_piece piece;
	lives_rewind(states->lives, index);
	while (lives_next(states->lives, &piece)) {
		write_slice(states, thread, &piece);
		if (piece.wait)
			write_flow(states, thread, &piece);
	}
}
