/* External data: groups of streams, one of each import. Series and sources of all groups are
 * numbered through; values stay in the file. */
#include "profile/base/tsc.h"
#include "profile/read/reader_private.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Loads a stream of a group as the reader's own one of this kind. */
static TBRW_U32 load_part(struct profile_reader *reader, const struct profile_group *group,
			  enum profile_stream stream, struct profile_records *records)
{
	struct profile_records all = reader->records[stream];
	uint32_t number = reader->streams[stream];

	reader->records[stream] = (struct profile_records){0};
	reader->streams[stream] = group->first_stream + stream;
	TBRW_U32 code = profile_reader_load(reader, stream);
	*records = reader->records[stream];
	reader->records[stream] = all;
	reader->streams[stream] = number;
	return code;
}

static TBRW_U32 load_group(struct profile_reader *reader, struct profile_group *group)
{
	struct profile_records bytes = {0};
	TBRW_U32 code = load_part(reader, group, PROFILE_STREAM_EXTTEXT, &bytes);

	profile_texts_init(&group->texts, bytes.count);
	if (code == VT_SUCCESS)
		code = load_part(reader, group, PROFILE_STREAM_SOURCES, &group->sources);
	if (code == VT_SUCCESS)
		code = load_part(reader, group, PROFILE_STREAM_SERIES, &group->series);
	struct profile_source *sources = group->sources.items;
	for (uint32_t i = 0; i < group->sources.count && code == VT_SUCCESS; i++)
		if (!profile_texts_add(&group->texts, bytes.items, bytes.count, &sources[i].name) ||
		    !profile_texts_add(&group->texts, bytes.items, bytes.count, &sources[i].host))
			code = VT_NO_MEMORY;
	struct profile_series *series = group->series.items;
	for (uint32_t i = 0; i < group->series.count && code == VT_SUCCESS; i++)
		if (!profile_texts_add(&group->texts, bytes.items, bytes.count, &series[i].name))
			code = VT_NO_MEMORY;
	free(bytes.items);
	return code;
}

struct name_slot {
	struct hash_slot head;
	const char *name;
};

static bool is_name(const void *slot, const void *key)
{
	return strcmp(((const struct name_slot *)slot)->name, key) == 0;
}

/* Leaves each name to its last source. Others, and sources without a name, get no number. */
static TBRW_U32 choose_sources(struct profile_external *external)
{
	struct hash_table names = {0};
	struct hash_key key = hash_key_draw();
	TBRW_U32 code = VT_SUCCESS;

	for (size_t g = external->group_count; g-- > 0 && code == VT_SUCCESS;) {
		struct profile_group *group = &external->groups[g];
		const struct profile_source *sources = group->sources.items;
		group->source_ids = calloc((size_t)group->sources.count + 1, sizeof(uint32_t));
		if (!group->source_ids)
			code = VT_NO_MEMORY;
		for (uint32_t i = group->sources.count; i-- > 0 && code == VT_SUCCESS;) {
			const char *name = profile_texts_get(&group->texts, sources[i].name);
			uint64_t hash = hash_bytes(&key, name, strlen(name));
			group->source_ids[i] = PROFILE_NONE;
			if (!*name ||
			    hash_table_find(&names, sizeof(struct name_slot), hash, is_name, name))
				continue;
			struct name_slot *slot = hash_table_add(&names, sizeof(*slot), hash);
			if (!slot) {
				code = VT_NO_MEMORY;
				break;
			}
			slot->name = name;
			group->source_ids[i] = 0;
			external->source_count++;
		}
	}
	hash_table_finish(&names);
	return code;
}

static void number_sources(struct profile_reader *reader, struct profile_group *group)
{
	struct profile_records *all = &reader->records[PROFILE_STREAM_SOURCES];
	const struct profile_source *sources = group->sources.items;

	for (uint32_t i = 0; i < group->sources.count; i++) {
		if (group->source_ids[i] == PROFILE_NONE)
			continue;
		group->source_ids[i] = all->count;
		reader->external.source_names[all->count] =
			profile_texts_get(&group->texts, sources[i].name);
		reader->external.source_hosts[all->count] =
			profile_texts_get(&group->texts, sources[i].host);
		((struct profile_source *)all->items)[all->count++] = sources[i];
	}
}

