/* Looks as a source of records. */
#include "collector/machine/registers.h"
#include "collector/stream/drain.h"
#include "collector/waits/looks.h"
#include "tests/support/suite.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct looks looks;
static uint8_t stack[LOOK_STACK_MAX];

static void teardown(void)
{
	looks_finish(&looks);
}

static bool put(uint64_t time_ns, const char *name, size_t stack_size)
{
	struct look look = {.pointers = {.call = {.number = 1, .arguments = {2, 3}},
					 .sp = 0x7000,
					 .pc = 0x400010},
			    .begin_ns = time_ns - 1,
			    .is_blocked = true,
			    .name_size = name ? strlen(name) + 1 : 0,
			    .stack_size = stack_size};
	memset(stack, (int)time_ns, stack_size);
	struct looks_entry *entry = looks_entry_create(10, 11, &look, name ? name : "", stack);
	ck_assert_ptr_nonnull(entry);
	return looks_put(&looks, entry, time_ns);
}

static void expect(const struct source *source, uint64_t time_ns, const char *name,
		   size_t stack_size)
{
	const void *bytes;
	size_t size;
	uint64_t found_ns;
	struct record record;
	const struct registers_machine *machine = registers_machine(false);
	ck_assert(source->kind->peek(source, &bytes, &size));
	ck_assert(source->kind->time(source, bytes, size, &found_ns));
	ck_assert_uint_eq(found_ns, time_ns);
	ck_assert(source->kind->decode(source, bytes, size, &record));
	ck_assert_int_eq(record.kind, RECORD_LOOK);
	ck_assert_uint_eq(record.time_ns, time_ns);
	ck_assert_uint_eq(record.pid, 10);
	ck_assert_uint_eq(record.tid, 11);
	ck_assert_uint_eq(record.look.call.begin_ns, time_ns - 1);
	ck_assert_uint_eq(record.look.call.arguments[1], 3);
	ck_assert(!record.look.file == !name);
	if (name)
		ck_assert_str_eq(record.look.file, name);
	ck_assert_int_eq(record.sample.abi, RECORD_REGISTERS_64);
	ck_assert_uint_eq(record.sample.regs.value[machine->sp], 0x7000);
	/* At the instruction that calls. */
	ck_assert_uint_lt(record.sample.regs.value[machine->ip], 0x400010);
	ck_assert_uint_eq(record.sample.regs.unknown,
			  ~(UINT64_C(1) << machine->sp | UINT64_C(1) << machine->ip));
	ck_assert_uint_eq(record.sample.stack.base, 0x7000);
	ck_assert_uint_eq(record.sample.stack.size, stack_size);
	ck_assert_int_eq(record.sample.stack.ends, stack_size < LOOK_STACK_MAX);
	for (size_t i = 0; i < stack_size; i += 1000)
		ck_assert_uint_eq(record.sample.stack.bytes[i], time_ns);
	source->kind->consume(source, size);
}

static void expect_none(const struct source *source)
{
	const void *bytes;
	size_t size;
	ck_assert(!source->kind->peek(source, &bytes, &size));
}

START_TEST(in_rounds)
{
	struct source source = looks_source(&looks);
	source.kind->refresh(&source);
	expect_none(&source);
	ck_assert(put(5, "pipe:[1]", 100));
	expect_none(&source);
	source.kind->refresh(&source);
	ck_assert(put(6, NULL, 0));
	expect(&source, 5, "pipe:[1]", 100);
	expect_none(&source);
	ck_assert(put(7, "", LOOK_STACK_MAX));
	source.kind->refresh(&source);
	expect(&source, 6, NULL, 0);
	expect(&source, 7, "", LOOK_STACK_MAX);
	expect_none(&source);
}
END_TEST

/* Memory is bounded, and free again once looks are taken. */
START_TEST(full)
{
	struct source source = looks_source(&looks);
	size_t count = 0;
	while (put(9, NULL, LOOK_STACK_MAX))
		count++;
	ck_assert_uint_gt(count, 100);
	ck_assert_uint_lt(count, 1000);
	ck_assert(!put(9, NULL, LOOK_STACK_MAX));
	source.kind->refresh(&source);
	expect(&source, 9, NULL, LOOK_STACK_MAX);
	ck_assert(put(9, NULL, LOOK_STACK_MAX));
	for (size_t i = 1; i < count; i++)
		expect(&source, 9, NULL, LOOK_STACK_MAX);
	expect_none(&source);
}
END_TEST

START_TEST(hidden)
{
	struct look look = {.error = 13};
	struct source source = looks_source(&looks);
	const void *bytes;
	size_t size;
	struct record record;
	ck_assert(looks_put(&looks, looks_entry_create(10, 11, &look, "", stack), 4));
	source.kind->refresh(&source);
	ck_assert(source.kind->peek(&source, &bytes, &size));
	ck_assert(source.kind->decode(&source, bytes, size, &record));
	ck_assert_int_eq(record.look.error, 13);
	ck_assert_int_eq(record.sample.abi, RECORD_REGISTERS_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("looks");
	TCase *tcase = tcase_create("looks");
	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, in_rounds);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, hidden);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
