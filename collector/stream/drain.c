#include "collector/stream/drain.h"

#include "collector/machine/clock.h"
#include "collector/perf/record.h"
#include "collector/perf/sampler.h"
#include "collector/stream/assembly.h"
#include "collector/stream/drain_private.h"
#include "collector/stream/merge.h"
#include "collector/stream/queue.h"
#include "collector/stream/record_copy.h"
#include "collector/stream/switch_source.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct merge *create_merge(struct drain *drain)
{
	const struct sampler *sampler = drain->sampler;
	size_t count = sampler->cpus.count;
	drain->format = event_format(&sampler->config);
	drain->sources = calloc(2 * count, sizeof(*drain->sources));
	drain->switches = sampler->switches ? calloc(count, sizeof(*drain->switches)) : NULL;
	if (!drain->sources || (sampler->switches && !drain->switches))
		return NULL;
	for (size_t i = 0; i < count; i++)
		drain->sources[i] =
			(struct source){&source_ring, &sampler->rings[i], &drain->format};
	for (size_t i = 0; drain->switches && i < count; i++) {
		switch_source_begin(&drain->switches[i], sampler->switches,
				    sampler->cpus.numbers[i]);
		drain->sources[count + i] =
			(struct source){&source_switches, &drain->switches[i], NULL};
	}
	drain->source_count = drain->switches ? 2 * count : count;
	return merge_create(drain->sources, drain->source_count);
}

struct drain *drain_create(struct sampler *sampler)
{
	size_t count = sampler->cpus.count;
	struct drain *drain = calloc(1, sizeof(*drain));
	if (!drain)
		return NULL;
	drain->sampler = sampler;
	drain->share = SAMPLING_SHARE_ALL;
	pthread_mutex_init(&drain->lock, NULL);
	drain->queue = queue_create();
	drain->merge = create_merge(drain);
	drain->assembly = assembly_create(count);
	bool has_fill = fill_init(&drain->fill, sampler);
	drain->bytes = malloc(RECORD_COPY_MAX);
	drain->polls = calloc(count + 1, sizeof(*drain->polls));
	drain->looked = calloc(count, sizeof(*drain->looked));
	drain->last_ns = calloc(count, sizeof(*drain->last_ns));
	drain->watched = calloc(count, sizeof(*drain->watched));
	if (drain->polls)
		drain->polls[0] = (struct pollfd){.fd = -1, .events = POLLIN};
	if (!drain->bytes || !drain->queue || !drain->merge || !drain->assembly || !has_fill ||
	    !drain->polls || !drain->looked || !drain->watched || !drain->last_ns) {
		int error = errno;
		drain_destroy(drain);
		errno = error;
		return NULL;
	}
	drain->poll_count = count + 1;
	for (size_t i = 0; i < count; i++)
		drain->polls[i + 1] = (struct pollfd){.fd = sampler->rings[i].fd, .events = POLLIN};
	return drain;
}

static void order_stop(const struct drain *drain)
{
	eventfd_write(drain->polls[0].fd, 1);
}

static void join(struct drain *drain)
{
	pthread_join(drain->thread, NULL);
	drain->has_thread = false;
}

void drain_destroy(struct drain *drain)
{
	if (!drain)
		return;
	if (drain->polls && drain->has_thread) {
		queue_abandon(drain->queue);
		order_stop(drain);
		join(drain);
	}
	if (drain->polls && drain->polls[0].fd >= 0)
		close(drain->polls[0].fd);
	merge_destroy(drain->merge);
	assembly_destroy(drain->assembly);
	queue_destroy(drain->queue);
	pthread_mutex_destroy(&drain->lock);
	free(drain->sources);
	free(drain->switches);
	free(drain->bytes);
	fill_finish(&drain->fill);
	free(drain->polls);
	free(drain->looked);
	free(drain->last_ns);
	free(drain->watched);
	free(drain);
}

bool drain_add_source(struct drain *drain, const struct source *source)
{
	size_t count = drain->source_count;
	struct source *sources = calloc(count + 1, sizeof(*sources));
	struct merge *merge = sources ? merge_create(sources, count + 1) : NULL;
	if (!merge) {
		free(sources);
		return false;
	}
	memcpy(sources, drain->sources, count * sizeof(*sources));
	sources[count] = *source;
	merge_destroy(drain->merge);
	free(drain->sources);
	drain->merge = merge;
	drain->sources = sources;
	drain->source_count = count + 1;
	return true;
}

void drain_add_watcher(struct drain *drain, const struct drain_watcher *watcher)
{
	assert(drain->watcher_count < DRAIN_WATCHERS);
	drain->watchers[drain->watcher_count++] = *watcher;
}

