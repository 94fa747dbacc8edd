#include "collector/stream/queue.h"

#include "collector/stream/record_copy.h"
#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	NO_CHUNK = QUEUE_CHUNKS,
	/* From this size on a chunk is handed over if the taker would otherwise run dry: small
	 * enough to stay in a CPU's own cache between the two threads. */
	READY_SIZE = QUEUE_CHUNK_SIZE / 4,
	/* Chunks to keep the taker busy: the current one and the next. */
	BUSY_CHUNKS = 2,
	SPARE_CHUNKS = 2,
	HIGH_CHUNKS = QUEUE_CHUNKS / 2,
	LOW_CHUNKS = QUEUE_CHUNKS / 4
};

struct slot {
	size_t size; /* with the bytes behind it */
	/* As far as it says something (record_extent); its bytes follow, aligned. */
	_Alignas(RECORD_COPY_ALIGNMENT) struct record record;
};

_Static_assert(sizeof(struct slot) + RECORD_COPY_MAX < QUEUE_CHUNK_SIZE,
	       "any record fits into a chunk");

struct queue {
	uint8_t *memory; /* of the chunks */
	int fd;

	/* Handed over in order: filled[n % QUEUE_CHUNKS] for n from consumed to published. */
	uint32_t filled[QUEUE_CHUNKS];
	size_t filled_size[QUEUE_CHUNKS]; /* of each chunk, while it is handed over */
	atomic_size_t published;          /* written by the putting thread */
	atomic_size_t consumed;           /* written by the taking thread */
	atomic_bool closed;

	/* Given back in order; the semaphore counts chunks not used again yet. */
	uint32_t returned[QUEUE_CHUNKS];
	sem_t returned_count;
	atomic_bool abandoned;

	struct {
		uint32_t chunk;
		size_t used;
		uint32_t spare[SPARE_CHUNKS]; /* to fill next, the last one first */
		size_t spare_count;
		uint32_t fresh; /* chunks from here on were never used */
		size_t reused;  /* index into returned, not wrapped */
		bool behind;
		uint64_t left_out_bytes;
	} put;

	struct {
		uint32_t chunk;
		size_t at;
	} take;
};

struct queue *queue_create(void)
{
	struct queue *queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	size_t size = (size_t)QUEUE_CHUNKS * QUEUE_CHUNK_SIZE;
	queue->memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	queue->put.chunk = queue->take.chunk = NO_CHUNK;
	sem_init(&queue->returned_count, 0, 0);
	if (queue->memory == MAP_FAILED || queue->fd < 0) {
		int error = errno;
		queue_destroy(queue);
		errno = error;
		return NULL;
	}
	/* A huge page would make 2 MB resident for the first record. */
	madvise(queue->memory, size, MADV_NOHUGEPAGE);
	return queue;
}

void queue_destroy(struct queue *queue)
{
	if (!queue)
		return;
	if (queue->memory != MAP_FAILED)
		munmap(queue->memory, (size_t)QUEUE_CHUNKS * QUEUE_CHUNK_SIZE);
	if (queue->fd >= 0)
		close(queue->fd);
	sem_destroy(&queue->returned_count);
	free(queue);
}

static uint8_t *chunk_bytes(const struct queue *queue, uint32_t chunk)
{
	return queue->memory + (size_t)chunk * QUEUE_CHUNK_SIZE;
}

/* Makes the queue's file readable; fails only if the file already is. */
void queue_wake(const struct queue *queue)
{
	eventfd_write(queue->fd, 1);
}

/* Chunks handed over and not given back, as seen by the putting thread. */
static size_t count_waiting(const struct queue *queue)
{
	return atomic_load_explicit(&queue->published, memory_order_relaxed) -
	       atomic_load_explicit(&queue->consumed, memory_order_relaxed);
}

static void hand_over(struct queue *queue)
{
	size_t published = atomic_load_explicit(&queue->published, memory_order_relaxed);
	if (queue->put.chunk == NO_CHUNK)
		return;
	assert(count_waiting(queue) < QUEUE_CHUNKS);
	queue->filled_size[queue->put.chunk] = queue->put.used;
	queue->filled[published % QUEUE_CHUNKS] = queue->put.chunk;
	queue->put.chunk = NO_CHUNK;
	/* Release: the chunk is written before it can be taken; pairs with next_filled. */
	atomic_store_explicit(&queue->published, published + 1, memory_order_release);
	queue_wake(queue);
}

static bool is_abandoned(const struct queue *queue)
{
	return atomic_load_explicit(&queue->abandoned, memory_order_relaxed);
}

/* A chunk to fill, a used one if possible; NO_CHUNK: none. */
static uint32_t find_chunk(struct queue *queue)
{
	if (sem_trywait(&queue->returned_count) == 0)
		return is_abandoned(queue) ? NO_CHUNK
					   : queue->returned[queue->put.reused++ % QUEUE_CHUNKS];
	return queue->put.fresh < QUEUE_CHUNKS ? queue->put.fresh++ : NO_CHUNK;
}

