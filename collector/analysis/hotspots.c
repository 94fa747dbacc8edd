#include "collector/analysis/hotspots.h"

#include "collector/context/chain.h"
#include "collector/context/guess.h"
#include "collector/context/table_builder.h"
#include "collector/context/tree.h"
#include "collector/context/walk_counts.h"
#include "collector/machine/registers.h"
#include "collector/model/tracker_account.h"
#include "collector/model/tracker_exact.h"
#include "collector/model/tracker_lives.h"
#include "collector/model/tracker_sampled.h"
#include "unwind/unwind.h"
#include <stdlib.h>
#include <string.h>

/* Markers in the kernel's callchain, enum perf_callchain_context of linux/perf_event.h. */
#define CONTEXT_MAX  ((uint64_t)-4095)
#define CONTEXT_USER ((uint64_t)-512)

enum {
	KERNEL_FRAMES_MAX = 256,
	TESTED_EACH = 64,    /* whole stacks, while no stack was cut */
	TESTED_EACH_CUT = 8, /* of threads of which stacks were cut; at first each of them, */
	TESTED_SOON = 1000,  /* until so many are */
	PROVEN_TESTS = 4,    /* guesses of a thread that were tried before one is shown */
	PROVEN_RIGHT = 100   /* of them, at most one is wrong */
};

static const uint8_t skip_reasons[UW_STOP_COUNT] = {
	[UW_STOP_ROOT] = PROFILE_SKIP_NOT_SKIPPED,
	[UW_STOP_TRUNCATED] = PROFILE_SKIP_TRUNCATED,
	[UW_STOP_NOT_RESIDENT] = PROFILE_SKIP_NOT_RESIDENT,
	[UW_STOP_NO_INFO] = PROFILE_SKIP_NO_INFO,
	[UW_STOP_OTHER_STACK] = PROFILE_SKIP_OTHER_STACK,
	[UW_STOP_SWITCHED] = PROFILE_SKIP_OTHER_STACK,
	[UW_STOP_DEPTH] = PROFILE_SKIP_DEPTH,
	[UW_STOP_BAD_INFO] = PROFILE_SKIP_BAD_INFO,
	[UW_STOP_RED_ZONE] = PROFILE_SKIP_RED_ZONE,
};

/* What guesses are tried on. A later one is closer to the guesses that are made, and replaces what
 * came of an earlier one from the moment when it becomes possible. */
enum guess_trial {
	TRIAL_HALF, /* the outer half of whole stacks */
	TRIAL_CUT,  /* what lay beyond the thread's copies that ended too early, of whole stacks */
	TRIAL_DEEP  /* what lies beyond a sample's copy, of deep copies that are larger: these are
		       as the stacks that samples' copies are too small for */
};

struct hotspots {
	struct hotspots_config config;
	struct tracker *tracker;
	struct emit *emit;
	struct tree *tree;
	struct tables *tables;
	uint32_t kernel_image; /* 0: none yet */
	struct unwinding unwinding;
	size_t copy_size;    /* bytes of stack that the last walked sample asked for */
	uint64_t guess_turn; /* whole stacks that guesses might have been tried on */
	enum guess_trial guess_trial;
	struct uw_frame frames[UW_DEPTH_MAX + GUESS_DEPTH_MAX];
	struct chain *chain; /* for stacks that no thread's next one can build on */
};

/* What is known of a sample's stack. */
struct found {
	struct chain *chain; /* that it goes into */
	size_t count;        /* of hotspots->frames, the user's part */
	size_t kept;         /* of its outermost frames: chain has them already */
	size_t guessed;      /* of its outermost frames: they are not verified */
	size_t kernel;       /* frames of the kernel, further in than the user's */
};

/* A stack to be walked. */
struct subject {
	struct uw_space *space;
	struct thread *thread;
	uint64_t map_version; /* of its process */
	const struct record_sample *sample;
	bool is_deep; /* a deep copy, which is no sample */
};

static void declare_kernel(struct hotspots *hotspots)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_KERNEL};
	struct mapping all = {.start = 1ull << 63, .end = UINT64_MAX};
	all.image = emit_image(hotspots->emit, &image, "[vmlinux]");
	hotspots->kernel_image = all.image;
	emit_module_load(hotspots->emit, 0, &all, "[vmlinux]", true);
}

