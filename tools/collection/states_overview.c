#include "tools/collection/states_overview.h"

#include "tools/collection/lines.h"
#include "tools/memory/xalloc.h"
#include "tools/report/report.h"
#include "tools/states/concurrency.h"
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>

#define SHOWN_MIN_NS 500000u /* less than this is 0.000 s */

TBRW_U32 states_overview_collect(struct states_overview *overview, const struct report_input *input,
				 uint64_t cpu_ns)
{
	const struct filter *filter = &input->options->filter;
	*overview = (struct states_overview){.target = report_target(input), .cpu_ns = cpu_ns};
	/* States are of whole threads, and of all of the time. */
	if (profile_reader_states(input->reader) == 0 || filter_needs_function(filter) ||
	    filter_has_times(filter))
		return VT_SUCCESS;
	struct concurrency *concurrency = xalloc_zeroed(1, sizeof(*concurrency));
	TBRW_U32 code = concurrency_collect(concurrency, input->reader, filter, overview->target);
	if (code == VT_SUCCESS)
		overview->concurrency = concurrency;
	else
		free(concurrency);
	return code;
}

void states_overview_finish(struct states_overview *overview)
{
	if (overview->concurrency)
		concurrency_finish(overview->concurrency);
	free(overview->concurrency);
	overview->concurrency = NULL;
}

static void print_seconds(const char *before, uint64_t ns, const char *behind, FILE *stream)
{
	fprintf(stream, "%s%.3f s%s", before, (double)ns / 1e9, behind);
}

static void print_utilization(const struct states_overview *overview, FILE *stream)
{
	const struct concurrency *concurrency = overview->concurrency;
	double average = concurrency_average(&concurrency->running);
	bool is_first = true;
	lines_label(stream, "Effective CPU Utilization:");
	fprintf(stream, " %.1f %% (%.3f of %g logical CPUs)\n", average * 1e5 / overview->target,
		average, overview->target / 1e3);
	lines_label(stream, "  elapsed:");
	for (unsigned use = 0; use < CONCURRENCY_CLASS_COUNT; use++) {
		uint64_t ns = concurrency_of_class(&concurrency->running,
						   (enum concurrency_class)use, overview->target);
		if (use == CONCURRENCY_OVER && ns == 0)
			continue;
		fprintf(stream, "%s%s ", is_first ? "" : ", ",
			concurrency_class_name((enum concurrency_class)use));
		print_seconds("", ns, "", stream);
		is_first = false;
	}
	fputc('\n', stream);
}

static void print_waits(const struct concurrency *concurrency, FILE *stream)
{
	uint64_t stopped_ns = concurrency->state_ns[PROFILE_STATE_STOPPED];
	lines_label(stream, "Wait Time:");
	print_seconds("", concurrency->state_ns[PROFILE_STATE_BLOCKED], "", stream);
	fprintf(stream, ", %" PRIu64 " times", concurrency->waits);
	print_seconds("; ready ", concurrency->state_ns[PROFILE_STATE_READY], "", stream);
	if (stopped_ns >= SHOWN_MIN_NS)
		print_seconds(", stopped ", stopped_ns, "", stream);
	fputc('\n', stream);
}

/* By how much the time that threads ran is more than their CPU time; a part of 1. CPU time of no
 * known thread has no switches: a launched program's before its exec, mostly. */
static double difference_of(const struct states_overview *overview)
{
	double running_ns = (double)overview->concurrency->state_ns[PROFILE_STATE_RUNNING];
	return overview->cpu_ns > 0 ? running_ns / (double)overview->cpu_ns - 1 : 0;
}

