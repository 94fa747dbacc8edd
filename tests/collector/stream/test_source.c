/* A source that is no ring: a list in memory, merged with a ring by time. */
#include "collector/stream/merge.h"
#include "collector/stream/source.h"
#include "tests/collector/record_encode.h"
#include "tests/collector/ring_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <string.h>

/* What the made-up kind has in the place of bytes. */
struct entry {
	uint64_t time_ns; /* 0: no record */
	const char *name; /* NULL: a record that cannot be decoded */
};

struct list {
	struct entry entries[8];
	size_t written; /* by whoever makes records */
	size_t visible; /* since the last refresh */
	size_t consumed;
};

static void refresh_list(const struct source *source)
{
	struct list *list = source->state;
	list->visible = list->written;
}

static bool peek_list(const struct source *source, const void **bytes, size_t *size)
{
	const struct list *list = source->state;
	*bytes = &list->entries[list->consumed];
	*size = sizeof(list->entries[0]);
	return list->consumed < list->visible;
}

static void consume_list(const struct source *source, size_t size)
{
	struct list *list = source->state;
	ck_assert_uint_eq(size, sizeof(list->entries[0]));
	list->consumed++;
}

static bool time_entry(const struct source *source, const void *bytes, size_t size,
		       uint64_t *time_ns)
{
	(void)source;
	const struct entry *entry = bytes;
	ck_assert_uint_eq(size, sizeof(*entry));
	*time_ns = entry->time_ns;
	return entry->time_ns != 0;
}

static bool decode_entry(const struct source *source, const void *bytes, size_t size,
			 struct record *record)
{
	const struct entry *entry = bytes;
	ck_assert_ptr_null(source->format);
	ck_assert_uint_eq(size, sizeof(*entry));
	*record = (struct record){.kind = RECORD_COMM,
				  .time_ns = entry->time_ns,
				  .comm = {.name = entry->name}};
	return entry->name;
}

static const struct source_kind list_kind = {refresh_list, peek_list,    consume_list,
					     time_entry,   decode_entry, NULL};

static const struct record_format format;
static struct ring ring;
static struct list list;
static struct merge *merge;

static void setup(void)
{
	static struct source sources[] = {{&source_ring, &ring, &format},
					  {&list_kind, &list, NULL}};
	list = (struct list){0};
	ring_fixture_init(&ring, 4096, 0);
	merge = merge_create(sources, 2);
	ck_assert_ptr_nonnull(merge);
}

static void teardown(void)
{
	merge_destroy(merge);
	ring_finish(&ring);
}

static void put_in_ring(uint64_t time_ns)
{
	uint8_t bytes[256];
	struct record record = {.kind = RECORD_COMM, .time_ns = time_ns, .comm = {.name = "ring"}};
	ring_fixture_put(&ring, bytes, record_encode(&format, &record, bytes, sizeof(bytes)));
}

static void put_in_list(uint64_t time_ns, const char *name)
{
	list.entries[list.written++] = (struct entry){time_ns, name};
}

static void assert_next(uint64_t time_ns, const char *name, size_t source)
{
	struct record record;
	ck_assert(merge_next(merge, &record));
	ck_assert_int_eq(record.kind, RECORD_COMM);
	ck_assert_uint_eq(record.time_ns, time_ns);
	ck_assert_str_eq(record.comm.name, name);
	ck_assert_uint_eq(record.source, source);
}

static void assert_end(void)
{
	struct record record;
	ck_assert(!merge_next(merge, &record));
	merge_end(merge);
}

START_TEST(by_time)
{
	put_in_ring(10);
	put_in_list(5, "early");
	put_in_list(15, "late");
	put_in_ring(20);
	merge_begin(merge, UINT64_MAX);
	assert_next(5, "early", 1);
	assert_next(10, "ring", 0);
	assert_next(15, "late", 1);
	assert_next(20, "ring", 0);
	assert_end();
	ck_assert_uint_eq(list.consumed, 2);
	ck_assert_uint_eq(ring_fixture_tail(&ring), ring_fixture_head(&ring));
}
END_TEST

/* What comes during a round is for the next one, as what is too young. */
START_TEST(in_rounds)
{
	put_in_list(5, "first");
	put_in_list(50, "too young");
	put_in_ring(20);
	merge_begin(merge, 30);
	put_in_list(60, "too late");
	assert_next(5, "first", 1);
	assert_next(20, "ring", 0);
	assert_end();
	ck_assert_uint_eq(list.consumed, 1);
	merge_begin(merge, UINT64_MAX);
	assert_next(50, "too young", 1);
	assert_next(60, "too late", 1);
	assert_end();
}
END_TEST

START_TEST(what_is_no_record)
{
	struct merge_counts counts;
	put_in_list(0, "without a time");
	put_in_list(5, NULL);
	put_in_list(8, "good");
	put_in_ring(7);
	merge_begin(merge, UINT64_MAX);
	assert_next(7, "ring", 0);
	assert_next(8, "good", 1);
	assert_end();
	merge_counts(merge, &counts);
	ck_assert_uint_eq(counts.malformed, 2);
	ck_assert_uint_eq(counts.records, 2);
	ck_assert_uint_eq(list.consumed, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *tcase = tcase_create("source");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, by_time);
	tcase_add_test(tcase, in_rounds);
	tcase_add_test(tcase, what_is_no_record);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
