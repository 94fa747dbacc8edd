/* The rules of binding, for TBRW_dobind and for the profile reader alike: lives, execs, gaps, and
 * the module that held an address. What each side makes of them: test_bind.c,
 * tests/profile/read/test_attribution.c.
 */
#include "tbrw/bind/binder.h"
#include "tests/tbrw/support.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE TB5_BIND_NONE

/* ---- Lives ---- */

static void add_life(struct tb5_lives *lives, uint64_t key, uint64_t start, uint64_t end,
		     uint64_t record)
{
	ck_assert(tb5_lives_add(lives, key, TBRW_PID_CREATE | TBRW_PID_TSC_USED, start, record));
	if (end != UINT64_MAX)
		ck_assert(tb5_lives_add(lives, key, TBRW_PID_TERMINATE | TBRW_PID_TSC_USED, end,
					record + 1));
}

static uint64_t life_at(struct tb5_lives *lives, uint64_t key, uint64_t when)
{
	size_t position;
	const struct tb5_life *life = tb5_lives_at(lives, key, when, &position);

	return life ? life->record : TB5_LIFE_NONE;
}

static size_t gap_at(struct tb5_lives *lives, uint64_t key, uint64_t when)
{
	size_t position;

	ck_assert_ptr_null(tb5_lives_at(lives, key, when, &position));
	return position;
}

START_TEST(lives_of_a_key_used_again)
{
	struct tb5_lives lives = {0};

	add_life(&lives, 7, 300, UINT64_MAX, 2);
	add_life(&lives, 7, 100, 200, 0);
	add_life(&lives, 8, 0, UINT64_MAX, 3);
	tb5_lives_seal(&lives);
	ck_assert_uint_eq(life_at(&lives, 7, 100), 0);
	ck_assert_uint_eq(life_at(&lives, 7, 200), 0);
	ck_assert_uint_eq(life_at(&lives, 7, 300), 2);
	ck_assert_uint_eq(life_at(&lives, 7, UINT64_MAX), 2);
	ck_assert_uint_eq(life_at(&lives, 8, 0), 3);
	ck_assert_uint_ne(gap_at(&lives, 7, 99), gap_at(&lives, 7, 201));
	ck_assert_uint_eq(gap_at(&lives, 7, 299), gap_at(&lives, 7, 201));
	gap_at(&lives, 9, 0);
	tb5_lives_finish(&lives);
}
END_TEST

/* Lives that touch: the moment is the next one's, in whatever order they were written. */
START_TEST(lives_that_touch_or_overlap)
{
	for (int way = 0; way < 2; way++) {
		struct tb5_lives lives = {0};
		add_life(&lives, 7, way ? 200 : 100, way ? 240 : 200, 0);
		add_life(&lives, 7, way ? 100 : 200, way ? 200 : 240, 2);
		add_life(&lives, 7, 300, UINT64_MAX, 4);
		add_life(&lives, 7, 350, 360, 5);
		tb5_lives_seal(&lives);
		ck_assert_uint_eq(life_at(&lives, 7, 199), way ? 2 : 0);
		ck_assert_uint_eq(life_at(&lives, 7, 200), way ? 0 : 2);
		ck_assert_uint_eq(life_at(&lives, 7, 240), way ? 0 : 2);
		gap_at(&lives, 7, 241);
		ck_assert_uint_eq(life_at(&lives, 7, 349), 4);
		ck_assert_uint_eq(life_at(&lives, 7, 355), 5);
		gap_at(&lives, 7, 370);
		tb5_lives_finish(&lives);
	}
}
END_TEST

START_TEST(lives_without_times)
{
	struct tb5_lives lives = {0};

	ck_assert(tb5_lives_add(&lives, 7, TBRW_PID_CREATE, 55, 0));
	ck_assert(tb5_lives_add(&lives, 7, TBRW_PID_TERMINATE, 60, 1));
	ck_assert(tb5_lives_add(&lives, 8, 0, 0, 2));
	tb5_lives_seal(&lives);
	ck_assert_uint_eq(life_at(&lives, 7, 0), 0);
	ck_assert_uint_eq(life_at(&lives, 7, 61), 0);
	ck_assert_uint_eq(life_at(&lives, 8, 5), 2);
	tb5_lives_finish(&lives);
}
END_TEST

