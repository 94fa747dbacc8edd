/* Files of a writer that was killed, files that were cut off, files that lie. */
#include "tests/profile/fixture.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* More than the second after which a writer flushes. */
enum { FLUSH_US = 1100000 };

START_TEST(killed_writer)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		struct profile_writer *writer = fixture_create();
		fixture_fill(writer, 2000);
		usleep(FLUSH_US);
		/* Flushes what came before it. */
		fixture_add_sample(writer, 3000, 100, 100, 0x400100);
		/* Lost. */
		fixture_add_sample(writer, 3001, 100, 100, 0x400100);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	struct profile_reader *reader = fixture_open();
	ck_assert(!profile_reader_complete(reader));
	ck_assert_uint_ge(profile_reader_sample_count(reader), 2000);
	ck_assert_uint_le(profile_reader_sample_count(reader), 2001);
	ck_assert_uint_eq(profile_reader_image_count(reader), 2);
	ck_assert_uint_eq(profile_reader_node_count(reader), 4);
	ck_assert_uint_eq(profile_reader_clock_count(reader), 1);
	ck_assert_uint_eq(profile_reader_note_count(reader), 1);
	ck_assert_uint_eq(profile_reader_module_count(reader), 1);
	ck_assert_str_eq(profile_reader_text(reader, profile_reader_note(reader, 0)->text),
			 "app --fast");
	ck_assert_uint_eq(profile_reader_process_count(reader), 1);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 2);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(killed_at_once)
{
	struct profile_reader *reader;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		fixture_fill(fixture_create(), 1);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	/* Whatever reached the file: nothing is an empty result, no file an error. */
	if (profile_reader_open(fixture_path(), &reader) == VT_SUCCESS) {
		ck_assert(!profile_reader_complete(reader));
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
}
END_TEST

static off_t file_size(void)
{
	struct stat status;

	ck_assert_int_eq(stat(fixture_path(), &status), 0);
	return status.st_size;
}

static void make_small_result(void)
{
	struct profile_writer *writer = fixture_create();
	struct profile_writer *symbols;
	struct profile_symbol symbol = {.frame = 1};
	struct profile_symbol_text text = {.name = "function"};

	fixture_fill(writer, 40);
	fixture_finish(writer);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	assert_success(profile_symbol_writer_add(symbols, &symbol, &text));
	assert_success(profile_symbol_writer_finish(symbols));
}

START_TEST(every_length)
{
	/* A step of no common size of records or chunks, so that all places of a record are cut. */
	enum { PARTS = 4, STEP = 7 };
	uint32_t opened = 0;

	make_small_result();
	off_t size = file_size();
	for (off_t length = size - 1 - _i * STEP; length >= 0; length -= PARTS * STEP) {
		struct profile_reader *reader;
		ck_assert_int_eq(truncate(fixture_path(), length), 0);
		if (profile_reader_open(fixture_path(), &reader) != VT_SUCCESS)
			continue;
		opened++;
		/* Cut right behind the end chunk that it had before the symbols, it is whole. */
		ck_assert(!profile_reader_complete(reader) || length >= size / 2);
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
	/* Cut files are readable ones, but for those cut in their first bytes. */
	ck_assert_uint_gt(opened, (uint32_t)size / (PARTS * STEP) / 2);
}
END_TEST

START_TEST(flipped_bytes)
{
	unsigned short seed[3] = {(unsigned short)_i, 5, 6};

	make_small_result();
	off_t size = file_size();
	int fd = open(fixture_path(), O_RDWR);
	ck_assert_int_ge(fd, 0);
	for (int round = 0; round < 200; round++) {
		struct profile_reader *reader;
		off_t at = (off_t)nrand48(seed) % size;
		unsigned char old;
		ck_assert_int_eq(pread(fd, &old, 1, at), 1);
		unsigned char flipped = (unsigned char)(old ^ 1u << nrand48(seed) % 8);
		ck_assert_int_eq(pwrite(fd, &flipped, 1, at), 1);
		if (profile_reader_open(fixture_path(), &reader) == VT_SUCCESS) {
			fixture_check_promises(reader);
			profile_reader_close(reader);
		}
		ck_assert_int_eq(pwrite(fd, &old, 1, at), 1);
	}
	close(fd);
}
END_TEST

/* ---- Files with right checksums and wrong contents, made with TBRW ---- */

struct liar {
	TBRW_PTR file;
	TBRW_U32 streams;
};

static void liar_open(struct liar *liar)
{
	wchar_t name[128];

	swprintf(name, 128, L"%s", fixture_path());
	*liar = (struct liar){.streams = 0};
	assert_success(TBRW_open(&liar->file, name,
				 TBRW_FILE_READ | TBRW_FILE_WRITE | TBRW_FILE_CREATE_ALWAYS));
}

static void *wide(wchar_t *buffer, const char *text)
{
	swprintf(buffer, 64, L"%s", text);
	return buffer;
}

static void liar_describe(struct liar *liar, const char *field, uint32_t offset, uint32_t size,
			  uint16_t type)
{
	wchar_t name[64];
	TBRW_SAMPREC_DESC_ENTRY entry = {
		.desc_size = sizeof(entry),
		.desc_offset = offset,
		.desc_type = type,
		.desc_data_size = size,
		.desc_name.soi_ptr = wide(name, field),
	};

	assert_success(TBRW_add_data_descriptor_entry(liar->file, liar->streams, &entry));
}

static void liar_begin(struct liar *liar, const char *comment, uint32_t type)
{
	wchar_t name[64];
	TBRW_STREAM_INFO info = {
		.stream_info_size = sizeof(info),
		.stream_type = type,
		.comment.soi_ptr = wide(name, comment),
	};

	assert_success(TBRW_writing_stream(liar->file, liar->streams));
	assert_success(
		TBRW_writing_stream_section(liar->file, liar->streams, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_set_stream_info(liar->file, liar->streams, &info));
	assert_success(
		TBRW_done_stream_section(liar->file, liar->streams, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_writing_stream_section(liar->file, liar->streams,
						   TBRW_DATA_DESCRIPTION_SECTION));
}

static void liar_data(struct liar *liar, const void *data, size_t size)
{
	union {
		const void *given;
		void *taken;
	} both = {.given = data};

	assert_success(
		TBRW_done_stream_section(liar->file, liar->streams, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_writing_stream_section(liar->file, liar->streams, TBRW_DATA_SECTION));
	assert_success(TBRW_add_data(liar->file, liar->streams, (TBRW_U32)size, both.taken));
	assert_success(TBRW_done_stream_section(liar->file, liar->streams, TBRW_DATA_SECTION));
	assert_success(TBRW_done_stream(liar->file, liar->streams));
	liar->streams++;
}

static void liar_close(struct liar *liar)
{
	assert_success(TBRW_close(liar->file));
}

/* The small result once more, but with the bytes of one stream's records replaced by noise. The
 * streams' information and descriptors are copied as they are. */
struct copied {
	struct liar *liar;
	TBRW_PTR from;
	unsigned short seed[3];
	bool is_noisy;
};

static void *from_id(TBRW_PTR file, TBRW_STRING_OR_ID id, wchar_t *buffer)
{
	if (id.soi_uniqueid == 0)
		return NULL;
	assert_success(
		TBRW_convert_uniqueid_to_string(file, 256 * sizeof(wchar_t), &id, buffer, NULL));
	return buffer;
}

static TBRW_U32 copy_descriptors(TBRW_SAMPREC_DESC_ENTRY *entries, TBRW_U32 size, TBRW_U32 count,
				 void *user)
{
	struct copied *copied = user;

	(void)size;
	for (TBRW_U32 i = 0; i < count; i++) {
		wchar_t name[256];
		TBRW_SAMPREC_DESC_ENTRY entry = entries[i];
		entry.desc_name.soi_ptr = from_id(copied->from, entries[i].desc_name, name);
		assert_success(TBRW_add_data_descriptor_entry(copied->liar->file,
							      copied->liar->streams, &entry));
	}
	return TRUE;
}

static TBRW_U32 copy_data(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	struct copied *copied = user;
	unsigned char *bytes = malloc(size);

	(void)count;
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, data, size);
	/* Mostly small numbers and extremes: those get past the first checks. */
	for (TBRW_U32 i = 0; copied->is_noisy && i + 4 <= size; i += 4) {
		static const uint32_t extremes[] = {0, 1, 5, 0x7FFFFFFF, 0x80000000, UINT32_MAX};
		uint32_t word = extremes[nrand48(copied->seed) % 6];
		if (nrand48(copied->seed) % 2)
			memcpy(bytes + i, &word, 4);
	}
	assert_success(TBRW_add_data(copied->liar->file, copied->liar->streams, size, bytes));
	free(bytes);
	return TRUE;
}

static void copy_stream(struct copied *copied, TBRW_U32 number)
{
	TBRW_PTR to = copied->liar->file;
	TBRW_U32 made = copied->liar->streams;
	TBRW_STREAM_INFO info;
	wchar_t comment[256], command[256];

	assert_success(TBRW_reading_stream(copied->from, number));
	assert_success(TBRW_reading_stream_section(copied->from, number, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_get_stream_info(copied->from, number, sizeof(info), &info, NULL));
	assert_success(TBRW_writing_stream(to, made));
	assert_success(TBRW_writing_stream_section(to, made, TBRW_STREAM_INFO_SECTION));
	info.comment.soi_ptr = from_id(copied->from, info.comment, comment);
	info.command_line.soi_ptr = from_id(copied->from, info.command_line, command);
	info.cpu_mask.soi_ptr = NULL;
	assert_success(TBRW_set_stream_info(to, made, &info));
	assert_success(TBRW_done_stream_section(to, made, TBRW_STREAM_INFO_SECTION));
	assert_success(
		TBRW_reading_stream_section(copied->from, number, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_writing_stream_section(to, made, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_enumerate_data_descriptor_entries(copied->from, number,
							      copy_descriptors, copied));
	assert_success(TBRW_done_stream_section(to, made, TBRW_DATA_DESCRIPTION_SECTION));
	assert_success(TBRW_reading_stream_section(copied->from, number, TBRW_DATA_SECTION));
	assert_success(TBRW_writing_stream_section(to, made, TBRW_DATA_SECTION));
	assert_success(TBRW_enumerate_data(copied->from, number, copy_data, copied, 0));
	assert_success(TBRW_done_stream_section(to, made, TBRW_DATA_SECTION));
	assert_success(TBRW_done_stream(to, made));
	copied->liar->streams++;
}

enum { STREAMS_WRITTEN = 11, SYMTEXT_STREAM = 15, STREAMS_IN_ALL = 17 };

START_TEST(noise_in_one_stream)
{
	char original[160];
	wchar_t name[160];
	struct liar liar;
	struct profile_reader *reader;

	make_small_result();
	snprintf(original, sizeof(original), "%s.original", fixture_path());
	ck_assert_int_eq(rename(fixture_path(), original), 0);
	swprintf(name, 160, L"%s", original);
	for (unsigned short round = 0; round < 6; round++) {
		struct copied copied = {.liar = &liar, .seed = {round, (unsigned short)_i, 3}};
		liar_open(&liar);
		assert_success(TBRW_open(&copied.from, name, TBRW_FILE_READ));
		TBRW_U32 count;
		assert_success(TBRW_get_number_data_streams(copied.from, &count));
		ck_assert_uint_eq(count, STREAMS_IN_ALL);
		for (TBRW_U32 i = 0; i < count; i++) {
			/* Four streams of bind come between the writer's and the symbols. */
			if (i >= STREAMS_WRITTEN && i < SYMTEXT_STREAM)
				continue;
			copied.is_noisy = i == (TBRW_U32)_i;
			copy_stream(&copied, i);
		}
		assert_success(TBRW_abort_cleanup_and_close(copied.from));
		liar_close(&liar);
		assert_success(profile_reader_open(fixture_path(), &reader));
		ck_assert(profile_reader_complete(reader));
		ck_assert_uint_eq(profile_reader_sample_count(reader), 40);
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
	ck_assert_int_eq(unlink(original), 0);
}
END_TEST

static void lie_sampling_stream(struct liar *liar, uint64_t tsc)
{
	struct {
		TBRW_SampleRecordPC pc;
		TBRW_SampleRecordTSC tsc;
	} sample = {.pc = {.iip = 1, .pidRecIndex = 1, .tid = 1, .IA64PC = 1}, .tsc.tsc = tsc};

	liar_begin(liar, "", TBRW_SAMPLING_STREAM);
	liar_describe(liar, "SampleRecord", 0, 32, ST_LEGACY_SAMPLE_RECORD);
	liar_describe(liar, "TimeStamp", 32, 8, ST_TIME_STAMP);
	liar_data(liar, &sample, sizeof(sample));
}

/* A stream of stacks as results had it before stacks said what they are guessed from. */
static void lie_old_stacks(struct liar *liar)
{
	liar_begin(liar, "tbcollect.stacks", TBRW_CUSTOM_STREAM);
	liar_describe(liar, "cpu_ns", 0, 8, ST_NONE);
	liar_describe(liar, "node", 8, 4, ST_NONE);
	liar_describe(liar, "state", 12, 1, ST_NONE);
	liar_describe(liar, "reason", 13, 1, ST_NONE);
	liar_describe(liar, "collapsed", 14, 2, ST_NONE);
}

/* Loop: no further fields, others, ours at another place, ours in part, all before kernel_us. */
START_TEST(older_stacks_are_read)
{
	const struct profile_stack stack = {.cpu_ns = 7,
					    .state = PROFILE_STACK_GUESSED,
					    .reason = PROFILE_SKIP_TRUNCATED,
					    .collapsed = 3,
					    .verified = 4,
					    .guess_level = PROFILE_GUESS_AGREED,
					    .guess_hits = 5,
					    .kernel_us = PROFILE_KERNEL_ALL};
	struct liar liar;
	uint64_t count;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	lie_old_stacks(&liar);
	if (_i == 1)
		liar_describe(&liar, "later", 16, 8, ST_NONE);
	if (_i >= 2)
		liar_describe(&liar, "verified", _i == 2 ? 18 : 16, 2, ST_NONE);
	if (_i == 4)
		liar_describe(&liar, "guess_level", 18, 1, ST_NONE);
	if (_i == 4)
		liar_describe(&liar, "guess_hits", 19, 1, ST_NONE);
	if (_i >= 2)
		liar_describe(&liar, "reserved", 20, 4, ST_NONE);
	liar_data(&liar, &stack, _i == 0 ? 16 : sizeof(stack));
	liar_close(&liar);
	struct profile_reader *reader = fixture_open();
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(samples[0].stack.cpu_ns, 7);
	ck_assert_uint_eq(samples[0].stack.state, PROFILE_STACK_GUESSED);
	ck_assert_uint_eq(samples[0].stack.collapsed, 3);
	ck_assert_uint_eq(samples[0].stack.verified, _i >= 3 ? 4 : 0);
	ck_assert_uint_eq(samples[0].stack.guess_level,
			  _i == 4 ? PROFILE_GUESS_AGREED : PROFILE_GUESS_NONE);
	ck_assert_uint_eq(samples[0].stack.guess_hits, _i == 4 ? 5 : 0);
	ck_assert_uint_eq(samples[0].stack.kernel_us, 0);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

/* Loop: threads as results had them at first; with one of the fields that came later. */
START_TEST(older_threads_are_read)
{
	const struct profile_thread threads[2] =
		{{.pid = 1, .tid = 1, .end_tsc = 9, .cpu_ns = 7, .rest_ns = 2, .sampled_ns = 5},
		 {.pid = 1, .tid = 2, .end_tsc = 9, .cpu_ns = 8, .rest_ns = 3, .sampled_ns = 4}};
	char bytes[2 * sizeof(threads[0])];
	uint32_t size = _i == 0 ? 56 : 64;
	struct liar liar;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	lie_old_stacks(&liar);
	liar_data(&liar, &(struct profile_stack){0}, 16);
	liar_begin(&liar, "tbcollect.threads", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "pid", 0, 4, ST_PID);
	liar_describe(&liar, "tid", 4, 4, ST_TID);
	liar_describe(&liar, "start_tsc", 8, 8, ST_TIME_STAMP);
	liar_describe(&liar, "end_tsc", 16, 8, ST_TIME_STAMP);
	liar_describe(&liar, "cpu_ns", 24, 8, ST_NONE);
	liar_describe(&liar, "rest_ns", 32, 8, ST_NONE);
	liar_describe(&liar, "name.offset", 40, 4, ST_NONE);
	liar_describe(&liar, "name.length", 44, 4, ST_NONE);
	liar_describe(&liar, "flags", 48, 4, ST_NONE);
	liar_describe(&liar, "samples", 52, 4, ST_NONE);
	if (_i == 1)
		liar_describe(&liar, "sampled_ns", 56, 8, ST_NONE);
	memcpy(bytes, &threads[0], size);
	memcpy(bytes + size, &threads[1], size);
	liar_data(&liar, bytes, 2 * size);
	liar_close(&liar);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_thread_info *thread = profile_reader_thread(reader, i);
		ck_assert_uint_eq(thread->tid, i + 1);
		ck_assert_uint_eq(thread->cpu_ns, threads[i].cpu_ns);
		ck_assert_uint_eq(thread->rest_ns, threads[i].rest_ns);
		ck_assert_uint_eq(thread->sampled_ns, _i == 1 ? threads[i].sampled_ns : 0);
		ck_assert_uint_eq(thread->kernel_ns, 0);
		ck_assert_uint_eq(thread->unseen_ns, 0);
	}
	profile_reader_close(reader);
}
END_TEST

START_TEST(unwinding_of_nobody)
{
	const struct profile_unwinding records[] = {
		{.kind = PROFILE_UNWINDING_IMAGE, .subject = 1},
		{.kind = PROFILE_UNWINDING_IMAGE, .subject = 0, .walks = 7},
		{.kind = PROFILE_UNWINDING_THREAD, .subject = 0},
		{.kind = PROFILE_UNWINDING_DEEP + 1, .subject = 0},
		{.kind = 0, .subject = 0},
	};
	static const char *const names[] = {"walks",           "frames",
					    "frames_by_info",  "frames_by_pointer",
					    "frames_reused",   "lookups",
					    "timed_walks",     "timed_frames",
					    "timed_ns",        "guesses_tested",
					    "guesses_covered", "guesses_wrong"};
	struct liar liar;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	lie_old_stacks(&liar);
	liar_data(&liar, &(struct profile_stack){0}, 16);
	liar_begin(&liar, "tbcollect.unwinding", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "kind", 0, 4, ST_NONE);
	liar_describe(&liar, "subject", 4, 4, ST_NONE);
	for (uint32_t i = 0; i < 12; i++)
		liar_describe(&liar, names[i], 8 + 8 * i, 8, ST_NONE);
	liar_data(&liar, records, sizeof(records));
	liar_close(&liar);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	/* The thread that the sample makes up was recorded by nobody. */
	ck_assert_uint_eq(profile_reader_unwinding_count(reader), 1);
	ck_assert_uint_eq(profile_reader_unwinding(reader, 0)->walks, 7);
	profile_reader_close(reader);
}
END_TEST

START_TEST(stacks_that_lead_nowhere)
{
	struct profile_node nodes[] = {{5, 5}, {0, 0}, {1, 9}, {7, 0}, {2, 0}};
	struct profile_stack stack = {.node = (uint32_t)_i, .state = PROFILE_STACK_COMPLETE};
	struct profile_frame frame = {.image = 3};
	struct liar liar;
	uint64_t count;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	liar_begin(&liar, "tbcollect.nodes", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "parent", 0, 4, ST_NONE);
	liar_describe(&liar, "frame", 4, 4, ST_NONE);
	liar_data(&liar, nodes, sizeof(nodes));
	liar_begin(&liar, "tbcollect.frames", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "image", 0, 4, ST_NONE);
	liar_describe(&liar, "flags", 4, 4, ST_NONE);
	liar_describe(&liar, "rva", 8, 8, ST_NONE);
	liar_data(&liar, &frame, sizeof(frame));
	lie_old_stacks(&liar);
	liar_data(&liar, &stack, 16);
	liar_close(&liar);

	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 1);
	/* Nodes 0 and 1 are whole, 2 has no frame, 3 no parent, 4 hangs on 2, 5 is not there. */
	bool is_whole = _i < 2;
	ck_assert_uint_eq(samples[0].stack.state,
			  is_whole ? PROFILE_STACK_COMPLETE : PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(samples[0].stack.reason,
			  is_whole ? PROFILE_SKIP_NOT_SKIPPED : PROFILE_SKIP_BAD_INFO);
	ck_assert_uint_eq(samples[0].stack.node, _i == 5 ? 0 : (uint32_t)_i);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(other_fields_are_refused)
{
	uint32_t record[3] = {0};
	struct profile_reader *reader = NULL;
	struct liar liar;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	liar_begin(&liar, "tbcollect.nodes", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "parent", 0, 4, ST_NONE);
	liar_describe(&liar, _i == 0 ? "frame" : "parent", _i == 0 ? 8 : 4, 4, ST_NONE);
	liar_data(&liar, record, _i == 0 ? 12 : 8);
	liar_close(&liar);
	ck_assert_uint_eq(profile_reader_open(fixture_path(), &reader), VT_INCOMPATIBLE_VERSION);
	ck_assert_ptr_null(reader);
}
END_TEST

START_TEST(longer_records_are_read)
{
	struct {
		struct profile_node node;
		uint64_t later;
	} nodes[] = {{{PROFILE_NONE, PROFILE_NONE}, 1}, {{0, 0}, 2}};
	struct profile_frame frame = {.rva = 7};
	struct liar liar;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	liar_begin(&liar, "tbcollect.nodes", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "parent", 0, 4, ST_NONE);
	liar_describe(&liar, "frame", 4, 4, ST_NONE);
	liar_describe(&liar, "later", 8, 8, ST_NONE);
	liar_data(&liar, nodes, sizeof(nodes));
	liar_begin(&liar, "tbcollect.frames", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "image", 0, 4, ST_NONE);
	liar_describe(&liar, "flags", 4, 4, ST_NONE);
	liar_describe(&liar, "rva", 8, 8, ST_NONE);
	liar_data(&liar, &frame, sizeof(frame));
	liar_close(&liar);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_node_count(reader), 2);
	ck_assert_uint_eq(profile_reader_node(reader, 1)->frame, 0);
	ck_assert_uint_eq(profile_reader_frame(reader, 0)->rva, 7);
	profile_reader_close(reader);
}
END_TEST

START_TEST(somebody_elses_tb5)
{
	struct profile_reader *reader = NULL;
	struct liar liar;

	/* No samples, and none of the streams of profile.h. */
	liar_open(&liar);
	liar_begin(&liar, "bookmarks", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "TimeStamp", 0, 8, ST_TIME_STAMP);
	liar_data(&liar, "12345678", 8);
	liar_close(&liar);
	ck_assert_uint_eq(profile_reader_open(fixture_path(), &reader), VT_STREAM_NOT_EXIST);
	ck_assert_ptr_null(reader);
}
END_TEST

static Suite *damage_suite(void)
{
	Suite *suite = suite_create("profile damage");
	TCase *tcase = tcase_create("damage");

	tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, killed_writer);
	tcase_add_test(tcase, killed_at_once);
	tcase_add_loop_test(tcase, every_length, 0, 4);
	tcase_add_loop_test(tcase, flipped_bytes, 0, 4);
	tcase_add_loop_test(tcase, older_stacks_are_read, 0, 5);
	tcase_add_loop_test(tcase, older_threads_are_read, 0, 2);
	tcase_add_test(tcase, unwinding_of_nobody);
	tcase_add_loop_test(tcase, noise_in_one_stream, 0, STREAMS_WRITTEN);
	tcase_add_loop_test(tcase, noise_in_one_stream, SYMTEXT_STREAM, STREAMS_IN_ALL);
	tcase_add_loop_test(tcase, stacks_that_lead_nowhere, 0, 6);
	tcase_add_loop_test(tcase, other_fields_are_refused, 0, 2);
	tcase_add_test(tcase, longer_records_are_read);
	tcase_add_test(tcase, somebody_elses_tb5);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return run_suite(damage_suite());
}