/* Numbers the series of known kinds, names and sources. */
static bool number_series(struct profile_reader *reader, struct profile_group *group)
{
	struct profile_records *all = &reader->records[PROFILE_STREAM_SERIES];
	const struct profile_series *series = group->series.items;

	group->series_ids = calloc((size_t)group->series.count + 1, sizeof(uint32_t));
	if (!group->series_ids)
		return false;
	for (uint32_t i = 0; i < group->series.count; i++) {
		bool is_known = series[i].kind >= PROFILE_SERIES_FRAME &&
				series[i].kind <= PROFILE_SERIES_INST &&
				series[i].name.length > 0 &&
				series[i].source < group->sources.count &&
				group->source_ids[series[i].source] != PROFILE_NONE;
		group->series_ids[i] = is_known ? all->count : PROFILE_NONE;
		if (!is_known)
			continue;
		struct profile_series *numbered =
			&((struct profile_series *)all->items)[all->count];
		*numbered = series[i];
		numbered->source = group->source_ids[series[i].source];
		reader->external.series_names[all->count++] =
			profile_texts_get(&group->texts, series[i].name);
	}
	return true;
}

static bool reserve_numbers(struct profile_reader *reader)
{
	struct profile_external *external = &reader->external;
	size_t sources = (size_t)external->source_count + 1, series = 1;

	for (size_t g = 0; g < external->group_count; g++)
		series += external->groups[g].series.count;
	external->source_names = calloc(sources, sizeof(*external->source_names));
	external->source_hosts = calloc(sources, sizeof(*external->source_hosts));
	external->series_names = calloc(series, sizeof(*external->series_names));
	reader->records[PROFILE_STREAM_SOURCES].items =
		calloc(sources, sizeof(struct profile_source));
	reader->records[PROFILE_STREAM_SERIES].items =
		calloc(series, sizeof(struct profile_series));
	return series < PROFILE_NONE && external->source_names && external->source_hosts &&
	       external->series_names && reader->records[PROFILE_STREAM_SOURCES].items &&
	       reader->records[PROFILE_STREAM_SERIES].items;
}

TBRW_U32 profile_reader_load_external(struct profile_reader *reader)
{
	struct profile_external *external = &reader->external;
	TBRW_U32 code = VT_SUCCESS;

	for (size_t g = 0; g < external->group_count && code == VT_SUCCESS; g++)
		code = load_group(reader, &external->groups[g]);
	if (code == VT_SUCCESS)
		code = choose_sources(external);
	if (code == VT_SUCCESS && !reserve_numbers(reader))
		code = VT_NO_MEMORY;
	for (size_t g = 0; g < external->group_count && code == VT_SUCCESS; g++) {
		number_sources(reader, &external->groups[g]);
		if (!number_series(reader, &external->groups[g]))
			code = VT_NO_MEMORY;
	}
	return code;
}

void profile_reader_close_external(struct profile_reader *reader)
{
	struct profile_external *external = &reader->external;

	for (size_t g = 0; g < external->group_count; g++) {
		struct profile_group *group = &external->groups[g];
		profile_texts_finish(&group->texts);
		free(group->sources.items);
		free(group->series.items);
		free(group->source_ids);
		free(group->series_ids);
	}
	free(external->groups);
	free(external->source_names);
	free(external->source_hosts);
	free(external->series_names);
}

uint32_t profile_reader_source_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_SOURCES].count;
}

uint32_t profile_reader_series_count(const struct profile_reader *reader)
{
	return reader->records[PROFILE_STREAM_SERIES].count;
}

const struct profile_source *profile_reader_source(const struct profile_reader *r, uint32_t index)
{
	assert(index < profile_reader_source_count(r));
	const struct profile_source *sources = r->records[PROFILE_STREAM_SOURCES].items;
	return &sources[index];
}

const char *profile_reader_source_name(const struct profile_reader *r, uint32_t index)
{
	assert(index < profile_reader_source_count(r));
	return r->external.source_names[index];
}

const char *profile_reader_source_host(const struct profile_reader *r, uint32_t index)
{
	assert(index < profile_reader_source_count(r));
	return r->external.source_hosts[index];
}

const struct profile_series *profile_reader_series(const struct profile_reader *r, uint32_t index)
{
	assert(index < profile_reader_series_count(r));
	const struct profile_series *series = r->records[PROFILE_STREAM_SERIES].items;
	return &series[index];
}

const char *profile_reader_series_name(const struct profile_reader *r, uint32_t index)
{
	assert(index < profile_reader_series_count(r));
	return r->external.series_names[index];
}

/* A pass over the intervals or the values of a group. */
struct pass {
	const struct profile_reader *reader;
	const struct profile_group *group;
	enum profile_stream stream;
	profile_interval_callback *on_interval;
	profile_counter_callback *on_counter;
	void *user;
	bool is_stopped;
};

/* The series that the reader knows by the group's index; NULL: none. */
static const struct profile_series *find_series(const struct pass *pass, uint32_t *index)
{
	if (*index >= pass->group->series.count || pass->group->series_ids[*index] == PROFILE_NONE)
		return NULL;
	*index = pass->group->series_ids[*index];
	return profile_reader_series(pass->reader, *index);
}

