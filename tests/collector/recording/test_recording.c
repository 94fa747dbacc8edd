/* Recordings made here, byte by byte, become results. */
#include "collector/recording/recording.h"
#include "profile/read/reader.h"
#include "tests/support/suite.h"
#include <check.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

enum { HEADER_SIZE = 104, ATTR_SIZE = 112, ROUND = 68, ATTR = 64, UPDATE = 78, COMPRESSED = 81 };

static uint8_t bytes[16 << 20];
static size_t size;
static size_t hole; /* zeros behind the bytes */
static char path[64];
static struct profile_reader *reader;
static struct recording_summary summary;
static struct failure failure;

static void put(const void *more, size_t count)
{
	ck_assert_uint_le(size + count, sizeof(bytes));
	memcpy(bytes + size, more, count);
	size += count;
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void put_task(uint32_t pid, uint32_t tid)
{
	put_u64(pid | (uint64_t)tid << 32);
}

static void put_text(const char *text)
{
	put(text, strlen(text) + 1);
	while (size % 8 != 0)
		put("", 1);
}

static size_t begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {type, misc, 0};
	put(&header, sizeof(header));
	return size - sizeof(header);
}

static void end(size_t start)
{
	uint16_t length = (uint16_t)(size - start);
	memcpy(bytes + start + offsetof(struct perf_event_header, size), &length, sizeof(length));
}

/* All records end with task and time, and the id if there are several events. */
static void end_with(size_t start, uint32_t pid, uint64_t time_ns)
{
	put_task(pid, pid);
	put_u64(time_ns);
	end(start);
}

static struct perf_event_attr attributes(uint64_t config)
{
	return (struct perf_event_attr){
		.size = ATTR_SIZE,
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.sample_id_all = 1,
		.exclude_kernel = 1,
	};
}

/* A file with one event, up to its records. */
static void begin_file(const struct perf_event_attr *attr)
{
	const uint64_t header[] = {HEADER_SIZE,
				   ATTR_SIZE + 16,
				   HEADER_SIZE,
				   ATTR_SIZE + 16,
				   HEADER_SIZE + ATTR_SIZE + 16,
				   0};
	size = 0;
	put("PERFILE2", 8);
	put(header, sizeof(header));
	while (size < HEADER_SIZE)
		put("", 1);
	put(attr, ATTR_SIZE);
	put_u64(0);
	put_u64(0);
}

static void end_file(void)
{
	uint64_t length = size - (HEADER_SIZE + ATTR_SIZE + 16);
	memcpy(bytes + 48, &length, sizeof(length));
}

static void put_comm(uint32_t pid, const char *name, uint64_t time_ns)
{
	size_t start = begin(PERF_RECORD_COMM, 0);
	put_task(pid, pid);
	put_text(name);
	end_with(start, pid, time_ns);
}

static void put_map(uint32_t pid, uint64_t at, const char *name, uint64_t time_ns)
{
	size_t start = begin(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	put_task(pid, pid);
	put_u64(at);
	put_u64(0x10000);
	put_u64(0);
	put_text(name);
	end_with(start, pid, time_ns);
}

static void put_sample(uint32_t pid, uint64_t time_ns, uint64_t period, const uint64_t *chain,
		       uint64_t count)
{
	size_t start = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_u64(count > 0 ? chain[0] : 0x400010);
	put_task(pid, pid);
	put_u64(time_ns);
	put_u64(period);
	put_u64(count > 0 ? count + 1 : 0);
	if (count > 0)
		put_u64((uint64_t)PERF_CONTEXT_USER);
	put(chain, count * sizeof(*chain));
	end(start);
}

static void put_round(void)
{
	end(begin(ROUND, 0));
}

static int import_as(const char *event)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(ftruncate(fd, (off_t)(size + hole)), 0);
	unlink(path);
	failure = (struct failure){0};
	const struct recording_request request = {.fd = fd,
						  .name = "x.data",
						  .event = event,
						  .path = path,
						  .result = "r",
						  .version = "1"};
	int result = recording_import(&request, &summary, &failure);
	close(fd);
	if (result == 0)
		ck_assert_uint_eq(profile_reader_open(path, &reader), VT_SUCCESS);
	return result;
}

