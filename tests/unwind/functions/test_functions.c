/* Where functions without call frame information start, by what evidence, and their rows; in this
 * program's own file. */
#include "tests/support/suite.h"
#include "unwind/functions/functions.h"
#include "unwind/module/module.h"
#include <check.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

/* All in one place; the symbols' sizes leave some of it to nobody. */
#define CODE(...) \
	__asm__(".pushsection .text.untold, \"ax\", @progbits\n" __VA_ARGS__ "\n.popsection\n")
CODE(".p2align 4\n"
     ".type named, @function\nnamed: push %rbx\nsub $16, %rsp\ntest %edi, %edi\njs named.cold\n"
     "named_body: nop\nadd $16, %rsp\npop %rbx\nret\n.size named, . - named\n"
     ".type named.cold, @function\nnamed.cold: nop\nnamed_cold_body: nop\njmp named_body\n"
     ".size named.cold, . - named.cold\n"
     ".type lost.cold, @function\nlost.cold: nop\nlost_body: nop\nud2\n.size lost.cold, . - "
     "lost.cold\n"
     /* Behind a return, aligned. */
     ".p2align 4\nlikely: push %r12\nsub $32, %rsp\nlikely_body: nop\nadd $32, %rsp\npop "
     "%r12\nret\n"
     /* The same with an end that does not fit: not a start. */
     ".p2align 4\nunlikely: sub $8, %rsp\nunlikely_body: nop\nadd $24, %rsp\nret\n"
     /* It never returns: only a call could tell. */
     ".p2align 4\nendless: push %rbp\nsub $16, %rsp\n1: pause\nendless_body: nop\njmp 1b\n"
     /* A loop's aligned head in a frame, which looks as if something started there. */
     ".type looping, @function\nlooping: push %rbx\npush %rbx\njmp 2f\n.p2align 4\n1: nop\n"
     "looping_body: nop\ndec %edi\n2: jnz 1b\npop %rbx\npop %rbx\nret\n.size looping, . - "
     "looping\n");
extern const char named[], named_body[], named_cold_body[], lost_body[], likely[], likely_body[],
	unlikely_body[], endless[], endless_body[], looping[], looping_body[];
__asm__(".hidden named, named_body, named_cold_body, lost_body, likely, likely_body, "
	"unlikely_body\n"
	".hidden endless, endless_body, looping, looping_body\n"
	".globl named_body, named_cold_body, lost_body, likely, likely_body, unlikely_body, "
	"endless\n"
	".globl endless_body, looping_body\n");

static struct uw_module *module;
static struct uw_functions *functions;
static uint64_t bias;

static int take_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	bias = info->dlpi_addr;
	return 1;
}

static void setup(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	dl_iterate_phdr(take_bias, NULL);
	ck_assert_int_eq(uw_module_open(fd, &module), 0);
	close(fd);
	uw_module_load(module);
	functions = uw_module_functions(module);
	ck_assert_ptr_nonnull(functions);
}

static void teardown(void)
{
	uw_module_unref(module);
}

static uint64_t rva_of(const char *address)
{
	return (uintptr_t)address - bias;
}

/* The row there counts from the stack pointer with this offset, and the function starts there. */
static void assert_row(const char *body, const char *start, int32_t offset)
{
	uint64_t found = 0;
	const struct uw_analysis_row *row = uw_functions_row(functions, rva_of(body), true, &found);

	ck_assert_ptr_nonnull(row);
	ck_assert_int_eq(row->reason, UW_ANALYSIS_KNOWN);
	ck_assert_uint_eq(found, rva_of(start));
	ck_assert_int_eq(row->sp_offset, offset);
}

static void assert_none(const char *body)
{
	uint64_t start;

	ck_assert_ptr_null(uw_functions_row(functions, rva_of(body), true, &start));
}

START_TEST(symbol)
{
	assert_row(named_body, named, 32);
	assert_row(looping_body, looping, 24);
}
END_TEST

/* A cold part has its function's rows where it jumps back; it is no start itself. */
START_TEST(cold_part)
{
	assert_row(named_cold_body, named, 32);
	assert_none(lost_body);
}
END_TEST

/* A return ahead tells, wherever the function starts; it is kept, or refused. */
START_TEST(way_ahead)
{
	struct uw_functions_counts counts;
	uint64_t start = 0;

	for (int i = 0; i < 2; i++) {
		const struct uw_analysis_row *row =
			uw_functions_row(functions, rva_of(likely_body), true, &start);
		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->sp_offset, 48);
		ck_assert(start == UW_START_UNKNOWN);
		uw_functions_count(functions, &counts);
		ck_assert_uint_eq(counts.analyses, 0);
		ck_assert_uint_eq(counts.steps, 4);
	}
	uw_functions_refuse(functions, rva_of(likely_body), true);
	assert_row(likely_body, likely, 48);
	uw_functions_count(functions, &counts);
	ck_assert_uint_gt(counts.analyses, 0);
	ck_assert_uint_gt(counts.bytes, 0);
}
END_TEST

START_TEST(likely_start)
{
	uint64_t start;

	ck_assert_ptr_nonnull(uw_functions_row(functions, rva_of(unlikely_body), true, &start));
	uw_functions_refuse(functions, rva_of(unlikely_body), true);
	assert_none(unlikely_body);
}
END_TEST

START_TEST(learnt_start)
{
	assert_none(endless_body);
	uw_functions_learn(functions, rva_of(endless));
	uw_functions_learn(functions, rva_of(endless));
	assert_row(endless_body, endless, 32);
	ck_assert_ptr_nonnull(
		uw_functions_row_from(functions, rva_of(endless), rva_of(endless_body)));
	ck_assert_ptr_null(uw_functions_row_from(functions, rva_of(endless), rva_of(named_body)));
}
END_TEST

/* Code with call frame information has no rows here, and what is no code neither. */
START_TEST(elsewhere)
{
	uint64_t start;

	ck_assert_ptr_null(uw_functions_row(functions, (uintptr_t)setup - bias, true, &start));
	ck_assert_ptr_null(uw_functions_row(functions, 0, true, &start));
	ck_assert_ptr_null(uw_functions_row(functions, UINT64_MAX, false, &start));
	ck_assert_ptr_null(uw_functions_analysis(functions, UINT64_MAX));
	ck_assert_ptr_nonnull(uw_functions_analysis(functions, (uintptr_t)setup - bias));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind functions");
	TCase *tcase = tcase_create("starts");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, symbol);
	tcase_add_test(tcase, cold_part);
	tcase_add_test(tcase, way_ahead);
	tcase_add_test(tcase, likely_start);
	tcase_add_test(tcase, learnt_start);
	tcase_add_test(tcase, elsewhere);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
