/* Whether a return address follows a call (answers are cached), and where a call leads. */
#ifndef UNWIND_CONVENTION_CALL_H
#define UNWIND_CONVENTION_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct uw_mapping;
struct uw_space;

/* The instruction before a return address, as far as the file shows it. */
struct uw_call {
	uint64_t ra;
	uint64_t target; /* of a direct call */
	/* Where it is known to have led: the function's start, or an address in it. 0: nowhere. */
	uint64_t inner;
	uint16_t key;
	bool readable; /* the bytes can be read */
	bool found;    /* the bytes are a call, or generated code stands in for one */
	bool direct;
	bool finds_stack;  /* code behind it finds its stack by rbp, its own frame's */
	bool is_generated; /* in no file: read anew each time, for it may change */
};

/* The call before a return address. Valid until the next uw_call_find; NULL: out of memory. */
struct uw_call *uw_call_find(struct uw_space *space, uint64_t ra);

/*
 * Whether a direct call to target can have led to the code without CFI at ip, in mapping: target
 * lies before ip, with no code with CFI in between, or holds a jump to such a place, or is a
 * linkage stub, whose destination is unknown. *start: the start of the code; 0: behind a stub.
 */
bool uw_call_leads(struct uw_space *space, const struct uw_mapping *mapping, uint64_t target,
		   uint64_t ip, uint64_t *start);

#endif
