/*
 * demo [SECONDS]: what `tools/bootstrap demo` collects. Three threads render, sort and hash for
 * some three seconds of elapsed time, and wait for each other at the end of each round.
 */
#include "tests/targets/work.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE     192
#define NUMBERS  40000
#define BYTES    200000
#define MAX_TURN 48

#define ROUNDS_PER_SECOND 150 /* on a machine of today */

struct stage {
	pthread_t thread;
	const char *name;
	double (*work)(uint64_t round);
	pthread_barrier_t *round_end;
	uint64_t rounds;
	double result;
};

WORK_KEEP static double mandelbrot_pixel(double x, double y)
{
	double re = 0;
	double im = 0;
	int turn;

	for (turn = 0; turn < MAX_TURN && re * re + im * im < 4; turn++) {
		double next = re * re - im * im + x;

		im = 2 * re * im + y;
		re = next;
	}
	return turn;
}

static double render_picture(uint64_t round)
{
	double sum = 0;

	for (int row = 0; row < 2 * SIDE; row++)
		for (int column = 0; column < SIDE; column++)
			sum += mandelbrot_pixel(2.5 * column / SIDE - 2.0 + 1e-9 * (double)round,
						1.2 * row / SIDE - 1.2);
	return sum;
}

WORK_KEEP static int compare_numbers(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static double sort_numbers(uint64_t round)
{
	double *numbers = malloc(NUMBERS * sizeof(*numbers));
	unsigned short seed[3] = {1, 2, (unsigned short)round};

	if (!numbers)
		abort();
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = erand48(seed);
	qsort(numbers, NUMBERS, sizeof(*numbers), compare_numbers);
	double median = numbers[NUMBERS / 2];
	free(numbers);
	return median;
}

WORK_KEEP static uint32_t hash_bytes(uint32_t state, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		state = (state ^ (i & 0xff)) * UINT32_C(16777619); /* FNV-1a */
	return state;
}

static double hash_messages(uint64_t round)
{
	uint32_t state = (uint32_t)round;

	for (int i = 0; i < 8; i++)
		state = hash_bytes(state, BYTES);
	return state;
}

/* All stages run the same number of rounds: one that stopped earlier would leave the others
 * waiting. */
static void *stage_run(void *argument)
{
	struct stage *stage = argument;

	pthread_setname_np(pthread_self(), stage->name);
	for (uint64_t round = 0; round < stage->rounds; round++) {
		stage->result += stage->work(round);
		pthread_barrier_wait(stage->round_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seconds = work_argument(argc, argv, 1, 3);
	struct stage stages[] = {
		{.name = "render", .work = render_picture},
		{.name = "sort", .work = sort_numbers},
		{.name = "hash", .work = hash_messages},
	};
	enum { STAGES = sizeof(stages) / sizeof(stages[0]) };
	pthread_barrier_t round_end;

	if (pthread_barrier_init(&round_end, NULL, STAGES) != 0)
		return 3;
	for (int i = 0; i < STAGES; i++) {
		stages[i].round_end = &round_end;
		stages[i].rounds = seconds * ROUNDS_PER_SECOND;
		if (pthread_create(&stages[i].thread, NULL, stage_run, &stages[i]) != 0)
			return 3;
	}
	for (int i = 0; i < STAGES; i++) {
		pthread_join(stages[i].thread, NULL);
		printf("%s: %g\n", stages[i].name, stages[i].result);
	}
	return 0;
}
