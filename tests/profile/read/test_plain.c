/* Files of sample records and modules that another program wrote, without the streams of profile.h.
 */
#include "tests/profile/fixture.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sample {
	TBRW_SampleRecordPC pc;
	TBRW_SampleRecordTSC tsc;
};

static struct sample sample_at(uint64_t ip, uint64_t tsc, uint32_t pid, uint32_t event)
{
	return (struct sample){
		.pc = {.iip = ip,
		       .IA64PC = 1,
		       .pidRecIndex = pid,
		       .pidRecIndexRaw = 1,
		       .tid = pid + 1,
		       .tidIsRaw = 1,
		       .eventIndex = event & 0xFF},
		.tsc.tsc = tsc,
	};
}

static wchar_t app_path[] = L"/opt/app", lib_path[] = L"/lib/libx.so", vdso_path[] = L"[vdso]";

static const TBRW_MODULE modules[] = {
	{.module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED | TBRW_MODULE_IS_EXE,
	 .module_associated_pid = 10,
	 .module_load_address = 0x400000,
	 .module_length = 0x1000,
	 .module_unload_tsc = UINT64_MAX,
	 .module_path.soi_ptr = app_path},
	{.module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED,
	 .module_associated_pid = 10,
	 .module_event_when = 50,
	 .module_load_address = 0x700000,
	 .module_length = 0x1000,
	 .module_unload_tsc = 100,
	 .module_name.soi_ptr = lib_path},
	/* The same file at another address of another process. */
	{.module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_TSC_USED,
	 .module_associated_pid = 20,
	 .module_load_address = 0x900000,
	 .module_length = 0x1000,
	 .module_unload_tsc = UINT64_MAX,
	 .module_path.soi_ptr = lib_path},
	{.module_flags = TBRW_MODULE_LOADED | TBRW_MODULE_GLOBAL_LOAD,
	 .module_load_address = 0xA00000,
	 .module_length = 0x1000,
	 .module_path.soi_ptr = vdso_path},
};

static struct fixture_plain plain_of(const void *samples, size_t size)
{
	return (struct fixture_plain){
		.interval_us = 1000,
		.command = L"app --fast",
		.modules = modules,
		.module_count = sizeof(modules) / sizeof(modules[0]),
		.fields = fixture_plain_fields,
		.field_count = 2,
		.samples = samples,
		.size = size,
	};
}

static void check_leaf(const struct profile_reader *reader, const struct profile_sample_info *info,
		       const char *image_path, uint64_t rva)
{
	ck_assert_uint_eq(info->stack.state, PROFILE_STACK_NONE);
	if (!image_path) {
		ck_assert_uint_eq(info->stack.node, 0);
		return;
	}
	ck_assert_uint_ne(info->stack.node, 0);
	const struct profile_node *node = profile_reader_node(reader, info->stack.node);
	ck_assert_uint_eq(node->parent, 0);
	const struct profile_frame *frame = profile_reader_frame(reader, node->frame);
	const struct profile_image *image = profile_reader_image(reader, frame->image);
	ck_assert_str_eq(profile_reader_text(reader, image->path), image_path);
	ck_assert_uint_eq(frame->rva, rva);
	ck_assert_uint_eq(profile_reader_module(reader, info->module)->image, frame->image);
}

static const struct profile_note *find_note(const struct profile_reader *reader,
					    enum profile_note_kind kind)
{
	for (uint32_t i = 0; i < profile_reader_note_count(reader); i++)
		if (profile_reader_note(reader, i)->kind == kind)
			return profile_reader_note(reader, i);
	return NULL;
}

static void check_common(const struct profile_reader *reader,
			 const struct profile_sample_info *samples)
{
	check_leaf(reader, &samples[0], "/opt/app", 0x10);
	check_leaf(reader, &samples[1], "/lib/libx.so", 0x20);
	check_leaf(reader, &samples[2], NULL, 0); /* unloaded by then */
	check_leaf(reader, &samples[3], "/lib/libx.so", 0x20);
	check_leaf(reader, &samples[4], "[vdso]", 0x30);
	check_leaf(reader, &samples[5], NULL, 0); /* of another process */
	check_leaf(reader, &samples[6], "/opt/app", 0x10);
	/* One frame and node per image and address, in whatever process. */
	ck_assert_uint_eq(samples[3].stack.node, samples[1].stack.node);
	ck_assert_uint_eq(samples[6].stack.node, samples[0].stack.node);
	ck_assert_uint_eq(profile_reader_frame_count(reader), 3);
	ck_assert_uint_eq(profile_reader_node_count(reader), 4);
	ck_assert_uint_eq(profile_reader_image_count(reader), 4);
}

