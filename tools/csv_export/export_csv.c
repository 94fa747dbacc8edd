#include "tools/csv_export/export_csv.h"

#include "tools/csv_export/csv_table.h"
#include "tools/csv_export/external.h"
#include "tools/csv_export/output_folder.h"
#include "tools/csv_export/running.h"
#include "tools/csv_export/state_intervals.h"
#include "tools/csv_export/utilization.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>

/* A part of the time with its utilization: so many samples of a busy CPU, in the mean. States tell
 * more. */
enum { PART_INTERVALS = 20 };
#define INTERVAL_DEFAULT_NS 10000000u

struct csv_export {
	struct weighted_stacks *stacks;
	struct output_folder *folder;
	struct running_bounds bounds;
	struct utilization utilization;
	const char *host;
	bool has_states; /* intervals are those of states; else they follow from samples */
};

static const char *const state_names[] = {
	[PROFILE_STATE_RUNNING] = "Running",
	[PROFILE_STATE_READY] = "Ready",
	[PROFILE_STATE_BLOCKED] = "Waiting",
	[PROFILE_STATE_STOPPED] = "Stopped",
};

/* A task for each thread's life, named after it. */
static void write_lives(const struct csv_export *export)
{
	const struct weighted_stacks *stacks = export->stacks;
	FILE *stream = csv_table_begin(export->folder, "threads", export->host);
	csv_table_intervals(stream);
	for (uint32_t i = 0; i < profile_reader_thread_count(stacks->reader); i++) {
		struct running_interval life = running_life(stacks, &export->bounds, i);
		if (life.start_ns >= life.end_ns ||
		    !tally_takes_thread(stacks->reader, stacks->filter, i))
			continue;
		const char *thread = tally_thread_name(stacks->reader, i);
		char *name = xalloc_printf("Thread %s", thread[0] ? thread : "without a name");
		csv_table_interval(stream, name, life.start_ns, life.end_ns, life.pid, life.tid);
		free(name);
	}
}

static void take_running(const struct running_interval *interval, void *user)
{
	struct csv_export *export = user;
	csv_table_interval(export->folder->stream, state_names[PROFILE_STATE_RUNNING],
			   interval->start_ns, interval->end_ns, interval->pid, interval->tid);
	utilization_add(&export->utilization, interval->start_ns, interval->end_ns);
}

static void take_running_state(const struct running_interval *interval, enum profile_state state,
			       void *user)
{
	const struct csv_export *export = user;
	struct running_interval inside = *interval;
	(void)state;
	/* By the sync points, the collection may start later. */
	if (inside.start_ns < export->bounds.start_ns)
		inside.start_ns = export->bounds.start_ns;
	if (inside.start_ns < inside.end_ns)
		take_running(&inside, user);
}

static TBRW_U32 write_running(struct csv_export *export)
{
	csv_table_intervals(csv_table_begin(export->folder, "running", export->host));
	return export->has_states
		       ? state_intervals_each(export->stacks, 1u << PROFILE_STATE_RUNNING,
					      take_running_state, export)
		       : running_each(export->stacks, take_running, export);
}

static void take_waiting(const struct running_interval *interval, enum profile_state state,
			 void *user)
{
	const struct csv_export *export = user;
	csv_table_interval(export->folder->stream, state_names[state], interval->start_ns,
			   interval->end_ns, interval->pid, interval->tid);
}

/* What threads did off the CPUs, as far as it is known. */
static TBRW_U32 write_waiting(struct csv_export *export)
{
	unsigned states = 1u << PROFILE_STATE_READY | 1u << PROFILE_STATE_BLOCKED |
			  1u << PROFILE_STATE_STOPPED;
	if (!export->has_states)
		return VT_SUCCESS;
	csv_table_intervals(csv_table_begin(export->folder, "waiting", export->host));
	return state_intervals_each(export->stacks, states, take_waiting, export);
}

/* A value holds from its time to the next. */
static void write_utilization(const struct csv_export *export)
{
	const struct utilization *utilization = &export->utilization;
	FILE *stream = csv_table_begin(export->folder, "utilization", export->host);
	csv_table_counters(stream);
	csv_table_counter(stream, "CPU Utilization %", CSV_TABLE_INSTANT);
	csv_table_counters_end(stream);
	for (size_t i = 0; i <= utilization->count; i++) {
		uint64_t percent = i < utilization->count ? utilization_percent(utilization, i) : 0;
		fprintf(stream, "%" PRIu64 ",%" PRIu64,
			utilization->start_ns + i * utilization->width_ns, percent);
		csv_table_ids(stream, 0, 0);
	}
}

TBRW_U32 export_csv_write(struct weighted_stacks *stacks, const struct export_options *options,
			  struct output_folder *folder)
{
	(void)options; /* threads are always apart */
	struct profile_host_info host;
	uint64_t interval_ns = profile_reader_interval_ns(stacks->reader);
	profile_reader_host(stacks->reader, &host);
	struct csv_export export = {.stacks = stacks,
				    .folder = folder,
				    .bounds = running_bounds(stacks),
				    .host = host.name,
				    .has_states = state_intervals_are_known(stacks)};
	/* A foreign interval may be anything. */
	if (interval_ns == 0 || interval_ns > UINT32_MAX)
		interval_ns = INTERVAL_DEFAULT_NS;
	export.utilization.start_ns = export.bounds.start_ns;
	export.utilization.width_ns =
		export.has_states ? interval_ns : PART_INTERVALS * interval_ns;
	write_lives(&export);
	TBRW_U32 code = write_running(&export);
	if (code == VT_SUCCESS)
		code = write_waiting(&export);
	if (code == VT_SUCCESS)
		write_utilization(&export);
	if (code == VT_SUCCESS)
		code = external_write(stacks, &export.bounds, folder);
	utilization_finish(&export.utilization);
	return code;
}
