#include "tools/external/external_import.h"

#include "containers/hash.h"
#include "containers/hash_table.h"
#include "profile/read/reader.h"
#include "profile/write/writer.h"
#include "tools/external/external_table.h"
#include "tools/memory/xalloc.h"
#include "tools/terminal/diagnose.h"
#include "tools/text/path.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows between two looks at the progress. */
#define PROGRESS_ROWS 4096u

/* Its number is the series', plus 1. */
struct series_slot {
	struct hash_slot head;
	uint32_t kind; /* enum profile_series_kind */
	char *name;
};

struct series_key {
	uint32_t kind;
	const char *name;
};

/* An import in progress. */
struct importing {
	struct external_import *import;
	struct external_table table;
	struct profile_writer *writer;
	struct hash_table names;
	struct hash_key key;
	uint32_t *column_series; /* of counters, by column, plus 1; 0: not written yet */
	uint64_t first_tsc;      /* of the collection */
	uint64_t last_tsc;
};

static bool is_series(const void *slot, const void *key)
{
	const struct series_slot *series = slot;
	const struct series_key *wanted = key;
	return series->kind == wanted->kind && strcmp(series->name, wanted->name) == 0;
}

/* The number of a series, which is written at its first use. PROFILE_NONE: too many, or
 * import->code has a failure. */
static uint32_t number_series(struct importing *importing, enum profile_series_kind kind,
			      const char *name)
{
	struct external_import *import = importing->import;
	const struct series_key key = {kind, name};
	uint64_t hash = hash_bytes(&importing->key, name, strlen(name)) ^ kind;
	struct series_slot *slot =
		hash_table_find(&importing->names, sizeof(*slot), hash, is_series, &key);
	if (slot)
		return slot->head.number - 1;
	if (import->series >= EXTERNAL_SERIES_MAX)
		return PROFILE_NONE;
	slot = hash_table_add(&importing->names, sizeof(*slot), hash);
	if (!slot)
		xalloc_fail();
	slot->kind = kind;
	slot->name = xalloc_text(name);
	const struct profile_series series = {.kind = kind};
	import->code =
		profile_writer_add(importing->writer, PROFILE_STREAM_SERIES, &series, &name, NULL);
	import->series++;
	return import->code == VT_SUCCESS ? slot->head.number - 1 : PROFILE_NONE;
}

static void free_names(struct importing *importing)
{
	for (size_t i = 0; i < importing->names.capacity; i++)
		free(((struct series_slot *)importing->names.slots)[i].name);
	hash_table_finish(&importing->names);
}

static uint64_t convert_time(const struct importing *importing, uint64_t time)
{
	const struct profile_reader *reader = importing->import->reader;
	switch (importing->table.clock) {
	case EXTERNAL_CLOCK_COUNTER:
		return profile_reader_tsc_of_counter(reader, time);
	case EXTERNAL_CLOCK_UTC:
		return profile_reader_tsc_of_date(reader, time);
	default:
		return profile_reader_tsc_of_raw(reader, time);
	}
}

static void count_outside(struct importing *importing, uint64_t start_tsc, uint64_t end_tsc)
{
	if (end_tsc < importing->first_tsc || start_tsc > importing->last_tsc)
		importing->import->rows_outside++;
}

/* false: the row is bad, or import->code has a failure. */
static bool add_interval(struct importing *importing, const struct external_row *row)
{
	struct external_import *import = importing->import;
	bool is_task = row->tid != 0;
	uint32_t series =
		number_series(importing, is_task ? PROFILE_SERIES_TASK : PROFILE_SERIES_FRAME,
			      row->name);
	if (series == PROFILE_NONE)
		return false;
	const struct profile_interval interval = {
		.start_tsc = convert_time(importing, row->start),
		.end_tsc = convert_time(importing, row->end),
		.series = series,
		.pid = row->pid,
		.tid = row->tid,
	};
	import->code = profile_writer_add(importing->writer, PROFILE_STREAM_INTERVALS, &interval,
					  NULL, NULL);
	*(is_task ? &import->tasks : &import->frames) += 1;
	count_outside(importing, interval.start_tsc, interval.end_tsc);
	return true;
}

static uint64_t bits_of(const struct external_value *value)
{
	union {
		double real;
		uint64_t bits;
	} number = {.real = value->real};
	return value->is_real ? number.bits : (uint64_t)value->whole;
}

