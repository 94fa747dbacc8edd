#include "tools/diff/comparison.h"

#include "tools/diff/chance.h"
#include "tools/memory/xalloc.h"
#include <math.h>
#include <stdlib.h>

/* Of ratios about the common factor: those that are as sure as the surest but for this. */
#define SURE_TIMES 3.0
/* Ratios within so many errors are of the common factor. */
#define NEAR_ERRORS 3.0
/* So many ratios are compared with each other. */
#define SURE_MAX 200u

struct comparing {
	struct comparison *comparison;
	const struct draws_part *parts;
	const struct draws_part *totals;
	size_t base_runs;
	size_t runs;
	bool is_exact;
	double *variances; /* of the rows' ratios; 0: not drawn, or too few samples */
	bool *is_common;   /* the row's ratio is of the common factor */
	double factor_variance;
};

static const struct draws_part *parts_of(const struct comparing *comparing, size_t row)
{
	return &comparing->parts[row * comparing->runs];
}

/* Samples of one weight that are as precise. */
static double samples_of(const struct draws *draws)
{
	return draws->squares > 0 ? (double)draws->cpu_ns * (double)draws->cpu_ns / draws->squares
				  : 0;
}

/* Sums up the runs from first on. */
static double sum_runs(const struct draws_part *parts, size_t first, size_t end, double *samples)
{
	struct draws draws = {0};
	uint64_t cpu_ns = 0;
	for (size_t run = first; run < end; run++) {
		cpu_ns += parts[run].cpu_ns;
		draws_add(&draws, &parts[run].draws);
	}
	*samples = samples_of(&draws);
	return (double)cpu_ns / (double)(end - first);
}

static void sum_sides(const struct comparing *comparing, const struct draws_part *parts,
		      struct comparison_row *row)
{
	row->base_ns = sum_runs(parts, 0, comparing->base_runs, &row->base_samples);
	row->new_ns = sum_runs(parts, comparing->base_runs, comparing->runs, &row->new_samples);
}

static bool has_samples(const struct comparison_row *row)
{
	return row->base_samples >= COMPARISON_SAMPLES && row->new_samples >= COMPARISON_SAMPLES;
}

/* How much more a row varies over the runs of a side than by its samples: chi squared, with its
 * degrees of freedom added to *freedom. */
static double vary(const struct comparing *comparing, const struct draws_part *parts, bool is_new,
		   double mean_ns, double *freedom)
{
	size_t first = is_new ? comparing->base_runs : 0;
	size_t end = is_new ? comparing->runs : comparing->base_runs;
	double ignored;
	double whole_ns = sum_runs(comparing->totals, first, end, &ignored);
	double chi = 0;
	for (size_t run = first; run < end && end - first > 1; run++) {
		double samples = samples_of(&parts[run].draws);
		double expected_ns = mean_ns * (double)comparing->totals[run].cpu_ns / whole_ns;
		double off = (double)parts[run].cpu_ns / expected_ns - 1;
		chi += off * off * samples;
	}
	*freedom += (double)(end - first - 1);
	return chi;
}

static void find_variances(struct comparing *comparing)
{
	struct comparison *comparison = comparing->comparison;
	double *dispersions = xalloc_zeroed(comparison->count, sizeof(*dispersions));
	double chi = 0;
	double freedom = 0;
	comparison->dispersion = 1;
	for (size_t i = 0; i < comparison->count; i++) {
		const struct comparison_row *row = &comparison->rows[i];
		const struct draws_part *parts = parts_of(comparing, i);
		double own_freedom = 0;
		if (comparing->is_exact || !has_samples(row))
			continue;
		comparing->variances[i] = 1 / row->base_samples + 1 / row->new_samples;
		double own = vary(comparing, parts, false, row->base_ns, &own_freedom) +
			     vary(comparing, parts, true, row->new_ns, &own_freedom);
		dispersions[i] = own_freedom > 0 ? own / own_freedom : 1;
		chi += own;
		freedom += own_freedom;
	}
	if (freedom > 0)
		comparison->dispersion = fmax(1, chi / freedom);
	for (size_t i = 0; i < comparison->count; i++)
		comparing->variances[i] *= fmax(comparison->dispersion, dispersions[i]);
	free(dispersions);
}

static double ratio_of(const struct comparison_row *row)
{
	return log(row->new_ns / row->base_ns);
}

static int compare_reals(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;
	return (left > right) - (left < right);
}

/* Variance up to which ratios are sure: of the surest, but so many at least; 0: there are fewer
 * than COMPARISON_ROWS. */
