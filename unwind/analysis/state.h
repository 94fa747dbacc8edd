/* What is known before an instruction of a function: the values of registers and of words of its
 * frame, as far as they tell where the frame is, or where a jump leads. */
#ifndef UNWIND_ANALYSIS_STATE_H
#define UNWIND_ANALYSIS_STATE_H

#include "unwind/analysis/analysis.h"

/* Numbers of registers in instructions (AMD64 manual, volume 3, table 1-10). */
enum {
	UW_RBX = 3,
	UW_RSP = 4,
	UW_RBP = 5,
	UW_GPR_COUNT = 16,
	UW_NO_GPR = 0xff,
	UW_RIP_BASE = 0xfe /* in a place: the address is the displacement */
};

enum {
	UW_SLOT_MAX = 13,
	UW_TABLE_BYTE = 256, /* entries of a table by a byte with no other bound */
	UW_TABLE_MAX = 2048, /* entries of a table of jumps; Debian 12's largest have 1000 */
	/* In a count: by a mask or a byte's size. The table may have fewer entries, where the
	 * compiler knew more of the index. */
	UW_TABLE_LIMIT = 0x8000
};

enum uw_value_kind {
	UW_VALUE_ANY,
	UW_VALUE_CFA,      /* CFA + number */
	UW_VALUE_ALIGNED,  /* the stack pointer when it was aligned + number */
	UW_VALUE_INITIAL,  /* what the preserved register of this number had at the entry */
	UW_VALUE_CONSTANT, /* number: an address of a file, or a large frame's size */
	UW_VALUE_BELOW,    /* less than count, which may have UW_TABLE_LIMIT */
	UW_VALUE_DISTANCE, /* an entry of 4 bytes of the table at number with count entries; 0: as
			      many as lead to the function */
	UW_VALUE_TARGET,   /* table + such an entry */
	UW_VALUE_POINTER,  /* an entry of 8 bytes of a table */
	UW_VALUE_WORD      /* what the word at number had at first; count: UW_VALUE_CFA or
			      UW_VALUE_ALIGNED, from where number counts */
};

/* Compared as bytes: members that a kind does not use are 0. */
struct uw_value {
	uint16_t kind;
	uint16_t count;
	int32_t number;
};

/* A word of the frame with a known value. */
struct uw_slot {
	uint32_t base; /* UW_VALUE_CFA or UW_VALUE_ALIGNED */
	int32_t offset;
	struct uw_value value; /* INITIAL or CFA */
};

/* A register or a word in memory, as instructions name them. */
struct uw_place {
	uint8_t is_set;
	uint8_t is_memory;
	uint8_t reg; /* or base; UW_NO_GPR: none */
	uint8_t index, scale;
	uint8_t pad[3];
	int64_t displacement;
};

/* The last comparison, while flags hold its result: with a constant or another register. */
struct uw_comparison {
	struct uw_place place;
	uint64_t other; /* register; UW_NO_GPR: the constant */
	int64_t constant;
};

/* Compared as bytes. */
struct uw_flow_state {
	struct uw_value reg[UW_GPR_COUNT];
	struct uw_slot slot[UW_SLOT_MAX]; /* sorted by base and offset; then zeros */
	uint8_t copy_of[UW_GPR_COUNT];    /* register with the same value + 1; 0: none known */
	struct uw_comparison comparison;
	struct uw_place bounded; /* a word in memory known to be less than bounded_count */
	uint32_t bounded_count;
	uint32_t slot_count;
	uint32_t reason; /* why the CFA is not known, if it is not */
	uint32_t ahead;  /* of uw_state_begin */
};

/* Of a state with UW_AHEAD: registers were pushed since, or more were stored than are known. */
enum { UW_AHEAD = 1, UW_AHEAD_PUSHED = 2, UW_AHEAD_LOST = 4 };

void uw_state_enter(struct uw_flow_state *state);

/* For a way that begins anywhere in a function: what counts from the CFA counts from the stack
 * pointer there, and what counts from the aligned one from the frame pointer. Words of the frame
 * that were not written since have values. */
void uw_state_begin(struct uw_flow_state *state);

/* Keeps what both know; false: nothing changed. */
bool uw_state_meet(struct uw_flow_state *state, const struct uw_flow_state *other);

/* A register's new value; what depended on the old one is forgotten. */
void uw_state_put(struct uw_flow_state *state, unsigned reg, struct uw_value value);

/* One register becomes a copy of another. */
void uw_state_copy(struct uw_flow_state *state, unsigned to, unsigned from);

/* Reads and writes of size bytes of the frame. Reads of other words give ANY, writes do nothing. */
struct uw_value uw_state_load(const struct uw_flow_state *state, struct uw_value address,
			      size_t size);
void uw_state_store(struct uw_flow_state *state, struct uw_value address, size_t size,
		    struct uw_value value);

/* A call: forgets what the called function need not preserve. */
void uw_state_call(struct uw_flow_state *state);

/* Whether a jump from here can be a tail call: the frame is as at the function's entry. */
bool uw_state_is_entry(const struct uw_flow_state *state);

/* A constant, ANY if it is too large or too small to matter. */
struct uw_value uw_value_constant(int64_t constant);

/* value + constant, ANY if that is no address. */
struct uw_value uw_value_add(struct uw_value value, int64_t constant);

static inline bool uw_value_is_frame(struct uw_value value)
{
	return value.kind == UW_VALUE_CFA || value.kind == UW_VALUE_ALIGNED;
}

/* The number of a preserved register in uw_machine.saved; UW_SAVED_COUNT: it is not preserved. */
static inline unsigned uw_saved_index(unsigned reg)
{
	return reg == UW_RBX ? 0 : reg == UW_RBP ? 1 : reg >= 12 ? reg - 10 : UW_SAVED_COUNT;
}

void uw_state_row(const struct uw_flow_state *state, struct uw_analysis_row *row);

#endif
