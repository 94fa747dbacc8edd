#include "tools/stacks/weighted_stacks.h"

#include "tools/functions/filter.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/tally.h"
#include <assert.h>
#include <stdlib.h>

/* Stacks of one leaf come one behind the other: they have one path. */
static bool is_path_of(const struct tally_entry *entry, const struct tally_entry *before)
{
	return before && before->node == entry->node && before->state == entry->state &&
	       before->label == entry->label;
}

static void make_path(struct weighted_stacks *stacks)
{
	const struct tally_entry *entry = stacks->entry;
	bool is_state = entry->node == TALLY_STATE;
	if (!is_state)
		call_path_of_stack(&stacks->call_path, stacks->reader, stacks->functions,
				   entry->node, entry->state, stacks->mode);
	if (entry->label)
		call_path_add_label(&stacks->call_path, entry->label, is_state);
	stacks->leaf = call_path_leaf(&stacks->call_path);
}

/* Waits and states are chosen where they are added up. */
static bool takes_entry(const struct weighted_stacks *stacks)
{
	return stacks->entry->label ||
	       call_path_is_taken(&stacks->call_path, stacks->functions, stacks->filter);
}

/* Where entries of the node belong; those without one come last. */
static uint32_t place_of(const struct tally_entry *entry, uint32_t nodes)
{
	return entry->node < nodes ? entry->node : nodes;
}

/* The entries by node, for nodes of one stack lie close together; else in their own order. */
static uint32_t *sort_entries(const struct weighted_stacks *stacks)
{
	const struct tally *tally = stacks->tally;
	uint32_t nodes = profile_reader_node_count(stacks->reader);
	uint32_t *order = xalloc_zeroed(tally->count, sizeof(*order));
	uint32_t *ends = xalloc_zeroed((size_t)nodes + 2, sizeof(*ends));
	for (size_t i = 0; i < tally->count; i++)
		ends[place_of(&tally->entries[i], nodes) + 1]++;
	for (uint32_t i = 0; i < nodes; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < tally->count; i++)
		order[ends[place_of(&tally->entries[i], nodes)]++] = (uint32_t)i;
	free(ends);
	return order;
}

bool weighted_stacks_next(struct weighted_stacks *stacks)
{
	bool with_call_path = stacks->with_call_path || filter_needs_function(stacks->filter);
	if (with_call_path && !stacks->order)
		stacks->order = sort_entries(stacks);
	while (stacks->next < stacks->tally->count) {
		size_t next = stacks->next++;
		const struct tally_entry *before = next > 0 ? stacks->entry : NULL;
		stacks->entry =
			&stacks->tally->entries[with_call_path ? stacks->order[next] : next];
		if (!with_call_path)
			return true;
		if (!is_path_of(stacks->entry, before))
			make_path(stacks);
		if (takes_entry(stacks))
			return true;
	}
	weighted_stacks_finish(stacks);
	return false;
}

void weighted_stacks_finish(struct weighted_stacks *stacks)
{
	call_path_finish(&stacks->call_path);
	free(stacks->order);
	stacks->order = NULL;
	free(stacks->threads);
	stacks->threads = NULL;
}

uint64_t weighted_stacks_samples(const struct weighted_stacks *stacks)
{
	assert(stacks->entry); /* of the present stack */
	const struct draws_part *sum = &stacks->entry->sum;
	uint64_t interval_ns = profile_reader_interval_ns(stacks->reader);
	if (stacks->entry->node != TALLY_KERNEL || sum->samples > 0 || interval_ns == 0)
		return sum->samples;
	return (sum->cpu_ns + interval_ns / 2) / interval_ns;
}

const struct tally_times *weighted_stacks_times(const struct weighted_stacks *stacks)
{
	static const struct tally_times none = {0};
	const struct tally *tally = stacks->tally;
	assert(stacks->entry); /* of the present stack */
	return tally->times ? &tally->times[stacks->entry - tally->entries] : &none;
}

static const char *name_or_unknown(const char *name)
{
	return name[0] ? name : "[Unknown]";
}

struct stack_owner weighted_stacks_name_owner(const struct weighted_stacks *stacks,
					      uint32_t process, uint32_t thread, uint32_t pid,
					      uint32_t tid)
{
	return (struct stack_owner){
		name_or_unknown(tally_process_name(stacks->reader, process)),
		name_or_unknown(tally_thread_name(stacks->reader, thread)),
		pid,
		tid,
	};
}

