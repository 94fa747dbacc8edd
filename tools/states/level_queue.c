#include "tools/states/level_queue.h"

#include "tools/memory/xalloc.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_BITS 19u
#define BUCKET_NS   (UINT64_C(1) << BUCKET_BITS)
#define CHANGE_BITS 3u
/* More changes than these wait in no collection: of 16 million switches in a second. */
#define WAITING_MAX (UINT64_C(1) << 26)

enum { BUCKETS = 2048, SORTED_BY_HAND = 48, DIGIT_BITS = (BUCKET_BITS + CHANGE_BITS) / 2 };

_Static_assert(LEVEL_WINDOW_MAX_NS + 2 * BUCKET_NS <= BUCKETS * BUCKET_NS,
	       "the ring has the window");
_Static_assert(2 * DIGIT_BITS == BUCKET_BITS + CHANGE_BITS, "two digits are a change");

/* Time since the bucket's start, and the change in the low bits: their order is that of time. */
struct bucket {
	uint32_t *changes;
	size_t count;
	size_t capacity;
};

struct level_queue {
	uint64_t start_ns;
	uint64_t window_ns;
	uint64_t front;   /* number of the first bucket that has not left */
	uint64_t now_ns;  /* end of the last segment */
	uint64_t waiting; /* changes in buckets */
	int64_t running;
	int64_t ready;
	const uint64_t *known;
	size_t known_count;
	size_t known_next;
	level_callback *callback;
	void *user;
	uint32_t *scratch;
	size_t scratch_capacity;
	struct level_segment *segments;
	size_t segment_capacity;
	struct bucket buckets[BUCKETS];
};

struct level_queue *level_queue_create(uint64_t start_ns, uint64_t window_ns,
				       level_callback *callback, void *user)
{
	struct level_queue *queue = xalloc_zeroed(1, sizeof(*queue));
	assert(window_ns < LEVEL_WINDOW_MAX_NS);
	queue->start_ns = queue->now_ns = start_ns;
	queue->window_ns = window_ns;
	queue->callback = callback;
	queue->user = user;
	return queue;
}

void level_queue_destroy(struct level_queue *queue)
{
	if (!queue)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		free(queue->buckets[i].changes);
	free(queue->scratch);
	free(queue->segments);
	free(queue);
}

void level_queue_know(struct level_queue *queue, const uint64_t *times, size_t count)
{
	queue->known = times;
	queue->known_count = count;
}

static inline void put(struct level_queue *queue, uint64_t number, uint64_t offset_ns,
		       enum level_change change)
{
	struct bucket *bucket = &queue->buckets[number % BUCKETS];
	if (__builtin_expect(bucket->count == bucket->capacity, 0))
		xalloc_room(&bucket->changes, &bucket->capacity, bucket->count + 1,
			    sizeof(*bucket->changes));
	bucket->changes[bucket->count++] = (uint32_t)(offset_ns << CHANGE_BITS) | change;
	queue->waiting++;
}

/* ---- Out ---- */

static void sort_by_hand(uint32_t *changes, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t change = changes[i];
		size_t at = i;
		for (; at > 0 && changes[at - 1] > change; at--)
			changes[at] = changes[at - 1];
		changes[at] = change;
	}
}

static void sort_by_digit(const uint32_t *from, uint32_t *to, size_t count, unsigned shift)
{
	uint32_t starts[1u << DIGIT_BITS] = {0}; /* of WAITING_MAX at most */
	const uint32_t mask = (1u << DIGIT_BITS) - 1;
	uint32_t start = 0;
	for (size_t i = 0; i < count; i++)
		starts[from[i] >> shift & mask]++;
	for (size_t digit = 0; digit <= mask; digit++) {
		uint32_t own = starts[digit];
		starts[digit] = start;
		start += own;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[from[i] >> shift & mask]++] = from[i];
}

/* Linear in the number, whatever a file has in store. */
static void sort_changes(struct level_queue *queue, struct bucket *bucket)
{
	if (bucket->count <= SORTED_BY_HAND) {
		sort_by_hand(bucket->changes, bucket->count);
		return;
	}
	xalloc_room(&queue->scratch, &queue->scratch_capacity, bucket->count,
		    sizeof(*queue->scratch));
	sort_by_digit(bucket->changes, queue->scratch, bucket->count, 0);
	sort_by_digit(queue->scratch, bucket->changes, bucket->count, DIGIT_BITS);
}

/* What a change does to the numbers. */
static const struct {
	int8_t running;
	int8_t ready;
} effects[] = {[LEVEL_RUN_ENDS] = {-1, 0},
	       [LEVEL_READY_ENDS] = {0, -1},
	       [LEVEL_READY_RUNS] = {1, -1},
	       [LEVEL_RUN_BEGINS] = {1, 0},
	       [LEVEL_READY_BEGINS] = {0, 1}};

