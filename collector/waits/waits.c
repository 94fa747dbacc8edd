#include "collector/waits/waits.h"

#include "collector/perf/record.h"
#include "collector/result/emit.h"
#include "collector/waits/waits_private.h"
#include <stdio.h>
#include <stdlib.h>

struct waits *waits_create(const struct waits_config *config, struct tracker *tracker,
			   struct stacks *stacks, struct emit *emit)
{
	struct waits *waits = calloc(1, sizeof(*waits));
	if (!waits)
		return NULL;
	waits->config = *config;
	waits->tracker = tracker;
	waits->stacks = stacks;
	waits->emit = emit;
	wait_objects_init(&waits->objects, stacks, emit);
	looked_waits_init(&waits->looked);
	sync_threads_init(&waits->sync_threads);
	sync_objects_init(&waits->sync_objects);
	bpf_waits_init(&waits->bpf);
	return waits;
}

void waits_destroy(struct waits *waits)
{
	if (!waits)
		return;
	wait_objects_finish(&waits->objects);
	looked_waits_finish(&waits->looked);
	sync_threads_finish(&waits->sync_threads);
	sync_objects_finish(&waits->sync_objects);
	sync_waits_finish(&waits->sync_waits);
	bpf_waits_finish(&waits->bpf);
	free(waits);
}

void waits_begin(struct waits *waits, uint64_t start_ns)
{
	waits->start_ns = start_ns;
}

void waits_choose(struct waits *waits, enum profile_wait_source source, uint64_t threshold_ns)
{
	waits->config.source = source;
	waits->config.threshold_ns = threshold_ns;
}

/* Where BPF tells the waits, nobody looks, and switches say nothing new. */
static void apply_bpf(struct waits *waits, const struct record *record)
{
	switch (record->kind) {
	case RECORD_WAKE:
		bpf_waits_wake(waits, record);
		break;
	case RECORD_WAIT:
		bpf_waits_wait(waits, record);
		break;
	case RECORD_EXIT:
	case RECORD_FORK: /* of an id whose exit was lost */
		bpf_waits_end_thread(&waits->bpf, record);
		break;
	default:
		break;
	}
}

static void apply_observer(struct waits *waits, const struct record *record,
			   const struct waits_state *state)
{
	switch (record->kind) {
	case RECORD_LOOK:
		looked_waits_look(waits, record, state);
		break;
	case RECORD_SWITCH:
		looked_waits_switch(waits, record, state);
		break;
	case RECORD_EXIT:
	case RECORD_FORK: /* of an id whose exit was lost */
		looked_waits_end_thread(waits, record);
		if (record->pid == record->tid)
			looked_waits_forget_process(&waits->looked, record->pid);
		break;
	case RECORD_COMM:
		if (record->comm.exec)
			looked_waits_forget_process(&waits->looked, record->pid);
		break;
	case RECORD_LOST:
		if (record->has_lost_switches)
			looked_waits_lose(&waits->looked, record->time_ns);
		break;
	default:
		break;
	}
}

/* Of the library in the target, beside either source. For an ended thread, or the process of one
 * that ended, nothing holds any more. */
static void apply_library(struct waits *waits, const struct record *record,
			  const struct waits_state *state)
{
	switch (record->kind) {
	case RECORD_SYNC_WAIT:
	case RECORD_SYNC_WAKE:
	case RECORD_SYNC_NEW:
		sync_waits_apply(waits, record, state);
		break;
	case RECORD_SWITCH:
		sync_threads_switch(waits, record, state);
		break;
	case RECORD_LOST:
		if (record->has_lost_switches)
			waits->sync_threads.lost_ns = record->time_ns;
		break;
	case RECORD_EXIT:
	case RECORD_FORK:
		sync_threads_end(waits, record->tid);
		if (record->pid == record->tid &&
		    sync_threads_forget(&waits->sync_threads, record->pid))
			sync_objects_forget(&waits->sync_objects, record->pid);
		break;
	default:
		break;
	}
}

void waits_apply(struct waits *waits, const struct record *record, const struct waits_state *state)
{
	if (record->time_ns > waits->now_ns)
		waits->now_ns = record->time_ns;
	sync_waits_advance(waits);
	if (waits->config.source == PROFILE_WAIT_BY_BPF)
		apply_bpf(waits, record);
	else
		apply_observer(waits, record, state);
	apply_library(waits, record, state);
}

static void note_refused(const struct waits *waits, uint64_t end_ns)
{
	char text[120];
	if (waits->objects.refused == 0)
		return;
	snprintf(text, sizeof(text),
		 "%llu waits are for unknown objects: no room for more than %u distinct ones",
		 (unsigned long long)waits->objects.refused, waits->objects.table.count);
	emit_note(waits->emit, PROFILE_NOTE_WARNING, end_ns, .text = text);
}

static void note_left_out(const struct waits *waits, uint64_t end_ns)
{
	char text[160];
	if (waits->left_out == 0)
		return;
	snprintf(text, sizeof(text),
		 "waits for files, sockets, terminals and pages of memory were left out "
		 "(io-waits = off): %llu, whose time is among the short waits",
		 (unsigned long long)waits->left_out);
	emit_note(waits->emit, PROFILE_NOTE_WARNING, end_ns, .text = text);
}

uint64_t waits_stale_looks(const struct waits *waits)
{
	return waits->looked.stale;
}

void waits_lose_rest(struct waits *waits)
{
	looked_waits_lose(&waits->looked, waits->now_ns);
	waits->sync_threads.lost_ns = waits->now_ns;
}

void waits_leave(struct waits *waits, uint32_t pid, uint32_t tid, const struct waits_state *state,
		 uint64_t end_ns)
{
	if (waits->config.source == PROFILE_WAIT_BY_OBSERVER)
		looked_waits_leave(waits, pid, tid, state, end_ns);
}

void waits_end(struct waits *waits, uint64_t end_ns)
{
	sync_waits_end(waits, end_ns);
	looked_waits_end(waits, end_ns);
	bpf_waits_end(waits, end_ns);
	sync_threads_put_all(waits);
	note_refused(waits, end_ns);
	note_left_out(waits, end_ns);
}