static double find_sure(const struct comparing *comparing)
{
	double *sorted = xalloc_zeroed(comparing->comparison->count, sizeof(*sorted));
	double sure = 0;
	size_t count = 0;
	for (size_t i = 0; i < comparing->comparison->count; i++)
		if (comparing->variances[i] > 0)
			sorted[count++] = comparing->variances[i];
	if (count >= COMPARISON_ROWS) {
		qsort(sorted, count, sizeof(*sorted), compare_reals);
		size_t most = count < SURE_MAX ? count : SURE_MAX;
		sure = fmin(fmax(sorted[0] * SURE_TIMES * SURE_TIMES, sorted[COMPARISON_ROWS - 1]),
			    sorted[most - 1]);
	}
	free(sorted);
	return sure;
}

struct ratio {
	double ratio;
	double variance;
};

static double count_errors(const struct ratio *ratio, double middle)
{
	double off = ratio->ratio - middle;
	return off * off / ratio->variance;
}

static double find_mean(const struct ratio *ratios, size_t count, double middle)
{
	double weight = 0;
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		if (count_errors(&ratios[i], middle) > NEAR_ERRORS * NEAR_ERRORS)
			continue;
		weight += 1 / ratios[i].variance;
		sum += ratios[i].ratio / ratios[i].variance;
	}
	return sum / weight;
}

/* Where ratios lie closest together: the least sum of squares, each cut off at NEAR_ERRORS. */
static double find_middle(const struct ratio *ratios, size_t count)
{
	double least = HUGE_VAL;
	double middle = 0;
	for (size_t i = 0; i < count; i++) {
		double mean = find_mean(ratios, count, ratios[i].ratio);
		double sum = 0;
		for (size_t k = 0; k < count; k++)
			sum += fmin(count_errors(&ratios[k], mean), NEAR_ERRORS * NEAR_ERRORS);
		if (sum < least) {
			least = sum;
			middle = mean;
		}
	}
	return middle;
}

/* The mean of the ratios near the middle of the sure ones. */
static void find_factor(struct comparing *comparing)
{
	struct comparison *comparison = comparing->comparison;
	struct ratio *ratios = xalloc_zeroed(comparison->count, sizeof(*ratios));
	double sure = find_sure(comparing);
	size_t count = 0;
	double weight = 0;
	double sum = 0;
	/* Of equal variances there may be any number. */
	for (size_t i = 0; i < comparison->count && count < SURE_MAX; i++)
		if (comparing->variances[i] > 0 && comparing->variances[i] <= sure)
			ratios[count++] = (struct ratio){ratio_of(&comparison->rows[i]),
							 comparing->variances[i]};
	double middle = find_middle(ratios, count);
	for (size_t i = 0; count > 0 && i < comparison->count; i++) {
		struct ratio own = {0, comparing->variances[i]};
		if (own.variance <= 0)
			continue;
		own.ratio = ratio_of(&comparison->rows[i]);
		comparing->is_common[i] = count_errors(&own, middle) <= NEAR_ERRORS * NEAR_ERRORS;
		weight += comparing->is_common[i] ? 1 / own.variance : 0;
		sum += comparing->is_common[i] ? own.ratio / own.variance : 0;
	}
	comparison->has_factor = weight > 0;
	comparison->factor = weight > 0 ? exp(sum / weight) : 1;
	comparing->factor_variance = weight > 0 ? 1 / weight : 0;
	free(ratios);
}

/* Whether the time beyond the common factor is worth a name. */
static bool is_small(const struct comparison *comparison, const struct comparison_row *row)
{
	double most_ns = fmax(row->base_ns, row->new_ns / comparison->factor);
	double beyond_ns = most_ns * -expm1(-fabs(row->change));
	return beyond_ns <
	       fmax(COMPARISON_LEAST_PART * comparison->total.base_ns, COMPARISON_LEAST_NS);
}

/* tests: the number of rows tested at once. */
static void judge(const struct comparison *comparison, struct comparison_row *row, double p,
		  double tests)
{
	row->p = fmin(p * tests, 1);
	if (row->p > COMPARISON_RISK || is_small(comparison, row))
		row->verdict = COMPARISON_UNSURE;
	else if (row->change > 0)
		row->verdict = row->base_ns > 0 ? COMPARISON_SLOWER : COMPARISON_NEW;
	else
		row->verdict = row->new_ns > 0 ? COMPARISON_FASTER : COMPARISON_GONE;
}

/* Errors above the least difference that is looked for. */
static double errors_above(const struct comparison_row *row)
{
	return (fabs(row->change) - log1p(COMPARISON_LEAST)) / row->error;
}

/* A side of too few samples counts as if it had the least number that can be tested: it has less
 * time than that, so the change is no smaller. */
static double find_change(const struct comparison_row *row, const struct comparison_row *total,
			  double *variance)
{
	bool is_more = row->new_samples > row->base_samples;
	double few_ns =
		is_more ? total->base_ns / total->base_samples : total->new_ns / total->new_samples;
	double most_ns = is_more ? row->new_ns : row->base_ns;
	double least_ns = is_more ? row->base_ns : row->new_ns;
	double change = fmax(log(most_ns / fmax(least_ns, few_ns * COMPARISON_SAMPLES)), 0);
	*variance = 1 / fmax(row->base_samples, row->new_samples) + 1 / COMPARISON_SAMPLES;
	return is_more ? change : -change;
}

