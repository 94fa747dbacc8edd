#include "tools/tally.h"
#include "tools/index_map.h"
#include "tools/xalloc.h"
#include <stdlib.h>
#include <string.h>

struct collecting {
	const struct profile_reader *reader;
	const struct filter *filter;
	unsigned by;
	struct tally *tally;
	size_t capacity;
	struct index_map map;
};

/* The part of an entry before its sums. */
#define KEY_SIZE offsetof(struct tally_entry, cpu_ns)

const char *tally_process_name(const struct profile_reader *reader, uint32_t process)
{
	return process == PROFILE_NONE ? "" : profile_reader_process(reader, process)->name;
}

const char *tally_thread_name(const struct profile_reader *reader, uint32_t thread)
{
	return thread == PROFILE_NONE ? "" : profile_reader_thread(reader, thread)->name;
}

static bool is_entry(const void *user, uint32_t index, const void *key)
{
	const struct tally *tally = user;
	return memcmp(&tally->entries[index], key, KEY_SIZE) == 0;
}

static struct tally_entry *find_entry(struct collecting *collecting, const struct tally_entry *key)
{
	struct tally *tally = collecting->tally;
	bool added;
	uint32_t index = index_map_intern(&collecting->map, key, index_map_hash(key, KEY_SIZE),
					  is_entry, tally, (uint32_t)tally->count, &added);
	if (!added)
		return &tally->entries[index];
	if (tally->count == collecting->capacity) {
		collecting->capacity = xalloc_grown(collecting->capacity, tally->count + 1);
		tally->entries = xalloc_resize(tally->entries, collecting->capacity,
					       sizeof(*tally->entries));
	}
	tally->entries[tally->count++] = *key;
	return &tally->entries[index];
}

static void count_stack(struct tally *tally, const struct profile_stack *stack)
{
	tally->samples++;
	tally->cpu_ns += stack->cpu_ns;
	if (stack->state <= PROFILE_STACK_NONE)
		tally->states[stack->state]++;
	if (stack->state == PROFILE_STACK_SKIPPED && stack->reason < PROFILE_SKIP_REASON_COUNT)
		tally->skipped[stack->reason]++;
	if (stack->collapsed > 0)
		tally->collapsed++;
}

void tally_add_guesses(struct tally_guesses *sum, const struct tally_guesses *more)
{
	if (more->stacks == 0)
		return;
	if (sum->stacks == 0 || more->least_hits < sum->least_hits)
		sum->least_hits = more->least_hits;
	sum->stacks += more->stacks;
	sum->verified += more->verified;
	sum->hits += more->hits;
}

static void count_guess(struct tally_entry *entry, const struct profile_stack *stack)
{
	const struct tally_guesses one = {1, stack->verified, stack->guess_hits, stack->guess_hits};
	if (stack->guess_level == PROFILE_GUESS_AGREED)
		tally_add_guesses(&entry->guesses, &one);
}

/* What of a sample's weight was spent in the kernel and is no stack's. */
static uint64_t kernel_part_ns(const struct profile_stack *stack)
{
	if (stack->kernel_us == PROFILE_KERNEL_ALL)
		return stack->cpu_ns;
	return UINT64_C(1000) * stack->kernel_us;
}

static struct tally_entry make_key(const struct collecting *collecting,
				   const struct profile_sample_info *sample)
{
	struct tally_entry key = {.process = PROFILE_NONE, .thread = PROFILE_NONE};
	if (collecting->by & (TALLY_BY_PROCESS | TALLY_BY_THREAD)) {
		key.process = sample->process;
		key.pid = sample->pid;
	}
	if (collecting->by & TALLY_BY_THREAD) {
		key.thread = sample->thread;
		key.tid = sample->tid;
	}
	return key;
}

static void add_kernel_part(struct collecting *collecting, const struct profile_sample_info *sample,
			    uint64_t kernel_ns)
{
	struct tally_entry key = make_key(collecting, sample);
	key.node = TALLY_KERNEL;
	key.state = PROFILE_STACK_NONE;
	struct tally_entry *entry = find_entry(collecting, &key);
	entry->cpu_ns += kernel_ns;
	entry->samples += sample->stack.kernel_us == PROFILE_KERNEL_ALL;
	collecting->tally->kernel_ns += kernel_ns;
}

static void add_user_part(struct collecting *collecting, const struct profile_sample_info *sample,
			  uint64_t cpu_ns)
{
	struct tally_entry key = make_key(collecting, sample);
	key.node = sample->stack.node;
	key.state = sample->stack.state;
	if (collecting->by & TALLY_BY_REASON)
		key.reason = sample->stack.reason;
	struct tally_entry *entry = find_entry(collecting, &key);
	entry->cpu_ns += cpu_ns;
	entry->samples++;
	count_guess(entry, &sample->stack);
}

static bool take_sample(const struct profile_sample_info *sample, void *user)
{
	struct collecting *collecting = user;
	uint64_t kernel_ns = kernel_part_ns(&sample->stack);
	if (!filter_takes_thread(collecting->filter, sample->pid,
				 tally_process_name(collecting->reader, sample->process),
				 sample->tid,
				 tally_thread_name(collecting->reader, sample->thread)))
		return true;
	count_stack(collecting->tally, &sample->stack);
	if (sample->stack.kernel_us != 0)
		add_kernel_part(collecting, sample, kernel_ns);
	if (sample->stack.kernel_us != PROFILE_KERNEL_ALL)
		add_user_part(collecting, sample, sample->stack.cpu_ns - kernel_ns);
	return true;
}

static uint64_t rest_of_threads(const struct profile_reader *reader, const struct filter *filter)
{
	uint64_t rest_ns = 0;
	if (filter_needs_function(filter))
		return 0;
	for (uint32_t i = 0; i < profile_reader_thread_count(reader); i++) {
		const struct profile_thread_info *thread = profile_reader_thread(reader, i);
		if (filter_takes_thread(filter, thread->pid,
					tally_process_name(reader, thread->process), thread->tid,
					thread->name))
			rest_ns += thread->rest_ns;
	}
	return rest_ns;
}

TBRW_U32 tally_collect(struct profile_reader *reader, const struct filter *filter, unsigned by,
		       struct tally *tally)
{
	struct collecting collecting = {reader, filter, by, tally, 0, {0}};
	memset(tally, 0, sizeof(*tally));
	TBRW_U32 code = profile_reader_each_sample(reader, take_sample, &collecting);
	index_map_finish(&collecting.map);
	if (code != VT_SUCCESS) {
		tally_finish(tally);
		return code;
	}
	tally->rest_ns = rest_of_threads(reader, filter);
	return VT_SUCCESS;
}

void tally_finish(struct tally *tally)
{
	free(tally->entries);
	memset(tally, 0, sizeof(*tally));
}