static const uint64_t common[7][3] = {
	{0x400010, 60, 10},  {0x700020, 61, 10},  {0x700020, 101, 10}, {0x900020, 102, 20},
	{0xA00030, 103, 20}, {0x400010, 104, 20}, {0x400010, 105, 10},
};

static void write_common(void)
{
	struct sample samples[7];

	for (unsigned i = 0; i < 7; i++)
		samples[i] = sample_at(common[i][0], common[i][1], (uint32_t)common[i][2], 0);
	struct fixture_plain plain = plain_of(samples, sizeof(samples));
	fixture_write_plain(&plain);
}

START_TEST(leaves_of_modules)
{
	uint64_t count;

	write_common();
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 7);
	ck_assert(profile_reader_complete(reader));
	check_common(reader, samples);
	for (unsigned i = 0; i < 7; i++)
		ck_assert_uint_eq(samples[i].stack.cpu_ns, 1000000);
	ck_assert_uint_eq(find_note(reader, PROFILE_NOTE_INTERVAL)->value, 1000000);
	ck_assert_uint_eq(find_note(reader, PROFILE_NOTE_ELAPSED)->value, 1500000000);
	ck_assert_str_eq(profile_reader_text(reader, find_note(reader, PROFILE_NOTE_COMMAND)->text),
			 "app --fast");
	ck_assert_ptr_null(find_note(reader, PROFILE_NOTE_WARNING));
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	ck_assert_str_eq(profile_reader_process(reader, samples[0].process)->name, "app");
	ck_assert_str_eq(profile_reader_process(reader, samples[3].process)->name, "pid 20");
	ck_assert_uint_eq(profile_reader_thread_count(reader), 2);
	ck_assert_uint_eq(profile_reader_thread(reader, samples[0].thread)->cpu_ns, 4000000);
	free(samples);
	profile_reader_close(reader);
}
END_TEST

/* Symbols are found by their frame's number, which a bind must not change. */
START_TEST(symbols_stay_over_a_bind)
{
	struct profile_writer *symbols;
	struct profile_symbol symbol = {0};
	struct profile_symbol_text text = {.name = "work"};
	uint64_t count;
	uint32_t symbol_count;
	TBRW_PTR file;

	write_common();
	struct profile_reader *reader = fixture_open();
	struct profile_sample_info *samples = fixture_samples(reader, &count);
	symbol.frame = profile_reader_node(reader, samples[3].stack.node)->frame;
	free(samples);
	profile_reader_close(reader);
	assert_success(profile_symbol_writer_begin(fixture_path(), &symbols));
	assert_success(profile_symbol_writer_add(symbols, &symbol, &text));
	assert_success(profile_symbol_writer_finish(symbols));
	wchar_t path[128];
	TBRW_U32 room = 128;
	assert_success(TBRW_convert_utf8_to_wcs(fixture_path(), path, &room));
	assert_success(TBRW_open(&file, path, TBRW_FILE_READ | TBRW_FILE_WRITE));
	assert_success(TBRW_dobind(file, 0));
	assert_success(TBRW_close(file));
	reader = fixture_open();
	fixture_check_promises(reader);
	samples = fixture_samples(reader, &count);
	check_common(reader, samples);
	uint32_t frame = profile_reader_node(reader, samples[3].stack.node)->frame;
	const struct profile_symbol *found = profile_reader_symbols(reader, frame, &symbol_count);
	ck_assert_uint_eq(symbol_count, 1);
	ck_assert_str_eq(profile_reader_symtext(reader, found->name), "work");
	free(samples);
	profile_reader_close(reader);
}
END_TEST

