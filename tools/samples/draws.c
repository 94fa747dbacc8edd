#include "tools/samples/draws.h"

#include <math.h>

void draws_add(struct draws *sum, const struct draws *more)
{
	sum->cpu_ns += more->cpu_ns;
	sum->squares += more->squares;
}

void draws_add_sample(struct draws *sum, uint64_t cpu_ns)
{
	draws_add(sum, &(struct draws){cpu_ns, (double)cpu_ns * (double)cpu_ns});
}

void draws_add_part(struct draws_part *sum, const struct draws_part *more)
{
	sum->cpu_ns += more->cpu_ns;
	sum->samples += more->samples;
	draws_add(&sum->draws, &more->draws);
}

bool draws_error(const struct draws *part, const struct draws *all, uint64_t total_ns,
		 uint64_t *error)
{
	double whole = (double)all->cpu_ns;
	/* whole^2 / squares: the number of samples of one weight with the same precision. */
	if (part->cpu_ns == 0 || total_ns == 0 || whole * whole < 2 * all->squares)
		return false;
	double share = (double)part->cpu_ns / whole;
	double variance = (1 - 2 * share) * part->squares + share * share * all->squares;
	*error = variance > 0 ? (uint64_t)(sqrt(variance) / (double)total_ns * 1e6 + 0.5) : 0;
	return true;
}
