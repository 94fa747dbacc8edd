#include "unwind/walk/walk.h"

#include "unwind/convention/convention.h"
#include "unwind/frame/machine.h"
#include "unwind/module/module.h"
#include "unwind/space/space.h"
#include "unwind/step/code.h"
#include "unwind/step/step.h"
#include "unwind/walk/history.h"
#include "unwind/walk/root.h"
#include <assert.h>

enum {
	REG_RAX = 0,
	STACK_EXTENT_MAX =
		8 * 1024 * 1024, /* the usual RLIMIT_STACK, and size of a thread's stack */
	SIGNAL_FRAME_MAX =
		64 * 1024,     /* the kernel's signal frame with all of AMX's state is 12 KB */
	ADDRESS_BITS = 56,     /* of user addresses, at most */
	STACK_SWITCHES_MAX = 2 /* onto the alternate signal stack, and back */
};

static const char *const stop_names[UW_STOP_COUNT] = {
	[UW_STOP_ROOT] = "complete",
	[UW_STOP_TRUNCATED] = "truncated",
	[UW_STOP_NOT_RESIDENT] = "not resident",
	[UW_STOP_NO_INFO] = "no unwind info",
	[UW_STOP_OTHER_STACK] = "other stack",
	[UW_STOP_SWITCHED] = "switched stacks",
	[UW_STOP_DEPTH] = "too deep",
	[UW_STOP_BAD_INFO] = "bad unwind info",
	[UW_STOP_RED_ZONE] = "red zone",
};

const char *uw_stop_name(enum uw_stop stop)
{
	return (unsigned)stop < UW_STOP_COUNT ? stop_names[stop] : "unknown";
}

/* Whether the current frame's CFA comes from another register than the stack pointer. */
static bool has_far_cfa(const struct uw_walk *walk)
{
	const struct uw_code *code = walk->code;

	if (code->plain != UW_PLAIN_NOT)
		return code->plain & UW_PLAIN_FROM_FP;
	return (code->kind != UW_CODE_COMMON && code->kind != UW_CODE_ANALYSED) ||
	       uw_code_saved(walk->cache, code)->cfa_reg != walk->machine->sp;
}

/* Why the word at address could not be read. */
static enum uw_stop explain_unread(const struct uw_walk *walk, uint64_t address)
{
	const struct uw_stack *stack = walk->memory.stack;
	uint64_t offset = address - stack->base;

	if (walk->space->arch == UW_ARCH_X86_64 && walk->exact && address < walk->sp &&
	    walk->sp - address <= UW_RED_ZONE && !walk->left_copy)
		return UW_STOP_RED_ZONE;
	if (address >> ADDRESS_BITS != 0)
		return UW_STOP_BAD_INFO;
	if (walk->left_copy || address < stack->base ||
	    offset >= stack->requested + (uint64_t)STACK_EXTENT_MAX)
		return UW_STOP_OTHER_STACK;
	/* Beyond the end a frame pointer can lead to another stack, the stack pointer cannot. */
	if (stack->ends)
		return has_far_cfa(walk) ? UW_STOP_OTHER_STACK : UW_STOP_BAD_INFO;
	/* Whatever the frame's size: a larger request would have ended at the same absent page. */
	return stack->size == stack->requested ? UW_STOP_TRUNCATED : UW_STOP_NOT_RESIDENT;
}

static const struct uw_code *find_code(struct uw_walk *walk)
{
	return uw_code_find(walk->space, walk->ip, walk->exact, &walk->memory.effort);
}

/* Makes the memory's file the one that holds the current frame's code. */
static void look_at_file(struct uw_walk *walk)
{
	const struct uw_mapping *mapping = uw_space_lookup(walk->space, walk->ip - !walk->exact);

	walk->memory.elf = mapping && mapping->module ? &mapping->module->elf : NULL;
	walk->memory.bias = mapping ? mapping->start - mapping->rva : 0;
}

static void write_frame(struct uw_walk *walk, const struct uw_code *code)
{
	assert(walk->count < walk->max);
	walk->frames[walk->count++] = (struct uw_frame){
		.ip = walk->ip,
		.rva = code->rva,
		.function = code->function == UW_FUNCTION_UNKNOWN ? 0 : uw_code_start(code),
		.sp = walk->sp,
		.tag = code->tag,
		.source = walk->source,
		.exact = walk->exact,
	};
	walk->by_convention += walk->source == UW_SOURCE_FRAME_POINTER;
	walk->by_analysis += walk->source == UW_SOURCE_ANALYSIS;
}

/* Brings state to the current frame by repeating the plain steps. false: a rule was dropped from
 * the cache and cannot be read again. */
