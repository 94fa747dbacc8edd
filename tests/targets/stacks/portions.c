/*
 * portions [ROUNDS [EXTRA [THREADS]]]: the same amount of work in each run, whatever the machine's
 * speed: of a round portion_a does 45 %, portion_b 25 %, portion_c 20 %, portion_d 10 %. With EXTRA
 * portion_a does so many thousandths more. Rounds take 0.5 to 1.5 ms, at random but the same in
 * each run, so that no sampling interval falls into step with them.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdlib.h>

#define PERCENT_TURNS 10000 /* of a round, in the mean */
#define THREADS_MAX   64

struct portions {
	pthread_t thread;
	uint64_t rounds;
	uint64_t extra; /* thousandths */
};

/* A function that does so many turns. */
#define PORTION(name)                                   \
	WORK_KEEP void name(uint64_t turns);            \
	WORK_KEEP void name(uint64_t turns)             \
	{                                               \
		for (uint64_t i = 0; i < turns; i++)    \
			__asm__ volatile("" : "+r"(i)); \
	}

PORTION(portion_a)
PORTION(portion_b)
PORTION(portion_c)
PORTION(portion_d)

WORK_KEEP void *portions_run(void *argument);

WORK_KEEP void *portions_run(void *argument)
{
	const struct portions *portions = argument;

	unsigned short seed[3] = {1, 2, 3};

	for (uint64_t round = 0; round < portions->rounds; round++) {
		uint64_t turns = PERCENT_TURNS / 2 + (uint64_t)nrand48(seed) % PERCENT_TURNS;

		portion_a(turns * 45 * (1000 + portions->extra) / 1000);
		portion_b(turns * 25);
		portion_c(turns * 20);
		portion_d(turns * 10);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct portions portions[THREADS_MAX];
	uint64_t rounds = work_argument(argc, argv, 1, 1000);
	uint64_t extra = work_argument(argc, argv, 2, 0);
	uint64_t threads = work_argument(argc, argv, 3, 1);

	if (threads == 0 || threads > THREADS_MAX)
		return 2;
	for (uint64_t i = 0; i < threads; i++) {
		portions[i] = (struct portions){.rounds = rounds, .extra = extra};
		if (pthread_create(&portions[i].thread, NULL, portions_run, &portions[i]) != 0)
			return 3;
	}
	for (uint64_t i = 0; i < threads; i++)
		pthread_join(portions[i].thread, NULL);
	work_print("process_ns", work_process_ns());
	return 0;
}
