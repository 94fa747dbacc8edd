/*
 * What walks found of instruction addresses, kept in direct-mapped tables: most walks meet the same
 * return addresses again. Address spaces that are siblings share one cache; each has a number, its
 * epoch, that its slots bear, and takes another one after something that was mapped changed. What
 * is in no mapping is not kept: a new one, where there was none, leaves all of it true.
 */
#ifndef UNWIND_RULES_RULE_CACHE_H
#define UNWIND_RULES_RULE_CACHE_H

#include "unwind/rules/form.h"

/* What the code at an address is to the unwinder. */
enum uw_code_kind {
	UW_CODE_UNMAPPED, /* in no mapping */
	UW_CODE_COMMON,   /* CFA from a register, return address below it, registers stored at it */
	UW_CODE_REALIGNED, /* CFA stored near the frame pointer, as are registers: form.h */
	UW_CODE_ROW,       /* any other rules: they are evaluated each time */
	UW_CODE_ROOT,      /* the outermost frame */
	UW_CODE_ENTRY,     /* near the file's entry point, no CFI: perhaps the outermost frame */
	UW_CODE_SIGRETURN, /* the signal return stub of a C library that gives it no CFI */
	UW_CODE_CLONE, /* the system call in clone(): the root in the child, no CFI in the parent */
	UW_CODE_SWITCHED, /* runs on a stack that its CFI knows nothing of: x86/stack_switch.h */
	UW_CODE_NONE,     /* no CFI */
	UW_CODE_BAD       /* malformed CFI */
};

#define UW_FUNCTION_UNKNOWN UINT32_MAX

/* What a walk needs of an instruction address. */
struct uw_code {
	uint64_t ip;
	uint64_t rva;      /* of the lookup address; it and tag as in struct uw_frame */
	uint32_t function; /* rva - start of its function, or unknown */
	uint32_t tag;
	int32_t cfa_offset;
	uint16_t key;  /* uw_cache_key; 0: an unused slot */
	uint8_t kind;  /* enum uw_code_kind */
	uint8_t plain; /* of kind UW_CODE_COMMON; else UW_PLAIN_NOT */
};

enum {
	UW_CACHE_LOG_SIZE = 13, /* 8192 slots of 32 + 8 bytes: 320 KB, of all processes */
	UW_CACHE_SIZE = 1 << UW_CACHE_LOG_SIZE,
	UW_CACHE_EPOCH_MAX = UINT16_MAX / 2
};

struct uw_function_rules;
struct uw_cached_row;
struct uw_call;

struct uw_rule_cache {
	struct uw_code slots[UW_CACHE_SIZE];
	/* Of the slot with the same index, for kinds UW_CODE_COMMON and UW_CODE_REALIGNED: plain
	 * code needs it only where its callers are not. */
	struct uw_saved saved[UW_CACHE_SIZE];
	unsigned references; /* of spaces */
	uint16_t epoch;      /* the last one given to a space; up to UW_CACHE_EPOCH_MAX */
	uint32_t era;        /* changes when epochs begin anew */
	/* Owned by the cache, each filled by one file; NULL until needed. */
	struct uw_function_rules *functions; /* function_rules.c */
	struct uw_cached_row *rows;          /* step/step.c */
	struct uw_call *calls;               /* convention/call.c */
};

struct uw_rule_cache *uw_rule_cache_create(void); /* one reference; NULL: out of memory */
struct uw_rule_cache *uw_rule_cache_ref(struct uw_rule_cache *cache);
void uw_rule_cache_unref(struct uw_rule_cache *cache); /* accepts NULL */

/* An epoch for a space, which no slot bears. Another era may begin with it. */
uint16_t uw_rule_cache_epoch(struct uw_rule_cache *cache);

/* Where in a table of 1 << log entries an address goes. */
static inline size_t uw_cache_index(uint64_t ip, bool exact, unsigned log)
{
	/* Fibonacci hashing: the odd constant nearest to 2^64 divided by the golden ratio. */
	return (size_t)((ip * 2 + exact) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log));
}

static inline uint16_t uw_cache_key(uint16_t epoch, bool exact)
{
	return (uint16_t)(epoch * 2 + exact);
}

/* Valid as long as code is. */
static inline const struct uw_saved *uw_code_saved(const struct uw_rule_cache *cache,
						   const struct uw_code *code)
{
	return &cache->saved[code - cache->slots];
}

#endif
