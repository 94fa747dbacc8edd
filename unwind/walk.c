#include "unwind/convention.h"
#include "unwind/history.h"
#include "unwind/space.h"
#include "unwind/step_common.h"

enum {
	REG_RAX = 0,
	REG_RBP = 6,
	SAVED_RBP = 1, /* index in uw_saved_regs */
	STACK_EXTENT_MAX =
		8 * 1024 * 1024, /* the usual RLIMIT_STACK, and size of a thread's stack */
	SIGNAL_FRAME_MAX =
		64 * 1024,     /* the kernel's signal frame with all of AMX's state is 12 KB */
	STACK_SWITCHES_MAX = 2 /* onto the alternate signal stack, and back */
};

struct walk {
	struct uw_space *space;
	struct uw_state state;
	struct uw_memory memory;
	const struct uw_machine *machine;
	uint8_t source; /* enum uw_source of the current frame */
	unsigned switches;
	bool left_copy; /* the current frame is on a stack that was not copied */
};

static const char *const stop_names[UW_STOP_COUNT] = {
	[UW_STOP_ROOT] = "complete",
	[UW_STOP_TRUNCATED] = "truncated",
	[UW_STOP_NOT_RESIDENT] = "not resident",
	[UW_STOP_NO_INFO] = "no unwind info",
	[UW_STOP_OTHER_STACK] = "other stack",
	[UW_STOP_DEPTH] = "too deep",
	[UW_STOP_BAD_INFO] = "bad unwind info",
	[UW_STOP_NO_MEMORY] = "out of memory",
};

const char *uw_stop_name(enum uw_stop stop)
{
	return (unsigned)stop < UW_STOP_COUNT ? stop_names[stop] : "unknown";
}

/* What it means that the word at address could not be read. */
static enum uw_stop walk_classify(const struct walk *walk, uint64_t address)
{
	const struct uw_stack *stack = walk->memory.stack;
	uint64_t offset = address - stack->base;

	if (walk->left_copy || address < stack->base)
		return UW_STOP_OTHER_STACK;
	if (stack->size < stack->requested && offset < stack->requested)
		return UW_STOP_NOT_RESIDENT;
	if (offset < stack->requested + (uint64_t)STACK_EXTENT_MAX)
		return UW_STOP_TRUNCATED;
	return UW_STOP_OTHER_STACK;
}

/* mapping: of the frame's lookup address, or NULL; function: uw_code.function. */
static inline __attribute__((always_inline)) void walk_emit(const struct walk *walk,
							    const struct uw_mapping *mapping,
							    uint32_t function,
							    struct uw_frame *frame)
{
	const struct uw_state *state = &walk->state;
	uint64_t lookup = state->ip - !state->exact;

	frame->ip = state->ip;
	frame->rva = mapping ? mapping->rva + (lookup - mapping->start) : lookup;
	frame->function = function == UW_FUNCTION_UNKNOWN ? 0 : frame->rva - function;
	frame->sp = state->reg[walk->machine->sp];
	frame->tag = mapping ? mapping->tag : UW_TAG_NONE;
	frame->source = walk->source;
	frame->exact = state->exact;
}

static const struct uw_mapping *walk_mapping(const struct walk *walk, const struct uw_code *code)
{
	return code->kind == UW_CODE_UNMAPPED ? NULL : &walk->space->mappings[code->mapping];
}

/* Steps through code without CFI. */
static enum uw_step walk_step_convention(struct walk *walk, const struct uw_code *code)
{
	enum uw_step step = UW_STEP_NONE;
	bool follows = walk->source == UW_SOURCE_FRAME_POINTER;

	if (code->kind == UW_CODE_CLONE && walk->state.exact &&
	    uw_state_knows(&walk->state, REG_RAX) && walk->state.reg[REG_RAX] == 0)
		return UW_STEP_ROOT; /* the child, just after the system call */
	if (code->kind == UW_CODE_UNMAPPED)
		return UW_STEP_NONE;
	if (walk->source == UW_SOURCE_SAMPLE)
		step = uw_convention_leaf(walk->space, &walk->state, &walk->memory);
	if (step == UW_STEP_NONE)
		step = uw_convention_frame_pointer(walk->space, &walk->state, &walk->memory);
	/* That a register points to memory out of reach proves a longer stack only if it was a
	   frame pointer one frame ago. */
	if (step == UW_STEP_READ && !follows)
		step = UW_STEP_NONE;
	walk->source = UW_SOURCE_FRAME_POINTER;
	return step;
}

