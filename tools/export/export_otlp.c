/* OpenTelemetry profiles of the samples: a resource for each process. */
#include "containers/compare.h"
#include "tools/collection/overview.h"
#include "tools/export/export.h"
#include "tools/export/profile_parts.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/otlp/otlp.h"
#include "tools/samples/tally.h"
#include "tools/text/path.h"
#include <stdlib.h>
#include <string.h>

#define RESOURCE_ATTRIBUTES_MAX 9u

/* What a stack is made of: equal ones are one in the file. */
struct stack_key {
	uint32_t node;
	uint32_t label;
	uint32_t state; /* enum profile_stack_state; complete too where a stack shows no difference
			 */
};

struct process_sample {
	uint32_t process; /* index, PROFILE_NONE: no record */
	uint32_t pid;
	struct otlp_sample sample;
};

/* The samples of a process, one behind the other. */
struct group {
	size_t first;
	size_t count;
	uint64_t cpu_ns;
};

struct exporting {
	const struct weighted_stacks *stacks;
	const struct overview *overview;
	struct otlp *otlp;
	struct profile_parts *parts;
	struct stack_key *keys; /* in the order of the stacks in the file */
	struct index_map key_map;
	uint32_t *stack_indices; /* of the keys, in the file */
	size_t stack_index_capacity;
	struct process_sample *samples;
	size_t count;
	size_t capacity;
	struct otlp_sample *run; /* scratch: of a process */
	size_t run_capacity;
	const char **comments;
	size_t comment_count;
	size_t comment_capacity;
	const char **command_lines; /* by process */
	enum export_weight weight;
};

static uint64_t add_mapping(void *user, const struct pprof_mapping *mapping)
{
	return otlp_add_mapping(user, mapping);
}

static uint64_t add_location(void *user, uint64_t mapping, uint64_t address,
			     const struct pprof_line *lines, size_t count)
{
	return otlp_add_location(user, (uint32_t)mapping, address, lines, count);
}

static bool is_key(const void *item, const void *wanted)
{
	return memcmp(item, wanted, sizeof(struct stack_key)) == 0;
}

/* The index of the present stack, which is written at its first use. */
static uint32_t enter_stack(struct exporting *exporting, const struct weighted_stacks *stacks)
{
	struct index_map *map = &exporting->key_map;
	uint32_t state = stacks->entry->state;
	const struct stack_key key = {stacks->entry->node, stacks->entry->label,
				      state == PROFILE_STACK_NONE ? PROFILE_STACK_COMPLETE : state};
	uint32_t before = index_map_count(map);
	uint32_t index = index_map_enter(map, &exporting->keys, &key, sizeof(key),
					 index_map_hash(map, &key, sizeof(key)), is_key);
	if (index < before)
		return exporting->stack_indices[index];
	size_t count;
	const uint64_t *locations =
		profile_parts_stack(exporting->parts, &stacks->call_path, &count);
	xalloc_room(&exporting->stack_indices, &exporting->stack_index_capacity, index + (size_t)1,
		    sizeof(*exporting->stack_indices));
	exporting->stack_indices[index] = otlp_add_stack(exporting->otlp, locations, count);
	return exporting->stack_indices[index];
}

static void set_attribute(struct exporting *exporting, uint32_t *attribute, const char *key,
			  const char *text, uint64_t number)
{
	const struct otlp_attribute wanted = {key, text, number};
	if ((text && text[0]) || number > 0)
		*attribute = otlp_enter_attribute(exporting->otlp, &wanted);
}

static struct process_sample *add_sample(struct exporting *exporting, uint32_t process,
					 const struct stack_owner *owner, uint32_t stack,
					 const struct draws_part *sum,
					 const struct tally_times *times)
{
	xalloc_room(&exporting->samples, &exporting->capacity, exporting->count + 1,
		    sizeof(*exporting->samples));
	struct process_sample *added = &exporting->samples[exporting->count++];
	*added = (struct process_sample){.process = process, .pid = owner->pid};
	added->sample.stack = stack;
	added->sample.is_wait = times->waits > 0 || times->wait_ns > 0;
	added->sample.count = added->sample.is_wait ? times->waits : sum->samples;
	added->sample.cpu_ns = sum->cpu_ns;
	added->sample.wall_ns = times->wall_ns;
	uint32_t *attributes = added->sample.attributes;
	set_attribute(exporting, &attributes[0], "thread.id", NULL, owner->tid);
	if (owner->tid > 0)
		set_attribute(exporting, &attributes[1], "thread.name", owner->thread, 0);
	return added;
}

