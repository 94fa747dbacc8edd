/*
 * What unwinding costs: samples of a program, recorded once, through libuw with a warm cache, where
 * addresses are met for the first time, and with a history, through libunwind's remote unwinding
 * with and without its cache, and through libdwfl. Then what it takes to find the rules at random
 * addresses of each module. Of a 32-bit program libuw alone is
 * measured: it is to take at most twice as long as with a 64-bit one.
 *
 * CPU time, the least and the median of many repetitions, so that a loaded machine changes little;
 * ratios are of medians of one run. Stacks are copied before they are walked, and so in the CPU's
 * own caches; "from memory": they are not, and are larger in all than those.
 *
 * Usage: bench_unwind SAMPLES PROGRAM [ARGUMENT...]
 * Exit status 0: all limits hold; 1: some do not, and are named at the end; 77: no samples.
 */
#include "tests/unwind/oracles.h"
#include "unwind/cfi/row.h"
#include "unwind/module/module.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/space/space.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	DELAY_MS = 1500,
	REPETITIONS = 25,
	REPEATED = 10,
	WALKS_OURS = 4000, /* of one repetition, as the next ones */
	WALKS_FIRST = 200,
	WALKS_LIBUNWIND = 200,
	WALKS_LIBDWFL = 100,
	BATCH_SAMPLES = 128, /* copied at once, or less */
	BATCH_BYTES = 128 * 1024,
	LOOKUPS = 20000
};

/* What must hold, of medians: nanoseconds per frame, times as fast. */
static const double warm_ns_max = 15, miss_ns_max = 500, reused_ns_max = 3, times_32bit_max = 2;
static const double libunwind_times_min = 20, libdwfl_times_min = 15;

struct figure {
	double min, median;
};

struct bench {
	const struct recording *recording;
	struct uw_space *space;
	struct uw_history *history;
	size_t walks, frames, reused; /* of the last repetition */
	bool from_memory;
	size_t limits_missed;
	double clock_ns; /* what a look at the clock takes */
	uint8_t *batch;
	struct recording_sample samples[BATCH_SAMPLES];
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static struct figure figure_of(double values[static REPETITIONS])
{
	qsort(values, REPETITIONS, sizeof(*values), compare_doubles);
	return (struct figure){values[0], values[REPETITIONS / 2]};
}

static void at_most(struct bench *bench, const char *what, double value, double limit)
{
	if (value <= limit)
		return;
	bench->limits_missed++;
	fprintf(stderr, "limit missed: %s: %.1f, at most %.1f expected\n", what, value, limit);
}

static void at_least(struct bench *bench, const char *what, double value, double limit)
{
	if (value >= limit)
		return;
	bench->limits_missed++;
	fprintf(stderr, "limit missed: %s: %.1f, at least %.1f expected\n", what, value, limit);
}

typedef size_t (*walk_fn)(struct bench *bench, const struct recording_sample *sample, void *user);

/* Between two looks at the clock passes the time of one. */
static double measure_clock(void)
{
	double values[REPETITIONS];

	for (size_t i = 0; i < REPETITIONS; i++) {
		values[i] = now_ns();
		values[i] = now_ns() - values[i];
	}
	return figure_of(values).median;
}

/* Takes samples from the recording on, wrapping around, as many as make a batch. */
static size_t take_batch(struct bench *bench, size_t from)
{
	size_t count = 0, used = 0;

	while (count < BATCH_SAMPLES) {
		const struct recording_sample *sample =
			&bench->recording->samples[(from + count) % bench->recording->count];

		if (count > 0 && used + sample->stack.size > BATCH_BYTES)
			break;
		bench->samples[count] = *sample;
		if (!bench->from_memory) {
			memcpy(bench->batch + used, sample->stack.bytes, sample->stack.size);
			bench->samples[count].stack.bytes = bench->batch + used;
			used += sample->stack.size;
		}
		count++;
	}
	return count;
}

/* Walks that many samples; returns nanoseconds per frame. */
static double repeat(struct bench *bench, walk_fn walk, void *user, size_t walks)
{
	double ns = 0;

	bench->walks = bench->frames = bench->reused = 0;
	while (bench->walks < walks) {
		size_t count = take_batch(bench, bench->walks);
		double start = now_ns();

		for (size_t i = 0; i < count; i++)
			bench->frames += walk(bench, &bench->samples[i], user);
		ns += now_ns() - start - bench->clock_ns;
		bench->walks += count;
	}
	return ns / (double)bench->frames;
}

static struct figure print_figure(const struct bench *bench, const char *name,
				  double values[static REPETITIONS])
{
	struct figure figure = figure_of(values);

	printf("  %-28s %7.1f ns a frame, at best %6.1f; %8.0f stacks/s\n", name, figure.median,
	       figure.min, 1e9 * (double)bench->walks / (figure.median * (double)bench->frames));
	return figure;
}

/* Walks the samples in order, again and again; the first time is not counted. */
static struct figure measure(struct bench *bench, const char *name, walk_fn walk, void *user,
			     size_t walks)
{
	double values[REPETITIONS];

	repeat(bench, walk, user, walks);
	for (size_t i = 0; i < REPETITIONS; i++)
		values[i] = repeat(bench, walk, user, walks);
	return print_figure(bench, name, values);
}

static struct uw_frame frames[UW_DEPTH_MAX];

static size_t walk_warm(struct bench *bench, const struct recording_sample *sample, void *user)
{
	enum uw_stop stop;

	(void)user;
	return uw_walk(bench->space, &sample->regs, &sample->stack, frames, UW_DEPTH_MAX, &stop);
}

/* What the walk looked up by address is forgotten after it. */
static size_t walk_cold(struct bench *bench, const struct recording_sample *sample, void *user)
{
	size_t count = walk_warm(bench, sample, user);
	struct uw_code *slots = bench->space->cache->slots;

	for (size_t i = 0; i < count; i++)
		slots[uw_cache_index(frames[i].ip, frames[i].exact, UW_CACHE_LOG_SIZE)].key = 0;
	return count;
}

/* Any change of the mappings empties the cache, and unusual rows with it. */
static size_t walk_changed(struct bench *bench, const struct recording_sample *sample, void *user)
{
	static uint32_t tag;

	if (uw_space_map(bench->space, 4096, 8192, 0, NULL, ++tag) < 0)
		abort();
	return walk_warm(bench, sample, user);
}

static size_t walk_history(struct bench *bench, const struct recording_sample *sample, void *user)
{
	enum uw_stop stop;
	size_t reused;
	size_t count = uw_walk_reuse(bench->space, bench->history, &sample->regs, &sample->stack,
				     frames, UW_DEPTH_MAX, &stop, &reused);

	(void)user;
	bench->reused += reused;
	return count;
}

static size_t walk_libunwind(struct bench *bench, const struct recording_sample *sample, void *user)
{
	static struct oracle_frames out;

	(void)bench;
	oracle_libunwind_walk(user, sample, &out);
	return out.count;
}

static size_t walk_libdwfl(struct bench *bench, const struct recording_sample *sample, void *user)
{
	static struct oracle_frames out;

	(void)bench;
	oracle_libdwfl_walk(user, sample, &out);
	return out.count;
}

/* Nanoseconds per frame that was taken over: what a walk whose outer frames all match costs beyond
 * one that ends where those begin. */
static double repeat_reused(struct bench *bench)
{
	double outer_ns = 0;
	size_t taken = 0;

	for (size_t i = 0; i < WALKS_OURS / REPEATED; i++) {
		const struct recording_sample *sample =
			&bench->recording->samples[i % bench->recording->count];
		size_t count = walk_history(bench, sample, NULL), reused = 0;
		enum uw_stop stop;
		double start = now_ns();

		for (int again = 0; again < REPEATED; again++)
			uw_walk_reuse(bench->space, bench->history, &sample->regs, &sample->stack,
				      frames, UW_DEPTH_MAX, &stop, &reused);
		outer_ns += now_ns() - start;
		taken += reused * REPEATED;
		count -= reused;
		start = now_ns();
		for (int again = 0; again < REPEATED; again++)
			uw_walk(bench->space, &sample->regs, &sample->stack, frames, count, &stop);
		outer_ns -= now_ns() - start;
	}
	return taken ? outer_ns / (double)taken : 0;
}

static struct figure measure_reused(struct bench *bench)
{
	double values[REPETITIONS];

