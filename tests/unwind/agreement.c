/*
 * Samples of a program, walked by libuw, libunwind and libdwfl: wherever the other two agree, libuw
 * gives the same frames. What differs is shown by module and address within it.
 *
 * Usage: agreement [-v] [-d DELAY_MS] [-c PERCENT] [-n PERCENT] [-b PERCENT] [-l PERCENT]
 *                  [-x PERCENT] [-m PERCENT] SAMPLES PROGRAM [ARGUMENT...]
 * -v: where libuw ends without a root, and where it goes on beyond the others' agreement, is shown.
 * The bounds are shares of the samples: -c: of complete stacks at least (default 100); and at most
 * (default 0), -n: of stacks that end at code without unwind information where the others go on;
 * -b: of those with a caller of the leaf that the others miss; -l: of those that differ from
 * libdwfl's own where libunwind says something else; -x: of frames that neither of the others has,
 * and whose address follows no call; and -m: of frames that the others agree on, at least (default
 * 200: two of each sample).
 * Exit status 0: no difference, and all of the samples within the bounds; 77: no ptrace(2) here.
 */
#include "tests/unwind/oracles.h"
#include "unwind/convention/call.h"
#include "unwind/space/space.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 12, CALLED_MAX = 4096 };

struct agreement {
	bool verbose;
	const struct recording *recording;
	struct uw_space *space;
	struct uw_history *history;
	struct oracle_libunwind *libunwind;
	struct oracle_libdwfl *libdwfl;
	size_t frames, both, between, declined, differences, reused, reuse_differences;
	/* Of the stacks that go on where the others no longer agree: as which of them. */
	size_t longer, as_libunwind, as_libdwfl, not_as_libdwfl;
	size_t alone, unchecked; /* frames that only libuw has; and no call led to */
	size_t stops[UW_STOP_COUNT];
};

/* Percent of the samples. */
struct bounds {
	double complete, declined, between, not_as_libdwfl, unchecked, agreed;
};

static void show_place(const struct recording *recording, const char *who, uint64_t ip)
{
	const struct recording_mapping *mapping = recording_find(recording, ip - 1);

	fprintf(stderr, " %s %s+%#" PRIx64, who, mapping ? mapping->path : "?",
		mapping ? ip - mapping->start + mapping->offset : ip);
}

/* The first difference of a sample, i frames from the leaf; what libuw has is a symptom, where it
 * was one frame earlier is the cause. */
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

/* Whether there is no unwind information for the code of a frame. Another than who walks says so:
 * a walker that overlooks it would excuse itself. */
static bool is_without_info(const struct agreement *agreement, const struct uw_frame *frame)
{
	return !oracle_libdwfl_has_cfi(agreement->libdwfl, frame->ip - !frame->exact);
}

/* Whether the bytes before an address are those of a call: e8 with a displacement, or ff /2 with
 * the operands that it has (Intel SDM, volume 2, CALL). */
static bool follows_call(const struct agreement *agreement, uint64_t ip)
{
	uint8_t bytes[7];

	if (!recording_read(agreement->recording, ip - sizeof(bytes), bytes, sizeof(bytes)))
		return false;
	for (size_t i = 0; i + 2 <= sizeof(bytes); i++)
		if (bytes[i] == 0xff && (bytes[i + 1] >> 3 & 7) == 2)
			return true;
	return bytes[2] == 0xe8;
}

static bool has_frame(const struct oracle_frames *theirs, uint64_t ip)
{
	size_t i = 0;

	while (i < theirs->count && theirs->ip[i] != ip)
		i++;
	return i < theirs->count;
}

/* Frames from the i-th on that neither of the others has, and that no call led to; the leaf is what
 * the registers say. */
static void count_unchecked(struct agreement *agreement, const struct uw_frame *ours, size_t count,
			    size_t i, const struct oracle_frames *a, const struct oracle_frames *b)
{
	for (i += i == 0; i < count; i++) {
		agreement->alone += !has_frame(a, ours[i].ip) && !has_frame(b, ours[i].ip);
		if (has_frame(a, ours[i].ip) || has_frame(b, ours[i].ip) ||
		    follows_call(agreement, ours[i].ip))
			continue;
		if (agreement->unchecked++ < SHOWN) {
			fprintf(stderr, "nobody knows frame %zu:", i);
			show_place(agreement->recording, "after", ours[i - 1].ip);
			show_place(agreement->recording, "is", ours[i].ip);
			fputc('\n', stderr);
		}
	}
}

