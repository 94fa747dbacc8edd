/* Which module a process had at an address and a time. */
#include "profile/read/addressmap.h"
#include "profile/read/reader_private.h"
#include <stdlib.h>

/* The modules of one pid, or the global ones; the map is built when it is first asked. */
struct pid_modules {
	uint32_t pid;
	uint32_t first; /* in members */
	uint32_t count;
	bool is_built;
	struct profile_address_map map;
};

struct profile_module_maps {
	uint32_t *members;        /* modules by pid */
	struct pid_modules *pids; /* sorted */
	uint32_t pid_count;
	uint32_t memo;
	struct pid_modules global;
	bool is_out_of_memory;
};

bool profile_module_fits(const struct profile_reader *reader, uint32_t module, uint32_t pid,
			 uint64_t ip, uint64_t tsc)
{
	const struct profile_module_info *info = &reader->modules[module];

	return (info->pid == pid || info->is_global) && ip >= info->start &&
	       ip - info->start < info->length && tsc >= info->load_tsc &&
	       (tsc < info->unload_tsc || info->unload_tsc == UINT64_MAX);
}

static int compare_pids(const void *left, const void *right, void *user)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct profile_module_info *modules = user;

	if (modules[a].pid != modules[b].pid)
		return modules[a].pid < modules[b].pid ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Splits the modules into the global ones, at the end of members, and those of each pid. */
static bool group_by_pid(struct profile_reader *reader, struct profile_module_maps *maps)
{
	uint32_t count = 0, at = reader->module_count;

	maps->members =
		reallocarray(NULL, (size_t)reader->module_count + 1, sizeof(*maps->members));
	if (!maps->members)
		return false;
	for (uint32_t i = 0; i < reader->module_count; i++) {
		if (reader->modules[i].is_global)
			maps->members[--at] = i;
		else
			maps->members[count++] = i;
	}
	maps->global = (struct pid_modules){.first = at, .count = reader->module_count - at};
	qsort_r(maps->members, count, sizeof(*maps->members), compare_pids, reader->modules);
	for (uint32_t i = 0; i < count; i++)
		maps->pid_count += i == 0 || reader->modules[maps->members[i]].pid !=
						     reader->modules[maps->members[i - 1]].pid;
	maps->pids = calloc((size_t)maps->pid_count + 1, sizeof(*maps->pids));
	if (!maps->pids)
		return false;
	struct pid_modules *pid = maps->pids;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = reader->modules[maps->members[i]].pid;
		if (pid->count > 0 && pid->pid != id)
			pid++;
		if (pid->count++ == 0) {
			pid->pid = id;
			pid->first = i;
		}
	}
	return true;
}

void profile_reader_free_module_maps(struct profile_reader *reader)
{
	struct profile_module_maps *maps = reader->module_maps;

	for (uint32_t i = 0; maps && maps->pids && i < maps->pid_count; i++)
		profile_address_map_finish(&maps->pids[i].map);
	if (maps) {
		profile_address_map_finish(&maps->global.map);
		free(maps->members);
		free(maps->pids);
	}
	free(maps);
	reader->module_maps = NULL;
}

TBRW_U32 profile_reader_map_modules(struct profile_reader *reader)
{
	if (reader->module_maps)
		return VT_SUCCESS;
	reader->module_maps = calloc(1, sizeof(*reader->module_maps));
	if (reader->module_maps && group_by_pid(reader, reader->module_maps))
		return VT_SUCCESS;
	profile_reader_free_module_maps(reader);
	return VT_NO_MEMORY;
}

/* A module does not outlive the process that loaded it, whether or not anybody saw it go. */
static uint64_t module_end(struct profile_reader *reader, uint32_t module)
{
	const struct profile_module_info *info = &reader->modules[module];

	if (reader->modules[module].is_global)
		return info->unload_tsc;
	const struct profile_life *life =
		profile_lives_at(&reader->process_lives, info->pid, info->load_tsc);
	if (life && !life->is_gap && life->end < info->unload_tsc)
		return life->end;
	return info->unload_tsc;
}

/* Builds the map of one pid. Without memory it stays empty, and the maps say so. */
static void build_map(struct profile_reader *reader, struct pid_modules *pid)
{
	const uint32_t *members = reader->module_maps->members + pid->first;
	struct profile_address_range *ranges = reallocarray(NULL, pid->count, sizeof(*ranges));

	pid->is_built = true;
	for (uint32_t i = 0; ranges && i < pid->count; i++) {
		const struct profile_module_info *info = &reader->modules[members[i]];
		ranges[i] = (struct profile_address_range){
			.start = info->start,
			.end = info->start + info->length,
			.load_tsc = info->load_tsc,
			.unload_tsc = module_end(reader, members[i]),
			.module = members[i],
		};
	}
	if (!ranges || !profile_address_map_init(&pid->map, ranges, pid->count)) {
		profile_address_map_finish(&pid->map);
		reader->module_maps->is_out_of_memory = true;
	}
}

static uint32_t find_in(struct profile_reader *reader, struct pid_modules *pid, uint64_t ip,
			uint64_t tsc)
{
	if (pid->count == 0)
		return PROFILE_NONE;
	if (!pid->is_built)
		build_map(reader, pid);
	return profile_address_map_find(&pid->map, ip, tsc);
}

static struct pid_modules *find_pid(struct profile_module_maps *maps, uint32_t pid)
{
	if (maps->memo < maps->pid_count && maps->pids[maps->memo].pid == pid)
		return &maps->pids[maps->memo];
	uint32_t low = 0, high = maps->pid_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (maps->pids[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps->pid_count || maps->pids[low].pid != pid)
		return NULL;
	maps->memo = low;
	return &maps->pids[low];
}

TBRW_U32 profile_reader_find_module(struct profile_reader *reader, uint32_t pid, uint64_t ip,
				    uint64_t tsc, uint32_t *module)
{
	struct profile_module_maps *maps = reader->module_maps;
	struct pid_modules *own = find_pid(maps, pid);

	*module = own ? find_in(reader, own, ip, tsc) : PROFILE_NONE;
	if (*module == PROFILE_NONE)
		*module = find_in(reader, &maps->global, ip, tsc);
	return maps->is_out_of_memory ? VT_NO_MEMORY : VT_SUCCESS;
}
