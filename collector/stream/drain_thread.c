#include "collector/machine/clock.h"
#include "collector/perf/sampler.h"
#include "collector/stream/drain.h"
#include "collector/stream/drain_private.h"
#include "collector/stream/merge.h"
#include "collector/stream/priority.h"
#include "collector/stream/queue.h"
#include "collector/stream/ring_poll.h"
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>

/* touch_rings */
#define TOUCH_NS 1000000ull

enum {
	LOOK_MS = 50,      /* between looks for mapped files */
	LOOK_OFTEN_MS = 3, /* while files are being mapped, and until their records are visible */
	TAKE_MS = 10,      /* between looks, where a source's writer has little room */
	/* Of a ring: its reader is late. At the latest when the next quarter is full, the kernel
	 * wakes again (event_config.wakeup_bytes), or ring_poll has us look. */
	LATE_EIGHTHS = 3
};

/* Puts the next record of the round into the queue. false: there is none. */
static bool move_one(struct drain *drain)
{
	struct record record;
	if (!merge_next(drain->merge, &record)) {
		merge_end(drain->merge);
		return false;
	}
	if (drain_complete(drain, &record, true)) {
		drain_keep_up(drain, &record);
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
	drain_begin_merge(drain, clock_now() - DRAIN_VISIBLE_NS);
	for (size_t i = 0; i < drain->sampler->cpus.count; i++)
		fill_look_at(&drain->fill, i);
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
			uint64_t *known = &drain->known_files[file % DRAIN_KNOWN_FILES];
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
	return rounds->rings.blind_ms > 0 && fill_exceeds(&drain->fill, 2);
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
	for (size_t i = 0; i < sampler->cpus.count && !fill_has_records(&drain->fill); i++)
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
		if (fill_exceeds(&drain->fill, LATE_EIGHTHS)) {
			is_taken = move_all(drain);
		} else if (ready != 0 || is_unseen(drain, &rounds) || rounds.is_due ||
			   rounds.waited_ms >= DRAIN_POLL_MS ||
			   fill_switches_exceed(&drain->fill, 1)) {
			rounds.waited_ms = 0;
			if (fill_has_records(&drain->fill))
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
