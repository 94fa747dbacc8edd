#include "collector/model/tracker_private.h"

#include "collector/machine/registers.h"
#include <stdio.h>
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

/* What is known of a sample's stack. */
struct found {
	struct chain *chain; /* that it goes into */
	size_t count;        /* of tracker->frames, the user's part */
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

static void declare_kernel(struct tracker *tracker)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_KERNEL};
	struct mapping all = {.start = 1ull << 63, .end = UINT64_MAX};
	all.image = emit_image(tracker->context.emit, &image, "[vmlinux]");
	tracker->kernel_image = all.image;
	emit_module_load(tracker->context.emit, 0, &all, "[vmlinux]", true);
}

/* Pushes the kernel's part of a stack. */
static bool push_kernel_frames(struct tracker *tracker, const struct record_sample *sample,
			       struct found *found)
{
	struct tree_frame frames[KERNEL_FRAMES_MAX];
	size_t count = 0;
	if (tracker->kernel_image == 0)
		declare_kernel(tracker);
	for (uint64_t i = 0; i < sample->callchain_length && count < KERNEL_FRAMES_MAX; i++) {
		uint64_t ip;
		memcpy(&ip, sample->callchain + i * sizeof(ip), sizeof(ip));
		if (ip == CONTEXT_USER)
			break;
		if (ip >= CONTEXT_MAX)
			continue;
		/* Return addresses are looked up inside the call. */
		struct profile_frame frame = {tracker->kernel_image, 0, count == 0 ? ip : ip - 1};
		frames[count++] = tree_frame(tracker->tree, &frame, 0);
	}
	found->kernel = count;
	while (count > 0)
		if (!chain_push(found->chain, frames[--count]))
			return false;
	return true;
}

/* Where a walked stack counts. */
static struct unwinding_subject counted_for(const struct tracker *tracker,
					    const struct subject *subject, size_t count)
{
	uint32_t tag = count > 0 ? tracker->frames[0].tag : UW_TAG_NONE;
	return (struct unwinding_subject){.thread = &subject->thread->unwinding,
					  .image = tag == UW_TAG_NONE ? 0 : tag};
}

/* Walks into tracker->frames. Has tables built that walks came to want. */
static size_t walk_frames(struct tracker *tracker, const struct subject *subject,
			  enum uw_stop *stop, size_t *reused)
{
	const struct record_sample *sample = subject->sample;
	struct unwinding_walk measured;
	unwinding_begin(&tracker->unwinding, &measured, subject->space, subject->is_deep);
	size_t count = uw_walk_reuse(subject->space, subject->thread->history, &sample->regs,
				     &sample->stack, tracker->frames, UW_DEPTH_MAX, stop, reused);
	struct unwinding_subject counted = counted_for(tracker, subject, count);
	unwinding_end(&tracker->unwinding, &measured, subject->space, &counted);
	struct uw_module *wanted = uw_space_wanted_table(subject->space);
	if (wanted != NULL)
		tables_build(tracker->tables, wanted);
	return count;
}

/* From here on guesses are tried in this way, unless it is a lesser one than before. */
static void raise_trial(struct tracker *tracker, enum guess_trial trial)
{
	size_t position = 0;
	if (trial <= tracker->guess_trial)
		return;
	tracker->guess_trial = trial;
	tracker->guess_turn = 0;
	unwinding_forget_tests(&tracker->unwinding);
	for (struct thread *t; (t = idmap_next(&tracker->threads, &position)) != NULL;)
		unwinding_forget_test(&t->unwinding);
	for (struct thread *t = tracker->open_accounts; t != NULL; t = t->next_ended)
		unwinding_forget_test(&t->unwinding);
}

