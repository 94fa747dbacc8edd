/* What the tracker guesses, how it tries its guesses, and what it counts of unwinding. The unwinder
 * is a fake. */
#include "collector/machine/registers.h"
#include "tests/collector/fake_unwind.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdio.h>

enum { APP = 5000000, PROVEN = 4 /* tries before a guess is shown */ };

static void setup(void)
{
	fixture_setup();
	fixture_configure((struct fixture_config){.has_count = true,
						  .unwind = true,
						  .collapse = true,
						  .kernel_time = PROFILE_KERNEL_TIME_FRAMES});
	feed_launch(10, APP, "app");
	fake_walk_set("c", UW_STOP_ROOT);
}

static struct record make_sample(void)
{
	return fixture_make_sample(20, APP);
}

static void apply_walks(const struct record *record, const char *letters, enum uw_stop stop,
			unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		fake_walk_set_placed(letters, stop);
		fixture_apply(record, false);
	}
}

/* Has stacks of xcba, of which copies end between c and b, tried often enough for guesses. */
static void prove(struct record *record)
{
	record->sample.stack.base = 0x7000;
	record->sample.stack.size = 0x9d8;
	apply_walks(record, "zyc", UW_STOP_TRUNCATED, 1);
	apply_walks(record, "xcba", UW_STOP_ROOT, 4 + PROVEN);
}

/* Guessed frames are not those that were verified, and so are the nodes. Loop: stops. */
START_TEST(outer_frames_are_guessed)
{
	enum uw_stop stop = (enum uw_stop)_i;
	struct record record = make_sample();
	prove(&record);
	fake_walk_set_placed("zyc", stop);
	struct profile_sample out = fixture_apply(&record, false);
	if (stop != UW_STOP_TRUNCATED && stop != UW_STOP_NOT_RESIDENT) {
		ck_assert_int_ne(out.stack.state, PROFILE_STACK_GUESSED);
		ck_assert_uint_eq(out.stack.verified, 0);
		ck_assert_uint_eq(out.stack.guess_level, PROFILE_GUESS_NONE);
		ck_assert_uint_eq(out.stack.guess_hits, 0);
		return;
	}
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_GUESSED);
	ck_assert_int_eq(out.stack.reason, stop == UW_STOP_TRUNCATED ? PROFILE_SKIP_TRUNCATED
								     : PROFILE_SKIP_NOT_RESIDENT);
	ck_assert_uint_eq(out.stack.verified, 3);
	ck_assert_uint_eq(out.stack.guess_level, PROFILE_GUESS_AGREED);
	ck_assert_uint_eq(out.stack.guess_hits, 8);
	ck_assert_uint_eq(out.stack.node, 12);
	fake_emit_assert(emit, "node 8 parent 0 frame 6", 1);
	fake_emit_assert(emit, "frame 6 1+61 flags 2", 1);
	fake_emit_assert(emit, "frame 7 1+62 flags 2", 1);
	fake_emit_assert(emit, "node 10 parent 9 frame 0", 1); /* c, which was verified */
	/* The whole stack is still what is remembered. */
	fake_walk_set_placed("xcba", UW_STOP_ROOT);
	fake_walk()->reused_count = 3;
	out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.stack.node, 7);
	ck_assert_uint_eq(out.stack.verified, 0);
	ck_assert_uint_eq(out.stack.guess_level, PROFILE_GUESS_NONE);
	/* A new mapping, and one in the place of another: what was whole is other code then. */
	feed_map(20, APP, 0x600000, 0x700000, "/lib/new");
	fake_walk_set_placed("zyc", stop);
	ck_assert_int_eq(fixture_apply(&record, false).stack.state, PROFILE_STACK_GUESSED);
	feed_map(20, APP, 0x480000, 0x490000, "/lib/other");
	ck_assert_int_eq(fixture_apply(&record, false).stack.state, PROFILE_STACK_SKIPPED);
}
END_TEST

static void expect_state(const struct record *record, enum profile_stack_state state)
{
	fake_walk_set_placed("zyc", UW_STOP_TRUNCATED);
	ck_assert_int_eq(fixture_apply(record, false).stack.state, state);
}

/* None is shown of a thread on which none was tried, and none while too many of these were wrong.
 */