static void add_stacks(struct exporting *exporting, struct weighted_stacks *stacks)
{
	while (weighted_stacks_next(stacks)) {
		const struct tally_entry *entry = stacks->entry;
		const struct stack_owner owner = weighted_stacks_owner(stacks);
		struct process_sample *added =
			add_sample(exporting, entry->process, &owner,
				   enter_stack(exporting, stacks), &entry->sum,
				   weighted_stacks_times(stacks));
		uint32_t *attributes = added->sample.attributes;
		set_attribute(exporting, &attributes[2], "tbcollect.stack",
			      profile_parts_state(entry), 0);
		set_attribute(exporting, &attributes[3], "tbcollect.stack_reason",
			      profile_parts_reason(entry), 0);
	}
}

/* CPU time in no sample, by thread, and of no known thread. */
static void add_rest(struct exporting *exporting, const struct weighted_stacks *stacks)
{
	uint64_t threadless_ns = weighted_stacks_threadless_ns(stacks);
	const struct tally_times times = {0};
	uint32_t stack = 0;
	for (uint32_t i = 0; i < profile_reader_thread_count(stacks->reader); i++) {
		const struct draws_part sum = {.cpu_ns = stacks->tally->thread_rest_ns[i]};
		if (sum.cpu_ns == 0)
			continue;
		if (stack == 0) {
			uint64_t location = profile_parts_no_sample(exporting->parts);
			stack = otlp_add_stack(exporting->otlp, &location, 1);
		}
		const struct stack_owner owner = weighted_stacks_owner_of_thread(stacks, i);
		add_sample(exporting, profile_reader_thread(stacks->reader, i)->process, &owner,
			   stack, &sum, &times);
	}
	if (threadless_ns > 0) {
		uint64_t location = profile_parts_no_thread(exporting->parts);
		const struct draws_part sum = {.cpu_ns = threadless_ns};
		stack = otlp_add_stack(exporting->otlp, &location, 1);
		add_sample(exporting, PROFILE_NONE, &(struct stack_owner){0}, stack, &sum, &times);
	}
}

static int compare_owners(const struct process_sample *left, const struct process_sample *right)
{
	int order = compare_numbers(left->process, right->process);
	return order ? order : compare_numbers(left->pid, right->pid);
}

static int compare_identities(const struct process_sample *left, const struct process_sample *right)
{
	int order = compare_owners(left, right);
	if (order == 0)
		order = compare_numbers(left->sample.stack, right->sample.stack);
	if (order == 0)
		order = compare_numbers(left->sample.is_wait, right->sample.is_wait);
	for (size_t i = 0; i < OTLP_SAMPLE_ATTRIBUTES && order == 0; i++)
		order = compare_numbers(left->sample.attributes[i], right->sample.attributes[i]);
	return order;
}

static int compare_samples(const void *a, const void *b)
{
	return compare_identities(a, b);
}

/* Samples of one identity are one. */
static void join_samples(struct exporting *exporting)
{
	struct process_sample *samples = exporting->samples;
	size_t kept = 0;
	if (exporting->count > 1)
		qsort(samples, exporting->count, sizeof(*samples), compare_samples);
	for (size_t i = 0; i < exporting->count; i++) {
		if (kept > 0 && compare_identities(&samples[kept - 1], &samples[i]) == 0) {
			samples[kept - 1].sample.count += samples[i].sample.count;
			samples[kept - 1].sample.cpu_ns += samples[i].sample.cpu_ns;
			samples[kept - 1].sample.wall_ns += samples[i].sample.wall_ns;
		} else {
			samples[kept++] = samples[i];
		}
	}
	exporting->count = kept;
}

static int compare_groups(const void *a, const void *b)
{
	const struct group *left = a;
	const struct group *right = b;
	int order = compare_numbers(right->cpu_ns, left->cpu_ns);
	return order ? order : compare_numbers(left->first, right->first);
}

/* The processes by CPU time: readers show the first resource first. */
static struct group *group_samples(struct exporting *exporting, size_t *count)
{
	struct group *groups = NULL;
	size_t capacity = 0;
	join_samples(exporting);
	*count = 0;
	for (size_t i = 0; i < exporting->count; i++) {
		const struct process_sample *sample = &exporting->samples[i];
		if (i == 0 || compare_owners(sample - 1, sample) != 0) {
			xalloc_room(&groups, &capacity, *count + 1, sizeof(*groups));
			groups[(*count)++] = (struct group){.first = i};
		}
		groups[*count - 1].count++;
		groups[*count - 1].cpu_ns += sample->sample.cpu_ns;
	}
	if (*count > 1)
		qsort(groups, *count, sizeof(*groups), compare_groups);
	return groups;
}