/* Where to cut a whole stack to try a guess on it; 0: it is not this one's turn. */
static uint64_t choose_cut(struct tracker *tracker, const struct subject *subject, size_t count)
{
	const struct uw_stack *stack = &subject->sample->stack;
	struct guess *guess = subject->thread->guess;
	bool is_cut = tracker->guess_trial == TRIAL_CUT;
	bool is_soon = is_cut && tracker->unwinding.run.guesses_tested < TESTED_SOON;
	if (subject->is_deep && tracker->copy_size > 0) {
		raise_trial(tracker, TRIAL_DEEP);
		return stack->base + tracker->copy_size;
	}
	if (subject->is_deep || tracker->guess_trial == TRIAL_DEEP ||
	    (is_cut && !guess_has_cut(guess)) ||
	    (++tracker->guess_turn % (is_cut ? TESTED_EACH_CUT : TESTED_EACH) != 0 && !is_soon))
		return 0;
	return guess_choose_cut(guess, tracker->frames, count, stack->base);
}

/* A whole stack: what is remembered of the thread learns it. */
static void note_whole(struct tracker *tracker, const struct subject *subject, struct found *found,
		       size_t reused)
{
	struct thread *thread = subject->thread;
	struct unwinding_subject counted = counted_for(tracker, subject, found->count);
	uint64_t cut = choose_cut(tracker, subject, found->count);
	found->chain = thread->chain;
	found->kept = reused;
	if (cut != 0)
		unwinding_add_test(&tracker->unwinding,
				   guess_test(thread->guess, subject->map_version, tracker->frames,
					      found->count, cut),
				   &counted);
	guess_note(thread->guess, subject->map_version, tracker->frames, found->count, reused);
}

/* Whether guesses of a thread may be shown: they were tried, in the way that is closest to them,
 * and as good as none was wrong. */
static bool is_proven(const struct profile_unwinding *unwinding)
{
	return unwinding->guesses_covered >= PROVEN_TESTS &&
	       unwinding->guesses_wrong * PROVEN_RIGHT <= unwinding->guesses_covered;
}

/* The frames beyond what was copied, where the thread's whole stacks leave no doubt. */
static void guess_rest(struct tracker *tracker, const struct subject *subject,
		       struct profile_stack *stack, struct found *found)
{
	const struct uw_stack *copy = &subject->sample->stack;
	struct thread *thread = subject->thread;
	struct uw_frame *last = &tracker->frames[found->count - 1];
	uint8_t hits = 0;
	size_t guessed = guess_callers(thread->guess, subject->map_version, last,
				       copy->base + copy->size, last + 1, &hits);
	guess_note_cut(thread->guess, copy->base + copy->size);
	raise_trial(tracker, TRIAL_CUT);
	if (guessed == 0 || !is_proven(&thread->unwinding))
		return;
	stack->state = PROFILE_STACK_GUESSED;
	stack->guess_level = PROFILE_GUESS_AGREED;
	stack->guess_hits = hits;
	found->count += guessed;
	found->guessed = guessed;
}

/* A stack of which the copy ended too early: guessed, and evidence for the guesses to come. */
static void note_cut(struct tracker *tracker, const struct subject *subject,
		     struct profile_stack *stack, struct found *found)
{
	if (!subject->is_deep)
		guess_rest(tracker, subject, stack, found);
	guess_note_part(subject->thread->guess, subject->map_version, tracker->frames,
			found->count - found->guessed);
}

static void walk(struct tracker *tracker, const struct subject *subject,
		 struct profile_stack *stack, struct found *found)
{
	const struct record_sample *sample = subject->sample;
	enum uw_stop stop;
	size_t reused;
	bool remembers = thread_remember(subject->thread, tracker->tree, tracker->config.collapse);
	found->count = walk_frames(tracker, subject, &stop, &reused);
	stack->state = stop == UW_STOP_ROOT ? PROFILE_STACK_COMPLETE : PROFILE_STACK_SKIPPED;
	stack->reason = skip_reasons[stop];
	/* In a copy with gaps, a return address that is none, or a frame pointer to nowhere, is
	   taken for a word from a gap. What leads to another stack is not: such a word is no
	   address. */
	if (sample->stack_absent && (stop == UW_STOP_BAD_INFO || stop == UW_STOP_NO_INFO))
		stack->reason = PROFILE_SKIP_NOT_RESIDENT;
	if (remembers && (subject->is_deep || tracker->guess_trial != TRIAL_DEEP))
		guess_grow_old(subject->thread->guess);
	/* The thread's chain follows its history, which knows of complete stacks only. */
	if (remembers && stop == UW_STOP_ROOT)
		note_whole(tracker, subject, found, reused);
	else if (remembers && found->count > 0 &&
		 (stop == UW_STOP_TRUNCATED ||
		  (stop == UW_STOP_NOT_RESIDENT && !sample->stack_absent)))
		note_cut(tracker, subject, stack, found);
}

