/*
 * The limit for the cost of collecting, and the share of stacks to keep within it. Only
 * bookkeeping: the caller reads the clocks.
 *
 * What ten seconds of the program would allow may be used ahead, at first and again once it was
 * saved: code that is met first costs most, and a short run would lose the stacks that a long one
 * keeps. In the long run the limit holds.
 *
 * The share follows the cost slowly. Kept stacks are drawn: for the kernel's copies from only a
 * sample's thread and time (sampling_keeps_stack), for BPF's by its random numbers before a copy.
 * Both give an even share over time and threads: a program's stacks stay representative however
 * many are left out.
 */
#ifndef COLLECTOR_SESSION_BUDGET_H
#define COLLECTOR_SESSION_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
	double limit;        /* the collector's CPU time over the program's; 0: none */
	uint32_t share;      /* of the stacks to keep now, SAMPLING_SHARE_ALL: all */
	uint64_t next_ns;    /* time of the next budget_step */
	uint64_t own_ns;     /* as of the last step */
	uint64_t program_ns; /* likewise */
	double spare_ns;     /* that may be used beyond the limit */
	bool is_counting;    /* the first second is over */
};

/* Times in ns; program_ns and own_ns: CPU time used so far. */
struct budget_reading {
	uint64_t now_ns;
	uint64_t own_ns;
	uint64_t program_ns;
	uint64_t taken_ns; /* CPU time spent on this reading */
};

/* Keeps all stacks for the first second from now on, whatever they cost. */
void budget_begin(struct budget *budget, double limit, uint64_t now_ns);

/* Whether a reading is due: four times a second, or seldom enough to keep its own cost small, but
 * at least every 5 s. */
static inline bool budget_is_due(const struct budget *budget, uint64_t now_ns)
{
	return budget->limit > 0 && now_ns >= budget->next_ns;
}

/* Sets the share by the use since the last step, and what is spare. */
void budget_step(struct budget *budget, const struct budget_reading *reading);

#endif
