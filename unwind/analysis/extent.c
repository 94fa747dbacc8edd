/* Where a function ends, by a look at its instructions one after the other. */
#include "unwind/analysis/analysis.h"
#include "unwind/analysis/effect.h"
#include <Zydis/Decoder.h>

enum {
	WINDOW = 512,
	ENTRY_ALIGNMENT = 16,
	JUMP_MAX = 4096 /* forward; a longer one may be a tail call */
};

struct extent {
	const struct uw_analysis_source *source;
	uint64_t start, limit;
	/* Bytes of code from base on. */
	uint64_t base;
	size_t size;
	uint8_t bytes[WINDOW];
	uint64_t furthest; /* target of a jump */
	bool is_strict;    /* a call may be the last one without padding, too */
	/* A call that padding follows, and the code behind; 0: none. */
	uint64_t call_end, behind;
	ZydisDecoder decoder;
};

/* Makes the window hold the instruction at an address; false: there is no code. */
static bool look_at(struct extent *extent, uint64_t at)
{
	/* Padding that was skipped may have moved the window past an address. */
	bool is_inside = extent->size > 0 && at >= extent->base && at < extent->base + extent->size;
	uint64_t left = extent->limit - at;
	if (is_inside && (at - extent->base + UW_INSTRUCTION_SIZE_MAX <= extent->size ||
			  extent->base + extent->size == extent->limit))
		return true;
	extent->base = at;
	extent->size = left < WINDOW ? (size_t)left : WINDOW;
	if (extent->source->read(extent->source->context, at, extent->bytes, extent->size))
		return true;
	extent->size = 0;
	return false;
}

static bool decode_at(struct extent *extent, uint64_t at, ZydisDecodedInstruction *head)
{
	return at < extent->limit && look_at(extent, at) &&
	       ZYAN_SUCCESS(
		       ZydisDecoderDecodeInstruction(&extent->decoder, NULL,
						     extent->bytes + (at - extent->base),
						     extent->size - (size_t)(at - extent->base),
						     head));
}

/* The code behind padding. */
static uint64_t skip_padding(struct extent *extent, uint64_t at)
{
	while (at < extent->limit && look_at(extent, at)) {
		size_t offset = (size_t)(at - extent->base);
		unsigned nop = extent->bytes[offset] == 0xcc ? 1
							     : uw_effect_nop(extent->bytes + offset,
									     extent->size - offset);
		if (nop == 0)
			break;
		at += nop;
	}
	return at;
}

static void take_jump(struct extent *extent, uint64_t at, uint64_t target, bool is_branch)
{
	if (target < extent->start || target >= extent->limit)
		return;
	if (target > at && target > extent->furthest && (is_branch || target - at <= JUMP_MAX))
		extent->furthest = target;
	/* A jump to a function's start is a tail call. */
	if (extent->call_end > 0 && at >= extent->behind && target > extent->start &&
	    target < extent->behind + is_branch)
		extent->call_end = 0;
}

static void take_call(struct extent *extent, uint64_t next)
{
	uint64_t behind = skip_padding(extent, next);

	if (extent->call_end == 0 && (behind > next || extent->is_strict) &&
	    behind % ENTRY_ALIGNMENT == 0 && behind > extent->furthest) {
		extent->call_end = next;
		extent->behind = behind;
	}
}

/* Whether control does not go on behind an instruction, which is no direct jump. */
static bool is_last(struct extent *extent, const ZydisDecodedInstruction *head, uint64_t next)
{
	switch (head->meta.category) {
	case ZYDIS_CATEGORY_RET:
		return true;
	case ZYDIS_CATEGORY_UNCOND_BR: /* perhaps by a table, to what follows */
		return next % ENTRY_ALIGNMENT == 0 || skip_padding(extent, next) > next;
	default:
		return head->mnemonic == ZYDIS_MNEMONIC_HLT ||
		       head->mnemonic == ZYDIS_MNEMONIC_INT3 ||
		       head->mnemonic == ZYDIS_MNEMONIC_UD2;
	}
}

/* Takes the instruction at an address; false: the function ends behind it. */
static bool take_instruction(struct extent *extent, uint64_t at,
			     const ZydisDecodedInstruction *head)
{
	uint64_t next = at + head->length;
	bool is_direct = head->raw.imm[0].is_relative;
	uint64_t target = next + (uint64_t)head->raw.imm[0].value.s;
	bool ends = false;

	if (head->meta.category == ZYDIS_CATEGORY_CALL)
		take_call(extent, next);
	else if (head->meta.category == ZYDIS_CATEGORY_COND_BR && is_direct)
		take_jump(extent, at, target, true);
	else if (head->meta.category == ZYDIS_CATEGORY_UNCOND_BR && is_direct) {
		take_jump(extent, at, target, false);
		ends = true;
	} else {
		ends = is_last(extent, head, next);
	}
	return !ends || next <= extent->furthest;
}

static bool begin(struct extent *extent, const struct uw_analysis_source *source, uint64_t start,
		  uint64_t limit)
{
	*extent = (struct extent){.source = source, .start = start, .limit = limit};
	if (limit > start && limit - start > UW_ANALYSIS_EXTENT_MAX)
		extent->limit = start + UW_ANALYSIS_EXTENT_MAX;
	return limit > start &&
	       ZYAN_SUCCESS(ZydisDecoderInit(&extent->decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64));
}

size_t uw_analysis_jumps(const struct uw_analysis_source *source, uint64_t from, uint64_t limit,
			 uint64_t *targets, size_t max)
{
	ZydisDecodedInstruction head;
	struct extent extent;
	size_t count = 0, kept = 0;
	uint64_t at = from;
	bool goes_on = begin(&extent, source, from, limit);

	while (goes_on && count < max && decode_at(&extent, at, &head)) {
		bool is_jump = head.meta.category == ZYDIS_CATEGORY_COND_BR ||
			       head.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
		goes_on = take_instruction(&extent, at, &head);
		at += head.length;
		if (is_jump && head.raw.imm[0].is_relative)
			targets[count++] = at + (uint64_t)head.raw.imm[0].value.s;
	}
	for (size_t i = 0; i < count; i++)
		if (targets[i] < from || targets[i] >= at)
			targets[kept++] = targets[i];
	return kept;
}

uint64_t uw_analysis_call_end(const struct uw_analysis_source *source, uint64_t start,
			      uint64_t limit)
{
	ZydisDecodedInstruction head;
	struct extent extent;
	uint64_t at = start;
	bool goes_on = begin(&extent, source, start, limit);

	while (goes_on && decode_at(&extent, at, &head)) {
		at += head.length;
		goes_on = head.meta.category != ZYDIS_CATEGORY_CALL &&
			  take_instruction(&extent, at - head.length, &head);
	}
	return at;
}

uint64_t uw_analysis_extent(const struct uw_analysis_source *source, uint64_t start, uint64_t limit,
			    bool is_strict)
{
	ZydisDecodedInstruction head;
	struct extent extent;
	uint64_t at = start;
	bool goes_on = begin(&extent, source, start, limit);

	extent.is_strict = is_strict;
	while (goes_on && decode_at(&extent, at, &head)) {
		goes_on = take_instruction(&extent, at, &head);
		at += head.length;
	}
	return extent.call_end > 0 ? extent.call_end : at;
}
