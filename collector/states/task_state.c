#include "collector/states/task_state.h"

#include "collector/machine/clock.h"
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

/* The field of starttime, counted from the state on. */
enum { FIELDS_TO_START = 19 };

static enum profile_state state_of_letter(char letter)
{
	switch (letter) {
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

/* fields: from the state on. */
static uint64_t find_age(const char *fields)
{
	for (int i = 0; i < FIELDS_TO_START && fields; i++) {
		fields = strchr(fields, ' ');
		fields = fields ? fields + 1 : NULL;
	}
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	uint64_t now_ns = clock_read(CLOCK_BOOTTIME);
	unsigned long long ticks = fields ? strtoull(fields, NULL, 10) : ULLONG_MAX;
	if (ticks_per_s <= 0 || ticks >= UINT64_MAX / NS_PER_S)
		return 0;
	/* It began within this tick. */
	uint64_t begun_ns = (ticks + 1) * (NS_PER_S / (uint64_t)ticks_per_s);
	return now_ns > begun_ns ? now_ns - begun_ns : 0;
}

static bool read_line(uint32_t pid, uint32_t tid, const char *name, char *line, int size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(line, size, file) != NULL;
	if (file)
		fclose(file);
	return is_read;
}

struct task_state task_state_read(uint32_t pid, uint32_t tid)
{
	char line[512];
	struct task_state state = {PROFILE_STATE_UNKNOWN, 0};
	bool is_read = read_line(pid, tid, "stat", line, sizeof(line));
	/* Behind the name, which may hold anything. */
	const char *behind = is_read ? strrchr(line, ')') : NULL;
	if (!behind || behind[1] != ' ')
		return state;
	state.state = state_of_letter(behind[2]);
	state.age_ns = find_age(behind + 2);
	return state;
}

bool task_account_read(uint32_t pid, uint32_t tid, uint64_t *cpu_ns, uint64_t *times)
{
	char line[128];
	char *end;
	if (!read_line(pid, tid, "schedstat", line, sizeof(line)))
		return false;
	*cpu_ns = strtoull(line, &end, 10);
	strtoull(end, &end, 10); /* waited for a CPU */
	*times = strtoull(end, NULL, 10);
	return *times > 0;
}
