/* What is written is what is read: every kind of record, through a closed file. */
#include "tests/profile/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(empty_run)
{
	fixture_finish(fixture_create());
	struct profile_reader *reader = fixture_open();

	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 0);
	ck_assert_uint_eq(profile_reader_image_count(reader), 1);
	ck_assert_uint_eq(profile_reader_image(reader, 0)->kind, PROFILE_IMAGE_UNKNOWN);
	ck_assert_uint_eq(profile_reader_node_count(reader), 1);
	ck_assert_uint_eq(profile_reader_frame_count(reader), 0);
	ck_assert_uint_eq(profile_reader_thread_count(reader), 0);
	ck_assert_uint_eq(profile_reader_process_count(reader), 0);
	ck_assert_uint_eq(profile_reader_module_count(reader), 0);
	ck_assert_uint_eq(profile_reader_note_count(reader), 0);
	ck_assert_uint_eq(profile_reader_symbol_count(reader), 0);
	ck_assert_uint_eq(profile_reader_clock_count(reader), 2);
	fixture_check_promises(reader);
	profile_reader_close(reader);
}
END_TEST

START_TEST(images)
{
	struct profile_image image = {
		.kind = PROFILE_IMAGE_FILE,
		.owner_uid = 1000,
		.inode = 0x123456789ABCDEFu,
		.device_major = 8,
		.device_minor = 1,
		.build_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
		.build_id_size = 20,
		.pid = 77,
		.flags = PROFILE_IMAGE_DELETED,
	};
	struct profile_writer *writer = fixture_create();
	uint32_t index = 99;

	assert_success(profile_writer_add_image(writer, &image, "/usr/lib/lib\xC3\xA4.so", &index));
	ck_assert_uint_eq(index, 1);
	assert_success(profile_writer_add_image(writer, &image, "/tmp/bad\xFFname", &index));
	ck_assert_uint_eq(index, 2);
	fixture_finish(writer);

	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_image_count(reader), 3);
	const struct profile_image *read = profile_reader_image(reader, 1);
	ck_assert_str_eq(profile_reader_text(reader, read->path), "/usr/lib/lib\xC3\xA4.so");
	image.path = read->path;
	ck_assert_mem_eq(read, &image, sizeof(image));
	ck_assert_str_eq(profile_reader_text(reader, profile_reader_image(reader, 2)->path),
			 "/tmp/bad\xEF\xBF\xBDname");
	profile_reader_close(reader);
}
END_TEST

START_TEST(frames_and_nodes)
{
	struct profile_writer *writer = fixture_create();

	fixture_fill(writer, 10);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_frame_count(reader), 3);
	ck_assert_uint_eq(profile_reader_node_count(reader), 4);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(profile_reader_frame(reader, i)->image, 1);
		ck_assert_uint_eq(profile_reader_frame(reader, i)->rva, 0x1000 + i);
		ck_assert_uint_eq(profile_reader_node(reader, i + 1)->parent, i);
		ck_assert_uint_eq(profile_reader_node(reader, i + 1)->frame, i);
	}
	profile_reader_close(reader);
}
END_TEST