/* Pushes the kernel's part of a stack. */
static bool push_kernel_frames(struct hotspots *hotspots, const struct record_sample *sample,
			       struct found *found)
{
	struct tree_frame frames[KERNEL_FRAMES_MAX];
	size_t count = 0;
	if (hotspots->kernel_image == 0)
		declare_kernel(hotspots);
	for (uint64_t i = 0; i < sample->callchain_length && count < KERNEL_FRAMES_MAX; i++) {
		uint64_t ip;
		memcpy(&ip, sample->callchain + i * sizeof(ip), sizeof(ip));
		if (ip == CONTEXT_USER)
			break;
		if (ip >= CONTEXT_MAX)
			continue;
		/* Return addresses are looked up inside the call. */
		struct profile_frame frame = {hotspots->kernel_image, 0, count == 0 ? ip : ip - 1};
		frames[count++] = tree_frame(hotspots->tree, &frame, 0);
	}
	found->kernel = count;
	while (count > 0)
		if (!chain_push(found->chain, frames[--count]))
			return false;
	return true;
}

/* Where a walked stack counts. */
static struct unwinding_subject counted_for(const struct hotspots *hotspots,
					    const struct subject *subject, size_t count)
{
	uint32_t tag = count > 0 ? hotspots->frames[0].tag : UW_TAG_NONE;
	return (struct unwinding_subject){.thread = &subject->thread->unwinding,
					  .image = tag == UW_TAG_NONE ? 0 : tag};
}

/* Walks into hotspots->frames. Has tables built that walks came to want. */
static size_t walk_frames(struct hotspots *hotspots, const struct subject *subject,
			  enum uw_stop *stop, size_t *reused)
{
	const struct record_sample *sample = subject->sample;
	struct unwinding_walk measured;
	unwinding_begin(&hotspots->unwinding, &measured, subject->space, subject->is_deep);
	size_t count = uw_walk_reuse(subject->space, subject->thread->history, &sample->regs,
				     &sample->stack, hotspots->frames, UW_DEPTH_MAX, stop, reused);
	struct unwinding_subject counted = counted_for(hotspots, subject, count);
	unwinding_end(&hotspots->unwinding, &measured, subject->space, &counted);
	struct uw_module *wanted = uw_space_wanted_table(subject->space);
	if (wanted != NULL)
		tables_build(hotspots->tables, wanted);
	return count;
}

static void forget_test(struct thread *thread, void *user)
{
	(void)user;
	unwinding_forget_test(&thread->unwinding);
}

/* From here on guesses are tried in this way, unless it is a lesser one than before. */
static void raise_trial(struct hotspots *hotspots, enum guess_trial trial)
{
	if (trial <= hotspots->guess_trial)
		return;
	hotspots->guess_trial = trial;
	hotspots->guess_turn = 0;
	unwinding_forget_tests(&hotspots->unwinding);
	tracker_each_thread(hotspots->tracker, forget_test, NULL);
}

/* Where to cut a whole stack to try a guess on it; 0: it is not this one's turn. */
static uint64_t choose_cut(struct hotspots *hotspots, const struct subject *subject, size_t count)
{
	const struct uw_stack *stack = &subject->sample->stack;
	struct guess *guess = subject->thread->guess;
	bool is_cut = hotspots->guess_trial == TRIAL_CUT;
	bool is_soon = is_cut && hotspots->unwinding.run.guesses_tested < TESTED_SOON;
	if (subject->is_deep && hotspots->copy_size > 0) {
		raise_trial(hotspots, TRIAL_DEEP);
		return stack->base + hotspots->copy_size;
	}
	if (subject->is_deep || hotspots->guess_trial == TRIAL_DEEP ||
	    (is_cut && !guess_has_cut(guess)) ||
	    (++hotspots->guess_turn % (is_cut ? TESTED_EACH_CUT : TESTED_EACH) != 0 && !is_soon))
		return 0;
	return guess_choose_cut(guess, hotspots->frames, count, stack->base);
}