static bool has_note(enum profile_note_kind kind, uint64_t value, const char *text)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++) {
		const struct profile_note *note = profile_reader_note(reader, i);
		if (note->kind == kind && note->value == value &&
		    strstr(profile_reader_text(reader, note->text), text))
			return true;
	}
	return false;
}

static void setup(void)
{
	snprintf(path, sizeof(path), "/tmp/test_recording-%d.tb5", (int)getpid());
	reader = NULL;
	hole = 0;
	summary = (struct recording_summary){0};
}

static void teardown(void)
{
	profile_reader_close(reader);
	recording_summary_finish(&summary);
	unlink(path);
}

static const uint64_t chain[] = {0x400010, 0x400201, 0x400301};

/* Two processes; records of two rounds are out of order. */
static void put_two(void)
{
	put_comm(7, "first", 0);
	put_map(7, 0x400000, "/nonexistent/first", 0);
	put_sample(7, 300, 5, chain, 3);
	put_sample(7, 100, 7, chain, 3);
	put_round();
	put_comm(8, "second", 150);
	put_map(8, 0x400000, "/nonexistent/second", 160);
	put_sample(8, 200, 11, chain, 2);
	put_round();
}

static bool expect_sample(const struct profile_sample_info *sample, void *user)
{
	static const uint64_t periods[] = {7, 11, 5};
	uint64_t *i = user;
	ck_assert_uint_lt(*i, 3);
	ck_assert_uint_eq(profile_reader_raw_ns(reader, sample->tsc), 100 * (*i + 1));
	ck_assert_uint_eq(sample->stack.cpu_ns, periods[*i]);
	ck_assert_uint_eq(sample->pid, *i == 1 ? 8 : 7);
	ck_assert_int_eq(sample->stack.reason, PROFILE_SKIP_CHAIN_ENDS);
	++*i;
	return true;
}

static void expect_two(void)
{
	uint64_t seen = 0;
	ck_assert_uint_eq(summary.samples, 3);
	ck_assert_uint_eq(profile_reader_each_sample(reader, expect_sample, &seen), VT_SUCCESS);
	ck_assert_uint_eq(seen, 3);
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 2);
	ck_assert(!has_note(PROFILE_NOTE_OUT_OF_ORDER, 1, ""));
}

START_TEST(file_form)
{
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_file(&attr);
	put_two();
	end_file();
	ck_assert_int_eq(import_as(NULL), 0);
	expect_two();
	ck_assert_str_eq(summary.told, "");
	ck_assert_str_eq(summary.event, "cpu-clock");
}
END_TEST

static void begin_pipe(const struct perf_event_attr *attr)
{
	size = 0;
	put("PERFILE2", 8);
	put_u64(16);
	size_t start = begin(ATTR, 0);
	put(attr, ATTR_SIZE);
	end(start);
}

START_TEST(pipe_form)
{
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_pipe(&attr);
	put_two();
	ck_assert_int_eq(import_as(NULL), 0);
	expect_two();
}
END_TEST

static void forget(void)
{
	profile_reader_close(reader);
	recording_summary_finish(&summary);
	reader = NULL;
}

/* Records begin in one compressed part and end in the next; the last one lacks bytes. */
static void put_compressed(size_t lacking)
{
	static uint8_t plain[sizeof(bytes)], packed[4096];
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_pipe(&attr);
	size_t start = size;
	put_two();
	put_sample(7, 310, 5, chain, 3);
	size_t length = size - start - lacking;
	memcpy(plain, bytes + start, length);
	size = start;
	ZSTD_CCtx *packer = ZSTD_createCCtx();
	for (size_t at = 0; at < length; at += 100) {
		ZSTD_inBuffer in = {plain + at, length - at < 100 ? length - at : 100, 0};
		ZSTD_outBuffer out = {packed, sizeof(packed), 0};
		ck_assert_uint_eq(ZSTD_compressStream2(packer, &out, &in, ZSTD_e_flush), 0);
		size_t record = begin(COMPRESSED, 0);
		put(packed, out.pos);
		end(record);
	}
	ZSTD_freeCCtx(packer);
}