/* After a signal frame: a handler that ran on another stack than the code it interrupted. Returns
   false where that happens too often. */
static bool walk_enter_interrupted(struct walk *walk, uint64_t handler_sp)
{
	const struct uw_stack *stack = walk->memory.stack;
	uint64_t sp = walk->state.reg[walk->machine->sp];

	if (sp > handler_sp && sp - handler_sp <= SIGNAL_FRAME_MAX)
		return true;
	walk->left_copy = sp - stack->base >= stack->size;
	return ++walk->switches <= STACK_SWITCHES_MAX;
}

/* Moves to the calling frame. Returns UW_STOP_COUNT where there is one, else why not. */
static inline __attribute__((always_inline)) enum uw_stop walk_step(struct walk *walk,
								    const struct uw_code **code)
{
	const struct uw_code *from = *code;
	uint64_t sp = walk->state.reg[walk->machine->sp];
	enum uw_step step;

	walk->memory.mapping = walk_mapping(walk, from);
	if (from->kind == UW_CODE_COMMON) {
		step = uw_step_common(from, &walk->state, &walk->memory);
		walk->source = UW_SOURCE_CFI;
	} else if (from->kind == UW_CODE_NONE || from->kind == UW_CODE_CLONE ||
		   from->kind == UW_CODE_UNMAPPED) {
		step = walk_step_convention(walk, from);
	} else {
		step = uw_step(walk->space, from, &walk->state, &walk->memory);
		walk->source = UW_SOURCE_CFI;
	}
	switch (step) {
	case UW_STEP_OK:
		break;
	case UW_STEP_ROOT:
		return UW_STOP_ROOT;
	case UW_STEP_READ:
		return walk_classify(walk, walk->memory.failed);
	case UW_STEP_NONE:
		return UW_STOP_NO_INFO;
	case UW_STEP_BAD:
		return UW_STOP_BAD_INFO;
	}
	*code = uw_code_find(walk->space, walk->space->cache, walk->state.ip, walk->state.exact);
	if (walk->state.exact)
		return walk_enter_interrupted(walk, sp) ? UW_STOP_COUNT : UW_STOP_BAD_INFO;
	return (*code)->kind == UW_CODE_UNMAPPED ? UW_STOP_BAD_INFO : UW_STOP_COUNT;
}

static void walk_begin(struct walk *walk, struct uw_space *space, const struct uw_regs *regs,
		       const struct uw_stack *stack)
{
	walk->space = space;
	walk->machine = uw_machine_of(space->arch);
	memcpy(walk->state.reg, regs->value, sizeof(walk->state.reg));
	walk->state.known = (UINT64_C(1) << walk->machine->regs) - 1;
	walk->state.ip = regs->value[walk->machine->ip];
	walk->state.exact = true;
	walk->memory = (struct uw_memory){.stack = stack, .word = walk->machine->word};
	walk->source = UW_SOURCE_SAMPLE;
	walk->switches = 0;
	walk->left_copy = false;
}

static size_t walk_count(struct uw_space *space, const struct uw_frame *frames, size_t count,
			 enum uw_stop stop)
{
	space->counts.walks++;
	space->counts.frames += count;
	space->counts.stops[stop]++;
	for (size_t i = 0; i < count; i++)
		space->counts.frames_by_source[frames[i].source]++;
	return count;
}

/* Fills *note for the step from a frame that had the given stack and frame pointer. The state is
   already the caller's, or, at the root, what the step left of it. */
static void walk_note(const struct walk *walk, const struct uw_code *from, uint64_t sp, uint64_t fp,
		      bool is_end, struct uw_note *note)
{
	uint64_t cfa = walk->state.reg[UW_X86_64_RSP];
	uint64_t slot = cfa + (uint64_t)((int64_t)from->saved[SAVED_RBP] * 8);

	*note = (struct uw_note){.fp = fp, .kind = is_end ? UW_NOTE_END : UW_NOTE_STEP};
	if (from->kind == UW_CODE_COMMON &&
	    (from->cfa_reg == UW_X86_64_RSP || from->cfa_reg == REG_RBP)) {
		note->uses_fp = from->cfa_reg == REG_RBP;
		note->zeros = 1;
		if (is_end)
			note->slot = cfa - 8;
		else if (from->saved_mask & 1U << SAVED_RBP && slot >= sp && slot < cfa)
			note->slot = slot;
	} else if (from->kind == UW_CODE_NONE && walk->source == UW_SOURCE_FRAME_POINTER) {
		note->uses_fp = true;
		note->zeros = 2;
		note->slot = fp;
	} else if (from->kind != UW_CODE_ROOT || !is_end) {
		note->kind = UW_NOTE_OTHER;
	}
}