/* A whole stack: what is remembered of the thread learns it. */
static void note_whole(struct hotspots *hotspots, const struct subject *subject,
		       struct found *found, size_t reused)
{
	struct thread *thread = subject->thread;
	struct unwinding_subject counted = counted_for(hotspots, subject, found->count);
	uint64_t cut = choose_cut(hotspots, subject, found->count);
	found->chain = thread->chain;
	found->kept = reused;
	if (cut != 0)
		unwinding_add_test(&hotspots->unwinding,
				   guess_test(thread->guess, subject->map_version, hotspots->frames,
					      found->count, cut),
				   &counted);
	guess_note(thread->guess, subject->map_version, hotspots->frames, found->count, reused);
}

/* Whether guesses of a thread may be shown: they were tried, in the way that is closest to them,
 * and as good as none was wrong. */
static bool is_proven(const struct profile_unwinding *unwinding)
{
	return unwinding->guesses_covered >= PROVEN_TESTS &&
	       unwinding->guesses_wrong * PROVEN_RIGHT <= unwinding->guesses_covered;
}

/* The frames beyond what was copied, where the thread's whole stacks leave no doubt. */
static void guess_rest(struct hotspots *hotspots, const struct subject *subject,
		       struct profile_stack *stack, struct found *found)
{
	const struct uw_stack *copy = &subject->sample->stack;
	struct thread *thread = subject->thread;
	struct uw_frame *last = &hotspots->frames[found->count - 1];
	uint8_t hits = 0;
	size_t guessed = guess_callers(thread->guess, subject->map_version, last,
				       copy->base + copy->size, last + 1, &hits);
	guess_note_cut(thread->guess, copy->base + copy->size);
	raise_trial(hotspots, TRIAL_CUT);
	if (guessed == 0 || !is_proven(&thread->unwinding))
		return;
	stack->state = PROFILE_STACK_GUESSED;
	stack->guess_level = PROFILE_GUESS_AGREED;
	stack->guess_hits = hits;
	found->count += guessed;
	found->guessed = guessed;
}

/* A stack of which the copy ended too early: guessed, and evidence for the guesses to come. */
static void note_cut(struct hotspots *hotspots, const struct subject *subject,
		     struct profile_stack *stack, struct found *found)
{
	if (!subject->is_deep)
		guess_rest(hotspots, subject, stack, found);
	guess_note_part(subject->thread->guess, subject->map_version, hotspots->frames,
			found->count - found->guessed);
}

static void walk(struct hotspots *hotspots, const struct subject *subject,
		 struct profile_stack *stack, struct found *found)
{
	const struct record_sample *sample = subject->sample;
	enum uw_stop stop;
	size_t reused;
	bool remembers =
		thread_remember(subject->thread, hotspots->tree, hotspots->config.collapse);
	found->count = walk_frames(hotspots, subject, &stop, &reused);
	stack->state = stop == UW_STOP_ROOT ? PROFILE_STACK_COMPLETE : PROFILE_STACK_SKIPPED;
	stack->reason = skip_reasons[stop];
	/* In a copy with gaps, a return address that is none, or a frame pointer to nowhere, is
	   taken for a word from a gap. What leads to another stack is not: such a word is no
	   address. */
	if (sample->stack_absent && (stop == UW_STOP_BAD_INFO || stop == UW_STOP_NO_INFO))
		stack->reason = PROFILE_SKIP_NOT_RESIDENT;
	if (remembers && (subject->is_deep || hotspots->guess_trial != TRIAL_DEEP))
		guess_grow_old(subject->thread->guess);
	/* The thread's chain follows its history, which knows of complete stacks only. */
	if (remembers && stop == UW_STOP_ROOT)
		note_whole(hotspots, subject, found, reused);
	else if (remembers && found->count > 0 &&
		 (stop == UW_STOP_TRUNCATED ||
		  (stop == UW_STOP_NOT_RESIDENT && !sample->stack_absent)))
		note_cut(hotspots, subject, stack, found);
}

/* Only the address that was hit. */
static size_t take_leaf(struct hotspots *hotspots, const struct uw_space *space, uint64_t ip)
{
	struct uw_frame *leaf = &hotspots->frames[0];
	*leaf = (struct uw_frame){.ip = ip, .rva = ip, .tag = UW_TAG_NONE};
	if (!uw_space_find(space, ip, &leaf->tag, &leaf->rva))
		leaf->tag = UW_TAG_NONE;
	return 1;
}

static bool shows_kernel(const struct hotspots *hotspots, const struct record_sample *sample)
{
	return sample->in_kernel && hotspots->config.kernel_time == PROFILE_KERNEL_TIME_FRAMES;
}

