/*
 * The step by frame pointer.
 *
 * A frame record is two words: the caller's frame pointer, stored by the function's prologue, and
 * above it the return address stored by the call. Two questions are asked of the words a frame
 * pointer points to. Are they a record? Then they look as a function and its caller leave them.
 * Whose record? Code without a record of its own leaves the caller's frame pointer in the register,
 * and to follow this record would skip a frame. The record is the frame's own if the return address
 * is nowhere else: no other word between the stack pointer and the record may be a return address.
 *
 * All doubtful records are refused.
 */
#include "unwind/cfi/row.h"
#include "unwind/convention/call.h"
#include "unwind/convention/convention.h"
#include "unwind/convention/function_bytes.h"
#include "unwind/frame/machine.h"
#include "unwind/space/space.h"
#include "unwind/step/code.h"
#include <assert.h>

enum {
	REGION_MAX = 64 * 1024, /* between the stack pointer and the frame record */
	ARGUMENTS_MAX = 4096,   /* bytes: a method of Java's has 255 at most */
	CALL_EFFORT = 64        /* of reading the code before a return address: see uw_cfi_row */
};

struct record {
	uint64_t saved; /* the caller's frame pointer */
	uint64_t ra;
};

/* The frame whose caller is looked for. */
struct frame {
	struct uw_space *space;
	struct uw_memory *memory;
	uint64_t ip, sp, fp;
	bool exact;
	bool is_generated; /* generated code: in no file */
};

/* Reads a record from the copied stack; false: not in the copy. */
static bool read_record(struct uw_memory *memory, uint64_t fp, struct record *record)
{
	memory->failed = fp;
	return fp - memory->stack->base < memory->stack->size &&
	       uw_memory_read_word(memory, fp, &record->saved) &&
	       uw_memory_read_word(memory, fp + memory->word, &record->ra);
}

/* Stacks grow downwards: records of outer frames lie above. A record may end the chain if code with
 * CFI, which used rbp for other values, called code without CFI. This is accepted only for a frame
 * found by unwinding, and only if the caller's file shows the call. */
static bool is_in_order(const struct frame *frame, uint64_t fp, bool exact,
			const struct record *record)
{
	if (record->saved == 0 || record->saved > fp)
		return true;
	enum uw_code_kind kind = (enum uw_code_kind)uw_code_find(frame->space, record->ra, false,
								 &frame->memory->effort)
					 ->kind;
	if (exact || (kind != UW_CODE_COMMON && kind != UW_CODE_REALIGNED && kind != UW_CODE_ROW &&
		      kind != UW_CODE_SWITCHED))
		return false;
	const struct uw_call *call = uw_call_find(frame->space, record->ra);
	return call && call->found;
}

/* Whether a call precedes the return address; unreadable code may hold one. No call precedes the
 * return addresses at which goroutines and coroutines end. */
static bool follows_call(const struct frame *frame, const struct record *record, bool *is_readable)
{
	const struct uw_call *call = uw_call_find(frame->space, record->ra);
	*is_readable = call && call->readable;
	return call &&
	       (call->found || !call->readable ||
		uw_code_find(frame->space, record->ra, false, &frame->memory->effort)->kind ==
			UW_CODE_ROOT);
}

/* Whether two words look like the record of the frame itself (exact: the frame's) or of a frame
 * further out. */
static bool looks_like_record(const struct frame *frame, uint64_t fp, bool exact,
			      const struct record *record, bool *is_readable)
{
	return uw_space_lookup(frame->space, record->ra - 1) &&
	       is_in_order(frame, fp, exact, record) && follows_call(frame, record, is_readable);
}

/*
 * Where generated code cannot be read, nothing shows whether a call precedes the return address.
 * Two words that happen to be a higher stack address and an address of generated code are no proof;
 * a first word that leads to another frame record in order is accepted as one.
 */
static enum uw_step confirm_by_next(const struct frame *frame, const struct record *record)
{
	struct record next;
	bool is_readable;
	if (record->saved <= frame->fp || record->saved % frame->memory->word != 0)
		return UW_STEP_NONE;
	if (!read_record(frame->memory, record->saved, &next))
		return UW_STEP_READ;
	return looks_like_record(frame, record->saved, false, &next, &is_readable) ? UW_STEP_OK
										   : UW_STEP_NONE;
}

/* Whether the caller at ra (in slot), if its CFI counts from the stack pointer, has a return
 * address of its own below the frame's record; true for other callers. */