static bool settle_registers(struct uw_walk *walk)
{
	struct uw_state *state = &walk->state;

	assert(walk->behind <= walk->count);
	if (walk->regs) {
		memcpy(state->reg, walk->regs->value, sizeof(state->reg));
		state->known = ((UINT64_C(1) << walk->machine->regs) - 1) & ~walk->regs->unknown;
		state->ip = walk->regs->value[walk->machine->ip];
		state->exact = true;
		walk->regs = NULL;
	}
	for (; walk->behind > 0; walk->behind--) {
		const struct uw_code *code =
			uw_code_find(walk->space, state->ip, state->exact, &walk->memory.effort);

		if ((code->kind != UW_CODE_COMMON && code->kind != UW_CODE_REALIGNED) ||
		    uw_step(walk->space, code, state, &walk->memory) != UW_STEP_OK)
			return false;
	}
	return true;
}

/* After a step to a null return address: asks the stack's words to confirm the root. */
static enum uw_step confirm_null(struct uw_walk *walk, uint64_t sp)
{
	walk->root = UW_ROOT_NULL;
	return uw_root_check(walk->space, walk->memory.stack, UW_ROOT_NULL, sp);
}

static bool is_entry(struct uw_walk *walk)
{
	walk->root = UW_ROOT_ENTRY;
	return uw_root_check(walk->space, walk->memory.stack, UW_ROOT_ENTRY, walk->sp) ==
	       UW_STEP_ROOT;
}

/* Steps by analysis of code without CFI; UW_STEP_NONE: it tells nothing. */
static enum uw_step step_by_analysis(struct uw_walk *walk)
{
	const struct uw_state before = walk->state;
	enum uw_step step = UW_STEP_NONE;

	if (walk->code->kind == UW_CODE_NONE &&
	    uw_code_may_be_known(walk->space, walk->code, walk->exact)) {
		uw_code_forget(walk->space, walk->ip, walk->exact);
		walk->code = find_code(walk);
	}
	if (walk->code->kind == UW_CODE_ANALYSED)
		step = uw_convention_analysed(walk->space, walk->code, &walk->state, &walk->memory,
					      &walk->taken);
	if (step == UW_STEP_NONE)
		step = uw_convention_generated(walk->space, &walk->state, &walk->memory,
					       &walk->taken);
	if (step == UW_STEP_NONE)
		step = uw_convention_called(walk->space, &walk->state, &walk->memory, &walk->taken);
	if (step == UW_STEP_NONE)
		return step;
	if (step == UW_STEP_NULL)
		step = confirm_null(walk, walk->state.reg[walk->machine->sp]);
	/* A zero below callers is no return address: the row is wrong there. */
	if (step == UW_STEP_BAD) {
		walk->state = before;
		return UW_STEP_NONE;
	}
	walk->source = UW_SOURCE_ANALYSIS;
	return step;
}

/* Steps through code without CFI. */
static enum uw_step step_by_convention(struct uw_walk *walk)
{
	enum uw_step step = UW_STEP_NONE;
	bool follows = walk->source == UW_SOURCE_FRAME_POINTER;
	enum uw_code_kind kind = (enum uw_code_kind)walk->code->kind;

	if (kind == UW_CODE_CLONE && walk->exact && uw_state_knows(&walk->state, REG_RAX)) {
		if (walk->state.reg[REG_RAX] == 0)
			return UW_STEP_ROOT; /* the child, just after the system call */
		/* The parent; a call to clone leads to code with CFI, before this. */
		step = uw_convention_return(walk->space, &walk->state, &walk->memory);
		if (step == UW_STEP_OK) {
			walk->source = UW_SOURCE_FRAME_POINTER;
			return step;
		}
	}
	if (kind == UW_CODE_ENTRY && is_entry(walk))
		return UW_STEP_ROOT;
	if (kind == UW_CODE_UNMAPPED) {
		walk->source = UW_SOURCE_FRAME_POINTER;
		return uw_convention_null_call(walk->space, &walk->state, &walk->memory);
	}
	if (walk->exact)
		step = uw_convention_leaf(walk->space, &walk->state, &walk->memory);
	if (step == UW_STEP_NONE)
		step = uw_convention_frame_pointer(walk->space, &walk->state, &walk->memory);
	/* A register that points out of the copy proves a longer stack only if it was a frame
	 * pointer one frame ago. */
	if (step == UW_STEP_READ && !follows)
		step = UW_STEP_NONE;
	walk->source = UW_SOURCE_FRAME_POINTER;
	if (step == UW_STEP_NULL)
		step = confirm_null(walk, walk->state.reg[walk->machine->sp]);
	/* A register that points to two zeros below callers was no frame pointer. */
	return step == UW_STEP_BAD ? UW_STEP_NONE : step;
}