static bool add_values(struct importing *importing, const struct external_row *row)
{
	struct external_import *import = importing->import;
	uint64_t tsc = convert_time(importing, row->start);
	for (size_t i = 0; i < row->value_count && import->code == VT_SUCCESS; i++) {
		const struct external_value *value = &row->values[i];
		const struct external_column *column = &importing->table.columns[value->column];
		uint32_t *series = &importing->column_series[value->column];
		if (*series == 0)
			*series = 1 + number_series(importing,
						    column->role == EXTERNAL_COUNT
							    ? PROFILE_SERIES_COUNT
							    : PROFILE_SERIES_INST,
						    column->name);
		if (*series == 0)
			return false;
		const struct profile_counter counter = {
			.tsc = tsc,
			.value = bits_of(value),
			.series = *series - 1,
			.pid = row->pid,
			.tid = row->tid,
			.flags = value->is_real ? PROFILE_COUNTER_REAL : 0,
		};
		import->code = profile_writer_add(importing->writer, PROFILE_STREAM_COUNTERS,
						  &counter, NULL, NULL);
		import->values++;
	}
	count_outside(importing, tsc, tsc);
	return true;
}

static void show_problem(struct external_import *import, const struct external_problem *problem)
{
	if (import->bad_rows++ < EXTERNAL_PROBLEMS_MAX)
		diagnose("%s:%" PRIu64 ":%" PRIu32 ": %s; the row is left out", import->name,
			 problem->line, problem->column, problem->text);
	else if (import->bad_rows == EXTERNAL_PROBLEMS_MAX + 1)
		diagnose("%s: more bad rows than %u; the others are only counted", import->name,
			 EXTERNAL_PROBLEMS_MAX);
}

static void add_row(struct importing *importing, const struct external_row *row)
{
	struct external_import *import = importing->import;
	struct external_problem problem = {.line = importing->table.csv.line, .column = 1};
	/* Ids of another host say nothing here, and without them rows of its threads would mix. */
	if (import->is_foreign && (row->pid != 0 || row->tid != 0)) {
		import->rows_bound++;
		return;
	}
	if (row->name ? add_interval(importing, row) : add_values(importing, row)) {
		import->rows++;
		return;
	}
	if (import->code != VT_SUCCESS)
		return;
	snprintf(problem.text, sizeof(problem.text),
		 "a name behind %u others; tasks of one kind "
		 "have one name",
		 EXTERNAL_SERIES_MAX);
	show_problem(import, &problem);
}

/* Returns the status of the end: CSV_END, or CSV_FAILED; CSV_ROW: import->code has a failure. */
static enum csv_status add_rows(struct importing *importing)
{
	struct external_import *import = importing->import;
	struct external_problem problem;
	struct external_row row;
	for (uint64_t count = 0;; count++) {
		enum csv_status status = external_table_next(&importing->table, &row, &problem);
		if (status == CSV_ROW)
			add_row(importing, &row);
		else if (status == CSV_BAD)
			show_problem(import, &problem);
		else
			return status;
		if (import->code != VT_SUCCESS)
			return CSV_ROW;
		if (import->on_progress && count % PROGRESS_ROWS == 0)
			import->on_progress(importing->table.csv.size, import->user);
	}
}

static TBRW_U32 add_source(struct importing *importing)
{
	const struct external_import *import = importing->import;
	char *host = external_host_of(import->name);
	const char *texts[] = {path_base_name(import->name), host};
	const struct profile_source source = {
		.size = importing->table.csv.size,
		.checksum = importing->table.csv.checksum,
		.rows = import->rows,
		.bad_rows = import->bad_rows,
		.clock = importing->table.clock == EXTERNAL_CLOCK_UTC       ? PROFILE_CLOCK_DATE
			 : importing->table.clock == EXTERNAL_CLOCK_COUNTER ? PROFILE_CLOCK_TSC
									    : PROFILE_CLOCK_RAW,
		.flags = import->is_foreign ? PROFILE_SOURCE_FOREIGN : 0,
	};
	TBRW_U32 code =
		profile_writer_add(importing->writer, PROFILE_STREAM_SOURCES, &source, texts, NULL);
	free(host);
	return code;
}

static int explain_write(const struct external_import *import)
{
	char text[DIAGNOSE_CODE_SIZE];
	const char *advice = "check its permissions and the space on its disk";
	if (import->code == VT_INCOMPLETE_TB5_ENCOUNTERED)
		advice = "run tbconvert recover first";
	else if (import->code == VT_TB5_IN_USE)
		advice = "wait for the collection to end";
	diagnose("cannot import %s: %s; the result is as before: %s", import->name,
		 diagnose_code(import->code, text), advice);
	return EXIT_FAILURE;
}