static bool caller_fits(const struct frame *frame, uint64_t slot, uint64_t ra)
{
	const struct uw_code *code = uw_code_find(frame->space, ra, false, &frame->memory->effort);
	const uint8_t word = frame->memory->word;
	uint64_t cfa = slot + word + (uint64_t)(int64_t)code->cfa_offset;

	if (code->kind != UW_CODE_COMMON || uw_code_saved(frame->space->cache, code)->cfa_reg !=
						    uw_machine_of(frame->space->arch)->sp)
		return true;
	return cfa <= frame->fp && uw_memory_read_word(frame->memory, cfa - word, &ra) &&
	       uw_space_lookup(frame->space, ra - 1);
}

/*
 * Whether the word in a slot of generated code's frame, preceded by the given call, may be the
 * frame's return address. Such frames hold many old return addresses. Generated code with a frame
 * saves rbp; candidates are therefore a leaf's two top words, and a word above a slot that holds
 * rbp unchanged. The word right below the record is none: a frame that empty is not an
 * interpreter's, but of generated code, which keeps frame pointers too. Generated code that calls
 * other code without saving rbp is not recognised.
 * Return addresses in files count if the call is indirect and the caller's CFI finds a return
 * address too; not if the record was made for generated code itself (from_generated): the C
 * function that calls generated code makes a record, or else has its own caller in a file.
 */
static bool may_return_generated(const struct frame *frame, uint64_t slot,
				 const struct uw_call *call, bool from_generated)
{
	const uint8_t word = frame->memory->word;
	uint64_t saved;

	if (call->readable && !call->found)
		return false;
	if (!call->is_generated)
		return !call->direct && !from_generated && caller_fits(frame, slot, call->ra);
	if (frame->exact && (slot == frame->sp || slot == frame->sp + word))
		return true;
	return slot + word < frame->fp && uw_memory_read_word(frame->memory, slot - word, &saved) &&
	       saved == frame->fp;
}

/* Whether the word in a slot may be the frame's return address: an address after a call, or in
 * unreadable code. A call of a Go function other than this code does not count. */
static bool may_return(const struct frame *frame, uint64_t slot, bool from_generated)
{
	uint64_t ra;

	if (!uw_memory_read_word(frame->memory, slot, &ra))
		return true;
	if (!uw_space_lookup(frame->space, ra - 1))
		return false;
	frame->memory->effort += CALL_EFFORT;
	const struct uw_call *call = uw_call_find(frame->space, ra);
	if (!call)
		return true;
	if (frame->is_generated)
		return may_return_generated(frame, slot, call, from_generated);
	if (call->readable && call->direct)
		return uw_bytes_go_code(frame->space, call->target, frame->ip,
					&frame->memory->effort) != UW_GO_CODE_ELSEWHERE;
	return call->found || !call->readable;
}

/* Whether a word from the stack pointer to end may be the return address; yes if the walk's effort
 * is spent before the answer is known. */
static bool any_may_return(const struct frame *frame, uint64_t end, bool from_generated)
{
	assert(end >= frame->sp);
	if (end - frame->sp > REGION_MAX)
		return true;
	for (uint64_t slot = frame->sp; slot < end; slot += frame->memory->word)
		if (frame->memory->effort > UW_CFI_EFFORT_MAX ||
		    may_return(frame, slot, from_generated))
			return true;
	return false;
}

/* What the target of the call before a record's return address shows. */
enum target {
	TARGET_SILENT, /* nothing */
	TARGET_OTHER,  /* the call did not lead to this code: the record is another frame's */
	TARGET_SAME,   /* the record is this frame's */
	TARGET_MAKES   /* this function makes a record; not known: already, or no longer */
};

static bool has_no_info(const struct frame *frame, uint64_t ra)
{
	uint8_t kind = uw_code_find(frame->space, ra, false, &frame->memory->effort)->kind;

	return kind == UW_CODE_NONE || kind == UW_CODE_ANALYSED;
}

static enum target ask_target(const struct frame *frame, const struct uw_call *call)
{
	uint64_t lookup = frame->ip - !frame->exact, start;
	const struct uw_mapping *mapping = uw_space_lookup(frame->space, lookup);