	for (size_t i = 0; i < REPETITIONS; i++)
		values[i] = repeat_reused(bench);
	return figure_of(values);
}

/* Percent of the frames between two looks at the counts. */
static double looked_up(const struct uw_counts *before, const struct uw_counts *after)
{
	return 100.0 * (double)(after->cache_misses - before->cache_misses) /
	       (double)(after->frames - before->frames);
}

/* Libuw's figures of the same samples. */
struct ours {
	struct figure warm, miss, replay, reused;
};

/* The other unwinders, and libuw against them. */
static void run_oracles(struct bench *bench, const struct ours *ours)
{
	struct oracle_libunwind *cached = oracle_libunwind_create(bench->recording, true);
	struct oracle_libunwind *uncached = oracle_libunwind_create(bench->recording, false);
	struct oracle_libdwfl *libdwfl = oracle_libdwfl_create(bench->recording);

	if (!cached || !uncached || !libdwfl)
		abort();
	struct figure libunwind =
		measure(bench, "libunwind remote, cached", walk_libunwind, cached, WALKS_LIBUNWIND);
	measure(bench, "libunwind remote, no cache", walk_libunwind, uncached, WALKS_LIBUNWIND / 4);
	struct figure dwfl = measure(bench, "libdwfl", walk_libdwfl, libdwfl, WALKS_LIBDWFL);
	printf("  per frame: %.1f times as fast as libunwind with its cache, %.1f times libdwfl "
	       "(%.1f, %.1f with history); a miss costs %.1f times a hit\n",
	       libunwind.median / ours->warm.median, dwfl.median / ours->warm.median,
	       libunwind.median / ours->replay.median, dwfl.median / ours->replay.median,
	       ours->miss.median / ours->warm.median);
	at_least(bench, "times libunwind with its cache", libunwind.median / ours->warm.median,
		 libunwind_times_min);
	at_least(bench, "times libdwfl", dwfl.median / ours->warm.median, libdwfl_times_min);
	oracle_libdwfl_destroy(libdwfl);
	oracle_libunwind_destroy(uncached);
	oracle_libunwind_destroy(cached);
}

static void run(struct bench *bench)
{
	bool is_32bit = bench->recording->arch == UW_ARCH_I386;
	double times = is_32bit ? times_32bit_max : 1;
	struct uw_counts before, after;
	struct ours ours;

	uw_space_counts(bench->space, &before);
	ours.warm = measure(bench, "warm", walk_warm, NULL, WALKS_OURS);
	uw_space_counts(bench->space, &after);
	printf("  %.1f frames a stack, %.1f %% of frames are looked up\n",
	       (double)bench->frames / (double)bench->walks, looked_up(&before, &after));
	before = after;
	ours.miss = measure(bench, "first use of an address", walk_cold, NULL, WALKS_OURS / 4);
	uw_space_counts(bench->space, &after);
	printf("  %.0f %% of those frames are looked up\n", looked_up(&before, &after));
	measure(bench, "after a change of mappings", walk_changed, NULL, WALKS_OURS / 4);
	ours.replay = measure(bench, "in order, with history", walk_history, NULL, WALKS_OURS);
	printf("  %.0f %% of those frames are taken over",
	       100.0 * (double)bench->reused / (double)bench->frames);
	ours.reused = measure_reused(bench);
	printf(", at %.1f ns, at best %.1f\n", ours.reused.median, ours.reused.min);
	bench->from_memory = true;
	measure(bench, "warm, from memory", walk_warm, NULL, WALKS_OURS);
	measure(bench, "with history, from memory", walk_history, NULL, WALKS_OURS);
	bench->from_memory = false;
	at_most(bench, "ns a frame, warm", ours.warm.median, times * warm_ns_max);
	at_most(bench, "ns a frame, first use of an address", ours.miss.median,
		times * miss_ns_max);
	at_most(bench, "ns a frame taken over", ours.reused.median, times * reused_ns_max);
	if (!is_32bit)
		run_oracles(bench, &ours);
}

/* Where functions start that are as good as never met before. */
static uint64_t random_rva(const struct uw_cfi *cfi)
{
	size_t entry = ((size_t)rand() << 16 ^ (size_t)rand()) % uw_cfi_count(cfi);

	return uw_cfi_entry_start(cfi, entry) + 4;
}

/* Nanoseconds of finding the rules in a random function. */
static struct figure measure_lookups(struct uw_module *module)
{
	uint64_t *rvas = calloc(LOOKUPS, sizeof(*rvas));
	double values[REPETITIONS];
	if (!rvas)
		abort();
	for (size_t i = 0; i < REPETITIONS; i++) {
		for (size_t j = 0; j < LOOKUPS; j++)
			rvas[j] = random_rva(&module->cfi);
		double start = now_ns();
		for (size_t j = 0; j < LOOKUPS; j++) {
			struct uw_cfi_gap gap;
			struct uw_fde fde;
			struct uw_row row;
			uint32_t effort = 0;
			if (uw_cfi_find(&module->cfi, rvas[j], &fde, &gap) == UW_CFI_OK)
				uw_cfi_row(&fde, rvas[j], &row, &effort);
		}
		values[i] = (now_ns() - start) / LOOKUPS;
	}
	free(rvas);
	return figure_of(values);
}

static void run_lookups(const struct bench *bench)
{
	struct ranges_place place = {0};
	const struct uw_mapping *mapping;
	while ((mapping = ranges_next(&bench->space->mappings, &place))) {
		struct uw_module *module = mapping->module;
		if (module)
			uw_module_load(module);
		if (!module || uw_cfi_count(&module->cfi) == 0 || module->elf.fd < 0)
			continue;
		struct figure found = measure_lookups(module);
		printf("%s: %.2f MB of .eh_frame; a random function: %.0f ns, at best %.0f\n",
		       bench->recording->mappings[mapping->tag].path,
		       (double)module->cfi.frame.size / 1e6, found.median, found.min);
	}
}

int main(int argc, char **argv)
{
	static struct bench bench;

	if (argc < 3) {
		fprintf(stderr, "usage: %s SAMPLES PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	struct recording *recording =
		recording_create(argv + 2, strtoul(argv[1], NULL, 10), DELAY_MS);
	if (!recording || recording->count == 0) {
		fprintf(stderr, "%s: no samples of %s\n", argv[0], argv[2]);
		return 77;
	}
	bench.clock_ns = measure_clock();
	bench.recording = recording;
	bench.space = recording_space(recording);
	bench.history = uw_history_create();
	bench.batch = malloc(BATCH_BYTES + RECORDING_STACK_MAX);
	if (!bench.history || !bench.batch)
		abort();
	printf("%s: %zu samples\n", argv[2], recording->count);
	run(&bench);
	run_lookups(&bench);
	free(bench.batch);
	uw_history_destroy(bench.history);
	uw_space_destroy(bench.space);
	recording_destroy(recording);
	return bench.limits_missed > 0;
}