START_TEST(guesses_are_shown_once_proven)
{
	struct record record = make_sample();
	record.sample.stack.base = 0x7000;
	record.sample.stack.size = 0x9d8;                /* between c and b */
	apply_walks(&record, "xcba", UW_STOP_ROOT, 200); /* tried on its half */
	expect_state(&record, PROFILE_STACK_SKIPPED);
	apply_walks(&record, "xcba", UW_STOP_ROOT, PROVEN - 1);
	expect_state(&record, PROFILE_STACK_SKIPPED);
	apply_walks(&record, "xcba", UW_STOP_ROOT, 1);
	expect_state(&record, PROFILE_STACK_GUESSED);
	apply_walks(&record, "xdba", UW_STOP_ROOT, 4);
	apply_walks(&record, "xd!a", UW_STOP_ROOT, 1);
	expect_state(&record, PROFILE_STACK_SKIPPED);
	apply_walks(&record, "xcba", UW_STOP_ROOT, 80);
	expect_state(&record, PROFILE_STACK_SKIPPED);
	apply_walks(&record, "xcba", UW_STOP_ROOT, 20);
	expect_state(&record, PROFILE_STACK_GUESSED);
}
END_TEST

/* The program goes on to deeper code, of which no stack is whole. */
START_TEST(guesses_grow_old)
{
	struct record record = make_sample();
	prove(&record);
	for (int i = 0; i < 16; i++)
		expect_state(&record, PROFILE_STACK_GUESSED);
	expect_state(&record, PROFILE_STACK_SKIPPED);
	apply_walks(&record, "xcba", UW_STOP_ROOT, 1);
	expect_state(&record, PROFILE_STACK_GUESSED);
}
END_TEST

/* Where there are deep copies, they tell how old a guess is: cut ones too, and samples do not. */
START_TEST(deep_copies_make_guesses_old)
{
	struct record record = make_sample();
	struct record deep = make_sample();
	fixture_configure((
		struct fixture_config){.has_count = true, .unwind = true, .deep_interval_ns = 640});
	feed_launch(10, APP, "app");
	if (_i == 1 && !registers_machine(true)->is_unwound)
		return;
	record.sample.abi = deep.sample.abi = _i == 1 ? RECORD_REGISTERS_32 : RECORD_REGISTERS_64;
	record.sample.stack.base = deep.sample.stack.base = 0x7800;
	record.sample.stack.requested = record.sample.stack.size = 0x1d8; /* between c and b */
	record.sample.period = 10;
	deep.sample.period = 640;
	expect_state(&record, PROFILE_STACK_SKIPPED);
	apply_walks(&deep, "xcba", UW_STOP_ROOT, 4 + PROVEN);
	for (int i = 0; i < 100; i++)
		expect_state(&record, PROFILE_STACK_GUESSED);
	apply_walks(&deep, "zyc", UW_STOP_TRUNCATED, 16);
	expect_state(&record, PROFILE_STACK_GUESSED);
	apply_walks(&deep, "zyc", UW_STOP_TRUNCATED, 1);
	expect_state(&record, PROFILE_STACK_SKIPPED);
}
END_TEST

/* What a cut stack does show is evidence too. */
START_TEST(cut_stacks_contradict)
{
	struct record record = make_sample();
	prove(&record);
	expect_state(&record, PROFILE_STACK_GUESSED);
	fake_walk_set_placed("zyq", UW_STOP_TRUNCATED);
	fake_walk()->frames[2].sp = 0x8000 - 'a' * 0x10;
	fixture_apply(&record, false);
	expect_state(&record, PROFILE_STACK_SKIPPED);
}
END_TEST

/* The kernel's frames are further in than all that is guessed. */
START_TEST(split_counts_kernel_frames)
{
	const uint64_t chain[] = {0xffffffff81000010, 0xffffffff81000400};
	struct record record = make_sample();
	prove(&record);
	record.sample.in_kernel = true;
	record.sample.callchain = (const uint8_t *)chain;
	record.sample.callchain_length = 2;
	fake_walk_set_placed("zyc", UW_STOP_TRUNCATED);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_GUESSED);
	ck_assert_uint_eq(out.stack.verified, 5);
	ck_assert_uint_eq(out.stack.guess_hits, 8);
}
END_TEST

/* A deep copy, told by its period: remembered, but neither a sample nor time nor a place in the
 * tree. Loop: 64-bit code and 32-bit. */