START_TEST(lives_cut_gaps_only)
{
	struct tb5_lives lives = {0};
	size_t position;

	add_life(&lives, 7, 100, 200, 1);
	ck_assert(tb5_lives_cut(&lives, 7, 150));
	ck_assert(tb5_lives_cut(&lives, 7, 250));
	ck_assert(tb5_lives_cut(&lives, 9, 10));
	tb5_lives_seal(&lives);
	ck_assert_uint_eq(life_at(&lives, 7, 150), 1);
	ck_assert_uint_eq(life_at(&lives, 7, 199), 1);
	ck_assert_uint_ne(gap_at(&lives, 7, 249), gap_at(&lives, 7, 250));
	ck_assert_uint_ne(gap_at(&lives, 9, 9), gap_at(&lives, 9, 10));
	ck_assert_ptr_nonnull(tb5_lives_at(&lives, 7, 199, &position));
	ck_assert_uint_eq(tb5_lives_end(&lives, 7, position, false), 201);
	ck_assert_uint_eq(tb5_lives_end(&lives, 7, position, true), 250);
	position = gap_at(&lives, 7, 250);
	ck_assert_uint_eq(tb5_lives_end(&lives, 7, position, true), UINT64_MAX);
	tb5_lives_finish(&lives);
}
END_TEST

/* ---- Execs and gaps ---- */

static TBRW_MODULE program_of(uint32_t pid, uint64_t load, TBRW_U64 path)
{
	TBRW_MODULE module = module_of(pid, 0x5000, 0x1000, load, NULL);

	module.module_flags |= TBRW_MODULE_IS_EXE;
	module.module_path.soi_uniqueid = path;
	return module;
}

static void seal(struct tb5_binder *binder, const TBRW_MODULE *modules, size_t count)
{
	binder->deduced_processes.first = 100;
	binder->deduced_threads.first = 100;
	ck_assert(tb5_binder_seal(binder, modules, count));
}

struct bound {
	uint64_t process;
	uint64_t thread;
};

static struct bound bind(struct tb5_binder *binder, uint32_t pid, uint32_t tid, uint64_t tsc,
			 bool deduce)
{
	struct bound bound;

	ck_assert(tb5_binder_lives(binder, pid, tid, tsc, deduce, &bound.process, &bound.thread));
	return bound;
}

/* One process for each program, named after it, that has no module of the one before. */
START_TEST(exec_that_nobody_recorded)
{
	struct tb5_binder binder = {0};
	TBRW_MODULE modules[] = {program_of(7, 10, 1), program_of(7, 20, 2), program_of(7, 20, 2),
				 module_of(7, 0x9000, 0x1000, 12, NULL),
				 module_of(7, 0xB000, 0x1000, 22, NULL)};
	uint64_t start, end;

	modules[2].module_load_address = 0x7000;
	seal(&binder, modules, 5);
	struct bound first = bind(&binder, 7, 7, 15, true), second = bind(&binder, 7, 7, 20, true);
	ck_assert_uint_eq(first.process, 100);
	ck_assert_uint_eq(second.process, 101);
	ck_assert_uint_ne(first.thread, second.thread);
	ck_assert_uint_eq(bind(&binder, 7, 7, 19, true).process, first.process);
	ck_assert_uint_eq(bind(&binder, 7, 7, 99, false).thread, second.thread);
	const struct tb5_deduced *processes = binder.deduced_processes.items;
	ck_assert_uint_eq(tb5_binder_program(&binder, &processes[0]), 0);
	ck_assert_uint_ge(tb5_binder_program(&binder, &processes[1]), 1);
	ck_assert_uint_le(tb5_binder_program(&binder, &processes[1]), 2);
	tb5_binder_span(&binder, &processes[0], &start, &end);
	ck_assert_uint_eq(start, 10);
	ck_assert_uint_eq(end, 20);
	ck_assert_uint_eq(binder.deduced_threads.items[1].owner, second.process);
	ck_assert_uint_eq(binder.deduced_threads.items[1].seen, 20);
	ck_assert_uint_eq(tb5_binder_module(&binder, 7, 0x9010, 19, 0), 3);
	ck_assert_uint_eq(tb5_binder_module(&binder, 7, 0x9010, 20, 0), NONE);
	ck_assert_uint_eq(tb5_binder_module(&binder, 7, 0xB010, 99, 0), 4);
	tb5_binder_finish(&binder);
}
END_TEST