bool queue_prepare(struct queue *queue)
{
	while (queue->put.spare_count < SPARE_CHUNKS) {
		uint32_t chunk = find_chunk(queue);
		if (chunk == NO_CHUNK)
			return false;
		queue->put.spare[queue->put.spare_count++] = chunk;
	}
	return true;
}

bool queue_wait(struct queue *queue)
{
	if (!is_abandoned(queue)) {
		while (sem_wait(&queue->returned_count) < 0)
			continue; /* EINTR */
		sem_post(&queue->returned_count);
	}
	return !is_abandoned(queue);
}

/* Room for size bytes in the chunk to fill. */
static void *reserve(struct queue *queue, size_t size)
{
	if (queue->put.chunk != NO_CHUNK && queue->put.used + size > QUEUE_CHUNK_SIZE)
		hand_over(queue);
	if (queue->put.chunk == NO_CHUNK) {
		assert(queue->put.spare_count > 0); /* by queue_prepare */
		queue->put.chunk = queue->put.spare[--queue->put.spare_count];
		queue->put.used = 0;
	}
	void *at = chunk_bytes(queue, queue->put.chunk) + queue->put.used;
	queue->put.used += size;
	return at;
}

/* Whether there is too little room for stacks. */
static bool is_behind(struct queue *queue)
{
	size_t waiting = count_waiting(queue);
	if (waiting > HIGH_CHUNKS)
		queue->put.behind = true;
	else if (waiting < LOW_CHUNKS)
		queue->put.behind = false;
	return queue->put.behind;
}

void queue_put(struct queue *queue, const struct record *record)
{
	struct record put;
	memcpy(&put, record, record_extent(record));
	if (record_has_stack(record) && is_behind(queue) && put.sample.choice != RECORD_TICK)
		queue->put.left_out_bytes += record_leave_out(&put);
	size_t head = offsetof(struct slot, record) + record_extent(&put);
	head = (head + RECORD_COPY_ALIGNMENT - 1) & ~(size_t)(RECORD_COPY_ALIGNMENT - 1);
	size_t size = head + record_copy_size(&put);
	struct slot *slot = reserve(queue, size);
	slot->size = size;
	record_copy(&slot->record, &put, (uint8_t *)slot + head);
	if (queue->put.used >= READY_SIZE)
		queue_flush(queue);
}

bool queue_is_empty(const struct queue *queue)
{
	return queue->put.chunk == NO_CHUNK && count_waiting(queue) == 0;
}

void queue_flush(struct queue *queue)
{
	if (count_waiting(queue) < BUSY_CHUNKS)
		hand_over(queue);
}

void queue_close(struct queue *queue)
{
	hand_over(queue);
	/* Release: a reader of closed sees all chunks handed over. */
	atomic_store_explicit(&queue->closed, true, memory_order_release);
	queue_wake(queue);
}

int queue_fd(const struct queue *queue)
{
	return queue->fd;
}

/* Starts with the next chunk handed over. */
static enum queue_state next_filled(struct queue *queue)
{
	size_t consumed = atomic_load_explicit(&queue->consumed, memory_order_relaxed);
	if (atomic_load_explicit(&queue->published, memory_order_acquire) == consumed) {
		eventfd_t wakes;
		/* In this order: a chunk handed over after the reading wakes again, and none is
		 * handed over after closing. */
		eventfd_read(queue->fd, &wakes);
		bool closed = atomic_load_explicit(&queue->closed, memory_order_acquire);
		if (atomic_load_explicit(&queue->published, memory_order_acquire) == consumed)
			return closed ? QUEUE_END : QUEUE_EMPTY;
	}
	queue->take.chunk = queue->filled[consumed % QUEUE_CHUNKS];
	queue->take.at = 0;
	return QUEUE_ENTRY;
}

static void give_back(struct queue *queue)
{
	size_t consumed = atomic_load_explicit(&queue->consumed, memory_order_relaxed);
	queue->returned[consumed % QUEUE_CHUNKS] = queue->take.chunk;
	queue->take.chunk = NO_CHUNK;
	atomic_store_explicit(&queue->consumed, consumed + 1, memory_order_relaxed);
	/* Our reads of the chunk are done before the putting thread gets it. */
	sem_post(&queue->returned_count);
}

enum queue_state queue_take(struct queue *queue, const struct record **record)
{
	uint32_t chunk = queue->take.chunk;
	if (chunk != NO_CHUNK && queue->take.at == queue->filled_size[chunk])
		give_back(queue);
	if (queue->take.chunk == NO_CHUNK) {
		enum queue_state state = next_filled(queue);
		if (state != QUEUE_ENTRY)
			return state;
	}
	const struct slot *slot =
		(const void *)(chunk_bytes(queue, queue->take.chunk) + queue->take.at);
	queue->take.at += slot->size;
	assert(queue->take.at <= queue->filled_size[queue->take.chunk]);
	*record = &slot->record;
	return QUEUE_ENTRY;
}

void queue_abandon(struct queue *queue)
{
	/* In this order: the waiter woken without a chunk sees why. */
	atomic_store_explicit(&queue->abandoned, true, memory_order_relaxed);
	sem_post(&queue->returned_count);
}

uint64_t queue_left_out_bytes(const struct queue *queue)
{
	return queue->put.left_out_bytes;
}