static bool pass_interval(union profile_record *record, void *user)
{
	struct pass *pass = user;
	struct profile_interval *interval = &record->interval;
	const struct profile_series *series = find_series(pass, &interval->series);

	if (!series || series->kind > PROFILE_SERIES_TASK ||
	    interval->end_tsc < interval->start_tsc)
		return true;
	pass->is_stopped = !pass->on_interval(interval, pass->user);
	return !pass->is_stopped;
}

static bool pass_counter(union profile_record *record, void *user)
{
	struct pass *pass = user;
	struct profile_counter *counter = &record->counter;
	const struct profile_series *series = find_series(pass, &counter->series);

	if (!series || series->kind < PROFILE_SERIES_COUNT)
		return true;
	pass->is_stopped = !pass->on_counter(counter, pass->user);
	return !pass->is_stopped;
}

static TBRW_U32 pass_all(struct pass *pass)
{
	const struct profile_external *external = &pass->reader->external;
	TBRW_U32 code = VT_SUCCESS;

	for (size_t g = 0; g < external->group_count && code == VT_SUCCESS && !pass->is_stopped;
	     g++) {
		pass->group = &external->groups[g];
		code = profile_reader_each_record(pass->reader, pass->stream,
						  pass->group->first_stream + pass->stream,
						  pass->on_interval ? pass_interval : pass_counter,
						  pass);
	}
	return code;
}

TBRW_U32 profile_reader_each_interval(struct profile_reader *reader,
				      profile_interval_callback *callback, void *user)
{
	struct pass pass = {.reader = reader,
			    .stream = PROFILE_STREAM_INTERVALS,
			    .on_interval = callback,
			    .user = user};
	return pass_all(&pass);
}

TBRW_U32 profile_reader_each_counter(struct profile_reader *reader,
				     profile_counter_callback *callback, void *user)
{
	struct pass pass = {.reader = reader,
			    .stream = PROFILE_STREAM_COUNTERS,
			    .on_counter = callback,
			    .user = user};
	return pass_all(&pass);
}

/* The clock of a result without a sync point is its own. */
static uint64_t convert(const struct profile_reader *reader, enum profile_sync_clock from,
			enum profile_sync_clock to, uint64_t time)
{
	const struct profile_records *clocks = &reader->records[PROFILE_STREAM_CLOCK];

	return clocks->count ? profile_sync_convert(clocks->items, clocks->count, from, to, time)
			     : time;
}

uint64_t profile_reader_tsc_of_raw(const struct profile_reader *reader, uint64_t raw_ns)
{
	const struct profile_records *clocks = &reader->records[PROFILE_STREAM_CLOCK];
	const struct profile_clock *first = clocks->items;

	/* A rate of 0 is written by nobody: a TSC value counts as ns, as on the way back. */
	return clocks->count && first->tsc_per_ns_q32 ? profile_tsc_from_raw(first, raw_ns)
						      : raw_ns;
}

uint64_t profile_reader_tsc_of_counter(const struct profile_reader *reader, uint64_t counter)
{
	uint64_t raw_ns = convert(reader, PROFILE_SYNC_COUNTER, PROFILE_SYNC_RAW, counter);
	return profile_reader_tsc_of_raw(reader, raw_ns);
}

uint64_t profile_reader_tsc_of_date(const struct profile_reader *reader, uint64_t real_ns)
{
	uint64_t raw_ns = convert(reader, PROFILE_SYNC_DATE, PROFILE_SYNC_RAW, real_ns);
	return profile_reader_tsc_of_raw(reader, raw_ns);
}

uint64_t profile_reader_tsc_of_monotonic(const struct profile_reader *reader, uint64_t monotonic_ns)
{
	const struct profile_records *clocks = &reader->records[PROFILE_STREAM_CLOCK];
	const struct profile_clock *points = clocks->items;

	for (uint32_t i = 0; i < clocks->count; i++)
		if (points[i].monotonic_ns == 0)
			return 0;
	if (clocks->count == 0)
		return 0;
	return profile_reader_tsc_of_raw(reader, convert(reader, PROFILE_SYNC_MONOTONIC,
							 PROFILE_SYNC_RAW, monotonic_ns));
}

uint64_t profile_reader_date_ns(const struct profile_reader *reader, uint64_t tsc)
{
	if (profile_reader_clock_count(reader) == 0)
		return 0;
	return convert(reader, PROFILE_SYNC_RAW, PROFILE_SYNC_DATE,
		       profile_reader_raw_ns(reader, tsc));
}
