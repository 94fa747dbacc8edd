/* The words that this system's C library waits for, against the objects that they are told of. */
#include "tests/support/suite.h"
#include "tools/waits/wait_word.h"
#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOKS_MAX = 20000, LOOK_US = 500 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static bool is_signaled;

struct waiter {
	pthread_t thread;
	void *(*wait)(void *);
	int tid; /* atomic; 0: not begun */
};

static void *take_mutex(void *user)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return user;
}

static void *await_condition(void *user)
{
	pthread_mutex_lock(&mutex);
	while (!is_signaled)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	return user;
}

static void *take_for_reading(void *user)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return user;
}

static void *take_for_writing(void *user)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return user;
}

static void *meet(void *user)
{
	pthread_barrier_wait(&barrier);
	return user;
}

static void *take_token(void *user)
{
	sem_wait(&semaphore);
	return user;
}

static void *run(void *user)
{
	struct waiter *waiter = user;
	__atomic_store_n(&waiter->tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	return waiter->wait(NULL);
}

/* The futex of a thread's call; 0: it is in none. */
static uint64_t futex_of(int tid)
{
	char path[64];
	long number = 0;
	unsigned long address = 0;
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	FILE *file = fopen(path, "re");
	int count = file ? fscanf(file, "%ld %lx", &number, &address) : 0;
	if (file)
		fclose(file);
	return count == 2 && number == SYS_futex ? address : 0;
}

/* Starts a thread; the word that it waits for. */
static uint64_t begin(struct waiter *waiter, void *(*wait)(void *))
{
	uint64_t address = 0;
	*waiter = (struct waiter){.wait = wait};
	ck_assert_int_eq(pthread_create(&waiter->thread, NULL, run, waiter), 0);
	for (int i = 0; i < LOOKS_MAX && address == 0; i++) {
		int tid = __atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE);
		address = tid != 0 ? futex_of(tid) : 0;
		if (address == 0)
			usleep(LOOK_US);
	}
	ck_assert_uint_ne(address, 0);
	return address;
}

static void end(struct waiter *waiter)
{
	ck_assert_int_eq(pthread_join(waiter->thread, NULL), 0);
}

static void expect(enum wait_type type, uint64_t address, const void *object)
{
	ck_assert_uint_eq(address - wait_word_distance(type, address), (uintptr_t)object);
}

START_TEST(test_mutex)
{
	struct waiter waiter;
	pthread_mutex_lock(&mutex);
	expect(WAIT_TYPE_MUTEX, begin(&waiter, take_mutex), &mutex);
	pthread_mutex_unlock(&mutex);
	end(&waiter);
}
END_TEST

/* Waiters of before a signal and of after it wait for the one and the other word. */
START_TEST(test_condition)
{
	struct waiter waiters[2];
	uint64_t first = begin(&waiters[0], await_condition);
	expect(WAIT_TYPE_CONDITION, first, &condition);
	pthread_cond_signal(&condition);
	uint64_t second = begin(&waiters[1], await_condition);
	expect(WAIT_TYPE_CONDITION, second, &condition);
	pthread_mutex_lock(&mutex);
	is_signaled = true;
	pthread_mutex_unlock(&mutex);
	pthread_cond_broadcast(&condition);
	end(&waiters[0]);
	end(&waiters[1]);
}
END_TEST

START_TEST(test_rwlock)
{
	struct waiter waiters[2];
	pthread_rwlock_wrlock(&rwlock);
	expect(WAIT_TYPE_RWLOCK, begin(&waiters[0], take_for_reading), &rwlock);
	expect(WAIT_TYPE_RWLOCK, begin(&waiters[1], take_for_writing), &rwlock);
	pthread_rwlock_unlock(&rwlock);
	end(&waiters[0]);
	end(&waiters[1]);
	pthread_rwlock_rdlock(&rwlock);
	expect(WAIT_TYPE_RWLOCK, begin(&waiters[0], take_for_writing), &rwlock);
	pthread_rwlock_unlock(&rwlock);
	end(&waiters[0]);
}
END_TEST

START_TEST(test_barrier)
{
	struct waiter waiter;
	pthread_barrier_init(&barrier, NULL, 2);
	expect(WAIT_TYPE_BARRIER, begin(&waiter, meet), &barrier);
	pthread_barrier_wait(&barrier);
	end(&waiter);
	pthread_barrier_destroy(&barrier);
}
END_TEST

START_TEST(test_semaphore)
{
	struct waiter waiter;
	sem_init(&semaphore, 0, 0);
	expect(WAIT_TYPE_SEMAPHORE, begin(&waiter, take_token), &semaphore);
	sem_post(&semaphore);
	end(&waiter);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait_word");
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, test_mutex);
	tcase_add_test(cases, test_condition);
	tcase_add_test(cases, test_rwlock);
	tcase_add_test(cases, test_barrier);
	tcase_add_test(cases, test_semaphore);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