START_TEST(deep_copies_are_remembered)
{
	struct record record = make_sample();
	struct record deep = make_sample();
	fixture_configure((
		struct fixture_config){.has_count = true, .unwind = true, .deep_interval_ns = 640});
	feed_launch(10, APP, "app");
	record.sample.stack.base = deep.sample.stack.base = 0x1000;
	record.sample.period = 10;
	record.sample.count = 100;
	deep.sample.period = 640;
	deep.sample.count = 1000; /* of its own event */
	deep.sample.stack.size = 64;
	fake_walk_set_placed("xcba", UW_STOP_ROOT);
	feed(&deep, 0, true); /* pressed for time */
	ck_assert_uint_eq(fake_walk()->walks, 0);
	deep.tid = APP + 1; /* nobody knows it */
	feed(&deep, 0, false);
	deep.tid = APP;
	for (int i = 0; i < 4; i++)
		feed(&deep, 0, false);
	ck_assert_uint_eq(fake_walk()->walks, 4);
	ck_assert_uint_eq(fake_emit_count(emit, "sample "), 0);
	ck_assert_uint_eq(fake_emit_count(emit, "node "), 0);
	fake_walk_set_placed("zyc", UW_STOP_TRUNCATED);
	record.sample.stack.base = deep.sample.stack.base = 0x7800;
	record.sample.stack.requested = record.sample.stack.size = 0x1d8; /* between c and b */
	ck_assert_int_eq(fixture_apply(&record, false).stack.state, PROFILE_STACK_SKIPPED);
	fake_walk_set_placed("xcba", UW_STOP_ROOT);
	for (int i = 0; i < PROVEN; i++)
		feed(&deep, 0, false);
	record.sample.count = 200;
	fake_walk_set_placed("zyc", UW_STOP_TRUNCATED);
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_GUESSED);
	ck_assert_uint_eq(out.stack.cpu_ns, 100);
	/* What they left behind is what the next whole stack builds on. */
	fake_walk_set_placed("xcba", UW_STOP_ROOT);
	fake_walk()->reused_count = 3;
	record.sample.count = 210;
	out = fixture_apply(&record, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_COMPLETE);
	ck_assert_uint_eq(out.stack.cpu_ns, 10);
	struct tracker_counts counts;
	tracker_counts(tracker, &counts);
	ck_assert_uint_eq(counts.samples, 3);
	ck_assert_uint_eq(counts.cpu_ns, 210);
	ck_assert_uint_eq(counts.threads, 1);
	ck_assert_uint_eq(counts.stack_copy_bytes, 8 * 64 + 3 * 0x1d8);
}
END_TEST

/* A copy with gaps proves nothing of where it ends. */
START_TEST(gaps_are_not_guessed)
{
	struct record record = make_sample();
	prove(&record);
	fake_walk_set_placed("zyc", UW_STOP_NOT_RESIDENT);
	record.sample.stack_absent = true;
	ck_assert_int_eq(fixture_apply(&record, false).stack.state, PROFILE_STACK_SKIPPED);
}
END_TEST

static struct profile_unwinding taken(enum profile_unwinding_kind kind)
{
	return fake_emit_unwinding(emit, kind);
}

/* What unwinding took is added up over the lives of processes, those that ended among them. */
START_TEST(unwinding_is_noted)
{
	struct record record = make_sample();
	fake_walk_set("dcba", UW_STOP_ROOT);
	fake_walk()->frames[1].source = UW_SOURCE_CFI;
	fake_walk()->frames[2].source = UW_SOURCE_CFI;
	fake_walk()->frames[3].source = UW_SOURCE_FRAME_POINTER;
	fixture_apply(&record, false);
	fixture_apply(&record, true); /* no walk */
	feed_exec(20, APP, "next");
	feed_map(20, APP, 0x400000, 0x500000, "/bin/next");
	for (unsigned i = 1; i < 100; i++) {
		fake_walk()->reused_count = 3;
		fixture_apply(&record, false);
	}
	fixture_end();
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).walks, 100);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).frames, 400);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).frames_by_info, 200);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).frames_by_pointer, 100);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).frames_reused, 3 * 99);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).lookups, 0);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).timed_walks, 2);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).timed_frames, 8);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).guesses_tested,
			  0); /* frames that are all in one place */
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).guesses_covered, 0);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).guesses_wrong, 0);
	ck_assert_uint_gt(taken(PROFILE_UNWINDING_RUN).timed_ns, 0);
}
END_TEST

static void assert_tests(uint64_t tested, uint64_t covered, uint64_t wrong)
{
	fixture_end();
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).guesses_tested, tested);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).guesses_covered, covered);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).guesses_wrong, wrong);
}

/* One whole stack in 64 is tried; the second one that is has another caller than all before. */
START_TEST(guesses_are_tested)
{
	struct record record = make_sample();
	record.sample.stack.base = 0x7000;
	apply_walks(&record, "xcba", UW_STOP_ROOT, 127);
	apply_walks(&record, "xcpa", UW_STOP_ROOT, 1);
	assert_tests(2, 2, 1);
}
END_TEST

/* Once a stack was cut, what lies beyond that place is what whole stacks of its thread are tried
 * on, each of the first thousand, and nothing else counts any more. */
