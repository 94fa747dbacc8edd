/* handover ROUNDS: two threads hand a token to and fro by two semaphores, and work some 20 us while
 * they have it: so each waits as long, as often. Prints the calls that found no token (empty),
 * those of them that took 5 us or more (waits), and the time around all of the former. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORK_NS = 20000, WAIT_NS = 5000 };

sem_t first;
sem_t second;

struct side {
	sem_t *own;
	sem_t *other;
	uint64_t empty;
	uint64_t waits;
	uint64_t wait_ns;
	int rounds;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void work(void)
{
	uint64_t end_ns = now_ns() + WORK_NS;
	while (now_ns() < end_ns)
		continue;
}

static void *take_turns(void *user)
{
	struct side *side = user;
	for (int i = 0; i < side->rounds; i++) {
		int value;
		sem_getvalue(side->own, &value);
		uint64_t began_ns = now_ns();
		sem_wait(side->own);
		if (value == 0) {
			uint64_t took_ns = now_ns() - began_ns;
			side->empty++;
			side->waits += took_ns >= WAIT_NS;
			side->wait_ns += took_ns;
		}
		work();
		sem_post(side->other);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1000;
	struct side sides[] = {{.own = &first, .other = &second, .rounds = rounds},
			       {.own = &second, .other = &first, .rounds = rounds}};
	pthread_t threads[2];
	sem_init(&first, 0, 1);
	sem_init(&second, 0, 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take_turns, &sides[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		const char *name = i == 0 ? "first" : "second";
		printf("%s_empty %" PRIu64 "\n%s_waits %" PRIu64 "\n%s_ns %" PRIu64 "\n", name,
		       sides[i].empty, name, sides[i].waits, name, sides[i].wait_ns);
	}
	return 0;
}
