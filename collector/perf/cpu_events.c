#include "collector/perf/cpu_events.h"

#include "collector/machine/clock.h"
#include "collector/perf/sampling.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull

/* Between draws. */
#define TURN_NS (200 * NS_PER_MS)

enum {
	TURN_TICKS = 100, /* between draws at least: each draw discards part of a tick */
	TURN_SHARE = 500  /* drawing takes at most 1/TURN_SHARE of the time */
};

struct cpu_event {
	int output;
	int clock;         /* -1: none, or its CPU is offline */
	uint64_t count_ns; /* of the clock, at the last renewal */
	uint64_t lost;     /* records of clocks that were closed */
	uint64_t taken;    /* of all clocks, by cpu_events_take_lost */
};

/* errno stays. */
static void close_fd(int *fd)
{
	int error = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = error;
}

static int open_output(const struct cpu_events *events, size_t i)
{
	assert(events->each[i].output < 0);
	uint32_t cpu = events->cpus->numbers[i];
	int fd = event_open_output(events->config, (int)cpu);
	if (fd < 0)
		return -1;
	if (event_redirect(fd, events->rings[i].fd) < 0 ||
	    (events->source && stack_source_output(events->source, cpu, fd) < 0) ||
	    (events->waits && waits_source_output(events->waits, cpu, fd) < 0)) {
		close_fd(&fd);
		return -1;
	}
	events->each[i].output = fd;
	return 0;
}

static uint64_t draw_tick(const struct cpu_events *events, size_t i)
{
	return sampling_tick_ns(&events->config->sampling, events->cpus->numbers[i], events->turn);
}

static int open_clock(const struct cpu_events *events, size_t i)
{
	assert(events->each[i].clock < 0);
	int fd = event_open_clock(events->config, (int)events->cpus->numbers[i],
				  draw_tick(events, i));
	if (fd < 0)
		return -1;
	if (event_redirect(fd, events->rings[i].fd) < 0 ||
	    event_attach_program(fd, stack_source_tick_program(events->source)) < 0 ||
	    event_enable(fd) < 0) {
		close_fd(&fd);
		return -1;
	}
	events->each[i].clock = fd;
	events->each[i].count_ns = 0;
	return 0;
}

int cpu_events_open(struct cpu_events *events)
{
	int result = 0;
	assert(!events->each);
	events->each = calloc(events->cpus->count, sizeof(*events->each));
	if (!events->each)
		return -1;
	for (size_t i = 0; i < events->cpus->count; i++)
		events->each[i] = (struct cpu_event){.output = -1, .clock = -1};
	for (size_t i = 0; i < events->cpus->count && result == 0; i++)
		result = open_output(events, i);
	if (result < 0)
		cpu_events_close(events);
	return result;
}

int cpu_events_start(struct cpu_events *events)
{
	int result = 0;
	for (size_t i = 0; i < events->cpus->count && result == 0; i++)
		result = open_clock(events, i);
	for (size_t i = 0; i < events->cpus->count && result < 0; i++)
		close_fd(&events->each[i].clock);
	return result;
}

/* A clock whose count stands still belonged to its CPU before the CPU went offline. */
static void renew(struct cpu_events *events, size_t i)
{
	struct cpu_event *event = &events->each[i];
	struct event_reading now;
	if (event->clock >= 0 && event_read(events->config, event->clock, &now) == 0) {
		if (now.count_ns > event->count_ns) {
			event->count_ns = now.count_ns;
			event_set_period(event->clock, draw_tick(events, i));
			return;
		}
		event->lost += now.lost;
	}
	close_fd(&event->clock);
	if (open_clock(events, i) < 0)
		return;
	close_fd(&event->output);
	open_output(events, i);
}

void cpu_events_renew(struct cpu_events *events)
{
	uint64_t now_ns = clock_now();
	if (!events->each || now_ns < events->next_ns)
		return;
	uint64_t turn_ns = events->config->sampling.tick_ns * TURN_TICKS;
	events->turn++;
	for (size_t i = 0; i < events->cpus->count; i++)
		renew(events, i);
	uint64_t pause_ns = (clock_now() - now_ns) * TURN_SHARE;
	turn_ns = turn_ns > pause_ns ? turn_ns : pause_ns;
	events->next_ns = now_ns + (turn_ns > TURN_NS ? turn_ns : TURN_NS);
}

void cpu_events_stop(struct cpu_events *events)
{
	for (size_t i = 0; events->each && i < events->cpus->count; i++)
		if (events->each[i].clock >= 0)
			event_disable(events->each[i].clock);
}

static uint64_t count_lost(const struct cpu_events *events, size_t i)
{
	const struct cpu_event *event = &events->each[i];
	struct event_reading now = {0};
	if (event->clock >= 0 && event_read(events->config, event->clock, &now) < 0)
		now.lost = 0;
	return event->lost + now.lost;
}

uint64_t cpu_events_lost(const struct cpu_events *events)
{
	uint64_t lost = 0;
	for (size_t i = 0; events->each && i < events->cpus->count; i++)
		lost += count_lost(events, i);
	return lost;
}

uint64_t cpu_events_take_lost(struct cpu_events *events, size_t ring_index, uint64_t most)
{
	struct cpu_event *event = &events->each[ring_index];
	uint64_t lost = count_lost(events, ring_index);
	uint64_t more = lost > event->taken ? lost - event->taken : 0;
	more = more < most ? more : most;
	event->taken += more;
	return more;
}

void cpu_events_close(struct cpu_events *events)
{
	for (size_t i = 0; events->each && i < events->cpus->count; i++) {
		close_fd(&events->each[i].output);
		close_fd(&events->each[i].clock);
	}
	free(events->each);
	events->each = NULL;
}
