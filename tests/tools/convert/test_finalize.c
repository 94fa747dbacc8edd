/* Finalization, folded stacks and recovery, on results with known content. */
#include "tbrw/profile/writer.h"
#include "tests/support/suite.h"
#include "tests/tools/build_result.h"
#include "tools/cli/output.h"
#include "tools/cli/xalloc.h"
#include "tools/convert/finalize.h"
#include "tools/convert/recover.h"
#include "tools/export/export.h"
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[32];
static char path[64];
static char other_path[64];

static void set_up(void)
{
	build_directory(directory);
	snprintf(path, sizeof(path), "%s/r.tb5", directory);
	snprintf(other_path, sizeof(other_path), "%s/other.tb5", directory);
}

static void tear_down(void)
{
	build_directory_remove(directory);
}

static const struct build_sample samples[] = {
	{.stack = "app:_start libc:start app:main app:work", .count = 4, .cpu_ms = 10},
	{.stack = "app:_start libc:start app:main app:outer>inner",
	 .count = 2,
	 .cpu_ms = 10,
	 .thread = 1},
	{.stack = "lib:a;b lib:odd",
	 .count = 3,
	 .cpu_ms = 5,
	 .state = PROFILE_STACK_SKIPPED,
	 .reason = PROFILE_SKIP_TRUNCATED,
	 .thread = 2},
	{.stack = "app:main ? app:", .count = 1, .cpu_ms = 1},
	{.stack = "app:main", .count = 1, .cpu_ms = 1, .state = PROFILE_STACK_GUESSED},
};

static struct profile_reader *open_reader(const char *result)
{
	struct profile_reader *reader;
	ck_assert_uint_eq(profile_reader_open(result, &reader), VT_SUCCESS);
	return reader;
}

static char *fold(const char *result, bool with_threads)
{
	struct profile_reader *reader = open_reader(result);
	struct export_options options = {.with_threads = with_threads};
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	ck_assert_uint_eq(export_folded_write(reader, &options, stream), VT_SUCCESS);
	fclose(stream);
	profile_reader_close(reader);
	return text;
}

START_TEST(test_folded)
{
	struct build_result result = {.samples = samples, .count = 5, .is_finalized = true};
	build_result_write(path, &result);
	char *text = fold(path, false);
	ck_assert_str_eq(text, "app;[Guessed frame(s)];main 1\n"
			       "app;_start;start;main;outer;inner 2\n"
			       "app;_start;start;main;work 4\n"
			       "app;main;[Unknown frame(s)];func@0x1054 1\n"
			       "helper;[Skipped frame(s)];a:b;odd 3\n");
	free(text);
	text = fold(path, true);
	ck_assert_str_eq(text, "app;app-100;[Guessed frame(s)];main 1\n"
			       "app;app-100;_start;start;main;work 4\n"
			       "app;app-100;main;[Unknown frame(s)];func@0x1054 1\n"
			       "app;worker-101;_start;start;main;outer;inner 2\n"
			       "helper;helper-102;[Skipped frame(s)];a:b;odd 3\n");
	free(text);
}
END_TEST

/* Time in the kernel counts as the samples that it would have had; loop: or did have. */
START_TEST(test_folded_kernel_time)
{
	static const struct build_sample apart[] = {
		{.stack = "app:main", .count = 3, .cpu_ms = 10},
		{.stack = "app:main", .count = 2, .cpu_ms = 40, .kernel_ms = 30},
		{.stack = "app:main", .cpu_ms = 20, .kernel_ms = 10, .thread = 1},
		/* less than half an interval in all of it */
		{.stack = "app:main", .cpu_ms = 14, .kernel_ms = 4, .thread = 2},
	};
	static const struct build_sample sampled[] = {
		{.stack = "app:main", .count = 5, .cpu_ms = 10},
		{.stack = "", .count = 6, .cpu_ms = 9, .is_kernel_only = true},
		{.stack = "app:main", .cpu_ms = 10, .thread = 1},
		{.stack = "", .cpu_ms = 9, .is_kernel_only = true, .thread = 1},
		{.stack = "app:main", .cpu_ms = 10, .thread = 2},
	};
	struct build_result result = {.samples = _i == 0 ? apart : sampled,
				      .count = _i == 0 ? 4 : 5,
				      .is_finalized = true};
	build_result_write(path, &result);
	char *text = fold(path, false);
	ck_assert_str_eq(text, "app;[System calls and faults] 7\n"
			       "app;main 6\n"
			       "helper;main 1\n");
	free(text);
	text = fold(path, true);
	ck_assert_str_eq(text, "app;app-100;[System calls and faults] 6\n"
			       "app;app-100;main 5\n"
			       "app;worker-101;[System calls and faults] 1\n"
			       "app;worker-101;main 1\n"
			       "helper;helper-102;main 1\n");
	free(text);
}
END_TEST