START_TEST(samples)
{
	struct profile_writer *writer = fixture_create();
	struct profile_sample sample = {
		.time_ns = fixture_ms(500),
		.ip = 0x7FFF00001234,
		.flags = 0x246,
		.pid = 4000000000u,
		.tid = 4000000001u,
		.cpu = 4095,
		.cs = 0x33,
		.stack = {.cpu_ns = 9999,
			  .node = 0,
			  .state = PROFILE_STACK_SKIPPED,
			  .reason = PROFILE_SKIP_TRUNCATED,
			  .collapsed = 65535},
	};
	uint64_t count;

	assert_success(profile_writer_add_sample(writer, &sample));
	sample.is_32bit = true;
	sample.cs = 0x23;
	sample.ip = 0x8048000;
	assert_success(profile_writer_add_sample(writer, &sample));
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	struct profile_sample_info *read = fixture_samples(reader, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(read[0].index, 0);
	ck_assert_uint_eq(read[0].tsc, fixture_tsc(500));
	ck_assert_uint_eq(profile_reader_raw_ns(reader, read[0].tsc), fixture_ms(500));
	ck_assert_uint_eq(read[0].ip, 0x7FFF00001234);
	ck_assert_uint_eq(read[0].pid, 4000000000u);
	ck_assert_uint_eq(read[0].tid, 4000000001u);
	ck_assert_uint_eq(read[0].cpu, 4095);
	ck_assert_mem_eq(&read[0].stack, &sample.stack, sizeof(sample.stack));
	ck_assert_uint_eq(read[1].ip, 0x8048000);
	free(read);
	profile_reader_close(reader);
}
END_TEST

static bool stop_after_three(const struct profile_sample_info *sample, void *user)
{
	uint32_t *calls = user;

	ck_assert_uint_eq(sample->index, *calls);
	return ++*calls < 3;
}

START_TEST(samples_stop_early)
{
	struct profile_writer *writer = fixture_create();
	uint32_t calls = 0;

	fixture_fill(writer, 5000);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	assert_success(profile_reader_each_sample(reader, stop_after_three, &calls));
	ck_assert_uint_eq(calls, 3);
	calls = 0;
	assert_success(profile_reader_each_sample(reader, stop_after_three, &calls));
	ck_assert_uint_eq(calls, 3);
	profile_reader_close(reader);
}
END_TEST

START_TEST(sample_counts)
{
	/* Around the sizes of batches and chunks. */
	static const uint32_t counts[] = {1, 4095, 4096, 4097, 20000};
	struct profile_writer *writer = fixture_create();
	uint64_t count;

	fixture_fill(writer, counts[_i]);
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_sample_count(reader), counts[_i]);
	struct profile_sample_info *read = fixture_samples(reader, &count);
	for (uint64_t i = 0; i < count; i++) {
		ck_assert_uint_eq(read[i].index, i);
		ck_assert_uint_eq(read[i].ip, 0x400100 + i % 256);
		ck_assert_uint_eq(read[i].stack.node, 3);
		ck_assert_uint_eq(read[i].process, 0);
		ck_assert_uint_eq(read[i].module, 0);
		ck_assert_uint_eq(profile_reader_thread(reader, read[i].thread)->tid, 100 + i % 2);
	}
	free(read);
	profile_reader_close(reader);
}
END_TEST

START_TEST(modules)
{
	struct profile_module module = {
		.pid = 100,
		.start = 0x7F0000000000,
		.length = 0x5000,
		.pgoff = 0x2000,
		.rva = 0x3000,
		.load_ns = fixture_ms(10),
		.unload_ns = fixture_ms(90),
		.path = "/usr/lib/libplugin.so",
		.cs = 0x33,
	};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	struct profile_writer *writer = fixture_create();

	fixture_add_module(writer, 100, 0x400000, 0x1000, PROFILE_TIME_BEFORE, "/opt/app", true);
	assert_success(profile_writer_add_image(writer, &image, module.path, &module.image));
	assert_success(profile_writer_add_module(writer, &module));
	assert_success(profile_writer_end_module(writer, &module));
	fixture_add_module(writer, 100, 0x500000, 0x1000, fixture_ms(5), "/opt/last.so", false);
	fixture_finish(writer);

	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_module_count(reader), 3);
	const struct profile_module_info *app = profile_reader_module(reader, 0);
	const struct profile_module_info *plugin = profile_reader_module(reader, 1);
	const struct profile_module_info *last = profile_reader_module(reader, 2);
	ck_assert(app->is_executable);
	ck_assert_uint_eq(app->load_tsc, 0);
	ck_assert_uint_eq(app->unload_tsc, UINT64_MAX);
	ck_assert_uint_eq(app->image, 0);
	ck_assert(!plugin->is_executable);
	ck_assert_uint_eq(plugin->pid, 100);
	ck_assert_uint_eq(plugin->image, 1);
	ck_assert_uint_eq(plugin->start, 0x7F0000000000);
	ck_assert_uint_eq(plugin->length, 0x5000);
	ck_assert_uint_eq(plugin->pgoff, 0x2000);
	ck_assert_uint_eq(plugin->rva, 0x3000);
	ck_assert_uint_eq(plugin->load_tsc, fixture_tsc(10));
	ck_assert_uint_eq(plugin->unload_tsc, fixture_tsc(90));
	ck_assert_str_eq(plugin->path, "/usr/lib/libplugin.so");
	ck_assert_str_eq(last->path, "/opt/last.so");
	ck_assert_uint_eq(last->unload_tsc, UINT64_MAX);
	profile_reader_close(reader);
}
END_TEST