START_TEST(guesses_are_tested_where_copies_end)
{
	struct record record = make_sample();
	struct record other = make_sample();
	record.sample.stack.base = other.sample.stack.base = 0x7000;
	record.sample.stack.size = 0x9d8; /* between c and b */
	other.tid = APP + 1;
	apply_walks(&record, "xcba", UW_STOP_ROOT, 128); /* two tries, but of no guess made */
	apply_walks(&record, "zyc", UW_STOP_TRUNCATED, 1);
	apply_walks(&other, "xcba", UW_STOP_ROOT, 200); /* never cut: not tried */
	apply_walks(&record, "xcba", UW_STOP_ROOT, 3);
	apply_walks(&record, "xdba", UW_STOP_ROOT, 1); /* d is new: nothing is guessed */
	apply_walks(&record, "ye", UW_STOP_ROOT, 1);   /* it does not reach that far */
	apply_walks(&record, "xcb!", UW_STOP_ROOT, 1); /* the root is another one */
	assert_tests(5, 4, 1);
	fake_emit_assert(emit,
			 "unwinding thread 5000001 walks 200 frames 800 info 0 pointer 0 reused 0 "
			 "lookups 0 timed 3/12 guesses 0/0/0",
			 1);
}
END_TEST

/* So it is for a thread that has ended with its account still open, and whose tid is used again. */
START_TEST(tests_of_ended_threads)
{
	struct record first = make_sample();
	struct record second = make_sample();
	fixture_configure(
		(struct fixture_config){.has_count = true, .unwind = true, .final_counts = true});
	feed_launch(10, APP, "app");
	feed_fork(10, APP, APP + 1, APP, APP);
	first.sample.stack.base = second.sample.stack.base = 0x7000;
	first.sample.stack.size = 0x9d8; /* between c and b */
	second.tid = APP + 1;
	apply_walks(&second, "xcba", UW_STOP_ROOT, 128);
	feed_exit(20, APP, APP + 1);
	feed_fork(20, APP, APP + 1, APP, APP);
	apply_walks(&first, "zyc", UW_STOP_TRUNCATED, 1);
	assert_tests(0, 0, 0);
	fake_emit_assert(emit,
			 "unwinding thread 5000001 walks 128 frames 512 info 0 pointer 0 reused 0 "
			 "lookups 0 timed 2/8 guesses 0/0/0",
			 1);
}
END_TEST

START_TEST(many_guesses_are_tested_now_and_then)
{
	struct record record = make_sample();
	record.sample.stack.base = 0x7000;
	record.sample.stack.size = 0x9d8;
	apply_walks(&record, "zyc", UW_STOP_TRUNCATED, 1);
	apply_walks(&record, "xcba", UW_STOP_ROOT, 1000 + 80);
	assert_tests(1010, 1006, 0);
}
END_TEST

/* Where there are deep copies, each that is larger than a sample's is tried, cut where that one
 * ends, and no sample. */
START_TEST(deep_copies_are_tested)
{
	struct record record = make_sample();
	struct record deep = make_sample();
	fixture_configure((
		struct fixture_config){.has_count = true, .unwind = true, .deep_interval_ns = 640});
	feed_launch(10, APP, "app");
	record.sample.stack.base = deep.sample.stack.base = 0x7800;
	record.sample.stack.requested = record.sample.stack.size = 0x1d8; /* between c and b */
	record.sample.period = 10;
	deep.sample.period = 640;
	apply_walks(&record, "xcba", UW_STOP_ROOT, 200); /* tried on its half, now and then */
	apply_walks(&deep, "xcba", UW_STOP_ROOT, 2);
	apply_walks(&deep, "zyc", UW_STOP_TRUNCATED, 1);
	apply_walks(&deep, "zye", UW_STOP_ROOT, 1); /* a sample's copy is enough */
	apply_walks(&deep, "xcb!", UW_STOP_ROOT, 1);
	apply_walks(&record, "zyc", UW_STOP_TRUNCATED, 1); /* samples that are cut change nothing */
	apply_walks(&record, "xcba", UW_STOP_ROOT, 200);
	apply_walks(&deep, "xcba", UW_STOP_ROOT, 1);
	assert_tests(4, 3, 1);
	/* They are no walks of samples. */
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).walks, 401);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).frames, 400 * 4 + 3);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_DEEP).walks, 6);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_DEEP).frames, 4 * 4 + 2 * 3);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).timed_walks, 6);
	fake_emit_assert(emit,
			 "unwinding thread 5000000 walks 401 frames 1603 info 0 pointer 0 reused 0 "
			 "lookups 0 timed 6/24 guesses 4/3/1",
			 1);
}
END_TEST

