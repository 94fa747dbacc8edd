#include "profile/profile.h"

void profile_unwinding_add(struct profile_unwinding *sum, const struct profile_unwinding *more)
{
	sum->walks += more->walks;
	sum->frames += more->frames;
	sum->frames_by_info += more->frames_by_info;
	sum->frames_by_pointer += more->frames_by_pointer;
	sum->frames_reused += more->frames_reused;
	sum->lookups += more->lookups;
	sum->timed_walks += more->timed_walks;
	sum->timed_frames += more->timed_frames;
	sum->timed_ns += more->timed_ns;
	sum->guesses_tested += more->guesses_tested;
	sum->guesses_covered += more->guesses_covered;
	sum->guesses_wrong += more->guesses_wrong;
	sum->late_tested += more->late_tested;
	sum->late_covered += more->late_covered;
	sum->late_wrong += more->late_wrong;
}