struct attributes {
	struct otlp_attribute at[RESOURCE_ATTRIBUTES_MAX];
	size_t count;
};

static void describe(struct attributes *attributes, const char *key, const char *text,
		     uint64_t number)
{
	if ((text && text[0]) || number > 0)
		attributes->at[attributes->count++] = (struct otlp_attribute){key, text, number};
}

static void describe_host(struct attributes *attributes, const struct profile_host_info *host)
{
	describe(attributes, "host.name", host->name, 0);
	describe(attributes, "host.cpu.model.name", host->cpu, 0);
	describe(attributes, "os.type", "linux", 0);
	describe(attributes, "os.description", host->os, 0);
}

static void describe_process(const struct exporting *exporting, struct attributes *attributes,
			     const struct process_sample *sample)
{
	describe(attributes, "process.pid", NULL, sample->pid);
	if (sample->process == PROFILE_NONE)
		return;
	const struct profile_process_info *process =
		profile_reader_process(exporting->stacks->reader, sample->process);
	describe(attributes, "process.executable.name", path_base_name(process->path), 0);
	describe(attributes, "process.executable.path", process->path, 0);
	describe(attributes, "process.title", process->name, 0);
	describe(attributes, "process.command_line", exporting->command_lines[sample->process], 0);
}

static void write_group(struct exporting *exporting, const struct otlp_run *run,
			const struct group *group)
{
	struct attributes attributes = {.count = 0};
	describe_host(&attributes, &exporting->overview->host);
	if (group->count > 0)
		describe_process(exporting, &attributes, &exporting->samples[group->first]);
	xalloc_room(&exporting->run, &exporting->run_capacity, group->count,
		    sizeof(*exporting->run));
	for (size_t i = 0; i < group->count; i++)
		exporting->run[i] = exporting->samples[group->first + i].sample;
	const struct otlp_resource resource = {attributes.at, attributes.count, exporting->run,
					       group->count};
	otlp_add_resource(exporting->otlp, run, &resource);
}

static void keep_comment(const char *line, void *user)
{
	struct exporting *exporting = user;
	/* Of pointers. NOLINTNEXTLINE(bugprone-sizeof-expression) */
	size_t size = sizeof(*exporting->comments);
	xalloc_room(&exporting->comments, &exporting->comment_capacity,
		    exporting->comment_count + 1, size);
	exporting->comments[exporting->comment_count++] = xalloc_text(line);
}

/* A result without samples has a resource too, which tells of the run. */
static void write_resources(struct exporting *exporting)
{
	size_t count;
	struct group *groups = group_samples(exporting, &count);
	profile_parts_remark(exporting->stacks, exporting->overview, keep_comment, exporting);
	const struct otlp_run run = {
		.time = profile_parts_run(exporting->stacks, exporting->weight,
					  exporting->overview),
		.scope = "tbcollect",
		.scope_version = TBCOLLECT_VERSION,
		.comments = exporting->comments,
		.comment_count = exporting->comment_count,
	};
	for (size_t i = 0; i < count; i++)
		write_group(exporting, &run, &groups[i]);
	if (count == 0)
		write_group(exporting, &run, &(struct group){0});
	free(groups);
}

static void finish(struct exporting *exporting)
{
	profile_parts_destroy(exporting->parts);
	otlp_finish(exporting->otlp);
	index_map_finish(&exporting->key_map);
	for (size_t i = 0; i < exporting->comment_count; i++)
		free((char *)(uintptr_t)exporting->comments[i]);
	free(exporting->comments);
	free(exporting->keys);
	free(exporting->stack_indices);
	free(exporting->samples);
	free(exporting->run);
	free(exporting->command_lines);
}

TBRW_U32 export_otlp_write(struct weighted_stacks *stacks, const struct export_options *options,
			   FILE *stream)
{
	static const struct profile_format format = {add_mapping, add_location};
	struct overview overview; /* threads are attributes */
	overview_collect(stacks->reader, stacks->tally, "", &overview);
	struct otlp *otlp = otlp_create(stream);
	struct exporting exporting = {
		.stacks = stacks,
		.overview = &overview,
		.otlp = otlp,
		.parts = profile_parts_create(stacks, &overview, &format, otlp),
		.weight = options->weight,
		.command_lines = tally_command_lines(stacks->reader),
	};
	add_stacks(&exporting, stacks);
	add_rest(&exporting, stacks);
	write_resources(&exporting);
	finish(&exporting);
	return VT_SUCCESS;
}
