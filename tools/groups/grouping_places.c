/* The rows of a call path: by function, by what functions belong to, or by line. */
#include "tools/groups/grouping.h"
#include "tools/memory/xalloc.h"
#include "tools/text/path.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool has_sites(const struct grouping *grouping)
{
	return grouping->rows == REPORT_GROUP_SOURCE_LINE ||
	       grouping->rows == REPORT_GROUP_CALL_SITE;
}

bool grouping_is_of_code(const struct grouping *grouping)
{
	return has_sites(grouping) || grouping->rows == REPORT_GROUP_FUNCTION ||
	       grouping->rows == REPORT_GROUP_MODULE || grouping->rows == GROUPING_PATHS ||
	       grouping->rows == REPORT_GROUP_SOURCE_FILE;
}

const struct grouping_site *grouping_site_of(const struct grouping *grouping,
					     const struct group *group)
{
	return has_sites(grouping) && group->id != GROUPING_NO_OWNER ? &grouping->sites[group->id]
								     : NULL;
}

static uint32_t enter_function(struct grouping *grouping, uint32_t index)
{
	const struct report_input *input = grouping->input;
	const struct function *function = functions_at(input->functions, index);
	const struct dso *dso = functions_dso(input->functions, function->dso);
	const char *file = path_base_name(function->file);
	switch (grouping->rows) {
	case REPORT_GROUP_FUNCTION:
		return groups_find(&grouping->groups, function->name, input->rank[index], index);
	case REPORT_GROUP_MODULE:
		return groups_find(&grouping->groups, dso->name, 0, index);
	case GROUPING_PATHS:
		return groups_find(&grouping->groups, dso->name, function->dso, function->dso);
	default:
		if (index == FUNCTION_KERNEL)
			file = PROFILE_GAP_KERNEL_NAME;
		return groups_find(&grouping->groups, file[0] ? file : "[Unknown]", 0, index);
	}
}

/* The group of all places of a function. */
static uint32_t find_by_function(struct grouping *grouping, uint32_t index)
{
	if (!grouping->group_of_function)
		grouping->group_of_function =
			xalloc_zeroed(functions_count(grouping->input->functions),
				      sizeof(*grouping->group_of_function));
	uint32_t *group = &grouping->group_of_function[index];
	if (*group == 0)
		*group = enter_function(grouping, index) + 1;
	return *group - 1;
}

static bool is_site(const void *item, const void *wanted)
{
	const struct grouping_site *site = item, *other = wanted;
	return site->line == other->line && site->dso == other->dso &&
	       site->caller == other->caller && site->function == other->function &&
	       strcmp(site->file, other->file) == 0;
}

static uint32_t enter_site(struct grouping *grouping, const struct grouping_site *site)
{
	struct index_map *map = &grouping->site_map;
	const uint64_t identity[] = {index_map_hash_text(map, site->file), site->line, site->dso,
				     site->caller, site->function};
	return index_map_enter(map, &grouping->sites, site, sizeof(*site),
			       index_map_hash(map, identity, sizeof(identity)), is_site);
}

/* Functions for missing knowledge have no lines, and are told apart. */
static struct grouping_site describe_line(const struct functions *functions, uint32_t index,
					  uint32_t line)
{
	const struct function *function = functions_at(functions, index);
	return (struct grouping_site){.file = function->file,
				      .line = line,
				      .dso = line == 0 ? function->dso : 0,
				      .function = index <= FUNCTION_KERNEL ? index : 0};
}

static struct grouping_site describe_call(const struct functions *functions,
					  const struct call_path *path, size_t at)
{
	struct grouping_site site = {.file = "",
				     .caller = PROFILE_NONE,
				     .function = path->functions[at]};
	if (at == 0)
		return site;
	site.caller = path->functions[at - 1];
	site.file = functions_at(functions, site.caller)->file;
	site.line = path->lines[at - 1];
	return site;
}

static uint32_t find_by_site(struct grouping *grouping, const struct call_path *path, size_t at)
{
	const struct functions *functions = grouping->input->functions;
	uint32_t function = path->functions[at];
	struct grouping_site site = grouping->rows == REPORT_GROUP_CALL_SITE
					    ? describe_call(functions, path, at)
					    : describe_line(functions, function, path->lines[at]);
	return groups_find(&grouping->groups, path_base_name(site.file),
			   enter_site(grouping, &site), function);
}

struct group *grouping_add_path(struct grouping *grouping, struct weighted_stacks *at)
{
	const struct call_path *path = &at->call_path;
	bool with_sites = has_sites(grouping);
	uint32_t group = 0;
	if (with_sites)
		call_path_find_lines(&at->call_path, grouping->input->functions);
	for (size_t i = grouping->with_totals ? 0 : path->count - 1; i < path->count; i++) {
		group = with_sites ? find_by_site(grouping, path, i)
				   : find_by_function(grouping, path->functions[i]);
		groups_add_total(&grouping->groups, group, at->entry->sum.cpu_ns, at->next);
	}
	return groups_add_at(&grouping->groups, group, &at->entry->sum);
}

static char *label_site(const struct functions *functions, const struct grouping_site *site)
{
	const char *file = path_base_name(site->file);
	if (site->line > 0)
		return xalloc_printf("%s:%" PRIu32, file, site->line);
	if (site->caller == PROFILE_NONE)
		return xalloc_text("[No caller]");
	if (site->caller == 0 && site->function > 0)
		return xalloc_text(functions_at(functions, site->function)->name);
	return xalloc_text(file[0] ? file : "[Unknown]");
}

void grouping_label_sites(struct grouping *grouping)
{
	struct groups *groups = &grouping->groups;
	if (!has_sites(grouping))
		return;
	grouping->labels = xalloc_zeroed(groups->count, sizeof(*grouping->labels));
	for (size_t i = 0; i < groups->count; i++) {
		const struct grouping_site *site = grouping_site_of(grouping, &groups->groups[i]);
		if (!site)
			continue;
		grouping->labels[i] = label_site(grouping->input->functions, site);
		groups->groups[i].label = grouping->labels[i];
	}
}