START_TEST(weights_of_events)
{
	TBRW_EVENT events[] = {
		{.event_id = 3, .event_flags = TBRW_EVENT_TBS, .event_sav = 2000},
		{.event_id = 4, .event_flags = TBRW_EVENT_EBS, .event_sav = 1000003},
		{.event_id = 5, .event_flags = TBRW_EVENT_TBS, .event_sav = UINT64_MAX},
		{.event_id = 0x1003, .event_flags = TBRW_EVENT_TBS, .event_sav = 7},
	};
	struct sample samples[4];
	uint64_t count;

	for (uint32_t i = 0; i < 4; i++)
		samples[i] = sample_at(0x400000 + i, 60, 10, 3 + i);
	struct fixture_plain plain = plain_of(samples, sizeof(samples));
	plain.events = events;
	plain.event_count = 4;
	fixture_write_plain(&plain);
	struct profile_reader *reader = fixture_open();
	struct profile_sample_info *read = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 4);
	ck_assert_uint_eq(read[0].stack.cpu_ns, 2000000);
	ck_assert_uint_eq(read[1].stack.cpu_ns, 0);
	ck_assert_uint_eq(read[2].stack.cpu_ns, UINT64_MAX);
	ck_assert_uint_eq(read[3].stack.cpu_ns, 1000000); /* no such event: the stream's */
	ck_assert_uint_eq(find_note(reader, PROFILE_NOTE_INTERVAL)->value, 2000000);
	ck_assert_ptr_nonnull(find_note(reader, PROFILE_NOTE_WARNING));
	free(read);
	profile_reader_close(reader);
}
END_TEST

/* A file that says nothing but where samples were. */
START_TEST(bare_records)
{
	TBRW_SampleRecordPC samples[3];
	uint64_t count;

	for (unsigned i = 0; i < 3; i++)
		samples[i] = sample_at(0x400000, 0, 10, 0).pc;
	/* The 32-bit form. */
	memset(&samples[2], 0, 16);
	samples[2].eip = 0x400000;
	samples[2].IA64PC = 0;
	struct fixture_plain plain = plain_of(samples, sizeof(samples));
	plain.interval_us = 0;
	plain.command = NULL;
	plain.field_count = 1;
	fixture_write_plain(&plain);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	struct profile_sample_info *read = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 3);
	for (unsigned i = 0; i < 3; i++) {
		check_leaf(reader, &read[i], "/opt/app", 0);
		ck_assert_uint_eq(read[i].stack.cpu_ns, 0);
	}
	ck_assert_ptr_nonnull(find_note(reader, PROFILE_NOTE_WARNING));
	ck_assert_ptr_null(find_note(reader, PROFILE_NOTE_INTERVAL));
	ck_assert_ptr_null(find_note(reader, PROFILE_NOTE_COMMAND));
	free(read);
	profile_reader_close(reader);
}
END_TEST

/* Fields in another order, with others among them. */
START_TEST(fields_at_other_places)
{
	static const TBRW_SAMPREC_DESC_ENTRY fields[] = {
		{.desc_type = ST_TIME_STAMP, .desc_subtype = SST_TSC, .desc_data_size = 8},
		{.desc_offset = 8, .desc_type = ST_POWER, .desc_data_size = 4},
		{.desc_offset = 12, .desc_type = ST_LEGACY_SAMPLE_RECORD, .desc_data_size = 32},
		{.desc_offset = 44, .desc_type = ST_NONE, .desc_data_size = 3},
	};
	enum { SIZE = 47 };
	unsigned char samples[7 * SIZE];
	uint64_t count;

	memset(samples, 0xA5, sizeof(samples));
	for (unsigned i = 0; i < 7; i++) {
		struct sample sample =
			sample_at(common[i][0], common[i][1], (uint32_t)common[i][2], 0);
		memcpy(samples + i * SIZE, &sample.tsc, 8);
		memcpy(samples + i * SIZE + 12, &sample.pc, 32);
	}
	struct fixture_plain plain = plain_of(samples, sizeof(samples));
	plain.fields = fields;
	plain.field_count = 4;
	fixture_write_plain(&plain);
	struct profile_reader *reader = fixture_open();
	struct profile_sample_info *read = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 7);
	check_common(reader, read);
	free(read);
	profile_reader_close(reader);
}
END_TEST