/* Shows the rings' records to the watchers, with the lock held. */
static void show_switches(struct drain *drain)
{
	struct record_switch found;
	for (size_t i = 0; drain->watcher_count > 0 && i < drain->sampler->cpus.count; i++)
		while (ring_next_switch(&drain->sampler->rings[i], &drain->watched[i], &found))
			for (size_t w = 0; w < drain->watcher_count; w++)
				drain->watchers[w].show(&found, drain->watchers[w].user);
	for (size_t w = 0; w < drain->watcher_count; w++)
		if (drain->watchers[w].shown)
			drain->watchers[w].shown(drain->watchers[w].user);
}

void drain_lock(struct drain *drain)
{
	pthread_mutex_lock(&drain->lock);
}

void drain_unlock(struct drain *drain)
{
	pthread_mutex_unlock(&drain->lock);
}

void drain_watch(struct drain *drain)
{
	drain_lock(drain);
	show_switches(drain);
	drain_unlock(drain);
}

void drain_begin_merge(struct drain *drain, uint64_t limit_ns)
{
	merge_begin(drain->merge, limit_ns);
	show_switches(drain);
}

/* Draws whether a tick is a sample, and whether its stack is kept by the share. The draws are
 * independent of each other: leaving stacks out does not change the choice of samples. */
static void choose(struct drain *drain, struct record *record)
{
	struct record_sample *sample = &record->sample;
	if (sample->choice != RECORD_UNDECIDED)
		return;
	sample->choice = RECORD_KEPT;
	if (record->kind == RECORD_SAMPLE &&
	    !sampling_keeps(&drain->sampler->config.sampling, sample->period, record->tid,
			    record->time_ns)) {
		drain->left_out_bytes += record_leave_out(record);
		sample->choice = RECORD_TICK;
		sample->callchain_length = 0;
	} else if (!sampling_keeps_stack(drain->share, record->tid, record->time_ns)) {
		drain->left_out_bytes += record_leave_out(record);
	}
}

/* Tells lost records apart. false: nothing was lost but what came in another way. */
static bool count_lost(struct drain *drain, struct record *record)
{
	struct sampler *sampler = drain->sampler;
	uint64_t last_ns = drain->last_ns[record->source];
	uint64_t elapsed_ns = record->time_ns > last_ns ? record->time_ns - last_ns : 0;
	record->lost -=
		sampler_take_refused(sampler, record->source, record->time_ns, record->lost);
	record->lost_switches =
		sampler_take_switches(sampler, record->source, elapsed_ns, record->lost);
	record->has_lost_switches =
		sampler->config.switches &&
		(record->lost_switches > 0 || !sampler_knows_lost_ticks(sampler));
	return record->lost > 0;
}

/* The queue's memory may be slower than what comes: virtual machines were seen where the first
 * write to a page takes 25 us. Another ring may fill up meanwhile: they are looked at in turn. */
void drain_keep_up(struct drain *drain, struct record *record)
{
	size_t rings = drain->sampler->cpus.count;
	if (record->source >= rings || !record_has_stack(record) ||
	    record->sample.choice == RECORD_TICK)
		return;
	if (fill_is_late(&drain->fill, record->source))
		drain->left_out_bytes += record_leave_out(record);
}

bool drain_complete(struct drain *drain, struct record *record, bool is_late)
{
	struct record unfinished;
	size_t rings = drain->sampler->cpus.count;
	/* Of a CPU's ring too, for all who follow the rings. */
	if (drain->switches && record->source >= rings && record->source < 2 * rings) {
		record->source -= (uint32_t)rings;
		return true;
	}
	if (record->source >= rings)
		return true;
	if (assembly_cut(drain->assembly, record->source, record, &unfinished)) {
		if (is_late)
			drain_keep_up(drain, &unfinished);
		queue_put(drain->queue, &unfinished);
	}
	if (!assembly_add(drain->assembly, record))
		return false;
	if (record->kind == RECORD_SAMPLE || record->kind == RECORD_EVENT)
		choose(drain, record);
	if (record->kind == RECORD_LOST)
		return count_lost(drain, record);
	drain->last_ns[record->source] = record->time_ns;
	return true;
}

size_t drain_polls(const struct drain *drain, struct pollfd *polls)
{
	size_t rings = drain->poll_count - 1;
	if (!drain->has_thread) {
		memcpy(polls, drain->polls + 1, rings * sizeof(*polls));
		return rings;
	}
	*polls = (struct pollfd){.fd = queue_fd(drain->queue), .events = POLLIN};
	return 1;
}

