/* Which module a sample is given. */
#include "tests/tbrw/support.h"

#define NONE TBRW_INDEX_NONE

/* The record that says when `m` was unloaded, as the collector writes it. */
static TBRW_MODULE unloaded(TBRW_MODULE m, uint64_t when)
{
	m.module_flags = TBRW_MODULE_UNLOADED | TBRW_MODULE_TSC_USED;
	m.module_unload_tsc = when;
	return m;
}

/* Binds `samples` against `modules` in a file of their own and compares the module indices. */
static void expect_modules(const TBRW_MODULE *modules, size_t module_count,
			   const struct sample *samples, const uint64_t *expected, size_t count)
{
	TBRW_PTR ptr = open_file("modules.tb5", CREATE);
	DATA_BIND_STRUCT results[32];

	ck_assert_uint_le(count, 32);
	write_modules(ptr, modules, module_count);
	write_samples(ptr, samples, count);
	bind_samples(ptr, results, count);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg(results[i].module_index == expected[i],
			      "sample %zu: module %lld, not %lld", i,
			      (long long)results[i].module_index, (long long)expected[i]);
	OK(TBRW_close(ptr));
}

START_TEST(module_edges)
{
	const TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x100, 0, L"/a"),
				       module_of(1, 0x1100, 0x100, 0, L"/b"),
				       module_of(2, 0x1000, 0x100, 0, L"/c")};
	const struct sample samples[] = {sample_of(1, 1, 0xfff, 5),  sample_of(1, 1, 0x1000, 5),
					 sample_of(1, 1, 0x10ff, 5), sample_of(1, 1, 0x1100, 5),
					 sample_of(1, 1, 0x11ff, 5), sample_of(1, 1, 0x1200, 5),
					 sample_of(2, 2, 0x1000, 5), sample_of(2, 2, 0x1100, 5),
					 sample_of(3, 3, 0x1000, 5)};
	const uint64_t expected[] = {NONE, 0, 0, 1, 1, NONE, 2, NONE, NONE};

	expect_modules(modules, 3, samples, expected, 9);
}
END_TEST

START_TEST(module_times)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE modules[] = {a, unloaded(a, 20)};
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 9), sample_of(1, 1, 0x1000, 10),
					 sample_of(1, 1, 0x1000, 19), sample_of(1, 1, 0x1000, 20)};
	const uint64_t expected[] = {NONE, 0, 0, NONE};

	expect_modules(modules, 2, samples, expected, 4);
}
END_TEST

START_TEST(module_one_record_with_both_times)
{
	TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 9), sample_of(1, 1, 0x1000, 10),
					 sample_of(1, 1, 0x1000, 19), sample_of(1, 1, 0x1000, 20)};
	const uint64_t expected[] = {NONE, 0, 0, NONE};

	a.module_unload_tsc = 20;
	expect_modules(&a, 1, samples, expected, 4);
}
END_TEST

START_TEST(module_reloaded_at_one_address)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x200, 30, L"/b");
	const TBRW_MODULE again = module_of(1, 0x1000, 0x100, 50, L"/a");
	const TBRW_MODULE modules[] = {a, unloaded(a, 20), b, unloaded(b, 40), again};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 25),
					 sample_of(1, 1, 0x1010, 35), sample_of(1, 1, 0x1110, 35),
					 sample_of(1, 1, 0x1010, 45), sample_of(1, 1, 0x1010, 55),
					 sample_of(1, 1, 0x1110, 55)};
	const uint64_t expected[] = {0, NONE, 2, 2, NONE, 4, NONE};

	expect_modules(modules, 5, samples, expected, 7);
}
END_TEST

/* Each belongs to the load that it names, whatever the order. */
START_TEST(module_unload_records_come_first)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x100, 30, L"/b");
	const TBRW_MODULE modules[] = {unloaded(b, 40), unloaded(a, 35), b, a};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 37),
					 sample_of(1, 1, 0x1010, 25), sample_of(1, 1, 0x1010, 45)};
	const uint64_t expected[] = {3, 2, 3, NONE};

	expect_modules(modules, 4, samples, expected, 4);
}
END_TEST

/* An unload notification as the guide describes it: the event's time is the unload's. */
START_TEST(module_unload_by_event_time)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x100, 30, L"/b");
	TBRW_MODULE gone_a = unloaded(a, UINT64_MAX);
	TBRW_MODULE gone_b = unloaded(b, 0);

	gone_a.module_event_when = 20;
	gone_b.module_event_when = 40;
	const TBRW_MODULE modules[] = {a, gone_a, b, gone_b};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 25),
					 sample_of(1, 1, 0x1010, 35), sample_of(1, 1, 0x1010, 45)};
	const uint64_t expected[] = {0, NONE, 2, NONE};

	expect_modules(modules, 4, samples, expected, 4);
}
END_TEST

