#include "tools/report/groups.h"

#include "tools/cli/xalloc.h"
#include <stdlib.h>
#include <string.h>

static bool is_group(const void *item, const void *wanted)
{
	const struct group *group = item;
	const struct group *other = wanted;
	return group->id == other->id && strcmp(group->label, other->label) == 0;
}

void groups_add(struct groups *groups, const char *label, uint64_t id, uint32_t index,
		const struct draws_part *part)
{
	const struct group wanted = {.label = label, .id = id, .index = index};
	const uint64_t identity[] = {id, index_map_hash_text(&groups->map, label)};
	uint32_t at =
		index_map_enter(&groups->map, &groups->groups, &wanted, sizeof(wanted),
				index_map_hash(&groups->map, identity, sizeof(identity)), is_group);
	groups->count = index_map_count(&groups->map);
	draws_add_part(&groups->groups[at].sum, part);
	groups->groups[at].added++;
}

static int compare(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;
	if (left->sum.cpu_ns != right->sum.cpu_ns)
		return left->sum.cpu_ns < right->sum.cpu_ns ? 1 : -1;
	if (left->sum.samples != right->sum.samples)
		return left->sum.samples < right->sum.samples ? 1 : -1;
	int order = strcmp(left->label, right->label);
	return order ? order : (left->id > right->id) - (left->id < right->id);
}

/* The map's indices are no longer those of the groups; nothing can be added after this. */
void groups_sort(struct groups *groups)
{
	if (groups->count > 1)
		qsort(groups->groups, groups->count, sizeof(*groups->groups), compare);
}

void groups_finish(struct groups *groups)
{
	free(groups->groups);
	index_map_finish(&groups->map);
	memset(groups, 0, sizeof(*groups));
}
