/*
 * From the registers of one frame to those of its caller, by call frame information. What an
 * instruction address needs for that is looked up in the cache, and found once.
 */
#ifndef UNWIND_STEP_STEP_H
#define UNWIND_STEP_STEP_H

#include "unwind/cfi/state.h"
#include "unwind/rules/rule_cache.h"

struct uw_space;

/* What precedes a return address. Valid until the next call; NULL: out of memory. */
const struct uw_call *uw_call_find(struct uw_space *space, uint64_t ra);

/* Fills the slot of ip: the slow part of uw_code_find. Where the walk has spent what it may, what
   it finds is not kept. */
void uw_code_fill(struct uw_space *space, struct uw_code *code, uint64_t ip, bool exact);

/* The code at ip. Valid until the next call; the cache is the space's, which has an epoch
   (uw_space_refresh). key is uw_cache_key(epoch, exact): a loop may keep it. */
static inline const struct uw_code *uw_code_find_key(struct uw_space *space,
						     struct uw_rule_cache *cache, uint64_t ip,
						     bool exact, uint16_t key)
{
	struct uw_code *code = &cache->slots[uw_cache_index(ip, exact, UW_CACHE_LOG_SIZE)];

	if (__builtin_expect(code->ip != ip || code->key != key, 0))
		uw_code_fill(space, code, ip, exact);
	return code;
}

/*
 * Replaces state by its caller's. code is state's own, of kind ROW, SIGRETURN, ROOT or BAD; kind
 * COMMON is in step_common.h. memory->mapping is that of the state's lookup address.
 * The CFA is checked to lie above the stack pointer, except for signal frames, which set
 * state->exact. On anything but UW_STEP_OK the contents of state are unspecified.
 */
enum uw_step uw_step(struct uw_space *space, const struct uw_code *code, struct uw_state *state,
		     struct uw_memory *memory);

/* Reads the module's bytes at a target address; false where no module backs it. */
bool uw_code_read(struct uw_space *space, uint64_t address, void *bytes, size_t size);

#endif
