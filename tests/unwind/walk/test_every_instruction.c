/*
 * Walks at every instruction: the CPU's trap flag stops a workload after each instruction, and a
 * shadow stack, kept from the calls and returns that were executed, says what the walk must find.
 */
#include "tests/support/suite.h"
#include "tests/unwind/capture.h"
#include <check.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

enum { SHADOW_MAX = 512, REG_NUM_RSP = 7, STACK_SIZE = 16 * 1024, FAILURES_SHOWN = 10 };

struct shadow {
	uint64_t ra[SHADOW_MAX]; /* innermost last */
	uint64_t slot[SHADOW_MAX];
	size_t depth;
};

struct range {
	uint64_t start, end;
	size_t steps;
};

struct failure {
	uint64_t ip;
	enum uw_stop stop;
	size_t frames, expected, at;
};

static struct uw_space *space;
static struct shadow shadow;
static struct capture sample;
static struct uw_frame frames[UW_DEPTH_MAX];
static struct failure failures[FAILURES_SHOWN];
static size_t failure_count;
static size_t outer_count; /* frames of the function that started stepping and its callers */
static uint64_t outer[SHADOW_MAX];
static size_t steps;
static uint64_t previous_ip;
static struct range vdso, loader;
static bool jumps; /* longjmp's CFI describes the place it goes to, in its last instructions */

/* Whether the instruction at ip is a call: e8, or ff /2 after prefixes. */
static bool is_call(uint64_t ip)
{
	const uint8_t *code;

	memcpy(&code, &ip, sizeof(code));
	while (*code == 0x3e || *code == 0xf2 || (*code & 0xf0) == 0x40)
		code++;
	return *code == 0xe8 || (*code == 0xff && (code[1] >> 3 & 7) == 2);
}

static uint64_t stack_word(uint64_t address)
{
	const uint64_t *word;

	memcpy(&word, &address, sizeof(word));
	return *word;
}

/* Calls push; whatever moves the stack pointer above a return address has popped it. */
static void shadow_update(uint64_t sp)
{
	while (shadow.depth > 0 && shadow.slot[shadow.depth - 1] < sp)
		shadow.depth--;
	if (previous_ip != 0 && is_call(previous_ip) && shadow.depth < SHADOW_MAX) {
		shadow.slot[shadow.depth] = sp;
		shadow.ra[shadow.depth++] = stack_word(sp);
	}
}

static void note_failure(uint64_t ip, enum uw_stop stop, size_t count, size_t expected, size_t at)
{
	if (failure_count < FAILURES_SHOWN)
		failures[failure_count] = (struct failure){.ip = ip,
							   .stop = stop,
							   .frames = count,
							   .expected = expected,
							   .at = at};
	failure_count++;
}

static void check_walk(uint64_t ip)
{
	size_t expected = 1 + shadow.depth + outer_count;
	enum uw_stop stop;
	size_t count = uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	if (jumps && stop == UW_STOP_ROOT)
		return;
	if (stop != UW_STOP_ROOT || count != expected) {
		note_failure(ip, stop, count, expected, count);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		uint64_t want = i <= shadow.depth ? shadow.ra[shadow.depth - i]
						  : outer[i - 1 - shadow.depth];

		if (frames[i].ip != want) {
			note_failure(ip, stop, count, expected, i);
			return;
		}
	}
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	uint64_t ip;

	(void)signal;
	(void)info;
	capture_context(&sample.regs, context);
	ip = sample.regs.value[16];
	shadow_update(sample.regs.value[REG_NUM_RSP]);
	capture_stack(&sample, STACK_SIZE);
	check_walk(ip);
	previous_ip = ip;
	steps++;
	vdso.steps += ip >= vdso.start && ip < vdso.end;
	loader.steps += ip >= loader.start && ip < loader.end;
}

/* Set and clear the trap flag; functions of their own, so that their CFI covers the push. The first
 * trap comes after the return of trace_on. */
void trace_on(void);
void trace_off(void);
__asm__(".macro set_flags name, operation, mask\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"pushfq\n"
	".cfi_adjust_cfa_offset 8\n"
	"\\operation $\\mask, (%rsp)\n"
	"popfq\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	".text\n"
	"set_flags trace_on, orl, 0x100\n"
	"set_flags trace_off, andl, ~0x100\n");

/* Runs work under the trap flag and checks each instruction of it. */
static __attribute__((noinline)) void trace(void (*work)(void))
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
	enum uw_stop stop;
	size_t count;

	CAPTURE(&sample);
	count = uw_walk(space, &sample.regs, &sample.stack, frames, UW_DEPTH_MAX, &stop);
	ck_assert_int_eq(stop, UW_STOP_ROOT);
	outer_count = count - 1;
	for (size_t i = 0; i < outer_count; i++)
		outer[i] = frames[i + 1].ip;
	memset(&shadow, 0, sizeof(shadow));
	failure_count = steps = vdso.steps = loader.steps = 0;
	previous_ip = 0;
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	trace_on();
	work();
	trace_off();
	for (size_t i = 0; i < failure_count && i < FAILURES_SHOWN; i++) {
		const struct failure *failure = &failures[i];
		uint64_t rva = 0;
		uint32_t tag = UW_TAG_NONE;

		uw_space_find(space, failure->ip, &tag, &rva);
		fprintf(stderr,
			"at %#lx (mapping %u, %#lx): %s, %zu frames of %zu, differs at %zu\n",
			failure->ip, tag, rva, uw_stop_name(failure->stop), failure->frames,
			failure->expected, failure->at);
	}
	ck_assert_uint_eq(failure_count, 0);
	ck_assert_uint_gt(steps, 50);
}

