#include "profile/base/gap.h"

#include <string.h>

static const char *const names[PROFILE_GAP_COUNT] = {
	[PROFILE_GAP_UNKNOWN] = "[Unknown frame(s)]",
	[PROFILE_GAP_SKIPPED] = "[Skipped frame(s)]",
	[PROFILE_GAP_GUESSED] = "[Guessed frame(s)]",
	[PROFILE_GAP_KERNEL] = PROFILE_GAP_KERNEL_NAME,
	[PROFILE_GAP_NO_SAMPLE] = PROFILE_GAP_NO_SAMPLE_NAME,
	[PROFILE_GAP_NO_THREAD] = PROFILE_GAP_NO_THREAD_NAME,
};

const char *profile_gap_name(enum profile_gap gap)
{
	return names[gap];
}

enum profile_gap profile_gap_find(const char *name)
{
	unsigned gap = name[0] == '[' ? 0 : PROFILE_GAP_COUNT;
	while (gap < PROFILE_GAP_COUNT && strcmp(names[gap], name) != 0)
		gap++;
	return (enum profile_gap)gap;
}
