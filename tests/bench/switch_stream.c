/* Keeps a stream of switches that comes in real time, without a kernel that makes them: one thread
 * fills the rings of eight CPUs at a steady rate, as the BPF program does, the other takes them
 * through merge, tracker, states and writer into a result. Each CPU has eight threads of one
 * process.
 * Usage: bench_switch_stream FILE SWITCHES_PER_S SECONDS
 * Exit status 0: none lost, or all losses told; 1: not; 2: could not be tried. */
#include "collector/analysis/analysis.h"
#include "collector/analysis/analyzer.h"
#include "collector/bpf/switches_source.h"
#include "collector/machine/clock.h"
#include "collector/model/tracker.h"
#include "collector/perf/sampler.h"
#include "collector/result/emit.h"
#include "collector/states/states.h"
#include "collector/stream/merge.h"
#include "collector/stream/switch_source.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { CPUS = 8, CPU_THREADS = 8, CAPACITY = 128 * 1024 };

/* Beyond the kernel's ids. */
#define PID 5000000u

/* Records become visible a moment after their time. */
#define SETTLED_NS 2000000u
#define PAUSE_NS   1000000

/* As bpf/switches_source.c, which is not linked: ring and ends as the program has them. */
struct switches_source {
	struct switch_record records[CPUS][CAPACITY];
	struct switch_ends ends[CPUS];
};

struct stream {
	struct switches_source *rings;
	uint64_t rate;
	uint64_t until_ns; /* CLOCK_MONOTONIC */
	uint64_t fed;
	bool ended;
};

uint64_t switches_source_head(const struct switches_source *source, uint32_t cpu)
{
	return __atomic_load_n(&source->ends[cpu].head, __ATOMIC_ACQUIRE);
}

uint64_t switches_source_tail(const struct switches_source *source, uint32_t cpu)
{
	return __atomic_load_n(&source->ends[cpu].tail, __ATOMIC_ACQUIRE);
}

uint32_t switches_source_capacity(const struct switches_source *source)
{
	(void)source;
	return CAPACITY;
}

const struct switch_record *switches_source_at(const struct switches_source *source, uint32_t cpu,
					       uint64_t position)
{
	return &source->records[cpu][position % CAPACITY];
}

void switches_source_release(struct switches_source *source, uint32_t cpu, uint64_t position)
{
	__atomic_store_n(&source->ends[cpu].tail, position, __ATOMIC_RELEASE);
}

