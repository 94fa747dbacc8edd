#include "tools/samples/tally.h"

#include "tools/functions/filter.h"
#include "tools/memory/index_map.h"
#include "tools/memory/xalloc.h"
#include "tools/samples/calibration.h"
#include "tools/states/concurrency.h"
#include <stdlib.h>
#include <string.h>

/* Of struct collecting.recent: with more nodes, some share a place. */
#define RECENT_MOST (UINT32_C(1) << 20)

/* A sample on its way to its entry. */
struct pending {
	struct tally_entry key; /* of its drawn time */
	struct profile_stack stack;
	struct calibration_parts parts;
};

/* Entries of many stacks are in no near cache: a sample waits for its entry while so many others
 * are read. A power of 2. */
#define PENDING_COUNT 16u

struct collecting {
	const struct profile_reader *reader;
	const struct filter *filter;
	unsigned by;
	struct tally *tally;
	struct index_map map; /* of the tally's entries */
	/* Indices of entries found last, plus 1, by node and thread: of a result with few threads
	 * each stack has a place, which takes a tenth of an entry's memory, and so stays in the
	 * caches. 0: none. The number of places is a power of 2. */
	uint32_t *recent;
	uint32_t recent_mask;
	struct pending pending[PENDING_COUNT];
	uint64_t taken;                      /* samples put there */
	struct calibration *calibration;     /* of the tally */
	struct concurrency_moments *moments; /* NULL: not asked for, or no states */
	TBRW_U32 code;                       /* of these */
};

/* The part of an entry before its sums. */
#define KEY_SIZE offsetof(struct tally_entry, sum)
_Static_assert(KEY_SIZE == 5 * sizeof(uint32_t) + 2 * sizeof(uint8_t) + sizeof(uint16_t),
	       "keys are compared as bytes: no padding");

const char *tally_process_name(const struct profile_reader *reader, uint32_t process)
{
	return process == PROFILE_NONE ? "" : profile_reader_process(reader, process)->name;
}

const char *tally_thread_name(const struct profile_reader *reader, uint32_t thread)
{
	return thread == PROFILE_NONE ? "" : profile_reader_thread(reader, thread)->name;
}

uint64_t tally_threadless_ns(const struct profile_reader *reader, const struct filter *filter)
{
	bool is_part = filter->count > 0 || filter_has_times(filter);
	return is_part ? 0 : profile_reader_unattributed_ns(reader);
}

bool tally_takes_thread(const struct profile_reader *reader, const struct filter *filter,
			uint32_t thread)
{
	const struct profile_thread_info *info = profile_reader_thread(reader, thread);
	return filter_takes_thread(filter, info->pid, tally_process_name(reader, info->process),
				   info->tid, info->name);
}

static bool is_entry(const void *item, const void *wanted)
{
	return memcmp(item, wanted, KEY_SIZE) == 0;
}

static uint32_t *recent_of(const struct collecting *collecting, const struct tally_entry *key)
{
	uint32_t place = key->node + key->tid * UINT32_C(2654435761);
	return &collecting->recent[place & collecting->recent_mask];
}

static struct tally_entry *find_entry(struct collecting *collecting, const struct tally_entry *key)
{
	struct tally *tally = collecting->tally;
	uint32_t *recent = recent_of(collecting, key);
	if (*recent > 0 && is_entry(&tally->entries[*recent - 1], key))
		return &tally->entries[*recent - 1];
	uint32_t index = index_map_enter(&collecting->map, &tally->entries, key, sizeof(*key),
					 index_map_hash(&collecting->map, key, KEY_SIZE), is_entry);
	tally->count = index_map_count(&collecting->map);
	*recent = index + 1;
	return &tally->entries[index];
}

static void make_recent(struct collecting *collecting)
{
	uint32_t nodes = profile_reader_node_count(collecting->reader);
	uint32_t count = 64;
	while (count < nodes && count < RECENT_MOST)
		count *= 2;
	collecting->recent = xalloc_zeroed(count, sizeof(*collecting->recent));
	collecting->recent_mask = count - 1;
}