/* Frames are as many as distinct leaves, however many samples there are. */
START_TEST(many_samples_few_leaves)
{
	enum { SAMPLES = 100000, LEAVES = 3000 };
	struct sample *samples = calloc(SAMPLES, sizeof(*samples));
	uint64_t count;

	ck_assert_ptr_nonnull(samples);
	for (uint32_t i = 0; i < SAMPLES; i++)
		samples[i] = sample_at(0x400000 + i * 7919u % LEAVES, 60 + i, 10, 0);
	struct fixture_plain plain = plain_of(samples, SAMPLES * sizeof(*samples));
	fixture_write_plain(&plain);
	free(samples);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_frame_count(reader), LEAVES);
	struct profile_sample_info *read = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, SAMPLES);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t frame = profile_reader_node(reader, read[i].stack.node)->frame;
		ck_assert_uint_eq(profile_reader_frame(reader, frame)->rva, i * 7919u % LEAVES);
	}
	free(read);
	profile_reader_close(reader);
}
END_TEST

/* Modules of all sizes over each other, samples of noise. */
START_TEST(noise)
{
	static const uint64_t extremes[] = {0, 1, 0xFFF, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
	unsigned short seed[3] = {(unsigned short)_i, 2, 3};
	TBRW_MODULE noisy[40] = {0};
	struct sample samples[500];
	TBRW_EVENT event = {.event_id = 1, .event_sav = UINT64_MAX, .event_flags = 3};

	for (unsigned i = 0; i < 40; i++) {
		noisy[i].module_flags = (TBRW_U32)nrand48(seed) & 0x3F;
		noisy[i].module_associated_pid = (TBRW_U32)nrand48(seed) % 3;
		noisy[i].module_event_when = extremes[nrand48(seed) % 6];
		noisy[i].module_unload_tsc = extremes[nrand48(seed) % 6];
		noisy[i].module_load_address = extremes[nrand48(seed) % 6];
		noisy[i].module_length = extremes[nrand48(seed) % 6];
		noisy[i].module_path.soi_ptr = i % 3 ? lib_path : NULL;
	}
	for (unsigned i = 0; i < 500; i++) {
		for (size_t at = 0; at < sizeof(samples[i]); at += 4) {
			uint32_t word = (uint32_t)nrand48(seed);
			memcpy((char *)&samples[i] + at, &word, 4);
		}
		samples[i].pc.pidRecIndex %= 3;
		if (i % 2) {
			samples[i].pc.iip = extremes[nrand48(seed) % 6];
			samples[i].tsc.tsc = extremes[nrand48(seed) % 6];
		}
	}
	struct fixture_plain plain = plain_of(samples, sizeof(samples));
	plain.modules = noisy;
	plain.module_count = 40;
	plain.events = &event;
	plain.event_count = 1;
	plain.interval_us = UINT32_MAX;
	fixture_write_plain(&plain);
	struct profile_reader *reader = fixture_open();
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(damaged)
{
	unsigned short seed[3] = {7, 2, 3};
	uint32_t opened = 0;
	struct stat status;

	write_common();
	ck_assert_int_eq(stat(fixture_path(), &status), 0);
	int fd = open(fixture_path(), O_RDWR);
	ck_assert_int_ge(fd, 0);
	for (int round = 0; round < 300; round++) {
		struct profile_reader *reader;
		off_t at = (off_t)nrand48(seed) % status.st_size;
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
	for (off_t length = status.st_size - 1; length >= 0; length -= 5) {
		struct profile_reader *reader;
		ck_assert_int_eq(ftruncate(fd, length), 0);
		if (profile_reader_open(fixture_path(), &reader) != VT_SUCCESS)
			continue;
		opened++;
		ck_assert(!profile_reader_complete(reader));
		fixture_check_promises(reader);
		profile_reader_close(reader);
	}
	close(fd);
	ck_assert_uint_gt(opened, 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile plain");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, leaves_of_modules);
	tcase_add_test(tcase, symbols_stay_over_a_bind);
	tcase_add_test(tcase, weights_of_events);
	tcase_add_test(tcase, bare_records);
	tcase_add_test(tcase, fields_at_other_places);
	tcase_add_test(tcase, many_samples_few_leaves);
	tcase_add_loop_test(tcase, noise, 0, 10);
	tcase_add_test(tcase, damaged);
	return run_suite(suite);
}