void drain_begin(struct drain *drain, enum drain_extent extent)
{
	drain->extent = extent;
	drain->in_place = false;
	if (extent == DRAIN_REST && drain->has_thread)
		order_stop(drain);
}

/* Continues with the rings' records if the queue is empty. */
static void begin_in_place(struct drain *drain)
{
	uint64_t limit =
		drain->extent == DRAIN_SETTLED ? clock_now() - DRAIN_VISIBLE_NS : UINT64_MAX;
	pthread_mutex_lock(&drain->lock);
	drain->in_place = queue_is_empty(drain->queue);
	for (size_t i = 0; drain->switches && i < drain->sampler->cpus.count; i++)
		drain->switches[i].is_ending = drain->extent == DRAIN_REST;
	if (drain->in_place)
		drain_begin_merge(drain, limit);
	else
		queue_flush(drain->queue); /* the thread has filled the queue meanwhile */
	pthread_mutex_unlock(&drain->lock);
}

/* Takes the next record out of its ring, and frees the space however long the caller works on the
 * record. false: there is none, or the queue is not empty any more. */
static bool find_in_place(struct drain *drain)
{
	struct record record;
	while (queue_is_empty(drain->queue) && queue_prepare(drain->queue) &&
	       merge_next(drain->merge, &record)) {
		if (!drain_complete(drain, &record, false))
			continue;
		if (queue_is_empty(drain->queue)) {
			record_copy(&drain->record, &record, drain->bytes);
			return true;
		}
		queue_put(drain->queue, &record);
	}
	return false;
}

/* Unfinished samples, at the very end: as many as there is room for, the others the next time. */
static void put_unfinished(struct drain *drain)
{
	struct record unfinished;
	size_t count = drain->sampler->cpus.count;
	for (; drain->unfinished < count && queue_prepare(drain->queue); drain->unfinished++)
		if (assembly_cut(drain->assembly, drain->unfinished, NULL, &unfinished))
			queue_put(drain->queue, &unfinished);
}

static bool next_in_place(struct drain *drain, const struct record **record)
{
	struct record_sample *sample = &drain->record.sample;
	pthread_mutex_lock(&drain->lock);
	bool found = find_in_place(drain);
	merge_end(drain->merge);
	if (!found && drain->extent == DRAIN_REST && queue_is_empty(drain->queue))
		put_unfinished(drain);
	if (!queue_is_empty(drain->queue)) {
		queue_flush(drain->queue);
		drain->in_place = false;
	}
	if (found && record_has_stack(&drain->record) && !drain->has_thread &&
	    fill_is_behind(&drain->fill, drain->record.source) && sample->choice != RECORD_TICK)
		sample->choice = RECORD_LEFT_OUT;
	*record = &drain->record;
	pthread_mutex_unlock(&drain->lock);
	return found;
}

/* Takes from the queue; at the end, until the thread has closed it. */
static bool next_queued(struct drain *drain, const struct record **record)
{
	struct pollfd queue = {.fd = queue_fd(drain->queue), .events = POLLIN};
	enum queue_state state;
	while ((state = queue_take(drain->queue, record)) != QUEUE_ENTRY) {
		if (drain->extent != DRAIN_REST || !drain->has_thread)
			return false;
		if (state == QUEUE_END)
			join(drain);
		else
			poll(&queue, 1, -1);
	}
	return true;
}

bool drain_next(struct drain *drain, const struct record **record)
{
	for (;;) {
		if (!drain->in_place && next_queued(drain, record))
			return true;
		if (!drain->in_place)
			begin_in_place(drain);
		if (drain->in_place && next_in_place(drain, record))
			return true;
		if (drain->in_place)
			return false;
	}
}

void drain_keep_share(struct drain *drain, uint32_t share)
{
	pthread_mutex_lock(&drain->lock);
	drain->share = share;
	pthread_mutex_unlock(&drain->lock);
}

void drain_counts(const struct drain *drain, struct drain_counts *counts)
{
	struct merge_counts merge;
	merge_counts(drain->merge, &merge);
	*counts = (struct drain_counts){
		.malformed = merge.malformed,
		.out_of_order = merge.out_of_order,
		.copied = drain->copied,
		.left_out_bytes = drain->left_out_bytes + queue_left_out_bytes(drain->queue),
	};
	for (size_t i = 0; i < drain->sampler->cpus.count; i++) {
		counts->broken += drain->sampler->rings[i].broken;
		counts->dropped_bytes += drain->sampler->rings[i].dropped_bytes;
	}
}
