/*
 * Rules found for instruction addresses, kept in direct-mapped tables: most walks meet the same
 * return addresses again. Sibling address spaces share one cache. Each space marks its slots with a
 * number, its epoch, and takes a new epoch after an existing mapping changed. Addresses outside all
 * mappings are not cached: a new mapping there invalidates no slot.
 */
#ifndef UNWIND_RULES_RULE_CACHE_H
#define UNWIND_RULES_RULE_CACHE_H

#include "unwind/rules/form.h"
#include <assert.h>

/* Kinds of code, by the way to unwind from there. */
enum uw_code_kind {
	UW_CODE_UNMAPPED,  /* in no mapping */
	UW_CODE_COMMON,    /* common form: form.h */
	UW_CODE_REALIGNED, /* realigned form: form.h */
	UW_CODE_ANALYSED,  /* no CFI, common form by analysis: the step is checked */
	UW_CODE_ROW,       /* any other rules: evaluated each time */
	UW_CODE_ROOT,      /* the outermost frame */
	UW_CODE_ENTRY,     /* near the file's entry point, no CFI: perhaps the outermost frame */
	UW_CODE_SIGRETURN, /* a C library's signal return stub without CFI */
	UW_CODE_CLONE, /* the system call in clone(): the root in the child, no CFI in the parent */
	UW_CODE_SWITCHED, /* runs on a stack unknown to its CFI: x86/stack_switch.h */
	UW_CODE_NONE,     /* no CFI */
	UW_CODE_BAD       /* malformed CFI */
};

#define UW_FUNCTION_UNKNOWN UINT32_MAX

/* What a walk needs to know of an instruction address. */
struct uw_code {
	uint64_t ip;
	uint64_t rva;      /* of the lookup address; rva and tag as in struct uw_frame */
	uint32_t function; /* rva - start of its function, or unknown: uw_code_start */
	uint32_t tag;
	int32_t cfa_offset; /* of kind UW_CODE_NONE: uw_functions_learnt, when it was asked */
	uint16_t key;       /* uw_cache_key; 0: an unused slot */
	uint8_t kind;       /* enum uw_code_kind */
	uint8_t plain;      /* of kind UW_CODE_COMMON; else UW_PLAIN_NOT */
};

enum {
	UW_CACHE_LOG_SIZE = 13, /* 8192 slots of 32 + 8 bytes: 320 KB, of all processes */
	UW_CACHE_SIZE = 1 << UW_CACHE_LOG_SIZE,
	UW_CACHE_EPOCH_MAX = UINT16_MAX / 2
};

/* The start of a known function. A cold part by analysis may lie before it. */
static inline uint64_t uw_code_start(const struct uw_code *code)
{
	return code->kind == UW_CODE_ANALYSED
		       ? code->rva - (uint64_t)(int64_t)(int32_t)code->function
		       : code->rva - code->function;
}

struct uw_cached_row;
struct uw_call;

struct uw_rule_cache {
	struct uw_code slots[UW_CACHE_SIZE];
	/* Of the slot with the same index, for kinds UW_CODE_COMMON and UW_CODE_REALIGNED: plain
	 * code needs the entry only if an outer frame is not plain. */
	struct uw_saved saved[UW_CACHE_SIZE];
	unsigned references; /* of spaces */
	uint16_t epoch;      /* the last one given to a space; up to UW_CACHE_EPOCH_MAX */
	uint32_t era;        /* changes when epochs begin anew */
	/* Owned by the cache, each filled by one file; NULL until needed. */
	struct uw_cached_row *rows; /* step/step.c */
	struct uw_call *calls;      /* convention/call.c */
};

struct uw_rule_cache *uw_rule_cache_create(void); /* one reference; NULL: out of memory */
struct uw_rule_cache *uw_rule_cache_ref(struct uw_rule_cache *cache);
void uw_rule_cache_unref(struct uw_rule_cache *cache); /* accepts NULL */

/* An epoch borne by no slot, for a space. A new era may begin with this call. */
uint16_t uw_rule_cache_epoch(struct uw_rule_cache *cache);

/* The index of an address in a table of 1 << log entries. */
static inline size_t uw_cache_index(uint64_t ip, bool exact, unsigned log)
{
	/* Fibonacci hashing: the odd constant nearest to 2^64 divided by the golden ratio. */
	return (size_t)((ip * 2 + exact) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log));
}

static inline uint16_t uw_cache_key(uint16_t epoch, bool exact)
{
	assert(epoch > 0 && epoch <= UW_CACHE_EPOCH_MAX); /* no key of an unused slot */
	return (uint16_t)(epoch * 2 + exact);
}

/* Valid as long as code is. */
static inline const struct uw_saved *uw_code_saved(const struct uw_rule_cache *cache,
						   const struct uw_code *code)
{
	assert(code >= cache->slots && code < cache->slots + UW_CACHE_SIZE);
	return &cache->saved[code - cache->slots];
}

#endif