uint64_t switches_source_lost(const struct switches_source *source, uint32_t cpu)
{
	return __atomic_load_n(&source->ends[cpu].lost, __ATOMIC_ACQUIRE);
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static void put_switch(struct switches_source *rings, uint64_t number, uint64_t time_ns)
{
	uint32_t cpu = number % CPUS;
	uint32_t step = (uint32_t)(number / CPUS);
	struct switch_ends *end = &rings->ends[cpu];
	uint64_t lost = end->lost;
	if (end->head - switches_source_tail(rings, cpu) >= CAPACITY) {
		__atomic_store_n(&end->lost, lost + 1, __ATOMIC_RELEASE);
		return;
	}
	rings->records[cpu][end->head % CAPACITY] = (struct switch_record){
		.time_ns = time_ns,
		.from_pid = PID,
		.from_tid = PID + cpu * CPU_THREADS + step % CPU_THREADS,
		.to_pid = PID,
		.to_tid = PID + cpu * CPU_THREADS + (step + 1) % CPU_THREADS,
		.lost = (uint32_t)lost,
		.flags = step % 3 == 0 ? SWITCH_RECORD_RUNNABLE : 0,
	};
	__atomic_store_n(&end->head, end->head + 1, __ATOMIC_RELEASE);
}

/* What is due is written at once, in order of time. */
static void *feed(void *argument)
{
	struct stream *stream = argument;
	uint64_t begin_ns = clock_read(CLOCK_MONOTONIC);
	uint64_t now_ns = begin_ns;
	for (; now_ns < stream->until_ns; now_ns = clock_read(CLOCK_MONOTONIC)) {
		double due = (double)(now_ns - begin_ns) * (double)stream->rate / 1e9;
		for (; stream->fed < (uint64_t)due; stream->fed++)
			put_switch(stream->rings, stream->fed,
				   begin_ns + (uint64_t)((double)stream->fed * 1e9 /
							 (double)stream->rate));
		pause_shortly();
	}
	__atomic_store_n(&stream->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

struct keeper {
	struct switch_source states[CPUS];
	struct source sources[CPUS];
	struct merge *merge;
	struct analyzer *analyzer;
	uint64_t told; /* of the losses */
	uint64_t losses;
};

static void take_round(struct keeper *keeper, uint64_t limit_ns)
{
	struct record record;
	merge_begin(keeper->merge, limit_ns);
	while (merge_next(keeper->merge, &record)) {
		record.source = record.cpu;
		if (record.kind == RECORD_LOST) {
			keeper->told += record.lost_switches;
			keeper->losses++;
		}
		analyzer_apply(keeper->analyzer, &record);
	}
	merge_end(keeper->merge);
}

static void keep(struct keeper *keeper, struct stream *stream)
{
	while (!__atomic_load_n(&stream->ended, __ATOMIC_ACQUIRE)) {
		take_round(keeper, clock_now() - SETTLED_NS);
		pause_shortly();
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		keeper->states[cpu].is_ending = true;
	take_round(keeper, UINT64_MAX);
	analyzer_finish(keeper->analyzer, clock_now());
}

static bool add_threads(struct tracker *tracker, struct analyzer *analyzer)
{
	uint64_t now_ns = clock_now();
	if (tracker_add_thread(tracker, PID, PID, false) < 0)
		return false;
	struct record exec = {.kind = RECORD_COMM,
			      .time_ns = now_ns,
			      .pid = PID,
			      .tid = PID,
			      .comm = {.name = "stream", .exec = true}};
	analyzer_apply(analyzer, &exec);
	for (uint32_t i = 1; i < CPUS * CPU_THREADS; i++) {
		struct record fork = {.kind = RECORD_FORK,
				      .time_ns = now_ns,
				      .pid = PID,
				      .tid = PID + i,
				      .fork = {.parent_pid = PID, .parent_tid = PID}};
		analyzer_apply(analyzer, &fork);
	}
	return true;
}

static void begin_sources(struct keeper *keeper, struct switches_source *rings)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		switch_source_begin(&keeper->states[cpu], rings, cpu);
		keeper->sources[cpu] =
			(struct source){&source_switches, &keeper->states[cpu], NULL};
	}
	keeper->merge = merge_create(keeper->sources, CPUS);
}

static double cpu_seconds(clockid_t id)
{
	return (double)clock_read(id) / 1e9;
}

/* 0: as it must be. */
static int tell(const struct keeper *keeper, const struct stream *stream, const char *path,
		double cpu_s)
{
	struct states_counts counts;
	struct stat file = {0};
	uint64_t lost = 0;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		lost += stream->rings->ends[cpu].lost;
	states_counts(analyzer_states(keeper->analyzer), &counts);
	stat(path, &file);
	uint64_t kept = stream->fed - lost;
	printf("{\"fed\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"told\": %" PRIu64
	       ", \"losses\": %" PRIu64 ", \"slices\": %" PRIu64
	       ", \"cpu_s\": %.3f, \"bytes_each\": %.2f}\n",
	       stream->fed, lost, keeper->told, keeper->losses, counts.switches, cpu_s,
	       kept > 0 ? (double)file.st_size / (double)kept : 0);
	/* The first threads of the CPUs were there before. */
	bool is_whole = lost > 0 ||
			(counts.switches >= stream->fed && counts.switches <= stream->fed + CPUS);
	return kept > 0 && keeper->told == lost && is_whole ? 0 : 1;
}

static int run(const char *path, struct stream *stream, uint64_t seconds)
{
	static uint32_t numbers[CPUS] = {0, 1, 2, 3, 4, 5, 6, 7};
	static struct sampler sampler = {
		.cpus = {.numbers = numbers, .count = CPUS},
		.config = {.sampling = {PROFILE_SAMPLING_FIXED, 10000000, 10000000, 0},
			   .switches = true},
	};
	struct failure failure = {0};
	struct profile_clock clock = clock_calibrate();
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	struct emit *emit;
	pthread_t feeder;
	if (!keeper || emit_create(path, path, &clock, 10000000, NULL, &emit, &failure) < 0)
		return 2;
	struct tracker *tracker = tracker_create_recorded(&sampler, emit, 0);
	keeper->analyzer =
		analyzer_create(&(struct analysis_config){.switches = true}, tracker, emit);
	begin_sources(keeper, stream->rings);
	analyzer_begin(keeper->analyzer, clock_now());
	if (!keeper->merge || !add_threads(tracker, keeper->analyzer))
		return 2;
	stream->until_ns = clock_read(CLOCK_MONOTONIC) + seconds * 1000000000;
	if (pthread_create(&feeder, NULL, feed, stream) != 0)
		return 2;
	keep(keeper, stream);
	double cpu_s = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	pthread_join(feeder, NULL);
	if (emit_finish(emit, "concurrency", "", &clock, &failure) < 0)
		return 2;
	int status = tell(keeper, stream, path, cpu_s);
	merge_destroy(keeper->merge);
	tracker_destroy(tracker);
	analyzer_destroy(keeper->analyzer);
	free(keeper);
	return status;
}

int main(int argc, char **argv)
{
	struct stream stream = {.rings = calloc(1, sizeof(*stream.rings))};
	if (argc != 4 || !stream.rings)
		return 2;
	stream.rate = strtoull(argv[2], NULL, 10);
	int status = run(argv[1], &stream, strtoull(argv[3], NULL, 10));
	free(stream.rings);
	return status;
}
