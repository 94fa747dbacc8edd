#include "collector/analysis/analyzer.h"

#include "collector/analysis/hotspots.h"
#include "collector/context/stacks.h"
#include "collector/model/tracker_sampled.h"
#include "collector/perf/record.h"
#include "collector/states/states.h"
#include "collector/waits/waits.h"
#include <stdlib.h>

struct analyzer {
	struct analysis_config config;
	struct tracker *tracker;
	struct stacks *stacks; /* for all: a result has one tree of them */
	struct states *states; /* NULL: not wanted */
	struct waits *waits;   /* likewise */
	struct hotspots *hotspots;
};

static bool create_parts(struct analyzer *analyzer, struct emit *emit)
{
	const struct analysis_config *config = &analyzer->config;
	const struct waits_config waits = {config->wait_source,      config->wait_threshold_ns,
					   config->without_children, config->without_io_waits,
					   !config->unwind,          config->library};
	analyzer->stacks = stacks_create(emit, config->collapse);
	if (!analyzer->stacks)
		return false;
	analyzer->hotspots = hotspots_create(config, analyzer->tracker, analyzer->stacks, emit);
	if (config->switches)
		analyzer->states = states_create(analyzer->tracker, emit);
	if (analyzer->states && config->lead)
		states_follow_lead(analyzer->states, config->lead);
	if (config->waits)
		analyzer->waits = waits_create(&waits, analyzer->tracker, analyzer->stacks, emit);
	return analyzer->hotspots && !config->switches == !analyzer->states &&
	       !config->waits == !analyzer->waits;
}

struct analyzer *analyzer_create(const struct analysis_config *config, struct tracker *tracker,
				 struct emit *emit)
{
	struct analyzer *analyzer = calloc(1, sizeof(*analyzer));
	if (!analyzer)
		return NULL;
	analyzer->config = *config;
	analyzer->tracker = tracker;
	if (!create_parts(analyzer, emit)) {
		analyzer_destroy(analyzer);
		return NULL;
	}
	return analyzer;
}

void analyzer_destroy(struct analyzer *analyzer)
{
	if (!analyzer)
		return;
	waits_destroy(analyzer->waits);
	hotspots_destroy(analyzer->hotspots);
	states_destroy(analyzer->states);
	stacks_destroy(analyzer->stacks);
	free(analyzer);
}

void analyzer_begin(struct analyzer *analyzer, uint64_t start_ns)
{
	if (analyzer->states)
		states_begin(analyzer->states, start_ns);
	if (analyzer->waits)
		waits_begin(analyzer->waits, start_ns);
}

void analyzer_choose_waits(struct analyzer *analyzer, enum profile_wait_source source,
			   uint64_t threshold_ns)
{
	if (analyzer->waits)
		waits_choose(analyzer->waits, source, threshold_ns);
}

static struct waits_state find_state(const struct analyzer *analyzer, uint32_t tid)
{
	struct states_now now;
	if (!analyzer->states || !states_find(analyzer->states, tid, &now))
		return (struct waits_state){.state = PROFILE_STATE_UNKNOWN};
	return (struct waits_state){now.state, now.since_ns};
}

static void apply_waits(struct analyzer *analyzer, const struct record *record)
{
	struct waits_state state = {.state = PROFILE_STATE_UNKNOWN};
	if (record->kind == RECORD_SWITCH || record->kind == RECORD_LOOK ||
	    record->kind == RECORD_SYNC_WAIT)
		state = find_state(analyzer, record->tid);
	waits_apply(analyzer->waits, record, &state);
}

/* The tracker, and all that follow it, are for those of rings. */
static bool is_of_no_ring(const struct record *record)
{
	return record->kind == RECORD_LOOK || record->kind == RECORD_SYNC_WAIT ||
	       record->kind == RECORD_SYNC_WAKE || record->kind == RECORD_SYNC_NEW;
}

void analyzer_apply(struct analyzer *analyzer, const struct record *record)
{
	if (analyzer->waits)
		apply_waits(analyzer, record);
	if (analyzer->states && record->kind == RECORD_LOOK && record->look.is_stopped)
		states_note_stop(analyzer->states, record->tid, record->look.call.begin_ns);
	if (is_of_no_ring(record))
		return;
	tracker_apply(analyzer->tracker, record);
	if (analyzer->states)
		states_apply(analyzer->states, record);
	if (analyzer->states && record->kind == RECORD_WAIT && record->wait.woken_ns > 0)
		states_note_wake(analyzer->states, record->tid, record->wait.woken_ns);
	hotspots_apply(analyzer->hotspots, record);
}

void analyzer_note_wake(struct analyzer *analyzer, uint32_t tid, uint64_t woken_ns)
{
	if (analyzer->states)
		states_note_wake(analyzer->states, tid, woken_ns);
}

void analyzer_put_unended(struct analyzer *analyzer, const struct waits_unended *unended,
			  uint64_t end_ns)
{
	struct waits_state state = find_state(analyzer, unended->tid);
	if (analyzer->waits)
		waits_put_unended(analyzer->waits, unended, &state, end_ns);
}

void analyzer_lose_rest(struct analyzer *analyzer)
{
	if (analyzer->states)
		states_lose_rest(analyzer->states);
	if (analyzer->waits)
		waits_lose_rest(analyzer->waits);
}

static void end_waits(struct analyzer *analyzer, uint64_t end_ns)
{
	size_t position = 0;
	for (const struct thread *t; (t = tracker_next_thread(analyzer->tracker, &position));) {
		struct waits_state state = find_state(analyzer, t->tid);
		/* The program of one that is launched did not begin. */
		if (!t->is_launched)
			waits_leave(analyzer->waits, t->pid, t->tid, &state, end_ns);
	}
	waits_end(analyzer->waits, end_ns);
}

void analyzer_finish(struct analyzer *analyzer, uint64_t end_ns)
{
	if (analyzer->waits)
		end_waits(analyzer, end_ns);
	if (analyzer->states)
		states_finish(analyzer->states, end_ns);
	tracker_finish(analyzer->tracker);
	if (analyzer->config.unwind)
		stacks_emit(analyzer->stacks);
}

uint64_t analyzer_stale_looks(const struct analyzer *analyzer)
{
	return analyzer->waits ? waits_stale_looks(analyzer->waits) : 0;
}

struct states *analyzer_states(const struct analyzer *analyzer)
{
	return analyzer->states;
}