static void count_stack(struct tally *tally, const struct profile_stack *stack)
{
	tally->samples++;
	if (stack->state <= PROFILE_STACK_NONE)
		tally->states[stack->state]++;
	if (stack->guess_level == PROFILE_GUESS_LATE)
		tally->late++;
	if (stack->state == PROFILE_STACK_SKIPPED && stack->reason < PROFILE_SKIP_REASON_COUNT)
		tally->skipped[stack->reason]++;
	if (stack->collapsed > 0)
		tally->collapsed++;
}

void tally_add_guesses(struct tally_guesses *sum, const struct tally_guesses *more)
{
	sum->late += more->late;
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
	const struct tally_guesses one = {
		.stacks = 1,
		.verified = stack->verified,
		.hits = stack->guess_hits,
		.least_hits = stack->guess_hits,
	};
	if (stack->guess_level == PROFILE_GUESS_AGREED)
		tally_add_guesses(&entry->guesses, &one);
	else if (stack->guess_level == PROFILE_GUESS_LATE)
		entry->guesses.late++;
}

static struct tally_entry make_key(const struct collecting *collecting,
				   const struct profile_sample_info *sample)
{
	struct tally_entry key = {.process = PROFILE_NONE,
				  .thread = PROFILE_NONE,
				  .running = TALLY_RUNNING_UNKNOWN};
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

static uint16_t find_running(struct collecting *collecting, uint64_t tsc)
{
	uint32_t running = UINT32_MAX;
	if (collecting->moments)
		running =
			concurrency_moments_running(collecting->moments,
						    profile_reader_raw_ns(collecting->reader, tsc),
						    &collecting->code);
	return running < TALLY_RUNNING_UNKNOWN ? (uint16_t)running : TALLY_RUNNING_UNKNOWN;
}

static bool is_kernel_alone(const struct profile_stack *stack)
{
	return stack->kernel_us == PROFILE_KERNEL_ALL;
}

/* A sample in the kernel without user code to stand for counts as TALLY_KERNEL. */
static void place_key(const struct collecting *collecting, const struct profile_stack *stack,
		      struct tally_entry *key)
{
	bool is_kernel = is_kernel_alone(stack);
	key->node = is_kernel ? TALLY_KERNEL : stack->node;
	key->state = is_kernel ? PROFILE_STACK_NONE : stack->state;
	key->reason = collecting->by & TALLY_BY_REASON && !is_kernel ? stack->reason : 0;
}

static void add_kernel_time(struct collecting *collecting, const struct tally_entry *of,
			    uint64_t kernel_ns)
{
	struct tally_entry key = *of;
	key.node = TALLY_KERNEL;
	key.state = PROFILE_STACK_NONE;
	key.reason = 0;
	find_entry(collecting, &key)->sum.cpu_ns += kernel_ns;
	collecting->tally->kernel_ns += kernel_ns;
	collecting->tally->cpu_ns += kernel_ns;
}

static void add_drawn_time(struct collecting *collecting, const struct pending *pending)
{
	struct tally *tally = collecting->tally;
	uint64_t cpu_ns = pending->parts.drawn_ns;
	bool is_kernel = is_kernel_alone(&pending->stack);
	struct tally_entry *entry = find_entry(collecting, &pending->key);
	entry->sum.cpu_ns += cpu_ns;
	entry->sum.samples++;
	draws_add_sample(&entry->sum.draws, cpu_ns);
	draws_add_sample(&tally->draws, cpu_ns);
	tally->cpu_ns += cpu_ns;
	tally->kernel_ns += is_kernel ? cpu_ns : 0;
	if (!is_kernel)
		count_guess(entry, &pending->stack);
}

static void add_pending(struct collecting *collecting, const struct pending *pending)
{
	count_stack(collecting->tally, &pending->stack);
	add_drawn_time(collecting, pending);
	if (pending->parts.kernel_ns > 0)
		add_kernel_time(collecting, &pending->key, pending->parts.kernel_ns);
}

/* The pending sample's entry is fetched here: of a function that does nothing else, compilers leave
 * the calls out. */
static void put_pending(struct collecting *collecting, const struct pending *added)
{
	struct pending *pending = &collecting->pending[collecting->taken % PENDING_COUNT];
	if (collecting->taken++ >= PENDING_COUNT)
		add_pending(collecting, pending);
	*pending = *added;
	uint32_t recent = *recent_of(collecting, &added->key);
	if (recent == 0)
		return;
	const struct tally_entry *entry = &collecting->tally->entries[recent - 1];
	__builtin_prefetch(entry, 1);
	__builtin_prefetch(&entry->guesses, 1); /* it may begin another line */
}

static void add_left(struct collecting *collecting)
{
	uint64_t end = collecting->taken;
	uint64_t first = end > PENDING_COUNT ? end - PENDING_COUNT : 0;
	for (uint64_t i = first; i < end; i++)
		add_pending(collecting, &collecting->pending[i % PENDING_COUNT]);
	collecting->taken = 0;
}

/* Each sample takes its part of the calibrated time, whether it counts or not. */
static bool is_in_time(const struct collecting *collecting,
		       const struct profile_sample_info *sample)
{
	const struct profile_reader *reader = collecting->reader;
	if (!filter_has_times(collecting->filter))
		return true;
	return task_filter_takes(&collecting->tally->tasks, sample) &&
	       filter_takes_time(collecting->filter,
				 profile_reader_since_start(reader,
							    profile_reader_raw_ns(reader,
										  sample->tsc)));
}

static bool takes_owner(const struct profile_reader *reader, const struct filter *filter,
			const struct profile_sample_info *sample)
{
	return filter_takes_thread(filter, sample->pid, tally_process_name(reader, sample->process),
				   sample->tid, tally_thread_name(reader, sample->thread));
}

static bool take_sample(const struct profile_sample_info *sample, void *user)
{
	struct collecting *collecting = user;
	if (!takes_owner(collecting->reader, collecting->filter, sample))
		return true;
	struct tally_entry key = make_key(collecting, sample);
	struct calibration_parts parts = calibration_take(collecting->calibration, sample);
	if (!is_in_time(collecting, sample))
		return true;
	key.running = find_running(collecting, sample->tsc);
	place_key(collecting, &sample->stack, &key);
	put_pending(collecting, &(struct pending){key, sample->stack, parts});
	return collecting->code == VT_SUCCESS;
}

static void take_rest(struct collecting *collecting, uint32_t index)
{
	const struct profile_thread_info *thread = profile_reader_thread(collecting->reader, index);
	struct tally *tally = collecting->tally;
	if (filter_has_times(collecting->filter) ||
	    !tally_takes_thread(collecting->reader, collecting->filter, index))
		return;
	struct calibration_rest rest =
		calibration_rest(collecting->calibration, collecting->reader, index);
	tally->thread_kernel_ns[index] = rest.kernel_ns;
	if (rest.kernel_ns > 0 && !(collecting->by & TALLY_ONE_BY_ONE)) {
		struct tally_entry key = make_key(collecting, &(struct profile_sample_info){
								      .process = thread->process,
								      .pid = thread->pid,
								      .thread = index,
								      .tid = thread->tid,
							      });
		add_kernel_time(collecting, &key, rest.kernel_ns);
	}
	if (filter_needs_function(collecting->filter))
		return;
	tally->thread_rest_ns[index] = rest.user_ns;
	tally->rest_ns += rest.user_ns;
	tally->estimated_ns += thread->estimated_ns;
}

/* Pools as fine as the rows shown; a choice by names takes whole pools anyway. */
static enum calibration_pools choose_pools(const struct filter *filter, unsigned by)
{
	enum calibration_pools pools = CALIBRATION_BY_PROGRAM;
	if (by & TALLY_POOLED)
		by = 0;
	if (by & TALLY_BY_PROCESS)
		pools = CALIBRATION_BY_PROCESS;
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->conditions[i].key == FILTER_TID ||
		    filter->conditions[i].key == FILTER_TASK)
			by |= TALLY_BY_THREAD;
		if (filter->conditions[i].key == FILTER_PID)
			pools = CALIBRATION_BY_PROCESS;
	}
	return by & (TALLY_BY_THREAD | TALLY_ONE_BY_ONE) ? CALIBRATION_BY_THREAD : pools;
}