static int explain_read(const struct external_import *import, int error)
{
	diagnose("cannot import %s: %s; the result is as before", import->name, strerror(error));
	return EXIT_FAILURE;
}

static int explain_no_row(const struct external_import *import)
{
	if (import->rows_bound > 0)
		diagnose("cannot import %s: its rows have process or thread ids, which say "
			 "nothing without the result's host in the name; if they are of this host, "
			 "name the file NAME-hostname-HOST.csv; the result is as before",
			 import->name);
	else
		diagnose("cannot import %s: none of its %" PRIu64 " rows can be read; the result "
			 "is as before",
			 import->name, import->bad_rows);
	return EXIT_FAILURE;
}

static int write_rows(struct importing *importing)
{
	struct external_import *import = importing->import;
	import->code = profile_external_writer_begin(import->result, &importing->writer);
	if (import->code != VT_SUCCESS)
		return explain_write(import);
	enum csv_status status = add_rows(importing);
	if (status == CSV_END && (import->rows > 0 || import->bad_rows + import->rows_bound == 0)) {
		import->code = add_source(importing);
		if (import->code == VT_SUCCESS) {
			import->code = profile_external_writer_finish(importing->writer);
			return import->code == VT_SUCCESS ? 0 : explain_write(import);
		}
	}
	profile_writer_abandon(importing->writer);
	if (status == CSV_FAILED)
		return explain_read(import, importing->table.csv.error);
	if (import->code != VT_SUCCESS)
		return explain_write(import);
	return explain_no_row(import);
}

static int import_table(struct importing *importing)
{
	struct external_import *import = importing->import;
	struct external_problem problem;
	if (!external_table_open(&importing->table, import->fd, &problem)) {
		if (problem.line == 0)
			return explain_read(import, importing->table.csv.error);
		diagnose("cannot import %s:%" PRIu64 ":%" PRIu32 ": %s; the result is as before",
			 import->name, problem.line, problem.column, problem.text);
		return EXIT_FAILURE;
	}
	importing->column_series =
		xalloc_zeroed(importing->table.column_count, sizeof(*importing->column_series));
	return write_rows(importing);
}

/* Looks for an earlier import of the file, and whether it had the same content then. */
static int find_earlier(struct external_import *import)
{
	const char *name = path_base_name(import->name);
	for (uint32_t i = 0; i < profile_reader_source_count(import->reader); i++) {
		const struct profile_source *source = profile_reader_source(import->reader, i);
		if (strcmp(profile_reader_source_name(import->reader, i), name) != 0)
			continue;
		struct csv csv = {.fd = import->fd};
		int error = csv_skip(&csv);
		import->is_replaced = true;
		import->is_unchanged = csv.size == source->size && csv.checksum == source->checksum;
		csv_finish(&csv);
		if (error || lseek(import->fd, 0, SEEK_SET) != 0)
			return explain_read(import, error ? error : errno);
	}
	return 0;
}

/* A result without a host's name cannot say that the file is of its own. */
static bool is_foreign(const struct external_import *import)
{
	struct profile_host_info host;
	char *name = external_host_of(import->name);
	profile_reader_host(import->reader, &host);
	bool is_own = name && external_is_host(name, host.name);
	free(name);
	return !is_own;
}

int external_import(struct external_import *import)
{
	struct importing importing = {.import = import,
				      .key = hash_key_draw(),
				      .last_tsc = UINT64_MAX};
	uint32_t clocks = profile_reader_clock_count(import->reader);
	int status = find_earlier(import);
	import->code = VT_SUCCESS;
	import->is_foreign = is_foreign(import);
	if (status != 0 || import->is_unchanged)
		return status;
	if (clocks > 0) {
		importing.first_tsc =
			profile_reader_tsc_of_raw(import->reader,
						  profile_reader_clock(import->reader, 0)->raw_ns);
		importing.last_tsc =
			profile_reader_tsc_of_raw(import->reader,
						  profile_reader_clock(import->reader, clocks - 1)
							  ->raw_ns);
	}
	status = import_table(&importing);
	free_names(&importing);
	free(importing.column_series);
	external_table_finish(&importing.table);
	return status;
}
