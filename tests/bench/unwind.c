/*
 * What unwinding costs: samples of a program, recorded once, through libuw with a warm cache, with
 * none, and with a history, through libunwind's remote unwinding with and without its cache, and
 * through libdwfl. CPU time, so that a loaded machine changes little; ratios are of one run.
 *
 * Usage: bench_unwind SAMPLES PROGRAM [ARGUMENT...]
 */
#include "tests/unwind/oracles.h"
#include "unwind/space.h"

#include <stdlib.h>
#include <time.h>

enum {
	DELAY_MS = 1500,
	REPEATED = 10,
	WALKS_OURS = 40000,
	WALKS_LIBUNWIND = 2000,
	WALKS_LIBDWFL = 1000
};

struct bench {
	const struct recording *recording;
	struct uw_space *space;
	struct uw_history *history;
	size_t walks, frames, reused; /* of the last measurement */
	double ns;
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

typedef size_t (*walk_fn)(struct bench *bench, const struct recording_sample *sample, void *user);

/* Walks the samples in order, again and again; returns nanoseconds per frame. */
static double measure(struct bench *bench, const char *name, walk_fn walk, void *user, size_t walks)
{
	double start;

	for (size_t i = 0; i < bench->recording->count && i < walks; i++)
		walk(bench, &bench->recording->samples[i], user);
	bench->walks = bench->frames = bench->reused = 0;
	start = now_ns();
	for (; bench->walks < walks; bench->walks++)
		bench->frames +=
			walk(bench,
			     &bench->recording->samples[bench->walks % bench->recording->count],
			     user);
	bench->ns = now_ns() - start;
	if (name)
		printf("  %-28s %8.1f ns a frame, %9.0f stacks/s\n", name,
		       bench->ns / (double)bench->frames, 1e9 * (double)walks / bench->ns);
	return bench->ns / (double)bench->frames;
}

static struct uw_frame frames[UW_DEPTH_MAX];

static size_t walk_warm(struct bench *bench, const struct recording_sample *sample, void *user)
{
	enum uw_stop stop;

	(void)user;
	return uw_walk(bench->space, &sample->regs, &sample->stack, frames, UW_DEPTH_MAX, &stop);
}

/* What the walk looked up is forgotten after it. */
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
   one that ends where those begin. */
static double measure_reused(struct bench *bench)
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

static void run(struct bench *bench)
{
	struct oracle_libunwind *cached = oracle_libunwind_create(bench->recording, true);
	struct oracle_libunwind *uncached = oracle_libunwind_create(bench->recording, false);
	struct oracle_libdwfl *libdwfl = oracle_libdwfl_create(bench->recording);
	struct uw_counts before, after;
	double warm, miss, replay, libunwind, dwfl;

	if (!cached || !uncached || !libdwfl)
		abort();
	warm = measure(bench, "warm", walk_warm, NULL, WALKS_OURS);
	printf("  %.1f frames a stack\n", (double)bench->frames / (double)bench->walks);
	uw_space_counts(bench->space, &before);
	miss = measure(bench, "no cache", walk_cold, NULL, WALKS_OURS / 4);
	uw_space_counts(bench->space, &after);
	printf("  %.0f %% of those frames are looked up\n",
	       100.0 * (double)(after.cache_misses - before.cache_misses) /
		       (double)(after.frames - before.frames));
	measure(bench, "after a change of mappings", walk_changed, NULL, WALKS_OURS / 4);
	replay = measure(bench, "in order, with history", walk_history, NULL, WALKS_OURS);
	printf("  %.0f %% of those frames are taken over, at %.1f ns\n",
	       100.0 * (double)bench->reused / (double)bench->frames, measure_reused(bench));
	libunwind =
		measure(bench, "libunwind remote, cached", walk_libunwind, cached, WALKS_LIBUNWIND);
	measure(bench, "libunwind remote, no cache", walk_libunwind, uncached, WALKS_LIBUNWIND / 4);
	dwfl = measure(bench, "libdwfl", walk_libdwfl, libdwfl, WALKS_LIBDWFL);
	printf("  per frame: %.1f times as fast as libunwind with its cache, %.1f times libdwfl "
	       "(%.1f, %.1f with history); a miss costs %.1f times a hit\n",
	       libunwind / warm, dwfl / warm, libunwind / replay, dwfl / replay, miss / warm);
	oracle_libdwfl_destroy(libdwfl);
	oracle_libunwind_destroy(uncached);
	oracle_libunwind_destroy(cached);
}

int main(int argc, char **argv)
{
	struct bench bench = {0};
	struct recording *recording;

	if (argc < 3) {
		fprintf(stderr, "usage: %s SAMPLES PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	recording = recording_create(argv + 2, strtoul(argv[1], NULL, 10), DELAY_MS);
	if (!recording || recording->count == 0) {
		fprintf(stderr, "%s: no samples of %s\n", argv[0], argv[2]);
		return 77;
	}
	bench.recording = recording;
	bench.space = recording_space(recording);
	bench.history = uw_history_create();
	if (!bench.history)
		abort();
	printf("%s: %zu samples\n", argv[2], recording->count);
	run(&bench);
	uw_history_destroy(bench.history);
	uw_space_destroy(bench.space);
	recording_destroy(recording);
	return 0;
}