static bool holds(const struct uw_stack *stack, uint64_t address)
{
	return address - stack->base < stack->size;
}

/* After a signal frame: goes on in the copy of the interrupted code's stack, or notes if the
 * handler ran on another stack and there is no copy. false: the stack switched too often. */
static bool enter_interrupted(struct uw_walk *walk, uint64_t handler_sp)
{
	const struct uw_stack *stack = walk->memory.stack;

	if (stack->outer && !holds(stack, walk->sp) && holds(stack->outer, walk->sp)) {
		walk->memory.stack = stack->outer;
		return true;
	}
	if (walk->sp > handler_sp && walk->sp - handler_sp <= SIGNAL_FRAME_MAX)
		return true;
	walk->left_copy = !holds(stack, walk->sp);
	return ++walk->switches <= STACK_SWITCHES_MAX;
}

/* One step with all registers. */
static enum uw_step step_settled(struct uw_walk *walk)
{
	const struct uw_code *code = walk->code;

	look_at_file(walk);
	if (code->kind == UW_CODE_NONE || code->kind == UW_CODE_ANALYSED) {
		enum uw_step step = step_by_analysis(walk);
		return step == UW_STEP_NONE ? step_by_convention(walk) : step;
	}
	if (code->kind == UW_CODE_CLONE || code->kind == UW_CODE_ENTRY ||
	    code->kind == UW_CODE_UNMAPPED)
		return step_by_convention(walk);
	walk->source = UW_SOURCE_CFI;
	enum uw_step step = uw_step(walk->space, code, &walk->state, &walk->memory);
	if (step == UW_STEP_NULL)
		step = confirm_null(walk, walk->state.reg[walk->machine->sp]);
	return step;
}

/* Why the walk ends with this step; UW_STOP_COUNT: the walk continues. */
static enum uw_stop stop_of(const struct uw_walk *walk, enum uw_step step)
{
	assert(step != UW_STEP_NULL); /* confirm_null has made another of it */
	switch (step) {
	case UW_STEP_ROOT:
		return UW_STOP_ROOT;
	case UW_STEP_READ:
		return explain_unread(walk, walk->memory.failed);
	case UW_STEP_NONE:
		return UW_STOP_NO_INFO;
	case UW_STEP_NULL:
	case UW_STEP_BAD:
		return UW_STOP_BAD_INFO;
	case UW_STEP_OK:
		break;
	}
	return UW_STOP_COUNT;
}

/* Takes the current frame's members from state. */
static void arrive_at_frame(struct uw_walk *walk)
{
	walk->ip = walk->state.ip;
	walk->sp = walk->state.reg[walk->machine->sp];
	walk->fp = walk->state.reg[walk->machine->fp];
	walk->knows_fp = uw_state_knows(&walk->state, walk->machine->fp);
	walk->exact = walk->state.exact;
}

/* Moves to the calling frame. Returns UW_STOP_COUNT, or why there is none. */
static enum uw_stop take_step(struct uw_walk *walk)
{
	uint64_t sp = walk->sp;

	/* Most walks end here, without a look at the other registers. */
	if (walk->code->kind == UW_CODE_ROOT)
		return UW_STOP_ROOT;
	if (walk->code->kind == UW_CODE_SWITCHED)
		return UW_STOP_SWITCHED;
	if (walk->behind > 0 || walk->regs) {
		if (!settle_registers(walk))
			return UW_STOP_BAD_INFO;
		walk->code = find_code(walk); /* its slot may have been taken */
	}
	enum uw_stop stop = stop_of(walk, step_settled(walk));
	arrive_at_frame(walk);
	if (stop != UW_STOP_COUNT)
		return stop;
	walk->code = find_code(walk);
	if (walk->exact)
		return enter_interrupted(walk, sp) ? UW_STOP_COUNT : UW_STOP_BAD_INFO;
	return walk->code->kind == UW_CODE_UNMAPPED ? UW_STOP_BAD_INFO : UW_STOP_COUNT;
}

/* Why the walk ends at a stuck plain step; UW_STOP_COUNT: a step with all registers has to tell. */
static enum uw_stop explain_stuck(struct uw_walk *walk)
{
	const struct uw_pointers frame = {walk->ip, walk->sp, walk->fp};

	look_at_file(walk);
	return stop_of(walk,
		       uw_step_look(walk->machine, walk->code, &frame, walk->exact, &walk->memory));
}

