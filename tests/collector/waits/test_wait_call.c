/* System calls and what they wait for. */
#include "collector/perf/record.h"
#include "collector/waits/wait_call.h"
#include "tests/support/suite.h"
#include <check.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const struct {
	uint16_t number;
	uint64_t first, second;
	enum profile_object_kind kind;
	uint64_t address;
	uint32_t object_number;
} cases[] = {
	{SYS_futex, 0x7000, 0, PROFILE_OBJECT_FUTEX, 0x7000, 0},
	{455, 0x7008, 0, PROFILE_OBJECT_FUTEX, 0x7008, 0},
	{SYS_read, 5, 0x1000, PROFILE_OBJECT_FILE, 0, 5},
	{SYS_epoll_pwait, 6, 0x1000, PROFILE_OBJECT_FILE, 0, 6},
	{SYS_accept4, 7, 0, PROFILE_OBJECT_FILE, 0, 7},
	{SYS_fsync, 8, 0, PROFILE_OBJECT_FILE, 0, 8},
	{SYS_flock, UINT64_C(0xabcd00000009), 0, PROFILE_OBJECT_FILE, 0, 9},
	{SYS_clock_nanosleep, 1, 0, PROFILE_OBJECT_CALL, 0, SYS_clock_nanosleep},
	{SYS_ppoll, 0x1000, 2, PROFILE_OBJECT_CALL, 0, SYS_ppoll},
	{SYS_semtimedop, 3, 0x1000, PROFILE_OBJECT_CALL, 0, SYS_semtimedop},
	{SYS_futex_waitv, 0x1000, 2, PROFILE_OBJECT_CALL, 0, SYS_futex_waitv},
	{SYS_wait4, 77, 0, PROFILE_OBJECT_CHILD, 0, 77},
	{SYS_wait4, UINT64_MAX, 0, PROFILE_OBJECT_CHILD, 0, 0},
	{SYS_wait4, (uint64_t)-77, 0, PROFILE_OBJECT_CHILD, 0, 0},
	{SYS_waitid, P_PID, 78, PROFILE_OBJECT_CHILD, 0, 78},
	{SYS_waitid, P_PGID, 78, PROFILE_OBJECT_CHILD, 0, 0},
	{SYS_waitid, P_ALL, 78, PROFILE_OBJECT_CHILD, 0, 0},
	{1000, 1, 2, PROFILE_OBJECT_CALL, 0, 1000},
};

START_TEST(targets)
{
	struct record_call call = {.number = cases[_i].number,
				   .arguments = {cases[_i].first, cases[_i].second}};
	struct wait_target target = wait_call_target(&call, false);
	ck_assert_int_eq(target.kind, cases[_i].kind);
	ck_assert_uint_eq(target.address, cases[_i].address);
	ck_assert_uint_eq(target.number, cases[_i].object_number);
	ck_assert_uint_eq(target.syscall, cases[_i].number);
	ck_assert(!wait_call_is_restart(&call, false));
}
END_TEST

START_TEST(no_call)
{
	struct record_call call = {.number = PROFILE_NO_SYSCALL};
	for (int is_32bit = 0; is_32bit < 2; is_32bit++) {
		struct wait_target target = wait_call_target(&call, is_32bit);
		ck_assert_int_eq(target.kind, PROFILE_OBJECT_FAULT);
		ck_assert_uint_eq(target.number, 0);
		ck_assert_uint_eq(target.syscall, PROFILE_NO_SYSCALL);
		ck_assert(!wait_call_is_restart(&call, is_32bit));
	}
}
END_TEST

START_TEST(restart)
{
	struct record_call call = {.number = SYS_restart_syscall};
	ck_assert(wait_call_is_restart(&call, false));
	ck_assert_int_eq(wait_call_target(&call, false).kind, PROFILE_OBJECT_CALL);
}
END_TEST

#if defined(__x86_64__)
/* Numbers: asm/unistd_32.h. */
START_TEST(calls_of_32_bit_code)
{
	struct record_call call = {.number = 240, .arguments = {UINT64_C(0xffffffff08049000)}};
	struct wait_target target = wait_call_target(&call, true);
	ck_assert_int_eq(target.kind, PROFILE_OBJECT_FUTEX);
	ck_assert_uint_eq(target.address, 0x08049000);
	ck_assert_uint_eq(target.syscall, SYS_futex);
	call = (struct record_call){.number = 3, .arguments = {4}};
	target = wait_call_target(&call, true);
	ck_assert_int_eq(target.kind, PROFILE_OBJECT_FILE);
	ck_assert_uint_eq(target.number, 4);
	ck_assert_uint_eq(target.syscall, SYS_read);
	call.number = 407;
	ck_assert_uint_eq(wait_call_target(&call, true).number, SYS_clock_nanosleep);
	call.number = 0;
	ck_assert(wait_call_is_restart(&call, true));
	ck_assert(!wait_call_is_restart(&call, false));
	call.number = 102; /* socketcall */
	ck_assert_int_eq(wait_call_target(&call, true).kind, PROFILE_OBJECT_UNKNOWN);
	ck_assert_uint_eq(wait_call_target(&call, true).syscall, PROFILE_NO_SYSCALL);
	call.number = 441;
	ck_assert_int_eq(wait_call_target(&call, true).kind, PROFILE_OBJECT_FILE);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("wait_call");
	TCase *tcase = tcase_create("wait_call");
	tcase_add_loop_test(tcase, targets, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, no_call);
	tcase_add_test(tcase, restart);
#if defined(__x86_64__)
	tcase_add_test(tcase, calls_of_32_bit_code);
#endif
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
