/*
 * Time that is known by samples, and how well: a share that samples show is a draw, and has a
 * standard error.
 */
#ifndef TOOLS_ANALYSIS_DRAWS_H
#define TOOLS_ANALYSIS_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

struct draws {           /* all zero: none */
	uint64_t cpu_ns; /* sum of the samples' weights */
	double squares;  /* of their squares, ns^2 */
};

void draws_add(struct draws *sum, const struct draws *more);
void draws_add_sample(struct draws *sum, uint64_t cpu_ns);

/* What a row of a report is made of. */
struct draws_part {
	uint64_t cpu_ns; /* with what was measured */
	uint64_t samples;
	struct draws draws;
};

void draws_add_part(struct draws_part *sum, const struct draws_part *more);

/*
 * The standard error of part->cpu_ns / total_ns, in 10^-6, rounded. all: all samples, of which
 * those of the part are a share by chance; total_ns: what shares are of, that of all samples and
 * what is known otherwise. What the samples add up to is known by other means, so that only its
 * division is uncertain: of samples of one weight the error is that of the binomial distribution,
 * of others by Kish, Survey Sampling (1965), chapter 11. False: the part was not drawn, or there
 * are fewer than two samples to tell.
 */
bool draws_error(const struct draws *part, const struct draws *all, uint64_t total_ns,
		 uint64_t *error);

#endif
