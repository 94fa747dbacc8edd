#include "tests/collector/ring_fixture.h"

#include <check.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void ring_fixture_init(struct ring *ring, size_t size, uint64_t start)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size + sysconf(_SC_PAGESIZE)), 0);
	ck_assert_int_eq(ring_init(ring, fd, size), 0);
	close(fd);
	struct perf_event_mmap_page *page = ring->page;
	page->data_head = page->data_tail = start;
	ring->head = ring->tail = start;
}

void ring_fixture_put(struct ring *ring, const void *bytes, size_t size)
{
	uint64_t head = ring_fixture_head(ring);
	ck_assert_uint_le(head - ring_fixture_tail(ring) + size, ring->size);
	size_t offset = (size_t)head & (ring->size - 1);
	size_t before_end = size < ring->size - offset ? size : ring->size - offset;
	memcpy(ring->data + offset, bytes, before_end);
	memcpy(ring->data, (const uint8_t *)bytes + before_end, size - before_end);
	ring_fixture_set_head(ring, head + size);
}

void ring_fixture_put_record(struct ring *ring, size_t size, uint8_t first)
{
	uint8_t bytes[UINT16_MAX];
	struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, (uint16_t)size};
	memcpy(bytes, &header, sizeof(header));
	for (size_t i = sizeof(header); i < size; i++)
		bytes[i] = (uint8_t)(first + i - sizeof(header));
	ring_fixture_put(ring, bytes, size);
}

uint64_t ring_fixture_head(const struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;
	return __atomic_load_n(&page->data_head, __ATOMIC_RELAXED);
}

void ring_fixture_set_head(struct ring *ring, uint64_t head)
{
	struct perf_event_mmap_page *page = ring->page;
	__atomic_store_n(&page->data_head, head, __ATOMIC_RELEASE);
}

uint64_t ring_fixture_tail(const struct ring *ring)
{
	const struct perf_event_mmap_page *page = ring->page;
	return __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);
}