/* Fills *note for the step, not plain, from a frame that had the given frame pointer. */
static void fill_note(const struct uw_walk *walk, uint8_t kind, uint64_t fp, bool is_end,
		      struct uw_note *note)
{
	*note = (struct uw_note){.fp = fp,
				 .kind = is_end ? UW_NOTE_END : UW_NOTE_STEP,
				 .root = walk->root};
	if (kind != UW_CODE_BAD && walk->source == UW_SOURCE_ANALYSIS && walk->taken.is_plain &&
	    !is_end) {
		note->uses_fp = walk->taken.uses_fp;
		note->zeros = 1;
		note->slot = walk->taken.slot;
	} else if ((kind == UW_CODE_NONE || kind == UW_CODE_ANALYSED) &&
		   walk->source == UW_SOURCE_FRAME_POINTER) {
		note->uses_fp = note->in_order = true;
		note->zeros = 2;
		note->slot = fp;
	} else if (kind == UW_CODE_ENTRY && is_end && walk->root == UW_ROOT_ENTRY) {
		note->slot = walk->sp;
	} else if (kind != UW_CODE_ROOT || !is_end) {
		note->kind = UW_NOTE_OTHER;
	}
}

/* Takes over the outer frames; false: they have changed. */
static bool meet_history(struct uw_walk *walk, struct uw_history *history,
			 const struct uw_note *notes, enum uw_stop *stop, size_t *reused)
{
	struct uw_met met = {walk->ip, walk->sp, walk->fp, walk->knows_fp};
	size_t index, room = walk->max - walk->count;

	if (!uw_history_take(history, walk->space, &met, walk->memory.stack,
			     walk->frames + walk->count, room, &index))
		return false;
	if (index > 0) {
		walk->by_convention += history->past[index - 1].by_convention;
		walk->by_analysis += history->past[index - 1].by_analysis;
	}
	if (index > room) {
		walk->by_convention -= history->past[index - 1 - room].by_convention;
		walk->by_analysis -= history->past[index - 1 - room].by_analysis;
	}
	*stop = index <= room ? UW_STOP_ROOT : UW_STOP_DEPTH;
	if (index <= room) {
		uw_history_note(history, walk->frames, notes, walk->count, index + 1);
		*reused = index;
	}
	walk->count += index <= room ? index : room;
	return true;
}

/* Steps from a frame that aligned its stack, by ip, sp and fp alone. false: nothing was done, the
 * step needs the other registers. */
static bool follow_realigned(struct uw_walk *walk, struct uw_note *note)
{
	const struct uw_code *code = walk->code;
	struct uw_pointers frame = {walk->ip, walk->sp, walk->fp};
	int8_t loaded;

	if (code->kind != UW_CODE_REALIGNED || !walk->knows_fp || walk->exact ||
	    !uw_slot_of(walk->machine, code->cfa_offset, &loaded) ||
	    !uw_realigned_follow(walk->machine, code, walk->memory.stack, &frame))
		return false;
	if (note)
		*note = (struct uw_note){.fp = walk->fp,
					 .slot = walk->fp,
					 .kind = UW_NOTE_LOADED,
					 .uses_fp = true,
					 .loaded = loaded};
	walk->ip = frame.ip;
	walk->sp = frame.sp;
	walk->fp = frame.fp;
	walk->source = UW_SOURCE_CFI;
	walk->behind++;
	walk->code = find_code(walk);
	return true;
}

/* One step: a run of plain ones, or one with all registers. Returns UW_STOP_COUNT if the walk
 * continues; *arrived: at a frame not written yet. */
static enum uw_stop advance_walk(struct uw_walk *walk, struct uw_history *history,
				 struct uw_note *notes, bool *arrived)
{
	uint64_t fp = walk->fp;
	uint8_t kind = walk->code->kind;
	bool exact = walk->exact;
	enum uw_stop stop;

	assert(walk->count > 0); /* notes has one of each frame written */
	if (uw_walk_is_plain(walk)) {
		size_t start = walk->count;

		switch (uw_walk_run_plain(walk, history, history ? notes + start - 1 : NULL)) {
		case UW_RUN_LEFT:
			*arrived = true;
			return walk->code->kind == UW_CODE_UNMAPPED ? UW_STOP_BAD_INFO
								    : UW_STOP_COUNT;
		case UW_RUN_MEET:
			*arrived = false;
			return UW_STOP_COUNT;
		case UW_RUN_NULL:
			return stop_of(walk, confirm_null(walk, walk->sp));
		case UW_RUN_STUCK:
			stop = explain_stuck(walk);
			if (stop != UW_STOP_COUNT)
				return stop;
			break;
		}
		fp = walk->fp;
		kind = walk->code->kind;
		exact = walk->exact;
	}
	*arrived = true;
	if (follow_realigned(walk, history ? &notes[walk->count - 1] : NULL))
		return walk->code->kind == UW_CODE_UNMAPPED ? UW_STOP_BAD_INFO : UW_STOP_COUNT;
	stop = take_step(walk);
	if (history)
		fill_note(walk, exact ? UW_CODE_BAD : kind, fp, stop == UW_STOP_ROOT,
			  &notes[walk->count - 1]);
	return stop;
}

