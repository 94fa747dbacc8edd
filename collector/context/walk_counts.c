#include "collector/context/walk_counts.h"

#include "collector/machine/clock.h"
#include "collector/result/emit.h"
#include "containers/array.h"
#include <stdlib.h>
#include <string.h>

enum { TIMED_EACH = 64, TIMED_TURN = 32 };

void walk_counts_finish(struct walk_counts *counts)
{
	free(counts->images);
	*counts = (struct walk_counts){0};
}

/* NULL: out of memory. */
static struct profile_unwinding *find_image(struct walk_counts *counts, uint32_t image)
{
	if (image < counts->image_count)
		return &counts->images[image];
	if (!array_reserve(&counts->images, &counts->image_capacity, (size_t)image + 1,
			   sizeof(*counts->images)))
		return NULL;
	memset(counts->images + counts->image_count, 0,
	       (image + 1 - counts->image_count) * sizeof(*counts->images));
	counts->image_count = (size_t)image + 1;
	return &counts->images[image];
}

static void add_to_all(struct walk_counts *counts, const struct profile_unwinding *more,
		       const struct walk_counts_subject *subject)
{
	struct profile_unwinding *image = find_image(counts, subject->image);
	profile_unwinding_add(&counts->run, more);
	profile_unwinding_add(subject->thread, more);
	if (image)
		profile_unwinding_add(image, more);
}

void walk_counts_begin(struct walk_counts *counts, struct walk_counts_walk *walk,
		       const struct uw_space *space, bool is_deep)
{
	bool is_timed = !is_deep && counts->turn++ % TIMED_EACH == TIMED_TURN;
	uw_space_counts(space, &walk->before);
	walk->is_deep = is_deep;
	walk->start_ns = is_timed ? clock_now() : 0;
}

void walk_counts_end(struct walk_counts *counts, const struct walk_counts_walk *walk,
		     const struct uw_space *space, const struct walk_counts_subject *subject)
{
	uint64_t ns = walk->start_ns > 0 ? clock_now() - walk->start_ns : 0;
	const struct uw_counts *before = &walk->before;
	struct uw_counts after;
	uw_space_counts(space, &after);
	struct profile_unwinding more = {
		.walks = after.walks - before->walks,
		.frames = after.frames - before->frames,
		.frames_by_info = after.frames_by_source[UW_SOURCE_CFI] -
				  before->frames_by_source[UW_SOURCE_CFI],
		.frames_by_pointer = after.frames_by_source[UW_SOURCE_FRAME_POINTER] -
				     before->frames_by_source[UW_SOURCE_FRAME_POINTER],
		.frames_reused = after.frames_reused - before->frames_reused,
		.lookups = after.cache_misses - before->cache_misses,
	};
	if (walk->start_ns > 0) {
		more.timed_walks = more.walks;
		more.timed_frames = more.frames;
		more.timed_ns = ns;
	}
	if (walk->is_deep)
		profile_unwinding_add(&counts->deep, &more);
	else
		add_to_all(counts, &more, subject);
}

void walk_counts_add_test(struct walk_counts *counts, enum guess_result result,
			  const struct walk_counts_subject *subject)
{
	struct profile_unwinding more = {
		.guesses_tested = result != GUESS_NOT_TESTED,
		.guesses_covered = result == GUESS_RIGHT || result == GUESS_WRONG,
		.guesses_wrong = result == GUESS_WRONG,
	};
	if (result != GUESS_NOT_TESTED)
		add_to_all(counts, &more, subject);
}

void walk_counts_add_late_test(struct walk_counts *counts, enum guess_result result,
			       const struct walk_counts_subject *subject)
{
	struct profile_unwinding more = {
		.late_tested = result != GUESS_NOT_TESTED,
		.late_covered = result == GUESS_RIGHT || result == GUESS_WRONG,
		.late_wrong = result == GUESS_WRONG,
	};
	if (result != GUESS_NOT_TESTED)
		add_to_all(counts, &more, subject);
}

void walk_counts_forget_test(struct profile_unwinding *sum)
{
	sum->guesses_tested = 0;
	sum->guesses_covered = 0;
	sum->guesses_wrong = 0;
}

void walk_counts_forget_tests(struct walk_counts *counts)
{
	walk_counts_forget_test(&counts->run);
	for (size_t i = 0; i < counts->image_count; i++)
		walk_counts_forget_test(&counts->images[i]);
}

static void emit_one(struct emit *emit, enum profile_unwinding_kind kind, uint32_t subject,
		     const struct profile_unwinding *unwinding)
{
	struct profile_unwinding record = *unwinding;
	record.kind = kind;
	record.subject = subject;
	emit_record(emit, PROFILE_STREAM_UNWINDING, &record, NULL);
}

void walk_counts_emit(const struct walk_counts *counts, struct emit *emit)
{
	for (size_t i = 0; i < counts->image_count; i++)
		if (counts->images[i].walks > 0 || counts->images[i].guesses_tested > 0)
			emit_one(emit, PROFILE_UNWINDING_IMAGE, (uint32_t)i, &counts->images[i]);
	emit_one(emit, PROFILE_UNWINDING_RUN, 0, &counts->run);
	emit_one(emit, PROFILE_UNWINDING_DEEP, 0, &counts->deep);
}
