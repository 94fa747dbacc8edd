/* Whether a return address follows a call. The answers are kept. */
#ifndef UNWIND_CONVENTION_CALL_H
#define UNWIND_CONVENTION_CALL_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
