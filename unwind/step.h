/*
 * From the registers of one frame to those of its caller, by call frame information.
 *
 * What an instruction address needs is found once and kept in a direct-mapped cache: most walks
 * meet the same return addresses again. An address space owns one cache.
 */
#ifndef UNWIND_STEP_H
#define UNWIND_STEP_H

#include "unwind/state.h"

struct uw_space;

/* What the code at an address is to the unwinder. */
enum uw_code_kind {
	UW_CODE_EMPTY,    /* an unused cache slot */
	UW_CODE_UNMAPPED, /* in no mapping */
	UW_CODE_COMMON,   /* CFA from a register, return address below it, registers stored at it */
	UW_CODE_ROW,      /* any other rules: they are evaluated each time */
	UW_CODE_ROOT,     /* the outermost frame */
	UW_CODE_SIGRETURN, /* the signal return stub of a C library that gives it no CFI */
	UW_CODE_CLONE, /* the system call in clone(): the root in the child, no CFI in the parent */
	UW_CODE_NONE,  /* no CFI */
	UW_CODE_BAD    /* malformed CFI */
};

enum {
	UW_SAVED_COUNT = 6 /* rbx, rbp, r12..r15: what a function preserves (psABI, fig. 3.4) */
};
extern const uint8_t uw_saved_regs[UW_SAVED_COUNT]; /* their DWARF numbers */

#define UW_FUNCTION_UNKNOWN UINT32_MAX

struct uw_code {
	uint64_t ip;
	uint32_t mapping; /* index in the space */
	int32_t cfa_offset;
	uint32_t function;            /* lookup address - start of its function, or unknown */
	int8_t saved[UW_SAVED_COUNT]; /* CFA-relative slots in units of 8 bytes; 0: not saved */
	uint8_t saved_mask;           /* bit n: saved[n] is not 0 */
	uint8_t cfa_reg;
	uint8_t kind : 7; /* enum uw_code_kind */
	uint8_t exact : 1;
};

enum {
	UW_CACHE_LOG_SIZE = 11, /* 2048 slots of 32 bytes: 64 KB */
	UW_CACHE_SIZE = 1 << UW_CACHE_LOG_SIZE
};

struct uw_rule_cache {
	bool stale; /* mappings changed: no slot holds */
	struct uw_code slots[UW_CACHE_SIZE];
};

struct uw_rule_cache *uw_rule_cache_create(void);        /* NULL: out of memory */
void uw_rule_cache_destroy(struct uw_rule_cache *cache); /* accepts NULL */
void uw_rule_cache_flush(struct uw_rule_cache *cache);   /* after the mappings changed */

/* Empties the slots of a stale cache. Comes before the first lookup after any change. */
void uw_rule_cache_refresh(struct uw_rule_cache *cache);

/* Fills the slot of ip: the slow part of uw_code_find. */
void uw_code_fill(struct uw_space *space, struct uw_code *code, uint64_t ip, bool exact);

/* The code at ip. Valid until the next call; the cache is the space's and not stale. */
static inline const struct uw_code *
uw_code_find(struct uw_space *space, struct uw_rule_cache *cache, uint64_t ip, bool exact)
{
	/* Fibonacci hashing: the odd constant nearest to 2^64 divided by the golden ratio. */
	uint64_t hash = (ip * 2 + exact) * UINT64_C(0x9e3779b97f4a7c15);
	struct uw_code *code = &cache->slots[hash >> (64 - UW_CACHE_LOG_SIZE)];

	if (__builtin_expect(code->ip != ip || code->exact != exact || code->kind == UW_CODE_EMPTY,
			     0))
		uw_code_fill(space, code, ip, exact);
	return code;
}

/*
 * Replaces state by its caller's. code is state's own, of kind ROW, SIGRETURN, ROOT or BAD; kind
 * COMMON is in step_common.h.
 * The CFA is checked to lie above the stack pointer, except for signal frames, which set
 * state->exact. On anything but UW_STEP_OK the contents of state are unspecified.
 */
enum uw_step uw_step(struct uw_space *space, const struct uw_code *code, struct uw_state *state,
		     struct uw_memory *memory);

/* Reads the module's bytes at a target address; false where no module backs it. */
bool uw_code_read(struct uw_space *space, uint64_t address, void *bytes, size_t size);

#endif
