/* Samples in kernel mode without --kernel: they stand where user code entered the kernel. */
#include "collector/machine/registers.h"
#include "collector/model/tracker.h"
#include "tests/collector/fake_emit.h"
#include "tests/collector/fake_unwind.h"
#include "tests/collector/tracker_fixture.h"
#include "tests/support/suite.h"
#include <check.h>

#define APP       5000000u
#define KERNEL_IP 0xffffffff81000010u

static const uint64_t callchain[] = {KERNEL_IP};

static void configure(struct fixture_config config)
{
	config.has_count = true;
	config.kernel_time = PROFILE_KERNEL_TIME_AT_CALLS;
	fixture_configure(config);
	feed_launch(10, APP, "app");
}

static void setup(void)
{
	fixture_setup();
	configure((struct fixture_config){.unwind = true, .collapse = true});
	fake_walk_set("ba", UW_STOP_ROOT);
}

/* In the kernel, which was entered at 400020; the stack is there. */
static struct record make_sample(void)
{
	struct record record = fixture_make_sample(20, APP);
	record.sample.in_kernel = true;
	record.sample.ip = KERNEL_IP;
	record.sample.stack = (struct uw_stack){.requested = 8, .size = 8};
	return record;
}

static void assert_no_kernel(void)
{
	ck_assert_uint_eq(fake_emit_count(emit, "load 0 "), 0);
	fake_emit_assert(emit, "image 1 kind 4 flags 0 [vmlinux]", 0);
}

static void assert_at_call(const struct profile_sample *out)
{
	ck_assert_uint_eq(out->ip, 0x400020);
	ck_assert_uint_eq(out->cs, 0x33);
	ck_assert_int_eq(out->stack.state, PROFILE_STACK_COMPLETE);
	ck_assert_uint_eq(out->stack.node, 2);
	ck_assert_uint_eq(out->stack.kernel_us, 0);
	assert_no_kernel();
}

/* The whole weight is the kernel's; nothing of the sample is walked, and no address is kept. */
static void assert_all_kernel(const struct profile_sample *out, uint64_t weight)
{
	ck_assert_uint_eq(out->ip, 0);
	ck_assert_int_eq(out->stack.state, PROFILE_STACK_NONE);
	ck_assert_int_eq(out->stack.reason, PROFILE_SKIP_NOT_SKIPPED);
	ck_assert_uint_eq(out->stack.node, 0);
	ck_assert_uint_eq(out->stack.kernel_us, PROFILE_KERNEL_ALL);
	ck_assert_uint_eq(out->stack.cpu_ns, weight);
	ck_assert_uint_eq(fake_walk()->walks, 0);
	assert_no_kernel();
}

/* Even if there is a callchain: it was not asked for. */
START_TEST(stands_at_the_call)
{
	struct record record = make_sample();
	record.sample.callchain = (const uint8_t *)callchain;
	record.sample.callchain_length = 1;
	struct profile_sample out = fixture_apply(&record, false);
	assert_at_call(&out);
}
END_TEST

/* Of 64-bit and 32-bit code: its own program counter, of all registers. */
START_TEST(at_the_program_counter)
{
	struct record record = make_sample();
	for (size_t i = 0; i < UW_REGS_MAX; i++)
		record.sample.regs.value[i] = 0x480000 + i;
	record.sample.abi = _i == 0 ? RECORD_REGISTERS_64 : RECORD_REGISTERS_32;
	record.sample.regs.value[registers_machine(_i == 1)->ip] = 0x400020;
	ck_assert_uint_eq(fixture_apply(&record, false).ip, 0x400020);
}
END_TEST

START_TEST(leaf_only)
{
	struct record record = make_sample();
	struct profile_sample out = fixture_apply(&record, true);
	ck_assert_uint_eq(out.ip, 0x400020);
	ck_assert_uint_eq(out.stack.reason, PROFILE_SKIP_BUDGET);
	fake_emit_assert(emit, "frame 0 1+20 flags 0", 1);
}
END_TEST

/* A kernel thread, a task that has given its memory back. */
START_TEST(no_user_code)
{
	struct record record = make_sample();
	record.sample.abi = RECORD_REGISTERS_NONE;
	record.sample.count = 700;
	struct profile_sample out = fixture_apply(&record, false);
	assert_all_kernel(&out, 700);
}
END_TEST

/* Until exec is over, the registers are the last program's: loop, at what shows it. */
START_TEST(program_is_starting)
{
	struct record record = make_sample();
	struct record stale = make_sample();
	if (_i == 0)
		stale.sample.stack.size = 0;
	for (size_t i = 0; i < UW_REGS_MAX && _i == 1; i++)
		stale.sample.regs.value[i] = 0x7f0000001234;
	stale.sample.count = 300;
	struct profile_sample out = fixture_apply(&stale, false);
	assert_all_kernel(&out, 300);
	out = fixture_apply(&record, false);
	assert_at_call(&out);
	/* From here on such a sample is the program's own. */
	fake_walk_set("c", UW_STOP_NOT_RESIDENT);
	out = fixture_apply(&stale, false);
	ck_assert_int_eq(out.stack.state, PROFILE_STACK_SKIPPED);
	ck_assert_uint_eq(out.stack.kernel_us, 0);
	/* And after the next exec it is not. */
	feed_exec(30, APP, "next");
	feed_map(31, APP, 0x400000, 0x500000, "/bin/next");
	fake_walk_set("c", UW_STOP_ROOT);
	stale.sample.count = 900;
	out = fixture_apply(&stale, false);
	assert_all_kernel(&out, 600);
}
END_TEST