START_TEST(processes_and_threads)
{
	struct profile_writer *writer = fixture_create();

	fixture_add_process(writer, 100, PROFILE_TIME_BEFORE, PROFILE_TIME_NEVER, "/opt/app");
	fixture_add_process(writer, 200, fixture_ms(5), fixture_ms(50), "/bin/sh");
	fixture_add_thread(writer, 200, 201, fixture_ms(6), fixture_ms(40), 3, "w\xC3\xB6rker");
	fixture_add_thread(writer, 100, 100, PROFILE_TIME_BEFORE, PROFILE_TIME_NEVER, 0, NULL);
	fixture_finish(writer);

	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_process_count(reader), 2);
	const struct profile_process_info *app = profile_reader_process(reader, 0);
	const struct profile_process_info *shell = profile_reader_process(reader, 1);
	ck_assert_uint_eq(app->pid, 100);
	ck_assert_uint_eq(app->start_tsc, 0);
	ck_assert_uint_eq(app->end_tsc, UINT64_MAX);
	ck_assert_str_eq(app->path, "/opt/app");
	ck_assert_str_eq(app->name, "app");
	ck_assert_uint_eq(shell->start_tsc, fixture_tsc(5));
	ck_assert_uint_eq(shell->end_tsc, fixture_tsc(50));
	ck_assert_uint_eq(profile_reader_thread_count(reader), 2);
	const struct profile_thread_info *worker = profile_reader_thread(reader, 0);
	ck_assert_uint_eq(worker->pid, 200);
	ck_assert_uint_eq(worker->tid, 201);
	ck_assert_uint_eq(worker->process, 1);
	ck_assert_uint_eq(worker->samples, 3);
	ck_assert_uint_eq(worker->start_tsc, fixture_tsc(6));
	ck_assert_uint_eq(worker->end_tsc, fixture_tsc(40));
	ck_assert_uint_eq(worker->cpu_ns, 30000005);
	ck_assert_uint_eq(worker->rest_ns, 5);
	ck_assert_str_eq(worker->name, "w\xC3\xB6rker");
	ck_assert_uint_eq(profile_reader_thread(reader, 1)->process, 0);
	ck_assert_str_eq(profile_reader_thread(reader, 1)->name, "");
	profile_reader_close(reader);
}
END_TEST

START_TEST(clocks_and_notes)
{
	struct profile_writer *writer = fixture_create();
	struct profile_clock clock = {1, 2, 3, 4, 5};

	assert_success(profile_writer_add_clock(writer, &clock));
	assert_success(profile_writer_add_note(writer, PROFILE_NOTE_SAMPLES_LOST, fixture_ms(4), 17,
					       0, 3, NULL));
	assert_success(profile_writer_add_note(writer, PROFILE_NOTE_WARNING, PROFILE_TIME_BEFORE, 0,
					       5, 0, "beware"));
	fixture_finish(writer);

	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_clock_count(reader), 3);
	ck_assert_uint_eq(profile_reader_clock(reader, 0)->tsc, FIXTURE_TSC);
	ck_assert_mem_eq(profile_reader_clock(reader, 1), &clock, sizeof(clock));
	ck_assert_uint_eq(profile_reader_clock(reader, 2)->raw_ns, fixture_ms(10000));
	ck_assert_uint_eq(profile_reader_note_count(reader), 2);
	const struct profile_note *lost = profile_reader_note(reader, 0);
	ck_assert_uint_eq(lost->kind, PROFILE_NOTE_SAMPLES_LOST);
	ck_assert_uint_eq(lost->tsc, fixture_tsc(4));
	ck_assert_uint_eq(lost->value, 17);
	ck_assert_uint_eq(lost->tid, 3);
	ck_assert_str_eq(profile_reader_text(reader, lost->text), "");
	const struct profile_note *warning = profile_reader_note(reader, 1);
	ck_assert_uint_eq(warning->tsc, 0);
	ck_assert_uint_eq(warning->pid, 5);
	ck_assert_str_eq(profile_reader_text(reader, warning->text), "beware");
	profile_reader_close(reader);
}
END_TEST

/* The collector creates the file before it lets the target run. */
START_TEST(start_of_the_collection)
{
	static const struct {
		uint64_t noted_ms;
		uint64_t start_ms;
	} cases[] = {{0, 0}, {70, 70}, {20000, 20000}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t start_ns = fixture_ms(cases[i].start_ms);
		struct profile_writer *writer = fixture_create();
		assert_success(profile_writer_add_note(writer, PROFILE_NOTE_ANALYSIS,
						       fixture_ms(cases[i].noted_ms), 0, 0, 0,
						       "hotspots"));
		fixture_finish(writer);
		struct profile_reader *reader = fixture_open();
		ck_assert_uint_eq(profile_reader_start_ns(reader), start_ns);
		ck_assert_uint_eq(profile_reader_start_date_ns(reader),
				  FIXTURE_REAL_NS + cases[i].start_ms * 1000000);
		ck_assert_uint_eq(profile_reader_since_start(reader, start_ns - 1), 0);
		ck_assert_uint_eq(profile_reader_since_start(reader, start_ns + 5), 5);
		profile_reader_close(reader);
	}
}
END_TEST

