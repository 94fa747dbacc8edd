/*
 * Time known by samples, and its precision: a share of samples is a draw with a standard error.
 */
#ifndef TOOLS_SAMPLES_DRAWS_H
#define TOOLS_SAMPLES_DRAWS_H

#include <stdbool.h>
#include <stdint.h>

struct draws {           /* all zero: none */
	uint64_t cpu_ns; /* sum of the samples' weights */
	double squares;  /* of their squares, ns^2 */
};

void draws_add(struct draws *sum, const struct draws *more);
void draws_add_sample(struct draws *sum, uint64_t cpu_ns);

/* The sums of a report's row. */
struct draws_part {
	uint64_t cpu_ns; /* drawn and measured */
	uint64_t samples;
	struct draws draws;
};

void draws_add_part(struct draws_part *sum, const struct draws_part *more);

/*
 * The standard error of part->cpu_ns / total_ns, in 10^-6, rounded. all: all samples, of which the
 * part's are a share by chance; total_ns: the base of shares, the time of all samples and the time
 * known otherwise. The sum over all samples is known by other means; only its division is
 * uncertain. Samples of one weight have the error of the binomial distribution, others the error by
 * Kish, Survey Sampling (1965), chapter 11. False: the part was not drawn, or there are fewer than
 * two samples.
 */
bool draws_error(const struct draws *part, const struct draws *all, uint64_t total_ns,
		 uint64_t *error);

#endif
