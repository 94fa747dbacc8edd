#include "tools/report/groups.h"

#include "tools/cli/xalloc.h"
#include <stdlib.h>
#include <string.h>

static bool is_group(const void *user, uint32_t index, const void *key)
{
	const struct groups *groups = user;
	const struct group *wanted = key;
	return groups->groups[index].id == wanted->id &&
	       strcmp(groups->groups[index].label, wanted->label) == 0;
}

void groups_add(struct groups *groups, const char *label, uint64_t id, uint32_t index,
		const struct draws_part *part)
{
	struct group key = {.label = label, .id = id, .index = index};
	uint64_t identity[] = {id, index_map_hash_text(label)};
	bool added;
	uint32_t at =
		index_map_intern(&groups->map, &key, index_map_hash(identity, sizeof(identity)),
				 is_group, groups, (uint32_t)groups->count, &added);
	if (added) {
		if (groups->count == groups->capacity) {
			groups->capacity = xalloc_grown(groups->capacity, groups->count + 1);
			groups->groups = xalloc_resize(groups->groups, groups->capacity,
						       sizeof(*groups->groups));
		}
		groups->groups[groups->count++] = key;
	}
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