struct stack_owner weighted_stacks_owner(const struct weighted_stacks *stacks)
{
	const struct tally_entry *entry = stacks->entry;
	return weighted_stacks_name_owner(stacks, entry->process, entry->thread, entry->pid,
					  entry->tid);
}

struct stack_owner weighted_stacks_owner_of_thread(const struct weighted_stacks *stacks,
						   uint32_t thread)
{
	const struct profile_thread_info *info = profile_reader_thread(stacks->reader, thread);
	return weighted_stacks_name_owner(stacks, info->process, thread, info->pid, info->tid);
}

uint64_t weighted_stacks_threadless_ns(const struct weighted_stacks *stacks)
{
	return tally_threadless_ns(stacks->reader, stacks->filter);
}

struct weighted_stacks_thread {
	uint64_t gathered_ns; /* in the kernel unseen, of samples */
	struct weighted_stacks_rest rest;
};

struct visit {
	struct weighted_stacks *stacks;
	struct call_path call_path; /* scratch */
	bool needs_function;
	bool takes_kernel;
	uint64_t interval_ns;
	tally_sample_callback *callback;
	void *user;
};

static bool takes_stack(struct visit *visit, uint32_t node, uint32_t state)
{
	const struct weighted_stacks *stacks = visit->stacks;
	if (!visit->needs_function)
		return true;
	call_path_of_stack(&visit->call_path, stacks->reader, stacks->functions, node, state,
			   stacks->mode);
	return call_path_is_taken(&visit->call_path, stacks->functions, stacks->filter);
}

/* What is due of the thread's time in the kernel, with the sample's. */
static uint64_t gather_kernel_time(const struct visit *visit, const struct tally_sample *sample)
{
	uint32_t thread = sample->info->thread;
	if (!visit->takes_kernel)
		return 0;
	if (thread == PROFILE_NONE || sample->kernel_ns == 0)
		return sample->kernel_ns;
	uint64_t *gathered_ns = &visit->stacks->threads[thread].gathered_ns;
	*gathered_ns += sample->kernel_ns;
	uint64_t due_ns = *gathered_ns >= visit->interval_ns ? *gathered_ns : 0;
	*gathered_ns -= due_ns;
	return due_ns;
}

static bool visit_sample(const struct tally_sample *sample, void *user)
{
	struct visit *visit = user;
	const struct profile_stack *stack = &sample->info->stack;
	bool is_kernel = stack->kernel_us == PROFILE_KERNEL_ALL;
	struct tally_sample taken = *sample;
	taken.kernel_ns = gather_kernel_time(visit, sample);
	taken.is_kernel_only =
		is_kernel ? !visit->takes_kernel : !takes_stack(visit, stack->node, stack->state);
	if (taken.is_kernel_only)
		taken.cpu_ns = 0;
	return (taken.is_kernel_only && taken.kernel_ns == 0) ||
	       visit->callback(&taken, visit->user);
}

static void make_threads(struct weighted_stacks *stacks, bool takes_kernel)
{
	const struct tally *tally = stacks->tally;
	uint32_t count = profile_reader_thread_count(stacks->reader);
	free(stacks->threads);
	stacks->threads = xalloc_zeroed(count, sizeof(*stacks->threads));
	for (uint32_t i = 0; i < count; i++)
		stacks->threads[i].rest =
			(struct weighted_stacks_rest){takes_kernel ? tally->thread_kernel_ns[i] : 0,
						      tally->thread_rest_ns[i]};
}

TBRW_U32 weighted_stacks_each_sample(struct weighted_stacks *stacks,
				     bool (*callback)(const struct tally_sample *, void *),
				     void *user)
{
	struct visit visit = {.stacks = stacks,
			      .needs_function = filter_needs_function(stacks->filter),
			      .interval_ns = profile_reader_interval_ns(stacks->reader),
			      .callback = callback,
			      .user = user};
	visit.takes_kernel = takes_stack(&visit, TALLY_KERNEL, PROFILE_STACK_NONE);
	make_threads(stacks, visit.takes_kernel);
	TBRW_U32 code = tally_each_sample(stacks->tally, stacks->reader, stacks->filter,
					  visit_sample, &visit);
	call_path_finish(&visit.call_path);
	return code;
}

struct weighted_stacks_rest weighted_stacks_take_rest(struct weighted_stacks *stacks,
						      uint32_t thread)
{
	assert(stacks->threads); /* from the first sample on */
	struct weighted_stacks_thread own = stacks->threads[thread];
	stacks->threads[thread] = (struct weighted_stacks_thread){0};
	own.rest.kernel_ns += own.gathered_ns;
	return own.rest;
}
