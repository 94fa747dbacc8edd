#include "tools/csv_export/external.h"

#include "profile/base/external_name.h"
#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "tools/csv_export/csv_table.h"
#include "tools/csv_export/output_folder.h"
#include "tools/csv_export/running.h"
#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/stacks/weighted_stacks.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct external {
	struct profile_reader *reader;
	struct running_bounds bounds;
	struct output_folder *folder;
	uint32_t source; /* of the present file; PROFILE_NONE: none */
	/* Series by source: of source i those at first[i] up to first[i + 1]. */
	uint32_t *first;
	uint32_t *series;
	uint32_t *columns; /* by series: its place among those of its source */
	struct profile_counter
		*values;            /* of the row, by column; those without one have no series */
	struct profile_counter row; /* its time, process and thread */
	bool has_row;
};

static void sort_series(struct external *external)
{
	uint32_t sources = profile_reader_source_count(external->reader);
	uint32_t count = profile_reader_series_count(external->reader);
	external->first = xalloc_zeroed((size_t)sources + 1, sizeof(*external->first));
	external->series = xalloc_zeroed(count, sizeof(*external->series));
	external->columns = xalloc_zeroed(count, sizeof(*external->columns));
	external->values = xalloc_zeroed(count, sizeof(*external->values));
	for (uint32_t i = 0; i < count; i++)
		external->columns[i] =
			external->first[profile_reader_series(external->reader, i)->source + 1]++;
	for (uint32_t i = 0; i < sources; i++)
		external->first[i + 1] += external->first[i];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t source = profile_reader_series(external->reader, i)->source;
		external->series[external->first[source] + external->columns[i]] = i;
	}
}

/* Named after the host that its data came from. */
static void begin_file(struct external *external, uint32_t source)
{
	struct profile_external_name parts;
	const char *name = profile_reader_source_name(external->reader, source);
	profile_external_name_split(name, &parts);
	char *stem = xalloc_text_of(name, parts.stem_length);
	char *host = xalloc_text_of(parts.host ? parts.host : "", parts.host_length);
	csv_table_begin(external->folder, stem, host);
	external->source = source;
	free(stem);
	free(host);
}

static bool is_within(const struct external *external, uint64_t start_ns, uint64_t end_ns)
{
	return start_ns < external->bounds.end_ns && end_ns >= external->bounds.start_ns;
}

static bool take_interval(const struct profile_interval *interval, void *user)
{
	struct external *external = user;
	const struct profile_series *series =
		profile_reader_series(external->reader, interval->series);
	uint64_t start_ns = profile_reader_raw_ns(external->reader, interval->start_tsc);
	uint64_t end_ns = profile_reader_raw_ns(external->reader, interval->end_tsc);
	if (!is_within(external, start_ns, end_ns))
		return true;
	if (external->source != series->source) {
		begin_file(external, series->source);
		csv_table_intervals(external->folder->stream);
	}
	csv_table_interval(external->folder->stream,
			   profile_reader_series_name(external->reader, interval->series), start_ns,
			   end_ns, interval->pid, interval->tid);
	return true;
}

static uint32_t column_count(const struct external *external)
{
	return external->first[external->source + 1] - external->first[external->source];
}

static void clear_row(struct external *external)
{
	for (uint32_t i = 0; i < column_count(external); i++)
		external->values[i].series = PROFILE_NONE;
	external->has_row = false;
}

static void begin_counters(struct external *external, uint32_t source)
{
	begin_file(external, source);
	csv_table_counters(external->folder->stream);
	for (uint32_t i = 0; i < column_count(external); i++) {
		uint32_t series = external->series[external->first[source] + i];
		bool is_total = profile_reader_series(external->reader, series)->kind ==
				PROFILE_SERIES_COUNT;
		csv_table_counter(external->folder->stream,
				  profile_reader_series_name(external->reader, series),
				  is_total ? CSV_TABLE_TOTAL : CSV_TABLE_INSTANT);
	}
	csv_table_counters_end(external->folder->stream);
	clear_row(external);
}

static void write_value(FILE *stream, const struct profile_counter *counter)
{
	double real = profile_counter_value(counter);
	putc(',', stream);
	if (counter->series == PROFILE_NONE)
		return;
	if (!(counter->flags & PROFILE_COUNTER_REAL))
		fprintf(stream, "%" PRId64, (int64_t)counter->value);
	else if (isfinite(real))
		fprintf(stream, "%.17g", real); /* read back, it is the same */
}

static void write_row(struct external *external)
{
	FILE *stream = external->folder->stream;
	if (!external->has_row)
		return;
	fprintf(stream, "%" PRIu64, profile_reader_raw_ns(external->reader, external->row.tsc));
	for (uint32_t i = 0; i < column_count(external); i++)
		write_value(stream, &external->values[i]);
	csv_table_ids(stream, external->row.pid, external->row.tid);
	clear_row(external);
}

/* Values of one time, process and thread make a row, as they did. */
static bool belongs_to_row(const struct external *external, const struct profile_counter *counter,
			   uint32_t column)
{
	const struct profile_counter *row = &external->row;
	return row->tsc == counter->tsc && row->pid == counter->pid && row->tid == counter->tid &&
	       external->values[column].series == PROFILE_NONE;
}

static bool take_counter(const struct profile_counter *counter, void *user)
{
	struct external *external = user;
	uint32_t source = profile_reader_series(external->reader, counter->series)->source;
	uint32_t column = external->columns[counter->series];
	uint64_t time_ns = profile_reader_raw_ns(external->reader, counter->tsc);
	if (!is_within(external, time_ns, time_ns))
		return true;
	if (external->source != source) {
		write_row(external);
		begin_counters(external, source);
	} else if (!belongs_to_row(external, counter, column)) {
		write_row(external);
	}
	external->row = external->values[column] = *counter;
	external->has_row = true;
	return true;
}

TBRW_U32 external_write(struct weighted_stacks *stacks, const struct running_bounds *bounds,
			struct output_folder *folder)
{
	struct external external = {.reader = stacks->reader,
				    .bounds = {0, UINT64_MAX},
				    .folder = folder,
				    .source = PROFILE_NONE};
	if (filter_has_times(stacks->filter))
		external.bounds = *bounds;
	sort_series(&external);
	TBRW_U32 code = profile_reader_each_interval(stacks->reader, take_interval, &external);
	external.source = PROFILE_NONE;
	if (code == VT_SUCCESS)
		code = profile_reader_each_counter(stacks->reader, take_counter, &external);
	if (code == VT_SUCCESS)
		write_row(&external);
	free(external.first);
	free(external.series);
	free(external.columns);
	free(external.values);
	return code;
}
