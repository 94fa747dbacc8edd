#include "collector/recording/recording_cpus.h"

/* Of the thread, 0: the first free one. */
static size_t find_place(const struct recording_cpus *cpus, uint32_t tid)
{
	size_t i = 0;
	while (i < cpus->count && cpus->tids[i] != tid)
		i++;
	return i < RECORDING_CPUS_MAX ? i : RECORDING_CPUS_MAX - 1;
}

static uint32_t take_place(struct recording_cpus *cpus, uint32_t tid)
{
	size_t place = find_place(cpus, tid);
	if (place == cpus->count || cpus->tids[place] != tid)
		place = find_place(cpus, 0);
	if (place == cpus->count)
		cpus->count++;
	cpus->tids[place] = tid;
	return (uint32_t)place;
}

static uint32_t leave_place(struct recording_cpus *cpus, uint32_t tid)
{
	size_t place = find_place(cpus, tid);
	if (place == cpus->count || cpus->tids[place] != tid)
		return (uint32_t)find_place(cpus, 0);
	cpus->tids[place] = 0;
	return (uint32_t)place;
}

uint32_t recording_cpus_place(struct recording_cpus *cpus, const struct record *record)
{
	bool is_out = record->kind == RECORD_SWITCH && record->switched.out;
	if (record->tid == 0)
		return (uint32_t)find_place(cpus, 0);
	if (record->kind == RECORD_SAMPLE || (record->kind == RECORD_SWITCH && !is_out))
		return take_place(cpus, record->tid);
	if (is_out || record->kind == RECORD_EXIT)
		return leave_place(cpus, record->tid);
	return (uint32_t)find_place(cpus, 0);
}
