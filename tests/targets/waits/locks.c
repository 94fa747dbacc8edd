/* What locks that nobody waits for cost: prints each kind with the nanoseconds of a lock and
 * unlock, the least of several rounds. Usage: locks [ROUNDS] */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 500000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void lock_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void lock_for_reading(void)
{
	pthread_rwlock_rdlock(&shared);
	pthread_rwlock_unlock(&shared);
}

static void lock_for_writing(void)
{
	pthread_rwlock_wrlock(&shared);
	pthread_rwlock_unlock(&shared);
}

static void lock_spinning(void)
{
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
}

static void post_and_wait(void)
{
	sem_post(&semaphore);
	sem_wait(&semaphore);
}

static void signal_nobody(void)
{
	pthread_cond_signal(&condition);
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double measure(void (*call)(void), int rounds)
{
	double least = 1e30;
	for (int round = 0; round < rounds; round++) {
		double began = now();
		for (int i = 0; i < CALLS; i++)
			call();
		double took = (now() - began) / CALLS;
		least = took < least ? took : least;
	}
	return least;
}

static void *be_second(void *user)
{
	return user;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} kinds[] = {{"mutex", lock_mutex},
		     {"rwlock_read", lock_for_reading},
		     {"rwlock_write", lock_for_writing},
		     {"spin", lock_spinning},
		     {"semaphore", post_and_wait},
		     {"signal", signal_nobody}};
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	pthread_t thread;
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&semaphore, 0, 0);
	/* glibc takes shorter ways in programs that never had a second thread. */
	pthread_create(&thread, NULL, be_second, NULL);
	pthread_join(thread, NULL);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		printf("%s %.2f\n", kinds[i].name, measure(kinds[i].call, rounds));
	return 0;
}