/* How many frames from the i-th on are the same. */
static size_t same_from(size_t i, const struct uw_frame *ours, size_t count,
			const struct oracle_frames *theirs)
{
	size_t same = 0;

	while (i + same < count && i + same < theirs->count &&
	       ours[i + same].ip == theirs->ip[i + same])
		same++;
	return same;
}

/* libuw goes on at frame i, where the others no longer agree. */
static void note_longer(struct agreement *agreement, const struct uw_frame *ours, size_t count,
			size_t i, const struct oracle_frames *libunwind,
			const struct oracle_frames *libdwfl)
{
	size_t same = same_from(i, ours, count, libdwfl);

	agreement->longer++;
	agreement->as_libunwind += same_from(i, ours, count, libunwind) > 0;
	agreement->as_libdwfl += same > 0;
	if (i + same < count && i + same < libdwfl->count) {
		agreement->not_as_libdwfl++;
		fprintf(stderr, "not as libdwfl, frame %zu:", i + same);
		show_place(agreement->recording, "after", ours[i + same - 1].ip);
		show_place(agreement->recording, "expected", libdwfl->ip[i + same]);
		show_place(agreement->recording, "is", ours[i + same].ip);
		fputc('\n', stderr);
	}
	if (!agreement->verbose)
		return;
	fprintf(stderr, "libunwind %s, libdwfl %s",
		same_from(i, ours, count, libunwind) ? "too"
		: libunwind->count > i               ? "elsewhere"
						     : "ends",
		same > 0             ? "too"
		: libdwfl->count > i ? "elsewhere"
				     : "ends");
	show_place(agreement->recording, "after", ours[i - 1].ip);
	show_place(agreement->recording, "to", ours[i].ip);
	fputc('\n', stderr);
}

/* Whether the call before the caller's address names the place, or code shortly before it. */
static bool is_called_from(const struct agreement *agreement, uint64_t caller, uint64_t place)
{
	const struct uw_call *call = uw_call_find(agreement->space, caller);

	return call && call->direct && place - call->target < CALLED_MAX;
}

/* The others agree on frame i, and libuw has another one, or none. */
static void note_difference(struct agreement *agreement, const struct uw_frame *ours, size_t count,
			    size_t i, enum uw_stop stop, uint64_t expected)
{
	/* Where a function has not yet made its frame, frame pointers miss its caller, which libuw
	 * may know nothing of but that it called. */
	if (i == 1 &&
	    (ours[1].source == UW_SOURCE_FRAME_POINTER || ours[1].source == UW_SOURCE_ANALYSIS) &&
	    ((count > 2 && ours[2].ip == expected) ||
	     (count == 2 && stop == UW_STOP_NO_INFO &&
	      is_called_from(agreement, ours[1].ip, ours[0].ip))))
		agreement->between++;
	/* What the others take for a frame pointer there passes none of libuw's checks. */
	else if (i > 0 && i == count && stop == UW_STOP_NO_INFO &&
		 is_without_info(agreement, &ours[i - 1]))
		agreement->declined++;
	else
		show(agreement, ours, count, i, stop, expected);
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
	size_t again_count =
		uw_walk_reuse(agreement->space, agreement->history, &sample->regs, &sample->stack,
			      again, ORACLE_FRAMES_MAX, &again_stop, &reused);

	/* But for known frames beyond a frame pointer step that is refused now: unwind.h. */
	if ((again_count != count || again_stop != stop) &&
	    (stop != UW_STOP_NO_INFO || again_stop != UW_STOP_ROOT || again_count <= count ||
	     reused < again_count - count))
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
		note_difference(agreement, ours, count, i, stop, a.ip[i]);
		count_unchecked(agreement, ours, count, i, &a, &b);
		return;
	}
	count_unchecked(agreement, ours, count, i, &a, &b);
	if (count > i)
		note_longer(agreement, ours, count, i, &a, &b);
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
	printf("%zu samples, %zu frames (%zu reused); libunwind and libdwfl agree on %zu: libuw "
	       "differs on %zu stacks, declines to go on in %zu, has the leaf's caller that they "
	       "miss on %zu; it goes on beyond that in %zu, %zu as libunwind, %zu as libdwfl, %zu "
	       "not as libdwfl all along; %zu frames are its own, %zu of which no call led to;",
	       agreement->recording->count, agreement->frames, agreement->reused, agreement->both,
	       agreement->differences, agreement->declined, agreement->between, agreement->longer,
	       agreement->as_libunwind, agreement->as_libdwfl, agreement->not_as_libdwfl,
	       agreement->alone, agreement->unchecked);
	for (int stop = 0; stop < UW_STOP_COUNT; stop++)
		if (agreement->stops[stop])
			printf(" %s %zu", uw_stop_name((enum uw_stop)stop), agreement->stops[stop]);
	putchar('\n');
	if (agreement->reuse_differences)
		fprintf(stderr, "%zu differences with history\n", agreement->reuse_differences);
}

