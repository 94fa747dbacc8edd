/* Instructions that compilers end ways with, which fault. */
#include "unwind/analysis/effect.h"
#include <Zydis/Decoder.h>
#include <string.h>

enum {
	UNMAPPED_SIZE = 64 * 1024,
	/* The SIB byte of an address without registers, and where it stands at most: behind two
	 * prefixes, three bytes of the operation and ModRM (AMD64 manual, volume 3, 1.2 to 1.4). */
	SIB_ABSOLUTE = 0x25,
	SIB_END = 7
};

bool uw_effect_faults(const uint8_t *bytes, size_t size)
{
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction head;
	ZydisDecoder decoder;

	if (!memchr(bytes, SIB_ABSOLUTE, size < SIB_END ? size : SIB_END) ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &head, operand)) ||
	    head.meta.category == ZYDIS_CATEGORY_NOP ||
	    head.meta.category == ZYDIS_CATEGORY_WIDENOP)
		return false;
	for (uint8_t i = 0; i < head.operand_count; i++) {
		const ZydisDecodedOperandMem *at = &operand[i].mem;
		if (operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    at->type == ZYDIS_MEMOP_TYPE_MEM && at->base == ZYDIS_REGISTER_NONE &&
		    at->index == ZYDIS_REGISTER_NONE && at->segment != ZYDIS_REGISTER_FS &&
		    at->segment != ZYDIS_REGISTER_GS && at->disp.value >= 0 &&
		    at->disp.value < UNMAPPED_SIZE)
			return true;
	}
	return false;
}
