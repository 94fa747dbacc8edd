/* A pprof profile of the samples. */
#include "tools/collection/overview.h"
#include "tools/export/export.h"
#include "tools/export/profile_parts.h"
#include "tools/pprof/pprof.h"
#include "tools/samples/tally.h"

struct exporting {
	struct pprof *pprof;
	struct profile_parts *parts;
	struct pprof_label labels[PPROF_LABELS_MAX];
	size_t label_count;
};

static uint64_t add_mapping(void *user, const struct pprof_mapping *mapping)
{
	return pprof_add_mapping(user, mapping);
}

static uint64_t add_location(void *user, uint64_t mapping, uint64_t address,
			     const struct pprof_line *lines, size_t count)
{
	return pprof_add_location(user, mapping, address, lines, count);
}

static void add_label(struct exporting *exporting, const char *key, const char *text,
		      uint64_t number)
{
	if ((text && text[0]) || number > 0)
		exporting->labels[exporting->label_count++] =
			(struct pprof_label){key, text, number};
}

/* Begins the labels of a sample. */
static void label_owner(struct exporting *exporting, const struct stack_owner *owner)
{
	exporting->label_count = 0;
	add_label(exporting, "comm", owner->process, 0);
	add_label(exporting, "pid", NULL, owner->pid);
	add_label(exporting, "thread", owner->thread, 0);
	add_label(exporting, "tid", NULL, owner->tid);
}

static void add_sample(struct exporting *exporting, const uint64_t *locations, size_t count,
		       const struct draws_part *sum, const struct tally_times *times)
{
	const struct pprof_sample sample = {.locations = locations,
					    .count = count,
					    .values = {[PPROF_SAMPLES] = sum->samples,
						       [PPROF_CPU] = sum->cpu_ns,
						       [PPROF_WAITS] = times->waits,
						       [PPROF_WAIT] = times->wait_ns,
						       [PPROF_WALL] = times->wall_ns},
					    .labels = exporting->labels,
					    .label_count = exporting->label_count};
	pprof_add_sample(exporting->pprof, &sample);
}

static void add_rest_sample(struct exporting *exporting, uint64_t location, uint64_t cpu_ns)
{
	const struct draws_part sum = {.cpu_ns = cpu_ns};
	const struct tally_times times = {0};
	add_sample(exporting, &location, 1, &sum, &times);
}

/* Each sample of the profile is a distinct stack of a thread. */
static void add_stacks(struct exporting *exporting, struct weighted_stacks *stacks)
{
	while (weighted_stacks_next(stacks)) {
		struct stack_owner owner = weighted_stacks_owner(stacks);
		size_t count;
		const uint64_t *locations =
			profile_parts_stack(exporting->parts, &stacks->call_path, &count);
		label_owner(exporting, &owner);
		add_label(exporting, "stack", profile_parts_state(stacks->entry), 0);
		add_label(exporting, "stack_reason", profile_parts_reason(stacks->entry), 0);
		add_sample(exporting, locations, count, &stacks->entry->sum,
			   weighted_stacks_times(stacks));
	}
}

/* CPU time in no sample, by thread, and of no known thread. */
static void add_rest(struct exporting *exporting, const struct weighted_stacks *stacks)
{
	uint64_t threadless_ns = weighted_stacks_threadless_ns(stacks);
	for (uint32_t i = 0; i < profile_reader_thread_count(stacks->reader); i++) {
		uint64_t rest_ns = stacks->tally->thread_rest_ns[i];
		if (rest_ns == 0)
			continue;
		struct stack_owner owner = weighted_stacks_owner_of_thread(stacks, i);
		label_owner(exporting, &owner);
		add_rest_sample(exporting, profile_parts_no_sample(exporting->parts), rest_ns);
	}
	if (threadless_ns > 0) {
		exporting->label_count = 0;
		add_rest_sample(exporting, profile_parts_no_thread(exporting->parts),
				threadless_ns);
	}
}

static void add_comment(const char *line, void *user)
{
	pprof_add_comment(user, line);
}

TBRW_U32 export_pprof_write(struct weighted_stacks *stacks, const struct export_options *options,
			    FILE *stream)
{
	static const struct profile_format format = {add_mapping, add_location};
	struct overview overview; /* threads are labels */
	overview_collect(stacks->reader, stacks->tally, "", &overview);
	const struct pprof_run run = profile_parts_run(stacks, options->weight, &overview);
	struct pprof *pprof = pprof_create(stream, &run);
	struct exporting exporting = {
		.pprof = pprof,
		.parts = profile_parts_create(stacks, &overview, &format, pprof),
	};
	add_stacks(&exporting, stacks);
	add_rest(&exporting, stacks);
	profile_parts_remark(stacks, &overview, add_comment, pprof);
	profile_parts_destroy(exporting.parts);
	pprof_finish(pprof);
	return VT_SUCCESS;
}
