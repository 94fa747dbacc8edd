/*
 * Whether two programs, or two builds of one, differ: what of the differences between their results
 * is more than chance.
 *
 * A row's time by n samples has a relative standard error of 1 / sqrt(n), of samples of unlike
 * weights sqrt(sum of squares) / sum. The speed of the machine differs from run to run, by more
 * than that: it is taken out. The common factor is that of most functions: where the ratios of
 * those known best lie closest together (least squares, each cut off at three errors), then the
 * mean of all ratios near it, by their precision. A row differs if
 * its ratio to the common factor is beyond COMPARISON_LEAST, and by chance would be so in one of a
 * thousand comparisons at most (Bonferroni: over all rows).
 *
 * Several runs of a side tell how much rows vary from run to run, beyond sampling: errors grow by
 * that (the dispersion of chi squared). They also tell whether totals differ, and rows that are
 * exact accounts or too few for a common factor, by Welch's test of the logarithms.
 */
#ifndef TOOLS_DIFF_COMPARISON_H
#define TOOLS_DIFF_COMPARISON_H

#include "tools/samples/draws.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Differences up to this one are not told from other places of code and data in memory. */
#define COMPARISON_LEAST 0.01
/* Nor are those of less than so much of the base's time, or so much time: a program's start takes
 * some ms longer when its files were not read lately. */
#define COMPARISON_LEAST_PART 0.005
#define COMPARISON_LEAST_NS   20e6
/* Of comparisons without any difference, at most so many name one. */
#define COMPARISON_RISK 0.001
/* Logarithms of fewer samples are no longer close to normal. */
#define COMPARISON_SAMPLES 25.0
/* Ratios that the common factor is made of. */
#define COMPARISON_ROWS 3u

enum comparison_verdict {
	COMPARISON_UNSURE, /* not known to differ */
	COMPARISON_FASTER,
	COMPARISON_SLOWER,
	COMPARISON_GONE,
	COMPARISON_NEW,
};

struct comparison_row {
	double base_ns; /* mean of the side's runs */
	double new_ns;
	double base_samples; /* of all runs, as many of one weight */
	double new_samples;
	/* Logarithm of new over base, beyond the common factor; of a new or gone row, no less than.
	 */
	double change;
	double error;   /* its standard error */
	bool has_error; /* else there is no test */
	double p;       /* that chance makes it, for all rows together, at most 1 */
	enum comparison_verdict verdict;
};

struct comparison {
	struct comparison_row *rows; /* in the order of the parts */
	size_t count;
	struct comparison_row total; /* without the common factor */
	bool has_factor;
	double factor;     /* of time, new over base; 1 if there is none */
	double dispersion; /* of runs, at least 1; 1 also for single runs */
};

/*
 * parts: of row and run, those of a row one behind the other; totals: of each run. The first
 * base_runs of the runs are the base, the rest is new; at least one each. is_exact: rows are
 * accounts, their times are not drawn.
 */
void comparison_make(struct comparison *comparison, const struct draws_part *parts,
		     const struct draws_part *totals, size_t count, size_t base_runs, size_t runs,
		     bool is_exact);
void comparison_finish(struct comparison *comparison);

#endif