/* A recorded life goes on as a program that nobody recorded, at the moment of the exec. */
START_TEST(exec_out_of_a_recorded_life)
{
	struct tb5_binder binder = {0};
	const TBRW_MODULE modules[] = {program_of(7, 0, 1), program_of(7, 10, 2)};
	uint64_t start, end;

	add_life(&binder.processes, 7, 0, 10, 0);
	add_life(&binder.processes, 8, 0, 10, 2);
	seal(&binder, modules, 2);
	ck_assert_uint_eq(bind(&binder, 7, 7, 9, true).process, 0);
	ck_assert_uint_eq(bind(&binder, 7, 7, 10, true).process, 100);
	ck_assert_uint_eq(bind(&binder, 8, 8, 10, true).process, 2);
	ck_assert_uint_eq(bind(&binder, 8, 8, 11, true).process, 101);
	tb5_binder_span(&binder, &binder.deduced_processes.items[0], &start, &end);
	ck_assert_uint_eq(start, 10);
	ck_assert_uint_eq(end, UINT64_MAX);
	ck_assert_uint_eq(tb5_binder_program(&binder, &binder.deduced_processes.items[0]), 1);
	ck_assert_uint_eq(tb5_binder_program(&binder, &binder.deduced_processes.items[1]), NONE);
	tb5_binder_finish(&binder);
}
END_TEST

/* What ended with its process names nobody who has the pid afterwards. */
START_TEST(name_of_an_ended_process)
{
	struct tb5_binder binder = {0};
	const TBRW_MODULE modules[] = {program_of(7, 0, 1)};

	add_life(&binder.processes, 7, 0, 10, 0);
	seal(&binder, modules, 1);
	ck_assert_uint_eq(bind(&binder, 7, 7, 20, true).process, 100);
	ck_assert_uint_eq(tb5_binder_program(&binder, &binder.deduced_processes.items[0]), NONE);
	tb5_binder_finish(&binder);
}
END_TEST

/* Without leave to deduce, only what is known is found. */
START_TEST(deduced_when_asked_for)
{
	struct tb5_binder binder = {0};

	add_life(&binder.processes, 7, 10, 20, 0);
	add_life(&binder.threads, tb5_thread_key(7, 8), 10, 20, 0);
	seal(&binder, NULL, 0);
	struct bound known = bind(&binder, 7, 8, 15, false),
		     unknown = bind(&binder, 7, 9, 25, false);
	ck_assert_uint_eq(known.process, 0);
	ck_assert_uint_eq(known.thread, 0);
	ck_assert_uint_eq(unknown.process, NONE);
	ck_assert_uint_eq(unknown.thread, NONE);
	for (uint32_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(bind(&binder, 1000 + i % 500, 5, 30 - i % 30, true).thread,
				  100 + i % 500);
	ck_assert_uint_eq(binder.deduced_processes.count, 500);
	ck_assert_uint_eq(bind(&binder, 1007, 5, 0, false).process, 107);
	ck_assert_uint_eq(bind(&binder, 1007, 6, 0, false).thread, NONE);
	tb5_binder_finish(&binder);
}
END_TEST

static uint64_t process_of_thread(struct tb5_binder *binder, uint32_t pid, uint64_t start,
				  uint64_t end)
{
	uint64_t process;

	ck_assert(tb5_binder_process_of_thread(binder, pid, start, end, &process));
	return process;
}

START_TEST(threads_over_execs)
{
	struct tb5_binder binder = {0};
	const TBRW_MODULE modules[] = {program_of(9, 10, 1), program_of(9, 20, 2)};

	/* Three programs in a row, then the pid again. */
	add_life(&binder.processes, 7, 10, 20, 0);
	add_life(&binder.processes, 7, 20, 30, 2);
	add_life(&binder.processes, 7, 30, 40, 4);
	add_life(&binder.processes, 7, 60, UINT64_MAX, 6);
	seal(&binder, modules, 2);
	ck_assert_uint_eq(process_of_thread(&binder, 7, 10, 19), 0);
	ck_assert_uint_eq(process_of_thread(&binder, 7, 10, 25), 2);
	ck_assert_uint_eq(process_of_thread(&binder, 7, 10, 40), 4);
	ck_assert_uint_eq(process_of_thread(&binder, 7, 12, UINT64_MAX), 4);
	ck_assert_uint_eq(process_of_thread(&binder, 7, 61, UINT64_MAX), 6);
	ck_assert_uint_eq(process_of_thread(&binder, 7, 5, 12), 0);
	/* In a gap; what was deduced was there when the thread began. */
	ck_assert_uint_eq(process_of_thread(&binder, 7, 45, 50), 100);
	ck_assert_uint_eq(binder.deduced_processes.items[0].seen, 45);
	/* Over an exec that nobody recorded. */
	ck_assert_uint_eq(process_of_thread(&binder, 9, 12, 22),
			  bind(&binder, 9, 9, 25, true).process);
	tb5_binder_finish(&binder);
}
END_TEST

/* The same number in another process is another thread. */
START_TEST(threads_of_a_pid_used_again)
{
	struct tb5_binder binder = {0};

	add_life(&binder.processes, 7, 10, 20, 0);
	add_life(&binder.processes, 7, 30, 40, 2);
	seal(&binder, NULL, 0);
	ck_assert_uint_eq(bind(&binder, 7, 7, 15, true).thread, 100);
	ck_assert_uint_eq(bind(&binder, 7, 7, 35, true).thread, 101);
	ck_assert_uint_eq(bind(&binder, 7, 7, 16, true).thread, 100);
	tb5_binder_finish(&binder);
}
END_TEST

/* ---- Modules ---- */

/* The rule of the look-up, one module after the other. */
static uint64_t find_naively(const TBRW_MODULE *modules, size_t count, uint64_t ip, uint64_t tsc)
{
	uint64_t best = NONE;

	for (size_t i = 0; i < count; i++) {
		const TBRW_MODULE *m = &modules[i];
		if (ip < m->module_load_address ||
		    ip - m->module_load_address >= m->module_length || tsc < m->module_event_when ||
		    tsc >= m->module_unload_tsc)
			continue;
		if (best == NONE || m->module_event_when >= modules[best].module_event_when)
			best = i;
	}
	return best;
}

START_TEST(modules_equal_the_rule)
{
	unsigned short seed[3] = {(unsigned short)_i, 2, 3};
	size_t count = 1 + (size_t)nrand48(seed) % 60;
	TBRW_MODULE modules[60];
	struct tb5_binder binder = {0};
	uint32_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t load = (uint64_t)nrand48(seed) % 50;
		modules[i] = module_of(5, (uint64_t)nrand48(seed) % 100,
				       (uint64_t)nrand48(seed) % 30, load, NULL);
		modules[i].module_flags |= nrand48(seed) % 4 ? 0 : TBRW_MODULE_GLOBAL_LOAD;
		if (nrand48(seed) % 4)
			modules[i].module_unload_tsc = load + 1 + (uint64_t)nrand48(seed) % 40;
	}
	seal(&binder, modules, count);
	for (uint64_t ip = 0; ip < 140; ip++)
		for (uint64_t tsc = 0; tsc < 100; tsc++)
			wrong += tb5_binder_module(&binder, 5, ip, tsc, 0) !=
				 find_naively(modules, count, ip, tsc);
	ck_assert_uint_eq(wrong, 0);
	tb5_binder_finish(&binder);
}
END_TEST

