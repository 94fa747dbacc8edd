#include "tools/groups/groups.h"

#include "containers/compare.h"
#include "containers/scale.h"
#include "tools/states/concurrency.h"
#include <stdlib.h>
#include <string.h>

_Static_assert(GROUPS_CLASS_COUNT == CONCURRENCY_CLASS_COUNT, "all of them");

static bool is_group(const void *item, const void *wanted)
{
	const struct group *group = item;
	const struct group *other = wanted;
	return group->id == other->id && strcmp(group->label, other->label) == 0;
}

uint32_t groups_find(struct groups *groups, const char *label, uint64_t id, uint32_t index)
{
	const struct group wanted = {.label = label, .id = id, .index = index};
	const uint64_t identity[] = {id, index_map_hash_text(&groups->map, label)};
	uint32_t at =
		index_map_enter(&groups->map, &groups->groups, &wanted, sizeof(wanted),
				index_map_hash(&groups->map, identity, sizeof(identity)), is_group);
	groups->count = index_map_count(&groups->map);
	return at;
}

struct group *groups_add(struct groups *groups, const char *label, uint64_t id, uint32_t index,
			 const struct draws_part *part)
{
	return groups_add_at(groups, groups_find(groups, label, id, index), part);
}

struct group *groups_add_at(struct groups *groups, uint32_t at, const struct draws_part *part)
{
	struct group *group = &groups->groups[at];
	draws_add_part(&group->sum, part);
	group->added++;
	return group;
}

void groups_add_total(struct groups *groups, uint32_t at, uint64_t cpu_ns, size_t number)
{
	struct group *group = &groups->groups[at];
	if (group->seen == number)
		return;
	group->seen = number;
	group->total_ns += cpu_ns;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;
	int order = compare_numbers(right->sum.cpu_ns, left->sum.cpu_ns);
	if (!order)
		order = compare_numbers(right->sum.samples, left->sum.samples);
	if (!order)
		order = compare_numbers(right->total_ns, left->total_ns);
	if (!order)
		order = strcmp(left->label, right->label);
	return order ? order : compare_numbers(left->id, right->id);
}

void groups_sort(struct groups *groups)
{
	if (groups->count > 1)
		qsort(groups->groups, groups->count, sizeof(*groups->groups), compare_groups);
}

void groups_finish(struct groups *groups)
{
	free(groups->groups);
	index_map_finish(&groups->map);
	memset(groups, 0, sizeof(*groups));
}

void groups_sum_by_label(struct groups *groups)
{
	struct groups sums = {0};
	for (size_t i = 0; i < groups->count; i++) {
		struct group *sum = groups_add(&sums, groups->groups[i].label, 0, (uint32_t)i,
					       &groups->groups[i].sum);
		for (size_t use = 0; use <= GROUPS_CLASS_COUNT; use++)
			sum->class_ns[use] += groups->groups[i].class_ns[use];
	}
	for (size_t i = 0; i < sums.count; i++)
		sums.groups[i].id = groups->groups[sums.groups[i].index].id;
	groups_finish(groups);
	*groups = sums;
}

void groups_sum_classes(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		for (size_t use = 0; use < GROUPS_CLASS_COUNT; use++)
			groups->class_ns[use] += groups->groups[i].class_ns[use];
	}
	for (size_t use = 0; use < GROUPS_CLASS_COUNT; use++)
		groups->known_ns += groups->class_ns[use];
}

uint64_t groups_of_class(const struct groups *groups, const struct group *group, size_t use)
{
	uint64_t unknown_ns = group->class_ns[GROUPS_CLASS_COUNT];
	uint64_t before_ns = 0;
	uint64_t rest;
	if (groups->known_ns == 0)
		return 0;
	for (size_t i = 0; i < use; i++)
		before_ns += groups->class_ns[i];
	uint64_t upto_ns = before_ns + groups->class_ns[use];
	return group->class_ns[use] + scale_number(unknown_ns, upto_ns, groups->known_ns, &rest) -
	       scale_number(unknown_ns, before_ns, groups->known_ns, &rest);
}
