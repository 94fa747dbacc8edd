/* What the rings had no room for, and what it was; counts of added events. */
#include "collector/machine/clock.h"
#include "collector/perf/sampler.h"
#include <assert.h>

/* Readings of refused records take at most one part in READING_SHARE of the time: with thousands of
 * threads a reading takes milliseconds, and the rings wait. */
enum { READING_SHARE = 20 };

uint64_t sampler_lost_ticks(const struct sampler *sampler)
{
	return cpu_events_lost(&sampler->cpu_events);
}

uint64_t sampler_lost_switches(const struct sampler *sampler)
{
	uint64_t lost = 0;
	for (size_t i = 0; sampler->switches && i < sampler->cpus.count; i++)
		lost += switches_source_lost(sampler->switches, sampler->cpus.numbers[i]);
	return lost;
}

void sampler_missing(const struct sampler *sampler, struct stack_source_missing *missing)
{
	*missing = (struct stack_source_missing){0};
	if (sampler->source)
		stack_source_missing(sampler->source, missing);
}

void sampler_missing_waits(const struct sampler *sampler, struct waits_source_missing *missing)
{
	*missing = (struct waits_source_missing){0};
	if (sampler->waits)
		waits_source_missing(sampler->waits, missing);
}

static uint64_t read_lost(const struct sampler *sampler, const int *fds, size_t index)
{
	struct event_reading one;
	return fds && event_read(&sampler->config, fds[index], &one) == 0 ? one.lost : 0;
}

/* Records refused by the ring so far, other than samples of CPU time. */
static uint64_t count_refused(struct sampler *sampler, size_t ring_index)
{
	uint64_t count = 0;
	if (sampler->source)
		count = stack_source_refused(sampler->source, sampler->cpus.numbers[ring_index]);
	if (sampler->waits)
		count += waits_source_refused(sampler->waits, sampler->cpus.numbers[ring_index]);
	if (!sampler->config.has_lost)
		return count;
	pthread_mutex_lock(&sampler->lock);
	for (size_t t = 0; sampler->deep && t < sampler->thread_count; t++)
		count += read_lost(sampler, sampler->threads[t].deep_fds, ring_index);
	for (size_t t = 0; t < sampler->thread_count; t++)
		for (uint32_t i = 0; i < sampler->config.added_count; i++)
			count += read_lost(sampler, sampler->threads[t].added_fds,
					   i * sampler->cpus.count + ring_index);
	pthread_mutex_unlock(&sampler->lock);
	return count;
}

uint64_t sampler_take_refused(struct sampler *sampler, size_t ring_index, uint64_t time_ns,
			      uint64_t lost)
{
	assert(ring_index < sampler->cpus.count);
	struct sampler_refused *refused = &sampler->refused[ring_index];
	/* The kernel counts a record when it finds no room, and reports it later. A reading after a
	 * report covers all of the report: many waiting reports take one reading. */
	if (time_ns > refused->read_ns + refused->pause_ns) {
		refused->read_ns = clock_now();
		refused->count = count_refused(sampler, ring_index);
		refused->pause_ns = (clock_now() - refused->read_ns) * READING_SHARE;
	}
	/* Dropped threads (followed through another one's events) take their counts with them. */
	uint64_t more = refused->count > refused->taken ? refused->count - refused->taken : 0;
	/* Refused records after this report are left for the next one. */
	if (more > lost)
		more = lost;
	refused->taken += more;
	return more;
}

bool sampler_knows_lost_ticks(const struct sampler *sampler)
{
	return sampler->config.sampling.kind == PROFILE_SAMPLING_CPUS && sampler->config.has_lost &&
	       sampler->cpu_events.each;
}

uint64_t sampler_take_switches(struct sampler *sampler, size_t ring_index, uint64_t elapsed_ns,
			       uint64_t lost)
{
	assert(ring_index < sampler->cpus.count);
	if (!sampler->config.switches)
		return 0;
	if (sampler->config.no_samples)
		return lost;
	uint64_t ticks = sampler_knows_lost_ticks(sampler)
				 ? cpu_events_take_lost(&sampler->cpu_events, ring_index, lost)
				 : elapsed_ns / sampler->config.sampling.tick_ns + 1;
	return lost > ticks ? lost - ticks : 0;
}

void sampler_read_event(const struct sampler *sampler, uint32_t event, struct event_reading *total)
{
	size_t cpus = sampler->cpus.count;
	assert(event > 0 && event <= sampler->config.added_count);
	*total = (struct event_reading){0};
	for (size_t t = 0; t < sampler->thread_count; t++) {
		const int *fds = sampler->threads[t].added_fds;
		for (size_t i = (event - 1) * cpus; fds && i < event * cpus; i++) {
			struct event_reading one;
			if (event_read(&sampler->config, fds[i], &one) < 0)
				continue;
			total->count_ns += one.count_ns;
			total->lost += one.lost;
		}
	}
}
