#include "tools/csv_export/export_csv.h"

#include "tools/csv_export/csv_table.h"
#include "tools/csv_export/external.h"
#include "tools/csv_export/output_folder.h"
#include "tools/csv_export/running.h"
#include "tools/csv_export/utilization.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <inttypes.h>
#include <stdlib.h>

#define RUNNING "Running"

/* A part of the time with its utilization: so many samples of a busy CPU, in the mean. */
enum { PART_INTERVALS = 20 };
#define INTERVAL_DEFAULT_NS 10000000u

struct csv_export {
	struct weighted_stacks *stacks;
	struct output_folder *folder;
	struct running_bounds bounds;
	struct utilization utilization;
	const char *host;
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
	csv_table_interval(export->folder->stream, RUNNING, interval->start_ns, interval->end_ns,
			   interval->pid, interval->tid);
	utilization_add(&export->utilization, interval->start_ns, interval->end_ns);
}

static TBRW_U32 write_running(struct csv_export *export)
{
	csv_table_intervals(csv_table_begin(export->folder, "running", export->host));
	return running_each(export->stacks, take_running, export);
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
				    .host = host.name};
	/* A foreign interval may be anything. */
	if (interval_ns == 0 || interval_ns > UINT32_MAX)
		interval_ns = INTERVAL_DEFAULT_NS;
	export.utilization.start_ns = export.bounds.start_ns;
	export.utilization.width_ns = PART_INTERVALS * interval_ns;
	write_lives(&export);
	TBRW_U32 code = write_running(&export);
	if (code == VT_SUCCESS)
		write_utilization(&export);
	if (code == VT_SUCCESS)
		code = external_write(stacks, &export.bounds, folder);
	utilization_finish(&export.utilization);
	return code;
}