START_TEST(texts_are_stored_once)
{
	struct profile_writer *writer = fixture_create();

	for (int i = 0; i < 1000; i++)
		assert_success(profile_writer_add_note(writer, PROFILE_NOTE_WARNING, fixture_ms(1),
						       0, 0, 0, "the same text again"));
	fixture_finish(writer);
	struct profile_reader *reader = fixture_open();
	ck_assert_uint_eq(profile_reader_note_count(reader), 1000);
	const struct profile_note *first = profile_reader_note(reader, 0);
	const struct profile_note *last = profile_reader_note(reader, 999);
	ck_assert_uint_eq(first->text.offset, last->text.offset);
	ck_assert_ptr_eq(profile_reader_text(reader, first->text),
			 profile_reader_text(reader, last->text));
	profile_reader_close(reader);
}
END_TEST

static TBRW_U32 count_text_bytes(void *data, TBRW_U32 size, TBRW_U32 count, void *user)
{
	(void)data, (void)size;
	*(uint64_t *)user += count;
	return TRUE;
}

START_TEST(other_readers_see_the_streams)
{
	struct profile_writer *writer = fixture_create();
	TBRW_STREAM_INFO info;
	TBRW_PTR file;
	wchar_t name[64], file_name[128];
	uint64_t bytes = 0;

	fixture_fill(writer, 3);
	fixture_finish(writer);
	swprintf(file_name, 128, L"%s", fixture_path());
	assert_success(TBRW_open(&file, file_name, TBRW_FILE_READ));
	assert_success(TBRW_verify(file));
	assert_success(TBRW_reading_stream(file, 0));
	assert_success(TBRW_reading_stream_section(file, 0, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_get_stream_info(file, 0, sizeof(info), &info, NULL));
	ck_assert_uint_eq(info.stream_type, TBRW_SAMPLING_STREAM);
	ck_assert_uint_eq(info.sampling_duration, 10000);
	ck_assert_uint_eq(info.sampling_interval, 10000);
	uint64_t start = (uint64_t)info.sampling_start_time.dwHighDateTime << 32 |
			 info.sampling_start_time.dwLowDateTime;
	ck_assert_uint_eq(start / 10000000 - 11644473600u, FIXTURE_REAL_NS / 1000000000);
	assert_success(TBRW_convert_uniqueid_to_string(file, sizeof(name), &info.command_line, name,
						       NULL));
	ck_assert(wcscmp(name, L"tbcollect -- app") == 0);
	assert_success(TBRW_done_stream_section(file, 0, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_done_stream(file, 0));

	assert_success(TBRW_reading_stream(file, 1));
	assert_success(TBRW_reading_stream_section(file, 1, TBRW_STREAM_INFO_SECTION));
	assert_success(TBRW_get_stream_info(file, 1, sizeof(info), &info, NULL));
	ck_assert_uint_eq(info.stream_type, TBRW_CUSTOM_STREAM);
	assert_success(
		TBRW_convert_uniqueid_to_string(file, sizeof(name), &info.comment, name, NULL));
	ck_assert(wcscmp(name, L"tbcollect.strings") == 0);
	assert_success(TBRW_reading_stream_section(file, 1, TBRW_DATA_SECTION));
	assert_success(TBRW_enumerate_data(file, 1, count_text_bytes, &bytes, 0));
	ck_assert_uint_eq(bytes, strlen("/opt/app"
					"app --fast"
					"app"
					"worker"));
	assert_success(TBRW_abort_cleanup_and_close(file));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile roundtrip");
	TCase *tcase = fixture_case(suite);

	tcase_add_test(tcase, empty_run);
	tcase_add_test(tcase, images);
	tcase_add_test(tcase, frames_and_nodes);
	tcase_add_test(tcase, samples);
	tcase_add_test(tcase, samples_stop_early);
	tcase_add_loop_test(tcase, sample_counts, 0, 5);
	tcase_add_test(tcase, modules);
	tcase_add_test(tcase, processes_and_threads);
	tcase_add_test(tcase, clocks_and_notes);
	tcase_add_test(tcase, start_of_the_collection);
	tcase_add_test(tcase, texts_are_stored_once);
	tcase_add_test(tcase, other_readers_see_the_streams);
	return run_suite(suite);
}