static volatile int sink;

static __attribute__((noinline)) int shape(int depth, double x)
{
	volatile char room[64];
	int result = depth;

	room[depth % 64] = (char)depth;
	if (depth > 0)
		result += shape(depth - 1, x * 1.5) + room[depth % 64];
	return result;
}

static __attribute__((noinline)) int shape_variable(int n)
{
	volatile char *room = __builtin_alloca((size_t)n);

	room[n - 1] = 1;
	return shape(n % 4, 1.0) + room[n - 1];
}

/* A realigned stack: gcc describes its CFA by an expression. */
static __attribute__((noinline)) int shape_aligned(int n)
{
	volatile char room[128] __attribute__((aligned(64)));
	volatile char *more = __builtin_alloca((size_t)n);

	room[n % 128] = 2;
	more[0] = 1;
	return shape(n % 3, 2.0) + room[n % 128] + more[0];
}

static void work_shapes(void)
{
	sink = shape(5, 1.0);
	sink = shape_variable(40);
	sink = shape_aligned(33);
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

static void work_libc(void)
{
	char text[200];
	int numbers[] = {5, 3, 9, 1, 7, 2, 8};
	char *copy;

	qsort(numbers, 7, sizeof(numbers[0]), compare);
	snprintf(text, sizeof(text), "%d %s %.12g %lc", numbers[0], "words", sqrt(2.0),
		 (wint_t)L'x');
	copy = strdup(text);
	sink = (int)strlen(copy) + memcmp(copy, text, 10);
	copy = realloc(copy, 3000);
	memset(copy, 1, 3000);
	free(copy);
	sink = (int)strtod("2.5e3", NULL) + atoi("17");
	setlocale(LC_ALL, "C");
}

/* Symbols that nothing has called before are bound here, through the dynamic loader. */
static void work_binding(void)
{
	sink = (int)lgamma(4.5) + (int)erf(0.25);
	sink += (int)wcslen(L"wide");
}

static void work_vdso(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	clock_gettime(CLOCK_REALTIME, &now);
	sink = (int)(now.tv_nsec ^ time(NULL));
}

static void work_jump(void)
{
	static jmp_buf place; /* far from the stack, where longjmp says the CFA is */

	if (setjmp(place) == 0) {
		sink = shape(3, 1.0);
		longjmp(place, 1);
	}
	sink = shape(2, 1.0);
}

/* The kernel clears the trap flag for a handler; this one sets it again. What the handler returns
 * to is the stub whose address stands below the context, and then the interrupted code. */
static void on_user_signal(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	uint64_t slot = (uint64_t)(uintptr_t)context - 8;

	(void)info;
	shadow.ra[shadow.depth] = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
	shadow.slot[shadow.depth++] = (uint64_t)interrupted->uc_mcontext.gregs[REG_RSP] - 1;
	shadow.ra[shadow.depth] = stack_word(slot);
	shadow.slot[shadow.depth++] = slot;
	previous_ip = 0;
	trace_on();
	sink = shape(2, 1.0) + signal;
	if (signal == SIGUSR1)
		raise(SIGUSR2);
	trace_off();
}

static void work_signals(void)
{
	raise(SIGUSR1);
	sink = shape(2, 1.0);
}

static void setup(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	space = capture_space();
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "[vdso]"))
			sscanf(line, "%lx-%lx", &vdso.start, &vdso.end);
		else if (strstr(line, "r-xp") && strstr(line, "/ld-linux"))
			sscanf(line, "%lx-%lx", &loader.start, &loader.end);
	fclose(maps);
}

static void teardown(void)
{
	uw_space_destroy(space);
}

START_TEST(frame_shapes)
{
	trace(work_shapes);
}
END_TEST

START_TEST(c_library)
{
	trace(work_libc);
}
END_TEST

START_TEST(lazy_binding)
{
	trace(work_binding);
	ck_assert_uint_gt(loader.steps, 1000);
}
END_TEST

START_TEST(vdso_calls)
{
	trace(work_vdso);
	ck_assert_uint_gt(vdso.steps, 10);
}
END_TEST

START_TEST(nested_signals)
{
	struct sigaction action = {.sa_sigaction = on_user_signal, .sa_flags = SA_SIGINFO};

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(sigaction(SIGUSR2, &action, NULL), 0);
	trace(work_signals);
}
END_TEST

START_TEST(longjmp_out)
{
	jumps = true;
	trace(work_jump);
	jumps = false;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind every instruction");
	TCase *tcase = tcase_create("trap flag");

	if (capture_under_valgrind())
		return 77;
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, frame_shapes);
	tcase_add_test(tcase, nested_signals);
	tcase_add_test(tcase, c_library);
	tcase_add_test(tcase, lazy_binding);
	tcase_add_test(tcase, vdso_calls);
	tcase_add_test(tcase, longjmp_out);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
