/* Whether a return address follows a call, which answers are kept, and where a call leads. */
#ifndef UNWIND_CONVENTION_CALL_H
#define UNWIND_CONVENTION_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct uw_mapping;
struct uw_space;

/* What precedes a return address, as far as the file shows it. */
struct uw_call {
	uint64_t ra;
	uint64_t target; /* of a direct call */
	uint16_t key;
	bool readable; /* the bytes can be read */
	bool found;    /* they are a call */
	bool direct;
};

/* What precedes a return address. Valid until the next call; NULL: out of memory. */
const struct uw_call *uw_call_find(struct uw_space *space, uint64_t ra);

/*
 * Whether a direct call to target can have led to the code without CFI at ip, which is in mapping:
 * target lies before it, with no code with CFI in between, or is a jump to such a place, or a
 * linkage stub, which leads anywhere. *start: where the code starts; 0: a stub leads there.
 */
bool uw_call_leads(struct uw_space *space, const struct uw_mapping *mapping, uint64_t target,
		   uint64_t ip, uint64_t *start);

#endif