/* A deep copy that comes before any sample was walked says nothing of a sample's size. */
START_TEST(deep_copy_before_samples)
{
	struct record deep = make_sample();
	fixture_configure((struct fixture_config){.unwind = true, .deep_interval_ns = 640});
	feed_launch(10, APP, "app");
	deep.sample.stack.base = 0x7800;
	deep.sample.period = 640;
	apply_walks(&deep, "xcba", UW_STOP_ROOT, 10);
	assert_tests(0, 0, 0);
}
END_TEST

/* By thread, ended ones too, and by the image of the leaf; all together the whole run. */
START_TEST(unwinding_is_counted_apart)
{
	struct record record = make_sample();
	struct record second = make_sample();
	second.tid = APP + 1;
	feed_fork(10, APP, APP + 1, APP, APP);
	fake_walk_set("cba", UW_STOP_ROOT);
	fake_walk()->frames[1].source = UW_SOURCE_CFI;
	fake_walk()->frames[2].source = UW_SOURCE_FRAME_POINTER;
	fixture_apply(&second, false);
	feed_exit(20, APP, APP + 1);
	fake_walk()->frames[0].tag = 7;
	fake_walk()->reused_count = 2;
	fixture_apply(&record, false);
	fixture_apply(&record, false);
	fake_walk()->frames[0].tag = UW_TAG_NONE;
	fixture_apply(&record, false);
	fixture_apply(&record, true); /* no walk */
	fixture_end();
	fake_emit_assert(emit,
			 "unwinding thread 5000001 walks 1 frames 3 info 1 pointer 1 reused 0 "
			 "lookups 0 timed 0/0 guesses 0/0/0",
			 1);
	fake_emit_assert(emit,
			 "unwinding thread 5000000 walks 3 frames 9 info 3 pointer 3 reused 4 "
			 "lookups 0 timed 0/0 guesses 0/0/0",
			 1);
	fake_emit_assert(emit,
			 "unwinding image 1 walks 1 frames 3 info 1 pointer 1 reused 0 "
			 "lookups 0 timed 0/0 guesses 0/0/0",
			 1);
	fake_emit_assert(emit,
			 "unwinding image 7 walks 2 frames 6 info 2 pointer 2 reused 2 "
			 "lookups 0 timed 0/0 guesses 0/0/0",
			 1);
	fake_emit_assert(emit,
			 "unwinding image 0 walks 1 frames 3 info 1 pointer 1 reused 2 "
			 "lookups 0 timed 0/0 guesses 0/0/0",
			 1);
	ck_assert_uint_eq(fake_emit_count(emit, "unwinding "), 7);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).walks, 4);
	ck_assert_uint_eq(taken(PROFILE_UNWINDING_RUN).frames_reused, 4);
}
END_TEST

START_TEST(nothing_is_noted_without_stacks)
{
	struct record record = make_sample();
	fixture_configure((struct fixture_config){.has_count = true});
	feed_launch(10, APP, "app");
	fixture_apply(&record, false);
	fixture_end();
	ck_assert_uint_eq(fake_emit_count(emit, "note "), 0);
	ck_assert_uint_eq(fake_emit_count(emit, "unwinding "), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker guesses");
	TCase *tcase = tcase_create("guesses");

	tcase_add_checked_fixture(tcase, setup, fixture_teardown);
	tcase_add_loop_test(tcase, outer_frames_are_guessed, 0, UW_STOP_COUNT);
	tcase_add_test(tcase, guesses_are_shown_once_proven);
	tcase_add_test(tcase, guesses_grow_old);
	tcase_add_test(tcase, deep_copies_make_guesses_old);
	tcase_add_test(tcase, cut_stacks_contradict);
	tcase_add_test(tcase, split_counts_kernel_frames);
	tcase_add_loop_test(tcase, deep_copies_are_remembered, 0, 2);
	tcase_add_test(tcase, gaps_are_not_guessed);
	tcase_add_test(tcase, unwinding_is_noted);
	tcase_add_test(tcase, guesses_are_tested);
	tcase_add_test(tcase, guesses_are_tested_where_copies_end);
	tcase_add_test(tcase, tests_of_ended_threads);
	tcase_add_test(tcase, many_guesses_are_tested_now_and_then);
	tcase_add_test(tcase, deep_copies_are_tested);
	tcase_add_test(tcase, deep_copy_before_samples);
	tcase_add_test(tcase, unwinding_is_counted_apart);
	tcase_add_test(tcase, nothing_is_noted_without_stacks);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
