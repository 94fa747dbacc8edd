/* An unwinder whose walks yield what the test says. One address space exists at a time. */
#ifndef TESTS_COLLECTOR_FAKE_UNWIND_H
#define TESTS_COLLECTOR_FAKE_UNWIND_H

#include "unwind/unwind.h"

struct fake_walk {
	/* What the next walks yield, until it is changed. */
	struct uw_frame frames[UW_DEPTH_MAX];
	size_t frame_count;
	enum uw_stop stop;
	size_t reused_count; /* of the frames, if the thread was walked before */
	size_t walks;        /* since it was set to 0 */
	/* What uw_walk yields: a whole stack; 0 frames: what uw_walk_reuse does. */
	struct uw_frame whole[UW_DEPTH_MAX];
	size_t whole_count;
};
struct fake_walk *fake_walk(void);

/* Frames written leaf first, a letter per frame; nothing is reused. Sets walks to 0. */
void fake_walk_set(const char *letters, enum uw_stop stop);

/* As fake_walk_set, with each frame at a place of its own on the stack: that of letter c is at
 * 0x8000 - c * 0x10. */
void fake_walk_set_placed(const char *letters, enum uw_stop stop);

/* Has uw_walk yield these frames, likewise, from now on. Letter x: no call led from there. */
void fake_walk_set_whole(const char *letters);

/* Of the space. */
enum uw_arch fake_unwind_arch(void);

#endif