	/* V8's builtins, which have no CFI, call other builtins that jump to generated code: the
	 * target then tells nothing. */
	if (!call->direct || !mapping || (frame->is_generated && has_no_info(frame, call->ra)))
		return TARGET_SILENT;
	/* After a tail call (a jump at the end of a function) the caller's call names another
	 * function; such a frame is refused. */
	if (!uw_call_leads(frame->space, mapping, call->target, lookup, &start))
		return TARGET_OTHER;
	switch (uw_bytes_go_code(frame->space, start, frame->ip, &frame->memory->effort)) {
	case UW_GO_CODE_ELSEWHERE:
		return TARGET_OTHER;
	case UW_GO_CODE_INSIDE:
		return TARGET_SAME;
	case UW_GO_CODE_UNKNOWN:
		break;
	}
	if (start == 0 || !uw_bytes_make_record(frame->space, start, frame->ip))
		return TARGET_SILENT;
	return frame->exact ? TARGET_MAKES : TARGET_SAME;
}

/* Whether the code that the frame goes on with says that rbp is its own. */
static bool finds_stack(const struct frame *frame)
{
	const struct uw_call *call =
		frame->is_generated && !frame->exact ? uw_call_find(frame->space, frame->ip) : NULL;
	return call && call->finds_stack;
}

/* Whether a likely record is the frame's own. */
static bool is_own(const struct frame *frame, const struct record *record)
{
	const struct uw_call *call =
		record->ra != 0 ? uw_call_find(frame->space, record->ra) : NULL;
	bool from_generated = call && call->is_generated;
	uint64_t end = frame->fp, top = frame->sp + 2 * (uint64_t)frame->memory->word;

	if (finds_stack(frame))
		return true;
	switch (call ? ask_target(frame, call) : TARGET_SILENT) {
	case TARGET_OTHER:
		return false;
	case TARGET_SAME:
		return true;
	case TARGET_MAKES: /* prologue or epilogue: one or two words on top */
		end = end - frame->sp > top - frame->sp ? top : end;
		break;
	case TARGET_SILENT:
		break;
	}
	return !any_may_return(frame, end, from_generated);
}

/*
 * The caller's stack pointer: above the record, but for HotSpot's interpreter. Who calls
 * interpreted code may have put its arguments in between; the frame has the caller's stack pointer
 * in the word below the record, and in the next one, while it calls, its own, else zero
 * (frame_x86.hpp: interpreter_frame_sender_sp_offset, interpreter_frame_last_sp_offset).
 */
static uint64_t caller_sp(const struct frame *frame)
{
	const uint8_t word = frame->memory->word;
	uint64_t above = frame->fp + 2 * (uint64_t)word, sender, last;

	if (!frame->is_generated || !(frame->exact || finds_stack(frame)) ||
	    frame->fp - frame->sp < 2 * (uint64_t)word ||
	    !uw_memory_read_word(frame->memory, frame->fp - word, &sender) ||
	    !uw_memory_read_word(frame->memory, frame->fp - 2 * (uint64_t)word, &last) ||
	    sender % word != 0 || sender < above || sender - above > ARGUMENTS_MAX ||
	    (last != 0 && (last < frame->sp - ARGUMENTS_MAX || last >= frame->fp)))
		return above;
	return sender;
}

enum uw_step uw_convention_frame_pointer(struct uw_space *space, struct uw_state *state,
					 struct uw_memory *memory)
{
	const struct uw_machine *machine = uw_machine_of(space->arch);
	const struct uw_mapping *mapping = uw_space_lookup(space, state->ip - !state->exact);
	const struct frame frame = {.space = space,
				    .memory = memory,
				    .ip = state->ip,
				    .sp = state->reg[machine->sp],
				    .fp = state->reg[machine->fp],
				    .exact = state->exact,
				    .is_generated = mapping && !mapping->module};
	struct record record;
	bool is_readable;

	if (!uw_machine_pushes(machine) || !uw_state_knows(state, machine->fp) ||
	    frame.fp % machine->word != 0 || frame.fp < frame.sp)
		return UW_STEP_NONE;
	if (!read_record(memory, frame.fp, &record))
		return UW_STEP_READ;
	if (record.saved == 0 && record.ra == 0) {
		if (!is_own(&frame, &record))
			return UW_STEP_NONE;
		uw_state_set(state, machine->sp, frame.fp + 2 * (uint64_t)machine->word);
		return UW_STEP_NULL;
	}
	if (!looks_like_record(&frame, frame.fp, frame.exact, &record, &is_readable))
		return UW_STEP_NONE;
	enum uw_step step = is_readable ? UW_STEP_OK : confirm_by_next(&frame, &record);
	if (step != UW_STEP_OK)
		return step;
	if (!is_own(&frame, &record))
		return UW_STEP_NONE;
	uw_state_set(state, machine->fp, record.saved);
	return uw_state_return(machine, state, caller_sp(&frame), record.ra);
}