START_TEST(compressed)
{
	put_compressed(0);
	ck_assert_int_eq(import_as(NULL), 0);
	ck_assert_uint_eq(summary.samples, 4);
	ck_assert_str_eq(summary.told, "");
	forget();
	put_compressed(1);
	ck_assert_int_eq(import_as(NULL), 0);
	ck_assert_uint_eq(summary.samples, 3);
	ck_assert_ptr_nonnull(strstr(summary.told, "bytes of the file could not be read"));
	forget();
	put_compressed(0);
	/* A part that cannot be unpacked takes only itself and what builds on it away. */
	bytes[size - 5] ^= 0x55;
	if (import_as(NULL) == 0)
		ck_assert_uint_le(summary.samples, 4);
}
END_TEST

/* Each file that ends too early says so, or has no samples. */
START_TEST(cut)
{
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_file(&attr);
	put_two();
	end_file();
	for (size_t whole = size; size > 8; size--) {
		int result = import_as(NULL);
		ck_assert(size == whole ? summary.told[0] == '\0' : result < 0 || summary.told[0]);
		ck_assert(result == 0 || failure.text[0]);
		forget();
	}
}
END_TEST

START_TEST(losses)
{
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_PAGE_FAULTS);
	begin_file(&attr);
	put_two();
	size_t start = begin(PERF_RECORD_LOST, 0);
	put_u64(1);
	put_u64(4);
	end_with(start, 7, 310);
	start = begin(PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(6);
	end_with(start, 7, 320);
	start = begin(PERF_RECORD_SWITCH, 0);
	end_with(start, 7, 330);
	start = begin(60, 0); /* of a kernel to come */
	end_with(start, 7, 330);
	start = begin(PERF_RECORD_SAMPLE, 0); /* not whole */
	end(start);
	end_file();
	ck_assert_int_eq(import_as(NULL), 0);
	ck_assert_uint_eq(summary.samples_lost, 6);
	ck_assert(has_note(PROFILE_NOTE_SAMPLES_LOST, 4, ""));
	ck_assert(has_note(PROFILE_NOTE_SAMPLES_LOST, 2, ""));
	ck_assert(has_note(PROFILE_NOTE_RECORDS_LOST, 1, "could not be read"));
	ck_assert(has_note(PROFILE_NOTE_WARNING, 0, "1 records of context switches"));
	ck_assert(has_note(PROFILE_NOTE_WARNING, 0, "1 records of kinds not known here"));
	ck_assert(has_note(PROFILE_NOTE_WARNING, 0, "event page-faults, no clock"));
	ck_assert_ptr_nonnull(strstr(summary.told, "1 s stands for 10^9\n"));
}
END_TEST

static void add_event(struct perf_event_attr attr, uint64_t id, uint64_t samples)
{
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	size_t start = begin(ATTR, 0);
	put(&attr, ATTR_SIZE);
	put_u64(id);
	end(start);
	for (uint64_t i = 0; i < samples; i++) {
		start = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		put_u64(id);
		put_u64(0x400010);
		put_task(7, 7);
		put_u64(100 + i);
		put_u64(id);
		put_u64(0);
		end(start);
	}
}

/* The event with most samples, or the wanted one; the others are named. */
START_TEST(several_events)
{
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_pipe(&attr);
	size = 16;
	add_event(attributes(PERF_COUNT_SW_PAGE_FAULTS), 21, 2);
	add_event(attributes(PERF_COUNT_SW_TASK_CLOCK), 22, 3);
	ck_assert_int_eq(import_as(NULL), 0);
	ck_assert_str_eq(summary.event, "task-clock");
	ck_assert_uint_eq(profile_reader_sample_count(reader), 3);
	ck_assert_ptr_nonnull(
		strstr(summary.told, "2 of other events are left out: page-faults (2);"));
	forget();
	ck_assert_int_eq(import_as("page-faults"), 0);
	ck_assert_uint_eq(profile_reader_sample_count(reader), 2);
	recording_summary_finish(&summary);
	ck_assert_int_eq(import_as("cycles"), -1);
	ck_assert_str_eq(failure.text, "--event cycles: the recording has no such event; it has "
				       "task-clock and others, see perf evlist");
}
END_TEST