/* Only the address that was hit. */
static size_t take_leaf(struct tracker *tracker, const struct uw_space *space, uint64_t ip)
{
	struct uw_frame *leaf = &tracker->frames[0];
	*leaf = (struct uw_frame){.ip = ip, .rva = ip, .tag = UW_TAG_NONE};
	if (!uw_space_find(space, ip, &leaf->tag, &leaf->rva))
		leaf->tag = UW_TAG_NONE;
	return 1;
}

static bool shows_kernel(const struct tracker *tracker, const struct record_sample *sample)
{
	return sample->in_kernel && tracker->config.kernel_time == PROFILE_KERNEL_TIME_FRAMES;
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

static void find_user_frames(struct tracker *tracker, const struct subject *subject,
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
	if (!tracker->config.unwind) {
		stack->state = PROFILE_STACK_NONE;
		stack->reason = PROFILE_SKIP_NOT_SKIPPED;
	} else if (machine->is_unwound && skip_stack) {
		stack->reason = PROFILE_SKIP_BUDGET;
	} else if (machine->is_unwound) {
		tracker->copy_size = sample->stack.requested;
		walk(tracker, subject, stack, found);
		return;
	}
	found->count = take_leaf(tracker, subject->space, sample->regs.value[machine->ip]);
}

static uint32_t frame_flags(const struct uw_frame *frame, bool is_guessed)
{
	if (is_guessed)
		return PROFILE_FRAME_GUESSED;
	return frame->source == UW_SOURCE_FRAME_POINTER ? PROFILE_FRAME_POINTER : 0;
}

static struct profile_frame user_frame(const struct tracker *tracker, const struct found *found,
				       size_t index)
{
	const struct uw_frame *from = &tracker->frames[index];
	return (struct profile_frame){
		.image = from->tag == UW_TAG_NONE ? 0 : from->tag,
		.flags = frame_flags(from, index >= found->count - found->guessed),
		.rva = from->rva,
	};
}

static bool push_user_frames(struct tracker *tracker, const struct found *found)
{
	struct profile_frame frame;
	size_t count = found->count - found->kept;
	chain_keep(found->chain, found->kept);
	for (size_t i = count; i > 0; i--) {
		frame = user_frame(tracker, found, i - 1);
		tree_prefetch_frame(tracker->tree, &frame);
	}
	for (size_t i = count; i > 0; i--) {
		frame = user_frame(tracker, found, i - 1);
		if (!chain_push(found->chain,
				tree_frame(tracker->tree, &frame, tracker->frames[i - 1].function)))
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

static void intern(struct tracker *tracker, const struct subject *subject, bool has_user,
		   bool skip_stack, struct profile_stack *stack)
{
	const struct record_sample *sample = subject->sample;
	struct found found = {.chain = tracker->chain};
	uint32_t node = PROFILE_NONE;
	bool with_kernel = shows_kernel(tracker, sample);
	if (has_user)
		find_user_frames(tracker, subject, skip_stack, stack, &found);
	else
		find_no_frames(sample, stack);
	if (push_user_frames(tracker, &found) &&
	    (!with_kernel || push_kernel_frames(tracker, sample, &found)))
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

/* The process is one that has samples: the sooner its command line is read, the likelier it is
 * still there. */
static void commit(struct tracker *tracker, struct process *process, uint64_t time_ns)
{
	if (!process->committed)
		tracker_note_command(tracker, process, time_ns);
	process_commit(process, &tracker->context);
}

/* Before a sample's addresses are looked up in them. */
static void read_maps(struct tracker *tracker, struct process *process, uint64_t time_ns)
{
	bool unread = process->unread;
	char text[PROCESS_NAME_MAX + 128];
	if (!unread)
		emit_note(tracker->context.emit, PROFILE_NOTE_MAPS_REREAD, time_ns, 1, process->pid,
			  0, NULL);
	process_read_maps(process, &tracker->context, time_ns);
	if (!unread || !process->unread)
		return;
	snprintf(text, sizeof(text),
		 "%s (process %u) ended before its maps could be read: its stacks are incomplete",
		 process->name, process->pid);
	emit_note(tracker->context.emit, PROFILE_NOTE_WARNING, time_ns, 0, process->pid, 0, text);
}

void tracker_apply_sample(struct tracker *tracker, const struct record *record, size_t ring_index,
			  bool skip_stack)
{
	const struct record_sample *sample = &record->sample;
	struct process *process = tracker_process(tracker, record->pid);
	struct thread *thread = tracker_thread(tracker, record->pid, record->tid);
	if (process == NULL || thread == NULL) {
		tracker->counts.lost++;
		emit_note(tracker->context.emit, PROFILE_NOTE_SAMPLES_LOST, record->time_ns, 1,
			  record->pid, 0, "out of memory");
		return;
	}
	if (process->stale)
		read_maps(tracker, process, record->time_ns);
	commit(tracker, process, record->time_ns);

	struct subject subject = {.space = process_space(process, &tracker->context,
							 sample->abi == RECORD_REGISTERS_32),
				  .thread = thread,
				  .map_version = process->map_version,
				  .sample = sample};
	bool has_user = has_user_code(process, &subject, skip_stack);
	bool with_kernel = shows_kernel(tracker, sample);
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
	intern(tracker, &subject, has_user, skip_stack, &out.stack);
	emit_sample(tracker->context.emit, &out);
	thread->samples++;
	tracker->counts.samples++;
	tracker->counts.stack_copy_bytes += sample->stack.size;
}

void tracker_apply_ending(struct tracker *tracker, const struct record *record)
{
	const struct record_sample *sample = &record->sample;
	struct thread *thread = tracker_waiting(tracker, record);
	if (thread == NULL)
		return;
	bool with_kernel = shows_kernel(tracker, sample);
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
	intern(tracker, &subject, false, false, &out.stack);
	emit_sample(tracker->context.emit, &out);
	thread->samples++;
	tracker->counts.samples++;
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

void tracker_apply_tick(struct tracker *tracker, const struct record *record, size_t ring_index)
{
	const struct record_sample *sample = &record->sample;
	struct process *process = tracker_process(tracker, record->pid);
	struct thread *thread = tracker_thread(tracker, record->pid, record->tid);
	if (process == NULL || thread == NULL)
		return;
	bool has_user = tick_has_user_code(process, sample);
	struct tick tick = tracker_count_tick(tracker, thread, record, ring_index);
	tracker_keep_pending(tracker, thread, &tick,
			     !has_user && sample->in_kernel && !shows_kernel(tracker, sample));
}

void tracker_apply_deep(struct tracker *tracker, const struct record *record, bool skip_stack)
{
	struct process *process = idmap_get(&tracker->processes, record->pid);
	struct thread *thread = idmap_get(&tracker->threads, record->tid);
	struct profile_stack unused = {0};
	struct found found = {.chain = tracker->chain};
	bool is_32bit = record->sample.abi == RECORD_REGISTERS_32;
	struct uw_space *space;
	/* What is not known yet, the next sample makes known. */
	if (skip_stack || !tracker->config.unwind || process == NULL || process->stale ||
	    thread == NULL || thread->pid != record->pid ||
	    (process->starting && record->sample.in_kernel) ||
	    record->sample.abi == RECORD_REGISTERS_NONE || !registers_machine(is_32bit)->is_unwound)
		return;
	commit(tracker, process, record->time_ns);
	space = process_space(process, &tracker->context, is_32bit);
	if (space == NULL)
		return;
	struct subject subject = {space, thread, process->map_version, &record->sample, true};
	walk(tracker, &subject, &unused, &found);
	/* The chain keeps step with the history; its nodes are made for samples only. */
	if (found.chain == thread->chain && !push_user_frames(tracker, &found))
		thread_forget(thread);
	tracker->counts.stack_copy_bytes += record->sample.stack.size;
}
