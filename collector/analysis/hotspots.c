#include "collector/analysis/hotspots.h"

#include "collector/context/stacks.h"
#include "collector/machine/registers.h"
#include "collector/model/tracker_sampled.h"
#include "collector/result/emit.h"
#include "unwind/unwind.h"
#include <stdlib.h>
#include <string.h>

struct hotspots {
	struct analysis_config config;
	struct tracker *tracker;
	struct emit *emit;
	struct stacks *stacks;
	struct stack_pages pages;
	uint32_t kernel_image;                        /* 0: none yet */
	struct profile_frame kernel[STACK_INNER_MAX]; /* of the sample at hand */
};

static void declare_kernel(struct hotspots *hotspots)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_KERNEL};
	struct profile_module all = {.start = 1ull << 63,
				     .length = UINT64_MAX - (1ull << 63),
				     .rva = 1ull << 63,
				     .path = "[vmlinux]",
				     .cs = registers_machine(false)->selector,
				     .unload_ns = PROFILE_TIME_NEVER,
				     .is_first = true};
	hotspots->kernel_image = all.image = emit_image(hotspots->emit, &image, all.path);
	emit_module_load(hotspots->emit, &all);
}

/* Gives a stack the kernel's part. */
static void add_kernel_frames(struct hotspots *hotspots, const struct record_sample *sample,
			      struct stack_origin *source)
{
	size_t count = sample->callchain_length < STACK_INNER_MAX ? sample->callchain_length
								  : STACK_INNER_MAX;
	if (hotspots->kernel_image == 0)
		declare_kernel(hotspots);
	for (size_t i = 0; i < count; i++) {
		uint64_t ip;
		memcpy(&ip, sample->callchain + i * sizeof(ip), sizeof(ip));
		/* Return addresses are looked up inside the call. */
		hotspots->kernel[i] = (struct profile_frame){.image = hotspots->kernel_image,
							     .rva = i == 0 ? ip : ip - 1};
	}
	source->inner = hotspots->kernel;
	source->inner_count = count;
}

static bool shows_kernel(const struct hotspots *hotspots, const struct record_sample *sample)
{
	return sample->in_kernel && hotspots->config.kernel_time == PROFILE_KERNEL_TIME_FRAMES;
}

static uint64_t user_ip(const struct record_sample *sample)
{
	return sample->regs.value[registers_machine(sample->abi == RECORD_REGISTERS_32)->ip];
}

/* Whether a sample shows its thread's place in user code. exec gives the thread another address
 * space, and only later the registers to start with: until then it is still in the call. A stack
 * left out does not count as empty. */
static bool has_user_code(struct process *process, struct uw_space *space,
			  const struct record_sample *sample)
{
	bool is_empty = sample->choice != RECORD_LEFT_OUT && sample->stack.requested > 0 &&
			sample->stack.size == 0;
	uint64_t rva;
	uint32_t tag;
	if (sample->abi == RECORD_REGISTERS_NONE)
		return false;
	if (process->starting && sample->in_kernel &&
	    (is_empty || !space || !uw_space_find(space, user_ip(sample), &tag, &rva)))
		return false;
	process->starting = false;
	return true;
}

/* Chooses the extent of the stack to find; fills in the state of a stack not walked. */
static enum stack_extent choose_extent(const struct hotspots *hotspots,
				       const struct record_sample *sample, bool has_user,
				       struct profile_stack *stack)
{
	bool is_left_out = sample->choice == RECORD_LEFT_OUT;
	bool is_unwound = registers_machine(sample->abi == RECORD_REGISTERS_32)->is_unwound;
	stack->state = PROFILE_STACK_SKIPPED;
	stack->reason = PROFILE_SKIP_NO_REGS;
	/* Without user code a sample has no stack, and the time is the kernel's. */
	if (has_user ? !hotspots->config.unwind : sample->in_kernel) {
		stack->state = PROFILE_STACK_NONE;
		stack->reason = PROFILE_SKIP_NOT_SKIPPED;
	} else if (has_user && sample->chain.count > 0) {
		return STACK_GIVEN;
	} else if (has_user && is_unwound && is_left_out) {
		stack->reason = PROFILE_SKIP_BUDGET;
	} else if (has_user && is_unwound) {
		return STACK_WALKED;
	}
	return has_user ? STACK_LEAF : STACK_NO_USER;
}

static uint16_t cpu_of(const struct record *record)
{
	return (uint16_t)(record->cpu & 0xfff); /* the guide's field has 12 bits */
}