static uint32_t level_of(int64_t number)
{
	return number < 0 ? 0 : (uint32_t)number;
}

/* The number of the bucket with the next known moment; UINT64_MAX: there is none. */
static uint64_t next_known(const struct level_queue *queue)
{
	return queue->known_next < queue->known_count
		       ? (queue->known[queue->known_next] - queue->start_ns) >> BUCKET_BITS
		       : UINT64_MAX;
}

static void pass_changes(struct level_queue *queue, const struct bucket *bucket, uint64_t start_ns)
{
	int64_t running = queue->running, ready = queue->ready;
	uint64_t now_ns = queue->now_ns;
	size_t count = 0;
	xalloc_room(&queue->segments, &queue->segment_capacity, bucket->count,
		    sizeof(*queue->segments));
	for (size_t i = 0; i < bucket->count; i++) {
		unsigned change = bucket->changes[i] & ((1u << CHANGE_BITS) - 1);
		uint64_t time_ns = start_ns + (bucket->changes[i] >> CHANGE_BITS);
		if (time_ns > now_ns) {
			queue->segments[count++] =
				(struct level_segment){now_ns, time_ns, level_of(running),
						       level_of(ready)};
			now_ns = time_ns;
		}
		running += effects[change].running;
		ready += effects[change].ready;
	}
	queue->running = running;
	queue->ready = ready;
	queue->now_ns = now_ns;
	if (count > 0)
		queue->callback(queue->segments, count, queue->user);
}

static void leave_front(struct level_queue *queue)
{
	struct bucket *bucket = &queue->buckets[queue->front % BUCKETS];
	uint64_t start_ns = queue->start_ns + (queue->front << BUCKET_BITS);
	while (next_known(queue) <= queue->front) {
		uint64_t time_ns = queue->known[queue->known_next++];
		put(queue, queue->front, time_ns > start_ns ? time_ns - start_ns : 0,
		    LEVEL_READY_BEGINS);
	}
	sort_changes(queue, bucket);
	pass_changes(queue, bucket, start_ns);
	queue->waiting -= bucket->count;
	bucket->count = 0;
	queue->front++;
}

static void leave_before(struct level_queue *queue, uint64_t number)
{
	while (queue->front < number) {
		uint64_t known = next_known(queue);
		if (queue->waiting == 0 && known > queue->front)
			queue->front = known < number ? known : number;
		else
			leave_front(queue);
	}
}

void level_queue_advance(struct level_queue *queue, uint64_t time_ns)
{
	if (time_ns > queue->start_ns)
		leave_before(queue, (time_ns - queue->start_ns) >> BUCKET_BITS);
}

void level_queue_end(struct level_queue *queue, uint64_t end_ns)
{
	while (queue->waiting > 0 || next_known(queue) < UINT64_MAX)
		leave_before(queue, queue->waiting > 0 ? queue->front + 1 : next_known(queue) + 1);
	const struct level_segment last = {queue->now_ns, end_ns, level_of(queue->running),
					   level_of(queue->ready)};
	if (end_ns > queue->now_ns)
		queue->callback(&last, 1, queue->user);
}

/* ---- In ---- */

bool level_queue_is_past(const struct level_queue *queue, uint64_t time_ns)
{
	return time_ns < queue->start_ns + (queue->front << BUCKET_BITS);
}

/* A time before the front, or beyond the ring; or there is too much. */
static void add_far(struct level_queue *queue, uint64_t time_ns, enum level_change change)
{
	uint64_t since_ns = time_ns > queue->start_ns ? time_ns - queue->start_ns : 0;
	uint64_t number = since_ns >> BUCKET_BITS;
	if (number >= queue->front + BUCKETS)
		level_queue_advance(queue, time_ns - queue->window_ns);
	while (queue->waiting >= WAITING_MAX)
		leave_front(queue);
	if (number >= queue->front)
		put(queue, number, since_ns & (BUCKET_NS - 1), change);
	else
		put(queue, queue->front, 0, change);
}

void level_queue_add(struct level_queue *queue, uint64_t time_ns, enum level_change change)
{
	uint64_t since_ns = time_ns - queue->start_ns;
	uint64_t number = since_ns >> BUCKET_BITS;
	/* Times before the start are far ahead here. */
	if (__builtin_expect(number - queue->front < BUCKETS && queue->waiting < WAITING_MAX, 1))
		put(queue, number, since_ns & (BUCKET_NS - 1), change);
	else
		add_far(queue, time_ns, change);
}
