#include "collector/perf/ring.h"

#include "collector/perf/record.h"
#include <assert.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_init(struct ring *ring, int fd, size_t size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	assert(size >= page_size && (size & (size - 1)) == 0); /* positions are masked */
	uint8_t *bounce = malloc(UINT16_MAX + 1);
	if (!bounce)
		return -1;
	void *page = mmap(NULL, page_size + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		free(bounce);
		return -1;
	}
	*ring = (struct ring){
		.fd = fd,
		.page = page,
		.data = (uint8_t *)page + page_size,
		.size = size,
		.bounce = bounce,
	};
	return 0;
}

void ring_finish(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)(ring->data - (uint8_t *)ring->page) + ring->size);
	free(ring->bounce);
	*ring = (struct ring){.fd = -1};
}

void ring_touch(const struct ring *ring)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t at = 0; at < ring->size; at += page_size)
		(void)*(const volatile uint8_t *)(ring->data + at);
}

void ring_refresh(struct ring *ring)
{
	struct perf_event_mmap_page *page = ring->page;
	/* Acquire: the records before head are read only after head itself; pairs with the
	 * kernel's barrier between writing records and data_head (perf_output_put_handle). */
	ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* Gives everything before the tail back to the kernel. */
static void release(struct ring *ring)
{
	struct perf_event_mmap_page *page = ring->page;
	/* Release: our reads of the records are done before the kernel may write over them. */
	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

size_t ring_fill(const struct ring *ring)
{
	return (size_t)(ring->head - ring->tail);
}

/* What lies between tail and head is no sequence of records: nothing there can be trusted. */
static bool drop_all(struct ring *ring)
{
	size_t fill = ring_fill(ring);
	ring->broken++;
	/* However far apart head and tail are, no more than this was there. */
	ring->dropped_bytes += fill < ring->size ? fill : ring->size;
	ring->tail = ring->head;
	release(ring);
	return false;
}

bool ring_peek(struct ring *ring, const void **bytes, size_t *size)
{
	struct perf_event_header header;
	size_t fill = ring_fill(ring);
	if (fill == 0)
		return false;
	size_t offset = (size_t)(ring->tail & (ring->size - 1));
	/* Records are multiples of 8 bytes: a header never wraps. */
	if (fill < sizeof(header) || fill > ring->size || offset % 8 != 0)
		return drop_all(ring);
	memcpy(&header, ring->data + offset, sizeof(header));
	if (header.size < sizeof(header) || header.size > fill)
		return drop_all(ring);
	*size = header.size;
	*bytes = ring->data + offset;
	size_t before_end = ring->size - offset;
	if (header.size > before_end) {
		memcpy(ring->bounce, ring->data + offset, before_end);
		memcpy(ring->bounce + before_end, ring->data, header.size - before_end);
		*bytes = ring->bounce;
	}
	return true;
}

void ring_consume(struct ring *ring, size_t size)
{
	assert(size <= ring_fill(ring));
	ring->tail += size;
	release(ring);
}

/* Whether the record that starts at the position, with this header, tells of a mapped file and not
 * of anonymous memory ("//anon", "[vdso]"). FNV-1a of the identity and the path. */
static bool hash_file(const struct ring *ring, const struct perf_event_header *header,
		      uint64_t position, uint64_t *file)
{
	enum { IDENTITY = 40, PROTECTION = 64, PATH = 72 }; /* in PERF_RECORD_MMAP2 */
	uint64_t mask = ring->size - 1;
	const uint8_t *path = ring->data + ((position + PATH) & mask);
	uint64_t hash = 0xcbf29ce484222325ull;
	if (header->type != PERF_RECORD_MMAP2 || header->size < PATH + 8 || path[0] != '/' ||
	    path[1] == '/')
		return false;
	for (uint64_t i = IDENTITY; i < header->size; i++) {
		uint8_t byte = ring->data[(position + i) & mask];
		if (i >= PATH && byte == 0)
			break;
		if (i < PROTECTION || i >= PATH)
			hash = (hash ^ byte) * 0x100000001b3ull;
	}
	*file = hash;
	return true;
}

/* Steps to the record at *seen, or the first one not consumed since: its header and its position;
 * *seen moves on behind it. false: there is none. */
static bool step(const struct ring *ring, uint64_t head, uint64_t *seen,
		 struct perf_event_header *header, uint64_t *position)
{
	*position = *seen > ring->tail ? *seen : ring->tail;
	/* Records are multiples of 8 bytes. Other bytes end the search, as they end the ring's. */
	if (*position % 8 == 0 && head - *position >= sizeof(*header) &&
	    head - *position <= ring->size) {
		memcpy(header, ring->data + (*position & (ring->size - 1)), sizeof(*header));
		if (header->size >= sizeof(*header) && header->size <= head - *position) {
			*seen = *position + header->size;
			return true;
		}
	}
	*seen = head;
	return false;
}

static uint64_t visible_head(const struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE); /* as ring_refresh */
}

bool ring_next_file(const struct ring *ring, uint64_t *seen, uint64_t *file)
{
	uint64_t head = visible_head(ring);
	struct perf_event_header header;
	uint64_t position;
	while (step(ring, head, seen, &header, &position))
		if (hash_file(ring, &header, position, file))
			return true;
	return false;
}

bool ring_next_switch(const struct ring *ring, uint64_t *seen, struct record_switch *found)
{
	uint64_t head = visible_head(ring);
	uint64_t mask = ring->size - 1;
	struct perf_event_header header;
	uint64_t position;
	while (step(ring, head, seen, &header, &position)) {
		uint64_t trailer[RECORD_TRAILER_SIZE / 8];
		size_t end_size = sizeof(trailer) + (ring->has_ids ? sizeof(uint64_t) : 0);
		if ((header.type != PERF_RECORD_SWITCH && header.type != PERF_RECORD_EXIT) ||
		    header.size < sizeof(header) + end_size || header.size % 8 != 0)
			continue;
		/* The trailer may wrap, a word of it does not. */
		position += header.size - end_size;
		for (size_t i = 0; i < RECORD_TRAILER_SIZE / 8; i++)
			memcpy(&trailer[i], ring->data + ((position + 8 * i) & mask), 8);
		if (record_decode_switch(header.type, header.misc, (const uint8_t *)trailer, found))
			return true;
	}
	return false;
}

size_t ring_occupied(const struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;
	uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_RELAXED);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_RELAXED);
	return (size_t)(head - tail);
}
