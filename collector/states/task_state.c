#include "collector/states/task_state.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum profile_state task_state_read(uint32_t pid, uint32_t tid)
{
	char path[64];
	char line[512];
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, tid);
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(line, sizeof(line), file) != NULL;
	if (file)
		fclose(file);
	/* Behind the name, which may hold anything. */
	const char *state = is_read ? strrchr(line, ')') : NULL;
	if (!state || state[1] != ' ')
		return PROFILE_STATE_UNKNOWN;
	switch (state[2]) {
	case 'R':
		return PROFILE_STATE_READY;
	case 'T':
	case 't':
		return PROFILE_STATE_STOPPED;
	case 'Z':
	case 'X':
		return PROFILE_STATE_UNKNOWN;
	default:
		return PROFILE_STATE_BLOCKED;
	}
}
