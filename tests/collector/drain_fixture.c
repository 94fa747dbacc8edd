#include "tests/collector/drain_fixture.h"

#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include <check.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ring rings[RINGS];
struct sampler sampler;
struct drain *drain;
char name[NAME_SIZE];
uint32_t put_count;
uint32_t taken;

void drain_fixture_set_up(void)
{
	memset(name, 'n', sizeof(name) - 1);
	for (size_t i = 0; i < RINGS; i++) {
		ring_fixture_init(&rings[i], SIZE, 0);
		rings[i].fd = eventfd(0, EFD_CLOEXEC); /* what the thread polls */
		ck_assert_int_ge(rings[i].fd, 0);
	}
	sampler = (struct sampler){.cpus = {.count = RINGS}, .rings = rings, .ring_size = SIZE};
	sampler.config.raw = true;
	put_count = taken = 0;
	drain = drain_create(&sampler);
	ck_assert_ptr_nonnull(drain);
}

void drain_fixture_tear_down(void)
{
	drain_destroy(drain);
	for (size_t i = 0; i < RINGS; i++) {
		close(rings[i].fd);
		ring_finish(&rings[i]);
	}
}

void drain_fixture_put_record(struct record *record, size_t ring)
{
	uint8_t bytes[UINT16_MAX];
	struct record_format format = event_format(&sampler.config);
	record->tid = put_count;
	record->time_ns = ++put_count;
	size_t size = record_encode(&format, record, bytes, sizeof(bytes));
	ck_assert_uint_gt(size, 0);
	ring_fixture_put(&rings[ring], bytes, size);
}

void drain_fixture_put(size_t ring)
{
	struct record record = {.kind = RECORD_COMM, .comm = {.name = name}};
	drain_fixture_put_record(&record, ring);
}

/* Fills a ring up to five eighths. Returns how many records that are. */
uint32_t drain_fixture_crowd(size_t ring)
{
	uint32_t before = put_count;
	while (ring_fixture_head(&rings[ring]) - ring_fixture_tail(&rings[ring]) < SIZE / 8 * 5)
		drain_fixture_put(ring);
	return put_count - before;
}

/* As the kernel does when a quarter of a ring is full. */
void drain_fixture_wake(size_t ring)
{
	ck_assert_int_eq(eventfd_write(rings[ring].fd, 1), 0);
}

void drain_fixture_wait_for_tail(size_t ring, uint64_t tail)
{
	for (int i = 0; i < WAIT_MS && ring_fixture_tail(&rings[ring]) != tail; i++)
		poll(NULL, 0, 1);
	ck_assert_uint_eq(ring_fixture_tail(&rings[ring]), tail);
}

void drain_fixture_wait_for_room(size_t ring)
{
	uint64_t head = ring_fixture_head(&rings[ring]);
	for (int i = 0; i < WAIT_MS && head - ring_fixture_tail(&rings[ring]) > SIZE / 8 * 3; i++)
		poll(NULL, 0, 1);
	ck_assert_uint_le(head - ring_fixture_tail(&rings[ring]), SIZE / 8 * 3);
}

const struct record *drain_fixture_next(void)
{
	const struct record *item = NULL;
	ck_assert(drain_next(drain, &item));
	ck_assert_int_eq(item->kind, RECORD_COMM);
	ck_assert_uint_eq(item->tid, taken);
	ck_assert_str_eq(item->comm.name, name);
	taken++;
	return item;
}

void drain_fixture_assert_none(void)
{
	const struct record *item = NULL;
	ck_assert(!drain_next(drain, &item));
}
