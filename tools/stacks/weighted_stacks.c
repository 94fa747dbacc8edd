#include "tools/stacks/weighted_stacks.h"

#include "tools/functions/filter.h"
#include "tools/samples/tally.h"
#include <assert.h>

bool weighted_stacks_next(struct weighted_stacks *stacks)
{
	bool with_call_path = stacks->with_call_path || filter_needs_function(stacks->filter);
	while (stacks->next < stacks->tally->count) {
		stacks->entry = &stacks->tally->entries[stacks->next++];
		if (!with_call_path)
			return true;
		call_path_of_stack(&stacks->call_path, stacks->reader, stacks->functions,
				   stacks->entry->node, stacks->entry->state, stacks->mode);
		stacks->leaf = call_path_leaf(&stacks->call_path);
		if (filter_takes_function(stacks->filter,
					  functions_at(stacks->functions, stacks->leaf),
					  functions_dso_of(stacks->functions, stacks->leaf)))
			return true;
	}
	weighted_stacks_finish(stacks);
	return false;
}

void weighted_stacks_finish(struct weighted_stacks *stacks)
{
	call_path_finish(&stacks->call_path);
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

static const char *name_or_unknown(const char *name)
{
	return name[0] ? name : "[Unknown]";
}

static struct stack_owner name_owner(const struct weighted_stacks *stacks, uint32_t process,
				     uint32_t thread, uint32_t pid, uint32_t tid)
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
	return name_owner(stacks, entry->process, entry->thread, entry->pid, entry->tid);
}

struct stack_owner weighted_stacks_owner_of_thread(const struct weighted_stacks *stacks,
						   uint32_t thread)
{
	const struct profile_thread_info *info = profile_reader_thread(stacks->reader, thread);
	return name_owner(stacks, info->process, thread, info->pid, info->tid);
}

uint64_t weighted_stacks_threadless_ns(const struct weighted_stacks *stacks)
{
	bool is_part = stacks->filter->count > 0 || filter_has_times(stacks->filter);
	return is_part ? 0 : profile_reader_unattributed_ns(stacks->reader);
}

struct visit {
	const struct weighted_stacks *stacks;
	struct call_path call_path; /* scratch */
	tally_sample_callback *callback;
	void *user;
};

static bool visit_sample(const struct tally_sample *sample, void *user)
{
	struct visit *visit = user;
	const struct weighted_stacks *stacks = visit->stacks;
	const struct profile_stack *stack = &sample->info->stack;
	uint32_t node = stack->kernel_us == PROFILE_KERNEL_ALL ? TALLY_KERNEL : stack->node;
	call_path_of_stack(&visit->call_path, stacks->reader, stacks->functions, node, stack->state,
			   stacks->mode);
	uint32_t leaf = call_path_leaf(&visit->call_path);
	return !filter_takes_function(stacks->filter, functions_at(stacks->functions, leaf),
				      functions_dso_of(stacks->functions, leaf)) ||
	       visit->callback(sample, visit->user);
}

TBRW_U32 weighted_stacks_each_sample(const struct weighted_stacks *stacks,
				     bool (*callback)(const struct tally_sample *, void *),
				     void *user)
{
	struct visit visit = {.stacks = stacks, .callback = callback, .user = user};
	if (!filter_needs_function(stacks->filter))
		return tally_each_sample(stacks->reader, stacks->filter, callback, user);
	TBRW_U32 code = tally_each_sample(stacks->reader, stacks->filter, visit_sample, &visit);
	call_path_finish(&visit.call_path);
	return code;
}