static TBRW_U32 take_samples(struct collecting *collecting, struct profile_reader *reader)
{
	/* Numbers of an event are no time that threads ran at once. */
	if ((collecting->by & TALLY_BY_RUNNING) && profile_reader_states(reader) != 0 &&
	    !profile_reader_counted_event(reader))
		collecting->moments = concurrency_moments_create(reader);
	TBRW_U32 code = profile_reader_each_sample(reader, take_sample, collecting);
	add_left(collecting);
	concurrency_moments_destroy(collecting->moments);
	return code == VT_SUCCESS ? collecting->code : code;
}

TBRW_U32 tally_collect(struct profile_reader *reader, const struct filter *filter, unsigned by,
		       struct tally *tally)
{
	struct collecting collecting = {.reader = reader,
					.filter = filter,
					.by = by,
					.tally = tally,
					.code = VT_SUCCESS};
	uint32_t threads = profile_reader_thread_count(reader);
	make_recent(&collecting);
	memset(tally, 0, sizeof(*tally));
	tally->calibration = collecting.calibration = xalloc_zeroed(1, sizeof(*tally->calibration));
	TBRW_U32 code = calibration_init(tally->calibration, reader, choose_pools(filter, by));
	tally->thread_rest_ns = xalloc_zeroed(threads, sizeof(*tally->thread_rest_ns));
	tally->thread_kernel_ns = xalloc_zeroed(threads, sizeof(*tally->thread_kernel_ns));
	if (code == VT_SUCCESS)
		code = task_filter_load(&tally->tasks, reader, filter);
	if (code == VT_SUCCESS && !(by & TALLY_ONE_BY_ONE))
		code = take_samples(&collecting, reader);
	for (uint32_t i = 0; code == VT_SUCCESS && i < threads; i++)
		take_rest(&collecting, i);
	index_map_finish(&collecting.map);
	free(collecting.recent);
	if (code != VT_SUCCESS)
		tally_finish(tally);
	return code;
}

