#include "collector/stream/drain.h"

#include "collector/machine/clock.h"
#include "collector/perf/record.h"
#include "collector/perf/sampler.h"
#include "collector/stream/assembly.h"
#include "collector/stream/merge.h"
#include "collector/stream/priority.h"
#include "collector/stream/queue.h"
#include "collector/stream/record_copy.h"
#include "collector/stream/ring_poll.h"
#include "collector/stream/switch_source.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How long after its time stamp a record may appear in its ring (see merge_begin). */
#define VISIBLE_NS 2000000ull

/* touch_rings */
#define TOUCH_NS 1000000ull

enum {
	LOOK_MS = 50,      /* between looks for mapped files */
	LOOK_OFTEN_MS = 3, /* while files are being mapped, and until their records are visible */
	TAKE_MS = 10,      /* between looks, where a source's writer has little room */
	BEHIND_ALONE = 4,  /* is_behind, without a thread */
	BEHIND_THREAD = 6, /* the thread is woken by the quarter, and may come at the half */
	KNOWN_FILES = 1024
};

struct drain {
	struct sampler *sampler;
	struct queue *queue;
	pthread_t thread;
	sem_t is_ready; /* while drain_start waits for the thread */
	bool has_thread;
	struct pollfd *polls; /* the thread's stop event, then the rings */
	size_t poll_count;

	/* The thread's. */
	uint64_t *looked;                  /* position of the look for mapped files, per ring */
	uint64_t known_files[KNOWN_FILES]; /* some seen files, by ring_next_file's hash */

	/* Held for one record, or to look through one ring, and never while waiting: guards the
	 * members below, the rings, and putting into the queue. */
	pthread_mutex_t lock;
	struct record_format format;
	struct source *sources; /* the rings, those of switches if there are, then others */
	size_t source_count;
	struct switch_source *switches; /* by ring; NULL: the rings have them */
	struct merge *merge;
	struct drain_watcher watchers[DRAIN_WATCHERS];
	size_t watcher_count;
	uint64_t *watched; /* position of the watchers, per ring */
	struct assembly *assembly;
	uint64_t copied;
	uint32_t share; /* of the stacks to keep */
	uint64_t left_out_bytes;
	uint64_t *last_ns; /* of the last record, per ring */
	bool *behind; /* per ring: is_behind; with a thread, one leaves out the stacks of all */
	size_t behind_count;
	size_t turn; /* of the rings, in keep_up */

