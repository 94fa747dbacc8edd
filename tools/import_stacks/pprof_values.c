#include "tools/import_stacks/pprof_values.h"

#include "tools/memory/xalloc.h"
#include <pprof.pb-c.h> /* generated from tools/pprof/pprof.proto */
#include <stdlib.h>
#include <string.h>

/* What a sample is shown as where nothing says its time. */
#define SAMPLE_NS 10000000.0

struct value_type {
	const char *type;
	const char *unit;
};

static const struct {
	const char *unit;
	double ns;
} times[] = {
	{"nanoseconds", 1}, {"microseconds", 1e3}, {"milliseconds", 1e6}, {"seconds", 1e9},
	{"ns", 1},          {"us", 1e3},           {"ms", 1e6},           {"s", 1e9},
};

/* 0: no unit of time. */
static double ns_of(const char *unit)
{
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		if (strcmp(times[i].unit, unit) == 0)
			return times[i].ns;
	}
	return 0;
}

static struct value_type read_type(const struct pprof_tables *tables,
				   const struct pprof_bytes *bytes)
{
	struct value_type type = {"", ""};
	Pprof__ValueType *message = pprof__value_type__unpack(NULL, bytes->size, bytes->bytes);
	if (message) {
		type.type = pprof_tables_text(tables, message->type);
		type.unit = pprof_tables_text(tables, message->unit);
		pprof__value_type__free_unpacked(message, NULL);
	}
	return type;
}

static struct value_type type_at(const struct pprof_tables *tables, size_t index)
{
	return read_type(tables, &tables->sample_types.items[index]);
}

static size_t find_type(const struct pprof_tables *tables, const char *name)
{
	for (size_t i = 0; name[0] && i < tables->sample_types.count; i++) {
		if (strcmp(type_at(tables, i).type, name) == 0)
			return i;
	}
	return PPROF_VALUE_NONE;
}

/* CPU time by its usual name; else the first one of time, the profile's choice before others; else
 * the profile's choice, which is the last one if it names none. */
static size_t choose_weight(const struct pprof_tables *tables)
{
	size_t chosen = find_type(tables, pprof_tables_text(tables, tables->default_type));
	size_t last = tables->sample_types.count - 1;
	size_t cpu = find_type(tables, "cpu");
	/* A profile of our own may open with its waits. */
	if (cpu != PPROF_VALUE_NONE && ns_of(type_at(tables, cpu).unit) > 0)
		return cpu;
	size_t wanted = chosen == PPROF_VALUE_NONE ? last : chosen;
	if (ns_of(type_at(tables, wanted).unit) > 0 || chosen != PPROF_VALUE_NONE)
		return wanted;
	for (size_t i = 0; i <= last; i++) {
		if (ns_of(type_at(tables, i).unit) > 0)
			return i;
	}
	return wanted;
}

static bool is_count(const struct pprof_tables *tables, size_t index)
{
	return strcmp(type_at(tables, index).unit, "count") == 0;
}

/* Types of numbers stand before what they count, as inuse_objects before inuse_space. */
static size_t choose_count(const struct pprof_tables *tables, size_t weight)
{
	size_t samples = find_type(tables, "samples");
	if (samples != PPROF_VALUE_NONE)
		return samples;
	for (size_t i = weight + 1; i-- > 0;) {
		if (is_count(tables, i))
			return i;
	}
	for (size_t i = weight + 1; i < tables->sample_types.count; i++) {
		if (is_count(tables, i))
			return i;
	}
	return PPROF_VALUE_NONE;
}

static uint64_t interval_of(const struct pprof_tables *tables)
{
	struct value_type type = read_type(tables, &tables->period_type);
	double ns = ns_of(type.unit) * (double)tables->period;
	return ns >= 1 && ns < 1e18 ? (uint64_t)ns : 0;
}

static char *list_types(const struct pprof_tables *tables)
{
	char *list = xalloc_text("");
	for (size_t i = 0; i < tables->sample_types.count && i < 20; i++) {
		char *longer =
			xalloc_printf("%s%s%s", list, i > 0 ? ", " : "", type_at(tables, i).type);
		free(list);
		list = longer;
	}
	return list;
}

char *pprof_values_choose(struct pprof_values *values, const struct pprof_tables *tables,
			  const char *wanted)
{
	*values = (struct pprof_values){.count = PPROF_VALUE_NONE};
	if (tables->sample_types.count == 0)
		return xalloc_text("it is no profile of pprof's format, or has no types of values");
	values->weight = wanted ? find_type(tables, wanted) : choose_weight(tables);
	if (values->weight == PPROF_VALUE_NONE) {
		char *list = list_types(tables);
		char *problem = xalloc_printf("it has no values \"%s\"; name one with --event: %s",
					      wanted, list);
		free(list);
		return problem;
	}
	struct value_type type = type_at(tables, values->weight);
	values->type = type.type;
	values->unit = type.unit;
	values->count = choose_count(tables, values->weight);
	values->interval_ns = interval_of(tables);
	values->ns = ns_of(type.unit);
	values->is_time = values->ns > 0;
	if (values->is_time)
		return NULL;
	/* Numbers of samples have the time of their distance. */
	bool is_number = values->weight == values->count;
	values->is_time = is_number && values->interval_ns > 0;
	values->ns = values->is_time ? (double)values->interval_ns : is_number ? SAMPLE_NS : 1;
	return NULL;
}

static int64_t value_at(const Pprof__Sample *sample, size_t index)
{
	return index < sample->n_value ? sample->value[index] : 0;
}

/* The product, at most what 64 bits hold. */
static uint64_t multiply(int64_t value, double ns)
{
	unsigned __int128 product = (unsigned __int128)(uint64_t)value * (uint64_t)ns;
	return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

enum pprof_measure pprof_values_measure(const struct pprof_values *values,
					const Pprof__Sample *sample, uint64_t *samples,
					uint64_t *cpu_ns)
{
	int64_t weight = value_at(sample, values->weight);
	int64_t count = values->count == PPROF_VALUE_NONE ? 0 : value_at(sample, values->count);
	if (weight < 0 || count < 0)
		return PPROF_NEGATIVE;
	if (weight == 0 && count == 0)
		return PPROF_NOTHING;
	*samples = (uint64_t)count;
	*cpu_ns = multiply(weight, values->ns);
	/* Without counts, as many as the time has intervals. */
	if (values->count == PPROF_VALUE_NONE)
		*samples = values->is_time && values->interval_ns > 0
				   ? (*cpu_ns + values->interval_ns / 2) / values->interval_ns
				   : 1;
	return PPROF_MEASURED;
}

char *pprof_values_explain(const struct pprof_values *values)
{
	bool is_cpu = strstr(values->type, "cpu") || strcmp(values->type, "samples") == 0;
	if (values->is_time && is_cpu)
		return NULL;
	if (values->is_time)
		return xalloc_printf("CPU time is the profile's time %s", values->type);
	if (values->ns == SAMPLE_NS)
		return xalloc_printf("the profile counts %s, and has no times: each count is shown "
				     "as 10 ms of CPU time",
				     values->type);
	return xalloc_printf("the profile is of %s in %s, and has no times: each is shown as 1 ns "
			     "of CPU time",
			     values->type, values->unit);
}