START_TEST(modules_at_the_ends_of_the_world)
{
	const TBRW_MODULE modules[] = {module_of(5, 0, 10, 0, NULL),
				       module_of(5, UINT64_MAX - 5, 100, 0, NULL)};
	struct tb5_binder binder = {0}, empty = {0};

	seal(&binder, modules, 2);
	ck_assert_uint_eq(tb5_binder_module(&binder, 5, 0, 0, 0), 0);
	ck_assert_uint_eq(tb5_binder_module(&binder, 5, 10, 0, 0), NONE);
	ck_assert_uint_eq(tb5_binder_module(&binder, 5, UINT64_MAX - 1, UINT64_MAX, 0), 1);
	ck_assert_uint_eq(tb5_binder_module(&binder, 5, UINT64_MAX, 0, 0), NONE);
	tb5_binder_finish(&binder);
	seal(&empty, NULL, 0);
	ck_assert_uint_eq(tb5_binder_module(&empty, 5, 0, 0, 0), NONE);
	tb5_binder_finish(&empty);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("binder");
	TCase *tcase = tcase_create("binder");

	tcase_add_test(tcase, lives_of_a_key_used_again);
	tcase_add_test(tcase, lives_that_touch_or_overlap);
	tcase_add_test(tcase, lives_without_times);
	tcase_add_test(tcase, lives_cut_gaps_only);
	tcase_add_test(tcase, exec_that_nobody_recorded);
	tcase_add_test(tcase, exec_out_of_a_recorded_life);
	tcase_add_test(tcase, name_of_an_ended_process);
	tcase_add_test(tcase, deduced_when_asked_for);
	tcase_add_test(tcase, threads_over_execs);
	tcase_add_test(tcase, threads_of_a_pid_used_again);
	tcase_add_loop_test(tcase, modules_equal_the_rule, 0, 50);
	tcase_add_test(tcase, modules_at_the_ends_of_the_world);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