/* Whether a share of the samples is too large, and says so. */
static bool exceeds(const struct agreement *agreement, const char *what, size_t count, double most)
{
	double percent = 100.0 * (double)count / (double)agreement->recording->count;

	if (percent <= most)
		return false;
	fprintf(stderr, "%s: %.1f %% of the stacks, at most %.1f expected\n", what, percent, most);
	return true;
}

static bool has_failed(const struct agreement *agreement, const struct bounds *bounds)
{
	size_t count = agreement->recording->count;
	bool failed = agreement->differences > 0 || agreement->reuse_differences > 0;

	/* Both say where the leaf is without walking at all. */
	if ((double)agreement->both * 100 < bounds->agreed * (double)count) {
		fprintf(stderr,
			"the others agree on hardly more than the leaves: they say nothing\n");
		failed = true;
	}
	failed |= exceeds(agreement, "not complete", count - agreement->stops[UW_STOP_ROOT],
			  100 - bounds->complete);
	failed |= exceeds(agreement, "declined", agreement->declined, bounds->declined);
	failed |= exceeds(agreement, "with one more caller", agreement->between, bounds->between);
	failed |= exceeds(agreement, "frames that nobody checked", agreement->unchecked,
			  bounds->unchecked);
	failed |= exceeds(agreement, "not as libdwfl", agreement->not_as_libdwfl,
			  bounds->not_as_libdwfl);
	return failed;
}

/* Returns false where an option is not known. */
static bool read_options(int argc, char **argv, struct agreement *agreement, struct bounds *bounds,
			 unsigned *delay_ms)
{
	int option;

	while ((option = getopt(argc, argv, "+d:c:n:b:l:x:m:v")) != -1) {
		if (option == 'd')
			*delay_ms = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'c')
			bounds->complete = strtod(optarg, NULL);
		else if (option == 'n')
			bounds->declined = strtod(optarg, NULL);
		else if (option == 'b')
			bounds->between = strtod(optarg, NULL);
		else if (option == 'l')
			bounds->not_as_libdwfl = strtod(optarg, NULL);
		else if (option == 'x')
			bounds->unchecked = strtod(optarg, NULL);
		else if (option == 'm')
			bounds->agreed = strtod(optarg, NULL);
		else if (option == 'v')
			agreement->verbose = true;
		else
			return false;
	}
	return argc - optind >= 2;
}

int main(int argc, char **argv)
{
	struct agreement agreement = {0};
	struct bounds bounds = {.complete = 100, .agreed = 200};
	unsigned delay_ms = 200;

	if (!read_options(argc, argv, &agreement, &bounds, &delay_ms)) {
		fprintf(stderr, "usage: %s [OPTION...] SAMPLES PROGRAM [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	size_t samples = strtoul(argv[optind], NULL, 10);
	struct recording *recording =
		samples > 0 ? recording_create(argv + optind + 1, samples, delay_ms) : NULL;
	if (!recording)
		return 77;
	if (recording->count == 0) {
		fprintf(stderr, "no samples: the program ended, or mapped files all the time\n");
		recording_destroy(recording);
		return 1;
	}
	agreement.recording = recording;
	agreement.space = recording_space(recording);
	agreement.history = uw_history_create();
	agreement.libunwind = oracle_libunwind_create(recording, true);
	agreement.libdwfl = oracle_libdwfl_create(recording);
	if (!agreement.libunwind || !agreement.libdwfl || !agreement.history)
		return 2;
	run(&agreement);
	bool failed = has_failed(&agreement, &bounds);
	oracle_libdwfl_destroy(agreement.libdwfl);
	oracle_libunwind_destroy(agreement.libunwind);
	uw_history_destroy(agreement.history);
	uw_space_destroy(agreement.space);
	recording_destroy(recording);
	return failed;
}
