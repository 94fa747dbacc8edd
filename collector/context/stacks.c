#include "collector/context/stacks.h"

#include "collector/context/chain.h"
#include "collector/context/guess.h"
#include "collector/context/tree.h"
#include "collector/context/walk_counts.h"
#include "collector/machine/registers.h"
#include <assert.h>
#include <stdlib.h>

enum {
	TESTED_EACH = 64,    /* whole stacks, while no stack was cut */
	TESTED_EACH_CUT = 8, /* of threads with cut stacks; at first each of them, */
	TESTED_SOON = 1000,  /* until this many are tested */
	PROVEN_TESTS = 4,    /* tested guesses of a thread before one is shown */
	PROVEN_RIGHT = 100,  /* of them, at most one is wrong */
	ROOTS_KEPT = 256     /* a power of 2 */
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

/* The stacks for testing guesses. A later kind is closer to the guesses to be shown: once a later
 * kind is possible, its tests replace the results of earlier kinds. */
enum guess_trial {
	TRIAL_HALF, /* the outer half of whole stacks */
	TRIAL_CUT,  /* whole stacks, cut where the thread's copies ended too early */
	TRIAL_DEEP  /* deep copies, cut at the size of a sample's copy: deep copies have the depth
		       that sample copies cut off */
};

/* Whether a stack ends at the code of an address. */
struct root_answer {
	uint64_t rva; /* 0: none */
	uint32_t tag;
	bool is_root;
};

struct stacks {
	struct emit *emit;
	bool collapse;
	struct tree *tree;
	struct walk_counts counts;
	size_t copy_size;     /* bytes of stack requested by the last walked sample */
	uint64_t guess_turn;  /* whole stacks available for tests of guesses */
	unsigned guess_trial; /* enum guess_trial */
	struct uw_frame frames[UW_DEPTH_MAX + GUESS_DEPTH_MAX];
	struct chain *chain;                  /* for stacks not remembered for their thread */
	struct root_answer roots[ROOTS_KEPT]; /* for given stacks */
	struct late_pool *late;               /* NULL before the first thread that needs it */
};

/* A stack on its way to its node. */
struct found {
	const struct stack_origin *source;
	bool is_deep;        /* only learned from */
	bool is_whole;       /* the thread's memory took it */
	struct chain *chain; /* receives the stack; NULL: out of memory */
	size_t count;        /* of stacks->frames, the user's part */
	struct chain_guessed guessed;
};

/* The counts to which a walked stack adds. */
static struct walk_counts_subject counted_for(const struct stacks *stacks,
					      const struct found *found, size_t count)
{
	uint32_t tag = count > 0 ? stacks->frames[0].tag : UW_TAG_NONE;
	return (struct walk_counts_subject){.thread = &found->source->memory->counts,
					    .image = tag == UW_TAG_NONE ? 0 : tag};
}

static struct uw_stack copies_of(const struct stack_origin *source)
{
	struct uw_stack copy = *source->copy;
	copy.outer = source->outer;
	return copy;
}

/* Walks into stacks->frames. */
static size_t walk_frames(struct stacks *stacks, const struct found *found, enum uw_stop *stop,
			  size_t *reused)
{
	struct walk_counts_walk measured;
	const struct uw_stack copy = copies_of(found->source);
	walk_counts_begin(&stacks->counts, &measured, found->source->space, found->is_deep);
	size_t count = uw_walk_reuse(found->source->space, found->source->memory->history,
				     found->source->regs, &copy, stacks->frames, UW_DEPTH_MAX, stop,
				     reused);
	struct walk_counts_subject counted = counted_for(stacks, found, count);
	walk_counts_end(&stacks->counts, &measured, found->source->space, &counted);
	return count;
}

/* Switches to this kind of tests, unless it is an earlier kind. */
static void raise_trial(struct stacks *stacks, enum guess_trial trial)
{
	if (trial <= stacks->guess_trial)
		return;
	stacks->guess_trial = trial;
	stacks->guess_turn = 0;
	walk_counts_forget_tests(&stacks->counts);
}

/* Where to cut a whole stack to test a guess; 0: the stack is not tested. */
static uint64_t choose_cut(struct stacks *stacks, const struct found *found, size_t count)
{
	const struct uw_stack *stack = found->source->copy;
	struct guess *guess = found->source->memory->guess;
	bool is_cut = stacks->guess_trial == TRIAL_CUT;
	bool is_soon = is_cut && stacks->counts.run.guesses_tested < TESTED_SOON;
	if (found->source->outer)
		return 0;
	if (found->is_deep && stacks->copy_size > 0) {
		raise_trial(stacks, TRIAL_DEEP);
		return stack->base + stacks->copy_size;
	}
	if (found->is_deep || stacks->guess_trial == TRIAL_DEEP ||
	    (is_cut && !guess_has_cut(guess)) ||
	    (++stacks->guess_turn % (is_cut ? TESTED_EACH_CUT : TESTED_EACH) != 0 && !is_soon))
		return 0;
	return guess_choose_cut(guess, stacks->frames, count, stack->base);
}

/* Has the thread's memory learn a whole stack. */
static void note_whole(struct stacks *stacks, struct found *found, size_t reused)
{
	struct stack_memory *memory = found->source->memory;
	struct walk_counts_subject counted = counted_for(stacks, found, found->count);
	uint64_t cut = choose_cut(stacks, found, found->count);
	if (cut != 0) {
		stack_memory_begin_test(memory, &stacks->guess_trial);
		walk_counts_add_test(&stacks->counts,
				     guess_test(memory->guess, found->source->map_version,
						stacks->frames, found->count, cut),
				     &counted);
	}
	found->is_whole = true;
	found->chain = stack_memory_take(memory, found->source->map_version, stacks->frames,
					 found->count, reused);
}

/* Whether guesses of a thread may be shown: enough were tested, in the closest way possible, and at
 * most one in PROVEN_RIGHT was wrong. */
static bool is_proven(struct stack_memory *memory)
{
	stack_memory_settle(memory);
	return memory->counts.guesses_covered >= PROVEN_TESTS &&
	       memory->counts.guesses_wrong * PROVEN_RIGHT <= memory->counts.guesses_covered;
}

/* Guesses the frames beyond the copy, if the thread's whole stacks leave no doubt. */
static void guess_rest(struct stacks *stacks, struct found *found, struct profile_stack *stack)
{
	const struct uw_stack *copy = found->source->copy;
	struct stack_memory *memory = found->source->memory;
	struct uw_frame *last = &stacks->frames[found->count - 1];
	uint8_t hits = 0;
	size_t guessed = guess_callers(memory->guess, found->source->map_version, last,
				       copy->base + copy->size, last + 1, &hits);
	guess_note_cut(memory->guess, copy->base + copy->size);
	raise_trial(stacks, TRIAL_CUT);
	if (guessed == 0 || !is_proven(memory))
		return;
	stack->state = PROFILE_STACK_GUESSED;
	stack->guess_level = PROFILE_GUESS_AGREED;
	stack->guess_hits = hits;
	found->count += guessed;
	found->guessed = (struct chain_guessed){guessed, PROFILE_FRAME_GUESSED};
}

static struct late_stack late_of(const struct stack_origin *source)
{
	return (struct late_stack){source->space, source->map_version, source->regs,
				   source->copy,  source->sampled_ns,  source->reader};
}

/* The thread's memory for late frames; NULL: none. */
static struct late *make_late(struct stacks *stacks, struct stack_memory *memory)
{
	if (!stacks->late)
		stacks->late = late_pool_create();
	if (!memory->late && stacks->late)
		memory->late = late_create(stacks->late);
	return memory->late;
}

/* Whether tests left no doubt about the thread's late frames. */
static bool is_trusted(const struct profile_unwinding *counts)
{
	return counts->late_wrong * PROVEN_RIGHT <= counts->late_covered;
}

/* Reads the rest of a stack whose copy ended at an absent page; false: it is not known. */
static bool read_rest(struct stacks *stacks, struct found *found, struct profile_stack *stack)
{
	struct stack_memory *memory = found->source->memory;
	if (stack->reason != PROFILE_SKIP_NOT_RESIDENT || !found->source->reader ||
	    !make_late(stacks, memory))
		return false;
	struct late_stack rest = late_of(found->source);
	size_t callers = late_find(memory->late, &rest, stacks->frames, found->count);
	if (callers == 0 || !is_trusted(&memory->counts))
		return false;
	stack->state = PROFILE_STACK_GUESSED;
	stack->guess_level = PROFILE_GUESS_LATE;
	found->count += callers;
	found->guessed =
		(struct chain_guessed){callers, PROFILE_FRAME_GUESSED | PROFILE_FRAME_LATE};
	return true;
}

/* After a stack that needs no late frames: tests them on it, if it is whole. */
static void pass_late(struct stacks *stacks, const struct found *found, bool is_whole)
{
	struct late *late = found->source->memory->late;
	struct late_stack whole = late_of(found->source);
	if (!late)
		return;
	if (!is_whole || found->source->outer || !found->source->reader) {
		late_pass(late, stacks->frames, found->count);
		return;
	}
	struct walk_counts_subject counted = counted_for(stacks, found, found->count);
	walk_counts_add_late_test(&stacks->counts,
				  late_test(late, &whole, stacks->frames, found->count), &counted);
}

/* Finds the rest of a stack whose copy ended too early, or guesses it, and learns from its verified
 * frames; not of two stacks, whose frames lie in no order. */
static void note_cut(struct stacks *stacks, struct found *found, struct profile_stack *stack)
{
	if (found->source->outer)
		return;
	if (!found->is_deep && !read_rest(stacks, found, stack))
		guess_rest(stacks, found, stack);
	guess_note_part(found->source->memory->guess, found->source->map_version, stacks->frames,
			found->count - found->guessed.count);
}

static void explain_walk(const struct found *found, enum uw_stop stop, struct profile_stack *stack)
{
	stack->state = stop == UW_STOP_ROOT ? PROFILE_STACK_COMPLETE : PROFILE_STACK_SKIPPED;
	stack->reason = skip_reasons[stop];
	assert(found->count <= UW_DEPTH_MAX); /* behind are the guessed frames */
	assert((stack->reason == PROFILE_SKIP_NOT_SKIPPED) == (stop == UW_STOP_ROOT));
	/* In a copy with gaps, a bad return address or frame pointer is taken for a word from a
	 * gap. A pointer to another stack is not: a word from a gap is no address. */
	if (found->source->has_gaps && (stop == UW_STOP_BAD_INFO || stop == UW_STOP_NO_INFO))
		stack->reason = PROFILE_SKIP_NOT_RESIDENT;
}

/* Walks a stack without a memory: nothing is guessed, counted or kept. */
static void walk_alone(struct stacks *stacks, struct found *found, struct profile_stack *stack)
{
	const struct stack_origin *source = found->source;
	const struct uw_stack copy = copies_of(source);
	enum uw_stop stop;
	size_t reused;
	found->count = uw_walk_reuse(source->space, NULL, source->regs, &copy, stacks->frames,
				     UW_DEPTH_MAX, &stop, &reused);
	explain_walk(found, stop, stack);
}

static void walk(struct stacks *stacks, struct found *found, struct profile_stack *stack)
{
	enum uw_stop stop;
	size_t reused;
	bool remembers =
		stack_memory_remember(found->source->memory, stacks->tree, stacks->collapse);
	found->count = walk_frames(stacks, found, &stop, &reused);
	explain_walk(found, stop, stack);
	if (!found->is_deep && stack->reason != PROFILE_SKIP_NOT_RESIDENT)
		pass_late(stacks, found, stop == UW_STOP_ROOT);
	if (remembers && (found->is_deep || stacks->guess_trial != TRIAL_DEEP))
		guess_grow_old(found->source->memory->guess);
	if (remembers && stop == UW_STOP_ROOT)
		note_whole(stacks, found, reused);
	else if (remembers && found->count > 0 &&
		 (stop == UW_STOP_TRUNCATED ||
		  (stop == UW_STOP_NOT_RESIDENT && !found->source->has_gaps)))
		note_cut(stacks, found, stack);
}

/* Takes only the address of the hit. */
static size_t take_leaf(struct stacks *stacks, const struct uw_space *space, uint64_t ip)
{
	struct uw_frame *leaf = &stacks->frames[0];
	*leaf = (struct uw_frame){.ip = ip, .rva = ip, .tag = UW_TAG_NONE};
	if (!uw_space_find(space, ip, &leaf->tag, &leaf->rva))
		leaf->tag = UW_TAG_NONE;
	return 1;
}

/* The frame of an address in user code; of a caller the lookup address lies inside the call. */
static void set_given(const struct uw_space *space, uint64_t address, bool is_leaf,
		      struct uw_frame *frame)
{
	uint64_t lookup = is_leaf || address == 0 ? address : address - 1;
	*frame = (struct uw_frame){
		.ip = address,
		.rva = lookup,
		.tag = UW_TAG_NONE,
		.exact = is_leaf,
		.source = is_leaf ? UW_SOURCE_SAMPLE : UW_SOURCE_FRAME_POINTER,
	};
	if (!uw_space_find(space, lookup, &frame->tag, &frame->rva))
		frame->tag = UW_TAG_NONE;
}

/* Whether nobody called the frame's function, by its unwind information: a walk from there ends
 * without a look at any memory. */
static bool is_root(struct stacks *stacks, struct uw_space *space, const struct uw_frame *frame)
{
	struct root_answer *known =
		&stacks->roots[(frame->rva ^ frame->rva >> 8 ^ frame->tag) % ROOTS_KEPT];
	const struct registers_machine *machine = registers_machine(false);
	struct uw_regs regs = {0};
	const struct uw_stack empty = {0};
	struct uw_frame frames[2];
	enum uw_stop stop;
	size_t reused;
	if (frame->tag == UW_TAG_NONE)
		return false;
	if (known->rva == frame->rva && known->tag == frame->tag && known->rva != 0)
		return known->is_root;
	regs.value[machine->ip] = frame->exact ? frame->ip : frame->ip - 1;
	uw_walk_reuse(space, NULL, &regs, &empty, frames, 2, &stop, &reused);
	*known = (struct root_answer){frame->rva, frame->tag, stop == UW_STOP_ROOT};
	return known->is_root;
}

/* Why a given stack has no more frames; 0: it is whole. */
static enum profile_skip_reason end_of_given(struct stacks *stacks, const struct found *found)
{
	const struct stack_chain *chain = &found->source->chain;
	if (found->count == UW_DEPTH_MAX && found->count < chain->count)
		return PROFILE_SKIP_DEPTH;
	if (chain->is_whole && !chain->is_cut)
		return PROFILE_SKIP_NOT_SKIPPED;
	return chain->is_cut || found->count < chain->count ||
			       !is_root(stacks, found->source->space,
					&stacks->frames[found->count - 1])
		       ? PROFILE_SKIP_CHAIN_ENDS
		       : PROFILE_SKIP_NOT_SKIPPED;
}

/* Where a function keeps no frame pointer, the words taken for frames lead to addresses of no
 * code. */
static void drop_strays(const struct stacks *stacks, struct found *found)
{
	while (found->count > 1 && stacks->frames[found->count - 1].tag == UW_TAG_NONE)
		found->count--;
}

static void take_given(struct stacks *stacks, struct found *found, struct profile_stack *stack)
{
	const struct stack_chain *chain = &found->source->chain;
	assert(chain->count > 0 && chain->guessed <= chain->count);
	found->count = chain->count < UW_DEPTH_MAX ? chain->count : UW_DEPTH_MAX;
	for (size_t i = 0; i < found->count; i++)
		set_given(found->source->space, chain->addresses[i], i == 0, &stacks->frames[i]);
	if (!chain->is_whole && !chain->is_cut)
		drop_strays(stacks, found);
	stack->reason = (uint8_t)end_of_given(stacks, found);
	stack->state = stack->reason == PROFILE_SKIP_NOT_SKIPPED ? PROFILE_STACK_COMPLETE
								 : PROFILE_STACK_SKIPPED;
	if (chain->guessed == 0 || stack->reason != PROFILE_SKIP_NOT_SKIPPED)
		return;
	found->guessed = (struct chain_guessed){chain->guessed, PROFILE_FRAME_GUESSED};
	stack->state = PROFILE_STACK_GUESSED;
	stack->reason = PROFILE_SKIP_CHAIN_ENDS;
}

static uint16_t saturate(size_t count)
{
	return (uint16_t)(count < UINT16_MAX ? count : UINT16_MAX);
}

static bool push_inner_frames(struct stacks *stacks, const struct found *found)
{
	const struct stack_origin *source = found->source;
	struct tree_frame frames[STACK_INNER_MAX];
	assert(source->inner_count <= STACK_INNER_MAX);
	for (size_t i = 0; i < source->inner_count; i++)
		frames[i] = tree_frame(stacks->tree, &source->inner[i], 0);
	for (size_t i = source->inner_count; i > 0; i--)
		if (!chain_push(found->chain, frames[i - 1]))
			return false;
	return true;
}

static void find_frames(struct stacks *stacks, struct found *found, enum stack_extent extent,
			struct profile_stack *stack)
{
	const struct stack_origin *source = found->source;
	if (extent == STACK_NO_USER)
		return;
	if (!source->space) {
		stack->state = PROFILE_STACK_SKIPPED;
		stack->reason = PROFILE_SKIP_NO_MEMORY;
		return;
	}
	if (extent == STACK_WALKED && !source->memory) {
		walk_alone(stacks, found, stack);
		return;
	}
	if (extent == STACK_WALKED) {
		assert(source->regs && source->copy);
		stacks->copy_size = source->copy->requested;
		walk(stacks, found, stack);
		return;
	}
	if (extent == STACK_GIVEN)
		take_given(stacks, found, stack);
	else
		found->count = take_leaf(stacks, source->space, source->ip);
}

/* The node of a stack; PROFILE_NONE: out of memory. */
static uint32_t make_node(struct stacks *stacks, const struct found *found)
{
	if (!found->is_whole &&
	    !chain_take(found->chain, stacks->frames, found->count, 0, found->guessed))
		return PROFILE_NONE;
	return found->chain && push_inner_frames(stacks, found) ? chain_node(found->chain)
								: PROFILE_NONE;
}

void stacks_node(struct stacks *stacks, const struct stack_origin *source, enum stack_extent extent,
		 struct profile_stack *stack)
{
	struct found found = {.source = source, .chain = stacks->chain};
	find_frames(stacks, &found, extent, stack);
	uint32_t node = make_node(stacks, &found);
	if (node == PROFILE_NONE) {
		/* The sample still counts, its stack is skipped. */
		*stack = (struct profile_stack){.cpu_ns = stack->cpu_ns,
						.state = PROFILE_STACK_SKIPPED,
						.reason = PROFILE_SKIP_NO_MEMORY,
						.kernel_us = stack->kernel_us};
		if (source->memory)
			stack_memory_forget(source->memory);
		return;
	}
	if (stack->state == PROFILE_STACK_GUESSED)
		stack->verified = saturate(found.count - found.guessed.count + source->inner_count);
	stack->collapsed = saturate(chain_collapsed(found.chain));
	stack->node = node;
}

uint32_t stacks_data_node(struct stacks *stacks, uint32_t image, uint64_t rva)
{
	struct profile_frame place = {.image = image, .flags = PROFILE_FRAME_DATA, .rva = rva};
	uint32_t frame = tree_frame(stacks->tree, &place, 0).id;
	uint32_t node = tree_child(stacks->tree, 0, frame, tree_hash(0, frame));
	return node == PROFILE_NONE ? 0 : node;
}

void stacks_learn(struct stacks *stacks, const struct stack_origin *source)
{
	struct found found = {.source = source, .is_deep = true, .chain = stacks->chain};
	struct profile_stack unused = {0};
	walk(stacks, &found, &unused);
}

struct stacks *stacks_create(struct emit *emit, bool collapse)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	if (!stacks)
		return NULL;
	stacks->emit = emit;
	stacks->collapse = collapse;
	stacks->tree = tree_create(emit);
	stacks->chain = chain_create(stacks->tree, collapse);
	if (!stacks->tree || !stacks->chain) {
		stacks_destroy(stacks);
		return NULL;
	}
	return stacks;
}

void stacks_destroy(struct stacks *stacks)
{
	if (!stacks)
		return;
	chain_destroy(stacks->chain);
	tree_destroy(stacks->tree);
	late_pool_destroy(stacks->late);
	walk_counts_finish(&stacks->counts);
	free(stacks);
}

void stacks_emit(const struct stacks *stacks)
{
	walk_counts_emit(&stacks->counts, stacks->emit);
}