static bool is_tested(const struct comparison_row *row)
{
	return has_samples(row) ||
	       fmax(row->base_samples, row->new_samples) >= 2 * COMPARISON_SAMPLES;
}

static void test_drawn(const struct comparing *comparing, size_t index, double tests)
{
	struct comparison_row *row = &comparing->comparison->rows[index];
	double factor = log(comparing->comparison->factor);
	double variance = comparing->variances[index];
	if (has_samples(row)) {
		row->change = ratio_of(row) - factor;
		/* A part of the factor is nearer to it than to the truth. */
		variance += comparing->is_common[index] ? 0 : comparing->factor_variance;
	} else {
		row->change = find_change(row, &comparing->comparison->total, &variance) - factor;
		variance =
			variance * comparing->comparison->dispersion + comparing->factor_variance;
	}
	row->has_error = true;
	row->error = sqrt(variance);
	judge(comparing->comparison, row, chance_normal(errors_above(row)), 2 * tests);
}

/* Mean and variance of the mean of the logarithms; false: a run has no time. */
static bool take_logarithms(const struct draws_part *parts, size_t first, size_t end, double *mean,
			    double *variance)
{
	double sum = 0;
	double squares = 0;
	double count = (double)(end - first);
	for (size_t run = first; run < end; run++) {
		if (parts[run].cpu_ns == 0)
			return false;
		sum += log((double)parts[run].cpu_ns);
	}
	*mean = sum / count;
	for (size_t run = first; run < end; run++)
		squares += pow(log((double)parts[run].cpu_ns) - *mean, 2);
	*variance = squares / (count - 1) / count;
	return true;
}

/* Welch, Biometrika 34 (1947). */
static void test_runs(const struct comparing *comparing, const struct draws_part *parts,
		      struct comparison_row *row, double tests)
{
	size_t base_runs = comparing->base_runs;
	size_t new_runs = comparing->runs - base_runs;
	double mean[2];
	double variance[2];
	row->change = row->base_ns > 0 && row->new_ns > 0 ? ratio_of(row) : 0;
	row->p = 1;
	if (base_runs < 2 || new_runs < 2 ||
	    !take_logarithms(parts, 0, base_runs, &mean[0], &variance[0]) ||
	    !take_logarithms(parts, base_runs, comparing->runs, &mean[1], &variance[1]) ||
	    variance[0] + variance[1] <= 0)
		return;
	double sum = variance[0] + variance[1];
	double freedom = sum * sum /
			 (variance[0] * variance[0] / (double)(base_runs - 1) +
			  variance[1] * variance[1] / (double)(new_runs - 1));
	row->change = mean[1] - mean[0];
	row->error = sqrt(sum);
	row->has_error = true;
	judge(comparing->comparison, row, chance_student(errors_above(row), freedom), 2 * tests);
}

static void test_rows(const struct comparing *comparing)
{
	struct comparison *comparison = comparing->comparison;
	double tests = 0;
	for (size_t i = 0; i < comparison->count; i++)
		tests += comparing->is_exact || is_tested(&comparison->rows[i]);
	for (size_t i = 0; i < comparison->count; i++) {
		struct comparison_row *row = &comparison->rows[i];
		if (comparing->is_exact || !comparison->has_factor)
			test_runs(comparing, parts_of(comparing, i), row, tests);
		else if (is_tested(row))
			test_drawn(comparing, i, tests);
		else if (row->base_ns > 0 && row->new_ns > 0)
			row->change = ratio_of(row) - log(comparison->factor);
	}
}

void comparison_make(struct comparison *comparison, const struct draws_part *parts,
		     const struct draws_part *totals, size_t count, size_t base_runs, size_t runs,
		     bool is_exact)
{
	struct comparing comparing = {.comparison = comparison,
				      .parts = parts,
				      .totals = totals,
				      .base_runs = base_runs,
				      .runs = runs,
				      .is_exact = is_exact};
	*comparison = (struct comparison){.rows = xalloc_zeroed(count, sizeof(*comparison->rows)),
					  .count = count};
	comparing.variances = xalloc_zeroed(count, sizeof(*comparing.variances));
	comparing.is_common = xalloc_zeroed(count, sizeof(*comparing.is_common));
	for (size_t i = 0; i < count; i++) {
		sum_sides(&comparing, parts_of(&comparing, i), &comparison->rows[i]);
		comparison->rows[i].p = 1;
	}
	sum_sides(&comparing, totals, &comparison->total);
	find_variances(&comparing);
	find_factor(&comparing);
	test_rows(&comparing);
	test_runs(&comparing, totals, &comparison->total, 1);
	free(comparing.variances);
	free(comparing.is_common);
}

void comparison_finish(struct comparison *comparison)
{
	free(comparison->rows);
	*comparison = (struct comparison){0};
}