START_TEST(test_folded_empty)
{
	struct build_result result = {0};
	build_result_write(path, &result);
	char *text = fold(path, true);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

/* Frames of the subject at the addresses that it prints itself. */
static unsigned write_subject_result(uint64_t rvas[8], char names[8][64])
{
	struct profile_writer *writer;
	struct profile_run run = {
		.clock = {.tsc = 1, .raw_ns = 1, .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "", .comment = "", .clock = run.clock};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	uint32_t index;
	unsigned count = 0;
	FILE *subject = popen("'" SUBJECT_PIE "'", "r");
	ck_assert_ptr_nonnull(subject);
	while (count < 8 && fscanf(subject, "%63s %lx", names[count], &rvas[count]) == 2)
		count++;
	ck_assert_int_eq(pclose(subject), 0);
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, SUBJECT_PIE, &index),
			  VT_SUCCESS);
	/* backwards: finalization must not rely on the order of addresses */
	for (unsigned i = count; i-- > 0;) {
		struct profile_frame frame = {.image = index, .rva = rvas[i] + 1};
		ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
	}
	struct profile_frame unknown = {.image = 0, .rva = 0x1234};
	ck_assert_uint_eq(profile_writer_add_frame(writer, &unknown), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
	return count;
}

#define START_NS 1000000000ull

/* Of one frame in SUBJECT_PIE, mapped twice; the collection began at that date. */
static void write_mapped_result(uint64_t real_ns, uint64_t load_ns, uint32_t flags)
{
	struct profile_writer *writer;
	struct profile_run run = {
		.clock = {.tsc = START_NS,
			  .raw_ns = START_NS,
			  .real_ns = real_ns,
			  .tsc_per_ns_q32 = UINT64_C(1) << 32},
		.interval_ns = 10000000,
		.event_name = "CPU Time",
	};
	struct profile_run_end end = {.command_line = "", .comment = "", .clock = run.clock};
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .flags = flags};
	struct profile_frame frame = {.image = 1, .rva = 0x1234};
	uint32_t index;
	ck_assert_uint_eq(profile_writer_create(path, &run, &writer), VT_SUCCESS);
	ck_assert_uint_eq(profile_writer_add_image(writer, &image, SUBJECT_PIE, &index),
			  VT_SUCCESS);
	for (unsigned i = 0; i < 2; i++) {
		struct profile_module module = {.pid = 100 + i,
						.image = index,
						.start = 0x10000,
						.length = 0x10000,
						.load_ns = i == 0 ? load_ns : START_NS * 100,
						.path = SUBJECT_PIE,
						.cs = 0x33,
						.is_first = true};
		ck_assert_uint_eq(profile_writer_add_module(writer, &module), VT_SUCCESS);
	}
	ck_assert_uint_eq(profile_writer_add_frame(writer, &frame), VT_SUCCESS);
	end.clock.raw_ns += START_NS;
	end.clock.tsc += START_NS;
	end.clock.real_ns += START_NS;
	ck_assert_uint_eq(profile_writer_finish(writer, &end), VT_SUCCESS);
}