static struct stack_origin source_of(struct uw_space *space, struct thread *thread,
				     uint64_t map_version, const struct record_sample *sample)
{
	return (struct stack_origin){
		.space = space,
		.memory = &thread->stack,
		.map_version = map_version,
		.regs = &sample->regs,
		.ip = user_ip(sample),
		.copy = &sample->stack,
		.outer = sample->outer.size > 0 ? &sample->outer : NULL,
		.has_gaps = sample->stack_absent,
		.chain = {sample->chain.addresses, sample->chain.count, sample->chain.guessed,
			  sample->chain.is_cut, sample->chain.is_whole},
	};
}

/* A thread whose stack can be read. */
struct read_thread {
	struct stack_pages *pages;
	const struct process *process;
	struct stack_mapping *mapping;
};

static size_t read_thread(void *context, uint64_t start, uint8_t *bytes, size_t size)
{
	const struct read_thread *thread = context;
	return stack_pages_copy(thread->pages, thread->process, thread->mapping, start, bytes, size,
				LATE_ABSENT_BYTE);
}

/* Gives a sample its node. */
static void find_stack(struct hotspots *hotspots, const struct record_sample *sample,
		       struct stack_origin *source, enum stack_extent extent,
		       struct profile_stack *stack)
{
	if (shows_kernel(hotspots, sample))
		add_kernel_frames(hotspots, sample, source);
	stacks_node(hotspots->stacks, source, extent, stack);
}

/* Why the kernel's copy of a stack ended at a page, and has its next copies go past it. */
static void explain_hole(struct hotspots *hotspots, const struct process *process,
			 struct thread *thread, const struct record *record,
			 struct profile_stack *stack)
{
	const struct uw_stack *copy = &record->sample.stack;
	if (stack->reason == PROFILE_SKIP_NOT_RESIDENT && copy->size < copy->requested)
		stack->reason =
			(uint8_t)stack_pages_read(&hotspots->pages, process, &thread->stack_mapping,
						  copy, record->time_ns);
}

static void write_sample(struct hotspots *hotspots, struct thread *thread,
			 const struct profile_sample *out)
{
	emit_sample(hotspots->emit, out);
	if (out->event == 0)
		tracker_count_sample(hotspots->tracker, thread);
}

static void weigh(struct tracker *tracker, struct thread *thread, const struct record *record,
		  bool is_kernel, struct profile_stack *stack)
{
	struct tick tick = tracker_count_tick(tracker, thread, record);
	tracker_weigh(tracker, thread, &tick, record->sample.period, is_kernel, stack);
}

/* A sample of an event stands for those since the one before it, and is in no account. */
static void weigh_event(const struct record_sample *sample, bool is_kernel,
			struct profile_stack *stack)
{
	stack->cpu_ns = sample->period;
	stack->kernel_us = is_kernel ? PROFILE_KERNEL_ALL : 0;
}

static void apply_sample(struct hotspots *hotspots, const struct record *record)
{
	struct tracker *tracker = hotspots->tracker;
	const struct record_sample *sample = &record->sample;
	struct process *process = tracker_process(tracker, record->pid);
	struct thread *thread = tracker_thread(tracker, record->pid, record->tid);
	if (!process || !thread) {
		if (record->kind == RECORD_SAMPLE)
			tracker_lose_sample(tracker, record);
		return;
	}
	tracker_prepare(tracker, process, record->time_ns);

	struct uw_space *space = process_space(process, sample->abi == RECORD_REGISTERS_32);
	bool has_user = has_user_code(process, space, sample);
	bool with_kernel = shows_kernel(hotspots, sample);
	struct profile_sample out = {
		.time_ns = record->time_ns,
		.ip = with_kernel || !sample->in_kernel ? sample->ip
		      : has_user                        ? user_ip(sample)
							: 0,
		.flags = sample->processor_flags,
		.pid = thread->pid,
		.tid = thread->tid,
		.cpu = cpu_of(record),
		.cs = with_kernel ? 0x10 : sample->code_segment,
		.is_32bit = sample->abi == RECORD_REGISTERS_32,
		.event = (uint8_t)sample->event,
	};
	bool is_kernel = !has_user && sample->in_kernel && !with_kernel;
	if (record->kind == RECORD_EVENT)
		weigh_event(sample, is_kernel, &out.stack);
	else
		weigh(tracker, thread, record, is_kernel, &out.stack);
	struct stack_origin source = source_of(space, thread, process->map_version, sample);
	struct read_thread reads = {&hotspots->pages, process, &thread->stack_mapping};
	const struct late_reader reader = {&reads, read_thread};
	source.sampled_ns = record->time_ns;
	source.reader = process->context->is_recorded ? NULL : &reader;
	enum stack_extent extent = choose_extent(hotspots, sample, has_user, &out.stack);
	find_stack(hotspots, sample, &source, extent, &out.stack);
	explain_hole(hotspots, process, thread, record, &out.stack);
	write_sample(hotspots, thread, &out);
	tracker_count_copy(tracker, sample->stack.size + sample->outer.size);
}

