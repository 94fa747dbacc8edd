#include "tools/chrome/chrome_external.h"

#include "profile/read/external.h"
#include "profile/read/reader.h"
#include "tools/chrome/chrome_events.h"
#include "tools/stacks/weighted_stacks.h"
#include "tools/timelines/timelines.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct exporting {
	const struct weighted_stacks *stacks;
	struct json_writer *json;
	uint64_t intervals;
};

/* Whose data it is, as far as that is said. */
static struct chrome_thread find_thread(uint32_t pid, uint32_t tid)
{
	return pid > 0 ? (struct chrome_thread){pid, tid > 0 ? tid : pid} : chrome_nobody();
}

/* An event of its own for each end: intervals of one thread may overlap, which slices must not. */
static void write_end(struct exporting *exporting, const struct profile_interval *interval,
		      const char *phase, uint64_t time_ns)
{
	struct json_writer *json = exporting->json;
	const struct profile_reader *reader = exporting->stacks->reader;
	const struct profile_series *series = profile_reader_series(reader, interval->series);
	const struct chrome_thread thread = find_thread(interval->pid, interval->tid);
	char id[24];
	snprintf(id, sizeof(id), "0x%" PRIx64, exporting->intervals);
	chrome_open_event(json, phase, profile_reader_series_name(reader, interval->series),
			  &thread);
	json_write_text(json, "cat", series->kind == PROFILE_SERIES_TASK ? "task" : "frame");
	json_write_text(json, "id", id);
	chrome_write_us(json, "ts", time_ns);
	json_close_object(json);
}

static bool take_interval(const struct profile_interval *interval, void *user)
{
	struct exporting *exporting = user;
	const struct profile_reader *reader = exporting->stacks->reader;
	uint64_t start_ns = timelines_since_start(reader, interval->start_tsc);
	uint64_t end_ns = timelines_since_start(reader, interval->end_tsc);
	if (!timelines_take_time(exporting->stacks, start_ns, end_ns))
		return true;
	exporting->intervals++;
	write_end(exporting, interval, "b", start_ns);
	write_end(exporting, interval, "e", end_ns);
	return true;
}

/* JSON has no infinite numbers, and nothing that is none. */
static bool print_value(char text[32], const struct profile_counter *counter)
{
	double value = profile_counter_value(counter);
	if (counter->flags & PROFILE_COUNTER_REAL)
		snprintf(text, 32, "%.17g", value);
	else
		snprintf(text, 32, "%" PRId64, (int64_t)counter->value);
	return isfinite(value);
}

/* Readers tell counters of a process apart by name and id. */
static bool take_counter(const struct profile_counter *counter, void *user)
{
	struct exporting *exporting = user;
	struct json_writer *json = exporting->json;
	const struct profile_reader *reader = exporting->stacks->reader;
	const struct chrome_thread thread = find_thread(counter->pid, counter->tid);
	uint64_t time_ns = timelines_since_start(reader, counter->tsc);
	char value[32];
	char id[16];
	if (!timelines_take_time(exporting->stacks, time_ns, time_ns) ||
	    !print_value(value, counter))
		return true;
	chrome_open_event(json, "C", profile_reader_series_name(reader, counter->series), &thread);
	snprintf(id, sizeof(id), "%" PRIu32, counter->tid);
	if (counter->tid > 0)
		json_write_text(json, "id", id);
	chrome_write_us(json, "ts", time_ns);
	json_open_object(json, "args");
	json_write_raw(json, "value", value, strlen(value));
	json_close_object(json);
	json_close_object(json);
	return true;
}

TBRW_U32 chrome_external_write(const struct weighted_stacks *stacks, struct json_writer *json)
{
	struct exporting exporting = {stacks, json, 0};
	const struct chrome_thread nobody = chrome_nobody();
	if (profile_reader_series_count(stacks->reader) == 0)
		return VT_SUCCESS;
	chrome_write_name(json, "process_name", &nobody, "[External data]");
	TBRW_U32 code = profile_reader_each_interval(stacks->reader, take_interval, &exporting);
	if (code == VT_SUCCESS)
		code = profile_reader_each_counter(stacks->reader, take_counter, &exporting);
	return code;
}