static const struct {
	int64_t started_s; /* the collection, after the file was changed */
	uint64_t load_ns;
	uint32_t flags;
	bool is_taken;
} mapped[] = {
	{10, PROFILE_TIME_BEFORE, 0, true},
	{-10, PROFILE_TIME_BEFORE, 0, false},
	{-10, START_NS * 2, 0, false},
	{-10, START_NS * 20, 0, true},
	/* the collector saw that it was, whatever the date says */
	{10, PROFILE_TIME_BEFORE, PROFILE_IMAGE_NOT_OPEN | PROFILE_IMAGE_CHANGED, false},
	{10, PROFILE_TIME_BEFORE, PROFILE_IMAGE_NOT_OPEN, true},
};

/* Loop: a file without a build-id is the one that was first mapped, or another one. */
START_TEST(test_finalize_changed_file)
{
	struct progress progress = {0};
	struct finalized finalized;
	struct stat status;
	ck_assert_int_eq(stat(SUBJECT_PIE, &status), 0);
	write_mapped_result((uint64_t)(status.st_ctim.tv_sec + mapped[_i].started_s) * 1000000000,
			    mapped[_i].load_ns, mapped[_i].flags);
	struct profile_reader *reader = open_reader(path);
	finalize_collect(reader, NULL, &progress, &finalized);
	profile_reader_close(reader);
	ck_assert_uint_eq(finalized.miss_count, mapped[_i].is_taken ? 0 : 1);
	if (!mapped[_i].is_taken)
		ck_assert_int_eq(finalized.misses[0].status, SYMBOL_IMAGE_REPLACED);
	finalize_finish(&finalized);
}
END_TEST

static void finalize(const char *result)
{
	struct profile_reader *reader = open_reader(result);
	struct progress progress = {0};
	struct finalized finalized;
	finalize_collect(reader, NULL, &progress, &finalized);
	profile_reader_close(reader);
	ck_assert_uint_eq(finalize_write(result, &finalized), VT_SUCCESS);
	finalize_finish(&finalized);
}

START_TEST(test_finalize)
{
	uint64_t rvas[8];
	char names[8][64];
	unsigned count = write_subject_result(rvas, names);
	finalize(path);
	finalize(path); /* again: the last one counts */
	struct profile_reader *reader = open_reader(path);
	for (unsigned i = 0; i < count; i++) {
		uint32_t found = 0;
		const struct profile_symbol *symbols =
			profile_reader_symbols(reader, count - 1 - i, &found);
		ck_assert_uint_ge(found, 1);
		const struct profile_symbol *last = &symbols[found - 1];
		const char *name = profile_reader_symtext(reader, last->name);
		ck_assert_uint_eq(last->depth, found - 1);
		if (strcmp(names[i], "subject_inlined_place") == 0) {
			ck_assert_uint_eq(found, 3);
			ck_assert_str_eq(profile_reader_symtext(reader, symbols[0].name),
					 "subject_inner");
			ck_assert_uint_eq(symbols[0].flags, PROFILE_SYMBOL_INLINED);
			ck_assert_uint_eq(symbols[0].depth, 0);
			ck_assert_str_eq(name, "subject_outer");
		} else if (strcmp(names[i], "getppid") == 0) {
			ck_assert_str_eq(name, "[Import thunk getppid]");
			ck_assert_uint_eq(last->flags, PROFILE_SYMBOL_PLT);
		} else {
			ck_assert_str_eq(name, names[i]);
			ck_assert_uint_eq(last->start, rvas[i]);
		}
	}
	uint32_t found = 1;
	profile_reader_symbols(reader, count, &found);
	ck_assert_uint_eq(found, 0);
	profile_reader_close(reader);
}
END_TEST

/* Of a result that is finalized, against what is found now: a build of the program that has as
 * much, its stripped one, none at all. */