void states_overview_print_quality(const struct states_overview *overview, FILE *stream)
{
	const struct concurrency *concurrency = overview->concurrency;
	if (!concurrency)
		return;
	lines_label(stream, "CPU Time by Switches:");
	print_seconds("", concurrency->state_ns[PROFILE_STATE_RUNNING], "", stream);
	if (overview->cpu_ns > 0)
		fprintf(stream, " (%+.2f %% of the threads' CPU Time)",
			difference_of(overview) * 100);
	fputc('\n', stream);
	if (concurrency->state_ns[PROFILE_STATE_UNKNOWN] >= SHOWN_MIN_NS) {
		lines_label(stream, "  not known:");
		print_seconds("", concurrency->state_ns[PROFILE_STATE_UNKNOWN],
			      " of the threads' time\n", stream);
	}
	if (concurrency->guessed_ns > 0) {
		lines_label(stream, "  guessed:");
		print_seconds("", concurrency->guessed_ns,
			      " of the threads' time, as switches were lost\n", stream);
	}
	if (concurrency->states.cut > 0) {
		lines_label(stream, "  contradictory:");
		fprintf(stream, "%" PRIu64 " of %" PRIu64 " slices\n", concurrency->states.cut,
			concurrency->states.slices);
	}
}

void states_overview_print(const struct states_overview *overview, FILE *stream)
{
	const struct concurrency *concurrency = overview->concurrency;
	if (!concurrency)
		return;
	uint64_t running_ns = concurrency->state_ns[PROFILE_STATE_RUNNING];
	print_utilization(overview, stream);
	lines_label(stream, "Thread Concurrency:");
	fprintf(stream, "%.3f on average, running or ready\n",
		concurrency_average(&concurrency->active));
	lines_label(stream, "Thread Oversubscription:");
	print_seconds("", concurrency->over_ns, "", stream);
	fprintf(stream, " (%.1f %% of CPU Time)\n",
		table_percent(concurrency->over_ns, running_ns));
	print_waits(concurrency, stream);
	states_overview_print_quality(overview, stream);
}

static void put_number(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_double_s(0, text));
}

static void put_seconds(struct json_object *object, const char *key, uint64_t ns)
{
	char text[TABLE_NUMBER_SIZE];
	table_number(TABLE_SECONDS, &(struct table_cell){.number = ns}, text);
	put_number(object, key, text);
}

static void put_real(struct json_object *object, const char *key, double value)
{
	char text[TABLE_NUMBER_SIZE];
	snprintf(text, sizeof(text), "%.6f", value);
	put_number(object, key, text);
}

static struct json_object *elapsed_object(const struct states_overview *overview)
{
	struct json_object *object = json_object_new_object();
	for (unsigned use = 0; use < CONCURRENCY_CLASS_COUNT; use++) {
		char key[16];
		snprintf(key, sizeof(key), "%s_s",
			 concurrency_class_key((enum concurrency_class)use));
		put_seconds(object, key,
			    concurrency_of_class(&overview->concurrency->running,
						 (enum concurrency_class)use, overview->target));
	}
	return object;
}

struct json_object *states_overview_object(const struct states_overview *overview)
{
	const struct concurrency *concurrency = overview->concurrency;
	if (!concurrency)
		return NULL;
	const struct {
		const char *key;
		uint64_t ns;
	} times[] = {{"oversubscribed_s", concurrency->over_ns},
		     {"running_s", concurrency->state_ns[PROFILE_STATE_RUNNING]},
		     {"ready_s", concurrency->state_ns[PROFILE_STATE_READY]},
		     {"wait_s", concurrency->state_ns[PROFILE_STATE_BLOCKED]},
		     {"stopped_s", concurrency->state_ns[PROFILE_STATE_STOPPED]},
		     {"unknown_s", concurrency->state_ns[PROFILE_STATE_UNKNOWN]},
		     {"guessed_s", concurrency->guessed_ns}};
	struct json_object *object = json_object_new_object();
	put_real(object, "target_cpus", overview->target / 1e3);
	put_real(object, "average_cpus", concurrency_average(&concurrency->running));
	put_real(object, "average_threads", concurrency_average(&concurrency->active));
	json_object_object_add(object, "elapsed", elapsed_object(overview));
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		put_seconds(object, times[i].key, times[i].ns);
	json_object_object_add(object, "waits", json_object_new_uint64(concurrency->waits));
	put_real(object, "cpu_time_difference", difference_of(overview));
	json_object_object_add(object, "slices",
			       json_object_new_uint64(concurrency->states.slices));
	json_object_object_add(object, "slices_contradictory",
			       json_object_new_uint64(concurrency->states.cut));
	return object;
}