static uint64_t user_ip(const struct record_sample *sample)
{
	return sample->regs.value[registers_machine(sample->abi == RECORD_REGISTERS_32)->ip];
}

/* Whether a sample tells where in user code its thread is. exec gives the thread another address
 * space, and only later the registers to start with: until then it is still in the call. A stack
 * that was left out is no empty one. */
static bool has_user_code(struct process *process, const struct subject *subject, bool skip_stack)
{
	const struct record_sample *sample = subject->sample;
	bool is_empty = !skip_stack && sample->stack.requested > 0 && sample->stack.size == 0;
	uint64_t rva;
	uint32_t tag;
	if (sample->abi == RECORD_REGISTERS_NONE)
		return false;
	if (process->starting && sample->in_kernel &&
	    (is_empty || subject->space == NULL ||
	     !uw_space_find(subject->space, user_ip(sample), &tag, &rva)))
		return false;
	process->starting = false;
	return true;
}

static void find_user_frames(struct hotspots *hotspots, const struct subject *subject,
			     bool skip_stack, struct profile_stack *stack, struct found *found)
{
	const struct record_sample *sample = subject->sample;
	const struct registers_machine *machine =
		registers_machine(sample->abi == RECORD_REGISTERS_32);
	stack->state = PROFILE_STACK_SKIPPED;
	stack->reason = PROFILE_SKIP_NO_REGS;
	if (subject->space == NULL) {
		stack->reason = PROFILE_SKIP_NO_MEMORY;
		return;
	}
	if (!hotspots->config.unwind) {
		stack->state = PROFILE_STACK_NONE;
		stack->reason = PROFILE_SKIP_NOT_SKIPPED;
	} else if (machine->is_unwound && skip_stack) {
		stack->reason = PROFILE_SKIP_BUDGET;
	} else if (machine->is_unwound) {
		hotspots->copy_size = sample->stack.requested;
		walk(hotspots, subject, stack, found);
		return;
	}
	found->count = take_leaf(hotspots, subject->space, sample->regs.value[machine->ip]);
}

static uint32_t frame_flags(const struct uw_frame *frame, bool is_guessed)
{
	if (is_guessed)
		return PROFILE_FRAME_GUESSED;
	return frame->source == UW_SOURCE_FRAME_POINTER ? PROFILE_FRAME_POINTER : 0;
}

static struct profile_frame user_frame(const struct hotspots *hotspots, const struct found *found,
				       size_t index)
{
	const struct uw_frame *from = &hotspots->frames[index];
	return (struct profile_frame){
		.image = from->tag == UW_TAG_NONE ? 0 : from->tag,
		.flags = frame_flags(from, index >= found->count - found->guessed),
		.rva = from->rva,
	};
}

static bool push_user_frames(struct hotspots *hotspots, const struct found *found)
{
	struct profile_frame frame;
	size_t count = found->count - found->kept;
	chain_keep(found->chain, found->kept);
	for (size_t i = count; i > 0; i--) {
		frame = user_frame(hotspots, found, i - 1);
		tree_prefetch_frame(hotspots->tree, &frame);
	}
	for (size_t i = count; i > 0; i--) {
		frame = user_frame(hotspots, found, i - 1);
		if (!chain_push(found->chain, tree_frame(hotspots->tree, &frame,
							 hotspots->frames[i - 1].function)))
			return false;
	}
	return true;
}