/* A stack that the budget left out says nothing of an exec. */
START_TEST(left_out_while_starting)
{
	struct record record = make_sample();
	record.sample.stack.size = 0;
	struct profile_sample out = fixture_apply(&record, true);
	ck_assert_uint_eq(out.ip, 0x400020);
	ck_assert_uint_eq(out.stack.reason, PROFILE_SKIP_BUDGET);
	ck_assert_uint_eq(out.stack.kernel_us, 0);
	fake_emit_assert(emit, "frame 0 1+20 flags 0", 1);
}
END_TEST

/* User code has run, whatever it was: the program has started. */
START_TEST(user_code_ends_the_start)
{
	struct record record = make_sample();
	struct record user = make_sample();
	user.sample.in_kernel = false;
	record.sample.stack.size = 0;
	fixture_apply(&user, false);
	ck_assert_uint_eq(fixture_apply(&record, false).stack.kernel_us, 0);
}
END_TEST

START_TEST(deep_copy_while_starting)
{
	struct record deep = make_sample();
	configure((struct fixture_config){.unwind = true, .deep_interval_ns = 640});
	deep.sample.period = 640;
	fixture_apply(&deep, false);
	ck_assert_uint_eq(fake_walk()->walks, 0);
	deep.sample.in_kernel = false;
	fixture_apply(&deep, false);
	ck_assert_uint_eq(fake_walk()->walks, 1);
}
END_TEST

/* Where kernel mode is not sampled, a sample stands for one interval of user code. */
START_TEST(apart)
{
	struct record record = fixture_make_sample(20, APP);
	fixture_configure((struct fixture_config){.has_count = true,
						  .kernel_time = PROFILE_KERNEL_TIME_APART});
	feed_launch(10, APP, "app");
	record.sample.period = 1000000;
	record.sample.count = 1000000;
	ck_assert_uint_eq(fixture_apply(&record, false).stack.kernel_us, 0);
	record.sample.count = 5000000;
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.stack.cpu_ns, 4000000);
	ck_assert_uint_eq(out.stack.kernel_us, 3000);
	ck_assert_uint_eq(out.stack.node, 1);
	/* More than the field holds: the rest is the stack's. */
	record.sample.count += 8000000000000000;
	ck_assert_uint_eq(fixture_apply(&record, false).stack.kernel_us, PROFILE_KERNEL_ALL - 1);
	fixture_finish();
}
END_TEST

/* Loop: what was lost may have been user code's, of threads known and of those whose fork was lost.
 * Threads that begin after it, and other rings, have nothing to do with it. */
START_TEST(nothing_is_apart_after_a_loss)
{
	struct record record = fixture_make_sample(20, APP);
	fixture_configure((struct fixture_config){.has_count = true,
						  .kernel_time = PROFILE_KERNEL_TIME_APART});
	feed_launch(10, APP, "app");
	record.sample.period = 1000000;
	record.sample.count = 5000000;
	if (_i == 0)
		record.tid = APP + 1; /* not known */
	if (_i != 1)
		feed_lost(20, _i == 3 ? 1 : 0, 7);
	if (_i == 1)
		feed(&(struct record){.kind = RECORD_THROTTLE, .time_ns = 20, .tid = APP}, 0,
		     false);
	if (_i == 2) {
		feed_fork(20, APP, APP + 2, APP, APP);
		record.tid = APP + 2;
	}
	struct profile_stack stack = fixture_apply(&record, false).stack;
	ck_assert_uint_eq(stack.kernel_us, _i < 2 ? 0 : 4000);
	ck_assert_uint_eq(stack.cpu_ns, _i < 2 ? 1000000 : 5000000);
	record.sample.count = 10000000;
	stack = fixture_apply(&record, false).stack;
	ck_assert_uint_eq(stack.kernel_us, 4000);
	ck_assert_uint_eq(stack.cpu_ns, 5000000);
	fixture_finish();
	ck_assert_uint_eq(fake_emit_sums(emit).rest_ns, _i < 2 ? 4000000 : 0);
}
END_TEST

/* Loop: without counts a sample weighs an interval whatever there was; older kernels. Where kernel
 * mode was sampled nothing is unseen. */
START_TEST(nothing_is_apart)
{
	struct record record = fixture_make_sample(20, APP);
	fixture_configure(
		(struct fixture_config){.has_count = _i == 0,
					.kernel_time = _i == 0 ? PROFILE_KERNEL_TIME_AT_CALLS
							       : PROFILE_KERNEL_TIME_APART});
	feed_launch(10, APP, "app");
	record.sample.period = 1000000;
	record.sample.count = 5000000;
	struct profile_sample out = fixture_apply(&record, false);
	ck_assert_uint_eq(out.stack.kernel_us, 0);
	ck_assert_uint_eq(out.stack.cpu_ns, _i == 0 ? 5000000 : 1000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("samples in kernel mode");
	TCase *tcase = tcase_create("kernel");

	tcase_add_checked_fixture(tcase, setup, fixture_teardown);
	tcase_add_test(tcase, stands_at_the_call);
	tcase_add_loop_test(tcase, at_the_program_counter, 0, 2);
	tcase_add_test(tcase, leaf_only);
	tcase_add_test(tcase, no_user_code);
	tcase_add_loop_test(tcase, program_is_starting, 0, 2);
	tcase_add_test(tcase, left_out_while_starting);
	tcase_add_test(tcase, user_code_ends_the_start);
	tcase_add_test(tcase, deep_copy_while_starting);
	tcase_add_test(tcase, apart);
	tcase_add_loop_test(tcase, nothing_is_apart_after_a_loss, 0, 4);
	tcase_add_loop_test(tcase, nothing_is_apart, 0, 2);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