/* A sample of an ending thread: in the kernel, dated no later than the thread's end in the file. */
static void apply_ending(struct hotspots *hotspots, const struct record *record)
{
	struct tracker *tracker = hotspots->tracker;
	const struct record_sample *sample = &record->sample;
	struct thread *thread = tracker_waiting(tracker, record);
	if (!thread)
		return;
	bool with_kernel = shows_kernel(hotspots, sample);
	struct profile_sample out = {
		.time_ns = record->time_ns < thread->end_ns ? record->time_ns : thread->end_ns,
		.ip = with_kernel ? sample->ip : 0,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = cpu_of(record),
		.cs = with_kernel ? 0x10 : 0,
	};
	struct tick tick = {.user_ns = sample->period};
	tracker_weigh(tracker, thread, &tick, sample->period, !with_kernel, &out.stack);
	struct stack_origin source = source_of(NULL, thread, 0, sample);
	enum stack_extent extent = choose_extent(hotspots, sample, false, &out.stack);
	find_stack(hotspots, sample, &source, extent, &out.stack);
	write_sample(hotspots, thread, &out);
}

/* has_user_code without a look-up of addresses: mappings show the code too. */
static bool tick_has_user_code(struct process *process, const struct record_sample *sample)
{
	if (sample->abi == RECORD_REGISTERS_NONE)
		return false;
	const struct mapping *mapping = mapping_list_find(&process->mappings, user_ip(sample));
	if (process->starting && sample->in_kernel &&
	    (!mapping || mapping->start > user_ip(sample)))
		return false;
	process->starting = false;
	return true;
}

/* A tick that was not drawn. */
static void apply_tick(struct hotspots *hotspots, const struct record *record)
{
	struct tracker *tracker = hotspots->tracker;
	const struct record_sample *sample = &record->sample;
	struct process *process = tracker_process(tracker, record->pid);
	struct thread *thread = tracker_thread(tracker, record->pid, record->tid);
	if (!process || !thread)
		return;
	bool has_user = tick_has_user_code(process, sample);
	struct tick tick = tracker_count_tick(tracker, thread, record);
	tracker_keep_pending(tracker, thread, &tick,
			     !has_user && sample->in_kernel && !shows_kernel(hotspots, sample));
}

/* A deep copy of a thread's stack: only remembered, for later samples. */
static void apply_deep(struct hotspots *hotspots, const struct record *record)
{
	struct tracker *tracker = hotspots->tracker;
	struct process *process = tracker_find_process(tracker, record->pid);
	struct thread *thread = tracker_find_thread(tracker, record->pid, record->tid);
	bool is_32bit = record->sample.abi == RECORD_REGISTERS_32;
	/* The next sample makes unknown processes and threads known. */
	if (record->sample.choice == RECORD_LEFT_OUT || !hotspots->config.unwind || !process ||
	    process->stale || !thread || (process->starting && record->sample.in_kernel) ||
	    record->sample.abi == RECORD_REGISTERS_NONE || !registers_machine(is_32bit)->is_unwound)
		return;
	tracker_prepare(tracker, process, record->time_ns);
	struct uw_space *space = process_space(process, is_32bit);
	if (!space)
		return;
	struct stack_origin source =
		source_of(space, thread, process->map_version, &record->sample);
	stacks_learn(hotspots->stacks, &source);
	tracker_count_copy(tracker, record->sample.stack.size);
}

void hotspots_destroy(struct hotspots *hotspots)
{
	free(hotspots);
}

struct hotspots *hotspots_create(const struct analysis_config *config, struct tracker *tracker,
				 struct stacks *stacks, struct emit *emit)
{
	struct hotspots *hotspots = calloc(1, sizeof(*hotspots));
	if (!hotspots)
		return NULL;
	hotspots->config = *config;
	hotspots->tracker = tracker;
	hotspots->emit = emit;
	hotspots->stacks = stacks;
	return hotspots;
}

void hotspots_apply(struct hotspots *hotspots, const struct record *record)
{
	if (record->kind == RECORD_ENDING)
		apply_ending(hotspots, record);
	if (record->kind == RECORD_EVENT)
		apply_sample(hotspots, record);
	if (record->kind != RECORD_SAMPLE)
		return;
	if (record->sample.choice == RECORD_TICK)
		apply_tick(hotspots, record);
	else if (record->sample.is_deep)
		apply_deep(hotspots, record);
	else
		apply_sample(hotspots, record);
}
