/* Writes a result of many slices for benches: 64 threads on 8 CPUs, each CPU with eight of them, a
 * million switches a second; half of the time before a slice the thread could run. A few samples.
 * The same numbers in each run.
 * Usage: bench_large_states FILE SLICES */
#include "profile/write/writer.h"
#include <stdio.h>
#include <stdlib.h>

#define START_NS UINT64_C(1000000000)
#define PID      1000u
#define TID      2000u

enum {
	CPUS = 8,
	CPU_THREADS = 8,
	THREADS = CPUS * CPU_THREADS,
	MEAN_NS = 8000,
	SAMPLE_EVERY = 1024
};

struct cpu {
	uint64_t start_ns; /* of the present slice */
	uint64_t end_ns;
	unsigned thread;
};

static struct cpu cpus[CPUS];
static uint64_t ends[THREADS]; /* of each thread's last slice */
static uint64_t random_state = 1;

/* Steele, Lea and Flood, OOPSLA 2014: SplitMix64. */
static uint32_t draw(uint32_t limit)
{
	uint64_t value = random_state += UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((value ^ value >> 31) % limit);
}

static void check(TBRW_U32 code, const char *what)
{
	if (code == VT_SUCCESS)
		return;
	fprintf(stderr, "bench_large_states: %s failed: code %u\n", what, code);
	exit(2);
}

#define OK(call) check((call), #call)

static void begin_slice(unsigned cpu)
{
	cpus[cpu].start_ns = cpus[cpu].end_ns + draw(1000);
	cpus[cpu].end_ns = cpus[cpu].start_ns + 1 + draw(2 * MEAN_NS - 1000);
	cpus[cpu].thread = cpu * CPU_THREADS + draw(CPU_THREADS);
}

/* Slices stand in the order of their ends. */
static unsigned first_to_end(void)
{
	unsigned first = 0;
	for (unsigned cpu = 1; cpu < CPUS; cpu++) {
		if (cpus[cpu].end_ns < cpus[first].end_ns)
			first = cpu;
	}
	return first;
}

static void add_slice(struct profile_writer *writer, unsigned cpu)
{
	unsigned thread = cpus[cpu].thread;
	uint64_t gap_ns = cpus[cpu].start_ns - ends[thread];
	const struct profile_slice slice = {
		.run_ns = (uint32_t)(cpus[cpu].end_ns - cpus[cpu].start_ns),
		.ready_ns = draw((uint32_t)(gap_ns < UINT32_MAX ? gap_ns : UINT32_MAX) + 1),
		.tid = TID + thread,
		.cpu = (uint16_t)cpu,
		.before = draw(2) ? PROFILE_STATE_READY : PROFILE_STATE_BLOCKED,
	};
	OK(profile_writer_add_slice(writer, &slice, cpus[cpu].start_ns));
	ends[thread] = cpus[cpu].end_ns;
}

static void add_sample(struct profile_writer *writer, unsigned cpu)
{
	const struct profile_sample sample = {.ip = 0x1000,
					      .pid = PID,
					      .tid = TID + cpus[cpu].thread,
					      .time_ns = cpus[cpu].end_ns - 1,
					      .cs = 0x33,
					      .stack = {.cpu_ns = SAMPLE_EVERY * MEAN_NS}};
	OK(profile_writer_add_sample(writer, &sample));
}

static uint64_t write_slices(struct profile_writer *writer, uint64_t count)
{
	unsigned cpu = 0;
	for (unsigned i = 0; i < CPUS; i++) {
		cpus[i].end_ns = START_NS;
		begin_slice(i);
	}
	for (unsigned i = 0; i < THREADS; i++)
		ends[i] = START_NS;
	for (uint64_t i = 0; i < count; i++) {
		cpu = first_to_end();
		if (i % SAMPLE_EVERY == 0)
			add_sample(writer, cpu);
		add_slice(writer, cpu);
		if (i + 1 < count)
			begin_slice(cpu);
	}
	return cpus[cpu].end_ns;
}

int main(int argc, char **argv)
{
	struct profile_writer *writer;
	struct profile_run run = {.clock = {.tsc = 1000,
					    .raw_ns = START_NS,
					    .tsc_per_ns_q32 = UINT64_C(5) << 31},
				  .interval_ns = 10000000,
				  .event_name = "CPU Time"};
	if (argc != 3) {
		fputs("Usage: bench_large_states FILE SLICES\n", stderr);
		return 2;
	}
	OK(profile_writer_create(argv[1], &run, &writer));
	OK(profile_writer_add_note(writer, PROFILE_NOTE_STATES, START_NS,
				   PROFILE_STATES_SWITCHES | PROFILE_STATES_WAKES, 0, 0, NULL));
	uint64_t end_ns = write_slices(writer, strtoull(argv[2], NULL, 10));
	for (unsigned i = 0; i < THREADS; i++) {
		const struct profile_thread_life life = {.pid = PID,
							 .tid = TID + i,
							 .end_ns = PROFILE_TIME_NEVER,
							 .name = "worker"};
		OK(profile_writer_add_thread(writer, &life));
	}
	OK(profile_writer_add_note(writer, PROFILE_NOTE_ELAPSED, end_ns, end_ns - START_NS, 0, 0,
				   NULL));
	const struct profile_run_end end = {.command_line = "bench",
					    .comment = "",
					    .clock = {.tsc = 1000 + (end_ns - START_NS) * 5 / 2,
						      .raw_ns = end_ns}};
	OK(profile_writer_finish(writer, &end));
	return 0;
}