/* The copy of what history holds further out than index, as far as there is room. Returns how many
   frames that were. */
static size_t walk_take_over(const struct uw_history *history, size_t index,
			     struct uw_frame *frames, size_t room)
{
	size_t count = index < room ? index : room;

	for (size_t i = 0; i < count; i++)
		frames[i] = history->past[index - 1 - i].frame;
	return count;
}

/* walk_run with a history; *reused as in uw_walk_reuse. */
static size_t walk_run_reuse(struct walk *walk, struct uw_history *history, struct uw_frame *frames,
			     size_t max_frames, enum uw_stop *stop, size_t *reused)
{
	struct uw_note notes[UW_DEPTH_MAX];
	const struct uw_code *code =
		uw_code_find(walk->space, walk->space->cache, walk->state.ip, true);
	size_t count = 0, met;

	uw_history_begin(history, walk->space);
	for (;;) {
		/* A copy: the next lookup may take its slot. */
		const struct uw_code from = *code;
		uint64_t sp = walk->state.reg[UW_X86_64_RSP], fp = walk->state.reg[REG_RBP];
		bool exact = walk->state.exact;

		if (count == max_frames) {
			*stop = UW_STOP_DEPTH;
			return count;
		}
		walk_emit(walk, walk_mapping(walk, code), code->function, &frames[count++]);
		if (uw_history_meet(history, &walk->state, walk->memory.stack, &met)) {
			size_t taken =
				walk_take_over(history, met, frames + count, max_frames - count);

			*stop = taken == met ? UW_STOP_ROOT : UW_STOP_DEPTH;
			if (taken == met) {
				uw_history_note(history, frames, notes, count, met + 1);
				*reused = taken;
			}
			return count + taken;
		}
		*stop = walk_step(walk, &code);
		if (exact)
			notes[count - 1].kind = UW_NOTE_OTHER;
		else
			walk_note(walk, &from, sp, fp, *stop == UW_STOP_ROOT, &notes[count - 1]);
		if (*stop == UW_STOP_ROOT)
			uw_history_note(history, frames, notes, count, 0);
		if (*stop != UW_STOP_COUNT)
			return count;
	}
}

/* Writes the frames; returns how many. The space has its cache. */
static size_t walk_run(struct walk *walk, struct uw_frame *frames, size_t max_frames,
		       enum uw_stop *stop)
{
	const struct uw_code *code =
		uw_code_find(walk->space, walk->space->cache, walk->state.ip, true);
	size_t count = 0;

	for (;;) {
		if (count == max_frames) {
			*stop = UW_STOP_DEPTH;
			return count;
		}
		walk_emit(walk, walk_mapping(walk, code), code->function, &frames[count++]);
		*stop = walk_step(walk, &code);
		if (*stop != UW_STOP_COUNT)
			return count;
	}
}

size_t uw_walk_reuse(struct uw_space *space, struct uw_history *history, const struct uw_regs *regs,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t max_frames,
		     enum uw_stop *stop, size_t *reused)
{
	struct walk walk;
	size_t count = 0;

	*reused = 0;
	if (max_frames > UW_DEPTH_MAX)
		max_frames = UW_DEPTH_MAX;
	if (!space->cache)
		space->cache = uw_rule_cache_create();
	walk_begin(&walk, space, regs, stack);
	if (!space->cache) {
		*stop = UW_STOP_NO_MEMORY;
		if (max_frames > 0)
			walk_emit(&walk, uw_space_lookup(space, walk.state.ip), UW_FUNCTION_UNKNOWN,
				  &frames[count++]);
		return walk_count(space, frames, count, *stop);
	}
	uw_rule_cache_refresh(space->cache);
	/* What may be kept is defined by x86-64's frames alone. */
	if (history && space->arch == UW_ARCH_X86_64)
		count = walk_run_reuse(&walk, history, frames, max_frames, stop, reused);
	else
		count = walk_run(&walk, frames, max_frames, stop);
	space->counts.frames_reused += *reused;
	return walk_count(space, frames, count, *stop);
}

size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *frames, size_t max_frames, enum uw_stop *stop)
{
	size_t reused;

	return uw_walk_reuse(space, NULL, regs, stack, frames, max_frames, stop, &reused);
}