/* Writes the frames; returns why the walk ended. */
static enum uw_stop run_walk(struct uw_walk *walk, struct uw_history *history, size_t *reused)
{
	struct uw_note notes[UW_DEPTH_MAX];
	bool arrived = true;
	enum uw_stop stop;

	assert(walk->max <= UW_DEPTH_MAX);
	walk->code = find_code(walk);
	do {
		if (arrived && walk->count == walk->max)
			return UW_STOP_DEPTH;
		if (arrived)
			write_frame(walk, walk->code);
		if (history && !walk->exact && uw_history_may_meet(history, walk->sp) &&
		    meet_history(walk, history, notes, &stop, reused))
			return stop;
		stop = advance_walk(walk, history, notes, &arrived);
	} while (stop == UW_STOP_COUNT);
	if (history && stop == UW_STOP_ROOT)
		uw_history_note(history, walk->frames, notes, walk->count, 0);
	return stop;
}

static size_t count_walk(const struct uw_walk *walk)
{
	struct uw_counts *counts = &walk->space->counts;
	size_t sampled = walk->count > 0;

	assert(sampled + walk->by_convention + walk->by_analysis <= walk->count);
	counts->walks++;
	counts->effort += walk->memory.effort;
	counts->frames += walk->count;
	counts->frames_by_source[UW_SOURCE_SAMPLE] += sampled;
	counts->frames_by_source[UW_SOURCE_FRAME_POINTER] += walk->by_convention;
	counts->frames_by_source[UW_SOURCE_ANALYSIS] += walk->by_analysis;
	counts->frames_by_source[UW_SOURCE_CFI] +=
		walk->count - sampled - walk->by_convention - walk->by_analysis;
	return walk->count;
}

static void begin_walk(struct uw_walk *walk, struct uw_space *space, const struct uw_regs *regs,
		       const struct uw_stack *stack)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);

	walk->space = space;
	walk->cache = space->cache;
	walk->machine = machine;
	walk->memory = (struct uw_memory){.stack = stack, .word = machine->word};
	walk->ip = regs->value[machine->ip];
	walk->sp = regs->value[machine->sp];
	walk->fp = regs->value[machine->fp];
	walk->exact = true;
	walk->knows_fp = (regs->unknown >> machine->fp & 1) == 0;
	walk->left_copy = false;
	walk->source = UW_SOURCE_SAMPLE;
	walk->root = UW_ROOT_TOLD;
	walk->switches = 0;
	walk->behind = 0;
	walk->regs = regs;
	walk->count = walk->by_convention = walk->by_analysis = 0;
}

size_t uw_walk_reuse(struct uw_space *space, struct uw_history *history, const struct uw_regs *regs,
		     const struct uw_stack *stack, struct uw_frame *frames, size_t max_frames,
		     enum uw_stop *stop, size_t *reused)
{
	struct uw_walk walk;

	*reused = 0;
	uw_space_refresh(space);
	begin_walk(&walk, space, regs, stack);
	walk.frames = frames;
	walk.max = max_frames < UW_DEPTH_MAX ? max_frames : UW_DEPTH_MAX;
	/* History knows x86 frames only, and their frame pointers. */
	if (!uw_machine_pushes(walk.machine) || regs->unknown != 0)
		history = NULL;
	if (history)
		uw_history_begin(history, space);
	*stop = run_walk(&walk, history, reused);
	/* Rules of a frame that need a register which nobody knows contradict nothing. */
	if (regs->unknown != 0 && *stop == UW_STOP_BAD_INFO)
		*stop = UW_STOP_NO_INFO;
	space->counts.frames_reused += *reused;
	return count_walk(&walk);
}

size_t uw_walk(struct uw_space *space, const struct uw_regs *regs, const struct uw_stack *stack,
	       struct uw_frame *frames, size_t max_frames, enum uw_stop *stop)
{
	size_t reused;

	return uw_walk_reuse(space, NULL, regs, stack, frames, max_frames, stop, &reused);
}
