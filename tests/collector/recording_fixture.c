#include "tests/collector/recording_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct recorded recorded;

const uint64_t recorded_chain[RECORDED_CHAIN] = {0x400010, 0x400201, 0x400301};

void recorded_put(const void *more, size_t count)
{
	ck_assert_uint_le(recorded.size + count, sizeof(recorded.bytes));
	memcpy(recorded.bytes + recorded.size, more, count);
	recorded.size += count;
}

void recorded_put_u64(uint64_t value)
{
	recorded_put(&value, sizeof(value));
}

void recorded_put_task(uint32_t pid, uint32_t tid)
{
	recorded_put_u64(pid | (uint64_t)tid << 32);
}

void recorded_put_text(const char *text)
{
	recorded_put(text, strlen(text) + 1);
	while (recorded.size % 8 != 0)
		recorded_put("", 1);
}

size_t recorded_begin(uint32_t type, uint16_t misc)
{
	struct perf_event_header header = {type, misc, 0};
	recorded_put(&header, sizeof(header));
	return recorded.size - sizeof(header);
}

void recorded_end(size_t start)
{
	uint16_t length = (uint16_t)(recorded.size - start);
	memcpy(recorded.bytes + start + offsetof(struct perf_event_header, size), &length,
	       sizeof(length));
}

/* All records end with task and time, and the id if there are several events. */
void recorded_end_with(size_t start, uint32_t pid, uint64_t time_ns)
{
	recorded_put_task(pid, pid);
	recorded_put_u64(time_ns);
	recorded_end(start);
}

struct perf_event_attr recorded_attributes(uint64_t config)
{
	return (struct perf_event_attr){
		.size = RECORDED_ATTR_SIZE,
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
void recorded_begin_file(const struct perf_event_attr *attr)
{
	const uint64_t header[] = {RECORDED_HEADER_SIZE,
				   RECORDED_ATTR_SIZE + 16,
				   RECORDED_HEADER_SIZE,
				   RECORDED_ATTR_SIZE + 16,
				   RECORDED_HEADER_SIZE + RECORDED_ATTR_SIZE + 16,
				   0};
	recorded.size = 0;
	recorded_put("PERFILE2", 8);
	recorded_put(header, sizeof(header));
	while (recorded.size < RECORDED_HEADER_SIZE)
		recorded_put("", 1);
	recorded_put(attr, RECORDED_ATTR_SIZE);
	recorded_put_u64(0);
	recorded_put_u64(0);
}

void recorded_end_file(void)
{
	uint64_t length = recorded.size - (RECORDED_HEADER_SIZE + RECORDED_ATTR_SIZE + 16);
	memcpy(recorded.bytes + 48, &length, sizeof(length));
}

void recorded_put_comm(uint32_t pid, const char *name, uint64_t time_ns)
{
	size_t start = recorded_begin(PERF_RECORD_COMM, 0);
	recorded_put_task(pid, pid);
	recorded_put_text(name);
	recorded_end_with(start, pid, time_ns);
}

void recorded_put_map(uint32_t pid, uint64_t at, const char *name, uint64_t time_ns)
{
	size_t start = recorded_begin(PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	recorded_put_task(pid, pid);
	recorded_put_u64(at);
	recorded_put_u64(0x10000);
	recorded_put_u64(0);
	recorded_put_text(name);
	recorded_end_with(start, pid, time_ns);
}

void recorded_put_sample(uint32_t pid, uint64_t time_ns, uint64_t period, const uint64_t *chain,
			 uint64_t count)
{
	size_t start = recorded_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	recorded_put_u64(count > 0 ? chain[0] : 0x400010);
	recorded_put_task(pid, pid);
	recorded_put_u64(time_ns);
	recorded_put_u64(period);
	recorded_put_u64(count > 0 ? count + 1 : 0);
	if (count > 0)
		recorded_put_u64((uint64_t)PERF_CONTEXT_USER);
	recorded_put(chain, count * sizeof(*chain));
	recorded_end(start);
}

static void see(uint64_t done, uint64_t total, void *user)
{
	ck_assert_ptr_eq(user, &recorded.seen_done);
	ck_assert_uint_ge(done, recorded.seen_done);
	ck_assert_uint_le(done, total);
	recorded.seen_done = done;
}

int recorded_import_ranked(const char *event, size_t rank)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, recorded.bytes, recorded.size), (ssize_t)recorded.size);
	ck_assert_int_eq(ftruncate(fd, (off_t)(recorded.size + recorded.hole)), 0);
	unlink(recorded.path);
	recorded.failure = (struct failure){0};
	const struct recording_request request = {.fd = fd,
						  .name = "x.data",
						  .event = event,
						  .rank = rank,
						  .path = recorded.path,
						  .result = "r",
						  .version = "1",
						  .see = see,
						  .user = &recorded.seen_done};
	recorded.seen_done = 0;
	int result = recording_import(&request, &recorded.summary, &recorded.failure);
	close(fd);
	if (result == 0)
		ck_assert_uint_eq(profile_reader_open(recorded.path, &recorded.reader), VT_SUCCESS);
	return result;
}

int recorded_import(const char *event)
{
	return recorded_import_ranked(event, 0);
}

bool recorded_has_note(enum profile_note_kind kind, uint64_t value, const char *text)
{
	for (uint32_t i = 0; i < profile_reader_note_count(recorded.reader); i++) {
		const struct profile_note *note = profile_reader_note(recorded.reader, i);
		if (note->kind == kind && note->value == value &&
		    strstr(profile_reader_text(recorded.reader, note->text), text))
			return true;
	}
	return false;
}

void recorded_set_up(void)
{
	snprintf(recorded.path, sizeof(recorded.path), "/tmp/test_recording-%d.tb5", (int)getpid());
	recorded.reader = NULL;
	recorded.hole = 0;
	recorded.summary = (struct recording_summary){0};
}

void recorded_tear_down(void)
{
	profile_reader_close(recorded.reader);
	recording_summary_finish(&recorded.summary);
	unlink(recorded.path);
}

void recorded_begin_pipe(const struct perf_event_attr *attr)
{
	recorded.size = 0;
	recorded_put("PERFILE2", 8);
	recorded_put_u64(16);
	size_t start = recorded_begin(RECORDED_ATTR, 0);
	recorded_put(attr, RECORDED_ATTR_SIZE);
	recorded_end(start);
}

void recorded_forget(void)
{
	profile_reader_close(recorded.reader);
	recording_summary_finish(&recorded.summary);
	recorded.reader = NULL;
}

void recorded_add_event(struct perf_event_attr attr, uint64_t id, uint64_t samples)
{
	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	size_t start = recorded_begin(RECORDED_ATTR, 0);
	recorded_put(&attr, RECORDED_ATTR_SIZE);
	recorded_put_u64(id);
	recorded_end(start);
	for (uint64_t i = 0; i < samples; i++) {
		start = recorded_begin(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		recorded_put_u64(id);
		recorded_put_u64(0x400010);
		recorded_put_task(7, 7);
		recorded_put_u64(100 + i);
		recorded_put_u64(id);
		recorded_put_u64(0);
		recorded_end(start);
	}
}