START_TEST(module_unload_without_load)
{
	TBRW_MODULE alone = unloaded(module_of(1, 0x1000, 0x100, 10, L"/a"), 20);
	TBRW_MODULE untimed = unloaded(module_of(1, 0x2000, 0x100, 15, L"/b"), UINT64_MAX);
	const TBRW_MODULE modules[] = {alone, untimed};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 15), sample_of(1, 1, 0x1010, 25),
					 sample_of(1, 1, 0x2010, 5), sample_of(1, 1, 0x2010, 20)};
	const uint64_t expected[] = {0, NONE, NONE, NONE};

	expect_modules(modules, 2, samples, expected, 4);
}
END_TEST

/* The later load hides the older one while both are there. */
START_TEST(module_overlapping)
{
	const TBRW_MODULE old = module_of(1, 0x1000, 0x1000, 10, L"/old");
	const TBRW_MODULE young = module_of(1, 0x1800, 0x1000, 20, L"/young");
	const TBRW_MODULE modules[] = {young, unloaded(young, 30), old};
	const struct sample samples[] = {sample_of(1, 1, 0x1900, 15), sample_of(1, 1, 0x1900, 25),
					 sample_of(1, 1, 0x1900, 35), sample_of(1, 1, 0x1100, 25),
					 sample_of(1, 1, 0x2700, 25), sample_of(1, 1, 0x2700, 15)};
	const uint64_t expected[] = {2, 0, 2, 2, 0, NONE};

	expect_modules(modules, 3, samples, expected, 6);
}
END_TEST

START_TEST(module_same_load_time_last_written_wins)
{
	const TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x100, 10, L"/a"),
				       module_of(1, 0x1000, 0x100, 10, L"/b")};
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 10)};
	const uint64_t expected[] = {1};

	expect_modules(modules, 2, samples, expected, 1);
}
END_TEST

START_TEST(module_global)
{
	TBRW_MODULE modules[] = {module_of(77, 0xffff800000000000, 0x1000, 0, L"vmlinux"),
				 module_of(1, 0x1000, 0x1000, 0, L"/a"),
				 module_of(77, 0x1000, 0x1000, 10, L"vdso")};
	const struct sample samples[] = {sample_of(1, 1, 0xffff800000000123, 5),
					 sample_of(2, 2, 0xffff800000000fff, 5),
					 sample_of(1, 1, 0x1100, 5),
					 sample_of(1, 1, 0x1100, 15),
					 sample_of(2, 2, 0x1100, 5),
					 sample_of(2, 2, 0x1100, 15)};
	const uint64_t expected[] = {0, 0, 1, 2, NONE, 2};

	modules[0].module_flags |= TBRW_MODULE_GLOBAL_LOAD;
	modules[2].module_flags |= TBRW_MODULE_GLOBAL_LOAD;
	expect_modules(modules, 3, samples, expected, 6);
}
END_TEST

START_TEST(module_timed_by_sample_number)
{
	TBRW_MODULE modules[] = {module_of(1, 0x1000, 0x100, 1, L"/a")};
	const struct sample samples[] = {sample_of(1, 1, 0x1000, 1000),
					 sample_of(1, 1, 0x1000, 1001),
					 sample_of(1, 1, 0x1000, 1002),
					 sample_of(1, 1, 0x1000, 1003)};
	const uint64_t expected[] = {NONE, 0, 0, NONE};

	modules[0].module_flags = TBRW_MODULE_LOADED;
	modules[0].reserved_for_legacy = 3;
	expect_modules(modules, 1, samples, expected, 4);
}
END_TEST

START_TEST(module_end_of_address_space)
{
	const TBRW_MODULE modules[] = {module_of(1, UINT64_MAX - 0xfff, UINT64_MAX, 0, L"/a"),
				       module_of(1, 0x5000, 0, 0, L"/empty")};
	const struct sample samples[] = {sample_of(1, 1, UINT64_MAX - 1, 5),
					 sample_of(1, 1, 0x5000, 5), sample_of(1, 1, 0, 5)};
	const uint64_t expected[] = {0, NONE, NONE};

	expect_modules(modules, 2, samples, expected, 3);
}
END_TEST

START_TEST(unsorted_samples)
{
	const TBRW_MODULE a = module_of(1, 0x1000, 0x100, 10, L"/a");
	const TBRW_MODULE b = module_of(1, 0x1000, 0x100, 30, L"/b");
	const TBRW_MODULE modules[] = {a, unloaded(a, 20), b};
	const struct sample samples[] = {sample_of(1, 1, 0x1010, 99), sample_of(1, 1, 0x1010, 11),
					 sample_of(1, 1, 0x1010, 25), sample_of(1, 1, 0x1010, 30),
					 sample_of(1, 1, 0x1010, 0)};
	const uint64_t expected[] = {2, 0, NONE, 2, NONE};

	expect_modules(modules, 3, samples, expected, 5);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		module_edges,
		module_times,
		module_one_record_with_both_times,
		module_reloaded_at_one_address,
		module_unload_records_come_first,
		module_unload_by_event_time,
		module_unload_without_load,
		module_overlapping,
		module_same_load_time_last_written_wins,
		module_global,
		module_timed_by_sample_number,
		module_end_of_address_space,
		unsorted_samples,
	};

	return run_suite(suite_of("bind modules", tests, sizeof(tests) / sizeof(*tests)));
}