/* A million ids, then events and questions by turns: to look at all ids for each took minutes. */
START_TEST(many_ids)
{
	struct perf_event_attr attr = attributes(PERF_COUNT_SW_PAGE_FAULTS);
	uint64_t id = 1000;
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	begin_pipe(&attr);
	for (int i = 0; i < 128; i++) {
		size_t start = begin(ATTR, 0);
		put(&attr, ATTR_SIZE);
		for (int j = 0; j < 8000; j++)
			put_u64(id++);
		end(start);
	}
	for (int i = 0; i < 3900; i++) {
		add_event(attr, id, 0);
		size_t start = begin(UPDATE, 0);
		put_u64(1);
		put_u64(id++);
		end(start);
	}
	add_event(attributes(PERF_COUNT_SW_TASK_CLOCK), id, 1);
	add_event(attributes(PERF_COUNT_SW_CPU_CLOCK), 1001, 1); /* an id of before stays */
	ck_assert_int_eq(import_as("task-clock"), 0);
	ck_assert_uint_eq(summary.samples, 1);
	ck_assert_ptr_nonnull(strstr(summary.told, "1 of other events are left out: page-faults"));
}
END_TEST

/* Each event names the same 64 MB as its ids: reading them for each took minutes. */
START_TEST(ids_of_all)
{
	enum { EVENTS = 4096 };
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_file(&attr);
	for (int i = 1; i < EVENTS; i++) {
		put(&attr, ATTR_SIZE);
		put_u64(HEADER_SIZE);
		put_u64(64 << 20);
	}
	uint64_t attributes_size = EVENTS * (ATTR_SIZE + 16);
	uint64_t data = size;
	memcpy(bytes + 32, &attributes_size, sizeof(attributes_size));
	memcpy(bytes + 40, &data, sizeof(data));
	hole = 64 << 20;
	ck_assert_int_eq(import_as(NULL), -1);
	ck_assert_str_eq(failure.text, "cannot import x.data: it has no samples of the event "
				       "cpu-clock; record anew");
}
END_TEST

/* Sums that a number cannot hold. */
START_TEST(large_periods)
{
	const struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	begin_file(&attr);
	put_sample(7, 100, UINT64_C(1) << 60, chain, 3);
	put_sample(7, 200, UINT64_C(1) << 63, chain, 3);
	put_sample(7, 300, UINT64_C(1) << 60, chain, 3);
	put_sample(7, 400, 5, chain, 3);
	end_file();
	ck_assert_int_eq(import_as(NULL), 0);
	ck_assert_uint_eq(summary.samples, 2);
	ck_assert_ptr_nonnull(strstr(summary.told, "2 samples were left out: their periods"));
}
END_TEST

/* Samples of a group's leader have the counts of the others. */
START_TEST(group)
{
	struct perf_event_attr attr = attributes(PERF_COUNT_SW_CPU_CLOCK);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	begin_file(&attr);
	for (uint64_t i = 1; i <= 2; i++) {
		size_t start = begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		put_u64(chain[0]);
		put_task(7, 7);
		put_u64(100 * i);
		put_u64(5);
		put_u64(3);
		for (uint64_t j = 0; j < 3; j++) {
			put_u64(i);
			put_u64(j);
		}
		put_u64(0);
		end(start);
	}
	end_file();
	ck_assert_int_eq(import_as(NULL), 0);
	ck_assert_uint_eq(summary.samples, 2);
	ck_assert_ptr_nonnull(strstr(summary.told, "4 counts of other events in the samples"));
}
END_TEST

START_TEST(recognized)
{
	ck_assert(recording_is_recognized((const uint8_t *)"PERFILE2", 8));
	ck_assert(recording_is_recognized((const uint8_t *)"2ELIFREP", 8));
	ck_assert(recording_is_recognized((const uint8_t *)"PERFFILE", 8));
	ck_assert(!recording_is_recognized((const uint8_t *)"PERFILE2", 7));
	ck_assert(!recording_is_recognized((const uint8_t *)"PERFILE3", 8));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording");
	TCase *tcase = tcase_create("recording");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, file_form);
	tcase_add_test(tcase, pipe_form);
	tcase_add_test(tcase, compressed);
	tcase_add_test(tcase, cut);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, several_events);
	tcase_add_test(tcase, many_ids);
	tcase_add_test(tcase, ids_of_all);
	tcase_add_test(tcase, large_periods);
	tcase_add_test(tcase, group);
	tcase_add_test(tcase, recognized);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
