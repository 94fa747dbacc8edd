/* Finalization of results with known content. */
#include "profile/write/writer.h"
#include "tests/support/suite.h"
#include "tests/tools/known_result.h"
#include "tools/functions/functions.h"
#include "tools/generated/code_lives.h"
#include "tools/memory/xalloc.h"
#include "tools/symbolization/frame_symbols.h"
#include "tools/symbolization/kept_symbols.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const path = build_path;

/* Frames of the subject at the addresses that it prints itself. */
static unsigned write_subject_result(uint64_t rvas[8], char names[8][64])
{
	struct profile_frame frames[9];
	unsigned count = 0;
	FILE *subject = popen("'" SUBJECT_PIE "'", "r");
	ck_assert_ptr_nonnull(subject);
	while (count < 8 && fscanf(subject, "%63s %lx", names[count], &rvas[count]) == 2)
		count++;
	ck_assert_int_eq(pclose(subject), 0);
	/* backwards: finalization must not rely on the order of addresses */
	for (unsigned i = 0; i < count; i++)
		frames[i] = (struct profile_frame){.image = 1, .rva = rvas[count - 1 - i] + 1};
	frames[count] = (struct profile_frame){.image = 0, .rva = 0x1234};
	known_write_frames(path, SUBJECT_PIE, frames, count + 1);
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
	struct frame_symbols symbols;
	struct stat status;
	ck_assert_int_eq(stat(SUBJECT_PIE, &status), 0);
	write_mapped_result((uint64_t)(status.st_ctim.tv_sec + mapped[_i].started_s) * 1000000000,
			    mapped[_i].load_ns, mapped[_i].flags);
	struct profile_reader *reader = known_reader(path);
	struct code_lives *lives = code_lives_read(reader);
	const struct frame_symbols_source source = {.reader = reader, .lives = lives};
	frame_symbols_collect(&source, &symbols);
	code_lives_destroy(lives);
	profile_reader_close(reader);
	ck_assert_uint_eq(symbols.miss_count, mapped[_i].is_taken ? 0 : 1);
	if (!mapped[_i].is_taken)
		ck_assert_int_eq(symbols.misses[0].status, SYMBOL_FILE_REPLACED);
	frame_symbols_finish(&symbols);
}
END_TEST

START_TEST(test_finalize)
{
	uint64_t rvas[8];
	char names[8][64];
	unsigned count = write_subject_result(rvas, names);
	known_finalize(path);
	known_finalize(path); /* again: the last one counts */
	struct profile_reader *reader = known_reader(path);
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

#ifdef LABELS
/* Variables and code of one image, at the same addresses too. */
START_TEST(test_finalize_variables)
{
	static const struct {
		struct profile_frame frame;
		const char *name; /* NULL: none */
		uint64_t start;
	} expected[] = {
		{{1, PROFILE_FRAME_DATA, 0x20090}, "labels_table", 0x20040},
		{{1, 0, 0x10355}, "labels_next", 0x10350},
		{{1, PROFILE_FRAME_DATA, 0x20008}, "labels_lock", 0x20000},
		{{1, PROFILE_FRAME_DATA, 0x10355}, NULL, 0},
		{{0, PROFILE_FRAME_DATA, 0x20008}, NULL, 0},
	};
	struct profile_frame frames[sizeof(expected) / sizeof(expected[0])];
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		frames[i] = expected[i].frame;
	known_write_frames(path, LABELS, frames, sizeof(frames) / sizeof(frames[0]));
	known_finalize(path);
	struct profile_reader *reader = known_reader(path);
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		uint32_t count = 0;
		const struct profile_symbol *symbols = profile_reader_symbols(reader, i, &count);
		ck_assert_uint_eq(count, expected[i].name ? 1 : 0);
		if (!expected[i].name)
			continue;
		ck_assert_str_eq(profile_reader_symtext(reader, symbols->name), expected[i].name);
		ck_assert_uint_eq(symbols->start, expected[i].start);
	}
	/* Variables are no functions. */
	struct functions *functions = functions_create(reader, true);
	ck_assert_uint_eq(functions_count(functions), 5);
	ck_assert_str_eq(functions_at(functions, 4)->name, "labels_next");
	functions_destroy(functions);
	profile_reader_close(reader);
}
END_TEST
#endif

/* Of a result that is symbols, against what is found now: a build of the program that has as
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
	char *before = known_fold(path, false);
	struct profile_reader *reader = known_reader(path);
	struct frame_symbols symbols;
	struct code_lives *lives = code_lives_read(reader);
	const struct frame_symbols_source source = {.reader = reader, .lives = lives};
	frame_symbols_collect(&source, &symbols);
	code_lives_destroy(lives);
	ck_assert_uint_eq(symbols.miss_count, 1);
	ck_assert_uint_eq(symbols.kept_count, 2);
	ck_assert_uint_eq(frame_symbols_write(path, &symbols), VT_SUCCESS);
	frame_symbols_finish(&symbols);
	profile_reader_close(reader);
	char *after = known_fold(path, false);
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
		struct build_result result = {.samples = known_samples, .count = 1};
		struct profile_writer *writer;
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
		struct profile_reader *reader = known_reader(path);
		ck_assert_msg(kept_symbols_are_better(reader, &address) == cases[i].is_kept,
			      "case %zu", i);
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
	struct profile_reader *reader = known_reader(path);
	struct frame_symbols symbols;
	struct code_lives *lives = code_lives_read(reader);
	const struct frame_symbols_source source = {.reader = reader, .lives = lives};
	frame_symbols_collect(&source, &symbols);
	code_lives_destroy(lives);
	ck_assert_uint_ge(symbols.miss_count, 1);
	ck_assert_str_eq(symbols.misses[0].path, "/opt/app/lib.so");
	ck_assert_int_eq(symbols.misses[0].status, SYMBOL_FILE_MISSING);
	ck_assert_uint_eq(symbols.count, 4);
	ck_assert_str_eq(symbols.addresses[0].function.name, "[lib.so]");
	ck_assert(symbols.addresses[0].function.is_pseudo);
	ck_assert_str_eq(symbols.addresses[2].function.name, "[jit]");
	ck_assert(symbols.addresses[3].function.name || symbols.addresses[3].function.is_pseudo);
	frame_symbols_finish(&symbols);
	profile_reader_close(reader);
}
END_TEST

START_TEST(test_finalize_incomplete_result)
{
	struct build_result result = {.samples = known_samples,
				      .count = KNOWN_SAMPLES,
				      .is_abandoned = true};
	struct frame_symbols nothing = {0};
	build_result_write(path, &result);
	ck_assert_uint_eq(frame_symbols_write(path, &nothing), VT_INCOMPLETE_TB5_ENCOUNTERED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("finalize");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, build_set_up, build_tear_down);
	tcase_add_test(cases, test_finalize);
#ifdef LABELS
	tcase_add_test(cases, test_finalize_variables);
#endif
	tcase_add_test(cases, test_finalize_loses_nothing);
	tcase_add_test(cases, test_finalize_takes_the_better);
	tcase_add_test(cases, test_finalize_missing_files);
	tcase_add_test(cases, test_finalize_incomplete_result);
	tcase_add_loop_test(cases, test_finalize_changed_file, 0,
			    (int)(sizeof(mapped) / sizeof(mapped[0])));
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
