#include "unwind/convention/call.h"

#include "unwind/convention/function_bytes.h"
#include "unwind/frame/machine.h"
#include "unwind/module/module.h"
#include "unwind/rules/rule_cache.h"
#include "unwind/space/space.h"
#include "unwind/x86/instruction.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	LOG_CALLS = 12,    /* 4096 of 32 bytes, where there is code without CFI */
	CALL_SIZE_MAX = 8, /* ff /2 with a SIB byte, a 32-bit displacement and a REX prefix */
	CALL_DIRECT_SIZE = 5
};

static_assert(sizeof(struct uw_call) == 32, "as said at LOG_CALLS");

/* bytes end at the return address. */
static bool call_is_indirect(const uint8_t bytes[static CALL_SIZE_MAX])
{
	for (unsigned size = 2; size <= 7; size++) {
		const uint8_t *at = bytes + CALL_SIZE_MAX - size;

		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 &&
		    uw_modrm_size(at[1], size > 2 ? at[2] : 0) == size - 1)
			return true;
	}
	return false;
}

/* mov -8n(%rbp), %rsp: HotSpot's interpreter jumps to what it calls, and pushes first where to
 * return; there it finds its stack again by its frame record. */
static bool finds_stack(struct uw_space *space, uint64_t ra)
{
	uint8_t bytes[4];

	return space->arch == UW_ARCH_X86_64 && uw_space_read(space, ra, bytes, sizeof(bytes)) &&
	       memcmp(bytes, "\x48\x8b\x65", 3) == 0 && bytes[3] >= 0x80;
}

static void read_call(struct uw_space *space, struct uw_call *call)
{
	const struct uw_mapping *mapping = uw_space_lookup(space, call->ra - 1);
	uint8_t bytes[CALL_SIZE_MAX] = {0};
	size_t size = sizeof(bytes);
	int32_t displacement;

	call->is_generated = mapping && !mapping->module;
	if (!mapping || call->is_generated)
		call->key = 0; /* rule_cache.h */
	/* A program may start with a call. */
	if (mapping && call->ra - mapping->start < size)
		size = call->ra - mapping->start;
	if (!uw_space_read(space, call->ra - size, bytes + sizeof(bytes) - size, size))
		return;
	call->readable = true;
	if (bytes[CALL_SIZE_MAX - CALL_DIRECT_SIZE] == 0xe8) {
		memcpy(&displacement, bytes + CALL_SIZE_MAX - 4, sizeof(displacement));
		call->found = call->direct = true;
		call->target = uw_word_wrap(call->ra + (uint64_t)(int64_t)displacement,
					    uw_machine_of(space->arch)->word);
	} else {
		call->finds_stack = call->is_generated && finds_stack(space, call->ra);
		call->found = call->finds_stack || call_is_indirect(bytes);
	}
}

struct uw_call *uw_call_find(struct uw_space *space, uint64_t ra)
{
	struct uw_rule_cache *cache = space->cache;
	uint16_t key = uw_cache_key(space->epoch, false);

	if (!cache->calls)
		cache->calls = calloc((size_t)1 << LOG_CALLS, sizeof(*cache->calls));
	if (!cache->calls)
		return NULL;
	struct uw_call *call = &cache->calls[uw_cache_index(ra, false, LOG_CALLS)];
	if (call->ra != ra || call->key != key) {
		*call = (struct uw_call){.ra = ra, .key = key};
		read_call(space, call);
	}
	return call;
}

/* Whether target may be the start of the code without CFI at ip. */
static bool is_start_of(struct uw_space *space, const struct uw_mapping *mapping, uint64_t target,
			uint64_t ip)
{
	uint64_t bias = mapping->start - mapping->rva;
	struct uw_cfi_gap gap;
	struct uw_fde fde;

	if (!mapping->module) {
		const struct uw_mapping *to = uw_space_lookup(space, target);
		return to && !to->module;
	}
	return target >= mapping->start && target <= ip &&
	       uw_module_find(mapping->module, ip - bias, &fde, &gap) == UW_CFI_NONE &&
	       target - bias >= gap.start;
}

bool uw_call_leads(struct uw_space *space, const struct uw_mapping *mapping, uint64_t target,
		   uint64_t ip, uint64_t *start)
{
	*start = target;
	if (is_start_of(space, mapping, target, ip))
		return true;
	if (uw_bytes_are_stub(space, &target)) {
		*start = 0;
		return true;
	}
	if (target == *start)
		return false;
	*start = target;
	return is_start_of(space, mapping, target, ip);
}
