/* Files with right checksums and wrong contents, and files of older and later versions, made with
 * TBRW. */
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

START_TEST(older_mappings_are_read)
{
	const struct profile_mapping mapping = {.image = PROFILE_NONE, .pgoff = 5, .rva = 6};
	TBRW_MODULE module = {.module_size = sizeof(module), .module_length = 10};
	struct liar liar;

	liar_open(&liar);
	lie_sampling_stream(&liar, 5);
	lie_old_stacks(&liar);
	liar_data(&liar, &(struct profile_stack){0}, 16);
	liar_begin(&liar, "tbcollect.mappings", TBRW_CUSTOM_STREAM);
	liar_describe(&liar, "module_index", 0, 4, ST_NONE);
	liar_describe(&liar, "image", 4, 4, ST_NONE);
	liar_describe(&liar, "pgoff", 8, 8, ST_NONE);
	liar_describe(&liar, "pid", 16, 4, ST_PID);
	liar_describe(&liar, "reserved", 20, 4, ST_NONE);
	liar_data(&liar, &mapping, 24);
	assert_success(TBRW_writing_section(liar.file, TBRW_MODULE_SECTION));
	assert_success(TBRW_add_module(liar.file, &module));
	assert_success(TBRW_done_section(liar.file, TBRW_MODULE_SECTION));
	liar_close(&liar);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_module_count(reader), 1);
	ck_assert_uint_eq(profile_reader_module(reader, 0)->pgoff, 5);
	ck_assert_uint_eq(profile_reader_module(reader, 0)->rva, 0);
	profile_reader_close(reader);
}
END_TEST

/* Kind, subject and 12 counts: as older versions wrote them. */
START_TEST(unwinding_of_nobody)
{
	static const uint64_t records[][13] = {
		{PROFILE_UNWINDING_IMAGE | UINT64_C(1) << 32},
		{PROFILE_UNWINDING_IMAGE, 7},
		{PROFILE_UNWINDING_THREAD},
		{PROFILE_UNWINDING_DEEP + 1},
		{0},
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
	ck_assert_uint_eq(profile_reader_unwinding(reader, 0)->late_tested, 0);
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

int main(void)
{
	Suite *suite = suite_create("profile lies");
	TCase *tcase = fixture_case(suite);

	tcase_add_loop_test(tcase, older_stacks_are_read, 0, 5);
	tcase_add_loop_test(tcase, older_threads_are_read, 0, 2);
	tcase_add_test(tcase, older_mappings_are_read);
	tcase_add_test(tcase, unwinding_of_nobody);
	tcase_add_loop_test(tcase, stacks_that_lead_nowhere, 0, 6);
	tcase_add_loop_test(tcase, other_fields_are_refused, 0, 2);
	tcase_add_test(tcase, longer_records_are_read);
	tcase_add_test(tcase, somebody_elses_tb5);
	return run_suite(suite);
}