static uint16_t saturate(size_t count)
{
	return (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
}

/* A sample without user code: it has no stack, and the time is the kernel's. */
static void find_no_frames(const struct record_sample *sample, struct profile_stack *stack)
{
	stack->state = sample->in_kernel ? PROFILE_STACK_NONE : PROFILE_STACK_SKIPPED;
	stack->reason = sample->in_kernel ? PROFILE_SKIP_NOT_SKIPPED : PROFILE_SKIP_NO_REGS;
}

static void intern(struct hotspots *hotspots, const struct subject *subject, bool has_user,
		   bool skip_stack, struct profile_stack *stack)
{
	const struct record_sample *sample = subject->sample;
	struct found found = {.chain = hotspots->chain};
	uint32_t node = PROFILE_NONE;
	bool with_kernel = shows_kernel(hotspots, sample);
	if (has_user)
		find_user_frames(hotspots, subject, skip_stack, stack, &found);
	else
		find_no_frames(sample, stack);
	if (push_user_frames(hotspots, &found) &&
	    (!with_kernel || push_kernel_frames(hotspots, sample, &found)))
		node = chain_node(found.chain);
	if (stack->state == PROFILE_STACK_GUESSED)
		stack->verified = saturate(found.count - found.guessed + found.kernel);
	stack->collapsed = saturate(chain_collapsed(found.chain));
	/* Out of memory for the tree: the sample still counts, its stack is skipped. */
	stack->node = node == PROFILE_NONE ? 0 : node;
	if (node == PROFILE_NONE) {
		*stack = (struct profile_stack){.cpu_ns = stack->cpu_ns,
						.state = PROFILE_STACK_SKIPPED,
						.reason = PROFILE_SKIP_NO_MEMORY,
						.kernel_us = stack->kernel_us};
		/* Its chain may lack frames that its history has. */
		thread_forget(subject->thread);
	}
}

static void apply_sample(struct hotspots *hotspots, const struct record *record, size_t ring_index,
			 bool skip_stack)
{
	struct tracker *tracker = hotspots->tracker;
	const struct record_sample *sample = &record->sample;
	struct process *process = tracker_process(tracker, record->pid);
	struct thread *thread = tracker_thread(tracker, record->pid, record->tid);
	if (process == NULL || thread == NULL) {
		tracker_lose_sample(tracker, record);
		return;
	}
	tracker_prepare(tracker, process, record->time_ns);

	struct subject subject = {.space = tracker_space(tracker, process,
							 sample->abi == RECORD_REGISTERS_32),
				  .thread = thread,
				  .map_version = process->map_version,
				  .sample = sample};
	bool has_user = has_user_code(process, &subject, skip_stack);
	bool with_kernel = shows_kernel(hotspots, sample);
	struct emit_sample out = {
		.time_ns = record->time_ns,
		.ip = with_kernel || !sample->in_kernel ? sample->ip
		      : has_user                        ? user_ip(sample)
							: 0,
		.processor_flags = sample->processor_flags,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.code_segment = with_kernel ? 0x10 : sample->code_segment,
		.is_32bit = sample->abi == RECORD_REGISTERS_32,
	};
	struct tick tick = tracker_count_tick(tracker, thread, record, ring_index);
	tracker_weigh(tracker, thread, &tick, sample->period,
		      !has_user && sample->in_kernel && !with_kernel, &out.stack);
	intern(hotspots, &subject, has_user, skip_stack, &out.stack);
	emit_sample(hotspots->emit, &out);
	tracker_count_sample(tracker, thread);
	tracker_count_copy(tracker, sample->stack.size);
}

/* A sample of a thread in its end: in the kernel, and of the time when it had ended for all that
 * the file says. */
static void apply_ending(struct hotspots *hotspots, const struct record *record)
{
	struct tracker *tracker = hotspots->tracker;
	const struct record_sample *sample = &record->sample;
	struct thread *thread = tracker_waiting(tracker, record);
	if (thread == NULL)
		return;
	bool with_kernel = shows_kernel(hotspots, sample);
	struct subject subject = {.thread = thread, .sample = sample};
	struct emit_sample out = {
		.time_ns = record->time_ns < thread->end_ns ? record->time_ns : thread->end_ns,
		.ip = with_kernel ? sample->ip : 0,
		.pid = record->pid,
		.tid = record->tid,
		.cpu = record->cpu,
		.code_segment = with_kernel ? 0x10 : 0,
	};
	struct tick tick = {.user_ns = sample->period};
	tracker_weigh(tracker, thread, &tick, sample->period, !with_kernel, &out.stack);
	intern(hotspots, &subject, false, false, &out.stack);
	emit_sample(hotspots->emit, &out);
	tracker_count_sample(tracker, thread);
}

/* has_user_code for what no addresses are looked up of: what code there is, mappings tell too. */
static bool tick_has_user_code(struct process *process, const struct record_sample *sample)
{
	if (sample->abi == RECORD_REGISTERS_NONE)
		return false;
	const struct mapping *mapping = mapping_list_find(&process->mappings, user_ip(sample));
	if (process->starting && sample->in_kernel &&
	    (mapping == NULL || mapping->start > user_ip(sample)))
		return false;
	process->starting = false;
	return true;
}

/* A tick that is no sample. */
static void apply_tick(struct hotspots *hotspots, const struct record *record, size_t ring_index)
{
	struct tracker *tracker = hotspots->tracker;
	const struct record_sample *sample = &record->sample;
	struct process *process = tracker_process(tracker, record->pid);
	struct thread *thread = tracker_thread(tracker, record->pid, record->tid);
	if (process == NULL || thread == NULL)
		return;
	bool has_user = tick_has_user_code(process, sample);
	struct tick tick = tracker_count_tick(tracker, thread, record, ring_index);
	tracker_keep_pending(tracker, thread, &tick,
			     !has_user && sample->in_kernel && !shows_kernel(hotspots, sample));
}

/* A deep copy of a thread's stack: remembered for the samples that follow, and nothing else. */
static void apply_deep(struct hotspots *hotspots, const struct record *record, bool skip_stack)
{
	struct tracker *tracker = hotspots->tracker;
	struct process *process = tracker_find_process(tracker, record->pid);
	struct thread *thread = tracker_find_thread(tracker, record->pid, record->tid);
	struct profile_stack unused = {0};
	struct found found = {.chain = hotspots->chain};
	bool is_32bit = record->sample.abi == RECORD_REGISTERS_32;
	struct uw_space *space;
	/* What is not known yet, the next sample makes known. */
	if (skip_stack || !hotspots->config.unwind || process == NULL || process->stale ||
	    thread == NULL || (process->starting && record->sample.in_kernel) ||
	    record->sample.abi == RECORD_REGISTERS_NONE || !registers_machine(is_32bit)->is_unwound)
		return;
	tracker_prepare(tracker, process, record->time_ns);
	space = tracker_space(tracker, process, is_32bit);
	if (space == NULL)
		return;
	struct subject subject = {space, thread, process->map_version, &record->sample, true};
	walk(hotspots, &subject, &unused, &found);
	/* The chain keeps step with the history; its nodes are made for samples only. */
	if (found.chain == thread->chain && !push_user_frames(hotspots, &found))
		thread_forget(thread);
	tracker_count_copy(tracker, record->sample.stack.size);
}

struct hotspots *hotspots_create(const struct hotspots_config *config, struct tracker *tracker,
				 struct emit *emit)
{
	struct hotspots *hotspots = calloc(1, sizeof(*hotspots));
	if (hotspots == NULL)
		return NULL;
	hotspots->config = *config;
	hotspots->tracker = tracker;
	hotspots->emit = emit;
	hotspots->tree = tree_create(emit);
	hotspots->tables = tables_create();
	hotspots->chain = chain_create(hotspots->tree, config->collapse);
	if (hotspots->tree == NULL || hotspots->tables == NULL || hotspots->chain == NULL) {
		hotspots_destroy(hotspots);
		return NULL;
	}
	return hotspots;
}

void hotspots_destroy(struct hotspots *hotspots)
{
	if (hotspots == NULL)
		return;
	tables_destroy(hotspots->tables);
	chain_destroy(hotspots->chain);
	tree_destroy(hotspots->tree);
	unwinding_finish(&hotspots->unwinding);
	free(hotspots);
}

void hotspots_apply(struct hotspots *hotspots, const struct record *record, size_t ring_index,
		    bool skip_stack)
{
	tracker_apply(hotspots->tracker, record, ring_index);
	if (record->kind == RECORD_ENDING)
		apply_ending(hotspots, record);
	if (record->kind != RECORD_SAMPLE)
		return;
	if (record->sample.choice == RECORD_TICK)
		apply_tick(hotspots, record, ring_index);
	else if (hotspots->config.deep_interval_ns > 0 &&
		 record->sample.period == hotspots->config.deep_interval_ns)
		apply_deep(hotspots, record, skip_stack);
	else
		apply_sample(hotspots, record, ring_index, skip_stack);
}

void hotspots_finish(struct hotspots *hotspots)
{
	/* Its thread's CPU time is part of what is noted after this. */
	tables_destroy(hotspots->tables);
	hotspots->tables = NULL;
	tracker_finish(hotspots->tracker);
	if (hotspots->config.unwind)
		unwinding_emit(&hotspots->unwinding, hotspots->emit,
			       tracker_now_ns(hotspots->tracker));
}