START_TEST(test_finalize_loses_nothing)
{
	static const struct build_sample good[] = {
		{.stack = "app:main app:outer>inner", .cpu_ms = 1},
	};
	struct build_result result = {.samples = good,
				      .count = 1,
				      .app_path = "/nonexistent/app",
				      .is_finalized = true};
	build_result_write(path, &result);
	char *before = fold(path, false);
	struct profile_reader *reader = open_reader(path);
	struct progress progress = {0};
	struct finalized finalized;
	finalize_collect(reader, NULL, &progress, &finalized);
	profile_reader_close(reader);
	ck_assert_uint_eq(finalized.miss_count, 1);
	ck_assert_uint_eq(finalized.kept.count, 2);
	ck_assert_uint_eq(finalize_write(path, &finalized), VT_SUCCESS);
	finalize_finish(&finalized);
	char *after = fold(path, false);
	ck_assert_str_eq(before, after);
	ck_assert_ptr_nonnull(strstr(after, "main;outer;inner"));
	free(before);
	free(after);
}
END_TEST

/* One address: what the result has, what is found now, whether the former is kept. */
START_TEST(test_finalize_takes_the_better)
{
	static const struct {
		struct profile_symbol has;
		const char *has_name;
		const char *has_file;
		const char *name;
		const char *file;
		bool is_pseudo;
		bool is_kept;
	} cases[] = {
		{{.flags = PROFILE_SYMBOL_PSEUDO}, "[app]", NULL, "f", NULL, false, false},
		{{.flags = PROFILE_SYMBOL_PSEUDO}, "[app]", NULL, NULL, NULL, true, false},
		{{.flags = PROFILE_SYMBOL_PSEUDO}, "func@0x10", NULL, "[app]", NULL, true, true},
		{{0}, "f", NULL, NULL, NULL, true, true},
		{{0}, "f", NULL, NULL, NULL, false, true},
		{{0}, "f", NULL, "g", NULL, false, false},
		{{0}, "f", NULL, "f", "f.c", false, false},
		{{0}, "f", "f.c", "f", NULL, false, true},
		{{0}, "f", "f.c", "f", "f.c", false, false},
		{{.flags = PROFILE_SYMBOL_PLT}, "[Import thunk f]", NULL, NULL, NULL, true, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct build_result result = {.samples = samples, .count = 1};
		struct profile_symbol_writer *writer;
		struct kept_symbols kept;
		struct symbol_address address = {0};
		address.function.name = cases[i].name ? xalloc_text(cases[i].name) : NULL;
		address.function.file = cases[i].file ? xalloc_text(cases[i].file) : NULL;
		address.function.is_pseudo = cases[i].is_pseudo;
		build_result_write(path, &result);
		ck_assert_uint_eq(profile_symbol_writer_begin(path, &writer), VT_SUCCESS);
		ck_assert_uint_eq(profile_symbol_writer_add(
					  writer, &cases[i].has,
					  &(struct profile_symbol_text){cases[i].has_name, NULL,
									cases[i].has_file}),
				  VT_SUCCESS);
		ck_assert_uint_eq(profile_symbol_writer_finish(writer), VT_SUCCESS);
		struct profile_reader *reader = open_reader(path);
		kept_symbols_find(&kept, reader, &address, 1);
		ck_assert_msg(kept_symbols_has(&kept, 0, 0) == cases[i].is_kept, "case %zu", i);
		kept_symbols_finish(&kept);
		symbol_address_finish(&address);
		profile_reader_close(reader);
		ck_assert_int_eq(unlink(path), 0);
	}
}
END_TEST

/* Files that are not there: the functions show as their module, and the miss is reported. */
START_TEST(test_finalize_missing_files)
{
	static const struct build_sample gone[] = {
		{.stack = "lib:x libc:y jit:z vdso:v", .cpu_ms = 1},
	};
	struct build_result result = {.samples = gone, .count = 1, .app_path = "/nonexistent/app"};
	build_result_write(path, &result);
	struct profile_reader *reader = open_reader(path);
	struct progress progress = {0};
	struct finalized finalized;
	finalize_collect(reader, NULL, &progress, &finalized);
	ck_assert_uint_ge(finalized.miss_count, 1);
	ck_assert_str_eq(finalized.misses[0].path, "/opt/app/lib.so");
	ck_assert_int_eq(finalized.misses[0].status, SYMBOL_IMAGE_MISSING);
	ck_assert_uint_eq(finalized.count, 4);
	ck_assert_str_eq(finalized.addresses[0].function.name, "[lib.so]");
	ck_assert(finalized.addresses[0].function.is_pseudo);
	ck_assert_str_eq(finalized.addresses[2].function.name, "[jit]");
	ck_assert(finalized.addresses[3].function.name ||
		  finalized.addresses[3].function.is_pseudo);
	finalize_finish(&finalized);
	profile_reader_close(reader);
}
END_TEST

START_TEST(test_finalize_incomplete_result)
{
	struct build_result result = {.samples = samples, .count = 5, .is_abandoned = true};
	struct finalized nothing = {0};
	build_result_write(path, &result);
	ck_assert_uint_eq(finalize_write(path, &nothing), VT_INCOMPLETE_TB5_ENCOUNTERED);
}
END_TEST

START_TEST(test_recover)
{
	struct build_result result = {.samples = samples, .count = 5, .is_abandoned = true};
	struct progress progress = {0};
	build_result_write(path, &result);
	struct profile_reader *reader = open_reader(path);
	ck_assert(!profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 11);
	ck_assert_uint_eq(recover_write(reader, path, other_path, &progress), VT_SUCCESS);
	profile_reader_close(reader);
	char *before = fold(path, true);
	char *after = fold(other_path, true);
	ck_assert_str_eq(after, before);
	free(before);
	free(after);
	reader = open_reader(other_path);
	ck_assert(profile_reader_complete(reader));
	ck_assert_uint_eq(profile_reader_sample_count(reader), 11);
	ck_assert_uint_eq(profile_reader_module_count(reader), 5);
	ck_assert_uint_eq(profile_reader_image_count(reader), 6);
	uint32_t notes = profile_reader_note_count(reader);
	ck_assert_uint_eq(notes, 1);
	ck_assert_uint_eq(profile_reader_note(reader, 0)->kind, PROFILE_NOTE_WARNING);
	profile_reader_close(reader);
	finalize(other_path);
}
END_TEST

struct copied {
	uint64_t tsc[32];
	uint64_t cpu_ns;
	uint64_t kernel_us;
	size_t count;
};

static bool take_sample(const struct profile_sample_info *sample, void *user)
{
	struct copied *copied = user;
	copied->tsc[copied->count++] = sample->tsc;
	copied->cpu_ns += sample->stack.cpu_ns;
	copied->kernel_us += sample->stack.kernel_us;
	return copied->count < 32;
}

/* A complete result goes through unchanged, so what recovery keeps it keeps exactly. */
START_TEST(test_recover_keeps_everything)
{
	struct build_sample all[5];
	struct build_result result = {.samples = all,
				      .count = 5,
				      .rest_ms = 3,
				      .kernel_time = PROFILE_KERNEL_TIME_APART,
				      .has_twins = true};
	struct progress progress = {0};
	memcpy(all, samples, sizeof(all));
	all[0].kernel_ms = 3;
	all[4].is_kernel_only = true;
	struct copied before = {0};
	struct copied after = {0};
	build_result_write(path, &result);
	struct profile_reader *old = open_reader(path);
	ck_assert_uint_eq(recover_write(old, path, other_path, &progress), VT_SUCCESS);
	struct profile_reader *new = open_reader(other_path);
	ck_assert_uint_eq(profile_reader_each_sample(old, take_sample, &before), VT_SUCCESS);
	ck_assert_uint_eq(profile_reader_each_sample(new, take_sample, &after), VT_SUCCESS);
	ck_assert_int_eq(memcmp(&before, &after, sizeof(before)), 0);
	ck_assert_uint_eq(after.kernel_us, all[0].count * UINT64_C(3000) + PROFILE_KERNEL_ALL);
	struct profile_host_info left_host;
	struct profile_host_info right_host;
	profile_reader_host(old, &left_host);
	profile_reader_host(new, &right_host);
	ck_assert_str_eq(left_host.name, "box");
	ck_assert_str_eq(right_host.name, left_host.name);
	ck_assert_str_eq(right_host.os, left_host.os);
	ck_assert_uint_eq(left_host.logical_cpus, 4);
	ck_assert_uint_eq(right_host.logical_cpus, left_host.logical_cpus);
	ck_assert_uint_eq(profile_reader_note_count(new), profile_reader_note_count(old));
	ck_assert_uint_eq(profile_reader_clock_count(new), profile_reader_clock_count(old));
	ck_assert_uint_eq(profile_reader_process_count(new), profile_reader_process_count(old));
	ck_assert_uint_eq(profile_reader_thread_count(new), profile_reader_thread_count(old));
	for (uint32_t i = 0; i < profile_reader_thread_count(old); i++) {
		const struct profile_thread_info *left = profile_reader_thread(old, i);
		const struct profile_thread_info *right = profile_reader_thread(new, i);
		ck_assert_uint_eq(left->tid, right->tid);
		ck_assert_uint_eq(left->start_tsc, right->start_tsc);
		ck_assert_uint_eq(left->end_tsc, right->end_tsc);
		ck_assert_uint_eq(left->rest_ns, right->rest_ns);
		ck_assert_str_eq(left->name, right->name);
	}
	for (uint32_t i = 0; i < profile_reader_module_count(old); i++) {
		const struct profile_module_info *left = profile_reader_module(old, i);
		const struct profile_module_info *right = profile_reader_module(new, i);
		ck_assert_uint_eq(left->start, right->start);
		ck_assert_uint_eq(left->image, right->image);
		ck_assert_uint_eq(left->load_tsc, right->load_tsc);
		ck_assert_uint_eq(left->unload_tsc, right->unload_tsc);
		ck_assert_int_eq(left->is_executable, right->is_executable);
		ck_assert_str_eq(left->path, right->path);
	}
	unsigned commands = 0;
	unsigned started = 0; /* whose names of generated code count */
	for (uint32_t i = 0; i < profile_reader_note_count(old); i++) {
		const struct profile_note *left = profile_reader_note(old, i);
		const struct profile_note *right = profile_reader_note(new, i);
		ck_assert_uint_eq(left->kind, right->kind);
		ck_assert_uint_eq(left->pid, right->pid);
		ck_assert_uint_eq(left->tsc, right->tsc);
		ck_assert_uint_eq(left->value, right->value);
		ck_assert_str_eq(profile_reader_text(old, left->text),
				 profile_reader_text(new, right->text));
		commands += left->kind == PROFILE_NOTE_PROCESS_COMMAND;
		started += right->kind == PROFILE_NOTE_JIT_STARTED && right->pid == BUILD_PID &&
			   right->value == BUILD_JIT_STARTED &&
			   strcmp(profile_reader_text(new, right->text), BUILD_JIT_PATH) == 0;
	}
	ck_assert_uint_eq(commands, 3);
	ck_assert_uint_eq(started, 1);
	profile_reader_close(old);
	profile_reader_close(new);
}
END_TEST

static void expect_content(const char *name, const char *expected)
{
	char content[64] = "";
	FILE *file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	content[fread(content, 1, sizeof(content) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(content, expected);
}

static unsigned count_files(void)
{
	char command[64];
	unsigned count = 0;
	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", directory);
	FILE *pipe = popen(command, "r");
	ck_assert_int_eq(fscanf(pipe, "%u", &count), 1);
	pclose(pipe);
	return count;
}

START_TEST(test_output_replaces_whole_files_only)
{
	struct output output;
	ck_assert_int_eq(output_open(&output, path), 0);
	fputs("first", output.stream);
	ck_assert_int_eq(access(path, F_OK), -1);
	ck_assert_int_eq(output_finish(&output), 0);
	expect_content(path, "first");
	ck_assert_int_eq(output_open(&output, path), 0);
	fputs("second", output.stream);
	output_abandon(&output);
	expect_content(path, "first");
	ck_assert_uint_eq(count_files(), 1);
}
END_TEST

static void expect_mode_after_output(mode_t mask, mode_t mode)
{
	struct output output;
	struct stat status;
	mode_t before = umask(mask);
	ck_assert_int_eq(output_open(&output, path), 0);
	umask(before);
	ck_assert_int_eq(output_finish(&output), 0);
	ck_assert_int_eq(stat(path, &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, mode);
}

START_TEST(test_output_is_for_its_owner)
{
	expect_mode_after_output(0, 0600);
	ck_assert_int_eq(chmod(path, 0644), 0);
	expect_mode_after_output(0777, 0644);
	ck_assert_int_eq(unlink(path), 0);
	expect_mode_after_output(0777, 0600);
}
END_TEST

START_TEST(test_output_errors)
{
	struct output output;
	ck_assert_int_eq(output_open(&output, "/nonexistent/directory/file"), ENOENT);
	ck_assert_int_eq(output_open(&output, "/dev/full"), 0);
	fputs("lost", output.stream);
	ck_assert_int_eq(output_finish(&output), ENOSPC);
	/* more than a buffer: the error comes before the end */
	ck_assert_int_eq(output_open(&output, "/dev/full"), 0);
	for (int i = 0; i < 100000; i++)
		fputs("lost", output.stream);
	ck_assert_int_eq(output_finish(&output), ENOSPC);
	ck_assert_int_eq(output_open(&output, "/dev/null"), 0);
	ck_assert_uint_eq(output_width(&output), 0);
	ck_assert_int_eq(output_finish(&output), 0);
}
END_TEST

/* As much as goes through without leaving anything for the end. */
static int write_blocks(const char *to)
{
	static char block[65536];
	struct output output;
	memset(block, 'x', sizeof(block));
	ck_assert_int_eq(output_open(&output, to), 0);
	for (int i = 0; i < 64; i++)
		fwrite(block, 1, sizeof(block), output.stream);
	return output_finish(&output);
}

/* A reader that has seen enough is no failure, whenever it goes; what failed first is said. */
START_TEST(test_output_without_reader)
{
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(write_blocks("/dev/full"), ENOSPC);
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
	ck_assert_int_eq(write_blocks("-"), 0);
	ck_assert_int_eq(write_blocks(NULL), 0);
	/* still there for what comes next */
	ck_assert_int_ge(fcntl(STDOUT_FILENO, F_GETFD), 0);
	ck_assert_str_eq(output_name("-"), "standard output");
	ck_assert_str_eq(output_name(NULL), "standard output");
}
END_TEST

static int fail_to_close(void *cookie)
{
	(void)cookie;
	return -1;
}

/* A failure that nothing says the reason of is one. */
START_TEST(test_output_that_cannot_be_closed)
{
	static const cookie_io_functions_t functions = {.close = fail_to_close};
	struct output output;
	ck_assert_int_eq(output_open(&output, path), 0);
	fclose(output.stream);
	output.stream = fopencookie(NULL, "w", functions);
	errno = 0;
	ck_assert_int_eq(output_finish(&output), EIO);
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

/* A file of which not all could be written is not there. */
START_TEST(test_output_that_does_not_fit)
{
	struct rlimit limit = {100000, 100000};
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(write_blocks(path), EFBIG);
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("convert");
	TCase *cases = tcase_create("results");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_folded);
	tcase_add_loop_test(cases, test_folded_kernel_time, 0, 2);
	tcase_add_test(cases, test_folded_empty);
	tcase_add_test(cases, test_finalize);
	tcase_add_test(cases, test_finalize_loses_nothing);
	tcase_add_test(cases, test_finalize_takes_the_better);
	tcase_add_test(cases, test_finalize_missing_files);
	tcase_add_loop_test(cases, test_finalize_changed_file, 0,
			    sizeof(mapped) / sizeof(mapped[0]));
	tcase_add_test(cases, test_finalize_incomplete_result);
	tcase_add_test(cases, test_recover);
	tcase_add_test(cases, test_recover_keeps_everything);
	tcase_add_test(cases, test_output_replaces_whole_files_only);
	tcase_add_test(cases, test_output_is_for_its_owner);
	tcase_add_test(cases, test_output_errors);
	tcase_add_test(cases, test_output_without_reader);
	tcase_add_test(cases, test_output_that_cannot_be_closed);
	tcase_add_test(cases, test_output_that_does_not_fit);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
