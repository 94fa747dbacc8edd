/* The kind and rules of the code at an instruction address, found once and cached. */
#ifndef UNWIND_STEP_CODE_H
#define UNWIND_STEP_CODE_H

#include "unwind/rules/rule_cache.h"
#include "unwind/space/space.h"

/* Fills the slot of ip: the slow part of uw_code_find. *effort: the walk's so far, as in
 * uw_cfi_row; beyond the limit the result is not cached. */
void uw_code_fill(struct uw_space *space, struct uw_code *code, uint64_t ip, bool exact,
		  uint32_t *effort);

/* The code at ip. Valid until the next call; the space must have an epoch (uw_space_refresh). cache
 * is the space's, and key uw_cache_key(epoch, exact): a loop may keep both. */
static inline const struct uw_code *uw_code_find_key(struct uw_space *space,
						     struct uw_rule_cache *cache, uint64_t ip,
						     bool exact, uint16_t key, uint32_t *effort)
{
	struct uw_code *code = &cache->slots[uw_cache_index(ip, exact, UW_CACHE_LOG_SIZE)];

	if (__builtin_expect(code->ip != ip || code->key != key, 0))
		uw_code_fill(space, code, ip, exact, effort);
	return code;
}

/* uw_code_find_key for one lookup. */
static inline const struct uw_code *uw_code_find(struct uw_space *space, uint64_t ip, bool exact,
						 uint32_t *effort)
{
	return uw_code_find_key(space, space->cache, ip, exact, uw_cache_key(space->epoch, exact),
				effort);
}

/* Whether code of kind UW_CODE_NONE may have another kind by what was learnt since. */
bool uw_code_may_be_known(struct uw_space *space, const struct uw_code *code, bool exact);

/* Makes the next uw_code_find of an address look it up anew. */
static inline void uw_code_forget(struct uw_space *space, uint64_t ip, bool exact)
{
	struct uw_code *code = &space->cache->slots[uw_cache_index(ip, exact, UW_CACHE_LOG_SIZE)];

	if (code->ip == ip)
		code->key = 0;
}

/* Whether the code at ip is the stub that signal handlers return to: mov $__NR_rt_sigreturn, %rax;
 * syscall, the same in glibc, musl and gdb's recogniser. */
bool uw_code_is_sigreturn(struct uw_space *space, uint64_t ip);

#endif
