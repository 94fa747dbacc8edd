/*
 * Which of a pprof profile's values are samples and which are time.
 */
#ifndef TOOLS_IMPORT_STACKS_PPROF_VALUES_H
#define TOOLS_IMPORT_STACKS_PPROF_VALUES_H

#include "tools/import_stacks/pprof_tables.h"

struct Pprof__Sample; /* pprof.pb-c.h, generated from tools/pprof/pprof.proto */

#define PPROF_VALUE_NONE SIZE_MAX

/* Texts are those of the tables. */
struct pprof_values {
	size_t weight;    /* of a sample's values: what is shown as CPU time, or */
	size_t count;     /* PPROF_VALUE_NONE; the number of samples, likewise */
	const char *type; /* of the weight */
	const char *unit;
	double ns;            /* per unit of the weight */
	bool is_time;         /* the weight is */
	uint64_t interval_ns; /* time of a sample; 0: not known */
};

/* wanted: name of the type to show (--event), NULL: the profile's own choice. Returns NULL, or the
 * problem for the caller to free. */
char *pprof_values_choose(struct pprof_values *values, const struct pprof_tables *tables,
			  const char *wanted);

enum pprof_measure { PPROF_MEASURED, PPROF_NOTHING, PPROF_NEGATIVE };

enum pprof_measure pprof_values_measure(const struct pprof_values *values,
					const struct Pprof__Sample *sample, uint64_t *samples,
					uint64_t *cpu_ns);

/* A sentence on values that are no times, for the caller to free; NULL: they are. */
char *pprof_values_explain(const struct pprof_values *values);

#endif
