/*
 * Samples of a program, walked by libuw, libunwind and libdwfl: wherever the other two agree, libuw
 * gives the same frames. What differs is shown by module and address within it.
 *
 * Usage: agreement [-v] [-d DELAY_MS] [-a DIFFERENCES] SAMPLES PROGRAM [ARGUMENT...]
 * -v: where libuw ends without a root, and where it goes on alone, is shown too.
 * Exit status 0: no more differences than -a allows (default 0); 77: no ptrace(2) here, or no such
 * program.
 */
#include "tests/unwind/oracles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 12 };

struct agreement {
	bool verbose;
	const struct recording *recording;
	struct uw_space *space;
	struct uw_history *history;
	struct oracle_libunwind *libunwind;
	struct oracle_libdwfl *libdwfl;
	size_t frames, both, longer, between, differences, reused, reuse_differences;
	size_t stops[UW_STOP_COUNT];
};

static void show_place(const struct recording *recording, const char *who, uint64_t ip)
{
	const struct recording_mapping *mapping = recording_find(recording, ip - 1);

	fprintf(stderr, " %s %s+%#" PRIx64, who, mapping ? mapping->path : "?",
		mapping ? ip - mapping->start + mapping->offset : ip);
}

/* The first difference of a sample, i frames from the leaf; what libuw has is a symptom, where it
   was one frame earlier is the cause. */
static void show(struct agreement *agreement, const struct uw_frame *ours, size_t count, size_t i,
		 enum uw_stop stop, uint64_t expected)
{
	if (agreement->differences++ >= SHOWN)
		return;
	fprintf(stderr, "frame %zu of %zu (%s):", i, count, uw_stop_name(stop));
	show_place(agreement->recording, "after", ours[i - 1].ip);
	show_place(agreement->recording, "expected", expected);
	if (i < count)
		show_place(agreement->recording, "is", ours[i].ip);
	fputc('\n', stderr);
}

/* libuw goes on where the others no longer agree: each of them has so many frames left. */
static void note_longer(struct agreement *agreement, size_t libunwind, size_t libdwfl, uint64_t ip)
{
	agreement->longer++;
	if (!agreement->verbose)
		return;
	fprintf(stderr, "libunwind %s, libdwfl %s", libunwind ? "goes on" : "ends",
		libdwfl ? "goes on" : "ends");
	show_place(agreement->recording, "after", ip);
	fputc('\n', stderr);
}

static void compare(struct agreement *agreement, const struct recording_sample *sample)
{
	static struct uw_frame ours[UW_DEPTH_MAX], again[UW_DEPTH_MAX];
	static struct oracle_frames a, b;
	enum uw_stop stop, again_stop;
	size_t reused, i = 0;
	size_t count = uw_walk(agreement->space, &sample->regs, &sample->stack, ours,
			       ORACLE_FRAMES_MAX, &stop);

	agreement->stops[stop]++;
	agreement->frames += count;
	if (uw_walk_reuse(agreement->space, agreement->history, &sample->regs, &sample->stack,
			  again, ORACLE_FRAMES_MAX, &again_stop, &reused) != count ||
	    again_stop != stop)
		agreement->reuse_differences++;
	for (size_t j = 0; j < count; j++)
		agreement->reuse_differences +=
			again[j].ip != ours[j].ip || again[j].sp != ours[j].sp;
	agreement->reused += reused;
	oracle_libunwind_walk(agreement->libunwind, sample, &a);
	oracle_libdwfl_walk(agreement->libdwfl, sample, &b);
	for (; i < a.count && i < b.count && a.ip[i] == b.ip[i]; i++) {
		agreement->both++;
		if (i < count && ours[i].ip == a.ip[i])
			continue;
		/* Where a function has not yet made its frame, frame pointers miss its caller. */
		if (i == 1 && count > 2 && ours[2].ip == a.ip[1] &&
		    ours[1].source == UW_SOURCE_FRAME_POINTER) {
			agreement->between++;
			return;
		}
		show(agreement, ours, count, i, stop, a.ip[i]);
		return;
	}
	if (count > i)
		note_longer(agreement, a.count - i, b.count - i, ours[i - 1].ip);
	if (stop != UW_STOP_ROOT && agreement->verbose) {
		fprintf(stderr, "%s:", uw_stop_name(stop));
		show_place(agreement->recording, "after", ours[count - 1].ip);
		fputc('\n', stderr);
	}
}

static void run(struct agreement *agreement)
{
	for (size_t i = 0; i < agreement->recording->count; i++)
		compare(agreement, &agreement->recording->samples[i]);
	printf("%zu samples, %zu frames (%zu reused); libunwind and libdwfl agree on %zu, libuw "
	       "differs on %zu stacks, has the leaf's caller that they miss on %zu, and goes on "
	       "for %zu;",
	       agreement->recording->count, agreement->frames, agreement->reused, agreement->both,
	       agreement->differences, agreement->between, agreement->longer);
	for (int stop = 0; stop < UW_STOP_COUNT; stop++)
		if (agreement->stops[stop])
			printf(" %s %zu", uw_stop_name((enum uw_stop)stop), agreement->stops[stop]);
	putchar('\n');
	if (agreement->reuse_differences)
		fprintf(stderr, "%zu differences with history\n", agreement->reuse_differences);
}

int main(int argc, char **argv)
{
	struct agreement agreement = {0};
	struct recording *recording;
	unsigned delay_ms = 200;
	size_t allowed = 0, samples;
	bool failed;
	int option;

	while ((option = getopt(argc, argv, "+d:a:v")) != -1) {
		if (option == 'd')
			delay_ms = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'a')
			allowed = strtoul(optarg, NULL, 10);
		else if (option == 'v')
			agreement.verbose = true;
		else
			return 2;
	}
	if (argc - optind < 2) {
		fprintf(stderr, "usage: %s [-d MS] [-a N] SAMPLES PROGRAM [ARGUMENT...]\n",
			argv[0]);
		return 2;
	}
	samples = strtoul(argv[optind], NULL, 10);
	recording = samples > 0 ? recording_create(argv + optind + 1, samples, delay_ms) : NULL;
	if (!recording)
		return 77;
	agreement.recording = recording;
	agreement.space = recording_space(recording);
	agreement.history = uw_history_create();
	agreement.libunwind = oracle_libunwind_create(recording, true);
	agreement.libdwfl = oracle_libdwfl_create(recording);
	if (!agreement.libunwind || !agreement.libdwfl || !agreement.history)
		return 2;
	run(&agreement);
	failed = agreement.differences > allowed || agreement.reuse_differences > 0 ||
		 recording->count == 0;
	oracle_libdwfl_destroy(agreement.libdwfl);
	oracle_libunwind_destroy(agreement.libunwind);
	uw_history_destroy(agreement.history);
	uw_space_destroy(agreement.space);
	recording_destroy(recording);
	return failed;
}