	/* The caller's. */
	enum drain_extent extent;
	bool in_place;        /* the queue is empty: records come straight from the rings */
	size_t unfinished;    /* DRAIN_REST: rings whose unfinished samples came */
	struct record record; /* the caller's current record */
	uint8_t *bytes;       /* the record's data: RECORD_COPY_MAX, resident as used */
};

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
	drain->behind = calloc(count, sizeof(*drain->behind));
	drain->bytes = malloc(RECORD_COPY_MAX);
	drain->polls = calloc(count + 1, sizeof(*drain->polls));
	drain->looked = calloc(count, sizeof(*drain->looked));
	drain->last_ns = calloc(count, sizeof(*drain->last_ns));
	drain->watched = calloc(count, sizeof(*drain->watched));
	if (drain->polls)
		drain->polls[0] = (struct pollfd){.fd = -1, .events = POLLIN};
	if (!drain->bytes || !drain->queue || !drain->merge || !drain->assembly || !drain->behind ||
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
	free(drain->behind);
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

/* Begins a round of the merge; the records it takes are shown to the watchers first. */
static void begin_merge(struct drain *drain, uint64_t limit_ns)
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

/* Whether a ring of switches is more than so many eighths full. */
static bool has_switches(const struct drain *drain, unsigned eighths)
{
	const struct sampler *sampler = drain->sampler;
	for (size_t i = 0; drain->switches && i < sampler->cpus.count; i++)
		if (switch_source_is_full(sampler->switches, sampler->cpus.numbers[i], eighths))
			return true;
	return false;
}

/* Whether a ring is more than so many eighths full. */
static bool is_filled(const struct drain *drain, unsigned eighths)
{
	for (size_t i = 0; i < drain->sampler->cpus.count; i++) {
		const struct ring *ring = &drain->sampler->rings[i];
		if (ring_occupied(ring) > ring->size / 8 * eighths)
			return true;
	}
	return has_switches(drain, eighths);
}

/* Whether a ring holds more than 3/8: its reader is late. At the latest when the next quarter is
 * full, the kernel wakes again (event_config.wakeup_bytes), or ring_poll has us look. */
static bool is_crowded(const struct drain *drain)
{
	return is_filled(drain, 3);
}

static bool has_records(const struct drain *drain)
{
	for (size_t i = 0; i < drain->sampler->cpus.count; i++)
		if (ring_occupied(&drain->sampler->rings[i]) > 0)
			return true;
	return has_switches(drain, 0);
}

/* Whether stacks are left out to keep up with a ring: while more than so many eighths of it wait,
 * and then until two less do. Samples never are. */
static bool is_behind(struct drain *drain, size_t ring_index, unsigned eighths)
{
	const struct ring *ring = &drain->sampler->rings[ring_index];
	size_t fill = ring_occupied(ring);
	if (fill > ring->size / 8 * eighths)
		drain->behind[ring_index] = true;
	else if (fill < ring->size / 8 * (eighths - 2))
		drain->behind[ring_index] = false;
	return drain->behind[ring_index];
}

static void update_behind(struct drain *drain, size_t ring)
{
	drain->behind_count -= drain->behind[ring];
	drain->behind_count += is_behind(drain, ring, BEHIND_THREAD);
}

/* The queue's memory may be slower than what comes: virtual machines were seen where the first
 * write to a page takes 25 us. Another ring may fill up meanwhile: they are looked at in turn. */
static void keep_up(struct drain *drain, struct record *record)
{
	size_t rings = drain->sampler->cpus.count;
	if (record->source >= rings || !record_has_stack(record) ||
	    record->sample.choice == RECORD_TICK)
		return;
	update_behind(drain, record->source);
	update_behind(drain, drain->turn++ % rings);
	if (drain->behind_count > 0)
		drain->left_out_bytes += record_leave_out(record);
}

/* Whether to hand out a record of the merge. A sample left unfinished by the record goes into the
 * queue first; is_late: so does the record. */
static bool complete(struct drain *drain, struct record *record, bool is_late)
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
			keep_up(drain, &unfinished);
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

/* Puts the next record of the round into the queue. false: there is none. */
static bool move_one(struct drain *drain)
{
	struct record record;
	if (!merge_next(drain->merge, &record)) {
		merge_end(drain->merge);
		return false;
	}
	if (complete(drain, &record, true)) {
		keep_up(drain, &record);
		queue_put(drain->queue, &record);
		drain->copied++;
	}
	return true;
}

/* Puts all records of the rings into the queue. false: nobody takes any more. */
static bool move_all(struct drain *drain)
{
	bool more = true;
	pthread_mutex_lock(&drain->lock);
	begin_merge(drain, clock_now() - VISIBLE_NS);
	for (size_t i = 0; i < drain->sampler->cpus.count; i++)
		update_behind(drain, i);
	while (more) {
		bool has_room = queue_prepare(drain->queue);
		if (has_room)
			more = move_one(drain);
		/* The caller needs access to its queue and to the rings. */
		pthread_mutex_unlock(&drain->lock);
		if (!has_room && !queue_wait(drain->queue))
			return false;
		pthread_mutex_lock(&drain->lock);
	}
	queue_flush(drain->queue);
	pthread_mutex_unlock(&drain->lock);
	return true;
}

/* Whether a new file was mapped since the last look, as far as known_files remembers. */
static bool maps_new_file(struct drain *drain)
{
	bool is_found = false;
	uint64_t file;
	for (size_t i = 0; i < drain->sampler->cpus.count; i++) {
		pthread_mutex_lock(&drain->lock);
		while (ring_next_file(&drain->sampler->rings[i], &drain->looked[i], &file)) {
			uint64_t *known = &drain->known_files[file % KNOWN_FILES];
			is_found |= *known != file;
			*known = file;
		}
		pthread_mutex_unlock(&drain->lock);
	}
	return is_found;
}

/* When to wake the caller without a request by the kernel. */
struct rounds {
	int wait_ms;   /* until the next look */
	int waited_ms; /* since the caller was last woken */
	int quiet_ms;  /* since a new file was mapped */
	bool is_due;   /* a new file's record is visible at the next look */
	struct ring_poll rings;
};

/* Whether a ring has what the kernel would wake for, had it been polled. */
static bool is_unseen(const struct drain *drain, const struct rounds *rounds)
{
	return rounds->rings.blind_ms > 0 && is_filled(drain, 2);
}

/* Makes room for the writers of further sources. Whether there are such ones. */
static bool take_over(struct drain *drain)
{
	bool has_takers = false;
	pthread_mutex_lock(&drain->lock);
	for (size_t i = drain->sampler->cpus.count; i < drain->source_count; i++) {
		const struct source *source = &drain->sources[i];
		if (source->kind->take) {
			source->kind->take(source);
			has_takers = true;
		}
	}
	pthread_mutex_unlock(&drain->lock);
	return has_takers;
}

static void look(struct drain *drain, struct rounds *rounds)
{
	rounds->quiet_ms += rounds->wait_ms;
	rounds->is_due = maps_new_file(drain);
	if (rounds->is_due)
		rounds->quiet_ms = 0;
	rounds->wait_ms = rounds->quiet_ms < DRAIN_POLL_MS ? LOOK_OFTEN_MS : LOOK_MS;
	if (take_over(drain) && rounds->wait_ms > TAKE_MS)
		rounds->wait_ms = TAKE_MS;
}

/* Where so much comes that the rings are soon passed once anyway. What is there already comes
 * first: of a running program the rings may fill up meanwhile. */
static void touch_rings(const struct drain *drain)
{
	const struct sampler *sampler = drain->sampler;
	if (sampler->config.sampling.interval_ns > TOUCH_NS)
		return;
	for (size_t i = 0; i < sampler->cpus.count && !has_records(drain); i++)
		ring_touch(&sampler->rings[i]);
}

static void *run(void *user)
{
	struct drain *drain = user;
	struct rounds rounds = {.wait_ms = LOOK_OFTEN_MS};
	bool is_taken = true;
	rounds.rings.patience_ms = ring_poll_patience_ms(drain->sampler->rings[0].size);
	priority_raise();
	touch_rings(drain);
	sem_post(&drain->is_ready);
	for (;;) {
		if (!is_taken)
			rounds.wait_ms = -1;
		int ready =
			ring_poll(&rounds.rings, drain->polls, drain->poll_count, &rounds.wait_ms);
		if (drain->polls[0].revents != 0)
			break;
		rounds.waited_ms += rounds.wait_ms;
		if (is_crowded(drain)) {
			is_taken = move_all(drain);
		} else if (ready != 0 || is_unseen(drain, &rounds) || rounds.is_due ||
			   rounds.waited_ms >= DRAIN_POLL_MS || has_switches(drain, 1)) {
			rounds.waited_ms = 0;
			if (has_records(drain))
				queue_wake(drain->queue);
		}
		look(drain, &rounds);
	}
	pthread_mutex_lock(&drain->lock);
	queue_close(drain->queue);
	pthread_mutex_unlock(&drain->lock);
	return NULL;
}

int drain_start(struct drain *drain)
{
	sigset_t all;
	sigset_t before;
	assert(!drain->has_thread && drain->polls[0].fd < 0);
	drain->polls[0].fd = eventfd(0, EFD_CLOEXEC);
	if (drain->polls[0].fd < 0)
		return -1;
	/* All signals are the caller's business; the thread inherits the mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sem_init(&drain->is_ready, 0, 0);
	int error = pthread_create(&drain->thread, NULL, run, drain);
	/* A new thread's first turn may come late, without its priority. */
	while (error == 0 && sem_wait(&drain->is_ready) < 0)
		continue; /* EINTR */
	sem_destroy(&drain->is_ready);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	drain->has_thread = error == 0;
	if (error == 0)
		pthread_setname_np(drain->thread, "tbcollect-drain");
	errno = error;
	return error == 0 ? 0 : -1;
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
	uint64_t limit = drain->extent == DRAIN_SETTLED ? clock_now() - VISIBLE_NS : UINT64_MAX;
	pthread_mutex_lock(&drain->lock);
	drain->in_place = queue_is_empty(drain->queue);
	for (size_t i = 0; drain->switches && i < drain->sampler->cpus.count; i++)
		drain->switches[i].is_ending = drain->extent == DRAIN_REST;
	if (drain->in_place)
		begin_merge(drain, limit);
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
		if (!complete(drain, &record, false))
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
	    is_behind(drain, drain->record.source, BEHIND_ALONE) && sample->choice != RECORD_TICK)
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
