/* Who waits for what, where several objects meet in a slot. */
#include "collector/agent/slot.h"
#include "tests/support/suite.h"
#include <check.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 200000 };

static _Atomic uint64_t slot;

/* An object that shares the slot of another one. */
static void *neighbour_of(const void *object)
{
	uintptr_t other = (uintptr_t)object;
	do
		other += 64;
	while (slot_of((void *)other) != slot_of(object));
	return (void *)other;
}

START_TEST(neighbours_are_told_apart)
{
	void *one = (void *)0x600010;
	void *other = neighbour_of(one);
	ck_assert(!slot_has(&slot, one));
	ck_assert(slot_add(&slot, one));
	ck_assert(!slot_add(&slot, one));
	ck_assert(slot_has(&slot, one));
	ck_assert(!slot_has(&slot, other));
	slot_remove(&slot, one);
	ck_assert(slot_has(&slot, one));
	slot_remove(&slot, one);
	ck_assert_uint_eq(slot, 0);
}
END_TEST

/* Nobody who is awaited is missed. */
START_TEST(neighbours_meet)
{
	void *one = (void *)0x600010;
	void *other = neighbour_of(one);
	ck_assert(slot_add(&slot, one));
	ck_assert(!slot_add(&slot, other));
	ck_assert(slot_has(&slot, one));
	ck_assert(slot_has(&slot, other));
	slot_remove(&slot, one);
	ck_assert(!slot_add(&slot, other));
	ck_assert(slot_has(&slot, other));
	slot_remove(&slot, other);
	slot_remove(&slot, other);
	ck_assert_uint_eq(slot, 0);
	ck_assert(slot_add(&slot, other));
	ck_assert(!slot_has(&slot, one));
	slot_remove(&slot, other);
}
END_TEST

/* In a fork's child the counts begin again, and a wait from before it ends. */
START_TEST(never_below_none)
{
	void *one = (void *)0x600010;
	void *other = neighbour_of(one);
	slot_remove(&slot, one);
	ck_assert_uint_eq(slot, 0);
	slot_add(&slot, other);
	slot_remove(&slot, one);
	ck_assert(slot_has(&slot, other));
	slot_remove(&slot, other);
	ck_assert_uint_eq(slot, 0);
}
END_TEST

static void *come_and_go(void *object)
{
	for (int i = 0; i < ROUNDS; i++) {
		slot_add(&slot, object);
		if (!slot_has(&slot, object))
			return object;
		slot_remove(&slot, object);
	}
	return NULL;
}

START_TEST(threads_meet)
{
	pthread_t threads[THREADS];
	void *one = (void *)0x600010;
	void *objects[THREADS] = {one, one, neighbour_of(one), neighbour_of(one)};
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, objects[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		void *missed;
		pthread_join(threads[i], &missed);
		ck_assert_ptr_null(missed);
	}
	ck_assert_uint_eq(slot, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slot");
	TCase *tcase = tcase_create("slot");

	tcase_add_test(tcase, neighbours_are_told_apart);
	tcase_add_test(tcase, neighbours_meet);
	tcase_add_test(tcase, never_below_none);
	tcase_add_test(tcase, threads_meet);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