struct visit {
	struct profile_reader *reader;
	const struct filter *filter;
	const struct tally *tally;
	tally_sample_callback *callback;
	void *user;
};

static bool visit_sample(const struct profile_sample_info *info, void *user)
{
	struct visit *visit = user;
	/* Each sample takes its part of the time, whether it meets the filter or not. */
	struct calibration_parts parts = calibration_take(visit->tally->calibration, info);
	uint64_t raw_ns = profile_reader_raw_ns(visit->reader, info->tsc);
	const struct tally_sample sample = {.info = info,
					    .raw_ns = raw_ns,
					    .since_start_ns =
						    profile_reader_since_start(visit->reader,
									       raw_ns),
					    .cpu_ns = parts.drawn_ns,
					    .kernel_ns = parts.kernel_ns};
	bool is_taken = filter_takes_time(visit->filter, sample.since_start_ns) &&
			takes_owner(visit->reader, visit->filter, info) &&
			task_filter_takes(&visit->tally->tasks, info);
	return !is_taken || visit->callback(&sample, visit->user);
}

TBRW_U32 tally_each_sample(const struct tally *tally, struct profile_reader *reader,
			   const struct filter *filter, tally_sample_callback *callback, void *user)
{
	struct visit visit = {reader, filter, tally, callback, user};
	calibration_rewind(tally->calibration);
	return profile_reader_each_sample(reader, visit_sample, &visit);
}

void tally_finish(struct tally *tally)
{
	free(tally->entries);
	free(tally->times);
	free(tally->thread_rest_ns);
	free(tally->thread_kernel_ns);
	if (tally->calibration)
		calibration_finish(tally->calibration);
	free(tally->calibration);
	task_filter_finish(&tally->tasks);
	memset(tally, 0, sizeof(*tally));
}
